"""Solid edges near the car, from the occupancy grid and from the map."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.kernels import factory
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.parameters import WorldParameters

_CELL_M = 5.0


@factory
def _edges(
    cells: npt.NDArray[np.int8], threshold: int, row0: int, row1: int, column0: int, column1: int, limit: int
) -> FloatArray:
    """Borders between occupied cells and the others, joined along each grid line; x0, y0, x1, y1 in cells."""
    height, width = cells.shape
    found, count = np.empty((limit, 4)), 0
    for across in range(2):
        lines = (row0, row1) if across == 0 else (column0, column1)
        spans = (column0, column1) if across == 0 else (row0, row1)
        for line in range(lines[0], lines[1] + 1):
            begin = -1
            for k in range(spans[0], spans[1] + 1):
                edge = False
                if k < spans[1]:
                    r, c = (line, k) if across == 0 else (k, line)
                    r1, c1 = (line - 1, k) if across == 0 else (k, line - 1)
                    one = r < height and c < width and cells[r, c] >= threshold
                    other = r1 >= 0 and c1 >= 0 and cells[r1, c1] >= threshold
                    edge = one != other
                if edge and begin < 0:
                    begin = k
                if not edge and begin >= 0:
                    if count == limit:
                        return found
                    found[count, across], found[count, across + 2] = begin, k
                    found[count, 1 - across], found[count, 3 - across] = line, line
                    count += 1
                    begin = -1
    return found[:count]


def grid_segments(grid: Occupancy, x: float, y: float, radius: float, threshold: int, limit: int) -> FloatArray:
    """Outlines of the occupied cells within `radius` (m) of a point, nearest first to go, at most `limit`: (M, 4)
    in `map`.
    """
    c, s = math.cos(grid.origin.heading), math.sin(grid.origin.heading)
    dx, dy = x - grid.origin.x, y - grid.origin.y
    column, row = (c * dx + s * dy) / grid.resolution, (-s * dx + c * dy) / grid.resolution
    cells = grid.cells if grid.cells.flags.carray else grid.cells.copy()
    height, width = cells.shape
    edges: FloatArray = np.zeros((0, 4))
    most = 8 * limit
    for share in (1.0, 0.5, 0.25, 0.1):
        reach = share * radius / grid.resolution
        row0, row1 = (int(min(max(v, 0), height)) for v in (row - reach, row + reach))
        column0, column1 = (int(min(max(v, 0), width)) for v in (column - reach, column + reach))
        edges = _edges(cells, threshold, row0, row1, column0, column1, most)
        if len(edges) < most:
            break
    edges = np.asarray(edges * grid.resolution, dtype=np.float64)
    placed = np.empty_like(edges)
    for i in (0, 2):
        placed[:, i] = grid.origin.x + c * edges[:, i] - s * edges[:, i + 1]
        placed[:, i + 1] = grid.origin.y + s * edges[:, i] + c * edges[:, i + 1]
    return _nearest(placed, x, y, limit)


def _nearest(segments: FloatArray, x: float, y: float, limit: int) -> FloatArray:
    """The `limit` segments whose middle is nearest to a point, in their own order."""
    if len(segments) <= limit:
        return segments
    middle = 0.5 * (segments[:, :2] + segments[:, 2:])
    distance = np.hypot(middle[:, 0] - x, middle[:, 1] - y)
    return np.asarray(segments[np.sort(np.argsort(distance, kind="stable")[:limit])], dtype=np.float64)


_GRIDS: WeakKeyDictionary[Occupancy, tuple[tuple[float, ...], FloatArray]] = WeakKeyDictionary()
_MAPS: WeakKeyDictionary[RoadMap, tuple[tuple[float, ...], FloatArray]] = WeakKeyDictionary()


def solid_segments(road_map: RoadMap, grid: Occupancy | None, pose: Pose, parameters: WorldParameters) -> FloatArray:
    """All solid edges around the car (M, 4). What is found is kept while the car stays in one cell of 5 m."""
    x, y = (math.floor(v / _CELL_M) * _CELL_M + 0.5 * _CELL_M for v in (pose.x, pose.y))
    radius, limit = parameters.static_radius + _CELL_M, parameters.max_static_segments
    key = (x, y, radius, float(limit), float(parameters.occupied))
    fixed = _kept(_MAPS, road_map, key, lambda: _nearest(road_map.static_segments(x, y, radius), x, y, limit))
    if grid is None:
        return fixed
    seen = _kept(_GRIDS, grid, key, lambda: grid_segments(grid, x, y, radius, parameters.occupied, limit))
    return np.concatenate((fixed, seen))


Owner = TypeVar("Owner")


def _kept(
    kept: WeakKeyDictionary[Owner, tuple[tuple[float, ...], FloatArray]],
    owner: Owner,
    key: tuple[float, ...],
    compute: Callable[[], FloatArray],
) -> FloatArray:
    last = kept.get(owner)
    if last is None or last[0] != key:
        last = kept[owner] = (key, compute())
    return last[1]
