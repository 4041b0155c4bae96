"""Ranges of a scenario's variables, and points of the unit cube as their values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from tuling_fsm.core.errors import InputError

OPTION = "--vary"
EXPECTED = "NAME=LOW..HIGH, with a unit behind it where the variable has one, as in gap=4..20m"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_RANGE = re.compile(rf"\s*([A-Za-z_]\w*)\s*=\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*([A-Za-z]*)\s*")
_DIGITS = 4
"""Values are as fine as so many digits of the range's width."""


class ParameterRange(NamedTuple):
    """A variable of a scenario and the values that it may have, in the unit that is written behind them."""

    name: str
    low: float
    high: float
    unit: str = ""
    whole: bool = False
    """Whether only whole numbers will do, as where both ends are written as such."""

    def value(self, share: float) -> str:
        """The value at a share (0 to 1) of the range, as text."""
        value = self.low + share * (self.high - self.low)
        if self.whole:
            return f"{min(int(self.high), math.floor(self.low + share * (self.high - self.low + 1.0)))}{self.unit}"
        magnitude = int(f"{self.high - self.low:e}".partition("e")[2])
        decimals = max(0, _DIGITS - 1 - magnitude)
        text = f"{value:.{decimals}f}"
        # Rounded, a value beside an end that is written finer would be beyond it.
        inside = min(max(Decimal(text), Decimal(repr(self.low))), Decimal(repr(self.high)))
        return f"{text if inside == Decimal(text) else format(inside, 'f')}{self.unit}"


def parameter_range(text: str) -> ParameterRange:
    """A range as it is written on the command line.

    Raises:
        InputError: it is none, or has nothing in it.
    """
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(OPTION, f"{text!r} is no range", EXPECTED)
    name, low, high, unit = found.groups()
    one = ParameterRange(
        name, float(low), float(high), unit, low.lstrip("+-").isdigit() and high.lstrip("+-").isdigit()
    )
    if not (math.isfinite(one.low) and math.isfinite(one.high) and one.low < one.high):
        raise InputError(OPTION, f"{text!r} has nothing in it", "a lower end below the upper one")
    return one


def overrides_at(space: Sequence[ParameterRange], point: Sequence[float]) -> tuple[tuple[str, str], ...]:
    """Names and values at a point of the unit cube, as `--set` takes them."""
    return tuple((one.name, one.value(min(1.0, max(0.0, share)))) for one, share in zip(space, point, strict=True))
