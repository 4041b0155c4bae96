"""The nearest neighbours of every agent: a grid of cells over all agents, sorted anew for every step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.sim.orca.crowd import Crowd

CELLS_AN_AGENT = 32
"""At most so many cells for each agent, however far they are apart."""
CROWDED, LONELY = 5.0, 1.25
"""Cells become smaller or larger where an agent has more or fewer in its cell on average, itself counted."""
LARGER = 1.5
FAR_OUT = 3.0
"""More standard deviations from the mean than this is far out."""
FEW = 16
"""Up to so many are sorted by counting which are nearer."""
BORDER_M = 1e-6
"""What rounding may do to the border of a cell."""
COLUMNS, ROWS = range(2)
X0, Y0, CELL = range(3)


class AgentGrid(NamedTuple):
    """N agents in cells. `order` (N,) lists them cell by cell, row by row; `x`, `y`, `vx`, `vy`, `radius` are theirs in
    that order. Cell `c` (row * columns + column) holds places `start[c]` to `start[c + 1]` of it. `shape` has the
    columns and rows, `frame` the corner and the side of a cell (m). `cell` (N,) is the cell of each agent, `places`,
    `numbers` and `away` (N,) are room for a search.
    """

    order: Int32Array
    x: FloatArray
    y: FloatArray
    vx: FloatArray
    vy: FloatArray
    radius: FloatArray
    start: Int32Array
    shape: Int32Array
    frame: FloatArray
    cell: Int32Array
    places: Int32Array
    numbers: Int32Array
    away: FloatArray


def new_grid(n: int) -> AgentGrid:
    """Room for N agents."""
    return AgentGrid(
        order=np.arange(n, dtype=np.int32),
        x=np.zeros(n),
        y=np.zeros(n),
        vx=np.zeros(n),
        vy=np.zeros(n),
        radius=np.zeros(n),
        start=np.zeros(CELLS_AN_AGENT * n + 2, np.int32),
        shape=np.ones(2, np.int32),
        frame=np.zeros(3),
        cell=np.zeros(n, np.int32),
        places=np.zeros(n + 1, np.int32),
        numbers=np.zeros(n + 1, np.int32),
        away=np.zeros(n + 1),
    )


@kernel
def sort_agents(grid: AgentGrid, crowd: Crowd) -> None:
    """Sort the agents of a crowd into cells. The side that cells had in the step before saves trying and changes no
    result.
    """
    n = len(grid.order)
    if n == 0:
        return
    reach = 0.0
    for i in range(n):
        reach = max(reach, crowd.neighbour_dist[i])
    x0, x1 = _extent(crowd.x)
    y0, y1 = _extent(crowd.y)
    grid.frame[X0], grid.frame[Y0] = x0, y0
    side = grid.frame[CELL]
    side = reach if side <= 0.0 else min(side, reach)
    side = _count(grid, crowd, side, x1 - x0, y1 - y0)
    for _ in range(8):
        crowding = _crowding(grid)
        if crowding > CROWDED:
            smaller = _count(grid, crowd, side / LARGER, x1 - x0, y1 - y0)
            if smaller >= side:
                break
            side = smaller
        elif crowding < LONELY and side < reach:
            side = _count(grid, crowd, min(reach, side * LARGER), x1 - x0, y1 - y0)
        else:
            break
    _lay_out(grid, crowd)


@inlined_kernel
def _extent(along: FloatArray) -> tuple[float, float]:
    """Where cells begin and end along an axis: around all agents but a few that are far out, which count to the
    outermost cells. They would make the cells of all others large.
    """
    low = high = along[0]
    total = squares = 0.0
    for value in along:
        low, high = min(low, value), max(high, value)
        total += value - along[0]
        squares += (value - along[0]) ** 2
    mean = total / len(along)
    spread = FAR_OUT * sqrt(max(squares / len(along) - mean * mean, 0.0))
    return max(low, along[0] + mean - spread), min(high, along[0] + mean + spread)


@kernel
def _count(grid: AgentGrid, crowd: Crowd, side: float, width: float, height: float) -> float:
    """Find every agent's cell, of `side` m or larger, and how many are in each: `start[c + 1]`. Returns the side."""
    n = len(grid.order)
    side = max(side, 1e-3)
    columns, rows = 1, 1
    if width + height < 1e12:
        while (width / side + 1.0) * (height / side + 1.0) > CELLS_AN_AGENT * n:
            side *= LARGER
            if side > width + height:
                break
        if side <= width + height:
            columns, rows = int(width / side) + 1, int(height / side) + 1
    grid.shape[COLUMNS], grid.shape[ROWS], grid.frame[CELL] = columns, rows, side
    for c in range(columns * rows + 1):
        grid.start[c] = 0
    x0, y0, scale = grid.frame[X0], grid.frame[Y0], 1.0 / side
    for i in range(n):
        u, v = (crowd.x[i] - x0) * scale, (crowd.y[i] - y0) * scale
        column = min(int(u), columns - 1) if 0.0 < u < 1e9 else 0
        row = min(int(v), rows - 1) if 0.0 < v < 1e9 else 0
        c = row * columns + column
        grid.cell[i] = c
        grid.start[c + 1] += 1
    return side


