"""Watches the run and writes down what went wrong: one record an event, with whose fault it was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.bodies import center_ahead, shifted
from tuling_fsm.sim.collisions import Contact, contact, touching
from tuling_fsm.sim.gauges import Gauges
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.road_rules import RoadRules
from tuling_fsm.sim.scenario.choices import SeenAs
from tuling_fsm.world.inputs import Kind, Light

MAY_CROSS_LINES = (
    "on_road/regression", "on_road/no_line_free", "on_road/replan", "on_road/explore", "intersection/no_line_free",
    "intersection/regression", "temporary_stop/", "parking/", "departure/",
)  # fmt: skip
"""States (or composites) in which solid lines do not hold."""
MAY_LEAVE_ROAD = (
    "on_road/regression", "on_road/no_line_free", "on_road/replan", "on_road/explore", "intersection/no_line_free",
    "intersection/regression", "parking/", "departure/",
)  # fmt: skip
MAY_STAND = ("temporary_stop/stopped", "parking/parked")
REASON_AHEAD_M, REASON_SIDE_M = 15.0, 2.0
"""Something in this stretch ahead of the front bumper, that much wider than the car, explains that it stands."""
CROSSING_M, MOVING = 40.0, 0.5
"""At a junction somebody who moves within this distance explains it too."""
JERK_WINDOW_S = 0.2
PERSISTENT_S = 1.0
"""Speeding and the wrong way count after this long."""
OVERTAKING_S = 30.0
"""So long may somebody be overtaken on the other side of a line that may be crossed."""


@dataclass(frozen=True)
class Infraction:
    """One event: when (s), what, in words, and whether the car is to blame."""

    t: float
    kind: str
    detail: str
    at_fault: bool


@dataclass(frozen=True, eq=False)
class Others:
    """Everybody else: boxes (N, 7) of x, y, z, heading, length, width, speed; kinds and ids (N,); how those are seen
    that are not seen as objects, by id.
    """

    boxes: FloatArray
    kinds: npt.NDArray[np.uint8]
    ids: npt.NDArray[np.uint32]
    seen_as: Mapping[int, SeenAs] = field(default_factory=dict)


@dataclass(frozen=True)
class CarState:
    """The car as it really is: rear-axle pose in `map`, level z (m, NaN: unknown), speed (m/s), acceleration (m/s^2),
    yaw rate (rad/s), the driving lane under its middle, the machine's state.
    """

    pose: Pose
    z: float
    v: float
    a: float
    yaw_rate: float
    position: LanePosition | None
    state: str = ""


class Referee:
    """Looks once a frame. Everything it knows of the map it asks the map itself, nothing the planner."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, parameters: RefereeParameters) -> None:
        self.infractions: list[Infraction] = []
        self._vehicle = vehicle
        self._p = parameters
        self.rules = RoadRules(road_map, vehicle)
        self.gauges = Gauges(vehicle)
        self._last_seen: dict[str, float] = {}
        self._since: dict[str, float] = {}
        self._line_light: dict[int, bool] = {}
        self._line_past: dict[int, float] = {}
        self._heeded: dict[int, bool] = {}
        self._accels: list[float] = []
        self._standing_since: float | None = None

    @property
    def at_fault_collision(self) -> bool:
        """Whether the car has caused a collision."""
        return any(record.kind == "collision" and record.at_fault for record in self.infractions)

    def watch(
        self,
        stamp: float,
        dt: float,
        car: CarState,
        others: Others,
        lights: Mapping[int, int],
        way: frozenset[LaneId],
        held: bool,
    ) -> None:
        """Judge one frame.

        Args:
            stamp: its time, s.
            dt: its length, s.
            car: the car.
            others: everybody else.
            lights: states by signal number.
            way: lanes of the car's route; only their stop lines hold. Empty: all do.
            held: whether the car is kept from driving (emergency stop, lost localization): its standing is explained.
        """
        corners = self._vehicle.footprint(car.pose)
        self._collisions(stamp, car, corners, others)
        self.gauges.note_others(car.pose, car.z, car.v, others.boxes)
        self._road(stamp, dt, car, corners)
        self._stop_lines(stamp, car, lights, way)
        self._comfort(stamp, dt, car)
        self._blocked(stamp, car, held or self._sees_reason(car, others, lights, way))

    def _note(self, stamp: float, key: str, kind: str, detail: str, at_fault: bool) -> None:
        """Write an event down unless it is the one that goes on already."""
        last = self._last_seen.get(key)
        self._last_seen[key] = stamp
        if last is None or stamp - last > self._p.release:
            self.infractions.append(Infraction(round(stamp, 3), kind, detail, at_fault))

    def _lasting(self, stamp: float, key: str, holds: bool, enough: float = PERSISTENT_S) -> bool:
        """Whether something has held for long enough to count."""
        if not holds:
            self._since.pop(key, None)
            return False
        return stamp - self._since.setdefault(key, stamp) >= enough

    def _collisions(self, stamp: float, car: CarState, corners: FloatArray, others: Others) -> None:
        vehicle = self._vehicle
        centre = shifted(car.pose, center_ahead(vehicle))
        hits = touching(centre.x, centre.y, car.z, centre.heading, vehicle.length, vehicle.width, others.boxes)
        for row in hits.tolist():
            box = others.boxes[row]
            how = contact(car.pose, car.v, vehicle, box, self._p.standing)
            fault = self._fault(how, corners, bool(abs(box[6]) < self._p.standing))
            what = Kind(int(others.kinds[row])).name.lower()
            detail = f"{what} {others.ids[row]}, {how.value} contact at {abs(car.v):.1f} m/s"
            self._note(stamp, f"collision {others.ids[row]}", "collision", detail, fault)

    def _fault(self, how: Contact, corners: FloatArray, other_stands: bool) -> bool:
        """Standing or hit from behind: no. Into what stands or with the front: yes. Aside: only where not inside one
        lane.
        """
        match how:
            case Contact.STANDING | Contact.REAR:
                return False
            case Contact.FRONT:
                return True
            case Contact.SIDE:
                return other_stands or len(self.rules.lanes_touched(corners)) != 1
            case _:
                assert_never(how)

    def _road(self, stamp: float, dt: float, car: CarState, corners: FloatArray) -> None:
        position = car.position
        if not car.state.startswith(MAY_LEAVE_ROAD) and self.rules.off_road(corners, self._p.off_road):
            self._note(stamp, "off_road", "off_road", f"at ({car.pose.x:.1f}, {car.pose.y:.1f})", True)
        if position is None:
            return
        if not car.state.startswith(MAY_CROSS_LINES):
            self._lines(stamp, car, corners, position)
        limit = self.rules.limit(position)
        self.gauges.note_speed(dt, car.v - limit)
        if self._lasting(stamp, "speeding", car.v > limit + self._p.speeding):
            self._note(stamp, "speeding", "speeding", f"{car.v:.1f} m/s where {limit:.1f} m/s are allowed", True)

    def _lines(self, stamp: float, car: CarState, corners: FloatArray, position: LanePosition) -> None:
        over = self.rules.overrun(corners, position, car.pose.heading)
        if over is not None and over.depth > self._p.line:
            name = over.kind.name.lower().replace("_", " ")
            self._note(stamp, "solid_line", "solid_line", f"{name} line crossed by {over.depth:.2f} m", True)
        wrong = self.rules.wrong_way(position, car.pose.heading) and abs(car.v) > self._p.standing
        if wrong:
            self.gauges.note_against(car.v)
        enough = OVERTAKING_S if wrong and self.rules.may_overtake(position) else PERSISTENT_S
        if self._lasting(stamp, "wrong_way", wrong, enough):
            self._note(stamp, "wrong_way", "wrong_way", f"on road {position.lane.road}", True)

    def _stop_lines(self, stamp: float, car: CarState, lights: Mapping[int, int], way: frozenset[LaneId]) -> None:
        front = shifted(car.pose, self._vehicle.front)
        past: dict[int, float] = {}
        for i, distance in self.rules.lines.near(front):
            line = self.rules.lines.all[i]
            if way and line.lane not in way:
                continue
            past[i] = distance
            before = self._line_past.get(i, distance)
            if distance < 0.0:
                self._line_light.pop(i, None)
                stands = abs(car.v) < self._p.standing and -distance < self._p.stop_zone
                self._heeded[i] = stands or self._heeded.get(i, False)
            elif before < 0.0 or (distance <= self._p.stop_line and abs(car.v) < self._p.standing):
                # Who stands within the tolerance has arrived, and goes on by the light that he then has.
                self._line_light[i] = lights.get(line.signal) in (Light.RED, Light.RED_YELLOW)
            if before <= self._p.stop_line < distance:
                self._passed(stamp, i)
        self._heeded = {i: heeded for i, heeded in self._heeded.items() if i in past}
        self._line_past = past

    def _passed(self, stamp: float, i: int) -> None:
        """The front bumper has passed a stop line."""
        line = self.rules.lines.all[i]
        if line.kind == "light" and self._line_light.get(i, False):
            self._note(stamp, f"red {line.signal}", "red_light", f"signal {line.signal}", True)
        if line.kind == "stop" and not self._heeded.get(i, False):
            self._note(stamp, f"sign {line.signal}", "stop_sign", f"sign {line.signal}", True)

    def _comfort(self, stamp: float, dt: float, car: CarState) -> None:
        window = max(round(JERK_WINDOW_S / dt), 1)
        self._accels = [*self._accels[-window:], car.a]
        jerk = (car.a - self._accels[0]) / (window * dt) if len(self._accels) > window else 0.0
        along = math.copysign(1.0, car.v) * car.a
        felt = (
            ("lateral acceleration", abs(car.v * car.yaw_rate), self._p.lateral_accel, "m/s^2"),
            ("acceleration", along, self._p.accel, "m/s^2"),
            ("braking", -along, self._p.decel, "m/s^2"),
            ("jerk", abs(jerk), self._p.jerk, "m/s^3"),
        )
        for name, value, limit, unit in felt:
            if value > limit:
                self._note(stamp, name, "comfort", f"{name} {value:.1f} {unit}", False)

    def _sees_reason(self, car: CarState, others: Others, lights: Mapping[int, int], way: frozenset[LaneId]) -> bool:
        """Whether a standing car has a reason that can be seen: its state, a red light, somebody at the junction,
        something close ahead.
        """
        if abs(car.v) > self._p.standing or car.state.startswith(MAY_STAND):
            return True
        front = shifted(car.pose, self._vehicle.front)
        for i, past in self.rules.lines.near(front):
            line = self.rules.lines.all[i]
            red = lights.get(line.signal) in (Light.RED, Light.RED_YELLOW, Light.YELLOW)
            if past < self._p.stop_line and red and (not way or line.lane in way):
                return True
        if car.position is not None and self.rules.before_junction(car.position, REASON_AHEAD_M):
            moving = others.boxes[:, 6] > MOVING
            if np.any(
                moving & (elementwise.hypot(others.boxes[:, 0] - front.x, others.boxes[:, 1] - front.y) < CROSSING_M)
            ):
                return True
        middle = shifted(front, 0.5 * REASON_AHEAD_M)
        width = self._vehicle.width + REASON_SIDE_M
        return len(touching(middle.x, middle.y, car.z, middle.heading, REASON_AHEAD_M, width, others.boxes)) > 0

    def _blocked(self, stamp: float, car: CarState, explained: bool) -> None:
        if abs(car.v) > self._p.standing or explained:
            self._standing_since = None
            return
        if self._standing_since is None:
            self._standing_since = stamp
        if stamp - self._standing_since > self._p.blocked:
            self._note(stamp, "blocked", "blocked", f"at ({car.pose.x:.1f}, {car.pose.y:.1f})", True)


NOBODY = Others(np.zeros((0, 7)), np.zeros(0, np.uint8), np.zeros(0, np.uint32))
