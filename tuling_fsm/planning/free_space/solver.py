"""From a problem to a path: a ladder of clearances, either end as root, improvement; bounded by expansions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.request import Reason
from tuling_fsm.planning.free_space.analytic_expansion import SearchCosts, all_moves, ranges
from tuling_fsm.planning.free_space.collision import InflatedFootprint, SegmentGrid, occupied
from tuling_fsm.planning.free_space.heuristic import ObstacleHeuristic, no_obstacle_heuristic
from tuling_fsm.planning.free_space.hybrid_a_star import BestPath, SearchTask, search
from tuling_fsm.planning.free_space.path import cost_of_path, extract, pull, shorten
from tuling_fsm.planning.free_space.problem import FreeSpaceProblem
from tuling_fsm.planning.free_space.reeds_shepp import PIECES
from tuling_fsm.planning.free_space.search_tree import SearchTree, allocate, plant

NODES = 200_000
EXPANSIONS = 20_000
"""Room of the tree; a larger budget ends as if spent when it is full."""
SHORT = 0.12
"""Moves shorter than this (m) are hard to drive."""
STEPS = (1.0, 0.7, 1.7)
"""Distances (m) between the knots over which a path is shortened in turn."""
LOOKS = 2000
"""Words looked at after which a path is short enough."""
PULLS = 2000
"""Most poses that are tried in pulling a path taut."""
WORTH = 0.05
"""A pass over the knots that gains less than this (m) is the last."""
AT_ONCE = 2
"""So many attempts at a first path are one step."""
EASY = 3
"""A path of so many moves is kept without looking at what less clearance would give."""


@dataclass(frozen=True, eq=False)
class ArcPath:
    """Pieces in driving order from the start: share of the full curvature (+ left) and signed length (m), in the
    local frame.

    `cost` is the length plus that of the gear changes (m), `used` the expansions of all searches that led to it.
    """

    turns: FloatArray
    lengths: FloatArray
    cost: float
    body: InflatedFootprint
    used: int


@dataclass(frozen=True, eq=False)
class SearchRun:
    """One search under way."""

    task: SearchTask
    found: BestPath
    from_goal: bool
    roots: FloatArray
    root_gear: int


def new_tree() -> SearchTree:
    """A tree for the searches of one caller, one after the other.

    It is written to here, all of it: where memory is first used the system has to clear it, which takes a search some
    10 ms.
    """
    tree = allocate(NODES, EXPANSIONS)
    for column in tree:
        column.fill(0)
    return tree


def passing_tree(size: int = 1) -> SearchTree:
    """A tree for one search, so many times as large as the usual one: of its memory no more is cleared than is used."""
    return allocate(size * NODES, size * EXPANSIONS)


def begin(problem: FreeSpaceProblem, body: InflatedFootprint, from_goal: bool) -> SearchRun:
    """Prepares a search from the goals or from the start. A tree from the goals is driven backwards in the end."""
    start = problem.start[None, :]
    roots, targets = (problem.goals, start) if from_goal else (start, problem.goals)
    target_gear, root_gear = (-problem.gear, 0) if from_goal else (0, problem.gear)
    rules = problem.rules._replace(only=-problem.rules.only) if from_goal else problem.rules
    task = SearchTask(problem.walls, body, problem.area, rules, problem.table, targets, target_gear)
    found = BestPath(np.array((-1, 0)), np.zeros(PIECES), np.zeros(PIECES), np.array((np.inf,)), np.zeros(1, np.int64))
    return SearchRun(task, found, from_goal, roots, root_gear)


@array_kernel
def _tighter(
    walls: SegmentGrid, body: InflatedFootprint, rules: SearchCosts, pose: FloatArray, other: FloatArray
) -> bool:
    """Whether the car can move no farther from a pose, all moves together, than from another."""
    moves, free = all_moves(body, rules.curvature, rules.reach), np.empty((2, 6))
    ranges(walls, body, moves, pose, rules.reach, free[0])
    ranges(walls, body, moves, other, rules.reach, free[1])
    return bool(free[0].sum() <= free[1].sum())


def tighter_is_goal(problem: FreeSpaceProblem, body: InflatedFootprint) -> bool:
    """Whether the car can move less at the (first) goal than at the start."""
    return bool(_tighter(problem.walls, body, problem.rules, problem.goals[0], problem.start))


def _take(run: SearchRun, tree: SearchTree) -> ArcPath:
    """The best path of a run."""
    turns, lengths = extract(tree, run.found)
    if run.from_goal:
        turns, lengths = turns[::-1].copy(), -lengths[::-1]
    return ArcPath(turns, lengths, float(run.found.cost[0]), run.task.body, int(run.found.used[0]))


def _attempts(
    problem: FreeSpaceProblem, bodies: tuple[InflatedFootprint, ...], budget: int
) -> Iterator[tuple[InflatedFootprint, bool, int]]:
    """What is tried: body, root, and the expansions after which to go on to the next."""
    for body in bodies[:-1]:
        yield body, tighter_is_goal(problem, body), budget // 8
    body = bodies[-1]
    goal_first = tighter_is_goal(problem, body)
    yield body, goal_first, budget // 2
    yield body, not goal_first, budget


def free_bodies(problem: FreeSpaceProblem, bodies: tuple[InflatedFootprint, ...]) -> tuple[InflatedFootprint, ...]:
    """The bodies that touch nothing at the start and at a goal, and the last one."""
    ends = (problem.start, *problem.goals)
    return tuple(
        body
        for i, body in enumerate(bodies)
        if i == len(bodies) - 1 or not any(occupied(problem.walls, body, *end) for end in ends)
    )


class Attempts(NamedTuple):
    """Attempts at a first path that have failed: their number, the expansions that they used, and whether the last one
    left something to expand.
    """

    made: int = 0
    used: int = 0
    spent: bool = False


NO_ATTEMPTS = Attempts()
FoundPath = tuple[ArcPath, SearchRun, ObstacleHeuristic]


def first_path(
    problem: FreeSpaceProblem, bodies: tuple[InflatedFootprint, ...], budget: int, tree: SearchTree
) -> FoundPath | Reason:
    """The first path of the widest body that finds one, or why there is none. `bodies` go from wide to narrow."""
    found = attempt(problem, bodies, budget, tree, NO_ATTEMPTS, len(bodies) + 1)
    assert not isinstance(found, Attempts), "there are no more to make"
    return found


def attempt(
    problem: FreeSpaceProblem,
    bodies: tuple[InflatedFootprint, ...],
    budget: int,
    tree: SearchTree,
    failed: Attempts,
    most: int,
) -> FoundPath | Attempts | Reason:
    """The same in up to `most` further attempts; those that have failed by then if there are more to make."""
    attempts = tuple(_attempts(problem, free_bodies(problem, bodies), budget))
    for body, from_goal, share in attempts[failed.made : failed.made + most]:
        run = begin(problem, body, from_goal)
        plant(tree, run.roots, run.root_gear)
        limit = min(share, budget - failed.used)
        guide, open_left = search(run.task, tree, run.found, no_obstacle_heuristic(), limit, True)
        used = failed.used + int(run.found.used[0])
        if run.found.at[0] >= 0:
            return replace(_take(run, tree), used=used), run, guide
        failed = Attempts(failed.made + 1, used, open_left)
    if failed.made < len(attempts):
        return failed
    return Reason.TIMEOUT if failed.spent else Reason.NO_PATH


def _shortened(problem: FreeSpaceProblem, path: ArcPath, curve_cost: float, step: float) -> tuple[ArcPath, int]:
    """The path shortened over knots of its own at most `step` (m) apart, or itself when that gains nothing; words
    looked at.
    """
    task = begin(problem, path.body, False).task
    change = problem.rules.gear_cost
    turns, lengths, looks = shorten(task, problem.start, path.turns, path.lengths, problem.gear, curve_cost, step)
    before = cost_of_path(path.turns, path.lengths, problem.gear, change, curve_cost)
    if cost_of_path(turns, lengths, problem.gear, change, curve_cost) >= before:
        return path, looks
    cost = cost_of_path(turns, lengths, problem.gear, change, 0.0)
    return ArcPath(turns, lengths, cost, path.body, path.used), looks


def _shortened_repeatedly(problem: FreeSpaceProblem, path: ArcPath) -> ArcPath:
    """The path shortened again and again, over knots of other distances in turn, while that gains something."""
    idle, turn, looks = 0, 0, 0
    while idle < len(STEPS) and looks < LOOKS:
        before = path.cost
        path, more = _shortened(problem, path, 0.0, STEPS[turn % len(STEPS)])
        idle, turn, looks = (idle + 1 if path.cost > before - WORTH else 0), turn + 1, looks + more
    return path


def _pulled(problem: FreeSpaceProblem, path: ArcPath) -> ArcPath:
    """The path pulled taut, or itself when that gains nothing."""
    task = begin(problem, path.body, False).task
    turns, lengths = pull(task, problem.start, path.turns, path.lengths, problem.gear, PULLS)
    cost = cost_of_path(turns, lengths, problem.gear, problem.rules.gear_cost, 0.0)
    return ArcPath(turns, lengths, cost, path.body, path.used) if cost < path.cost else path


def _searched(
    problem: FreeSpaceProblem, best: ArcPath, run: SearchRun, guide: ObstacleHeuristic, limit: int, tree: SearchTree
) -> ArcPath:
    """A path cheaper than the best one that a search finds until it has used `limit` expansions, or that one."""
    run.found.cost[0], run.found.at[0] = best.cost, -1
    search(run.task, tree, run.found, guide, limit, False)
    return _shortened(problem, _take(run, tree), 0.0, STEPS[0])[0] if run.found.at[0] >= 0 else best


def improve(
    problem: FreeSpaceProblem, path: ArcPath, run: SearchRun, guide: ObstacleHeuristic, budget: int, tree: SearchTree
) -> ArcPath:
    """A cheaper path: shortened, replaced by what its search, gone on with in its `tree`, and one from the other end
    find within `budget` expansions, and pulled taut.
    """
    better = _bettered_from_root(problem, path, run, guide, budget // 2, tree)
    return _bettered_from_other_end(problem, better, not run.from_goal, budget - budget // 2, tree)


def _bettered_from_root(
    problem: FreeSpaceProblem, path: ArcPath, run: SearchRun, guide: ObstacleHeuristic, budget: int, tree: SearchTree
) -> ArcPath:
    """The first half of `improve`: by the search that has found the path."""
    best, _ = _shortened(problem, path, 0.0, STEPS[0])
    first = int(run.found.used[0])
    best = _searched(problem, best, run, guide, first + budget, tree)
    return replace(best, used=path.used - first + int(run.found.used[0]))


def _bettered_from_other_end(
    problem: FreeSpaceProblem, path: ArcPath, from_goal: bool, budget: int, tree: SearchTree
) -> ArcPath:
    """The second half of `improve`."""
    run = begin(problem, path.body, from_goal)
    plant(tree, run.roots, run.root_gear)
    best = _searched(problem, path, run, no_obstacle_heuristic(), budget, tree)
    used = path.used + int(run.found.used[0])
    return replace(_shortened_repeatedly(problem, _pulled(problem, best)), used=used)


def moves_of(path: ArcPath) -> FloatArray:
    """Lengths (m) that a path drives in one gear each."""
    changes = np.flatnonzero(np.diff(np.sign(path.lengths))) + 1
    return np.array([float(np.abs(move).sum()) for move in np.split(path.lengths, changes)])


def driving_effort(problem: FreeSpaceProblem, path: ArcPath) -> float:
    """What a path asks of the car (m): its cost, and as much as a gear change for each move shorter than `SHORT`."""
    return path.cost + problem.rules.gear_cost * int(np.count_nonzero(moves_of(path) < SHORT))


@dataclass(frozen=True, eq=False)
class PathSearch:
    """How far the search for the best path is: bodies still to be tried, from wide to narrow, expansions left for all
    searches together, of which up to `spare` are spent on bettering each path, and the best path so far.

    `half` is a path that is bettered from one end; `then` says whether the other end is the goal, and how many
    expansions it gets.
    """

    bodies: tuple[InflatedFootprint, ...]
    budget: int
    spare: int
    best: ArcPath | None = None
    failed: Attempts = NO_ATTEMPTS
    half: ArcPath | None = None
    then: tuple[bool, int] = (False, 0)
    hurried: bool = False
    """No easier path than the first one is looked for with less clearance."""
    first_will_do: bool = False
    """The first path that is found is not bettered."""
    outcome: ArcPath | Reason | None = None
    """What has come of it, once it is over."""


def search_on(problem: FreeSpaceProblem, search: PathSearch, tree: SearchTree) -> PathSearch:
    """The next step of a search: a path is found and bettered by the search that has found it, or bettered from its
    other end. It is over with the widest body that finds a path, or a narrower one where that is much easier.
    """
    if search.half is None:
        found = attempt(problem, search.bodies, search.budget, tree, search.failed, AT_ONCE)
        if isinstance(found, Attempts):
            return replace(search, failed=found)
        if isinstance(found, Reason):
            return replace(search, outcome=search.best or found)
        if search.first_will_do:
            return replace(search, outcome=found[0])
        share = min(search.spare, search.budget - found[0].used)
        half = _bettered_from_root(problem, *found, share // 2, tree)
        return replace(search, half=half, then=(not found[1].from_goal, share - share // 2))
    path, best = _bettered_from_other_end(problem, search.half, *search.then, tree), search.best
    if best is None or driving_effort(problem, path) + problem.rules.gear_cost < driving_effort(problem, best):
        best = path
    bodies = tuple(body for body in search.bodies if body.half < path.body.half)
    hard = len(moves_of(best)) > EASY or moves_of(best).min(initial=SHORT) < SHORT
    goes_on = bodies and hard and not search.hurried
    left = search.budget - path.used
    return replace(
        search, bodies=bodies, budget=left, best=best, failed=NO_ATTEMPTS, half=None, outcome=None if goes_on else best
    )


def soften(problem: FreeSpaceProblem, path: ArcPath, curve_cost: float) -> ArcPath:
    """The path with gentler bends where there is room: two passes, each over the knots of the one before."""
    for _ in range(2 if curve_cost > 0.0 else 0):
        path, _ = _shortened(problem, path, curve_cost, STEPS[0])
    return path
