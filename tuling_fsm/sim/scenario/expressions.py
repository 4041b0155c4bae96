"""Expressions to values: names, literals, operators, arguments, and the methods of the map."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tuling_fsm.core.errors import assert_never
from tuling_fsm.sim.scenario import syntax_tree
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.values import (
    ENUMERATIONS,
    NUMBER,
    PHYSICAL_TYPES,
    UNITS,
    ActorName,
    Dimension,
    FaultError,
    Physical,
    Struct,
    Symbol,
    Value,
    Waypoints,
    convert,
    describe,
    dimension_name,
    units_of,
    with_article,
)


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


@dataclass
class Scope:
    """What the names of a scenario stand for; None for one that is declared and has no value yet."""

    values: dict[str, Value | None] = field(default_factory=dict)

    def look_up(self, name: syntax_tree.Name) -> Value:
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

    def actor(self, expression: syntax_tree.Expression) -> ActorName:
        """The actor that an expression names.

        Raises:
            FaultError: it names no actor.
        """
        actors = [value for value in self.values.values() if isinstance(value, ActorName)]
        expected = "one of " + ", ".join(actor.name for actor in actors)
        if not isinstance(expression, syntax_tree.Name):
            raise FaultError(expression.at, "this is no actor", expected)
        found = self.values.get(expression.name)
        if not isinstance(found, ActorName):
            raise FaultError(expression.at, f"unknown actor {expression.name!r}", expected)
        return found


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


LARGEST = 1e15
"""Of any number: whole ones are exact up to here."""
RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SUMS: dict[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub, "%": operator.mod}
PRODUCTS: dict[str, Callable[[float, float], float]] = {"*": operator.mul, "/": operator.truediv}
SIGNS: dict[str, Callable[[float], float]] = {"+": operator.pos, "-": operator.neg}


def signed(sign: str, value: Value, at: SourceLocation) -> Value:
    """`+value` or `-value`."""
    return _value(SIGNS[sign](_magnitude(value, at)), _dimension(value), at)


def combine(sign: str, left: Value, right: Value, at: SourceLocation) -> Value:
    """`left sign right` of a sum or a product; whole numbers stay whole except in a quotient.

    Raises:
        FaultError: operands that are no numbers, dimensions that do not go together, division by zero, overflow.
    """
    a, b = _magnitude(left, at), _magnitude(right, at)
    if sign in "/%" and b == 0:
        raise FaultError(at, "division by zero", "another divisor")
    if sign in PRODUCTS:
        dimension = _dimension(left).times(_dimension(right), 1 if sign == "*" else -1)
        return _value(PRODUCTS[sign](a, b), dimension, at)
    return _value(SUMS[sign](a, b), _common(left, right, at), at)


def relate(relation: str, left: Value, right: Value, at: SourceLocation) -> bool:
    """`left relation right`; what is no number can only be equal or unequal.

    Raises:
        FaultError: operands that cannot be compared.
    """
    if _is_measure(left) or _is_measure(right):
        a, b = _magnitude(left, at), _magnitude(right, at)
        _common(left, right, at)
        return RELATIONS[relation](a, b)
    if relation not in ("==", "!="):
        raise FaultError(at, f"{describe(left)} has no order", "== or !=")
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        kind = left.enumeration or right.enumeration
        if kind:
            left, right = convert(left, kind, at), convert(right, kind, at)
    return (left == right) is (relation == "==")


def _is_measure(value: Value) -> bool:
    return isinstance(value, int | float | Physical) and not isinstance(value, bool)


def _magnitude(value: Value, at: SourceLocation) -> float:
    if isinstance(value, Physical):
        return value.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise FaultError(at, f"{describe(value)} is no number", "a number, with or without a unit")


def _dimension(value: Value) -> Dimension:
    return value.dimension if isinstance(value, Physical) else NUMBER


def _common(left: Value, right: Value, at: SourceLocation) -> Dimension:
    dimension = _dimension(left)
    if dimension != _dimension(right):
        raise FaultError(
            at,
            f"{describe(left)} and {describe(right)} do not go together",
            f"{with_article(dimension_name(dimension))} twice",
        )
    return dimension


def _value(magnitude: float, dimension: Dimension, at: SourceLocation) -> Value:
    if not abs(magnitude) <= LARGEST:
        raise FaultError(at, "the result is too large", f"at most {LARGEST:g}")
    return magnitude if dimension == NUMBER else Physical(float(magnitude), dimension)


def evaluate(expression: syntax_tree.Expression, scope: Scope) -> Value:
    """The value of an expression.

    Raises:
        FaultError: unknown names or units, operands that do not go together, wrong arguments.
    """
    match expression:
        case syntax_tree.NumberLiteral():
            return _number(expression)
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
        case syntax_tree.Range():
            raise FaultError(expression.at, "a range cannot stand here", "it after `in`")
        case syntax_tree.EventReference():
            raise FaultError(expression.at, "an event has no value", "it after `wait` or `until`")
        case _:
            assert_never(expression)


def evaluate_as(kind: str, expression: syntax_tree.Expression, scope: Scope) -> Value:
    """The value of an expression as one of a type; where a member of an enumeration may stand it goes before names.

    Raises:
        FaultError: as `evaluate`, or the value is of another type.
    """
    if isinstance(expression, syntax_tree.Name) and expression.name in ENUMERATIONS.get(kind, ()):
        return convert(Symbol(kind, expression.name), kind, expression.at)
    return convert(evaluate(expression, scope), kind, expression.at)


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


def _number(number: syntax_tree.NumberLiteral) -> Value:
    if number.value > LARGEST:
        raise FaultError(number.at, "the number is too large", f"at most {LARGEST:g}")
    if not number.unit:
        return int(number.value) if number.whole else number.value
    if number.unit not in UNITS:
        known = "; ".join(f"{kind} in {', '.join(units_of(kind))}" for kind in PHYSICAL_TYPES)
        raise FaultError(number.at, f"unknown unit {number.unit!r}", known)
    dimension, factor = UNITS[number.unit]
    return Physical(number.value * factor, dimension)


def _operation(expression: syntax_tree.Operation, scope: Scope) -> Value:
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


def _inside(item: syntax_tree.Expression, among: syntax_tree.Expression, scope: Scope) -> bool:
    value = evaluate(item, scope)
    if isinstance(among, syntax_tree.Range):
        low, high = evaluate(among.low, scope), evaluate(among.high, scope)
        return relate(">=", value, low, among.low.at) and relate("<=", value, high, among.high.at)
    members = evaluate(among, scope)
    if not isinstance(members, tuple):
        raise FaultError(among.at, f"{describe(members)} is no list", "[a, b] or [low..high]")
    return any(relate("==", value, member, among.at) for member in members)


def _field(expression: syntax_tree.Member, scope: Scope) -> Value:
    base = evaluate(expression.base, scope)
    fields = base.fields if isinstance(base, Struct) else {}
    if expression.name not in fields:
        expected = "one of " + ", ".join(fields) if fields else "a value that has fields"
        raise FaultError(expression.at, f"{describe(base)} has no field {expression.name!r}", expected)
    return fields[expression.name]


def _way(kind: str) -> Callable[[BoundArguments], Value]:
    def made(bound: BoundArguments) -> Value:
        points = bound["points"]
        assert isinstance(points, tuple)
        return Waypoints(kind, tuple(p for p in points if isinstance(p, Placement)))

    return made


def _struct(kind: str) -> Callable[[BoundArguments], Value]:
    return lambda bound: Struct(kind, {name: value for name, value in bound.items() if value is not None})


_ZERO = Physical(0.0, PHYSICAL_TYPES["length"])
_POINT = (Param("x", "length"), Param("y", "length"), Param("z", "length", _ZERO))
_LANE = (
    Param("road_id", "id"),
    Param("lane_id", "id"),
    Param("s", "length", _ZERO),
    Param("t", "length", _ZERO),
)
METHODS: dict[str, tuple[tuple[Param, ...], Callable[[BoundArguments], Value]]] = {
    "create_xyz_point": (_POINT, _struct("xyz_point")),
    "create_odr_point": (_LANE, _struct("odr_point")),
    "create_route": ((Param("points", "list of position"),), _way("route")),
    "create_path": ((Param("points", "list of position"),), _way("path")),
    "parking_space": ((Param("id", "id"), Param("backed_in", "bool", False)), _struct("parking_space")),
}
"""Methods of the map by name: parameters, and what they return."""


def _method(call: syntax_tree.Call, scope: Scope) -> Value:
    callee = call.callee
    if not isinstance(callee, syntax_tree.Member):
        raise FaultError(call.at, "this cannot be called here", "map.<method>(...)")
    actor = scope.actor(callee.base)
    if actor.type != "map" or callee.name not in METHODS:
        known = "one of " + ", ".join(f"map.{name}" for name in METHODS)
        raise FaultError(callee.at, f"unknown method {actor.name}.{callee.name}", known)
    params, made = METHODS[callee.name]
    return made(bind(callee.name, params, call.arguments, call.at, scope))
