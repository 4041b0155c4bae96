"""Piecewise cubic polynomials: how OpenDRIVE writes elevation, lane offset, widths and borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.opendrive.bounds import BOUNDS
from tuling_fsm.map.opendrive.document import Element, finite, number, where

SHORT_M = 1e-3
"""A record over less than this that climbs out of bounds, as exporters join others, is level, m."""


@dataclass(frozen=True, eq=False)
class PiecewiseCubic:
    """Records `start` (N,) m, ascending, with `coefficients` (N, 4): a + b ds + c ds^2 + d ds^3 from each start on."""

    start: FloatArray
    coefficients: FloatArray

    def __call__(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and first derivative at `s`; the first record also holds before its start."""
        if len(self.start) == 1:
            ds = s - self.start[0]
            a, b, c, d = self.coefficients[0]
        else:
            i = np.maximum(np.searchsorted(self.start, s, side="right") - 1, 0)
            ds = s - self.start[i]
            a, b, c, d = self.coefficients[i].T
        return a + ds * (b + ds * (c + ds * d)), b + ds * (2.0 * c + 3.0 * d * ds)

    def restarts(self) -> FloatArray:
        """Where one record hands over to the next, m."""
        return self.start[1:]


ZERO = PiecewiseCubic(np.zeros(1), np.zeros((1, 4)))


def read_cubic(
    elements: Sequence[Element], start_name: str, warnings: list[str], end: float, base: float = 0.0
) -> PiecewiseCubic | None:
    """The records of one curve, starts moved by `base` m, up to `end` m; None without any. Records out of order are
    sorted and noted.

    Raises:
        InputError: a coefficient or a start is missing, no number or out of bounds.
    """
    if not elements:
        return None
    starts = [number(e, start_name) + base for e in elements]
    order = sorted(range(len(starts)), key=starts.__getitem__)
    if order != list(range(len(starts))):
        warnings.append(f"{where(elements[0])}: records are not in ascending {start_name}; they were sorted")
    start = [starts[i] for i in order]
    extents = (following - each for each, following in pairwise([*start, end]))
    rows = [_coefficients(elements[i], extent) for i, extent in zip(order, extents, strict=True)]
    return PiecewiseCubic(np.array(start, dtype=np.float64), np.array(rows, dtype=np.float64))


def _coefficients(element: Element, extent: float) -> list[float]:
    """Of a record that holds over `extent` m."""
    if extent < SHORT_M and not all(BOUNDS[name].holds(finite(element, name, 0.0)) for name in "bcd"):
        return [number(element, "a", 0.0), 0.0, 0.0, 0.0]
    return [number(element, name, 0.0) for name in "abcd"]
