"""Expressions to values: literals, names, operators, and the methods of the map."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import tree
from tuling_fsm.sim.scenario.arithmetic import LARGEST, RELATIONS, combine, relate, signed
from tuling_fsm.sim.scenario.placements import Anywhere, AtPose, InSlot, OnLane, RelativeTo
from tuling_fsm.sim.scenario.scope import Bound, Param, Scope, assign
from tuling_fsm.sim.scenario.tree import At
from tuling_fsm.sim.scenario.units import PHYSICAL_TYPES, UNITS, units_of
from tuling_fsm.sim.scenario.values import (
    ENUMERATIONS,
    FaultError,
    Physical,
    Struct,
    Symbol,
    Value,
    Way,
    convert,
    describe,
)


def evaluate(expression: tree.Expression, scope: Scope) -> Value:
    """The value of an expression.

    Raises:
        FaultError: unknown names or units, operands that do not go together, wrong arguments.
    """
    match expression:
        case tree.Number():
            return _number(expression)
        case tree.Text() | tree.Truth():
            return expression.value
        case tree.Name():
            return scope.look_up(expression)
        case tree.ListOf():
            return tuple(evaluate(item, scope) for item in expression.items)
        case tree.Operation():
            return _operation(expression, scope)
        case tree.Member():
            return _field(expression, scope)
        case tree.Call():
            return _method(expression, scope)
        case tree.Range():
            raise FaultError(expression.at, "a range cannot stand here", "it after `in`")
        case tree.EventReference():
            raise FaultError(expression.at, "an event has no value", "it after `wait` or `until`")
        case _:
            assert_never(expression)


def evaluate_as(kind: str, expression: tree.Expression, scope: Scope) -> Value:
    """The value of an expression as one of a type; where a member of an enumeration may stand it goes before names.

    Raises:
        FaultError: as `evaluate`, or the value is of another type.
    """
    if isinstance(expression, tree.Name) and expression.name in ENUMERATIONS.get(kind, ()):
        return convert(Symbol(kind, expression.name), kind, expression.at)
    return convert(evaluate(expression, scope), kind, expression.at)


def bind(what: str, params: Iterable[Param], arguments: Iterable[tree.Argument], at: At, scope: Scope) -> Bound:
    """The arguments by parameter name, each converted to its type.

    Raises:
        FaultError: an unknown, repeated, missing or surplus argument, or one of another type.
    """
    params = tuple(params)
    filled = assign(what, params, arguments, at)
    bound: dict[str, Value | None] = {}
    for param in params:
        given = filled.get(param.name)
        if given is None:
            bound[param.name] = param.default
        else:
            bound[param.name] = evaluate_as(param.type, given.value, scope)
    return bound


def _number(number: tree.Number) -> Value:
    if number.value > LARGEST:
        raise FaultError(number.at, "the number is too large", f"at most {LARGEST:g}")
    if not number.unit:
        return int(number.value) if number.whole else number.value
    if number.unit not in UNITS:
        known = "; ".join(f"{kind} in {', '.join(units_of(kind))}" for kind in PHYSICAL_TYPES)
        raise FaultError(number.at, f"unknown unit {number.unit!r}", known)
    dimension, factor = UNITS[number.unit]
    return Physical(number.value * factor, dimension)


def _operation(expression: tree.Operation, scope: Scope) -> Value:
    name, operands = expression.operator, expression.operands
    if name == "in":
        return _inside(operands[0], operands[1], scope)
    if name in ("and", "or", "not"):
        truths = [convert(evaluate(operand, scope), "bool", operand.at) for operand in operands]
        return {"and": all(truths), "or": any(truths), "not": not truths[0]}[name]
    values = [evaluate(operand, scope) for operand in operands]
    if len(values) == 1:
        return signed(name, values[0], expression.at)
    if name in RELATIONS:
        return relate(name, values[0], values[1], operands[1].at)
    return combine(name, values[0], values[1], operands[1].at)


def _inside(item: tree.Expression, among: tree.Expression, scope: Scope) -> bool:
    value = evaluate(item, scope)
    if isinstance(among, tree.Range):
        low, high = evaluate(among.low, scope), evaluate(among.high, scope)
        return relate(">=", value, low, among.low.at) and relate("<=", value, high, among.high.at)
    members = evaluate(among, scope)
    if not isinstance(members, tuple):
        raise FaultError(among.at, f"{describe(members)} is no list", "[a, b] or [low..high]")
    return any(relate("==", value, member, among.at) for member in members)


def _field(expression: tree.Member, scope: Scope) -> Value:
    base = evaluate(expression.base, scope)
    fields = base.fields if isinstance(base, Struct) else {}
    if expression.name not in fields:
        expected = "one of " + ", ".join(fields) if fields else "a value that has fields"
        raise FaultError(expression.at, f"{describe(base)} has no field {expression.name!r}", expected)
    return fields[expression.name]


def _way(kind: str) -> Callable[[Bound], Value]:
    def made(bound: Bound) -> Value:
        points = bound["points"]
        assert isinstance(points, tuple)
        return Way(kind, tuple(p for p in points if isinstance(p, OnLane | AtPose | InSlot | RelativeTo | Anywhere)))

    return made


def _struct(kind: str) -> Callable[[Bound], Value]:
    return lambda bound: Struct(kind, {name: value for name, value in bound.items() if value is not None})


_ZERO = Physical(0.0, PHYSICAL_TYPES["length"])
_POINT = (Param("x", "length"), Param("y", "length"), Param("z", "length", _ZERO))
_LANE = (
    Param("road_id", "id"),
    Param("lane_id", "id"),
    Param("s", "length", _ZERO),
    Param("t", "length", _ZERO),
)
METHODS: dict[str, tuple[tuple[Param, ...], Callable[[Bound], Value]]] = {
    "create_xyz_point": (_POINT, _struct("xyz_point")),
    "create_odr_point": (_LANE, _struct("odr_point")),
    "create_route": ((Param("points", "list of position"),), _way("route")),
    "create_path": ((Param("points", "list of position"),), _way("path")),
    "parking_space": ((Param("id", "id"), Param("backed_in", "bool", False)), _struct("parking_space")),
}
"""Methods of the map by name: parameters, and what they return."""


def _method(call: tree.Call, scope: Scope) -> Value:
    callee = call.callee
    if not isinstance(callee, tree.Member):
        raise FaultError(call.at, "this cannot be called here", "map.<method>(...)")
    actor = scope.actor(callee.base)
    if actor.type != "map" or callee.name not in METHODS:
        known = "one of " + ", ".join(f"map.{name}" for name in METHODS)
        raise FaultError(callee.at, f"unknown method {actor.name}.{callee.name}", known)
    params, made = METHODS[callee.name]
    return made(bind(callee.name, params, call.arguments, call.at, scope))
