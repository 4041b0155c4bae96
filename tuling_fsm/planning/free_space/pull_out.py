"""Out in one go: straight back as far as it helps, forward along one word, and straight on to the goal, or gently to
the side on a road that bends.

What a driver does out of a bay at the roadside or a garage. The search looks for the shortest path, which in a narrow
place is one of many short moves with the wheels turned on the spot between them; these take far longer than backing up
once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning.free_space.analytic_expansion import word_is_free
from tuling_fsm.planning.free_space.collision import InflatedFootprint, advance, free_length
from tuling_fsm.planning.free_space.path import cost_of_path, join
from tuling_fsm.planning.free_space.problem import FreeSpaceProblem
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, WORDS, words
from tuling_fsm.planning.free_space.solver import ArcPath

BACKS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""How far (m) the car backs up first; the farthest that is free is tried too."""
REACHES = (4.0, 5.0, 6.0, 7.0, 8.5, 10.0, 13.0, 16.0, 20.0, np.inf)
"""How far (m) along the direction of the goal the word leads, to where the rest of the way begins."""
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the full curvature of the words."""
SLACK = 0.02
"""What is left (m) of the room behind: in touch with a thing no motion is free."""
BENT_REACHES = (5.5, 7.0, 8.5, 10.0, 13.0)
"""The same where the road bends, but from where the car stands before it backs up: there the rest begins ..."""
ASIDE = (0.5, -0.5, 1.0, -1.0, 1.5, -1.5)
"""... so far (m, + left) beside the straight way to the goal ..."""
GENTLE = 0.25
"""... and bends with this share of the full curvature."""
ALONG = 0.7
"""Cosine of the angle to the goal's heading from which on the car stands along the road."""
DETOUR = 1.3
"""Paths longer than the straight way to the goal by this factor are left to the search."""


class _RestOfWay(NamedTuple):
    """From a pose (3,) to the goal: shares of the full curvature and lengths (m)."""

    begin: FloatArray
    turns: FloatArray
    lengths: FloatArray


def pull_out(problem: FreeSpaceProblem, body: InflatedFootprint, gear_cost: float, curve_cost: float) -> list[ArcPath]:
    """Paths of a standing car to the first goal that are free for a body, cheapest first.

    The cost is the length (m), `gear_cost` (m) for backing up, and up to `curve_cost` a metre of bend. There are none
    where the car may not reverse, or need not: forward the search finds gentler bends.
    """
    return _one_go(problem, body, gear_cost, curve_cost, lambda along: _straight_rests(problem, body, along))


def pull_out_bent(
    problem: FreeSpaceProblem, body: InflatedFootprint, gear_cost: float, curve_cost: float
) -> list[ArcPath]:
    """The same for a goal on a road that bends: the rest of the way begins beside the straight way to the goal."""
    (x, y, h), goal = problem.start, problem.goals[0]
    if elementary.cos(goal[2] - h) < ALONG:
        return []
    ahead = (goal[0] - x) * elementary.cos(goal[2]) + (goal[1] - y) * elementary.sin(goal[2])
    rests = list(_bent_rests(problem, body, ahead))
    return _one_go(problem, body, gear_cost, curve_cost, lambda along: rests) if rests else []


def _one_go(
    problem: FreeSpaceProblem,
    body: InflatedFootprint,
    gear_cost: float,
    curve_cost: float,
    rests: Callable[[float], Iterable[_RestOfWay]],
) -> list[ArcPath]:
    """The paths with the rests of the way that there are for a goal so far (m) ahead."""
    if problem.gear or problem.rules.only > 0:
        return []
    goal, start = problem.goals[0], problem.start
    longest = DETOUR * elementary.hypot(goal[0] - start[0], goal[1] - start[1])
    found: list[ArcPath] = []
    for back in _backs(problem, body):
        x, y, h = advance(start[0], start[1], start[2], 0.0, -back)
        begin = np.array((x, y, h))
        along = (goal[0] - x) * elementary.cos(goal[2]) + (goal[1] - y) * elementary.sin(goal[2])
        for rest in rests(float(along)):
            for turns, lengths in _forward_words(problem, body, begin, rest.begin, SHARES):
                path = join(np.array((0.0, *turns, *rest.turns)), np.array((-back, *lengths, *rest.lengths)))
                cost = cost_of_path(*path, 0, gear_cost, curve_cost)
                if float(lengths.sum() + rest.lengths.sum()) <= longest + back:
                    found.append(ArcPath(*path, cost, body, 0))
        if back == 0.0 and found:
            return []
    return sorted(found, key=lambda path: path.cost)


def _backs(problem: FreeSpaceProblem, body: InflatedFootprint) -> tuple[float, ...]:
    """Lengths (m) that the car can back up straight."""
    x, y, h = problem.start
    free = float(free_length(problem.walls, body, x, y, h, curvature=0.0, gear=-1, limit=BACKS[-1]))
    return tuple(sorted({min(back, max(0.0, free - SLACK)) for back in BACKS}))


def _straight_rests(problem: FreeSpaceProblem, body: InflatedFootprint, along: float) -> Iterator[_RestOfWay]:
    for tail in sorted({max(0.0, along - reach) for reach in REACHES}):
        begin, rest = _beside_way(problem, tail, 0.0), _straight(tail)
        if word_is_free(problem.walls, body, problem.area, begin, rest, _straight(0.0), problem.rules.curvature):
            yield _RestOfWay(begin, np.zeros(1), rest[:1])


def _bent_rests(problem: FreeSpaceProblem, body: InflatedFootprint, along: float) -> Iterator[_RestOfWay]:
    for tail in (along - reach for reach in BENT_REACHES if reach < along):
        for aside in ASIDE:
            begin = _beside_way(problem, tail, aside)
            words_on = _forward_words(problem, body, begin, problem.goals[0], (GENTLE,))
            rest = min(words_on, key=lambda word: float(word[1].sum()), default=None)
            if rest is not None and float(rest[1].sum()) < DETOUR * tail:
                yield _RestOfWay(begin, *rest)


def _beside_way(problem: FreeSpaceProblem, tail: float, aside: float) -> FloatArray:
    """The pose `tail` (m) before the goal and `aside` (m, + left) of the straight way to it."""
    x, y, h = problem.goals[0]
    cos, sin = elementary.cos(h), elementary.sin(h)
    return np.array((x - tail * cos - aside * sin, y - tail * sin + aside * cos, h))


def _forward_words(
    problem: FreeSpaceProblem, body: InflatedFootprint, begin: FloatArray, end: FloatArray, shares: tuple[float, ...]
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Turns and lengths (m) of the words from a pose to another that only go forward and are free."""
    full = problem.rules.curvature
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    c, s = elementary.cos(begin[2]), elementary.sin(begin[2])
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))
    for share in shares:
        k = share * full
        count = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, end[2] - begin[2], lengths, steers)
        for w in np.flatnonzero((lengths[:count] >= -TINY).all(axis=1)):
            turns, way = share * steers[w], lengths[w] / k
            if word_is_free(problem.walls, body, problem.area, begin, way, turns, full):
                yield turns, way


def _straight(length: float) -> FloatArray:
    """A piece of a word, and nothing else."""
    piece = np.zeros(PIECES)
    piece[0] = length
    return piece
