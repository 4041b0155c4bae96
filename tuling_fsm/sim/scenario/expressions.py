"""Expressions to values: names, literals, operators, arguments, and methods of the map and of structs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.arguments import BoundArguments, Param, assign
from tuling_fsm.sim.scenario.arithmetic import LARGEST, RELATIONS, combine, relate, signed
from tuling_fsm.sim.scenario.imports import standard_library
from tuling_fsm.sim.scenario.map_methods import METHODS
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_table import LIST, StructuredType, TypeTable
from tuling_fsm.sim.scenario.values import BOUNDS, ActorName, FaultError, Physical, Struct, Symbol, Value


@dataclass
class Scope:
    """What the names of a scenario stand for; None for one that is declared and has no value yet.

    `outer` is the scope of the scenario that invokes this one.
    """

    values: dict[str, Value | None] = field(default_factory=dict)
    types: TypeTable = field(default_factory=standard_library)
    outer: Scope | None = None

    def known(self) -> dict[str, Value | None]:
        """All names, those of this scope before those further out."""
        return self.values if self.outer is None else {**self.outer.known(), **self.values}

    def look_up(self, name: syntax_tree.Name) -> Value:
        """The value of a name, or the member of an enumeration that it spells.

        Raises:
            FaultError: it is unknown, or has no value.
        """
        known = self.known()
        found = known.get(name.name)
        if found is not None:
            return found
        if name.name in known:
            raise FaultError(name.at, f"{name.name!r} has no value", "a default, a keep or an override")
        enumeration, _, member = name.name.rpartition("!")
        enumerations = self.types.enumerations.items()
        if any(member in members for kind, members in enumerations if enumeration in ("", kind)):
            return Symbol(enumeration, member)
        raise FaultError(name.at, f"unknown name {name.name!r}", "one of " + ", ".join(known))

    def actor(self, expression: syntax_tree.Expression) -> ActorName:
        """The actor that an expression names.

        Raises:
            FaultError: it names no actor.
        """
        known = self.known()
        actors = [name for name, value in known.items() if isinstance(value, ActorName)]
        expected = "one of " + ", ".join(actors)
        if not isinstance(expression, syntax_tree.Name):
            raise FaultError(expression.at, "this is no actor", expected)
        found = known.get(expression.name)
        if not isinstance(found, ActorName):
            raise FaultError(expression.at, f"unknown actor {expression.name!r}", expected)
        return found


def evaluate(expression: syntax_tree.Expression, scope: Scope) -> Value:
    """The value of an expression; of a range its middle.

    Raises:
        FaultError: unknown names or units, operands that do not go together, wrong arguments.
    """
    match expression:
        case syntax_tree.NumberLiteral():
            return _number(expression, scope.types)
        case syntax_tree.TextLiteral() | syntax_tree.TruthLiteral():
            return expression.value
        case syntax_tree.Name():
            return scope.look_up(expression)
        case syntax_tree.ListOf():
            return tuple(evaluate(item, scope) for item in expression.items)
        case syntax_tree.Operation():
            return _operation(expression, scope)
        case syntax_tree.Member():
            return _field(expression, scope)
        case syntax_tree.Call():
            return _method(expression, scope)
        case syntax_tree.Choice():
            truth = scope.types.convert(evaluate(expression.condition, scope), "bool", expression.condition.at)
            return evaluate(expression.first if truth else expression.second, scope)
        case syntax_tree.Element():
            return _element(expression, scope)
        case syntax_tree.Range():
            return middle(expression, scope)
        case syntax_tree.EventReference() | syntax_tree.FilteredEvent():
            raise FaultError(expression.at, "an event has no value", "it after `wait` or `until`")
        case _:
            assert_never(expression)


def evaluate_as(kind: str, expression: syntax_tree.Expression, scope: Scope) -> Value:
    """The value of an expression as one of a type; where a member of an enumeration may stand it goes before names.

    Raises:
        FaultError: as `evaluate`, or the value is of another type.
    """
    types = scope.types
    if isinstance(expression, syntax_tree.Name) and expression.name in types.enumerations.get(kind, ()):
        return types.convert(Symbol(kind, expression.name), kind, expression.at)
    return types.convert(evaluate(expression, scope), kind, expression.at)


def middle(among: syntax_tree.Range, scope: Scope) -> Value:
    """The middle of a range, rounded down where both ends are whole numbers: it fulfils the constraint as any other.

    Raises:
        FaultError: the ends are no numbers of one dimension, or in the wrong order.
    """
    types, at = scope.types, among.at
    low, high = evaluate(among.low, scope), evaluate(among.high, scope)
    if relate(types, ">", low, high, at):
        raise FaultError(at, "nothing lies between these", "the lower limit first")
    if isinstance(low, int) and isinstance(high, int):
        return (low + high) // 2
    half = combine(types, "*", combine(types, "-", high, low, at), 0.5, at)
    return combine(types, "+", low, half, at)


def bind(
    what: str, params: Iterable[Param], arguments: Iterable[syntax_tree.Argument], at: SourceLocation, scope: Scope
) -> BoundArguments:
    """The arguments by parameter name, each converted to its type.

    Raises:
        FaultError: an unknown, repeated, missing or surplus argument, or one of another type.
    """
    params = tuple(params)
    filled = assign(what, params, arguments, at)
    bound = BoundArguments()
    for param in params:
        given = filled.get(param.name)
        if given is None:
            bound[param.name] = param.default
        else:
            bound[param.name] = evaluate_as(param.type, given.value, scope)
    return bound


def parameters_of(kind: StructuredType, scope: Scope, optional: bool = False) -> tuple[Param, ...]:
    """The parameters that an action or a modifier declares, with those that it inherits.

    Raises:
        FaultError: a default of another type.
    """
    found: dict[str, Param] = {}
    for each in (kind, *scope.types.line(kind.base)):
        for member in each.members:
            if isinstance(member, syntax_tree.Declaration):
                for name in member.names:
                    found.setdefault(name.name, _parameter(name.name, member, scope, optional))
    return tuple(found.values())


def _parameter(name: str, declared: syntax_tree.Declaration, scope: Scope, optional: bool) -> Param:
    kind = (LIST if declared.is_list else "") + declared.type.name
    default = None if declared.default is None else evaluate_as(kind, declared.default, scope)
    return Param(name, kind, default, optional)


def _number(number: syntax_tree.NumberLiteral, types: TypeTable) -> Value:
    if abs(number.value) > LARGEST:
        raise FaultError(number.at, "the number is too large", f"at most {LARGEST:g}")
    if not number.unit:
        return int(number.value) if number.whole else number.value
    if number.unit not in types.units:
        known = "; ".join(f"{kind} in {', '.join(types.units_of(kind))}" for kind in types.physical)
        raise FaultError(number.at, f"unknown unit {number.unit!r}", known)
    unit = types.units[number.unit]
    value = number.value * unit.factor + unit.offset
    most, si = BOUNDS.get(unit.dimension, (LARGEST, ""))
    if abs(value) > most:
        raise FaultError(
            number.at, f"{number.value:g} {number.unit} is out of range", f"at most {most:g} {si}".rstrip()
        )
    return Physical(value, unit.dimension)


def _operation(expression: syntax_tree.Operation, scope: Scope) -> Value:
    name, operands, types = expression.operator, expression.operands, scope.types
    if name == "in":
        return _inside(operands[0], operands[1], scope)
    if name in ("and", "or", "not", "=>"):
        truths = [bool(types.convert(evaluate(operand, scope), "bool", operand.at)) for operand in operands]
        return _LOGIC[name](truths)
    if name == "-" and len(operands) == 1 and isinstance(operands[0], syntax_tree.NumberLiteral):
        # The sign is the number's: a unit with an offset makes another value of it than its negative.
        return _number(replace(operands[0], value=-operands[0].value), types)
    values = [evaluate(operand, scope) for operand in operands]
    if len(values) == 1:
        return signed(types, name, values[0], expression.at)
    if name in RELATIONS:
        return relate(types, name, values[0], values[1], operands[1].at)
    return combine(types, name, values[0], values[1], operands[1].at)


_LOGIC: dict[str, Callable[[list[bool]], bool]] = {
    "and": all,
    "or": any,
    "not": lambda truths: not truths[0],
    "=>": lambda truths: not all(truths[:-1]) or truths[-1],
}
"""Implication is right-associative, so the last holds wherever all before it do."""


def _inside(item: syntax_tree.Expression, among: syntax_tree.Expression, scope: Scope) -> bool:
    value, types = evaluate(item, scope), scope.types
    if isinstance(among, syntax_tree.Range):
        low, high = evaluate(among.low, scope), evaluate(among.high, scope)
        return relate(types, ">=", value, low, among.low.at) and relate(types, "<=", value, high, among.high.at)
    members = evaluate(among, scope)
    if not isinstance(members, tuple):
        raise FaultError(among.at, f"{types.describe(members)} is no list", "[a, b] or [low..high]")
    return any(relate(types, "==", value, member, among.at) for member in members)


def _field(expression: syntax_tree.Member, scope: Scope) -> Value:
    base = evaluate(expression.base, scope)
    fields = base.fields if isinstance(base, Struct) else {}
    if expression.name not in fields:
        expected = "one of " + ", ".join(fields) if fields else "a value that has fields"
        raise FaultError(expression.at, f"{scope.types.describe(base)} has no field {expression.name!r}", expected)
    return fields[expression.name]


def _element(expression: syntax_tree.Element, scope: Scope) -> Value:
    base, index = evaluate(expression.base, scope), evaluate(expression.index, scope)
    if not isinstance(base, tuple):
        raise FaultError(expression.at, f"{scope.types.describe(base)} is no list", "a list before [...]")
    if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < len(base):
        raise FaultError(expression.index.at, "the list has no such element", f"0 to {len(base) - 1}")
    return base[index]


def _method(call: syntax_tree.Call, scope: Scope) -> Value:
    callee = call.callee
    if not isinstance(callee, syntax_tree.Member):
        raise FaultError(call.at, "this cannot be called here", "map.<method>(...)")
    found = _declared_method(callee, scope)
    if found is not None:
        method, fields = found
        return _result(method, call, scope, fields)
    if callee.name == "size" and not call.arguments:
        items = evaluate(callee.base, scope)
        if isinstance(items, tuple):
            return len(items)
    actor = scope.actor(callee.base)
    if actor.type != "map" or callee.name not in METHODS:
        known = "one of " + ", ".join(f"map.{name}" for name in METHODS)
        raise FaultError(callee.at, f"unknown method {actor.name}.{callee.name}", known)
    params, made = METHODS[callee.name]
    return made(bind(callee.name, params, call.arguments, call.at, scope))


def _declared_method(
    callee: syntax_tree.Member, scope: Scope
) -> tuple[syntax_tree.MethodDeclaration, Mapping[str, Value]] | None:
    """The method of a struct or actor, by its type or a value of it; the last declaration of the name counts."""
    if not isinstance(callee.base, syntax_tree.Name):
        return None
    value = scope.known().get(callee.base.name)
    kind = value.type if isinstance(value, Struct) else value.stated if isinstance(value, ActorName) else ""
    for each in scope.types.line(kind or callee.base.name):
        methods = [
            member
            for member in each.members
            if isinstance(member, syntax_tree.MethodDeclaration) and member.name == callee.name
        ]
        if methods:
            return methods[-1], value.fields if isinstance(value, Struct) else {}
    return None


def _result(
    method: syntax_tree.MethodDeclaration, call: syntax_tree.Call, scope: Scope, fields: Mapping[str, Value]
) -> Value:
    params = [
        Param(each.name, each.type, None if each.default is None else evaluate_as(each.type, each.default, scope))
        for each in method.parameters
    ]
    given = bind(method.name, params, call.arguments, call.at, scope)
    inside = Scope({**fields, **given}, scope.types)
    if method.body is None:
        raise FaultError(call.at, f"the method {method.name!r} is undefined", "is expression <expression>")
    if isinstance(method.body, syntax_tree.ExternalMethod):
        value: Value = _external(method.body, inside)
    else:
        value = evaluate(method.body, inside)
    return scope.types.convert(value, method.returns, call.at) if method.returns else value


_MATH: dict[str, Callable[[float], float]] = {
    "sin": elementary.sin,
    "cos": elementary.cos,
    "atan": elementary.atan,
    "sqrt": math.sqrt,
    "fabs": abs,
}
"""Functions of Python's `math` that an external method may be."""


def _external(method: syntax_tree.ExternalMethod, scope: Scope) -> float:
    """An external method: nothing of another program is run, functions of `math` are known."""
    given = {argument.name or "": evaluate(argument.value, scope) for argument in method.arguments}
    name, numbers = given.pop("name", None), [v for k, v in given.items() if k != "module"]
    if method.language != "python" or given.get("module") != "math" or name not in _MATH or len(numbers) != 1:
        known = ", ".join(f"math.{function}" for function in _MATH)
        raise FaultError(method.at, "no other program is run for an external method", f"python of {known}")
    (number,) = numbers
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise FaultError(method.at, f"{scope.types.describe(number)} is no number", "a number without unit")
    if name == "sqrt" and number < 0:
        raise FaultError(method.at, f"the root of {number:g}", "a number from 0 on")
    return _MATH[str(name)](float(number))
