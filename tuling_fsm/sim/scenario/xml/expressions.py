"""What an attribute says: text, `$parameter` or `${expression}` (ASAM OpenSCENARIO XML 1.3, 9.1 and 9.2)."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping

from tuling_fsm.core import elementary

_NAME = re.compile(r"\$([A-Za-z_][\w.]*)")
_CALLED: dict[str, bool | float] = {"true": True, "false": False, "pi": math.pi}
"""Names that stand for a value; `pi` is not the standard's, but several simulators'."""

LARGEST = 1e15
"""Of a whole number: they are exact up to here."""
LARGEST_ANGLE = 1e6
"""Whose sine has all its digits, rad."""
Number = bool | int | float


class ExpressionError(ValueError):
    """An expression that has no value; says what is wrong and what would be right."""

    def __init__(self, what: str, expected: str) -> None:
        super().__init__(what)
        self.what, self.expected = what, expected


def resolve(text: str, parameters: Mapping[str, str]) -> str:
    """The text that an attribute means.

    Raises:
        ExpressionError: an unknown parameter, or an expression that is none.
    """
    stripped = text.strip()
    if stripped.startswith("${") and stripped.endswith("}"):
        return as_text(evaluate(stripped[2:-1], parameters))
    if stripped.startswith("$"):
        return _parameter(stripped[1:], parameters)
    return text


def as_text(value: Number | str) -> str:
    """A value as an attribute has it: a whole number as an integer, however it was calculated."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ExpressionError("the result is too large", f"at most {LARGEST:g}")
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST:
        return repr(int(value))
    return value if isinstance(value, str) else repr(value)


def _parameter(name: str, parameters: Mapping[str, str]) -> str:
    if name not in parameters:
        known = ", ".join(f"${known}" for known in parameters)
        raise ExpressionError(f"unknown parameter ${name}", f"one of {known}" if known else "a ParameterDeclaration")
    return parameters[name]


def evaluate(expression: str, parameters: Mapping[str, str]) -> Number:
    """The value of an expression between `${` and `}`.

    Raises:
        ExpressionError: unknown names, other operators than the standard's, a division by zero.
    """
    values: dict[str, Number] = {}

    def take(match: re.Match[str]) -> str:
        name = f"p{len(values)}_"
        values[name] = _constant(_parameter(match[1], parameters))
        return name

    try:
        tree = ast.parse(_NAME.sub(take, expression).strip(), mode="eval")
        return _value(tree.body, values)
    except SyntaxError as error:
        raise ExpressionError(f"{expression!r} is no expression", "numbers, $names, + - * / % and functions") from error
    except (ZeroDivisionError, OverflowError) as error:
        raise ExpressionError(f"{expression!r} has no value", "a divisor other than 0") from error
    except (ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ExpressionError):
            raise
        raise ExpressionError(f"{expression!r} cannot be calculated", "smaller numbers and fewer brackets") from error


def _constant(text: str) -> Number:
    lowered = text.strip().lower()
    if lowered in _CALLED:
        return _CALLED[lowered]
    try:
        return int(lowered)
    except ValueError:
        pass
    try:
        return float(lowered)
    except ValueError as error:
        raise ExpressionError(f"{text!r} is no number to calculate with", "a numeric parameter") from error


_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: lambda a, b: math.fmod(a, b),
}
_COMPARED: dict[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _power(base: Number, exponent: Number) -> Number:
    """By repeated multiplication where the exponent is whole, so that the bits are the same everywhere."""
    if exponent == int(exponent) and abs(exponent) <= 64:
        result = 1.0
        for _ in range(abs(int(exponent))):
            result *= base
        return result if exponent >= 0 else 1.0 / result
    if base <= 0:
        raise ExpressionError(f"pow({base:g}, {exponent:g}) has no value", "a base above 0")
    return elementary.exp(exponent * elementary.log(base))


def _root(value: Number) -> Number:
    if value < 0:
        raise ExpressionError(f"sqrt({value:g}) has no value", "0 or more")
    return math.sqrt(value)


def _within(most: float, function: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function of numbers from -most to most."""

    def value(x: Number) -> Number:
        if not abs(x) <= most:
            raise ExpressionError(f"a function of {x:g} has no value", f"-{most:g} to {most:g}")
        return function(float(x))

    return value


_FUNCTIONS: dict[str, tuple[int, Callable[..., Number]]] = {
    "round": (1, lambda x: math.floor(x + 0.5)),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "sqrt": (1, _root),
    "pow": (2, _power),
    "abs": (1, abs),
    "sign": (1, lambda x: (x > 0) - (x < 0)),
    "max": (2, max),
    "min": (2, min),
    "sin": (1, _within(LARGEST_ANGLE, elementary.sin)),
    "cos": (1, _within(LARGEST_ANGLE, elementary.cos)),
    "tan": (1, _within(LARGEST_ANGLE, elementary.tan)),
    "asin": (1, _within(1.0, elementary.asin)),
    "acos": (1, _within(1.0, elementary.acos)),
    "atan": (1, _within(math.inf, elementary.atan)),
}
"""Those of angles (rad) are not the standard's, but several simulators'."""


def _value(node: ast.expr, values: Mapping[str, Number]) -> Number:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Name(id=name) if name in _CALLED:
            return _CALLED[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand, values))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, values), _value(right, values))
        case ast.BoolOp(op=ast.And(), values=members):
            return min(bool(_value(member, values)) for member in members)
        case ast.BoolOp(op=ast.Or(), values=members):
            return max(bool(_value(member, values)) for member in members)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
            return _COMPARED[type(op)](_value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            count, function = _FUNCTIONS[name]
            if len(arguments) != count:
                raise ExpressionError(f"{name} of {len(arguments)} values", f"{count}")
            return function(*(_value(argument, values) for argument in arguments))
    functions = ", ".join(_FUNCTIONS)
    raise ExpressionError(
        f"{ast.unparse(node)!r} is not known", f"numbers, $names, + - * / %, not, and, or, {functions}"
    )
