"""Things sorted into the cells of a grid; cell `c` is row * columns + column."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.kernels import array_kernel

Integer = TypeVar("Integer", bound=np.signedinteger[Any])


@array_kernel
def by_cell(cell: npt.NDArray[Integer], cells: int) -> tuple[npt.NDArray[Integer], npt.NDArray[Integer]]:
    """Sort by cells, of which each thing is in one: those in cell `c` are `order[start[c] : start[c + 1]]`, as they
    come.
    """
    start = np.zeros(cells + 1, cell.dtype)
    for k in range(len(cell)):
        start[cell[k] + 1] += 1
    for c in range(cells):
        start[c + 1] += start[c]
    filled, order = start[:-1].copy(), np.empty(len(cell), cell.dtype)
    for k in range(len(cell)):
        order[filled[cell[k]]] = k
        filled[cell[k]] += 1
    return start, order


@array_kernel
def boxes_by_cell(
    low: npt.NDArray[Integer], high: npt.NDArray[Integer], columns: int, rows: int
) -> tuple[npt.NDArray[Integer], npt.NDArray[Integer]]:
    """Sort boxes into all cells of a grid that they touch, from column and row `low` (N, 2) to `high`: those in cell
    `c` are `item[start[c] : start[c + 1]]`, as they come.
    """
    count = 0
    for k in range(len(low)):
        across = min(high[k, 0], columns - 1) - max(low[k, 0], 0) + 1
        count += max(across, 0) * max(min(high[k, 1], rows - 1) - max(low[k, 1], 0) + 1, 0)
    cell, box = np.empty(count, low.dtype), np.empty(count, low.dtype)
    count = 0
    for k in range(len(low)):
        for row in range(max(low[k, 1], 0), min(high[k, 1], rows - 1) + 1):
            for column in range(max(low[k, 0], 0), min(high[k, 0], columns - 1) + 1):
                cell[count], box[count] = row * columns + column, k
                count += 1
    start, order = by_cell(cell, columns * rows)
    return start, box[order]
