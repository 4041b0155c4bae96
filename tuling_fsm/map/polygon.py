"""Polygons in the plane: what lies inside, the box of a parking space, edges as segments."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose, rotated


def inside(outline: FloatArray, points: FloatArray) -> BoolArray:
    """Which of the points (N, 2) lie inside the outline (K, 2), by the even-odd rule."""
    x, y = points[:, 0][:, None], points[:, 1][:, None]
    x0, y0 = outline[:, 0], outline[:, 1]
    x1, y1 = np.append(x0[1:], x0[0]), np.append(y0[1:], y0[0])
    straddles = (y0 > y) != (y1 > y)
    rise = np.where(y1 == y0, 1.0, y1 - y0)
    crosses = straddles & (x < x0 + (y - y0) * (x1 - x0) / rise)
    return np.asarray(np.logical_xor.reduce(crosses, axis=1))


def edges(outline: FloatArray) -> FloatArray:
    """The closed outline (K, 2) as segments (K, 4): x0, y0, x1, y1."""
    return np.hstack((outline, np.roll(outline, -1, axis=0)))


def slot_box(outline: FloatArray) -> tuple[Pose, float, float]:
    """Centre with heading along the longer side, length and width (m) of the box in which a car stands in a
    slanted quadrilateral.

    The long sides give the direction; the length is what both have abreast. Other polygons give their smallest box.
    """
    corners = _corners(outline)
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = elementwise.hypot(*sides.T)
    long = 0 if lengths[0] + lengths[2] >= lengths[1] + lengths[3] else 1
    axis = sides[long] - sides[long + 2]
    heading = elementary.atan2(axis[1], axis[0])
    u, v = rotated(corners, -heading).T
    first, second = [long, (long + 1) % 4], [(long + 2) % 4, (long + 3) % 4]
    low, high = max(u[first].min(), u[second].min()), min(u[first].max(), u[second].max())
    v0, v1 = v[first].mean(), v[second].mean()
    centre = rotated(np.array((0.5 * (low + high), 0.5 * (v0 + v1))), heading)
    return Pose(float(centre[0]), float(centre[1]), heading), float(max(high - low, 0.1)), float(abs(v1 - v0))


def _corners(outline: FloatArray) -> FloatArray:
    """Four corners: the outline's own, or those of the smallest box around it that has a side along one of its
    edges.
    """
    if len(outline) == 4:
        return outline
    best, corners = math.inf, outline[:4]
    for step in np.roll(outline, -1, axis=0) - outline:
        angle = elementary.atan2(step[1], step[0])
        turned = rotated(outline, -angle)
        low, high = turned.min(axis=0), turned.max(axis=0)
        area = float(np.prod(high - low))
        if area < best:
            best = area
            box = np.array([low, (high[0], low[1]), high, (low[0], high[1])])
            corners = rotated(box, angle)
    return np.asarray(corners, dtype=np.float64)