@kernel
def _crowding(grid: AgentGrid) -> float:
    """How many are in the cell of an agent on average."""
    n, total = len(grid.order), 0
    for c in range(1, grid.shape[COLUMNS] * grid.shape[ROWS] + 1):
        total += grid.start[c] * grid.start[c]
    return float(total / n)


@kernel
def _lay_out(grid: AgentGrid, crowd: Crowd) -> None:
    """From numbers of agents to where each cell begins, and the agents into their places."""
    cells, start = grid.shape[COLUMNS] * grid.shape[ROWS], grid.start
    for c in range(cells):
        start[c + 1] += start[c]
    for i in range(len(grid.order) - 1, -1, -1):
        c = grid.cell[i]
        start[c + 1] -= 1
        k = start[c + 1]
        grid.order[k] = i
        grid.x[k], grid.y[k], grid.vx[k], grid.vy[k] = crowd.x[i], crowd.y[i], crowd.vx[i], crowd.vy[i]
        grid.radius[k] = crowd.radius[i]
    # Each entry has sunk to where its own cell begins.
    for c in range(cells):
        start[c] = start[c + 1]
    start[cells] = len(grid.order)


@inlined_kernel
def near_agents(grid: AgentGrid, me: int, reach: float, most: int, found: Int32Array, apart: FloatArray) -> int:
    """The agents nearest to the one at place `me` of the grid, up to `most` that are nearer than `reach` (m), nearest
    first and those of lower number first among equals. Their places go into `found`, squared distances into `apart`.
    Returns their number.
    """
    if most == 0:
        return 0
    columns, rows, side = grid.shape[COLUMNS], grid.shape[ROWS], grid.frame[CELL]
    c = grid.cell[grid.order[me]]
    row, column = c // columns, c % columns
    in_x, in_y = grid.x[me] - (grid.frame[X0] + column * side), grid.y[me] - (grid.frame[Y0] + row * side)
    inside = min(min(in_x, side - in_x), min(in_y, side - in_y)) - BORDER_M
    reach_sq, count, ring = reach * reach, 0, 1
    while True:
        number = 0
        low, high = max(column - ring, 0), min(column + ring, columns - 1)
        for r in range(max(row - ring, 0), min(row + ring, rows - 1) + 1):
            first, past = grid.start[r * columns + low], grid.start[r * columns + high + 1]
            if ring == 1 or abs(r - row) == ring:
                number = _look(grid, me, first, past, reach_sq, number)
            else:
                if column - ring >= 0:
                    number = _look(grid, me, first, grid.start[r * columns + low + 1], reach_sq, number)
                if column + ring < columns:
                    number = _look(grid, me, grid.start[r * columns + high], past, reach_sq, number)
        if count == 0 and number <= min(most, FEW):
            count = _sort(grid, number, found, apart)
        else:
            for j in range(number):
                count = _insert(grid, grid.places[j], grid.away[j], most, count, found, apart)
        if count == most:
            reach_sq = min(reach_sq, apart[count - 1])
        seen = ring * side + inside
        if seen > 0.0 and seen * seen > reach_sq:
            return count
        if ring >= columns and ring >= rows:
            return count
        ring += 1


@inlined_kernel
def _look(grid: AgentGrid, me: int, first: int, past: int, reach_sq: float, number: int) -> int:
    """Note which of the agents at some places are near enough, behind `number` others. Returns how many are noted."""
    x, y, order = grid.x[me], grid.y[me], grid.order
    for k in range(first, past):
        away = (grid.x[k] - x) ** 2 + (grid.y[k] - y) ** 2
        grid.places[number], grid.numbers[number], grid.away[number] = k, order[k], away
        # Written in any case: what is near cannot be foreseen, and a wrong guess costs the processor more.
        number += int(away < reach_sq) & int(k != me)
    return number


@inlined_kernel
def _sort(grid: AgentGrid, number: int, found: Int32Array, apart: FloatArray) -> int:
    """Put all that are noted where they belong: each behind as many as are nearer, without a branch."""
    away, numbers = grid.away, grid.numbers
    for j in range(number):
        mine, name, place = away[j], numbers[j], 0
        for other in range(number):
            place += int(away[other] < mine) | (int(away[other] == mine) & int(numbers[other] < name))
        found[place], apart[place] = grid.places[j], mine
    return number


@inlined_kernel
def _insert(grid: AgentGrid, k: int, away: float, most: int, count: int, found: Int32Array, apart: FloatArray) -> int:
    """Put place `k` where it belongs; the last one falls out where all are taken."""
    place = count
    while place > 0:
        before = apart[place - 1]
        if away > before or (away == before and grid.order[k] > grid.order[found[place - 1]]):
            break
        if place < most:
            found[place], apart[place] = found[place - 1], before
        place -= 1
    if place < most:
        found[place], apart[place] = k, away
        count = min(count + 1, most)
    return count
