"""Estimates of the rest of the way: Reeds-Shepp costs without obstacles from a table, distances round them from a grid.

The grid is filled by Dial's shortest paths with steps of 10 straight and 14 diagonal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS, cost_of, words

CELL = 0.5
"""Edge of a cell, m."""
FAR = 1 << 30
STRAIGHT, DIAGONAL = 10, 14
BUCKETS = 16


class Table(NamedTuple):
    """Cost (m) of the cheapest word to a relative pose: by |x| and |y| in `step`s (m), and heading round the circle."""

    cost: FloatArray
    step: float


class Guide(NamedTuple):
    """Distance of each cell of a grid with corner (x0, y0) to the target, in tenths of a cell; empty: not made."""

    distance: npt.NDArray[np.int64]
    x0: float
    y0: float


@njit(cache=True, error_model="numpy")
def no_guide() -> Guide:
    """A guide that knows nothing."""
    return Guide(np.zeros((0, 0), np.int64), 0.0, 0.0)


@njit(cache=True, error_model="numpy")
def guide_cost(guide: Guide, x: float, y: float) -> float:
    """Lower bound (m) of the way from a point to the target; infinite where there is none."""
    ny, nx = guide.distance.shape
    i, j = math.floor((x - guide.x0) / CELL), math.floor((y - guide.y0) / CELL)
    if i < 0 or j < 0 or i >= nx or j >= ny:
        return 0.0
    d = guide.distance[j, i]
    return np.inf if d >= FAR else 0.92 * CELL / STRAIGHT * max(0, d - DIAGONAL)


@njit(cache=True, error_model="numpy")
def _block(distance: npt.NDArray[np.int64], segment: FloatArray, x0: float, y0: float, radius: float) -> None:
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


@njit(cache=True, error_model="numpy")
def _spread(distance: npt.NDArray[np.int64], bucket: npt.NDArray[np.int64], held: npt.NDArray[np.int64]) -> None:
    """Settles all cells that can be reached from those in the buckets, nearest first."""
    ny, nx = distance.shape
    now, idle = 0, 0
    while idle < BUCKETS:
        b = now % BUCKETS
        idle = idle + 1 if held[b] == 0 else 0
        while held[b] > 0:
            held[b] -= 1
            j, i = bucket[b, held[b]] // nx, bucket[b, held[b]] % nx
            if distance[j, i] != now:
                continue
            for q in range(max(0, j - 1), min(ny, j + 2)):
                for p in range(max(0, i - 1), min(nx, i + 2)):
                    d = now + (STRAIGHT if p == i or q == j else DIAGONAL)
                    c = d % BUCKETS
                    if distance[q, p] > d and held[c] < bucket.shape[1]:
                        distance[q, p] = d
                        bucket[c, held[c]] = q * nx + p
                        held[c] += 1
        now += 1


@njit(cache=True, error_model="numpy")
def build_guide(
    segments: FloatArray, x0: float, y0: float, x1: float, y1: float, radius: float, targets: FloatArray
) -> Guide:
    """Distances of all cells of the box to the nearest target, for a disc about the rear axle inside the car."""
    nx, ny = max(1, math.ceil((x1 - x0) / CELL)), max(1, math.ceil((y1 - y0) / CELL))
    distance = np.empty((ny, nx), np.int64)
    for j in range(ny):
        for i in range(nx):
            distance[j, i] = FAR
    for m in range(len(segments)):
        _block(distance, segments[m], x0, y0, radius - 0.708 * CELL)
    bucket = np.empty((BUCKETS, 4 * (nx + ny) + 64), np.int64)
    held = np.zeros(BUCKETS, np.int64)
    for t in range(len(targets)):
        i = min(nx - 1, max(0, math.floor((targets[t, 0] - x0) / CELL)))
        j = min(ny - 1, max(0, math.floor((targets[t, 1] - y0) / CELL)))
        if distance[j, i] != 0:
            distance[j, i] = 0
            bucket[0, held[0]] = j * nx + i
            held[0] += 1
    _spread(distance, bucket, held)
    return Guide(distance, x0, y0)


@njit(cache=True, error_model="numpy")
def build_table(radius: float, gear_cost: float, size: float, step: float, headings: int) -> FloatArray:
    """Cost of the cheapest word to each pose, x and y from 0 to `size` (m) in `step`s, `headings` round the circle."""
    n = round(size / step) + 1
    cost = np.empty((n, n, headings))
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES), np.int8)
    for i in range(n):
        for j in range(n):
            for k in range(headings):
                phi = 2.0 * math.pi * k / headings
                best = np.inf
                for w in range(words(i * step / radius, j * step / radius, phi, lengths, steers)):
                    best = min(best, cost_of(lengths[w], radius, 0, 0, gear_cost))
                cost[i, j, k] = best
    return cost


@njit(cache=True, error_model="numpy")
def table_cost(table: Table, x: float, y: float, phi: float) -> float:
    """Cost to the pose from the nearest entry; beyond the table the missing distance is added."""
    if x < 0.0:
        x, phi = -x, -phi
    if y < 0.0:
        y, phi = -y, -phi
    n, _, m = table.cost.shape
    size = (n - 1) * table.step
    over = math.hypot(max(0.0, x - size), max(0.0, y - size))
    i, j = min(n - 1, int(x / table.step + 0.5)), min(n - 1, int(y / table.step + 0.5))
    k = math.floor(phi * m / (2.0 * math.pi) + 0.5) % m
    cost: float = table.cost[i, j, k]
    return cost + over
