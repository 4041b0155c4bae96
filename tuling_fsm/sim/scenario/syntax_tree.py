"""The parsed text: what stands where, before anything is known about its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class SourceLocation(NamedTuple):
    """A place in the text, both counted from 1."""

    line: int
    column: int


NO_TEXT = SourceLocation(0, 0)
"""Of what no text states."""


@dataclass(frozen=True)
class NumberLiteral:
    """A number, with its unit (empty: none). `whole` where it was written without point and exponent."""

    at: SourceLocation
    value: float
    unit: str
    whole: bool


@dataclass(frozen=True)
class TextLiteral:
    """A quoted string."""

    at: SourceLocation
    value: str


@dataclass(frozen=True)
class TruthLiteral:
    """`true` or `false`."""

    at: SourceLocation
    value: bool


@dataclass(frozen=True)
class Name:
    """An identifier; `enumeration!member` is one too."""

    at: SourceLocation
    name: str


@dataclass(frozen=True)
class Member:
    """`base.name`."""

    at: SourceLocation
    base: Expression
    name: str


@dataclass(frozen=True)
class Argument:
    """A positional (`name` None) or named argument."""

    at: SourceLocation
    name: str | None
    value: Expression


@dataclass(frozen=True)
class Call:
    """`callee(arguments)`: of an action, a modifier or a method."""

    at: SourceLocation
    callee: Expression
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Operation:
    """An operator between its operands: `and`, `or`, `not`, a relation, or arithmetic."""

    at: SourceLocation
    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class ListOf:
    """`[a, b]`."""

    at: SourceLocation
    items: tuple[Expression, ...]


@dataclass(frozen=True)
class Range:
    """`[low..high]`."""

    at: SourceLocation
    low: Expression
    high: Expression


@dataclass(frozen=True)
class EventReference:
    """`@event` or `@label.end`."""

    at: SourceLocation
    event: str


Expression = (
    NumberLiteral | TextLiteral | TruthLiteral | Name | Member | Call | Operation | ListOf | Range | EventReference
)


@dataclass(frozen=True)
class Keep:
    """`keep(constraint)`."""

    at: SourceLocation
    constraint: Expression


@dataclass(frozen=True)
class Declaration:
    """`names: type = default with: keep(...)`, a parameter or (`var`) a variable."""

    at: SourceLocation
    names: tuple[Name, ...]
    type: Name
    is_list: bool
    default: Expression | None
    keeps: tuple[Keep, ...]


@dataclass(frozen=True)
class EventDeclaration:
    """`event name`."""

    at: SourceLocation
    name: str


@dataclass(frozen=True)
class Until:
    """`until condition` in a `with` block."""

    at: SourceLocation
    condition: Expression


@dataclass(frozen=True)
class With:
    """The modifiers and the end condition of a behaviour."""

    modifiers: tuple[Call, ...] = ()
    until: tuple[Until, ...] = ()


@dataclass(frozen=True)
class Composition:
    """`serial:` or `parallel:` with its members."""

    at: SourceLocation
    operator: str
    arguments: tuple[Argument, ...]
    members: tuple[Behaviour, ...]
    modifiers: With
    label: str = ""


@dataclass(frozen=True)
class Invocation:
    """`actor.action(...)` with its modifiers."""

    at: SourceLocation
    call: Call
    modifiers: With
    label: str = ""


@dataclass(frozen=True)
class WaitFor:
    """`wait condition`."""

    at: SourceLocation
    condition: Expression
    label: str = ""


@dataclass(frozen=True)
class EmitEvent:
    """`emit event`."""

    at: SourceLocation
    event: str
    label: str = ""


Behaviour = Composition | Invocation | WaitFor | EmitEvent


@dataclass(frozen=True)
class Do:
    """`do behaviour`."""

    at: SourceLocation
    behaviour: Behaviour


@dataclass(frozen=True)
class ScenarioText:
    """`scenario name:` with its members in the order of the text."""

    at: SourceLocation
    name: str
    members: tuple[Declaration | EventDeclaration | Keep | Call | Do, ...]
