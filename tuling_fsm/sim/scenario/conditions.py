"""What a wait waits for, and when an action ends (OSC-1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT, SourceLocation


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
    """Speed of the actor, m/s."""

    actor: str


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


Quantity = Speed | Acceleration | ObjectDistance | PointDistance | TimeToCollision | TimeHeadway


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
    """The actor has finished its last route, path or walk (`SimulationView.arrived`)."""

    actor: str


@dataclass(frozen=True)
class Reached:
    """The actor's speed has come to the target within 0.1 m/s."""

    actor: str
    target: float


@dataclass(frozen=True)
class Emitted:
    """An event has been emitted since the wait began."""

    event: str
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class AnyOf:
    """Any of these holds."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True)
class AllOf:
    """All of these hold in the same step."""

    conditions: tuple[Condition, ...]


Condition = Elapsed | Compare | Arrived | Reached | Emitted | AnyOf | AllOf
