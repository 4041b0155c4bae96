"""Values of the language, their types and units: what a name may stand for, and what may be used as what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario.placements import AtPose, InSlot, OnLane, Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation


class Dimension(NamedTuple):
    """Exponents of metre, second and radian."""

    m: int = 0
    s: int = 0
    rad: int = 0

    def times(self, other: Dimension, sign: int = 1) -> Dimension:
        """Of a product, or with `sign` -1 of a quotient."""
        return Dimension(*(own + sign * theirs for own, theirs in zip(self, other, strict=True)))


NUMBER = Dimension()
PHYSICAL_TYPES = {
    "length": Dimension(m=1),
    "time": Dimension(s=1),
    "speed": Dimension(m=1, s=-1),
    "acceleration": Dimension(m=1, s=-2),
    "jerk": Dimension(m=1, s=-3),
    "angle": Dimension(rad=1),
    "angular_rate": Dimension(rad=1, s=-1),
    "angular_acceleration": Dimension(rad=1, s=-2),
}
"""The physical types of the standard and what they are made of."""

_FACTORS: dict[str, dict[str, float]] = {
    "length": {
        "mm": 1e-3,
        "cm": 1e-2,
        "m": 1.0,
        "meter": 1.0,
        "km": 1e3,
        "kilometer": 1e3,
        "inch": 0.0254,
        "ft": 0.3048,
        "feet": 0.3048,
        "mile": 1609.344,
        "mi": 1609.344,
    },
    "time": {
        "ms": 1e-3,
        "s": 1.0,
        "sec": 1.0,
        "second": 1.0,
        "min": 60.0,
        "minute": 60.0,
        "h": 3600.0,
        "hour": 3600.0,
    },
    "speed": {"mps": 1.0, "kmph": 1.0 / 3.6, "kph": 1.0 / 3.6, "mph": 0.44704, "mmph": 1e-3 / 3600.0},
    "acceleration": {"mpss": 1.0, "mpsps": 1.0, "kmphps": 1.0 / 3.6},
    "jerk": {"mpsss": 1.0, "mpspsps": 1.0},
    "angle": {"rad": 1.0, "radian": 1.0, "deg": math.pi / 180.0, "degree": math.pi / 180.0},
    "angular_rate": {"radps": 1.0, "degps": math.pi / 180.0},
    "angular_acceleration": {"radpss": 1.0, "degpss": math.pi / 180.0},
}
UNITS: dict[str, tuple[Dimension, float]] = {
    unit: (PHYSICAL_TYPES[kind], factor) for kind, units in _FACTORS.items() for unit, factor in units.items()
}
"""Every unit: its dimension, and how many SI units it is."""


def units_of(kind: str) -> tuple[str, ...]:
    """The units of a physical type, for messages and the documentation."""
    return tuple(_FACTORS[kind])


def dimension_name(dimension: Dimension) -> str:
    """The physical type, or its formula where it has no name."""
    for name, known in PHYSICAL_TYPES.items():
        if known == dimension:
            return name
    parts = [f"{unit}^{power}" for unit, power in dimension._asdict().items() if power]
    return " ".join(parts) if parts else "number without unit"


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
    """An actor, by the name that the simulation knows, and its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Struct:
    """A value with fields."""

    type: str
    fields: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Waypoints:
    """A `route` (along lanes) or a `path` (straight from point to point)."""

    type: str
    placements: tuple[Placement, ...]


Value: TypeAlias = (
    bool | int | float | str | Physical | Symbol | ActorName | Struct | Waypoints | Placement | tuple["Value", ...]
)

ENUMERATIONS: dict[str, dict[str, str]] = {
    "distance_direction": {
        "longitudinal": "longitudinal",
        "lateral": "lateral",
        "euclidean": "euclidean",
        "euclidianDistance": "euclidean",
    },
    "distance_mode": {"reference_points": "reference_points", "bounding_boxes": "bounding_boxes"},
    "dynamics_shape": {name: name for name in ("linear", "cubic", "sinusoidal", "step")},
    "lane_change_side": {"left": "left", "right": "right"},
    "side_left_right": {"left": "left", "right": "right"},
    "at": {"start": "start"},
    "traffic_light_state": {
        name: name for name in ("red", "yellow", "green", "red_yellow", "flashing_yellow", "dark", "unknown")
    },
    "object_kind": {name: name for name in ("barrier", "cone", "debris")},
    "sensor": {
        name: name
        for name in (
            "odometry",
            "objects",
            "lane_lines",
            "traffic_lights",
            "parking_slots",
            "occupancy",
            "lidar",
            "radar",
            "camera",
        )
    },
    "seen_as": {name: name for name in ("objects", "occupancy", "both")},
}
"""Enumerations: every spelling that is taken, and the member that it means."""

STRUCTS: dict[str, dict[str, str]] = {
    "xyz_point": {"x": "length", "y": "length", "z": "length"},
    "position_3d": {"x": "length", "y": "length", "z": "length"},
    "orientation_3d": {"roll": "angle", "pitch": "angle", "yaw": "angle"},
    "odr_point": {"road_id": "id", "lane_id": "id", "s": "length", "t": "length"},
    "pose_3d": {"xyz_point": "xyz_point", "position": "xyz_point", "orientation": "orientation_3d"},
    "parking_space": {"id": "id", "backed_in": "bool"},
    "bounding_box": {"length": "length", "width": "length", "height": "length"},
}
"""Structs and the types of their fields."""

