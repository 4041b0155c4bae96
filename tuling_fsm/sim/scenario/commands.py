"""What the storyboard tells the simulation.

All commands of one step are applied together, in order, before the simulation steps (SIM-2).
"""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.world.inputs import Light


@dataclass(frozen=True)
class Place:
    """Put the actor there with this speed (m/s): it enters the world if it was not in it."""

    actor: str
    placement: Placement
    speed: float = 0.0


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
    """Drive along the lanes through these placements; `Arrived` holds at the last, then on as `Drive` does."""

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
    """Force a signal (its number on `traffic_lights`) to a state; None gives it back to its controller."""

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


Command = (
    Place
    | Remove
    | Drive
    | ChangeSpeed
    | ChangeLane
    | FollowRoute
    | FollowPath
    | Walk
    | ActivateController
    | SetLight
    | SetRain
    | SetFog
    | SetLocalization
    | EmergencyStop
    | EmergencyLink
    | ClearEmergencyStop
)
