"""What the storyboard tells the simulation.

All commands of one step are applied together, in order, before the simulation steps (SIM-2).
"""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.sim.scenario.choices import Material, PerceivedAs, Sensor, ServerBehaviour
from tuling_fsm.sim.scenario.maneuvers import ManeuverCommand
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.world.inputs import Light


@dataclass(frozen=True)
class Place:
    """Put the actor there with this speed (m/s; None: that which it has): it enters the world if it was not in it."""

    actor: str
    placement: Placement
    speed: float | None = None


@dataclass(frozen=True)
class Remove:
    """Take the actor out of the world."""

    actor: str


@dataclass(frozen=True)
class Drive:
    """Drive on along the lanes, minding lights and obstacles, at `speed` (m/s; None: as traffic does)."""

    actor: str
    speed: float | None = None


@dataclass(frozen=True)
class ChangeSpeed:
    """Change to `target` (m/s, 0 stops and keeps standing) at `rate` (m/s^2, > 0; infinite: at once).

    The ego is then driven by its safety driver, along its own path, until `ActivateController` hands it back.
    """

    actor: str
    target: float
    rate: float


@dataclass(frozen=True)
class ChangeLane:
    """Move over by `lanes` lanes (+ left)."""

    actor: str
    lanes: int


@dataclass(frozen=True)
class FollowRoute:
    """Drive along the lanes through these placements; `Arrived` holds at the last, where it stands."""

    actor: str
    placements: tuple[Placement, ...]
    speed: float | None = None


@dataclass(frozen=True)
class FollowPath:
    """Drive straight from point to point whatever the lanes are; stand and `Arrived` holds at the last."""

    actor: str
    points: tuple[Placement, ...]
    speed: float


@dataclass(frozen=True)
class Walk:
    """A person walks straight from point to point at `speed` (m/s); stands and `Arrived` holds at the last."""

    actor: str
    points: tuple[Placement, ...]
    speed: float


@dataclass(frozen=True)
class ActivateController:
    """Hand the actor to its controller (planner or traffic manager); both off: it brakes and stands."""

    actor: str
    lateral: bool
    longitudinal: bool


@dataclass(frozen=True)
class SetLight:
    """Force a signal (its number on `traffic_lights`) to a state; None gives it back to its controller.

    `UNKNOWN` is what the car sees alone: the signal goes on.
    """

    signal: int
    state: Light | None


@dataclass(frozen=True)
class SetRain:
    """Rain of this intensity (m/s of water; 0 ends it). 1 mm/h is 2.8e-7 m/s."""

    intensity: float


@dataclass(frozen=True)
class SetFog:
    """Fog with this visual range (m); infinite ends it."""

    visual_range: float


@dataclass(frozen=True)
class SetLocalization:
    """Localization of the ego is lost, or back."""

    available: bool


@dataclass(frozen=True)
class EmergencyStop:
    """The remote operator presses (`on`) or releases the emergency stop."""

    on: bool


@dataclass(frozen=True)
class EmergencyLink:
    """The heartbeat of the emergency stop falls silent (`up` = False), or is back (EST-3)."""

    up: bool


@dataclass(frozen=True)
class ClearEmergencyStop:
    """The operator's explicit clear (EST-3)."""


@dataclass(frozen=True)
class ResetPlanner:
    """The operator's reset: out of `parked` (PRK-5)."""


@dataclass(frozen=True)
class SkipTask:
    """The operator drops the task at hand."""


@dataclass(frozen=True)
class SetOdometry:
    """Odometry falls silent (`up` = False), or is back (SAF-1)."""

    up: bool


@dataclass(frozen=True)
class SetAllLights:
    """Force every signal `but` these to a state; None gives them back to their controllers."""

    state: Light | None
    but: tuple[int, ...] = ()


@dataclass(frozen=True)
class SilenceLights:
    """No message about the lights comes any more, or they come again (INT-2)."""

    silent: bool


@dataclass(frozen=True)
class CloseRoad:
    """Put a row of things across the lane at a placement (`beyond` None), or across all lanes of its road and so much
    beyond them, m.
    """

    actor: str
    placement: Placement
    beyond: float | None
    material: Material
    seen_as: PerceivedAs


@dataclass(frozen=True)
class OpenRoad:
    """Take away all that the actor has put there, or one `row` of it."""

    actor: str
    row: CloseRoad | None = None


@dataclass(frozen=True)
class OccupySpaces:
    """Cars stand in these parking spaces (OpenDRIVE object ids) from now on."""

    spaces: tuple[str, ...]


@dataclass(frozen=True)
class OccupyAllBut:
    """Cars stand in all parking spaces of a road from now on, but in these."""

    road: str
    free: tuple[str, ...]


@dataclass(frozen=True)
class VacateSpaces:
    """The cars that `OccupySpaces` or, if these are not `kept`, `OccupyAllBut` put into these parking spaces are
    gone.
    """

    spaces: tuple[str, ...]
    kept: bool = False


@dataclass(frozen=True)
class SetRouteServer:
    """The route server's answers from now on, and how much later than usual they come, s."""

    behaviour: ServerBehaviour
    delay: float = 0.0


@dataclass(frozen=True)
class DisturbSensor:
    """A sensor's faults from now on instead of those that it has, see `FaultParameters`; all of them 0: none."""

    sensor: Sensor
    noise: float = 0.0
    latency: float = 0.0
    drop_out: float = 0.0
    occlusion: bool = False


@dataclass(frozen=True)
class ResetSensor:
    """A sensor's faults are those of the run's level of perception again."""

    sensor: Sensor


@dataclass(frozen=True)
class EndRun:
    """The run is over: what the scenario is about has happened."""


EnvironmentCommand = (
    SetRain
    | SetFog
    | SetLocalization
    | SetOdometry
    | EmergencyStop
    | EmergencyLink
    | ClearEmergencyStop
    | ResetPlanner
    | SkipTask
)
LightsCommand = SetLight | SetAllLights | SilenceLights
SensorCommand = DisturbSensor | ResetSensor
PlacedObjectsCommand = CloseRoad | OpenRoad | OccupySpaces | OccupyAllBut | VacateSpaces
ActorCommand = Place | Remove | Drive | ChangeSpeed | ChangeLane | FollowRoute | FollowPath | Walk | ActivateController
"""To one actor; the ego understands `EgoCommand` alone."""
EgoCommand = Place | ChangeSpeed | ActivateController
Command = (
    EnvironmentCommand
    | LightsCommand
    | SetRouteServer
    | SensorCommand
    | PlacedObjectsCommand
    | ActorCommand
    | ManeuverCommand
    | EndRun
)
"""By the part of the simulation that carries it out: a command that is in none of these is never carried out."""
