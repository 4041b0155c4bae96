"""Solid edges near the car, from the occupancy grid and from the map."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.outlines import grid_segments
from tuling_fsm.world.parameters import WorldParameters

_CELL_M = 5.0


def _nearest(segments: FloatArray, x: float, y: float, limit: int) -> FloatArray:
    """The `limit` segments whose middle is nearest to a point, in their own order."""
    if len(segments) <= limit:
        return segments
    middle = 0.5 * (segments[:, :2] + segments[:, 2:])
    distance = elementwise.hypot(middle[:, 0] - x, middle[:, 1] - y)
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
