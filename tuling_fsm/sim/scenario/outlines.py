"""The gap between two convex outlines."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inner, kernel


@inner
def _parted(outline: FloatArray, other: FloatArray) -> bool:
    """Whether all points of another outline lie beyond one edge of a counter-clockwise one."""
    for i in range(len(outline)):
        x, y = outline[i - 1]
        ex, ey = outline[i, 0] - x, outline[i, 1] - y
        beyond = True
        for k in range(len(other)):
            beyond = beyond and ex * (other[k, 1] - y) - ey * (other[k, 0] - x) < 0.0
        if beyond:
            return True
    return False


@inner
def _nearest(outline: FloatArray, other: FloatArray) -> float:
    """Least distance of the points of another outline from the edges of one, m."""
    least = np.inf
    for i in range(len(outline)):
        x, y = outline[i - 1]
        ex, ey = outline[i, 0] - x, outline[i, 1] - y
        length2 = ex * ex + ey * ey
        for k in range(len(other)):
            px, py = other[k, 0] - x, other[k, 1] - y
            share = min(max((px * ex + py * ey) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
            least = min(least, elementary.hypot(px - share * ex, py - share * ey))
    return least


@kernel
def gap(a: FloatArray, b: FloatArray) -> float:
    """Distance of two convex outlines (N, 2) and (M, 2), counter-clockwise, m; 0 where they overlap.

    One of them may be a single point. What does not overlap has an edge with all of the other one beyond it.
    """
    if not _parted(a, b) and not _parted(b, a):
        return 0.0
    return min(_nearest(a, b), _nearest(b, a))
