"""The parsed text: what stands where, before anything is known about its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class At(NamedTuple):
    """A place in the text, both counted from 1."""

    line: int
    column: int


NO_TEXT = At(0, 0)
"""Of what no text states."""


@dataclass(frozen=True)
class Number:
    """A number, with its unit (empty: none). `whole` where it was written without point and exponent."""

    at: At
    value: float
    unit: str
    whole: bool


@dataclass(frozen=True)
class Text:
    """A quoted string."""

    at: At
    value: str


@dataclass(frozen=True)
class Truth:
    """`true` or `false`."""

    at: At
    value: bool


@dataclass(frozen=True)
class Name:
    """An identifier; `enumeration!member` is one too."""

    at: At
    name: str


@dataclass(frozen=True)
class Member:
    """`base.name`."""

    at: At
    base: Expression
    name: str


@dataclass(frozen=True)
class Argument:
    """A positional (`name` None) or named argument."""

    at: At
    name: str | None
    value: Expression


@dataclass(frozen=True)
class Call:
    """`callee(arguments)`: of an action, a modifier or a method."""

    at: At
    callee: Expression
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Operation:
    """An operator between its operands: `and`, `or`, `not`, a relation, or arithmetic."""

    at: At
    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class ListOf:
    """`[a, b]`."""

    at: At
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Range:
    """`[low..high]`."""

    at: At
    low: Expression
    high: Expression


@dataclass(frozen=True)
class EventReference:
    """`@event` or `@label.end`."""

    at: At
    event: str


Expression = Number | Text | Truth | Name | Member | Call | Operation | ListOf | Range | EventReference


@dataclass(frozen=True)
class Keep:
    """`keep(constraint)`."""

    at: At
    constraint: Expression


@dataclass(frozen=True)
class Declaration:
    """`names: type = default with: keep(...)`, a parameter or (`var`) a variable."""

    at: At
    names: tuple[Name, ...]
    type: Name
    is_list: bool
    default: Expression | None
    keeps: tuple[Keep, ...]


@dataclass(frozen=True)
class EventDeclaration:
    """`event name`."""

    at: At
    name: str


@dataclass(frozen=True)
class Until:
    """`until condition` in a `with` block."""

    at: At
    condition: Expression


@dataclass(frozen=True)
class With:
    """The modifiers and the end condition of a behaviour."""

    modifiers: tuple[Call, ...] = ()
    until: tuple[Until, ...] = ()


@dataclass(frozen=True)
class Composition:
    """`serial:` or `parallel:` with its members."""

    at: At
    operator: str
    arguments: tuple[Argument, ...]
    members: tuple[Behaviour, ...]
    modifiers: With
    label: str = ""


@dataclass(frozen=True)
class Invocation:
    """`actor.action(...)` with its modifiers."""

    at: At
    call: Call
    modifiers: With
    label: str = ""


@dataclass(frozen=True)
class WaitFor:
    """`wait condition`."""

    at: At
    condition: Expression
    label: str = ""


@dataclass(frozen=True)
class EmitEvent:
    """`emit event`."""

    at: At
    event: str
    label: str = ""


Behaviour = Composition | Invocation | WaitFor | EmitEvent


@dataclass(frozen=True)
class Do:
    """`do behaviour`."""

    at: At
    behaviour: Behaviour


@dataclass(frozen=True)
class ScenarioText:
    """`scenario name:` with its members in the order of the text."""

    at: At
    name: str
    members: tuple[Declaration | EventDeclaration | Keep | Call | Do, ...]
