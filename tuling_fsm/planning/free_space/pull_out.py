"""Out in one go: straight back as far as it helps, forward along one word, and straight on to the goal, or gently to
the side on a road that bends.

What a driver does out of a bay at the roadside or a garage. The search looks for the shortest path, which in a narrow
place is one of many short moves with the wheels turned on the spot between them; these take far longer than backing up
once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.planning.free_space.analytic_expansion import SearchArea, word_is_free
from tuling_fsm.planning.free_space.collision import InflatedFootprint, SegmentGrid, advance, free_length
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


class _Rests(NamedTuple):
    """Rests of the way to the goal: poses (R, 3) where they begin, shares of the full curvature and lengths (m) of
    their pieces (R, PIECES).
    """

    begin: FloatArray
    turns: FloatArray
    lengths: FloatArray


class _ForwardWords(NamedTuple):
    """Words (N, PIECES) that only go forward and are free: turns in shares of the full curvature, lengths (m), and to
    which pose each leads (N,).
    """

    turns: FloatArray
    lengths: FloatArray
    to: IntArray


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
    sine, cosine = elementary.sin_cos(goal[2])
    ahead = (goal[0] - x) * cosine + (goal[1] - y) * sine
    rests = _bent_rests(problem, body, ahead)
    return _one_go(problem, body, gear_cost, curve_cost, lambda along: rests) if len(rests.begin) else []


def _one_go(
    problem: FreeSpaceProblem,
    body: InflatedFootprint,
    gear_cost: float,
    curve_cost: float,
    rests_of: Callable[[float], _Rests],
) -> list[ArcPath]:
    """The paths with the rests of the way that there are for a goal so far (m) ahead."""
    if problem.gear or problem.rules.only > 0:
        return []
    goal, start = problem.goals[0], problem.start
    longest = DETOUR * elementary.hypot(goal[0] - start[0], goal[1] - start[1])
    found: list[ArcPath] = []
    for back in _backs(problem, body):
        x, y, h = advance(start[0], start[1], start[2], 0.0, -back)
        sine, cosine = elementary.sin_cos(goal[2])
        along = (goal[0] - x) * cosine + (goal[1] - y) * sine
        rests = rests_of(float(along))
        most = longest + back - rests.lengths.sum(axis=1)
        ways = _forward(problem, body, np.array((x, y, h)), rests.begin, most, SHARES)
        for turns, lengths, to in zip(ways.turns, ways.lengths, ways.to, strict=True):
            path = join(
                np.concatenate(((0.0,), turns, rests.turns[to])), np.concatenate(((-back,), lengths, rests.lengths[to]))
            )
            found.append(ArcPath(*path, cost_of_path(*path, 0, gear_cost, curve_cost), body, 0))
        if back == 0.0 and found:
            return []
    return sorted(found, key=lambda path: path.cost)


def _backs(problem: FreeSpaceProblem, body: InflatedFootprint) -> tuple[float, ...]:
    """Lengths (m) that the car can back up straight."""
    x, y, h = problem.start
    free = float(free_length(problem.walls, body, x, y, h, curvature=0.0, gear=-1, limit=BACKS[-1]))
    return tuple(sorted({min(back, max(0.0, free - SLACK)) for back in BACKS}))


def _straight_rests(problem: FreeSpaceProblem, body: InflatedFootprint, along: float) -> _Rests:
    tails = np.array(sorted({max(0.0, along - reach) for reach in REACHES}))
    begin = np.array([_beside_way(problem, tail, 0.0) for tail in tails.tolist()])
    free = _straight_on(problem.walls, body, problem.area, begin, tails)
    return _Rests(begin[free], np.zeros((int(free.sum()), 1)), tails[free, None])


def _bent_rests(problem: FreeSpaceProblem, body: InflatedFootprint, along: float) -> _Rests:
    rests: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    for tail in (along - reach for reach in BENT_REACHES if reach < along):
        for aside in ASIDE:
            begin = _beside_way(problem, tail, aside)
            ways = _forward(problem, body, begin, problem.goals[:1], np.array((DETOUR * tail,)), (GENTLE,))
            if len(ways.to):
                best = int(np.argmin(ways.lengths.sum(axis=1)))
                rests.append((begin, ways.turns[best], ways.lengths[best]))
    return _Rests(*(np.array(each) for each in zip(*rests, strict=True))) if rests else _NONE


_NONE = _Rests(np.zeros((0, 3)), np.zeros((0, PIECES)), np.zeros((0, PIECES)))


def _beside_way(problem: FreeSpaceProblem, tail: float, aside: float) -> FloatArray:
    """The pose `tail` (m) before the goal and `aside` (m, + left) of the straight way to it."""
    x, y, h = problem.goals[0]
    sin, cos = elementary.sin_cos(h)
    return np.array((x - tail * cos - aside * sin, y - tail * sin + aside * cos, h))


@array_kernel
def _straight_on(
    walls: SegmentGrid, body: InflatedFootprint, area: SearchArea, begin: FloatArray, lengths: FloatArray
) -> BoolArray:
    """From which poses (N, 3) the car can go straight on for a length (N,), m."""
    free, piece, straight = np.empty(len(begin), np.bool_), np.zeros(PIECES), np.zeros(PIECES)
    for i in range(len(begin)):
        piece[0] = lengths[i]
        free[i] = word_is_free(walls, body, area, begin[i], piece, straight, 0.0)
    return free


def _forward(
    problem: FreeSpaceProblem,
    body: InflatedFootprint,
    begin: FloatArray,
    ends: FloatArray,
    longest: FloatArray,
    shares: tuple[float, ...],
) -> _ForwardWords:
    """The words from a pose (3,) to others (N, 3) that only go forward, are no longer than `longest` (N,) and free."""
    return _ForwardWords(
        *_forward_words(
            problem.walls, body, problem.area, problem.rules.curvature, begin, ends, longest, np.array(shares)
        )
    )


@array_kernel
def _forward_words(
    walls: SegmentGrid,
    body: InflatedFootprint,
    area: SearchArea,
    full: float,
    begin: FloatArray,
    ends: FloatArray,
    longest: FloatArray,
    shares: FloatArray,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The same of `shares` of the full curvature (1/m)."""
    most = len(ends) * len(shares) * WORDS
    turns, lengths, to, n = np.empty((most, PIECES)), np.empty((most, PIECES)), np.empty(most, np.int64), 0
    way, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))
    s, c = elementary.sin_cos(begin[2])
    for i in range(len(ends)):
        dx, dy, turn = ends[i, 0] - begin[0], ends[i, 1] - begin[1], ends[i, 2] - begin[2]
        for share in shares:
            k = share * full
            count = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, turn, way, steers, longest[i] * k)
            for w in range(count):
                if way[w].min() < -TINY:
                    continue
                for p in range(PIECES):
                    turns[n, p], lengths[n, p] = share * steers[w, p], way[w, p] / k
                if word_is_free(walls, body, area, begin, lengths[n], turns[n], full):
                    to[n] = i
                    n += 1
    return turns[:n], lengths[:n], to[:n]
