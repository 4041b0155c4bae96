"""Declarations, constraints and overrides: what the names of a scenario stand for before it runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.expressions import Scope, evaluate, evaluate_as, middle
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.model import EGO
from tuling_fsm.sim.scenario.syntax import parse_value
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_declarations import known_type
from tuling_fsm.sim.scenario.type_table import LIST, TypeTable
from tuling_fsm.sim.scenario.values import SPEED, ActorName, FaultError, Measured, Physical, Struct, Value

IT = "it"
"""In a `with` block, what is being declared."""
SIZED = ("length", "width", "bounding_box", "kind")
"""Fields of actors that the simulation looks at."""
SIDES = ("length", "width")
LEAST_SIZE_M, LARGEST_SIZE_M = 0.1, 200.0
"""Of a body, along either side."""
_SPEED_OF = "_speed"
"""Ends the string that ScenarioRunner takes for the speed of an actor, as in `"ego_vehicle_speed"`."""

DeclaringMember = syntax_tree.Declaration | syntax_tree.Keep | syntax_tree.RemoveDefault | syntax_tree.Coverage
"""Members of a scenario that say what its names stand for."""


@dataclass
class Actors:
    """All actors of a run, whichever scenario declares them, by the name that the simulation knows."""

    ego: str = EGO
    """How the text calls the car under test."""
    bodies: dict[str, Struct] = field(default_factory=dict)
    """What is known of each actor's fields."""
    defaults: dict[str, Struct] = field(default_factory=dict)
    """What their types say where nothing else does."""
    notes: list[tuple[SourceLocation, str]] = field(default_factory=list)


@dataclass
class Declarations:
    """All declarations of a scenario so far: the scope, the type of every name, and the actors."""

    scope: Scope = field(default_factory=lambda: Scope({"map": ActorName("map", "map")}))
    types: dict[str, str] = field(default_factory=lambda: {"map": "map"})
    actors: Actors = field(default_factory=Actors)

    @property
    def table(self) -> TypeTable:
        """The types that the text may name."""
        return self.scope.types

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
    members: Iterable[DeclaringMember],
    overrides: Mapping[str, str],
    types: TypeTable | None = None,
    actors: Actors | None = None,
) -> Declarations:
    """Declarations and constraints in the order of the text, globals first; an override takes the place of a default.

    Raises:
        FaultError: an unknown type, a name declared twice, a wrong value, a constraint that does not hold.
        InputError: an override of an unknown name, or with a wrong value.
    """
    declared, left = Declarations(), dict(overrides)
    declared.scope.types = types if types is not None else standard_library()
    declared.actors = actors if actors is not None else Actors()
    for member in (*declared.table.globals, *members):
        _member(member, declared, left, {})
    if left:
        free = [name for name, kind in declared.types.items() if not declared.table.is_actor(kind)]
        expected = "one of " + ", ".join(free) if free else "no override: the scenario has no variables"
        raise InputError(f"--set {next(iter(left))}", "the scenario has no such variable", expected)
    return declared


def declare_inside(members: Iterable[DeclaringMember], given: Mapping[str, Value], outer: Declarations) -> Declarations:
    """The declarations of a scenario that another one invokes with these values of its parameters.

    An actor that it declares and is not given is the one of the same name out there, if there is one: the names of
    the scenario that invokes it are known too.

    Raises:
        FaultError: as `declare`.
    """
    declared = Declarations(Scope({}, outer.table, outer.scope), {}, outer.actors)
    for member in members:
        _member(member, declared, {}, given)
    return declared


def _member(
    member: DeclaringMember, declared: Declarations, overrides: dict[str, str], given: Mapping[str, Value]
) -> None:
    match member:
        case syntax_tree.Keep():
            _keep(member, declared, None)
        case syntax_tree.Declaration():
            for name in member.names:
                _declare(member, name, declared, overrides.pop(name.name, None), given.get(name.name))
            for other in member.others:
                _member(other, declared, overrides, given)
        case syntax_tree.RemoveDefault():
            raise FaultError(member.at, "defaults are not taken back", "keep(...) with another value")
        case syntax_tree.Coverage():
            declared.actors.notes.append((member.at, f"{member.keyword}: no coverage is collected"))
        case _:
            assert_never(member)


def _declare(
    declaration: syntax_tree.Declaration,
    name: syntax_tree.Name,
    declared: Declarations,
    override: str | None,
    given: Value | None,
) -> None:
    kind = declaration.type.name
    known_type(declared.table, declaration.type)
    if kind in declared.table.behaviours:
        raise FaultError(declaration.type.at, f"the behaviour {kind!r} is no type of a parameter", "it after `do`")
    if name.name in declared.types and (name.name, kind) != ("map", "map"):
        raise FaultError(name.at, f"{name.name!r} is declared twice", "another name")
    if declaration.is_list:
        kind = LIST + kind
    declared.types[name.name] = kind
    if declared.table.is_actor(kind):
        _declare_actor(declaration, name, declared, override, given)
        return
    if given is not None:
        declared.scope.values[name.name] = declared.table.convert(given, kind, name.at)
    else:
        declared.scope.values[name.name] = _initial(declaration, name, kind, declared.scope, override)
    _keep_all(declaration, name, declared)


