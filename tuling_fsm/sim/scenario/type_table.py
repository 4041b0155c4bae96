"""The types that a text may name, and values as ones of a type.

What the standard library declares and what a file declares itself are the same here; `type_declarations` fills it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import (
    ActorName,
    Dimension,
    FaultError,
    Measured,
    Physical,
    Struct,
    Symbol,
    Value,
    Waypoints,
    placement,
    with_article,
)

SCALARS = ("bool", "int", "uint", "float", "string", "id")
"""Types that no text declares; `id` is our own, a string or a whole number."""
SIMULATED = (
    "vehicle",
    "person",
    "stationary_object",
    "map",
    "environment",
    "traffic_source",
    "traffic_lights",
    "remote_operator",
    "road_works",
    "parking_area",
    "route_server",
    "sensor_suite",
    "Path",
)
"""Kinds of actors that the simulation knows: an actor is the first of these among its type and what that inherits."""
LIST = "list of "
_WORDS = {
    "bool": "true or false",
    "int": "a whole number",
    "uint": "a whole number from 0 on",
    "float": "a number without unit",
    "id": "a string or a whole number",
    "way": "map.create_route([...]) or map.create_path([...])",
}
"""What would be right, for types that do not say it by their name."""
MANY = 40
"""So many names are told as what would be right; of more only those that are alike."""


@dataclass(frozen=True)
class Unit:
    """A unit of a physical type: a value in SI units is `value * factor + offset`."""

    type: str
    dimension: Dimension
    factor: float
    offset: float = 0.0


@dataclass(frozen=True)
class StructuredType:
    """A struct, actor, action, scenario or modifier: its own members, and its own fields with their types."""

    keyword: str
    name: str
    base: str
    members: tuple[syntax_tree.TypeMember, ...]
    fields: Mapping[str, str]
    condition: syntax_tree.Expression | None
    of: str
    at: SourceLocation


@dataclass
class TypeTable:
    """All types, units and enumerations by name; behaviours and modifiers by their qualified names."""

    physical: dict[str, Dimension] = field(default_factory=dict)
    units: dict[str, Unit] = field(default_factory=dict)
    enumerations: dict[str, dict[str, str]] = field(default_factory=dict)
    """Every spelling that is taken, and the member that it means."""
    structured: dict[str, StructuredType] = field(default_factory=dict)
    """Structs and actors."""
    behaviours: dict[str, StructuredType] = field(default_factory=dict)
    """Actions and scenarios."""
    modifiers: dict[str, StructuredType] = field(default_factory=dict)
    globals: list[syntax_tree.Declaration] = field(default_factory=list)

    def copy(self) -> TypeTable:
        """One that may be added to."""
        return TypeTable(
            dict(self.physical),
            dict(self.units),
            {name: dict(members) for name, members in self.enumerations.items()},
            dict(self.structured),
            dict(self.behaviours),
            dict(self.modifiers),
            list(self.globals),
        )

    def names(self) -> tuple[str, ...]:
        """Every type that a declaration may name."""
        return (*SCALARS, *self.physical, *self.enumerations, *self.structured)

    def knows(self, kind: str) -> bool:
        """Whether there is a type of a name; lists are types too."""
        return kind.removeprefix(LIST) in self.names()

    def line(self, kind: str) -> Iterator[StructuredType]:
        """A structured type and all that it inherits, the type itself first."""
        table = self.behaviours if kind in self.behaviours else self.structured
        seen: set[str] = set()
        while kind in table and kind not in seen:
            seen.add(kind)
            yield table[kind]
            kind = table[kind].base

    def is_a(self, kind: str, wanted: str) -> bool:
        """Whether a type is another one, or inherits it."""
        return kind == wanted or any(each.name == wanted for each in self.line(kind))

    def is_actor(self, kind: str) -> bool:
        """Whether a type is one of actors."""
        return kind in self.structured and self.structured[kind].keyword == "actor"

    def is_struct(self, kind: str) -> bool:
        """Whether a type is a struct."""
        return kind in self.structured and self.structured[kind].keyword == "struct"

    def simulated(self, kind: str) -> str | None:
        """What an actor of a type is in the simulation; None for one that it does not know."""
        return next((each.name for each in self.line(kind) if each.name in SIMULATED), None)

    def fields(self, kind: str) -> dict[str, str]:
        """Fields and their types, with those that are inherited."""
        found: dict[str, str] = {}
        for each in self.line(kind):
            found = {**each.fields, **found}
        return found

    def member(self, kind: str, name: str) -> StructuredType | None:
        """The action or scenario of an actor's type, or of one that it inherits."""
        lines = (self.behaviours.get(f"{each.name}.{name}") for each in self.line(kind))
        return next((found for found in lines if found is not None), None)

    def units_of(self, kind: str) -> tuple[str, ...]:
        """The units of a physical type, for messages and the documentation."""
        dimension = self.physical[kind]
        return tuple(name for name, unit in self.units.items() if unit.dimension == dimension)

    def dimension_name(self, dimension: Dimension) -> str:
        """The physical type, or its formula where it has no name."""
        return next((name for name, known in self.physical.items() if known == dimension), str(dimension))

    def describe(self, value: Value) -> str:
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
                return with_article(self.dimension_name(value.dimension))
            case Symbol():
                return f"{value.member!r}"
            case ActorName():
                return f"the {value.type} {value.name!r}"
            case Measured():
                return f"the {value.quantity} of {value.actor.name!r}"
            case Struct() | Waypoints():
                return with_article(value.type)
            case tuple():
                return "a list"
            case _:
                assert_never(value)

    def expected_of(self, kind: str) -> str:
        """What would be right for a type."""
        if kind in self.physical:
            return f"{with_article(kind)} in " + ", ".join(self.units_of(kind))
        if kind in self.enumerations:
            return "one of " + ", ".join(self.enumerations[kind])
        if kind in _WORDS:
            return _WORDS[kind]
        below = [name for name in self.structured if name != kind and self.is_a(name, kind)]
        return "one of " + ", ".join(below) if below else kind

    def convert(self, value: Value, kind: str, at: SourceLocation) -> Value:
        """The value as one of the type `kind`; a list type is written `list of kind`.

        Raises:
            FaultError: the value is of another type or dimension.
        """
        if kind.startswith(LIST):
            items = value if isinstance(value, tuple) else (value,)
            return tuple(self.convert(item, kind.removeprefix(LIST), at) for item in items)
        found = self._converted(value, kind)
        if found is None:
            raise FaultError(at, f"{self.describe(value)} is no {kind}", self.expected_of(kind))
        return found

    def _converted(self, value: Value, kind: str) -> Value | None:
        if kind in self.physical:
            if isinstance(value, Measured):
                return value
            fits = isinstance(value, Physical) and value.dimension == self.physical[kind]
            return value if fits else None
        if kind in self.enumerations:
            return self._member(value, kind)
        if isinstance(value, ActorName):
            return value if self.is_a(value.stated, kind) else None
        if kind == "position":
            return placement(value)
        if isinstance(value, Waypoints):
            return value if self.is_a(value.type, kind) else None
        if self.is_struct(kind):
            return value if isinstance(value, Struct) and self._fits(value.type, kind) else None
        return _scalar(value, kind)

    def _fits(self, given: str, wanted: str) -> bool:
        return self.is_a(given, wanted) or {given, wanted} == {"xyz_point", "position_3d"}

    def _member(self, value: Value, kind: str) -> Symbol | None:
        if not isinstance(value, Symbol) or value.enumeration not in ("", kind):
            return None
        meant = self.enumerations[kind].get(value.member)
        return None if meant is None else Symbol(kind, meant)


def _scalar(value: Value, kind: str) -> Value | None:
    if kind == "bool" or isinstance(value, bool):
        return value if kind == "bool" and isinstance(value, bool) else None
    if kind == "float":
        return float(value) if isinstance(value, int | float) else None
    if kind == "int" or kind == "uint":
        return value if isinstance(value, int) and (kind == "int" or value >= 0) else None
    if kind == "id" and isinstance(value, int):
        return str(value)
    return value if isinstance(value, str) and kind in ("string", "id") else None


def one_of(name: str, names: tuple[str, ...]) -> str:
    """What would be right instead of an unknown name: all that there are, or those that are alike."""
    if len(names) > MANY:
        names = tuple(get_close_matches(name, names, n=8, cutoff=0.5))
    return "one of " + ", ".join(names) if names else "a declaration of it in the text"
