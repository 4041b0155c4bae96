"""Kinks drawn as bends: what maps put at one point, a car needs some metres for."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.stitch import SPACING_M, arc_length

MAX_CURVATURE = 0.28
"""Bends up to this curvature (1/m) are left as they are."""

SIGMA_M = 0.8
"""Standard deviation of the kernel that one pass smooths with, m."""

PASSES = 5

REACH_M = 3.0
"""How far before and after a kink the line may move, m."""

MAX_SHIFT_M = 0.6
"""A line moves no farther than this from where the map has it."""


def relax(rows: FloatArray, sides: slice = slice(0, 0)) -> FloatArray:
    """Rows (x, y, heading, ...) about `SPACING_M` apart with their kinks smoothed, ends kept.

    `sides` are columns in left, right pairs of distances to the lane's sides, which shift with the line.
    """
    original = rows
    for _ in range(PASSES):
        weight = _weight(rows)
        if weight is None:
            break
        from scipy.ndimage import correlate1d

        smooth = correlate1d(rows[:, :2], _gaussian(SIGMA_M / SPACING_M), axis=0, mode="nearest")
        shift = weight[:, None] * (smooth - rows[:, :2])
        moved = rows.copy()
        moved[:, :2] += shift
        if float(np.max(elementwise.hypot(*(moved[:, :2] - original[:, :2]).T))) > MAX_SHIFT_M:
            break
        moved[:, 2] = _headings(moved, weight)
        sine, cosine = elementwise.sin_cos(rows[:, 2])
        aside = shift[:, 1] * cosine - shift[:, 0] * sine
        left_right = np.tile((-1.0, 1.0), (sides.stop - sides.start) // 2)
        moved[:, sides] = np.maximum(moved[:, sides] + aside[:, None] * left_right, 0.0)
        rows = moved
    return rows if rows is original or _sharpest(rows) < _sharpest(original) else original


def _sharpest(rows: FloatArray) -> float:
    """Largest curvature, 1/m."""
    return float(np.max(_curvature(rows)))


def _curvature(rows: FloatArray) -> FloatArray:
    return np.asarray(np.abs(np.diff(rows[:, 2])) / np.maximum(np.diff(arc_length(rows)), 1e-6), dtype=np.float64)


def _weight(rows: FloatArray) -> FloatArray | None:
    """How much each row is to move: 1 around a kink, fading out over `REACH_M` and to the ends; None without kinks."""
    if len(rows) < 8:
        return None
    kinked = np.append(_curvature(rows) > MAX_CURVATURE, False)
    if not kinked.any():
        return None
    # Here and not above: few maps have kinks, and SciPy takes a fifth of the start of a process.
    from scipy.ndimage import correlate1d, maximum_filter1d

    reach = round(REACH_M / SPACING_M)
    weight = correlate1d(maximum_filter1d(kinked.astype(np.float64), reach), _gaussian(0.3 * reach))
    from_end = np.minimum(np.arange(len(rows)), np.arange(len(rows))[::-1])
    return np.asarray(weight * np.clip((from_end - 1) / 4.0, 0.0, 1.0), dtype=np.float64)


def _gaussian(sigma: float) -> FloatArray:
    """The kernel of a Gaussian filter, cut off at four standard deviations (in rows)."""
    reach = int(4.0 * sigma + 0.5)
    steps = [k / sigma for k in range(-reach, reach + 1)]
    kernel = np.array([elementary.exp(-0.5 * step * step) for step in steps])
    return np.asarray(kernel / kernel.sum(), dtype=np.float64)


def _headings(rows: FloatArray, weight: FloatArray) -> FloatArray:
    """Headings of the moved rows, by central differences where they moved, next to the old ones elsewhere."""
    tangent = np.gradient(rows[:, :2], axis=0)
    turn = elementwise.arctan2(tangent[:, 1], tangent[:, 0]) - rows[:, 2]
    turn = (turn + np.pi) % (2.0 * np.pi) - np.pi
    return np.asarray(np.unwrap(rows[:, 2] + np.where(weight > 1e-3, turn, 0.0)), dtype=np.float64)
