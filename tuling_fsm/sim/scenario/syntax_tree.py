"""The parsed text: what stands where, before anything is known about its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class SourceLocation(NamedTuple):
    """A place in the text, both counted from 1; `file` is empty in the file of the scenario itself."""

    line: int
    column: int
    file: str = ""

    def within(self, file: str) -> str:
        """`file:line:column`, of the file of the scenario where the place does not name another."""
        return f"{self.file or file}:{self.line}:{self.column}"


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
class Choice:
    """`condition ? first : second`."""

    at: SourceLocation
    condition: Expression
    first: Expression
    second: Expression


@dataclass(frozen=True)
class Element:
    """`base[index]`."""

    at: SourceLocation
    base: Expression
    index: Expression


@dataclass(frozen=True)
class EventReference:
    """`@event` or `@label.end`."""

    at: SourceLocation
    event: str


@dataclass(frozen=True)
class FilteredEvent:
    """`@event as alias if condition`; the condition may look at the arguments of the event as fields of the alias."""

    at: SourceLocation
    event: EventReference
    alias: str
    condition: Expression | None


Expression = (
    NumberLiteral
    | TextLiteral
    | TruthLiteral
    | Name
    | Member
    | Call
    | Operation
    | ListOf
    | Range
    | Choice
    | Element
    | EventReference
    | FilteredEvent
)


@dataclass(frozen=True)
class Keep:
    """`keep(constraint)`; one that is a `default` gives way to anything else."""

    at: SourceLocation
    constraint: Expression
    default: bool = False


@dataclass(frozen=True)
class RemoveDefault:
    """`remove_default(target)`."""

    at: SourceLocation
    target: Expression


@dataclass(frozen=True)
class Coverage:
    """`cover(...)` or `record(...)`."""

    at: SourceLocation
    keyword: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Declaration:
    """`names: type = default with: keep(...)`, a parameter or (`var`) a variable."""

    at: SourceLocation
    names: tuple[Name, ...]
    type: Name
    is_list: bool
    default: Expression | None
    keeps: tuple[Keep, ...]
    others: tuple[RemoveDefault | Coverage, ...] = ()
    """What else stands in its `with`."""


@dataclass(frozen=True)
class Parameter:
    """`name: type = default` of an event or a method; a list is of the type `list of name`."""

    at: SourceLocation
    name: str
    type: str
    default: Expression | None


@dataclass(frozen=True)
class EventDeclaration:
    """`event name(parameters) is occurrence`."""

    at: SourceLocation
    name: str
    parameters: tuple[Parameter, ...] = ()
    occurrence: Expression | None = None


@dataclass(frozen=True)
class ExternalMethod:
    """`external language(arguments)`: what another program computes."""

    at: SourceLocation
    language: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class MethodDeclaration:
    """`def name(parameters) -> type is ...`; without a body it is undefined."""

    at: SourceLocation
    name: str
    parameters: tuple[Parameter, ...]
    returns: str
    body: Expression | ExternalMethod | None


@dataclass(frozen=True)
class Until:
    """`until condition` in a `with` block."""

    at: SourceLocation
    condition: Expression


@dataclass(frozen=True)
class With:
    """The modifiers, the end condition and the constraints of a behaviour."""

    modifiers: tuple[Call, ...] = ()
    until: tuple[Until, ...] = ()
    constraints: tuple[Keep | RemoveDefault, ...] = ()


@dataclass(frozen=True)
class Composition:
    """`serial:`, `parallel:` or `one_of:` with its members."""

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
    """`emit event(arguments)`."""

    at: SourceLocation
    event: str
    label: str = ""
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class CallMethod:
    """`call method(...)`."""

    at: SourceLocation
    call: Call
    label: str = ""


Behaviour = Composition | Invocation | WaitFor | EmitEvent | CallMethod


@dataclass(frozen=True)
class Do:
    """`do behaviour`."""

    at: SourceLocation
    behaviour: Behaviour


@dataclass(frozen=True)
class On:
    """`on occurrence:` and what is emitted or called then."""

    at: SourceLocation
    occurrence: Expression
    reactions: tuple[EmitEvent | CallMethod, ...]


TypeMember = Declaration | EventDeclaration | Keep | RemoveDefault | MethodDeclaration | Coverage | Call | Do | On
"""What the body of a type may hold."""


@dataclass(frozen=True)
class Import:
    """`import osc.standard` or `import "file.osc"`."""

    at: SourceLocation
    path: str
    quoted: bool


@dataclass(frozen=True)
class PhysicalTypeDeclaration:
    """`type name is SI(...)`: exponents by base unit."""

    at: SourceLocation
    name: str
    exponents: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class UnitDeclaration:
    """`unit name of type is SI(...)`: a value in SI units is `value * factor + offset`."""

    at: SourceLocation
    name: str
    type: str
    exponents: tuple[tuple[str, int], ...]
    factor: float
    offset: float


@dataclass(frozen=True)
class EnumerationMember:
    """`name` or `name = number`."""

    at: SourceLocation
    name: str
    number: int | None


@dataclass(frozen=True)
class EnumerationDeclaration:
    """`enum name: [members]`."""

    at: SourceLocation
    name: str
    members: tuple[EnumerationMember, ...]


@dataclass(frozen=True)
class TypeDeclaration:
    """`struct`, `actor`, `action`, `scenario` or `modifier` with its members in the order of the text."""

    at: SourceLocation
    keyword: str
    name: str
    members: tuple[TypeMember, ...]
    base: str = ""
    condition: Expression | None = None
    """That its values fulfil among those of the base."""
    of: str = ""
    """The action or scenario that a modifier is for."""


@dataclass(frozen=True)
class Extension:
    """`extend name:` with members of a type, or of an enumeration."""

    at: SourceLocation
    name: str
    members: tuple[TypeMember, ...] = ()
    enumeration: tuple[EnumerationMember, ...] = ()


@dataclass(frozen=True)
class GlobalDeclaration:
    """`global names: type`."""

    at: SourceLocation
    declaration: Declaration


Statement = (
    Import
    | PhysicalTypeDeclaration
    | UnitDeclaration
    | EnumerationDeclaration
    | TypeDeclaration
    | Extension
    | GlobalDeclaration
)
