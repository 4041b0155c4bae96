"""Static obstacles: polygons as a ring of vertices each, with their edges sorted into cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, Int32Array
from tuling_fsm.core.cells import boxes_by_cell
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.kernels import array_kernel, inlined_kernel

CELL_M = 8.0
MAX_CELLS_A_SIDE = 256


class ObstacleEdges(NamedTuple):
    """E vertices, arrays (E,): place (m), unit direction of the edge to the `next` one, whether the corner is convex,
    and neighbours in the ring. The edges of cell `c` (row * columns + column) are `item[start[c] : start[c + 1]]`.
    """

    x: FloatArray
    y: FloatArray
    along_x: FloatArray
    along_y: FloatArray
    convex: BoolArray
    next: Int32Array
    previous: Int32Array
    x0: float
    y0: float
    cell: float
    columns: int
    rows: int
    start: Int32Array
    item: Int32Array


def build_walls(polygons: Sequence[npt.ArrayLike]) -> ObstacleEdges:
    """Obstacles from polygons (K, 2) in m, counterclockwise: the outside is what is avoided. Clockwise ones are fences
    around a space; two points are a wall with two sides.

    Raises:
        InputError: fewer than two points, or an edge without length.
    """
    rings = [np.asarray(polygon, dtype=np.float64).reshape(-1, 2) for polygon in polygons]
    for number, ring in enumerate(rings):
        if len(ring) < 2 or not np.isfinite(ring).all():
            raise InputError(f"orca.walls[{number}]", f"{len(ring)} points or not finite", "two finite points or more")
    if not rings:
        return NO_WALLS
    xy = np.concatenate(rings)
    x, y = np.ascontiguousarray(xy[:, 0]), np.ascontiguousarray(xy[:, 1])
    along_x, along_y, convex, after, previous = _edges(x, y, np.array([len(ring) for ring in rings]))
    if not np.isfinite(along_x).all():
        raise InputError("orca.walls", "two points in a row are the same", "edges with a length")
    x0, y0, x1, y1 = float(x.min()), float(y.min()), float(x.max()), float(y.max())
    cell = max(CELL_M, max(x1 - x0, y1 - y0) / (MAX_CELLS_A_SIDE - 1))
    columns, rows = int((x1 - x0) / cell) + 1, int((y1 - y0) / cell) + 1
    corners = np.column_stack(((x - x0) / cell, (y - y0) / cell))
    low, high = (side(corners, corners[after]).astype(np.int32) for side in (np.minimum, np.maximum))
    start, item = boxes_by_cell(low, high, columns, rows)
    return ObstacleEdges(
        x=x, y=y, along_x=along_x, along_y=along_y, convex=convex, next=after, previous=previous,
        x0=x0, y0=y0, cell=cell, columns=columns, rows=rows, start=start, item=item,
    )  # fmt: skip


_NO_FLOATS, _NO_INTS = np.zeros(0), np.zeros(0, np.int32)
NO_WALLS = ObstacleEdges(
    x=_NO_FLOATS, y=_NO_FLOATS, along_x=_NO_FLOATS, along_y=_NO_FLOATS, convex=np.zeros(0, np.bool_), next=_NO_INTS,
    previous=_NO_INTS, x0=0.0, y0=0.0, cell=CELL_M, columns=1, rows=1, start=np.zeros(2, np.int32), item=_NO_INTS,
)  # fmt: skip


class EdgeSearch(NamedTuple):
    """Room for a search: edges that were found with their squared distances (m^2), and for every edge the stamp of the
    search that has seen it last.
    """

    found: Int32Array
    apart: FloatArray
    seen: Int32Array


@array_kernel
def _edges(
    x: FloatArray, y: FloatArray, sizes: Int32Array
) -> tuple[FloatArray, FloatArray, BoolArray, Int32Array, Int32Array]:
    """Of rings of so many points: unit direction of every edge (x, y, NaN without a length), whether its corner is
    convex, the next point and the one before.
    """
    n = len(x)
    along_x, along_y, convex = np.empty(n), np.empty(n), np.empty(n, np.bool_)
    after, previous = np.empty(n, np.int32), np.empty(n, np.int32)
    first = 0
    for size in sizes:
        for k in range(size):
            after[first + k], previous[first + k] = first + (k + 1) % size, first + (k - 1) % size
        first += size
    for e in range(n):
        ex, ey = x[after[e]] - x[e], y[after[e]] - y[e]
        length = elementary.hypot(ex, ey)
        along_x[e], along_y[e] = ex / length, ey / length
        into_x, into_y = x[e] - x[previous[e]], y[e] - y[previous[e]]
        convex[e] = into_x * ey - into_y * ex >= 0.0 or after[e] == previous[e]
    return along_x, along_y, convex, after, previous


@inlined_kernel
def edge_distance_sq(walls: ObstacleEdges, e: int, x: float, y: float) -> float:
    """Squared distance from a point to an edge, m^2."""
    ax, ay = walls.x[e], walls.y[e]
    bx, by = walls.x[walls.next[e]], walls.y[walls.next[e]]
    ex, ey, px, py = bx - ax, by - ay, x - ax, y - ay
    r = min(max((px * ex + py * ey) / (ex * ex + ey * ey), 0.0), 1.0)
    return float((px - r * ex) ** 2 + (py - r * ey) ** 2)


@inlined_kernel
def near_edges(walls: ObstacleEdges, x: float, y: float, reach: float, stamp: int, search: EdgeSearch) -> int:
    """Edges that face a point and are nearer than `reach` (m), nearest first, into `search`; `stamp` is that of no
    earlier search. Returns their number.
    """
    count, found, apart, seen = 0, search.found, search.apart, search.seen
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
