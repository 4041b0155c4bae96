"""Outlines of what an occupancy grid has around the car.

However many cells are occupied, all of those around the car are within the outlines. Where these would be too many,
cells are taken together in square blocks, each occupied as soon as one of its cells is: farther away first, and near
the car only if that is not enough. What is thick is hatched, so that a car in the middle of it touches something too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.world.inputs import Occupancy

Cells = npt.NDArray[np.int8]

NEAR_M = 20.0
"""Within this distance (m) cells are taken together only if the blocks farther away have not helped."""
HATCH_M = 1.0
"""Distance (m) between the lines of a hatching, and from its lines to the outline."""
_FEWEST = 8
"""Segments that are enough for one block."""


class GridWindow(NamedTuple):
    """Rows and columns of a grid, from the first up to but without the last."""

    row: int
    column: int
    last_row: int
    last_column: int

    def in_blocks(self, size: int, around: GridWindow) -> GridWindow:
        """The smallest one around it that is made of the blocks of another one."""
        row, column = self.row - around.row, self.column - around.column
        last_row, last_column = self.last_row - around.row, self.last_column - around.column
        return GridWindow(
            around.row + row - row % size,
            around.column + column - column % size,
            min(around.row + last_row + -last_row % size, around.last_row),
            min(around.column + last_column + -last_column % size, around.last_column),
        )


def grid_segments(grid: Occupancy, x: float, y: float, radius: float, threshold: int, limit: int) -> FloatArray:
    """Outlines of the cells of at least `threshold` in the square of `radius` (m) around a point: at most `limit`
    segments x0, y0, x1, y1 in `map`, (M, 4).
    """
    s, c = elementary.sin_cos(grid.origin.heading)
    dx, dy = x - grid.origin.x, y - grid.origin.y
    column, row = (c * dx + s * dy) / grid.resolution, (-s * dx + c * dy) / grid.resolution
    window, near = (_around(grid, row, column, reach) for reach in (radius, min(radius, NEAR_M)))
    pitch = max(round(HATCH_M / grid.resolution), 1)
    edges = _drawn(_occupied(grid.cells, threshold, window, 1), window, 1, pitch, limit)
    if edges is None:
        edges = _in_blocks(grid.cells, threshold, window, near, pitch, limit)
    edges *= grid.resolution
    placed = np.empty_like(edges)
    for i in (0, 2):
        placed[:, i] = grid.origin.x + c * edges[:, i] - s * edges[:, i + 1]
        placed[:, i + 1] = grid.origin.y + s * edges[:, i] + c * edges[:, i + 1]
    return placed


def _around(grid: Occupancy, row: float, column: float, reach_m: float) -> GridWindow:
    """The part of a grid around a place in it."""
    height, width = grid.cells.shape
    reach = reach_m / grid.resolution
    row0, row1 = (int(min(max(v, 0), height)) for v in (row - reach, row + reach))
    column0, column1 = (int(min(max(v, 0), width)) for v in (column - reach, column + reach))
    return GridWindow(row0, column0, row1, column1)


def _in_blocks(
    cells: Cells, threshold: int, window: GridWindow, near: GridWindow, pitch: int, limit: int
) -> FloatArray:
    """Edges in blocks that are as small as the limit allows: a third of it for what is farther away."""
    solid, size, far = _occupied(cells, threshold, window), 1, None
    while far is None:
        solid, size = _halved(solid), 2 * size
        core = near.in_blocks(size, window)
        rest = np.pad(solid, 1)
        rows, columns = ((core[i] - window[i]) // size + 1 for i in (0, 1))
        last_rows, last_columns = (-(-(core[i + 2] - window[i]) // size) + 1 for i in (0, 1))
        rest[rows:last_rows, columns:last_columns] = False
        far = _drawn(rest, window, size, pitch, max(limit // 3, _FEWEST))
    solid, size = _occupied(cells, threshold, core), 1
    while (close := _drawn(np.pad(solid, 1), core, size, pitch, max(limit - len(far), _FEWEST))) is None:
        solid, size = _halved(solid), 2 * size
    return np.concatenate((far, close))


def _occupied(cells: Cells, threshold: int, window: GridWindow, margin: int = 0) -> BoolArray:
    """Which cells of a window, and of a margin around it, are occupied; beyond the grid none is."""
    top, left = window.row - margin, window.column - margin
    height, width = window.last_row + margin - top, window.last_column + margin - left
    found = np.zeros((height, width), np.bool_)
    inside = cells[max(top, 0) : top + height, max(left, 0) : left + width]
    row, column = max(-top, 0), max(-left, 0)
    found[row : row + inside.shape[0], column : column + inside.shape[1]] = inside >= threshold
    return found


def _halved(solid: BoolArray) -> BoolArray:
    """Blocks of twice the size, occupied where one of the four is."""
    rows, columns = solid.shape
    solid = np.pad(solid, ((0, rows % 2), (0, columns % 2)))
    solid = solid[0::2] | solid[1::2]
    return solid[:, 0::2] | solid[:, 1::2]


def _drawn(solid: BoolArray, window: GridWindow, size: int, pitch: int, limit: int) -> FloatArray | None:
    """Outline and hatching x0, y0, x1, y1, in cells, of the blocks of a size in a window, with a margin of one block;
    None for more than `limit`. The lines of the hatching are `pitch` cells apart.
    """
    if min(solid.shape) < 3:
        return np.zeros((0, 4))
    outline = _outline(solid, limit)
    if outline is None:
        return None
    edges = np.concatenate((outline, _hatching(solid, max(pitch // size, 1))))
    if len(edges) > limit:
        return None
    return np.minimum(edges * float(size) + (window.column, window.row) * 2, (window.last_column, window.last_row) * 2)


def _outline(solid: BoolArray, limit: int) -> FloatArray | None:
    """Borders between occupied and free blocks, joined along each line between them, in blocks from the corner inside
    the margin; None for more than `limit`.
    """
    lines = solid[1:] != solid[:-1]
    across = lines[:, 1:] != lines[:, :-1]
    along = across.copy()
    across[:, 0], across[:, -1] = lines[:, 1], lines[:, -2]
    along[0], along[-1] = (solid[row, 1:] != solid[row, :-1] for row in (1, -2))
    if np.count_nonzero(across) + np.count_nonzero(along) > 2 * limit:
        return None
    row, column = _places(across)
    first = np.column_stack((column[0::2], row[0::2], column[1::2], row[0::2]))
    row, column = _places(along)
    order = np.argsort(column, kind="stable")
    row, column = row[order], column[order]
    second = np.column_stack((column[0::2], row[0::2], column[0::2], row[1::2]))
    return np.concatenate((first, second)).astype(np.float64)


def _hatching(solid: BoolArray, pitch: int) -> FloatArray:
    """Lines along rows and columns, `pitch` blocks apart, through what reaches as far beyond them on all sides."""
    along, across = _lines(solid, pitch), _lines(solid.T, pitch)
    return np.concatenate((along, across[:, (1, 0, 3, 2)]))


def _lines(solid: BoolArray, pitch: int) -> FloatArray:
    """Those along the rows."""
    rows = np.arange(pitch, len(solid) - pitch, pitch)
    thick = solid[rows] & solid[rows - pitch] & solid[rows + pitch]
    deep = thick[:, pitch:-pitch] & thick[:, : -2 * pitch] & thick[:, 2 * pitch :]
    row, column = _places(np.diff(deep, axis=1, prepend=False, append=False))
    y = rows[row[0::2]] - 0.5
    return np.column_stack((column[0::2] + pitch - 1.0, y, column[1::2] + pitch - 1.0, y))


def _places(turns: BoolArray) -> tuple[IntArray, IntArray]:
    """Rows and columns, in turn, of where lines begin and end."""
    row, column = np.divmod(np.flatnonzero(turns), turns.shape[1])
    return row, column
