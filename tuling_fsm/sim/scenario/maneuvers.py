"""What a script asks of an actor that its default controller moves (ASAM OpenSCENARIO XML 1.3,
private actions, and movements of the DSL).

Every command bears a number that is its own in the scenario: by that the storyboard asks whether it is over. A command
takes the place of an earlier one in the same domain, longitudinal or lateral. SI units; + is left of the road's
reference line where lanes or offsets are meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tuling_fsm.sim.scenario.placements import Placement


class DynamicsShape(str, Enum):
    """`DynamicsShape`: how a quantity goes from one value to another."""

    LINEAR = "linear"
    CUBIC = "cubic"
    SINUSOIDAL = "sinusoidal"
    STEP = "step"


class DynamicsDimension(str, Enum):
    """`DynamicsDimension`: what the value of a transition is."""

    TIME = "time"
    DISTANCE = "distance"
    RATE = "rate"


@dataclass(frozen=True)
class Transition:
    """`TransitionDynamics`: a shape, and how long (s), how far (m) or at which peak rate (1/s) it goes on."""

    shape: DynamicsShape
    dimension: DynamicsDimension
    value: float


AT_ONCE = Transition(DynamicsShape.STEP, DynamicsDimension.TIME, 0.0)


@dataclass(frozen=True)
class ApproachSpeed:
    """Go over to a speed: `value` m/s, or that much more than the reference drives, or that many times its speed.

    `continuous` holds a relative speed until something else is asked for; one that is `forward` is 0 at least.
    """

    actor: str
    number: int
    value: float
    dynamics: Transition
    reference: str | None = None
    factor: bool = False
    continuous: bool = False
    forward: bool = False


@dataclass(frozen=True)
class FollowSpeedProfile:
    """Speeds (m/s, beyond that of the reference if one is named) one after the other, each within its time (s), or
    (infinite) at the rates (m/s^2).
    """

    actor: str
    number: int
    speeds: tuple[tuple[float, float], ...]
    reference: str | None = None
    accelerate: float = 5.0
    brake: float = 5.0


@dataclass(frozen=True)
class KeepDistance:
    """Keep a gap behind (`ahead`: before; None: on the side where the actor is) the reference: `gap` m, or s of the own
    way (`in_time`).

    `freespace` measures from body to body. `accelerate`, `brake` (m/s^2) and `fastest` (m/s) bound the way there.
    """

    actor: str
    number: int
    reference: str
    gap: float
    in_time: bool = False
    ahead: bool | None = False
    freespace: bool = False
    continuous: bool = False
    accelerate: float = 5.0
    brake: float = 10.0
    fastest: float = 100.0


@dataclass(frozen=True)
class Synchronize:
    """Be at a place when the master is at its own; `final_speed` (m/s) there, if one is asked for, and so from
    `steady_m` m or `steady_s` s before it on, whatever the master does then.
    """

    actor: str
    number: int
    master: str
    place: Placement
    masters_place: Placement
    final_speed: float | None = None
    steady_m: float = 0.0
    steady_s: float = 0.0


@dataclass(frozen=True)
class MeetGap:
    """Be `gap` m before the reference (negative: behind it) along the road, between reference points, when `seconds`
    have passed; whatever the reference does until then.
    """

    actor: str
    number: int
    reference: str
    gap: float
    seconds: float


@dataclass(frozen=True)
class ShiftLane:
    """Go over to a lane: the one of this number, or so many lanes left of the reference's; `offset` from its middle."""

    actor: str
    number: int
    lane: int
    dynamics: Transition
    reference: str | None = None
    offset: float = 0.0
    required: bool = False
    """Whether a road without such a lane is a fault of the scenario; else the maneuver is over at once there."""


@dataclass(frozen=True)
class ShiftOffset:
    """Go over to an offset from the middle of the lane (m), or from where the reference is in its own.

    `acceleration` (m/s^2) bounds the way there; `continuous` holds it.
    """

    actor: str
    number: int
    offset: float
    shape: DynamicsShape
    acceleration: float
    reference: str | None = None
    continuous: bool = False


@dataclass(frozen=True)
class KeepLateralDistance:
    """Keep `gap` m beside the reference: `left` of it as it looks or (`in_road`) as the road goes, right of it, or
    (None) on the side where the actor is; `freespace` measures from body to body.
    """

    actor: str
    number: int
    reference: str
    gap: float
    freespace: bool = False
    continuous: bool = False
    fastest: float = 1.0
    left: bool | None = None
    in_road: bool = False


@dataclass(frozen=True)
class FollowTrajectory:
    """From place to place in straight lines, whatever the lanes are, less the first `skipped` m; with `times` by these:
    s from the beginning of the action or (`absolute`) of the run, whatever speed was asked for.

    The actor faces along its way, but between two places that are both `oriented`, where it turns from the heading of
    one to that of the other.
    """

    actor: str
    number: int
    points: tuple[Placement, ...]
    times: tuple[float, ...] = ()
    absolute: bool = False
    skipped: float = 0.0
    oriented: tuple[bool, ...] = ()


@dataclass(frozen=True)
class TakeRoute:
    """Where lanes fork, go on towards these places."""

    actor: str
    number: int
    waypoints: tuple[Placement, ...]


@dataclass(frozen=True)
class StopManeuver:
    """The maneuver of this number ends now; speed and lane stay as they are."""

    actor: str
    number: int


Longitudinal = ApproachSpeed | FollowSpeedProfile | KeepDistance | Synchronize | MeetGap
Lateral = ShiftLane | ShiftOffset | KeepLateralDistance
ManeuverCommand = Longitudinal | Lateral | FollowTrajectory | TakeRoute | StopManeuver


class Domain(Enum):
    """`Control domain`: what of its actor a maneuver moves, one maneuver at a time."""

    LONGITUDINAL = "longitudinal"
    LATERAL = "lateral"


def domains_of(command: ManeuverCommand) -> tuple[Domain, ...]:
    """The domains that a command takes over: both where it says by when its actor is where."""
    match command:
        case TakeRoute() | StopManeuver():
            return ()
        case FollowTrajectory(times=times) if times:
            return (Domain.LONGITUDINAL, Domain.LATERAL)
        case ShiftLane() | ShiftOffset() | KeepLateralDistance() | FollowTrajectory():
            return (Domain.LATERAL,)
        case _:
            return (Domain.LONGITUDINAL,)


def referred_to(command: ManeuverCommand) -> str | None:
    """The other actor that a command is about, if it is."""
    match command:
        case Synchronize():
            return command.master
        case FollowTrajectory() | TakeRoute() | StopManeuver():
            return None
        case _:
            return command.reference