def _declare_actor(
    declaration: syntax_tree.Declaration,
    name: syntax_tree.Name,
    declared: Declarations,
    override: str | None,
    given: Value | None,
) -> None:
    kind = declaration.type.name
    if override is not None:
        raise InputError(f"--set {name.name}", f"{name.name!r} is an actor", "the name of a variable")
    value = given if given is not None else _other_actor(declaration, name, declared)
    if value is not None:
        declared.scope.values[name.name] = declared.table.convert(value, kind, name.at)
    else:
        declared.scope.values[name.name] = _new_actor(name, kind, declared)
    _keep_all(declaration, name, declared)
    if value is None:
        _keep_type(name, kind, declared)


def _other_actor(declaration: syntax_tree.Declaration, name: syntax_tree.Name, declared: Declarations) -> Value | None:
    """The actor that a declared one is, if it is no new one: that of its default, or the same further out."""
    if declaration.default is not None:
        value = evaluate(declaration.default, declared.scope)
        if not isinstance(value, ActorName):
            raise FaultError(declaration.default.at, "this is no actor", "another actor, or with: keep(...)")
        return value
    outer = declared.scope.outer
    found = None if outer is None else outer.known().get(name.name)
    return found if isinstance(found, ActorName) else None


def _new_actor(name: syntax_tree.Name, kind: str, declared: Declarations) -> ActorName:
    actors, simulated = declared.actors, declared.table.simulated(kind)
    if simulated is None:
        raise FaultError(name.at, f"nothing in the simulation is a {kind}", f"actor {kind} inherits vehicle, for one")
    known = EGO if name.name == actors.ego or name.name.lower() == EGO else name.name
    if known == EGO and (simulated != "vehicle" or known in actors.bodies):
        raise FaultError(name.at, "the ego is one vehicle", f"{EGO}: vehicle, once")
    number = 2
    while known in actors.bodies and (known, simulated) != ("map", "map"):
        known, number = f"{name.name}_{number}", number + 1
    actors.bodies[known], actors.defaults[known] = Struct(simulated), Struct(simulated)
    return ActorName(known, simulated, kind)


def _keep_type(name: syntax_tree.Name, kind: str, declared: Declarations) -> None:
    """What the type of an actor and its bases state: constraints hold, defaults where nothing else does."""
    actor = declared.scope.values[name.name]
    assert isinstance(actor, ActorName)
    for each in declared.table.line(kind):
        for member in each.members:
            if not isinstance(member, syntax_tree.Keep):
                continue
            if member.default:
                declared.actors.defaults[actor.name] = _with_default(member, name, declared, actor)
            else:
                _keep(member, declared, name.name)


def _with_default(keep: syntax_tree.Keep, name: syntax_tree.Name, declared: Declarations, actor: ActorName) -> Struct:
    struct, constraint = declared.actors.defaults[actor.name], keep.constraint
    if isinstance(constraint, syntax_tree.Operation) and constraint.operator == "==":
        target = _path(constraint.operands[0], name.name)
        if target is not None and target[2]:
            value = evaluate(constraint.operands[1], _with_it(declared, name.name))
            fields = declared.table.fields(actor.stated)
            filled = _filled(declared.table, struct, fields, target[2], value, keep.at, constraint.at)
            _check_size(struct if filled is None else filled, constraint.at)
            return struct if filled is None else filled
    raise FaultError(keep.at, "a default of a type states no value", "keep(default it.<field> == <value>)")


def _initial(
    declaration: syntax_tree.Declaration, name: syntax_tree.Name, kind: str, scope: Scope, override: str | None
) -> Value | None:
    """The override, else the default, else an empty struct that a `keep` fills, else nothing."""
    if override is not None:
        return _override(name.name, kind, override, scope)
    if declaration.default is not None:
        measured = _measured(declaration.default, kind, scope)
        return measured if measured is not None else evaluate_as(kind, declaration.default, scope)
    return _empty(kind, scope) if scope.types.is_struct(kind) else None


def _empty(kind: str, scope: Scope) -> Struct:
    """A struct with what its declaration says by default."""
    fields: dict[str, Value] = {}
    for each in scope.types.line(kind):
        for member in each.members:
            if isinstance(member, syntax_tree.Declaration) and member.default is not None:
                of = (LIST if member.is_list else "") + member.type.name
                fields = {**{name.name: evaluate_as(of, member.default, scope) for name in member.names}, **fields}
    return Struct(kind, fields)


