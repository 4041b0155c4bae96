"""The search tree in flat arrays: nodes, one open list for each level, closed cells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import kernel

StepArray = npt.NDArray[np.int8]

SCALES = (1.0, 0.35, 0.07, 0.02)
"""Size of the cells of each level, in those of the first."""
LEVELS = 4
CELL = 0.6
"""Edge of a cell of the first level, m."""
CELL_HEADING = math.radians(14.0)
SPREAD = 0x9E3779B97F4A7C1
"""Odd multiplier that spreads keys over the table (Knuth's multiplicative hashing)."""
SPAN = 1 << 12
"""Places of the table that a search begins with."""


class SearchTree(NamedTuple):
    """Columns by node, heaps by level, and an open-addressing table of closed cells: key and epoch of each in `cell`
    (N, 2); the present `epoch` (1,) voids old ones.

    Only the first `span` (1,) places of the table are used, so that a short search stays in the cache; `closed` lists
    the keys, `closed_size` (1,) of them, for the table to be filled anew when it has to grow.
    """

    pose: FloatArray
    cost: FloatArray
    length: FloatArray
    key: FloatArray
    parent: IntArray
    steer: StepArray
    gear: StepArray
    size: IntArray
    heap_node: IntArray
    heap_size: IntArray
    cell: IntArray
    epoch: IntArray
    span: IntArray
    closed: IntArray
    closed_size: IntArray


def allocate(nodes: int, expansions: int) -> SearchTree:
    """Room for a number of nodes of which some are expanded."""
    cells = 1 << (2 * LEVELS * expansions).bit_length()
    return SearchTree(
        pose=np.empty((nodes, 3)),
        cost=np.empty(nodes),
        length=np.empty(nodes),
        key=np.empty(nodes),
        parent=np.empty(nodes, np.int64),
        steer=np.empty(nodes, np.int8),
        gear=np.empty(nodes, np.int8),
        size=np.zeros(1, np.int64),
        heap_node=np.empty((LEVELS, nodes), np.int64),
        heap_size=np.zeros(LEVELS, np.int64),
        cell=np.zeros((cells, 2), np.int64),
        epoch=np.zeros(1, np.int64),
        span=np.zeros(1, np.int64),
        closed=np.empty(LEVELS * expansions, np.int64),
        closed_size=np.zeros(1, np.int64),
    )


@kernel
def empty(tree: SearchTree) -> None:
    """Makes the tree new."""
    tree.size[0] = 0
    for level in range(LEVELS):
        tree.heap_size[level] = 0
    tree.epoch[0] += 1
    tree.span[0], tree.closed_size[0] = min(SPAN, len(tree.cell)), 0


@kernel
def has_room(tree: SearchTree, expanded: int, children: int) -> bool:
    """Whether one more node can be expanded after so many, into so many children at most."""
    return tree.size[0] + children < len(tree.cost) and LEVELS * (expanded + 1) <= len(tree.closed)


@kernel
def push(tree: SearchTree, level: int, node: int) -> None:
    """Adds a node to the open list of a level, in the order of `key`."""
    heap, key = tree.heap_node[level], tree.key
    i = tree.heap_size[level]
    tree.heap_size[level] += 1
    while i > 0:
        up = (i - 1) >> 1
        if key[heap[up]] <= key[node]:
            break
        heap[i] = heap[up]
        i = up
    heap[i] = node


@kernel
def pop(tree: SearchTree, level: int) -> int:
    """Removes the first node of the open list of a level."""
    heap, key = tree.heap_node[level], tree.key
    first: int = heap[0]
    tree.heap_size[level] -= 1
    count = tree.heap_size[level]
    node, i = heap[count], 0
    while True:
        down = 2 * i + 1
        if down >= count:
            break
        if down + 1 < count and key[heap[down + 1]] < key[heap[down]]:
            down += 1
        if key[heap[down]] >= key[node]:
            break
        heap[i] = heap[down]
        i = down
    heap[i] = node
    return first


@kernel
def _key(x: float, y: float, heading: float, gear: int, level: int) -> int:
    """The cell of a pose on a level, as one number."""
    size, size_heading = CELL * SCALES[level], CELL_HEADING * SCALES[level]
    ix, iy = int(np.rint(x / size)), int(np.rint(y / size))
    ih = int(np.rint((heading - 2.0 * math.pi * np.rint(heading / (2.0 * math.pi))) / size_heading))
    return ((ix + 65536) << 40) + ((iy + 65536) << 20) + ((ih + 4096) << 4) + ((gear + 1) << 2) + level


@kernel
def _slot(tree: SearchTree, key: int) -> int:
    """Place of a key in the table, where it is or the free one where it belongs."""
    mask: int = tree.span[0] - 1
    slot: int = ((key * SPREAD) >> 20) & mask
    while tree.cell[slot, 1] == tree.epoch[0] and tree.cell[slot, 0] != key:
        slot = (slot + 1) & mask
    return slot


@kernel
def open_level(tree: SearchTree, x: float, y: float, heading: float, gear: int, level: int) -> int:
    """The coarsest level, from `level` on, on which the cell of the pose is not closed; `LEVELS` if all are."""
    while level < LEVELS:
        if tree.cell[_slot(tree, _key(x, y, heading, gear, level)), 1] != tree.epoch[0]:
            return level
        level += 1
    return level


@kernel
def _widen(tree: SearchTree) -> None:
    """Fills the table anew over more places."""
    tree.epoch[0] += 1
    tree.span[0] = min(8 * tree.span[0], len(tree.cell))
    for i in range(tree.closed_size[0]):
        slot = _slot(tree, tree.closed[i])
        tree.cell[slot, 0], tree.cell[slot, 1] = tree.closed[i], tree.epoch[0]


@kernel
def close_cells(tree: SearchTree, x: float, y: float, heading: float, gear: int) -> None:
    """Closes the cells of a pose on all levels."""
    for level in range(LEVELS):
        key = _key(x, y, heading, gear, level)
        slot = _slot(tree, key)
        if tree.cell[slot, 1] != tree.epoch[0]:
            tree.cell[slot, 0], tree.cell[slot, 1] = key, tree.epoch[0]
            tree.closed[tree.closed_size[0]] = key
            tree.closed_size[0] += 1
    if 2 * tree.closed_size[0] > tree.span[0] and tree.span[0] < len(tree.cell):
        _widen(tree)


@kernel
def pop_next(tree: SearchTree, turn: int) -> int:
    """The best node of the coarsest level that has one, but every fourth time of a finer one; -1 when all are empty."""
    while True:
        level = 0
        if turn % 4 == 3:
            level = 1 + (turn // 4) % (LEVELS - 1)
        for _ in range(LEVELS):
            if tree.heap_size[level] > 0:
                break
            level = (level + 1) % LEVELS
        if tree.heap_size[level] == 0:
            return -1
        node: int = pop(tree, level)
        now = open_level(tree, tree.pose[node, 0], tree.pose[node, 1], tree.pose[node, 2], tree.gear[node], level)
        if now == level:
            return node
        if now < LEVELS:
            push(tree, now, node)


@kernel
def plant(tree: SearchTree, roots: FloatArray, gear: int) -> None:
    """Empties the tree and gives it its roots (R, 3), reached in `gear` (0: standing)."""
    empty(tree)
    for r in range(len(roots)):
        tree.pose[r, 0], tree.pose[r, 1], tree.pose[r, 2] = roots[r, 0], roots[r, 1], roots[r, 2]
        tree.cost[r], tree.parent[r], tree.length[r], tree.key[r] = 0.0, -1, 0.0, 0.0
        tree.gear[r], tree.steer[r] = gear, 0
        tree.size[0] += 1
        push(tree, 0, r)
