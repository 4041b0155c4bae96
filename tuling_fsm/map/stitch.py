"""Pieces of lanes joined to one smooth curve: cut, blend sideways where pieces do not meet, resample evenly.

A piece is a table of rows with the columns x, y, heading and any number of further ones that are interpolated along.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray

SPACING_M = 0.5
"""Spacing of a resampled curve, m."""

MEND_M = 8.0
"""Length on either side over which pieces that hardly miss each other are drawn together, m."""


def cut(table: FloatArray, s: FloatArray, start: float, end: float) -> FloatArray:
    """The rows of a table between two arc lengths (m), with interpolated first and last row (at least these two)."""
    start, end = max(start, float(s[0])), min(end, float(s[-1]))
    lo = int(np.searchsorted(s, start + 1e-6, side="right"))
    hi = int(np.searchsorted(s, end - 1e-6, side="left"))
    return np.vstack((_row(table, s, start), table[lo:hi], _row(table, s, end)))


def _row(table: FloatArray, s: FloatArray, at: float) -> FloatArray:
    i = min(max(int(np.searchsorted(s, at, side="right")) - 1, 0), len(s) - 2)
    u = (at - s[i]) / (s[i + 1] - s[i])
    return np.asarray(table[i] + u * (table[i + 1] - table[i]), dtype=np.float64)


def join(pieces: Sequence[FloatArray], blends: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """One table from pieces in driving order, drawn together at each joint over up to `blends[i]` m on either side.

    Returns the table and the row of every joint in it. A piece shares its length between its two joints.
    """
    runs = [arc_length(piece) for piece in pieces]
    moved = [piece.copy() for piece in pieces]
    for i, blend in enumerate(blends):
        before, after = pieces[i], pieces[i + 1]
        moved[i + 1][:, 2] += _turns(moved[i][-1, 2], moved[i + 1][0, 2])
        gap = after[0, :2] - before[-1, :2]
        if elementary.hypot(*gap) < 1e-4:
            continue
        back = runs[i][-1] * (1.0 if i == 0 else 0.5)
        ahead = runs[i + 1][-1] * (1.0 if i + 1 == len(blends) else 0.5)
        reach = min(blend, back, ahead)
        _lean(moved[i], runs[i][-1] - runs[i], before[-1, 2], gap, reach, 1.0)
        _lean(moved[i + 1], runs[i + 1], after[0, 2], -gap, reach, -1.0)
    lengths = [len(moved[0]), *(len(piece) - 1 for piece in moved[1:])]
    joints = np.cumsum(lengths) - 1
    return np.vstack([moved[0], *(piece[1:] for piece in moved[1:])]), joints[:-1].astype(np.float64)


def _turns(last: float, first: float) -> float:
    """Whole turns that make the second heading follow on from the first."""
    return 2.0 * math.pi * round((last - first) / (2.0 * math.pi))


def _lean(piece: FloatArray, to_joint: FloatArray, heading: float, gap: FloatArray, reach: float, side: float) -> None:
    """Shift rows by the first half of a quintic step over `2 * reach`: half the `gap` at the joint, none `reach` away.

    The gap is meant in the frame of the joint and turns with the line.
    """
    u = 0.5 * np.clip(1.0 - to_joint / max(reach, 1e-9), 0.0, 1.0)
    step = u * u * u * (10.0 + u * (6.0 * u - 15.0))
    slope = 15.0 * np.square(u * (1.0 - u)) / max(reach, 1e-9)
    sin, cos = elementary.sin_cos(heading)
    along, aside = cos * gap[0] + sin * gap[1], cos * gap[1] - sin * gap[0]
    sin_i, cos_i = elementwise.sin_cos(piece[:, 2])
    piece[:, 0] += step * (along * cos_i - aside * sin_i)
    piece[:, 1] += step * (along * sin_i + aside * cos_i)
    piece[:, 2] += elementwise.arctan(side * aside * slope)


def arc_length(table: FloatArray) -> FloatArray:
    """Cumulative chord length of the rows, m."""
    return np.concatenate(([0.0], np.cumsum(elementwise.hypot(np.diff(table[:, 0]), np.diff(table[:, 1])))))


def resample(table: FloatArray, joints: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The table at even spacing (at most `SPACING_M`): rows, their arc length, and the arc length of the given rows."""
    run = arc_length(table)
    keep = np.concatenate(([True], np.diff(run) > 1e-7))
    grid = np.linspace(0.0, run[-1], max(math.ceil(run[-1] / SPACING_M), 1) + 1)
    known = run[keep]
    rows = np.column_stack([np.interp(grid, known, column) for column in table[keep].T])
    return rows, grid, run[joints.astype(np.intp)]