def _measured(default: syntax_tree.Expression, kind: str, scope: Scope) -> Measured | None:
    """What ScenarioRunner means by `x: velocity = "npc_speed"`."""
    if not isinstance(default, syntax_tree.TextLiteral) or scope.types.physical.get(kind) != SPEED:
        return None
    actor = scope.known().get(default.value.removesuffix(_SPEED_OF))
    fits = default.value.endswith(_SPEED_OF) and isinstance(actor, ActorName)
    return Measured(actor, "speed") if fits and isinstance(actor, ActorName) else None


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
    """Set what an equation or a range states of something still open; everything else has to hold already."""
    constraint, scope = keep.constraint, _with_it(declared, it)
    if isinstance(constraint, syntax_tree.Operation) and constraint.operator in ("==", "in"):
        target, stated = _path(constraint.operands[0], it), constraint.operands[1]
        states_one = constraint.operator == "==" or isinstance(stated, syntax_tree.Range)
        if target is not None and states_one and _set(declared, target, stated, scope):
            return
    if keep.default:
        return
    if not declared.table.convert(evaluate(constraint, scope), "bool", constraint.at):
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
        case syntax_tree.Choice():
            for part in (expression.condition, expression.first, expression.second):
                yield from _names(part)
        case (
            syntax_tree.NumberLiteral()
            | syntax_tree.TextLiteral()
            | syntax_tree.TruthLiteral()
            | syntax_tree.Member()
            | syntax_tree.Call()
            | syntax_tree.Element()
            | syntax_tree.EventReference()
            | syntax_tree.FilteredEvent()
        ):
            pass
        case _:
            assert_never(expression)


def _with_it(declared: Declarations, it: str | None) -> Scope:
    """The scope of a constraint: actors stand for their bodies there, and `it` for what is declared."""
    values, bodies = dict(declared.scope.known()), declared.actors.bodies
    for name, value in values.items():
        if isinstance(value, ActorName) and value.name in bodies:
            values[name] = bodies[value.name]
    if it is not None:
        values[IT] = values[it]
    return Scope(values, declared.table)


Target = tuple[syntax_tree.Expression, str, tuple[str, ...]]
"""An expression that names something, the name, and the fields that it looks into."""


def _path(expression: syntax_tree.Expression, it: str | None) -> Target | None:
    """`name.field.field` as name and fields; None for anything else."""
    fields: tuple[str, ...] = ()
    base = expression
    while isinstance(base, syntax_tree.Member):
        fields, base = (base.name, *fields), base.base
    if not isinstance(base, syntax_tree.Name):
        return None
    return expression, (it if base.name == IT and it is not None else base.name), fields


def _set(declared: Declarations, target: Target, value: syntax_tree.Expression, scope: Scope) -> bool:
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
    body = declared.actors.bodies[present.name] if isinstance(present, ActorName) else present
    if not isinstance(body, Struct):
        return False
    stated = present.stated if isinstance(present, ActorName) else body.type
    given = middle(value, scope) if isinstance(value, syntax_tree.Range) else evaluate(value, scope)
    known = declared.table.fields(stated)
    filled = _filled(declared.table, body, known, fields, given, expression.at, value.at)
    if filled is None:
        return False
    if isinstance(present, ActorName):
        _check_size(filled, value.at)
        declared.actors.bodies[present.name] = filled
        if fields[0] not in SIZED:
            declared.actors.notes.append((expression.at, f"{fields[0]!r} of {name!r} has no effect here"))
        elif present.name == EGO:
            what = f"{fields[0]!r} of {name!r} has no effect: the size of the car under test is that of its parameters"
            declared.actors.notes.append((expression.at, what))
    else:
        declared.scope.values[name] = filled
    return True


def _check_size(body: Struct, at: SourceLocation) -> None:
    """Refuse a body that nothing has, or that nobody would see."""
    box = body.fields.get("bounding_box")
    for struct in (body, box) if isinstance(box, Struct) else (body,):
        for side in SIDES:
            size = struct.fields.get(side)
            if isinstance(size, Physical) and not LEAST_SIZE_M <= size.value <= LARGEST_SIZE_M:
                expected = f"{LEAST_SIZE_M:g} m to {LARGEST_SIZE_M:g} m"
                raise FaultError(at, f"a {side} of {size.value:g} m", expected)


def _filled(
    types: TypeTable,
    struct: Struct,
    known: Mapping[str, str],
    fields: tuple[str, ...],
    value: Value,
    at: SourceLocation,
    value_at: SourceLocation,
) -> Struct | None:
    """The struct with a field set, at any depth; None when the field has a value already."""
    first, rest = fields[0], fields[1:]
    if first not in known:
        raise FaultError(at, f"{struct.type} has no field {first!r}", "one of " + ", ".join(known))
    present = struct.fields.get(first)
    if rest:
        inner = present if isinstance(present, Struct) else Struct(known[first])
        if not types.is_struct(inner.type):
            raise FaultError(at, f"{first!r} has no fields", f"a {known[first]}")
        deeper = _filled(types, inner, types.fields(inner.type), rest, value, at, value_at)
        return None if deeper is None else Struct(struct.type, {**struct.fields, first: deeper})
    if present is not None:
        return None
    return Struct(struct.type, {**struct.fields, first: types.convert(value, known[first], value_at)})
