"""Estimates of the rest of the way: Reeds-Shepp costs without obstacles from a table, distances round them from a grid.

The grid is filled by Dial's shortest paths with steps of 10 straight and 14 diagonal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS, cost_of, words

CELL = 0.5
"""Edge of a cell, m."""
FAR = 1 << 30
STRAIGHT, DIAGONAL = 10, 14
BUCKETS = 16
BEYOND = 100
"""How far (tenths of a cell) distances are known beyond what leads round one half longer."""


class ReedsSheppTable(NamedTuple):
    """Cost (m) of the cheapest word to a relative pose: by |x| and |y| in `step`s (m), and heading round the circle."""

    cost: FloatArray
    step: float


class ObstacleHeuristic(NamedTuple):
    """Distance of each cell of a grid with corner (x0, y0) to the target, in tenths of a cell; empty: not made.

    Cells without a distance are at least `horizon` away.
    """

    distance: IntArray
    x0: float
    y0: float
    horizon: int


@array_kernel
def no_obstacle_heuristic() -> ObstacleHeuristic:
    """A guide that knows nothing."""
    return ObstacleHeuristic(np.zeros((0, 0), np.int64), 0.0, 0.0, 0)


@kernel
def obstacle_heuristic(guide: ObstacleHeuristic, x: float, y: float) -> float:
    """Lower bound (m) of the way from a point to the target; infinite where there is none."""
    ny, nx = guide.distance.shape
    i, j = math.floor((x - guide.x0) / CELL), math.floor((y - guide.y0) / CELL)
    if i < 0 or j < 0 or i >= nx or j >= ny:
        return 0.0
    d = min(guide.distance[j, i], guide.horizon)
    return np.inf if d >= FAR else 0.92 * CELL / STRAIGHT * max(0, d - DIAGONAL)


@kernel
def _block(distance: IntArray, segment: FloatArray, x0: float, y0: float, radius: float) -> None:
    """Marks (-1) the cells whose centres are nearer than `radius` to a segment."""
    ny, nx = distance.shape
    ax, ay, bx, by = segment[0] - x0, segment[1] - y0, segment[2] - x0, segment[3] - y0
    if ay > by:
        ax, ay, bx, by = bx, by, ax, ay
    dx, dy = bx - ax, by - ay
    length2 = max(dx * dx + dy * dy, 1e-12)
    for j in range(max(0, math.floor((ay - radius) / CELL)), min(ny - 1, math.floor((by + radius) / CELL)) + 1):
        cy = (j + 0.5) * CELL
        lo, hi = min(ax, bx), max(ax, bx)
        if dy > 1e-9:
            u = min(1.0, max(0.0, (cy - CELL - radius - ay) / dy))
            v = min(1.0, max(0.0, (cy + CELL + radius - ay) / dy))
            lo, hi = min(ax + u * dx, ax + v * dx), max(ax + u * dx, ax + v * dx)
        for i in range(max(0, math.floor((lo - radius) / CELL)), min(nx - 1, math.floor((hi + radius) / CELL)) + 1):
            px, py = (i + 0.5) * CELL - ax, cy - ay
            t = min(1.0, max(0.0, (px * dx + py * dy) / length2))
            ex, ey = px - t * dx, py - t * dy
            if ex * ex + ey * ey < radius * radius:
                distance[j, i] = -1


@kernel
def _settle(now: int, j: int, i: int, distance: IntArray, bucket: IntArray, held: IntArray) -> None:
    """Puts the neighbours of a cell at distance `now` into the buckets where that is a shorter way."""
    ny, nx = distance.shape
    for q in range(max(0, j - 1), min(ny, j + 2)):
        for p in range(max(0, i - 1), min(nx, i + 2)):
            d = now + (STRAIGHT if p == i or q == j else DIAGONAL)
            c = d % BUCKETS
            if distance[q, p] > d and held[c] < bucket.shape[1]:
                distance[q, p] = d
                bucket[c, held[c]] = q * nx + p
                held[c] += 1


@kernel
def _spread(distance: IntArray, bucket: IntArray, held: IntArray, roots: IntArray) -> int:
    """Settles the cells that can be reached from those in the buckets, nearest first; the distance that all other cells
    have at least.

    It stops some way beyond the last of the `roots` (R, 2).
    """
    nx, now, idle, last, r = distance.shape[1], 0, 0, FAR, 0
    while idle < BUCKETS and now < last:
        b = now % BUCKETS
        idle = idle + 1 if held[b] == 0 else 0
        while held[b] > 0:
            held[b] -= 1
            j, i = bucket[b, held[b]] // nx, bucket[b, held[b]] % nx
            if distance[j, i] == now:
                _settle(now, j, i, distance, bucket, held)
        while r < len(roots) and distance[roots[r, 0], roots[r, 1]] <= now:
            r += 1
            last = now + now // 2 + BEYOND if r == len(roots) else FAR
        now += 1
    return FAR if idle == BUCKETS else now


@array_kernel
def _cells(points: FloatArray, x0: float, y0: float, nx: int, ny: int) -> IntArray:
    """Row and column of the cell of each point, or the nearest one."""
    cells = np.empty((len(points), 2), np.int64)
    for t in range(len(points)):
        cells[t, 0] = min(ny - 1, max(0, math.floor((points[t, 1] - y0) / CELL)))
        cells[t, 1] = min(nx - 1, max(0, math.floor((points[t, 0] - x0) / CELL)))
    return cells


@array_kernel
def build_obstacle_heuristic(
    segments: FloatArray, box: tuple[float, float, float, float], radius: float, targets: FloatArray, roots: FloatArray
) -> ObstacleHeuristic:
    """Distances of the cells of a box (x0, y0, x1, y1) to the nearest target, for a disc about the rear axle inside the
    car; no farther than what is worth knowing on the way from the roots.
    """
    x0, y0, x1, y1 = box
    nx, ny = max(1, math.ceil((x1 - x0) / CELL)), max(1, math.ceil((y1 - y0) / CELL))
    distance = np.full((ny, nx), FAR)
    for m in range(len(segments)):
        _block(distance, segments[m], x0, y0, radius - 0.708 * CELL)
    bucket, held = np.empty((BUCKETS, 4 * (nx + ny) + 64), np.int64), np.zeros(BUCKETS, np.int64)
    ends = _cells(targets, x0, y0, nx, ny)
    for t in range(len(ends)):
        j, i = ends[t]
        if distance[j, i] != 0:
            distance[j, i] = 0
            bucket[0, held[0]] = j * nx + i
            held[0] += 1
    horizon = _spread(distance, bucket, held, _cells(roots, x0, y0, nx, ny))
    return ObstacleHeuristic(distance, x0, y0, horizon)


@array_kernel
def build_reeds_shepp_table(radius: float, gear_cost: float, size: float, step: float, headings: int) -> FloatArray:
    """Cost of the cheapest word to each pose, x and y from 0 to `size` (m) in `step`s, `headings` round the circle."""
    n = round(size / step) + 1
    cost = np.empty((n, n, headings))
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))
    for i in range(n):
        for j in range(n):
            for k in range(headings):
                phi = 2.0 * math.pi * k / headings
                best = np.inf
                for w in range(words(i * step / radius, j * step / radius, phi, lengths, steers)):
                    best = min(best, cost_of(lengths[w], radius, 0, 0, gear_cost))
                cost[i, j, k] = best
    return cost


@kernel
def reeds_shepp_heuristic(table: ReedsSheppTable, x: float, y: float, phi: float) -> float:
    """Cost to the pose from the nearest entry; beyond the table the missing distance is added."""
    if x < 0.0:
        x, phi = -x, -phi
    if y < 0.0:
        y, phi = -y, -phi
    n, _, m = table.cost.shape
    size = (n - 1) * table.step
    over = elementary.hypot(max(0.0, x - size), max(0.0, y - size))
    i, j = min(n - 1, int(x / table.step + 0.5)), min(n - 1, int(y / table.step + 0.5))
    k = math.floor(phi * m / (2.0 * math.pi) + 0.5) % m
    cost: float = table.cost[i, j, k]
    return cost + over
