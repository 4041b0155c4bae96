"""Segments binned in square cells, and how far the car can go among them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inner, kernel
from tuling_fsm.planning.free_space.sweep import STRAIGHT, Body, Sweep, advance, contact, length_of, make_sweep, touches

IntArray = npt.NDArray[np.int64]

CHUNK = 4.0
"""Length (m) of a sweep that is looked up in the bins at once."""
CELL = 2.0
"""Edge of a cell, m."""


class Walls(NamedTuple):
    """Segments (M, 4) = x0, y0, x1, y1 (m); `member[first[k]:first[k + 1]]` are those that cross cell k = row * nx +
    column.

    `mark` (M,) and `tick` (1,) tell which segments were met in the present query; `near` (M, 4) holds what a query
    found.
    """

    segments: FloatArray
    first: IntArray
    member: IntArray
    mark: IntArray
    tick: IntArray
    near: FloatArray
    x0: float
    y0: float
    nx: int
    ny: int


@inner
def _columns(segment: FloatArray, row: int, x0: float, y0: float, nx: int) -> tuple[int, int]:
    """First and last column of the cells of a row that a segment crosses."""
    ax, ay = (segment[0] - x0) / CELL, (segment[1] - y0) / CELL
    bx, by = (segment[2] - x0) / CELL, (segment[3] - y0) / CELL
    xa, xb = ax, bx
    if ay != by:
        u, v = (row - ay) / (by - ay), (row + 1 - ay) / (by - ay)
        xa = ax + (bx - ax) * min(1.0, max(0.0, u))
        xb = ax + (bx - ax) * min(1.0, max(0.0, v))
    return max(0, math.floor(min(xa, xb) - 1e-9)), min(nx - 1, math.floor(max(xa, xb) + 1e-9))


@inner
def _rows(segment: FloatArray, y0: float, ny: int) -> tuple[int, int]:
    """First and last row of the cells that a segment crosses."""
    lo, hi = min(segment[1], segment[3]), max(segment[1], segment[3])
    return max(0, math.floor((lo - y0) / CELL - 1e-9)), min(ny - 1, math.floor((hi - y0) / CELL + 1e-9))


@njit(cache=True, error_model="numpy")
def bin_segments(segments: FloatArray, x0: float, y0: float, x1: float, y1: float) -> Walls:
    """Bins what lies in the box (x0, y0) to (x1, y1); what lies outside it is met by no query."""
    nx, ny = max(1, math.ceil((x1 - x0) / CELL)), max(1, math.ceil((y1 - y0) / CELL))
    first = np.zeros(nx * ny + 1, np.int64)
    for m in range(len(segments)):
        j0, j1 = _rows(segments[m], y0, ny)
        for j in range(j0, j1 + 1):
            i0, i1 = _columns(segments[m], j, x0, y0, nx)
            for i in range(i0, i1 + 1):
                first[j * nx + i] += 1
    for k in range(1, nx * ny + 1):
        first[k] += first[k - 1]
    member = np.zeros(first[nx * ny], np.int64)
    for m in range(len(segments)):
        j0, j1 = _rows(segments[m], y0, ny)
        for j in range(j0, j1 + 1):
            i0, i1 = _columns(segments[m], j, x0, y0, nx)
            for i in range(i0, i1 + 1):
                first[j * nx + i] -= 1
                member[first[j * nx + i]] = m
    mark, tick = np.zeros(len(segments), np.int64), np.zeros(1, np.int64)
    return Walls(segments, first, member, mark, tick, np.empty((len(segments), 4)), x0, y0, nx, ny)


@kernel
def gather(walls: Walls, x: float, y: float, heading: float, xa: float, ya: float, xb: float, yb: float) -> int:
    """Writes segments near the box (xa, ya) to (xb, yb) to `near`, in the frame of the pose; their number."""
    walls.tick[0] += 1
    tick, n = walls.tick[0], 0
    c, s = elementary.cos(heading), elementary.sin(heading)
    i0 = max(0, math.floor((xa - walls.x0) / CELL))
    i1 = min(walls.nx - 1, math.floor((xb - walls.x0) / CELL))
    j0 = max(0, math.floor((ya - walls.y0) / CELL))
    j1 = min(walls.ny - 1, math.floor((yb - walls.y0) / CELL))
    if i1 < i0:
        return 0
    for j in range(j0, j1 + 1):
        for k in range(walls.first[j * walls.nx + i0], walls.first[j * walls.nx + i1 + 1]):
            m = walls.member[k]
            if walls.mark[m] == tick:
                continue
            walls.mark[m] = tick
            x0, y0, x1, y1 = walls.segments[m, 0], walls.segments[m, 1], walls.segments[m, 2], walls.segments[m, 3]
            if max(x0, x1) < xa or min(x0, x1) > xb or max(y0, y1) < ya or min(y0, y1) > yb:
                continue
            walls.near[n, 0] = c * (x0 - x) + s * (y0 - y)
            walls.near[n, 1] = c * (y0 - y) - s * (x0 - x)
            walls.near[n, 2] = c * (x1 - x) + s * (y1 - y)
            walls.near[n, 3] = c * (y1 - y) - s * (x1 - x)
            n += 1
    return n


@kernel
def gather_round(walls: Walls, body: Body, x: float, y: float, heading: float, reach: float) -> int:
    """`gather` of all that the car can touch within `reach` (m) of travel."""
    middle = 0.5 * (body.front - body.rear)
    r = elementary.hypot(0.5 * (body.front + body.rear), body.half) + reach
    cx, cy = x + middle * elementary.cos(heading), y + middle * elementary.sin(heading)
    count: int = gather(walls, x, y, heading, cx - r, cy - r, cx + r, cy + r)
    return count


@kernel
def occupied(walls: Walls, body: Body, x: float, y: float, heading: float) -> bool:
    """Whether the rectangle at the pose touches a segment."""
    hit = False
    for i in range(gather_round(walls, body, x, y, heading, 0.0)):
        hit = hit or touches(walls.near[i, 0], walls.near[i, 1], walls.near[i, 2], walls.near[i, 3], body)
    return hit


@kernel
def free_of_near(walls: Walls, n: int, sweep: Sweep) -> float:
    """Length (m) of a motion that the first `n` of `near` leave free."""
    free = sweep.limit
    for i in range(n):
        free = contact(walls.near[i, 0], walls.near[i, 1], walls.near[i, 2], walls.near[i, 3], sweep, free)
        if free <= 0.0:
            return 0.0
    return length_of(sweep, free)


@kernel
def free_length(
    walls: Walls, body: Body, x: float, y: float, heading: float, curvature: float, gear: int, limit: float
) -> float:
    """Length (m) that the car can go with one steering and gear before it touches anything; at most `limit`."""
    chunk = CHUNK if abs(curvature) < STRAIGHT else min(CHUNK, 1.4 / abs(curvature))
    middle = 0.5 * (body.front - body.rear)
    r = elementary.hypot(0.5 * (body.front + body.rear), body.half)
    chunks = max(1, math.ceil(limit / chunk))
    step = limit / chunks
    sweep = make_sweep(curvature, gear, body, step)
    grown = r + 0.125 * abs(curvature) * step * step * (1.0 + abs(curvature * middle))
    for i in range(chunks):
        xe, ye, he = advance(x, y, heading, curvature, gear * step)
        cx, cy = x + middle * elementary.cos(heading), y + middle * elementary.sin(heading)
        ex, ey = xe + middle * elementary.cos(he), ye + middle * elementary.sin(he)
        n = gather(
            walls, x, y, heading, min(cx, ex) - grown, min(cy, ey) - grown, max(cx, ex) + grown, max(cy, ey) + grown
        )
        free: float = free_of_near(walls, n, sweep)
        if free < step * (1.0 - 1e-12):
            return i * step + free
        x, y, heading = xe, ye, he
    return limit
