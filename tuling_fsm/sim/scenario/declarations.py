"""Declarations, constraints and overrides: what the names of a scenario stand for before it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.expressions import Scope, evaluate, evaluate_as
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.syntax import parse_value
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import (
    ACTOR_FIELDS,
    STRUCTS,
    TYPES,
    ActorName,
    FaultError,
    Physical,
    Struct,
    Value,
    convert,
)

IT = "it"
"""In a `with` block, what is being declared."""


@dataclass
class Declarations:
    """All declarations so far: the scope, the type of every name, and the fields of the actors."""

    scope: Scope = field(default_factory=lambda: Scope({"map": ActorName("map", "map")}))
    types: dict[str, str] = field(default_factory=lambda: {"map": "map"})
    bodies: dict[str, Struct] = field(default_factory=dict)
    """What is known of each actor's fields, by the name that the simulation knows."""

    def variables(self) -> dict[str, bool | int | float | str]:
        """The plain values, in SI units."""
        plain: dict[str, bool | int | float | str] = {}
        for name, value in self.scope.values.items():
            if isinstance(value, bool | int | float | str):
                plain[name] = value
            elif isinstance(value, Physical):
                plain[name] = value.value
        return plain


def declare(
    members: Iterable[syntax_tree.Declaration | syntax_tree.Keep], overrides: Mapping[str, str]
) -> Declarations:
    """Declarations and constraints in the order of the text; an override takes the place of a default.

    Raises:
        FaultError: an unknown type, a name declared twice, a wrong value, a constraint that does not hold.
        InputError: an override of an unknown name, or with a wrong value.
    """
    declared, left = Declarations(), dict(overrides)
    for member in members:
        if isinstance(member, syntax_tree.Keep):
            _keep(member, declared, None)
        else:
            for name in member.names:
                _declare(member, name, declared, left.pop(name.name, None))
    if left:
        free = [name for name, kind in declared.types.items() if kind not in ACTOR_FIELDS]
        expected = "one of " + ", ".join(free) if free else "no override: the scenario has no variables"
        raise InputError(f"--set {next(iter(left))}", "the scenario has no such variable", expected)
    return declared


def _declare(
    declaration: syntax_tree.Declaration, name: syntax_tree.Name, declared: Declarations, override: str | None
) -> None:
    kind = declaration.type.name
    if kind not in TYPES:
        raise FaultError(declaration.type.at, f"unknown type {kind!r}", "one of " + ", ".join(TYPES))
    if name.name in declared.types and (name.name, kind) != ("map", "map"):
        raise FaultError(name.at, f"{name.name!r} is declared twice", "another name")
    if declaration.is_list:
        kind = f"list of {kind}"
    declared.types[name.name] = kind
    if kind in ACTOR_FIELDS:
        _declare_actor(declaration, name, declared, override)
        return
    declared.scope.values[name.name] = _initial(declaration, name, kind, declared.scope, override)
    _keep_all(declaration, name, declared)


def _declare_actor(
    declaration: syntax_tree.Declaration, name: syntax_tree.Name, declared: Declarations, override: str | None
) -> None:
    kind = declaration.type.name
    if override is not None:
        raise InputError(f"--set {name.name}", f"{name.name!r} is an actor", "the name of a variable")
    if declaration.default is not None:
        raise FaultError(declaration.default.at, "an actor has no default value", "with: keep(...)")
    known = EGO if name.name.lower() == EGO else name.name
    if known == EGO and (kind != "vehicle" or known in declared.bodies):
        raise FaultError(name.at, "the ego is one vehicle", f"{EGO}: vehicle, once")
    declared.scope.values[name.name] = ActorName(known, kind)
    declared.bodies[known] = Struct(kind)
    _keep_all(declaration, name, declared)


def _initial(
    declaration: syntax_tree.Declaration, name: syntax_tree.Name, kind: str, scope: Scope, override: str | None
) -> Value | None:
    """The override, else the default, else an empty struct that a `keep` fills, else nothing."""
    if override is not None:
        return _override(name.name, kind, override, scope)
    if declaration.default is not None:
        return evaluate_as(kind, declaration.default, scope)
    return Struct(kind) if kind in STRUCTS else None


def _override(name: str, kind: str, text: str, scope: Scope) -> Value:
    where = f"--set {name}={text}"
    if kind == "string" and not text.startswith(("'", '"')):
        return text
    try:
        return evaluate_as(kind, parse_value(text, where), scope)
    except FaultError as fault:
        raise InputError(where, fault.what, fault.expected) from fault


