"""Hybrid A* in continuous poses with a Reeds-Shepp shot at every node ([dolgov2008][],
[dolgov2010][]).

Every motion is an arc at full steering or a line and is swept exactly, so a child may lie right where the car would
touch: that is what makes narrow slots cheap. A pose belongs to one cell on each of several levels. It waits in the
open list of the coarsest level on which its cell is new, and coarse lists come first: the tree spreads before it
looks closer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.free_space.analytic_expansion import (
    SearchArea,
    SearchCosts,
    WordEnds,
    all_moves,
    bounds,
    expand_analytically,
    inside,
    ranges,
)
from tuling_fsm.planning.free_space.collision import (
    InflatedFootprint,
    SegmentGrid,
    advance,
    free_of_near,
    gather_round,
    load_sweep,
)
from tuling_fsm.planning.free_space.heuristic import (
    ObstacleHeuristic,
    ReedsSheppTable,
    build_obstacle_heuristic,
    obstacle_heuristic,
    reeds_shepp_heuristic,
)
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS
from tuling_fsm.planning.free_space.search_tree import (
    LEVELS,
    SearchTree,
    close_cells,
    has_room,
    open_level,
    pop_next,
    push,
)

STEERS = (1, 0, -1)
GEARS = (1, -1)
STEP = 0.8
"""Length of a move where there is room, m."""
SHORTEST = 0.01
"""Shorter moves (m) are left out."""
SKIN = 1e-4
"""What is left (m) between the car and what it was driven against."""
ZIGS = 24
"""Most moves of a zigzag."""
ZIG_PROGRESS = 0.03
"""Least length (m) of two moves of a zigzag together."""
GUIDE_AFTER = 40
"""Expansions after which the way round the obstacles is worth its cost."""


class SearchTask(NamedTuple):
    """What is searched: a tree grows from its roots, shots go to `targets` (T, 3), left in `target_gear` (0: none)."""

    walls: SegmentGrid
    body: InflatedFootprint
    area: SearchArea
    rules: SearchCosts
    table: ReedsSheppTable
    targets: FloatArray
    target_gear: int


class SearchContext(NamedTuple):
    """What stays while a tree grows: the task, its six moves, free lengths (T, 6) at the targets, a guide or none."""

    task: SearchTask
    moves: FloatArray
    target_free: FloatArray
    guide: ObstacleHeuristic


class BestPath(NamedTuple):
    """Best path so far: `at` = node and target (-1: none), its word (m), its `cost` (1,); expansions `used` (1,)."""

    at: IntArray
    lengths: FloatArray
    steers: FloatArray
    cost: FloatArray
    used: IntArray


Scratch = tuple[FloatArray, FloatArray, FloatArray]


class SearchBuffers(NamedTuple):
    """Work arrays: free lengths of the moves from a node, lengths of a zigzag, and what `expand_analytically` writes
    to.
    """

    free: FloatArray
    lengths: FloatArray
    buffers: Scratch


@array_kernel
def _guide_of(task: SearchTask, tree: SearchTree) -> ObstacleHeuristic:
    """The ways round the obstacles from the roots of a tree to the targets."""
    body, roots = task.body, 1
    while roots < tree.size[0] and tree.parent[roots] < 0:
        roots += 1
    inner = min(body.rear, body.front, body.half)
    guide: ObstacleHeuristic = build_obstacle_heuristic(
        task.walls.segments, bounds(task.area), inner, task.targets, tree.pose[:roots]
    )
    return guide


@array_kernel
def _context(task: SearchTask, guide: ObstacleHeuristic) -> SearchContext:
    """What a search needs of its task."""
    moves = all_moves(task.body, task.rules.curvature, task.rules.reach)
    free = np.empty((len(task.targets), 6))
    for t in range(len(task.targets)):
        ranges(task.walls, task.body, moves, task.targets[t], task.rules.reach, free[t])
    return SearchContext(task, moves, free, guide)


@kernel
def _ahead(ctx: SearchContext, x: float, y: float, heading: float) -> float:
    """Estimate of the cost (m) from a pose to the nearest target."""
    best: float = np.inf
    targets = ctx.task.targets
    for t in range(len(targets)):
        dx, dy = x - targets[t, 0], y - targets[t, 1]
        s, c = elementary.sin_cos(targets[t, 2])
        best = min(
            best, reeds_shepp_heuristic(ctx.task.table, c * dx + s * dy, c * dy - s * dx, heading - targets[t, 2])
        )
    around: float = obstacle_heuristic(ctx.guide, x, y)
    return max(best, around)


@kernel
def _add(
    ctx: SearchContext,
    tree: SearchTree,
    found: BestPath,
    parent: int,
    steer: int,
    signed: float,
    cost: float,
    keep: bool,
) -> int:
    """Adds the child at the end of a move unless it is outside, too dear or not new (`keep`: all the same); -1: no."""
    rules, pose = ctx.task.rules, tree.pose
    x, y, h = advance(pose[parent, 0], pose[parent, 1], pose[parent, 2], rules.curvature * steer, signed)
    gear = 1 if signed > 0.0 else -1
    if not inside(ctx.task.area, x, y):
        return -1
    ahead = _ahead(ctx, x, y, h)
    cheap = cost + ahead < found.cost[0]
    level = open_level(tree, x, y, h, gear, 0) if cheap else LEVELS
    if level == LEVELS and not keep:
        return -1
    node: int = tree.size[0]
    tree.size[0] += 1
    tree.pose[node, 0], tree.pose[node, 1], tree.pose[node, 2] = x, y, h
    tree.cost[node], tree.parent[node], tree.length[node] = cost, parent, signed
    tree.gear[node], tree.steer[node] = gear, steer
    tree.key[node] = cost + rules.greed * ahead
    if level < LEVELS:
        push(tree, level, node)
    return node


@kernel
def _expand(ctx: SearchContext, tree: SearchTree, found: BestPath, node: int, free: FloatArray, tight: bool) -> None:
    """Adds the children by plain moves: a step, and where it is tight also all the way and half of it."""
    rules = ctx.task.rules
    for m in range(6):
        gear = GEARS[m // 3]
        if gear * rules.only < 0:
            continue
        cost = tree.cost[node] + (rules.gear_cost if tree.gear[node] * gear < 0 else 0.0)
        whole = free[m] - SKIN
        hemmed = tight and free[m] < rules.reach
        far = whole if hemmed and whole > 1.05 * STEP else 0.0
        for length in (min(STEP, whole), far, 0.5 * whole if hemmed else 0.0):
            if length > SHORTEST:
                signed, cost_there = gear * length, cost + length
                _add(ctx, tree, found, parent=node, steer=STEERS[m % 3], signed=signed, cost=cost_there, keep=False)


@kernel
def _zigzag(ctx: SearchContext, pose: FloatArray, gear: int, turn: int, bound: float, lengths: FloatArray) -> int:
    """Turns a car that is hemmed in by going to and fro at full steering until one way is free.

    Writes the signed lengths and returns their number; 0 when the car gets stuck or the cost reaches the bound.
    """
    x, y, h = pose
    task, cost = ctx.task, 0.0
    for i in range(len(lengths)):
        n = gather_round(task.walls, task.body, x, y, h, task.rules.reach)
        free = free_of_near(task.walls, n, load_sweep(ctx.moves[(1 - gear) // 2 * 3 + 1 - turn * gear]))
        if free > task.rules.reach - 1e-9:
            lengths[i] = gear * STEP
            return i + 1
        length = max(0.0, free - SKIN)
        cost += length + task.rules.gear_cost
        if cost >= bound or (i > 0 and length + abs(lengths[i - 1]) < ZIG_PROGRESS):
            return 0
        lengths[i] = gear * length
        x, y, h = advance(x, y, h, task.rules.curvature * turn * gear, lengths[i])
        gear = -gear
    return 0


@kernel
def _zigzags(ctx: SearchContext, tree: SearchTree, found: BestPath, root: int, lengths: FloatArray) -> None:
    """Adds the chains of nodes by which a hemmed-in car gets out."""
    change = ctx.task.rules.gear_cost
    bound = found.cost[0] - tree.cost[root] - _ahead(ctx, tree.pose[root, 0], tree.pose[root, 1], tree.pose[root, 2])
    for first in GEARS:
        if first == tree.gear[root]:
            continue
        for turn in (1, -1):
            node = root
            for i in range(_zigzag(ctx, tree.pose[root], first, turn, bound, lengths)):
                changed = tree.gear[node] * lengths[i] < 0.0
                cost = tree.cost[node] + abs(lengths[i]) + (change if changed else 0.0)
                steer = turn if lengths[i] > 0.0 else -turn
                node = _add(ctx, tree, found, parent=node, steer=steer, signed=lengths[i], cost=cost, keep=True)
                if node < 0:
                    break


@kernel
def _shoot(
    ctx: SearchContext, tree: SearchTree, found: BestPath, node: int, free: FloatArray, buffers: Scratch
) -> bool:
    """Tries the words from a node to all targets and keeps the best path; whether there is a new one."""
    task, better = ctx.task, False
    for t in range(len(task.targets)):
        ends = WordEnds(tree.gear[node], free, task.target_gear, ctx.target_free[t])
        bound = found.cost[0] - tree.cost[node]
        word = expand_analytically(
            task.walls, task.body, task.area, task.rules, tree.pose[node], task.targets[t], ends, bound, buffers
        )
        if word >= 0:
            found.at[0], found.at[1], better = node, t, True
            found.cost[0] = tree.cost[node] + buffers[2][word]
            for i in range(PIECES):
                found.lengths[i], found.steers[i] = buffers[0][word, i], buffers[1][word, i]
    return better


@kernel
def _order(ctx: SearchContext, tree: SearchTree) -> None:
    """Orders the open lists by the estimates of the context."""
    for level in range(LEVELS):
        count = tree.heap_size[level]
        tree.heap_size[level] = 0
        for i in range(count):
            node = tree.heap_node[level, i]
            tree.key[node] = tree.cost[node] + ctx.task.rules.greed * _ahead(
                ctx, tree.pose[node, 0], tree.pose[node, 1], tree.pose[node, 2]
            )
            push(tree, level, node)


@kernel
def _expand_until(
    ctx: SearchContext, tree: SearchTree, found: BestPath, room: SearchBuffers, budget: int, stop_at_first: bool
) -> bool:
    """Expands nodes until so many are used in all, or a path is found; False: nothing left to expand."""
    free, reach = room.free, ctx.task.rules.reach
    while found.used[0] < budget and has_room(tree, found.used[0], 4 * ZIGS + 18):
        node = pop_next(tree, found.used[0])
        if node < 0:
            return False
        if tree.cost[node] >= found.cost[0]:
            continue
        close_cells(tree, tree.pose[node, 0], tree.pose[node, 1], tree.pose[node, 2], tree.gear[node])
        found.used[0] += 1
        ranges(ctx.task.walls, ctx.task.body, ctx.moves, tree.pose[node], reach, free)
        if _shoot(ctx, tree, found, node, free, room.buffers) and stop_at_first:
            break
        ahead, behind = max(free[0], free[1], free[2]), max(free[3], free[4], free[5])
        tight = min(ahead, behind) < reach
        own = 3 * int(tree.length[node] < 0.0) + 1 - tree.steer[node]
        at_end = tree.parent[node] < 0 or free[own] < 0.02
        if at_end and max(ahead, behind) < reach and ctx.task.rules.only == 0:
            _zigzags(ctx, tree, found, node, room.lengths)
        _expand(ctx, tree, found, node, free, tight)
    return True


@array_kernel
def search(
    task: SearchTask, tree: SearchTree, found: BestPath, guide: ObstacleHeuristic, budget: int, stop_at_first: bool
) -> tuple[ObstacleHeuristic, bool]:
    """Grows the tree until `budget` expansions are used in all, or a path is found; False: nothing left to expand.

    The way round the obstacles is looked for when a path is not found soon.
    """
    buffers = (np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES)), np.empty(WORDS))
    room = SearchBuffers(np.empty(6), np.empty(ZIGS), buffers)
    ctx = _context(task, guide)
    _order(ctx, tree)
    if found.used[0] < GUIDE_AFTER:
        more = _expand_until(ctx, tree, found, room, min(budget, GUIDE_AFTER), stop_at_first)
        if not more or found.used[0] < GUIDE_AFTER or (stop_at_first and found.at[0] >= 0):
            return guide, more
        guide = _guide_of(task, tree)
        ctx = SearchContext(task, ctx.moves, ctx.target_free, guide)
        _order(ctx, tree)
    return guide, _expand_until(ctx, tree, found, room, budget, stop_at_first)
