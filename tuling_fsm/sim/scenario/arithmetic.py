"""Numbers with dimensions: signs, sums, products and relations."""

from __future__ import annotations

import operator
from collections.abc import Callable

from tuling_fsm.sim.scenario.syntax_tree import SourceLocation
from tuling_fsm.sim.scenario.type_table import TypeTable
from tuling_fsm.sim.scenario.values import NUMBER, Dimension, FaultError, Physical, Symbol, Value, with_article

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


def signed(types: TypeTable, sign: str, value: Value, at: SourceLocation) -> Value:
    """`+value` or `-value`."""
    return _value(SIGNS[sign](_magnitude(types, value, at)), _dimension(value), at)


def combine(types: TypeTable, sign: str, left: Value, right: Value, at: SourceLocation) -> Value:
    """`left sign right` of a sum or a product; whole numbers stay whole except in a quotient.

    Raises:
        FaultError: operands that are no numbers, dimensions that do not go together, division by zero, overflow.
    """
    a, b = _magnitude(types, left, at), _magnitude(types, right, at)
    if sign in "/%" and b == 0:
        raise FaultError(at, "division by zero", "another divisor")
    if sign in PRODUCTS:
        dimension = _dimension(left).times(_dimension(right), 1 if sign == "*" else -1)
        return _value(PRODUCTS[sign](a, b), dimension, at)
    return _value(SUMS[sign](a, b), _common(types, left, right, at), at)


def relate(types: TypeTable, relation: str, left: Value, right: Value, at: SourceLocation) -> bool:
    """`left relation right`; what is no number can only be equal or unequal.

    Raises:
        FaultError: operands that cannot be compared.
    """
    if _is_measure(left) or _is_measure(right):
        a, b = _magnitude(types, left, at), _magnitude(types, right, at)
        _common(types, left, right, at)
        return RELATIONS[relation](a, b)
    if relation not in ("==", "!="):
        raise FaultError(at, f"{types.describe(left)} has no order", "== or !=")
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        kind = left.enumeration or right.enumeration
        if kind:
            left, right = types.convert(left, kind, at), types.convert(right, kind, at)
    return (left == right) is (relation == "==")


def _is_measure(value: Value) -> bool:
    return isinstance(value, int | float | Physical) and not isinstance(value, bool)


def _magnitude(types: TypeTable, value: Value, at: SourceLocation) -> float:
    if isinstance(value, Physical):
        return value.value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise FaultError(at, f"{types.describe(value)} is no number", "a number, with or without a unit")


def _dimension(value: Value) -> Dimension:
    return value.dimension if isinstance(value, Physical) else NUMBER


def _common(types: TypeTable, left: Value, right: Value, at: SourceLocation) -> Dimension:
    dimension = _dimension(left)
    if dimension != _dimension(right):
        raise FaultError(
            at,
            f"{types.describe(left)} and {types.describe(right)} do not go together",
            f"{with_article(types.dimension_name(dimension))} twice",
        )
    return dimension


def _value(magnitude: float, dimension: Dimension, at: SourceLocation) -> Value:
    if not abs(magnitude) <= LARGEST:
        raise FaultError(at, "the result is too large", f"at most {LARGEST:g}")
    return magnitude if dimension == NUMBER else Physical(float(magnitude), dimension)
