"""Out in one go: straight back as far as it helps, forward along one word, and straight on to the goal.

What a driver does out of a bay at the roadside or a garage. The search looks for the shortest path, which in a narrow
place is one of many short moves with the wheels turned on the spot between them; these take far longer than backing up
once.
"""

from __future__ import annotations

from collections.abc import Iterator

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
"""How far (m) along the direction of the goal the word leads; the rest of the way is straight."""
SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
"""Shares of the full curvature of the words."""
SLACK = 0.02
"""What is left (m) of the room behind: in touch with a thing no motion is free."""
DETOUR = 1.3
"""Paths longer than the straight way to the goal by this factor are left to the search."""


def pull_out(problem: FreeSpaceProblem, body: InflatedFootprint, gear_cost: float, curve_cost: float) -> list[ArcPath]:
    """Paths of a standing car to the first goal that are free for a body, cheapest first.

    The cost is the length (m), `gear_cost` (m) for backing up, and up to `curve_cost` a metre of bend. There are none
    where the car may not reverse, or need not: forward the search finds gentler bends.
    """
    if problem.gear or problem.rules.only > 0:
        return []
    goal, start = problem.goals[0], problem.start
    longest = DETOUR * elementary.hypot(goal[0] - start[0], goal[1] - start[1])
    found: list[ArcPath] = []
    for back in _backs(problem, body):
        x, y, h = advance(start[0], start[1], start[2], 0.0, -back)
        begin = np.array((x, y, h))
        along = (goal[0] - x) * elementary.cos(goal[2]) + (goal[1] - y) * elementary.sin(goal[2])
        for tail in sorted({max(0.0, float(along - reach)) for reach in REACHES}):
            for turns, lengths in _forward_words(problem, body, begin, tail):
                path = join(np.array((0.0, *turns, 0.0)), np.array((-back, *lengths, tail)))
                cost = cost_of_path(*path, 0, gear_cost, curve_cost)
                if float(lengths.sum()) + tail <= longest + back:
                    found.append(ArcPath(*path, cost, body, 0))
        if back == 0.0 and found:
            return []
    return sorted(found, key=lambda path: path.cost)


def _backs(problem: FreeSpaceProblem, body: InflatedFootprint) -> tuple[float, ...]:
    """Lengths (m) that the car can back up straight."""
    x, y, h = problem.start
    free = float(free_length(problem.walls, body, x, y, h, 0.0, -1, BACKS[-1]))
    return tuple(sorted({min(back, max(0.0, free - SLACK)) for back in BACKS}))


def _forward_words(
    problem: FreeSpaceProblem, body: InflatedFootprint, begin: FloatArray, tail: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Turns and lengths (m) of the words from a pose to `tail` (m) before the goal that only go forward and are free,
    with the straight rest of the way.
    """
    goal = problem.goals[0]
    end = np.array((goal[0] - tail * elementary.cos(goal[2]), goal[1] - tail * elementary.sin(goal[2]), goal[2]))
    full = problem.rules.curvature
    if not word_is_free(problem.walls, body, problem.area, end, _straight(tail), _straight(0.0), full):
        return
    dx, dy = end[0] - begin[0], end[1] - begin[1]
    c, s = elementary.cos(begin[2]), elementary.sin(begin[2])
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))
    for share in SHARES:
        k = share * full
        count = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, end[2] - begin[2], lengths, steers)
        for w in range(count):
            if bool(np.all(lengths[w] >= -TINY)):
                turns, way = share * steers[w], lengths[w] / k
                if word_is_free(problem.walls, body, problem.area, begin, way, turns, full):
                    yield turns, way


def _straight(length: float) -> FloatArray:
    """A piece of a word, and nothing else."""
    piece = np.zeros(PIECES)
    piece[0] = length
    return piece
