"""Parameters of methods, modifiers and actions, and which argument fills which."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import ActorName, FaultError, Physical, Symbol, Value, Waypoints


class Param(NamedTuple):
    """A parameter of a method, modifier or action; one without a default may be left out if `optional`."""

    name: str
    type: str
    default: Value | None = None
    optional: bool = False


class BoundArguments(dict[str, Value | None]):
    """Arguments by parameter name; None for an optional one that was left out. The methods give them as the Python
    types that `bind` has converted them to.
    """

    def si(self, name: str) -> float:
        """A physical argument in its SI unit."""
        value = self[name]
        assert isinstance(value, Physical)
        return value.value

    def whole(self, name: str) -> int:
        """A whole number."""
        value = self[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        """A number without a unit."""
        value = self[name]
        assert isinstance(value, float)
        return value

    def text(self, name: str) -> str:
        """A string."""
        value = self[name]
        assert isinstance(value, str)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of strings."""
        value = self[name]
        assert isinstance(value, tuple)
        return tuple(item for item in value if isinstance(item, str))

    def truth(self, name: str) -> bool:
        """A truth value."""
        value = self[name]
        assert isinstance(value, bool)
        return value

    def member(self, name: str) -> str:
        """The member of an enumeration."""
        value = self[name]
        assert isinstance(value, Symbol)
        return value.member

    def actor(self, name: str) -> str:
        """The name of an actor."""
        value = self[name]
        assert isinstance(value, ActorName)
        return value.name

    def position(self, name: str) -> Placement:
        """A position."""
        value = self[name]
        assert isinstance(value, Placement)
        return value

    def waypoints(self, name: str) -> Waypoints:
        """A route or a path."""
        value = self[name]
        assert isinstance(value, Waypoints)
        return value


def listed(params: Iterable[Param]) -> str:
    """Parameters as a reader writes them."""
    return ", ".join(f"{param.name}: {param.type}" for param in params) or "no arguments"


def assign(
    what: str, params: Iterable[Param], arguments: Iterable[syntax_tree.Argument], at: SourceLocation
) -> dict[str, syntax_tree.Argument]:
    """Which argument fills which parameter: positional ones in order, then by name.

    Raises:
        FaultError: an unknown, repeated, missing or surplus argument.
    """
    table = {param.name: param for param in params}
    order, filled = list(table), dict[str, syntax_tree.Argument]()
    for place, argument in enumerate(arguments):
        name = argument.name or (order[place] if place < len(order) else "")
        if not name:
            raise FaultError(argument.at, f"too many arguments for {what!r}", listed(table.values()))
        if name not in table:
            raise FaultError(argument.at, f"{what!r} has no parameter {name!r}", listed(table.values()))
        if name in filled:
            raise FaultError(argument.at, f"{name!r} is given twice", "one value")
        filled[name] = argument
    for param in table.values():
        if param.name not in filled and param.default is None and not param.optional:
            raise FaultError(at, f"{what!r} needs {param.name!r}", listed(table.values()))
    return filled
