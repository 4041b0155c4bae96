"""What a wait waits for, and when an action ends (OSC-1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT, SourceLocation
from tuling_fsm.world.inputs import Light


class Direction(str, Enum):
    """`distance_direction`: along the heading of the actor, across it, or straight."""

    LONGITUDINAL = "longitudinal"
    LATERAL = "lateral"
    EUCLIDEAN = "euclidean"


class DistanceMode(str, Enum):
    """`distance_mode`: between the reference points, or the gap between the bodies."""

    REFERENCE_POINTS = "reference_points"
    BOUNDING_BOXES = "bounding_boxes"


@dataclass(frozen=True)
class Speed:
    """Speed of the actor, m/s: + forward, or (`total`) whichever way it goes."""

    actor: str
    total: bool = False


@dataclass(frozen=True)
class Acceleration:
    """Acceleration of the actor along its heading, m/s^2."""

    actor: str


@dataclass(frozen=True)
class ObjectDistance:
    """Distance between two actors, m."""

    actor: str
    reference: str
    direction: Direction
    mode: DistanceMode


@dataclass(frozen=True)
class PointDistance:
    """Distance from the actor to a point, m; with `BOUNDING_BOXES` from its body."""

    actor: str
    point: Placement
    direction: Direction
    mode: DistanceMode


@dataclass(frozen=True)
class TimeToCollision:
    """Time until the bodies meet if both keep their velocities, s; infinite when they never do."""

    actor: str
    reference: str


@dataclass(frozen=True)
class TimeHeadway:
    """Distance along the road to the reference over the actor's own speed, s; infinite when it stands."""

    actor: str
    reference: str


@dataclass(frozen=True)
class RelativeSpeed:
    """Speed of the actor less that of the reference, m/s."""

    actor: str
    reference: str


@dataclass(frozen=True)
class TraveledDistance:
    """Way of the actor since the run began, m."""

    actor: str


@dataclass(frozen=True)
class RoadGap:
    """Distance along the road between two actors whichever is ahead, m; along the heading where no road joins them."""

    actor: str
    reference: str
    mode: DistanceMode


@dataclass(frozen=True)
class Headway:
    """`RoadGap`, or the distance in a direction, over the actor's own speed, s; infinite when it stands."""

    actor: str
    reference: str
    mode: DistanceMode
    direction: Direction | None = None


@dataclass(frozen=True)
class TimeToMeet:
    """Time until the reference points of two actors meet at the speed that they come nearer with, s; infinite when they
    do not.
    """

    actor: str
    reference: str


@dataclass(frozen=True)
class TimeToPoint:
    """Time to a place at the speed that the actor comes nearer with, s; infinite when it does not."""

    actor: str
    point: Placement


CommonQuantity = Speed | Acceleration | ObjectDistance | PointDistance | TimeToCollision | TimeHeadway
"""Of both languages."""
Quantity = CommonQuantity | RelativeSpeed | TraveledDistance | RoadGap | Headway | TimeToMeet | TimeToPoint


class Relation(str, Enum):
    """How a quantity is compared; `==` holds when the value is met or crossed between steps (OSC-1)."""

    LESS = "<"
    LESS_EQUAL = "<="
    EQUAL = "=="
    UNEQUAL = "!="
    GREATER_EQUAL = ">="
    GREATER = ">"


@dataclass(frozen=True)
class Elapsed:
    """This time has passed since the wait or the action began, s."""

    seconds: float


@dataclass(frozen=True)
class Compare:
    """A quantity compared with a value in its SI unit."""

    quantity: Quantity
    relation: Relation
    value: float
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Arrived:
    """The actor has finished its last route, path or walk (`SimulationView.arrived`), or is not in the world."""

    actor: str


@dataclass(frozen=True)
class InLane:
    """The actor is through with its last change of lanes (`SimulationView.in_lane`)."""

    actor: str


@dataclass(frozen=True)
class Reached:
    """The actor's speed has come to the target within 0.1 m/s, or it is not in the world."""

    actor: str
    target: float


@dataclass(frozen=True)
class Driven:
    """The actor has gone so far since the wait began, m."""

    actor: str
    metres: float


@dataclass(frozen=True)
class Emitted:
    """An event has been emitted since the wait began; with `now`, since the step before."""

    event: str
    now: bool = False
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class AnyOf:
    """Any of these holds."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class AllOf:
    """All of these hold in the same step."""

    conditions: tuple[Condition, ...]


# What OpenSCENARIO XML asks besides.


class Edge(str, Enum):
    """`ConditionEdge`: whether a condition has to hold, or to begin or cease to."""

    NONE = "none"
    RISING = "rising"
    FALLING = "falling"
    EITHER = "risingOrFalling"


class ElementState(str, Enum):
    """`StoryboardElementState`: states last, transitions hold in the step in which they happen."""

    STANDBY = "standbyState"
    RUNNING = "runningState"
    COMPLETE = "completeState"
    START = "startTransition"
    END = "endTransition"
    STOP = "stopTransition"
    SKIP = "skipTransition"


@dataclass(frozen=True)
class OnEdge:
    """The condition, its beginning or its end, `delay` s ago. The first evaluation is no edge (ASAM 1.3, 7.6.3)."""

    condition: Condition
    edge: Edge
    delay: float = 0.0


@dataclass(frozen=True)
class Lasting:
    """The condition has held without a break for so long, s."""

    condition: Condition
    seconds: float


@dataclass(frozen=True)
class SimulationTime:
    """Simulated time since the run began compared with a time, s."""

    relation: Relation
    value: float


@dataclass(frozen=True)
class InState:
    """An element of the storyboard, by its label, is in a state or goes through a transition."""

    element: str
    state: ElementState


@dataclass(frozen=True)
class Colliding:
    """The body of the actor touches that of the reference, or (empty) of any other actor."""

    actor: str
    reference: str = ""


@dataclass(frozen=True)
class AtEndOfRoad:
    """No lane goes on from where the actor is."""

    actor: str


@dataclass(frozen=True)
class OffRoad:
    """The reference point of the actor is on no lane."""

    actor: str


class ValueType(str, Enum):
    """How values of a type are compared: by size, by time, as truths, or as words."""

    NUMBER = "number"
    TIME = "dateTime"
    TRUTH = "boolean"
    WORD = "string"


@dataclass(frozen=True)
class VariableIs:
    """A variable of the scenario compared with a value; only numbers and times have an order."""

    variable: str
    relation: Relation
    value: str
    kind: ValueType = ValueType.WORD


@dataclass(frozen=True)
class SignalIs:
    """A signal (its number on `traffic_lights`) is in a state."""

    signal: int
    state: Light
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class ManeuverOver:
    """The maneuver of this number is carried out, or another one has taken its place; one that is `held` is over then
    alone.
    """

    actor: str
    number: int
    held: bool = False


Condition = (
    Elapsed
    | Compare
    | Arrived
    | InLane
    | Reached
    | Driven
    | Emitted
    | AnyOf
    | AllOf
    | OnEdge
    | Lasting
    | SimulationTime
    | InState
    | Colliding
    | AtEndOfRoad
    | OffRoad
    | VariableIs
    | SignalIs
    | ManeuverOver
)


def parts(condition: Condition) -> Iterator[Condition]:
    """The condition and all that it is made of, in the order of the text."""
    yield condition
    match condition:
        case AnyOf(members) | AllOf(members):
            for member in members:
                yield from parts(member)
        case OnEdge(member) | Lasting(member):
            yield from parts(member)
        case _:
            pass
