"""Values of the language: what a name may stand for, and what may be told of them without their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from tuling_fsm.sim.scenario.placements import AtPose, InSlot, OnLane, Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation


class Dimension(NamedTuple):
    """Exponents of the base units, as `SI(...)` names them."""

    m: int = 0
    s: int = 0
    rad: int = 0
    kg: int = 0
    K: int = 0
    A: int = 0
    mol: int = 0
    cd: int = 0

    def times(self, other: Dimension, sign: int = 1) -> Dimension:
        """Of a product, or with `sign` -1 of a quotient."""
        return Dimension(*(own + sign * theirs for own, theirs in zip(self, other, strict=True)))

    def __str__(self) -> str:
        """Its formula."""
        parts = [f"{unit}^{power}" for unit, power in self._asdict().items() if power]
        return " ".join(parts) if parts else "number without unit"


LANE_DIGITS = 4
"""Of the number of a lane: OpenDRIVE has none beyond a thousand here."""
NUMBER = Dimension()
LENGTH = Dimension(m=1)
TIME = Dimension(s=1)
SPEED = Dimension(m=1, s=-1)
ACCELERATION = Dimension(m=1, s=-2)
ANGLE = Dimension(rad=1)


BOUNDS: Mapping[Dimension, tuple[float, str]] = {
    LENGTH: (1e10, "m"),
    TIME: (1e10, "s"),
    SPEED: (1e7, "m/s"),
    ACCELERATION: (1e7, "m/s^2"),
    ANGLE: (1e7, "rad"),
}
"""How large a quantity of a text may be, either way, and its unit; more is a slip."""


class FaultError(Exception):
    """Something wrong at a place of the text; the file is added where it is known."""

    def __init__(self, at: SourceLocation, what: str, expected: str) -> None:
        self.at, self.what, self.expected = at, what, expected
        super().__init__(what)


@dataclass(frozen=True)
class Physical:
    """A physical quantity in SI units."""

    value: float
    dimension: Dimension


@dataclass(frozen=True)
class Symbol:
    """A member of an enumeration; `enumeration` is empty where the text does not say which."""

    enumeration: str
    member: str


@dataclass(frozen=True)
class ActorName:
    """An actor, by the name that the simulation knows, the kind that it is there, and the type that the text states."""

    name: str
    type: str
    declared: str = field(default="", compare=False)

    @property
    def stated(self) -> str:
        """The type that the text states."""
        return self.declared or self.type


@dataclass(frozen=True)
class Struct:
    """A value with fields."""

    type: str
    fields: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """What a quantity of an actor is while the scenario runs; only conditions know it."""

    actor: ActorName
    quantity: str


@dataclass(frozen=True)
class Waypoints:
    """A `route` (along lanes) or a `path` (straight from point to point)."""

    type: str
    placements: tuple[Placement, ...]


Value: TypeAlias = (
    bool
    | int
    | float
    | str
    | Physical
    | Symbol
    | ActorName
    | Measured
    | Struct
    | Waypoints
    | Placement
    | tuple["Value", ...]
)


def with_article(word: str) -> str:
    """`a length`, `an angle`."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def placement(value: Value) -> Placement | None:
    """Where a point, pose or parking space is; None for anything else or what lacks a field."""
    if isinstance(value, Placement):
        return value
    if not isinstance(value, Struct):
        return None
    fields = value.fields
    match value.type:
        case "odr_point":
            lane = fields.get("lane_id", "")
            road = fields.get("road_id")
            if not isinstance(road, str) or not isinstance(lane, str) or not _is_whole(lane):
                return None
            return OnLane(road, int(lane), _si(fields, "s"), _si(fields, "t"))
        case "parking_space":
            slot = fields.get("id")
            return InSlot(slot, fields.get("backed_in") is True) if isinstance(slot, str) else None
        case "pose_3d":
            point = fields.get("position", fields.get("xyz_point"))
            turn = fields.get("orientation")
            if not isinstance(point, Struct):
                return None
            heading = _si(turn.fields, "yaw") if isinstance(turn, Struct) else None
            return AtPose(_si(point.fields, "x"), _si(point.fields, "y"), heading)
        case "xyz_point" | "position_3d":
            return AtPose(_si(fields, "x"), _si(fields, "y"))
        case _:
            return None


def _si(fields: Mapping[str, Value], name: str) -> float:
    value = fields.get(name)
    return value.value if isinstance(value, Physical) else 0.0


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isdecimal() and len(digits) <= LANE_DIGITS
