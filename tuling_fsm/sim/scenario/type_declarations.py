"""Fills a `TypeTable` with what the statements of a file declare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_table import LIST, StructuredType, TypeTable, Unit, one_of
from tuling_fsm.sim.scenario.values import Dimension, FaultError

SAME_FACTOR = 1e-5
"""A unit that a file declares anew is the one of the library if the factors agree within this share."""
BEHAVIOURS = ("action", "scenario")


@dataclass
class TypeDeclarations:
    """Adds declarations to a table, and remembers which are of the files themselves and what they change silently."""

    types: TypeTable
    standard: bool = False
    """Whether these are the libraries, in which enumerations may have several spellings of a member."""
    notes: list[tuple[SourceLocation, str]] = field(default_factory=list)
    _own: dict[tuple[str, str], SourceLocation] = field(default_factory=dict)
    _checked: list[StructuredType] = field(default_factory=list)

    def add(self, statements: Iterable[syntax_tree.Statement]) -> None:
        """All declarations of a file.

        Raises:
            FaultError: something declared twice, an unknown type, base or unit.
        """
        for statement in _ordered(statements):
            match statement:
                case syntax_tree.Import():
                    pass
                case syntax_tree.PhysicalTypeDeclaration():
                    self._physical(statement)
                case syntax_tree.UnitDeclaration():
                    self._unit(statement)
                case syntax_tree.EnumerationDeclaration():
                    self._enumeration(statement)
                case syntax_tree.TypeDeclaration():
                    self._structured(statement)
                case syntax_tree.Extension():
                    self._extend(statement)
                case syntax_tree.GlobalDeclaration():
                    self._global(statement)
                case _:
                    assert_never(statement)

    def check(self) -> None:
        """That all fields are of known types, now that all are declared.

        Raises:
            FaultError: one is not.
        """
        for kind in self._checked:
            for member in kind.members:
                if isinstance(member, syntax_tree.Declaration):
                    known_type(self.types, member.type)

    def _once(self, what: str, name: str, at: SourceLocation) -> None:
        """Refuse a second declaration in the same file; another file may repeat one."""
        before = self._own.get((what, name))
        if before is not None and before.file == at.file:
            raise FaultError(at, f"the {what} {name!r} is declared twice", f"another name than in line {before.line}")
        self._own[what, name] = at

    def _physical(self, declared: syntax_tree.PhysicalTypeDeclaration) -> None:
        self._once("type", declared.name, declared.at)
        dimension = _dimension(declared.exponents, declared.at)
        if self.types.physical.get(declared.name, dimension) != dimension:
            self.notes.append((declared.at, f"{declared.name!r} takes the place of that of the standard library"))
        self.types.physical[declared.name] = dimension

    def _unit(self, declared: syntax_tree.UnitDeclaration) -> None:
        name, types = declared.name, self.types
        self._once("unit", name, declared.at)
        if declared.type not in types.physical:
            known = one_of(declared.type, tuple(types.physical))
            raise FaultError(declared.at, f"unknown physical type {declared.type!r}", known)
        dimension = types.physical[declared.type]
        if _dimension(declared.exponents, declared.at) != dimension:
            self.notes.append((declared.at, f"the exponents of {name!r} are not those of its type, which count"))
        if declared.factor <= 0.0:
            raise FaultError(declared.at, f"a factor of {declared.factor:g}", "a factor above 0")
        unit, known_unit = Unit(declared.type, dimension, declared.factor, declared.offset), types.units.get(name)
        if known_unit is not None and known_unit.dimension == dimension:
            if _same(unit, known_unit):
                return
            what = f"{name!r} with a factor of {unit.factor:g} takes the place of one with {known_unit.factor:g}"
            self.notes.append((declared.at, what))
        types.units[name] = unit

    def _enumeration(self, declared: syntax_tree.EnumerationDeclaration) -> None:
        self._once("enumeration", declared.name, declared.at)
        if declared.name in self.types.enumerations:
            self.notes.append((declared.at, f"{declared.name!r} takes the place of that of the standard library"))
        self.types.enumerations[declared.name] = self._members({}, declared.members)

    def _members(self, spellings: dict[str, str], members: tuple[syntax_tree.EnumerationMember, ...]) -> dict[str, str]:
        """Spellings of a library that share a number are one member; the first is what it is called."""
        numbers = dict(enumerate(spellings))
        following = len(spellings)
        for member in members:
            number = following if member.number is None else member.number
            if member.name in spellings:
                raise FaultError(member.at, f"the member {member.name!r} is declared twice", "another name")
            if number in numbers and not self.standard:
                what = f"{member.name!r} has the number of {numbers[number]!r}"
                raise FaultError(member.at, what, "a number of its own")
            spellings[member.name] = numbers.setdefault(number, member.name)
            following = number + 1
        return spellings

    def _structured(self, declared: syntax_tree.TypeDeclaration) -> None:
        self._once(declared.keyword, declared.name, declared.at)
        table = self._table(declared.keyword)
        known = table.get(declared.name)
        if known is not None and not self.standard:
            if declared.members or declared.base:
                self.notes.append((declared.at, f"this adds to the {declared.name!r} of the standard library"))
            table[declared.name] = self._merged(known, declared.members, repeated=True)
            return
        self._check_owner(declared)
        self._check_base(declared)
        kind = StructuredType(
            declared.keyword,
            declared.name,
            declared.base,
            declared.members,
            self._fields(declared.base, {}, declared.members),
            declared.condition,
            declared.of,
            declared.at,
        )
        table[declared.name] = kind
        self._checked.append(kind)

    def _table(self, keyword: str) -> dict[str, StructuredType]:
        if keyword == "modifier":
            return self.types.modifiers
        return self.types.behaviours if keyword in BEHAVIOURS else self.types.structured

    def _check_owner(self, declared: syntax_tree.TypeDeclaration) -> None:
        """What is in front of the dot is an actor."""
        owner, dot, _ = declared.name.rpartition(".")
        if dot and not self.types.is_actor(owner):
            raise FaultError(declared.at, f"unknown actor {owner!r}", f"actor {owner} before")
        if declared.of and declared.of not in self.types.behaviours:
            raise FaultError(declared.at, f"unknown action {declared.of!r}", f"action {declared.of} before")

    def _check_base(self, declared: syntax_tree.TypeDeclaration) -> None:
        if not declared.base:
            return
        base = self._table(declared.keyword).get(declared.base)
        alike = declared.keyword if declared.keyword not in BEHAVIOURS else "action or scenario"
        if base is None or (base.keyword != declared.keyword and declared.keyword not in BEHAVIOURS):
            raise FaultError(declared.at, f"unknown base {declared.base!r}", f"the {alike} {declared.base} before")

    def _merged(
        self, known: StructuredType, members: tuple[syntax_tree.TypeMember, ...], repeated: bool = False
    ) -> StructuredType:
        """A type with more members; a declaration of what the library has may repeat its fields."""
        own = self._fields(known.base, () if repeated else known.fields, members)
        for member in members:
            for name in member.names if isinstance(member, syntax_tree.Declaration) else ():
                if known.fields.get(name.name, own[name.name]) != own[name.name]:
                    expected = f"a {known.fields[name.name]}, as in the standard library"
                    raise FaultError(name.at, f"{name.name!r} of another type", expected)
        fields = {**known.fields, **own}
        merged = StructuredType(
            known.keyword, known.name, known.base, (*known.members, *members), fields, known.condition, known.of,
            known.at,
        )  # fmt: skip
        self._checked.append(merged)
        return merged

    def _fields(self, base: str, present: Iterable[str], members: tuple[syntax_tree.TypeMember, ...]) -> dict[str, str]:
        """The fields that members declare; an inherited one may only be repeated with its type."""
        inherited, taken, found = self.types.fields(base), set(present), dict[str, str]()
        events: set[str] = set()
        for member in members:
            if isinstance(member, syntax_tree.EventDeclaration):
                if member.name in events:
                    raise FaultError(member.at, f"the event {member.name!r} is declared twice", "another name")
                events.add(member.name)
            if not isinstance(member, syntax_tree.Declaration):
                continue
            for name in member.names:
                kind = (LIST if member.is_list else "") + member.type.name
                if name.name in taken or inherited.get(name.name, kind) != kind:
                    raise FaultError(name.at, f"{name.name!r} is declared twice", "another name")
                taken.add(name.name)
                found[name.name] = kind
        return found

    def _extend(self, extension: syntax_tree.Extension) -> None:
        name, types = extension.name, self.types
        if name in types.enumerations and extension.enumeration:
            self._members(types.enumerations[name], extension.enumeration)
            return
        for table in (types.structured, types.behaviours, types.modifiers):
            if name in table and not extension.enumeration:
                table[name] = self._merged(table[name], extension.members)
                return
        what = "enumeration" if extension.enumeration else "type"
        raise FaultError(extension.at, f"unknown {what} {name!r} to extend", "one that is declared before")

    def _global(self, declared: syntax_tree.GlobalDeclaration) -> None:
        for name in declared.declaration.names:
            self._once("global", name.name, name.at)
        known_type(self.types, declared.declaration.type)
        self.types.globals.append(declared.declaration)


_ORDER = ("struct", "actor", "action", "scenario", "modifier")


def _rank(statement: syntax_tree.Statement) -> int:
    match statement:
        case syntax_tree.Import() | syntax_tree.PhysicalTypeDeclaration():
            return 0
        case syntax_tree.UnitDeclaration() | syntax_tree.EnumerationDeclaration():
            return 1
        case syntax_tree.TypeDeclaration():
            return 2 + _ORDER.index(statement.keyword)
        case syntax_tree.Extension():
            return 2 + len(_ORDER)
        case syntax_tree.GlobalDeclaration():
            return 3 + len(_ORDER)
        case _:
            assert_never(statement)


def _ordered(statements: Iterable[syntax_tree.Statement]) -> list[syntax_tree.Statement]:
    """What others need first: a text may declare in any order. Bases go before what inherits them."""
    every = list(statements)
    bases = {each.name: each.base for each in every if isinstance(each, syntax_tree.TypeDeclaration)}

    def depth(statement: syntax_tree.Statement) -> int:
        seen: list[str] = []
        name = statement.name if isinstance(statement, syntax_tree.TypeDeclaration) else ""
        while name in bases and name not in seen:
            seen.append(name)
            name = bases[name]
        return len(seen)

    return sorted(every, key=lambda statement: (_rank(statement), depth(statement)))


def known_type(types: TypeTable, name: syntax_tree.Name) -> None:
    """Refuse a type that nothing declares.

    Raises:
        FaultError: it is unknown.
    """
    if not types.knows(name.name) and name.name not in types.behaviours:
        raise FaultError(name.at, f"unknown type {name.name!r}", one_of(name.name, types.names()))


def _dimension(exponents: tuple[tuple[str, int], ...], at: SourceLocation) -> Dimension:
    found: dict[str, int] = {}
    for base, power in exponents:
        if base not in Dimension._fields:
            raise FaultError(at, f"unknown base unit {base!r}", "one of " + ", ".join(Dimension._fields))
        if base in found:
            raise FaultError(at, f"the base unit {base!r} stands twice", "one exponent")
        found[base] = power
    return Dimension(**found)


def _same(one: Unit, other: Unit) -> bool:
    return abs(one.factor - other.factor) <= SAME_FACTOR * other.factor and abs(one.offset - other.offset) <= 1e-3
