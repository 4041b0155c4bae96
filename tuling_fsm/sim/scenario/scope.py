"""Names and what they stand for; arguments and the parameters that they fill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from tuling_fsm.sim.scenario import tree
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.values import ENUMERATIONS, ActorName, FaultError, Symbol, Value


class Param(NamedTuple):
    """A parameter of a method, modifier or action; one without a default may be left out if `optional`."""

    name: str
    type: str
    default: Value | None = None
    optional: bool = False


Bound = Mapping[str, Value | None]
"""Arguments by parameter name; None for an optional one that was left out."""


@dataclass
class Scope:
    """What the names of a scenario stand for; None for one that is declared and has no value yet."""

    values: dict[str, Value | None] = field(default_factory=dict)

    def look_up(self, name: tree.Name) -> Value:
        """The value of a name, or the member of an enumeration that it spells.

        Raises:
            FaultError: it is unknown, or has no value.
        """
        found = self.values.get(name.name)
        if found is not None:
            return found
        if name.name in self.values:
            raise FaultError(name.at, f"{name.name!r} has no value", "a default, a keep or an override")
        enumeration, _, member = name.name.rpartition("!")
        if any(member in members for kind, members in ENUMERATIONS.items() if enumeration in ("", kind)):
            return Symbol(enumeration, member)
        raise FaultError(name.at, f"unknown name {name.name!r}", "one of " + ", ".join(self.values))

    def actor(self, expression: tree.Expression) -> ActorName:
        """The actor that an expression names.

        Raises:
            FaultError: it names no actor.
        """
        actors = [value for value in self.values.values() if isinstance(value, ActorName)]
        expected = "one of " + ", ".join(actor.name for actor in actors)
        if not isinstance(expression, tree.Name):
            raise FaultError(expression.at, "this is no actor", expected)
        found = self.values.get(expression.name)
        if not isinstance(found, ActorName):
            raise FaultError(expression.at, f"unknown actor {expression.name!r}", expected)
        return found


def listed(params: Iterable[Param]) -> str:
    """Parameters as a reader writes them."""
    return ", ".join(f"{param.name}: {param.type}" for param in params) or "no arguments"


def assign(what: str, params: Iterable[Param], arguments: Iterable[tree.Argument], at: At) -> dict[str, tree.Argument]:
    """Which argument fills which parameter: positional ones in order, then by name.

    Raises:
        FaultError: an unknown, repeated, missing or surplus argument.
    """
    table = {param.name: param for param in params}
    order, filled = list(table), dict[str, tree.Argument]()
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