def _keep_all(declaration: syntax_tree.Declaration, name: syntax_tree.Name, declared: Declarations) -> None:
    for keep in declaration.keeps:
        _keep(keep, declared, name.name)


def _keep(keep: syntax_tree.Keep, declared: Declarations, it: str | None) -> None:
    """Set what an equation states of something still open; everything else has to hold already."""
    constraint, scope = keep.constraint, _with_it(declared, it)
    if isinstance(constraint, syntax_tree.Operation) and constraint.operator == "==":
        target = _path(constraint.operands[0], it)
        if target is not None and _set(declared, target, constraint.operands[1], scope):
            return
    if not convert(evaluate(constraint, scope), "bool", constraint.at):
        known = declared.variables()
        told = [f"{part} = {json.dumps(known[part])}" for part in dict.fromkeys(_names(constraint)) if part in known]
        values = f" for {', '.join(told)}" if told else ""
        raise FaultError(constraint.at, f"the constraint does not hold{values}", "values that keep it")


def _names(expression: syntax_tree.Expression) -> Iterator[str]:
    """The names that stand on their own in an expression."""
    match expression:
        case syntax_tree.Name():
            yield expression.name
        case syntax_tree.Operation():
            for operand in expression.operands:
                yield from _names(operand)
        case syntax_tree.ListOf():
            for item in expression.items:
                yield from _names(item)
        case syntax_tree.Range():
            yield from _names(expression.low)
            yield from _names(expression.high)
        case (
            syntax_tree.NumberLiteral()
            | syntax_tree.TextLiteral()
            | syntax_tree.TruthLiteral()
            | syntax_tree.Member()
            | syntax_tree.Call()
            | syntax_tree.EventReference()
        ):
            pass
        case _:
            assert_never(expression)


def _with_it(declared: Declarations, it: str | None) -> Scope:
    """The scope of a constraint: actors stand for their bodies there, and `it` for what is declared."""
    values = dict(declared.scope.values)
    for name, value in values.items():
        if isinstance(value, ActorName) and value.name in declared.bodies:
            values[name] = declared.bodies[value.name]
    if it is not None:
        values[IT] = values[it]
    return Scope(values)


def _path(
    expression: syntax_tree.Expression, it: str | None
) -> tuple[syntax_tree.Expression, str, tuple[str, ...]] | None:
    """`name.field.field` as name and fields; None for anything else."""
    fields: tuple[str, ...] = ()
    base = expression
    while isinstance(base, syntax_tree.Member):
        fields, base = (base.name, *fields), base.base
    if not isinstance(base, syntax_tree.Name):
        return None
    return expression, (it if base.name == IT and it is not None else base.name), fields


def _set(
    declared: Declarations,
    target: tuple[syntax_tree.Expression, str, tuple[str, ...]],
    value: syntax_tree.Expression,
    scope: Scope,
) -> bool:
    """Give an open name or field its value; False when it has one already."""
    expression, name, fields = target
    if name not in declared.types:
        return False
    present, kind = declared.scope.values[name], declared.types[name]
    if not fields:
        if present is not None:
            return False
        declared.scope.values[name] = evaluate_as(kind, value, scope)
        return True
    body = declared.bodies[present.name] if isinstance(present, ActorName) else present
    if not isinstance(body, Struct):
        return False
    filled = _filled(body, fields, evaluate(value, scope), expression.at, value.at)
    if filled is None:
        return False
    if isinstance(present, ActorName):
        declared.bodies[present.name] = filled
    else:
        declared.scope.values[name] = filled
    return True


def _filled(
    struct: Struct, fields: tuple[str, ...], value: Value, at: SourceLocation, value_at: SourceLocation
) -> Struct | None:
    """The struct with a field set, at any depth; None when the field has a value already."""
    known = {**STRUCTS, **ACTOR_FIELDS}[struct.type]
    first, rest = fields[0], fields[1:]
    if first not in known:
        raise FaultError(at, f"{struct.type} has no field {first!r}", "one of " + ", ".join(known))
    present = struct.fields.get(first)
    if rest:
        inner = present if isinstance(present, Struct) else Struct(known[first])
        if inner.type not in STRUCTS:
            raise FaultError(at, f"{first!r} has no fields", f"a {known[first]}")
        deeper = _filled(inner, rest, value, at, value_at)
        return None if deeper is None else Struct(struct.type, {**struct.fields, first: deeper})
    if present is not None:
        return None
    return Struct(struct.type, {**struct.fields, first: convert(value, known[first], value_at)})