ACTOR_FIELDS: dict[str, dict[str, str]] = {
    "vehicle": {"length": "length", "width": "length", "bounding_box": "bounding_box"},
    "person": {"length": "length", "width": "length", "bounding_box": "bounding_box"},
    "stationary_object": {"length": "length", "width": "length", "bounding_box": "bounding_box", "kind": "object_kind"},
    "map": {},
    "environment": {},
    "traffic_source": {},
    "traffic_lights": {},
    "remote_operator": {},
    "road_works": {},
    "parking_area": {},
    "route_server": {},
    "sensor_suite": {},
}
"""Actors and the fields that a `keep` may set."""

PHYSICAL_OBJECTS = ("vehicle", "person", "stationary_object")
"""Actors that are somewhere."""
SCALARS = ("bool", "int", "uint", "float", "string")
TYPES = (*SCALARS, *PHYSICAL_TYPES, *ENUMERATIONS, *STRUCTS, *ACTOR_FIELDS, "route", "path")
"""Every type that a declaration may name."""

_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "uint": "a whole number from 0 on",
    "float": "a number without unit",
    "id": "a string or a whole number",
    "physical_object": "a vehicle, a person or a stationary_object",
    "position": "one of odr_point, xyz_point, position_3d, pose_3d, parking_space",
    "way": "map.create_route([...]) or map.create_path([...])",
}
"""What would be right, for types that do not say it by their name."""

POSITION_TYPES = ("odr_point", "xyz_point", "position_3d", "pose_3d", "parking_space")


def describe(value: Value) -> str:
    """A value in words, for messages."""
    if isinstance(value, Placement):
        return "a position"
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value:g}"
        case str():
            return f"the string {value!r}"
        case Physical():
            return with_article(dimension_name(value.dimension))
        case Symbol():
            return f"{value.member!r}"
        case ActorName():
            return f"the {value.type} {value.name!r}"
        case Struct() | Waypoints():
            return with_article(value.type)
        case tuple():
            return "a list"
        case _:
            assert_never(value)


def with_article(word: str) -> str:
    """`a length`, `an angle`."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def convert(value: Value, kind: str, at: SourceLocation) -> Value:
    """The value as one of the type `kind`; a list type is written `list of kind`.

    Raises:
        FaultError: the value is of another type or dimension.
    """
    if kind.startswith("list of "):
        items = value if isinstance(value, tuple) else (value,)
        return tuple(convert(item, kind[len("list of ") :], at) for item in items)
    found = _converted(value, kind)
    if found is None:
        raise FaultError(at, f"{describe(value)} is no {kind}", expected_of(kind))
    return found


def expected_of(kind: str) -> str:
    """What would be right for a type."""
    if kind in PHYSICAL_TYPES:
        return f"{with_article(kind)} in " + ", ".join(units_of(kind))
    if kind in ENUMERATIONS:
        return "one of " + ", ".join(ENUMERATIONS[kind])
    return _WORDS.get(kind, kind)


def _converted(value: Value, kind: str) -> Value | None:
    if kind in PHYSICAL_TYPES:
        fits = isinstance(value, Physical) and value.dimension == PHYSICAL_TYPES[kind]
        return value if fits else None
    if kind in ENUMERATIONS:
        return _member(value, kind)
    if kind in ACTOR_FIELDS or kind == "actor":
        fits = isinstance(value, ActorName) and kind in ("actor", value.type)
        return value if fits else None
    if kind == "physical_object":
        return value if isinstance(value, ActorName) and value.type in PHYSICAL_OBJECTS else None
    if kind == "position":
        return placement(value)
    if kind in STRUCTS:
        return value if isinstance(value, Struct) and _struct_fits(value.type, kind) else None
    if kind in ("route", "path", "way"):
        return value if isinstance(value, Waypoints) and kind in ("way", value.type) else None
    return _scalar(value, kind)


def _scalar(value: Value, kind: str) -> Value | None:
    if kind == "bool" or isinstance(value, bool):
        return value if kind == "bool" and isinstance(value, bool) else None
    if kind == "float":
        return float(value) if isinstance(value, int | float) else None
    if kind == "int" or kind == "uint":
        return value if isinstance(value, int) and (kind == "int" or value >= 0) else None
    if kind == "id" and isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) else None


def _member(value: Value, kind: str) -> Symbol | None:
    if not isinstance(value, Symbol) or value.enumeration not in ("", kind):
        return None
    meant = ENUMERATIONS[kind].get(value.member)
    return None if meant is None else Symbol(kind, meant)


def _struct_fits(given: str, wanted: str) -> bool:
    return given == wanted or {given, wanted} == {"xyz_point", "position_3d"}


def placement(value: Value) -> Placement | None:
    """Where a point, pose or parking space is; None for anything else or what lacks a field."""
    if isinstance(value, Placement):
        return value
    if not isinstance(value, Struct) or value.type not in POSITION_TYPES:
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
            raise AssertionError(f"no placement of a {value.type}")


def _si(fields: Mapping[str, Value], name: str) -> float:
    value = fields.get(name)
    return value.value if isinstance(value, Physical) else 0.0


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdigit()
