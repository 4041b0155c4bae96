"""Piecewise cubic polynomials: how OpenDRIVE writes elevation, lane offset, widths and borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.opendrive.document import Element, number, where


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
    elements: Sequence[Element], start_name: str, warnings: list[str], base: float = 0.0
) -> PiecewiseCubic | None:
    """The records of one curve, starts moved by `base` m; None without any. Records out of order are sorted and noted.

    Raises:
        InputError: a coefficient or a start is missing or no number.
    """
    if not elements:
        return None
    rows = [[number(e, start_name) + base, *(number(e, k, 0.0) for k in "abcd")] for e in elements]
    table = np.array(rows, dtype=np.float64)
    if np.any(np.diff(table[:, 0]) < 0.0):
        warnings.append(f"{where(elements[0])}: records are not in ascending {start_name}; they were sorted")
        table = table[np.argsort(table[:, 0], kind="stable")]
    return PiecewiseCubic(np.ascontiguousarray(table[:, 0]), np.ascontiguousarray(table[:, 1:]))
