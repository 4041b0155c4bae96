"""What one tick sees: everything that came in, judged for freshness, put on the map and predicted. Frozen, and plain
to pickle.
"""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.map.ahead import CrosswalkAhead, JunctionAhead, StopLineAhead
from tuling_fsm.map.route import Route
from tuling_fsm.world.inputs import Light, Occupancy, Odometry
from tuling_fsm.world.mission import Mission
from tuling_fsm.world.perceived import ObservedSlot, PerceivedLine, PerceivedSlot
from tuling_fsm.world.pose_correction import PoseCorrection
from tuling_fsm.world.received import Received
from tuling_fsm.world.tracks import Tracks
from tuling_fsm.world.traffic import PredictedLanes


@dataclass(frozen=True)
class EmergencyInput:
    """The remote emergency stop as received: `value` is the latest message (None: never one), `age` how long it has
    not been heard (s, inf for no tick yet): since its latest message, the first tick or the last jump of time.

    `clear` is true on the tick in which an operator's explicit clear arrived (EST-3).
    """

    value: bool | None = None
    age: float = float("inf")
    clear: bool = False


@dataclass(frozen=True)
class RouteMatch:
    """An answer of the route server put on the map: `route` is None where it was refused, empty or follows no
    lanes (DEP-2).
    """

    request: int
    route: Route | None
    stamp: float = 0.0
    fault: str = "refused, empty or on no lanes"
    """Why there is no route."""

    @property
    def name(self) -> str:
        """What it is called in reports."""
        return f"route {self.request}" if self.request >= 0 else "the pushed route"


@dataclass(frozen=True, eq=False)
class World:
    """One tick's view. Fields that need a pose keep their last value, or are empty, while the car is not localized."""

    stamp: float
    """The tick's time, s."""
    dt: float
    """Since the previous tick, s; 0 on the first one and where time jumped back."""
    ego: Ego
    standing_for: float
    """How long the car has stood, s; 0 while it moves."""
    localized: bool
    """Fresh odometry with its standard deviations inside the limits."""
    pose_correction: PoseCorrection
    """What the lane lines that are seen have put right of the pose that localization tells."""
    odometry_history: tuple[Odometry, ...]
    """The odometry of the last second, the latest last: what a camera tells is older than the tick."""
    odometry_fresh: bool
    objects_fresh: bool
    """A table of objects has come within its freshness limit; stale perception is not an empty road."""
    radar_seen: float
    """Stamp of the radar's latest sign of life: a row of objects that it sees, or its heartbeat; `-inf` for none, s."""
    radar_fresh: bool
    """It has given one within the freshness limit of objects, and does not say that it fails (RFG-2)."""
    route: Route | None
    """The one in use, told by the caller."""
    route_s: float
    """Arc length of the car on the route's reference, tracked so that a loop or crossing is not jumped on, m."""
    route_offset: float
    """Of the rear axle from the reference, + left, m."""
    heading_error: float
    """Heading of the car minus that of the reference, in [-pi, pi), rad."""
    route_remaining: float
    """From `route_s` to the route's end, m; 0 without a route."""
    on_reference_road: bool
    """On any same-direction lane of the route's carriageway at `route_s`."""
    lanes: tuple[LaneLine, ...]
    scene: Scene
    traffic: PredictedLanes
    """The objects of the scene, one row each, with their lanes and how long they have stood."""
    tracks: Tracks
    """What is remembered of objects from tick to tick."""
    lights: dict[int, Light]
    """Fresh and confident ones only, by signal number: an absent one is unknown."""
    light_seen: dict[int, float]
    """Stamp of the table that told the state of each light in `lights`, s."""
    light_since: dict[int, float]
    """Stamp since which each of them has shown its state (USE-4)."""
    emergency: EmergencyInput
    reset: bool
    """An operator's call of this tick (PRK-5)."""
    skip_task: bool
    """An operator's call of this tick: drop the present task."""
    rain_fog: bool | None
    """As reported; None when never."""
    route_answers: tuple[RouteMatch, ...]
    """Those that arrived on this tick."""
    mission: Mission | None
    slots: tuple[PerceivedSlot, ...]
    """Those of the latest table, where they have been seen to be on average."""
    observed_slots: dict[int, ObservedSlot]
    """All that have been seen of late, by number."""
    perceived_lines: tuple[PerceivedLine, ...]
    occupancy: Occupancy | None
    """The grid in use, so that it can be frozen (RFG-1)."""
    junctions: tuple[JunctionAhead, ...]
    """What the way (`way`) meets from a little behind the car to the horizon, nearest first, with arc lengths of the
    route's reference.
    """
    stop_lines: tuple[StopLineAhead, ...]
    crosswalks: tuple[CrosswalkAhead, ...]
    reports: tuple[str, ...]
    """One line for each input newly refused on this tick (SAF-3)."""
    complaints: tuple[str, ...]
    """Keys of all that is wrong now, so that each is reported once until it is over."""
    received: Received
    """The last good message of each kind."""
    looks_back: bool = True
    """The sensors that count see behind the car: without them it does not reverse (RFG-1)."""
    way_beside: Route | None = None
    """The way of a car that is in a lane beside the route's and drives through a junction there: the route's reference,
    other lanes. Else None.
    """

    @property
    def way(self) -> Route | None:
        """The route with the lanes that the car drives: lights, signs and right of way are those of its own lane."""
        return self.route if self.way_beside is None else self.way_beside

    @property
    def junction(self) -> JunctionAhead | None:
        """The junction the rear axle is in, if any."""
        return next((j for j in self.junctions if j.s_from <= self.route_s <= j.s_to), None)
