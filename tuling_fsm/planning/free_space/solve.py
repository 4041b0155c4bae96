"""From a problem to a path: a ladder of clearances, either end as root, improvement; bounded by expansions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.request import Reason
from tuling_fsm.planning.free_space.estimate import Guide, no_guide
from tuling_fsm.planning.free_space.path import cost_of_path, extract, shorten
from tuling_fsm.planning.free_space.problem import Problem
from tuling_fsm.planning.free_space.reeds_shepp import PIECES
from tuling_fsm.planning.free_space.search import Found, Task, grow, plant
from tuling_fsm.planning.free_space.shot import Rules, all_moves, ranges
from tuling_fsm.planning.free_space.sweep import Body
from tuling_fsm.planning.free_space.tree import Tree, allocate
from tuling_fsm.planning.free_space.walls import Walls, occupied

NODES = 200_000
EXPANSIONS = 20_000
"""Room of the tree; a larger budget ends as if spent when it is full."""


@dataclass(frozen=True, eq=False)
class Path:
    """Pieces in driving order from the start: share of the full curvature (+ left) and signed length (m), in the
    local frame.

    `cost` is the length plus that of the gear changes (m).
    """

    turns: FloatArray
    lengths: FloatArray
    cost: float
    body: Body
    used: int


@dataclass(frozen=True, eq=False)
class Run:
    """One search under way."""

    task: Task
    found: Found
    from_goal: bool
    roots: FloatArray
    root_gear: int


@functools.lru_cache(maxsize=1)
def workspace() -> Tree:
    """The tree that every search in this process uses in turn."""
    return allocate(NODES, EXPANSIONS)


def begin(problem: Problem, body: Body, from_goal: bool) -> Run:
    """Prepares a search from the goals or from the start. A tree from the goals is driven backwards in the end."""
    start = problem.start[None, :]
    roots, targets = (problem.goals, start) if from_goal else (start, problem.goals)
    target_gear, root_gear = (-problem.gear, 0) if from_goal else (0, problem.gear)
    rules = problem.rules._replace(only=-problem.rules.only) if from_goal else problem.rules
    task = Task(problem.walls, body, problem.area, rules, problem.table, targets, target_gear)
    found = Found(
        np.array((-1, 0)), np.zeros(PIECES), np.zeros(PIECES, np.int8), np.array((np.inf,)), np.zeros(1, np.int64)
    )
    return Run(task, found, from_goal, roots, root_gear)


@njit(cache=True, error_model="numpy")
def _room(walls: Walls, body: Body, rules: Rules, pose: FloatArray) -> float:
    """How far (m) the car can move from a pose, all moves together."""
    free = np.empty(6)
    ranges(walls, body, all_moves(body, rules.curvature, rules.reach), pose, rules.reach, free)
    return float(free.sum())


def tighter_is_goal(problem: Problem, body: Body) -> bool:
    """Whether the car can move less at the (first) goal than at the start."""
    goal: float = _room(problem.walls, body, problem.rules, problem.goals[0])
    start: float = _room(problem.walls, body, problem.rules, problem.start)
    return goal <= start


def _take(run: Run) -> Path:
    """The best path of a run."""
    turns, lengths = extract(workspace(), run.found)
    if run.from_goal:
        turns, lengths = turns[::-1].copy(), -lengths[::-1]
    return Path(turns, lengths, float(run.found.cost[0]), run.task.body, int(run.found.used[0]))


def _attempts(problem: Problem, bodies: tuple[Body, ...], budget: int) -> Iterator[tuple[Body, bool, int]]:
    """What is tried: body, root, and the expansions after which to go on to the next."""
    for body in bodies[:-1]:
        yield body, tighter_is_goal(problem, body), budget // 8
    body = bodies[-1]
    goal_first = tighter_is_goal(problem, body)
    yield body, goal_first, budget // 2
    yield body, not goal_first, budget


def free_bodies(problem: Problem, bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """The bodies that touch nothing at the start and at a goal, and the last one."""
    ends = (problem.start, *problem.goals)
    return tuple(
        body
        for i, body in enumerate(bodies)
        if i == len(bodies) - 1 or not any(occupied(problem.walls, body, *end) for end in ends)
    )


def first_path(problem: Problem, bodies: tuple[Body, ...], budget: int) -> tuple[Path, Run, Guide] | Reason:
    """The first path of the widest body that finds one, or why there is none. `bodies` go from wide to narrow."""
    tree, used, spent = workspace(), 0, False
    for body, from_goal, share in _attempts(problem, free_bodies(problem, bodies), budget):
        run = begin(problem, body, from_goal)
        plant(tree, run.roots, run.root_gear)
        limit = min(share, budget - used)
        guide, open_left = grow(run.task, tree, run.found, no_guide(), limit, True)
        if run.found.at[0] >= 0:
            return _take(run), run, guide
        used += int(run.found.used[0])
        spent = open_left
    return Reason.TIMEOUT if spent else Reason.NO_PATH


def _shortened(problem: Problem, path: Path, curve_cost: float = 0.0) -> Path:
    """The path shortened over its own knots, or itself when that gains nothing."""
    task = begin(problem, path.body, False).task
    change = problem.rules.gear_cost
    turns, lengths = shorten(task, problem.start, path.turns, path.lengths, problem.gear, curve_cost)
    before = cost_of_path(path.turns, path.lengths, problem.gear, change, curve_cost)
    if cost_of_path(turns, lengths, problem.gear, change, curve_cost) >= before:
        return path
    return Path(turns, lengths, cost_of_path(turns, lengths, problem.gear, change, 0.0), path.body, path.used)


def improve(problem: Problem, path: Path, run: Run, guide: Guide, budget: int) -> Path:
    """A cheaper path: shortened, and replaced while its search finds cheaper ones within `budget` expansions."""
    best = _shortened(problem, path)
    run.found.cost[0] = best.cost
    run.found.at[0] = -1
    grow(run.task, workspace(), run.found, guide, path.used + budget, False)
    if run.found.at[0] >= 0:
        best = _shortened(problem, _take(run))
    return _shortened(problem, best)


def soften(problem: Problem, path: Path, curve_cost: float) -> Path:
    """The path with gentler bends where there is room: two passes, each over the knots of the one before."""
    for _ in range(2 if curve_cost > 0.0 else 0):
        path = _shortened(problem, path, curve_cost)
    return path
