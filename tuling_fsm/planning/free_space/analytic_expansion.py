"""Analytic shots: the cheapest word from a pose to another that the car can drive."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.free_space.collision import (
    SWEEP_COLUMNS,
    InflatedFootprint,
    SegmentGrid,
    advance,
    free_length,
    free_of_near,
    gather_round,
    load_sweep,
    make_sweep,
    store_sweep,
)
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, cost_of, words


class SearchArea(NamedTuple):
    """Box x0 to x1, y0 to y1 (m) that the rear axle may not leave, along (ux, uy) and (vx, vy) of the local frame."""

    ux: float
    uy: float
    vx: float
    vy: float
    x0: float
    y0: float
    x1: float
    y1: float


class SearchCosts(NamedTuple):
    """Full curvature (1/m), cost of a gear change (m), weight of the estimate, reach (m), the only gear (0: both)."""

    curvature: float
    gear_cost: float
    greed: float
    reach: float
    only: int


class WordEnds(NamedTuple):
    """Gears before and after a word (0: none), and free lengths (6,) of the moves at both ends, see `ranges`."""

    gear: int
    free: FloatArray
    target_gear: int
    target_free: FloatArray


@kernel
def inside(area: SearchArea, x: float, y: float) -> bool:
    """Whether the point is in the area."""
    u, v = area.ux * x + area.uy * y, area.vx * x + area.vy * y
    return area.x0 <= u <= area.x1 and area.y0 <= v <= area.y1


@kernel
def bounds(area: SearchArea) -> tuple[float, float, float, float]:
    """The box x0, y0, x1, y1 (m) of the local frame around the area."""
    x0, y0, x1, y1 = np.inf, np.inf, -np.inf, -np.inf
    for u in (area.x0, area.x1):
        for v in (area.y0, area.y1):
            x, y = area.ux * u + area.vx * v, area.uy * u + area.vy * v
            x0, y0, x1, y1 = min(x0, x), min(y0, y), max(x1, x), max(y1, y)
    return x0, y0, x1, y1


@array_kernel
def all_moves(body: InflatedFootprint, curvature: float, reach: float) -> FloatArray:
    """The moves of a length, rows of `store_sweep`: forward left, straight, right, then in reverse."""
    moves = np.empty((6, SWEEP_COLUMNS))
    for m in range(6):
        store_sweep(make_sweep(curvature * (1 - m % 3), 1 - 2 * (m // 3), body, reach), moves[m])
    return moves


@kernel
def ranges(
    walls: SegmentGrid, body: InflatedFootprint, moves: FloatArray, pose: FloatArray, reach: float, out: FloatArray
) -> None:
    """Free lengths (6,) of `moves` (m) from a pose; at most `reach`."""
    n = gather_round(walls, body, pose[0], pose[1], pose[2], reach)
    for m in range(6):
        free = free_of_near(walls, n, load_sweep(moves[m]))
        out[m] = reach if free > reach - 1e-9 else free


@kernel
def word_is_free(
    walls: SegmentGrid,
    body: InflatedFootprint,
    area: SearchArea,
    pose: FloatArray,
    lengths: FloatArray,
    turns: FloatArray,
    curvature: float,
) -> bool:
    """Whether the car can drive a word (lengths in m, turns in shares of the curvature) from a pose."""
    x, y, h = pose[0], pose[1], pose[2]
    for i in range(PIECES):
        length = abs(lengths[i])
        if length <= TINY:
            continue
        gear = 1 if lengths[i] > 0.0 else -1
        k = curvature * turns[i]
        if free_length(walls, body, x, y, h, curvature=k, gear=gear, limit=length) < length:
            return False
        x, y, h = advance(x, y, h, k, lengths[i])
        if not inside(area, x, y):
            return False
    return True


@kernel
def _fits(lengths: FloatArray, steers: FloatArray, ends: WordEnds, rules: SearchCosts) -> bool:
    """Whether the first and the last piece fit the free lengths at their ends, and all gears are allowed."""
    first, last = -1, -1
    for i in range(PIECES):
        if abs(lengths[i]) > TINY:
            if lengths[i] * rules.only < 0.0:
                return False
            first = i if first < 0 else first
            last = i
    if last < 0:
        return True
    a = 3 * int(lengths[first] < 0.0) + 1 - int(steers[first])
    b = 3 * int(lengths[last] > 0.0) + 1 - int(steers[last])
    blocked_first = ends.free[a] < min(abs(lengths[first]), rules.reach)
    return not blocked_first and ends.target_free[b] >= min(abs(lengths[last]), rules.reach)


@kernel
def expand_analytically(
    walls: SegmentGrid,
    body: InflatedFootprint,
    area: SearchArea,
    rules: SearchCosts,
    pose: FloatArray,
    target: FloatArray,
    ends: WordEnds,
    bound: float,
    buffers: tuple[FloatArray, FloatArray, FloatArray],
) -> int:
    """Row of `buffers` (lengths in m, steers, cost) with the cheapest free word to the target below `bound`, or -1."""
    lengths, steers, cost = buffers
    dx, dy = target[0] - pose[0], target[1] - pose[1]
    s, c = elementary.sin_cos(pose[2])
    k = rules.curvature
    found = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, target[2] - pose[2], lengths, steers, bound * k)
    for w in range(found):
        cost[w] = cost_of(lengths[w], 1.0 / k, ends.gear, ends.target_gear, rules.gear_cost)
        for i in range(PIECES):
            lengths[w, i] /= k
        if cost[w] < bound and not _fits(lengths[w], steers[w], ends, rules):
            cost[w] = np.inf
    while True:
        best = -1
        for w in range(found):
            if cost[w] < bound and (best < 0 or cost[w] < cost[best]):
                best = w
        if best < 0 or word_is_free(walls, body, area, pose, lengths[best], steers[best], k):
            return best
        cost[best] = np.inf
