"""The boxes of all agents, sorted into a spatial grid, so that far ones are not looked at."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.cells import by_cell
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.sim.traffic.fleet import Fleet
from tuling_fsm.sim.traffic.lane_graph import Records

CELL_M = 24.0
CELLS_A_BODY = 4

BOX = np.dtype(
    [
        ("x", "f8"), ("y", "f8"), ("half_x", "f8"), ("half_y", "f8"), ("row", "i4"), ("person", "?"),
        ("when", "f8"), ("z", "f8"), ("v", "f8"), ("heading", "f8"), ("cos", "f8"), ("sin", "f8"), ("length", "f8"),
        ("width", "f8"), ("id", "i8"),
    ],
    align=True,
)  # fmt: skip
"""A body: first what decides whether it may matter to a vehicle: its centre, half the size of the rectangle around it
along the axes of the map, its row of the fleet, or -1, and whether it is a person; then `when` (s from now),
level z (m, NaN for unknown), speed along the heading (m/s), heading with its cosine and sine, size, its number (0 for
the ego).
"""


class SpatialGrid(NamedTuple):
    """Where bodies are in their table, which is in the order of square cells: those of cell `c` (row * columns +
    column) are rows `start[c]` to `start[c + 1]`, so that cells side by side in a row are one range.
    """

    x0: float
    y0: float
    cell: float
    columns: int
    rows: int
    start: Int32Array
    largest: float
    """Greatest half side of the rectangle around a body, m."""
    fastest: float
    """Greatest speed, m/s."""


class CellRange(NamedTuple):
    """The cells that a rectangle touches: columns and rows, from and to."""

    left: int
    right: int
    bottom: int
    top: int


@kernel
def cells(grid: SpatialGrid, x0: float, x1: float, y0: float, y1: float) -> CellRange:
    """The cells that may hold the centre of a body that touches a rectangle (m)."""
    return CellRange(
        max(int((x0 - grid.largest - grid.x0) / grid.cell), 0),
        min(int((x1 + grid.largest - grid.x0) / grid.cell), grid.columns - 1),
        max(int((y0 - grid.largest - grid.y0) / grid.cell), 0),
        min(int((y1 + grid.largest - grid.y0) / grid.cell), grid.rows - 1),
    )


@kernel
def _set_shape(boxes: Records, j: int) -> None:
    """What follows from heading and size."""
    s, c = elementary.sin_cos(boxes.heading[j])
    boxes.cos[j], boxes.sin[j] = c, s
    boxes.half_x[j] = 0.5 * (abs(c) * boxes.length[j] + abs(s) * boxes.width[j])
    boxes.half_y[j] = 0.5 * (abs(s) * boxes.length[j] + abs(c) * boxes.width[j])


@array_kernel
def gather_boxes(fleet: Fleet, ids: npt.NDArray[np.uint32], other_boxes: FloatArray, boxes: Records) -> int:
    """Fill `boxes` with all vehicles on the road and the boxes of other agents; returns how many they are.

    Args:
        fleet: the vehicles.
        ids: their numbers.
        other_boxes: (M, 10) as for `TrafficManager.step`.
        boxes: room for all of them.
    """
    car, count = fleet.car, 0
    for i in range(len(car)):
        if car.mode[i] == 0:
            continue
        j, count = count, count + 1
        boxes.x[j], boxes.y[j], boxes.z[j], boxes.heading[j] = car.x[i], car.y[i], car.z[i], car.heading[i]
        boxes.length[j], boxes.width[j], boxes.v[j] = car.length[i], car.width[i], car.v[i]
        boxes.when[j], boxes.row[j], boxes.id[j], boxes.person[j] = 0.0, i, ids[i], False
        _set_shape(boxes, j)
        car.cos[i], car.sin[i] = boxes.cos[j], boxes.sin[j]
    for k in range(len(other_boxes)):
        j, row, count = count, other_boxes[k], count + 1
        boxes.x[j], boxes.y[j], boxes.z[j], boxes.heading[j] = row[0], row[1], row[2], row[3]
        boxes.length[j], boxes.width[j], boxes.v[j], boxes.when[j] = row[4], row[5], row[6], row[7]
        boxes.row[j], boxes.id[j], boxes.person[j] = -1, int(row[8]), row[9] > 0.0
        _set_shape(boxes, j)
    return count


@array_kernel
def sort_into_cells(unsorted: Records, count: int, boxes: Records) -> SpatialGrid:
    """Copy the first `count` rows of `unsorted` to `boxes`, cell by cell."""
    if count == 0:
        return SpatialGrid(0.0, 0.0, CELL_M, 1, 1, np.zeros(2, np.int32), 0.0, 0.0)
    x0, y0, x1, y1, largest, fastest = np.inf, np.inf, -np.inf, -np.inf, 0.0, 0.0
    for j in range(count):
        x0, y0, x1, y1 = min(x0, unsorted.x[j]), min(y0, unsorted.y[j]), max(x1, unsorted.x[j]), max(y1, unsorted.y[j])
        largest, fastest = max(largest, unsorted.half_x[j], unsorted.half_y[j]), max(fastest, unsorted.v[j])
    across, along = x1 - x0, y1 - y0
    cell = max(CELL_M, max(across, along) / (CELLS_A_BODY * count), math.sqrt(across * along / (CELLS_A_BODY * count)))
    columns, rows = int(across / cell) + 1, int(along / cell) + 1
    place = np.empty(count, np.int32)
    for j in range(count):
        place[j] = int((unsorted.y[j] - y0) / cell) * columns + int((unsorted.x[j] - x0) / cell)
    start, order = by_cell(place, columns * rows)
    for k in range(count):
        boxes[k] = unsorted[order[k]]
    return SpatialGrid(x0, y0, cell, columns, rows, start, largest, fastest)
