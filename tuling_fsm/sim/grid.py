"""The topic `occupancy`: boxes rasterized around the car."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.world.inputs import Occupancy

CELL_M = 0.25
SIDE = 240
"""Cells along a side: the grid is a square of 60 m, the car in the middle."""
FULL = 100


def occupancy(stamp: float, pose: Pose, boxes: FloatArray) -> Occupancy:
    """The grid around a pose; boxes (N, >= 6) are x, y, z, heading, length, width in `map`, m and rad.

    It is parallel to the axes of `map` and lies on whole cells, so that a cell stays where it is as the car moves.
    """
    left = (math.floor(pose.x / CELL_M) - SIDE // 2) * CELL_M
    low = (math.floor(pose.y / CELL_M) - SIDE // 2) * CELL_M
    cells = np.zeros((SIDE, SIDE), np.int8)
    middles = (np.arange(SIDE) + 0.5) * CELL_M
    x, y = left + middles, (low + middles)[:, None]
    for cx, cy, _, heading, length, width in boxes[:, :6].tolist():
        c, s = elementary.cos(heading), elementary.sin(heading)
        along, across = c * (x - cx) + s * (y - cy), c * (y - cy) - s * (x - cx)
        margin = 0.5 * CELL_M
        cells[(np.abs(along) <= 0.5 * length + margin) & (np.abs(across) <= 0.5 * width + margin)] = FULL
    return Occupancy(stamp, CELL_M, Pose(left, low, 0.0), cells)
