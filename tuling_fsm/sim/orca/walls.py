"""Static obstacles: polygons as a ring of vertices each, with their edges sorted into cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.orca.crowd import IntArray

CELL_M = 8.0
MAX_CELLS_A_SIDE = 256


class Walls(NamedTuple):
    """E vertices, arrays (E,): place (m), unit direction of the edge to the `next` one, whether the corner is convex,
    and neighbours in the ring. The edges of cell `c` (row * columns + column) are `item[start[c] : start[c + 1]]`.
    """

    x: FloatArray
    y: FloatArray
    along_x: FloatArray
    along_y: FloatArray
    convex: npt.NDArray[np.bool_]
    next: IntArray
    previous: IntArray
    x0: float
    y0: float
    cell: float
    columns: int
    rows: int
    start: IntArray
    item: IntArray


def build_walls(polygons: Sequence[npt.ArrayLike]) -> Walls:
    """Obstacles from polygons (K, 2) in m, counterclockwise: the outside is what is avoided. Clockwise ones are fences
    around a space; two points are a wall with two sides.

    Raises:
        InputError: fewer than two points, or an edge without length.
    """
    rings = [np.asarray(polygon, dtype=np.float64).reshape(-1, 2) for polygon in polygons]
    following: list[int] = []
    before: list[int] = []
    for number, ring in enumerate(rings):
        if len(ring) < 2 or not np.isfinite(ring).all():
            raise InputError(f"orca.walls[{number}]", f"{len(ring)} points or not finite", "two finite points or more")
        first = len(following)
        ids = np.arange(first, first + len(ring))
        following += np.roll(ids, -1).tolist()
        before += np.roll(ids, 1).tolist()
    xy = np.vstack(rings) if rings else np.zeros((0, 2))
    after, previous = np.array(following, dtype=np.int32), np.array(before, dtype=np.int32)
    edge = xy[after] - xy
    length = np.hypot(edge[:, 0], edge[:, 1])
    if not np.all(length > 0.0):
        raise InputError("orca.walls", "two points in a row are the same", "edges with a length")
    along = edge / length[:, None]
    into = xy - xy[previous]
    convex = (into[:, 0] * edge[:, 1] - into[:, 1] * edge[:, 0] >= 0.0) | (after == previous)
    x, y = np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
    cells = _cells(x, y, after)
    return Walls(
        x, y, np.ascontiguousarray(along[:, 0]), np.ascontiguousarray(along[:, 1]), convex, after, previous, *cells
    )  # fmt: skip


NO_WALLS_CELLS = (0.0, 0.0, CELL_M, 1, 1, np.zeros(2, np.int32), np.zeros(0, np.int32))


def _cells(
    x: FloatArray, y: FloatArray, after: IntArray
) -> tuple[float, float, float, int, int, IntArray, IntArray]:  # fmt: skip
    """Every edge in all cells that its bounding box touches."""
    if len(x) == 0:
        return NO_WALLS_CELLS
    x0, y0, x1, y1 = float(x.min()), float(y.min()), float(x.max()), float(y.max())
    cell = max(CELL_M, max(x1 - x0, y1 - y0) / (MAX_CELLS_A_SIDE - 1))
    columns, rows = int((x1 - x0) / cell) + 1, int((y1 - y0) / cell) + 1
    low_c, low_r = ((np.minimum(a, a[after]) - a0) / cell for a, a0 in ((x, x0), (y, y0)))
    high_c, high_r = ((np.maximum(a, a[after]) - a0) / cell for a, a0 in ((x, x0), (y, y0)))
    start, item = _sort(
        low_c.astype(np.int32), high_c.astype(np.int32), low_r.astype(np.int32), high_r.astype(np.int32), columns, rows
    )
    return x0, y0, cell, columns, rows, start, item


@njit(cache=True)
def _sort(
    low_c: IntArray, high_c: IntArray, low_r: IntArray, high_r: IntArray, columns: int, rows: int
) -> tuple[IntArray, IntArray]:
    start = np.zeros(columns * rows + 1, np.int32)
    for e in range(len(low_c)):
        for row in range(low_r[e], high_r[e] + 1):
            for column in range(low_c[e], high_c[e] + 1):
                start[row * columns + column + 1] += 1
    for c in range(columns * rows):
        start[c + 1] += start[c]
    filled = start[:-1].copy()
    item = np.empty(start[-1], np.int32)
    for e in range(len(low_c)):
        for row in range(low_r[e], high_r[e] + 1):
            for column in range(low_c[e], high_c[e] + 1):
                c = row * columns + column
                item[filled[c]] = e
                filled[c] += 1
    return start, item


@kernel
def edge_distance_sq(walls: Walls, e: int, x: float, y: float) -> float:
    """Squared distance from a point to an edge, m^2."""
    ax, ay = walls.x[e], walls.y[e]
    bx, by = walls.x[walls.next[e]], walls.y[walls.next[e]]
    ex, ey, px, py = bx - ax, by - ay, x - ax, y - ay
    r = min(max((px * ex + py * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    return float((px - r * ex) ** 2 + (py - r * ey) ** 2)


@kernel
def near_edges(
    walls: Walls, x: float, y: float, reach: float, seen: IntArray, stamp: int, found: IntArray, apart: FloatArray
) -> int:
    """Edges that face a point and are nearer than `reach` (m), nearest first, into `found` with their squared distance
    in `apart`. `seen` (E,) holds stamps of earlier searches. Returns their number.
    """
    count = 0
    first_row = max(math.floor((y - reach - walls.y0) / walls.cell), 0)
    last_row = min(math.floor((y + reach - walls.y0) / walls.cell), walls.rows - 1)
    first_column = max(math.floor((x - reach - walls.x0) / walls.cell), 0)
    last_column = min(math.floor((x + reach - walls.x0) / walls.cell), walls.columns - 1)
    for row in range(first_row, last_row + 1):
        for column in range(first_column, last_column + 1):
            c = row * walls.columns + column
            for place in range(walls.start[c], walls.start[c + 1]):
                e = walls.item[place]
                if seen[e] == stamp:
                    continue
                seen[e] = stamp
                faces = (walls.x[e] - x) * walls.along_y[e] - (walls.y[e] - y) * walls.along_x[e]
                if faces >= 0.0:
                    continue
                distance = edge_distance_sq(walls, e, x, y)
                if distance >= reach * reach:
                    continue
                k = count
                while k > 0 and (distance < apart[k - 1] or (distance == apart[k - 1] and e < found[k - 1])):
                    found[k], apart[k] = found[k - 1], apart[k - 1]
                    k -= 1
                found[k], apart[k] = e, distance
                count += 1
    return count
