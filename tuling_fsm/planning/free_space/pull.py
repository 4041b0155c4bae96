"""Pulls a path taut: the poses on it are shifted to where the car gets past them more cheaply.

`shorten` looks only at poses on the path, so it cannot move the place at which the car changes gear; here a stretch is
replaced by two words that meet at a pose beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inner, maker
from tuling_fsm.planning.free_space.path import gears, join, knots
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS, cost_of, words
from tuling_fsm.planning.free_space.search import Task
from tuling_fsm.planning.free_space.shot import word_is_free

SHIFTS = ((0.5, 5), (0.5, 2), (0.15, 3), (0.05, 2))
"""How far (m) poses are shifted in turn, and over how many knots to each side the path is replaced."""
TURN = 0.4
"""Heading (rad) that is turned for a metre of shift."""
STEP = 1.0
"""Largest distance (m) between the poses."""
WORTH = 1e-3
"""Smaller gains (m) are none."""


class Words(NamedTuple):
    """Words of a stretch: lengths (m) and steers (44, 5); cost (m), first and last gear (44, 3)."""

    lengths: FloatArray
    steers: FloatArray
    facts: FloatArray


@maker
def _words() -> Words:
    """Room for the words of a stretch."""
    return Words(np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES)), np.empty((WORDS, 3)))


@inner
def _list(task: Task, start: FloatArray, end: FloatArray, found: Words) -> int:
    """Lists the words from one pose to another that keep to the only gear; their number."""
    k, c, s = task.rules.curvature, elementary.cos(start[2]), elementary.sin(start[2])
    dx, dy = end[0] - start[0], end[1] - start[1]
    count = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, end[2] - start[2], found.lengths, found.steers)
    for w in range(count):
        first, last = gears(found.lengths[w])
        cost = cost_of(found.lengths[w], 1.0 / k, 0, 0, task.rules.gear_cost)
        for p in range(PIECES):
            found.lengths[w, p] /= k
            cost = np.inf if task.rules.only * found.lengths[w, p] < -1e-9 else cost
        found.facts[w, 0], found.facts[w, 1], found.facts[w, 2] = cost, first, last
    return count


@inner
def _cheapest(
    one: Words, n: int, other: Words, m: int, before: int, after: int, change: float
) -> tuple[float, int, int]:
    """Cost and rows of the cheapest two words, between the gears `before` and `after` (0: none)."""
    best, a, b = np.inf, -1, -1
    for i in range(n):
        begun = one.facts[i, 0] + (change if before * one.facts[i, 1] < 0 else 0.0)
        if begun >= best:
            continue
        gear = one.facts[i, 2] if one.facts[i, 2] != 0 else before
        for j in range(m):
            cost = begun + other.facts[j, 0] + (change if gear * other.facts[j, 1] < 0 else 0.0)
            last = other.facts[j, 2] if other.facts[j, 2] != 0 else gear
            cost += change if last * after < 0 else 0.0
            if cost < best:
                best, a, b = cost, i, j
    return best, a, b


@inner
def _by_way_of(
    task: Task, start: FloatArray, middle: FloatArray, end: FloatArray, before: int, after: int, bound: float,
    one: Words, other: Words,
) -> tuple[int, int]:  # fmt: skip
    """Rows of the two cheapest free words by way of a pose that together cost less than `bound`, or -1 twice."""
    n, m, k = _list(task, start, middle, one), _list(task, middle, end, other), task.rules.curvature
    a, b = 0, 0
    while a >= 0:
        cost, a, b = _cheapest(one, n, other, m, before, after, task.rules.gear_cost)
        if cost >= bound:
            return -1, -1
        if not word_is_free(task.walls, task.body, task.area, start, one.lengths[a], one.steers[a], k):
            one.facts[a, 0] = np.inf
        elif not word_is_free(task.walls, task.body, task.area, middle, other.lengths[b], other.steers[b], k):
            other.facts[b, 0] = np.inf
        else:
            return a, b
    return -1, -1


@inner
def _gear(move: FloatArray, i: int, gear: int) -> int:
    """The gear in which knot i is reached; that before the path at the first."""
    if i == 0:
        return gear
    return 1 if move[i] > 0.0 else -1


@inner
def _cost(move: FloatArray, a: int, b: int, before: int, after: int, change: float) -> float:
    """Cost (m) of the path from knot a to knot b, with the changes of gear at both."""
    total = 0.0
    for i in range(a + 1, b + 1):
        now = _gear(move, i, 0)
        total += abs(move[i]) + (change if before * now < 0 else 0.0)
        before = now
    return total + (change if before * after < 0 else 0.0)


@maker
def _spliced(
    turn: FloatArray, move: FloatArray, a: int, b: int, one: Words, i: int, other: Words, j: int
) -> tuple[FloatArray, FloatArray]:
    """The path with two words between knots a and b."""
    size = len(turn) - 1 - b + a + 2 * PIECES
    turns, lengths = np.empty(size), np.empty(size)
    for k in range(a):
        turns[k], lengths[k] = turn[k + 1], move[k + 1]
    for p in range(PIECES):
        turns[a + p], lengths[a + p] = one.steers[i, p], one.lengths[i, p]
        turns[a + PIECES + p], lengths[a + PIECES + p] = other.steers[j, p], other.lengths[j, p]
    for k in range(b + 1, len(turn)):
        turns[k - b - 1 + a + 2 * PIECES], lengths[k - b - 1 + a + 2 * PIECES] = turn[k], move[k]
    joined: tuple[FloatArray, FloatArray] = join(turns, lengths)
    return joined


@njit(cache=True, error_model="numpy")
def pull(
    task: Task, root: FloatArray, turns: FloatArray, lengths: FloatArray, gear: int, most: int
) -> tuple[FloatArray, FloatArray]:
    """The path with its poses shifted while that makes it cheaper, in up to `most` tries."""
    one, other, middle = _words(), _words(), np.empty(3)
    for size, wide in SHIFTS:
        pose, turn, move = knots(root, turns, lengths, task.rules.curvature, STEP)
        knot, way = 1, 0
        while knot < len(pose) - 1 and most > 0:
            a, b = max(0, knot - wide), min(len(pose) - 1, knot + wide)
            before, after = _gear(move, a, gear), _gear(move, b + 1, 0) if b + 1 < len(move) else 0
            now = _cost(move, a, b, before, after, task.rules.gear_cost)
            ahead, left = size * (way == 0) - size * (way == 1), size * (way == 2) - size * (way == 3)
            c, s = elementary.cos(pose[knot, 2]), elementary.sin(pose[knot, 2])
            middle[0], middle[1] = pose[knot, 0] + c * ahead - s * left, pose[knot, 1] + s * ahead + c * left
            middle[2] = pose[knot, 2] + TURN * size * (way == 4) - TURN * size * (way == 5)
            i, j = _by_way_of(task, pose[a], middle, pose[b], before, after, now - WORTH, one, other)
            most -= 1
            if i >= 0:
                turns, lengths = _spliced(turn, move, a, b, one, i, other, j)
                pose, turn, move = knots(root, turns, lengths, task.rules.curvature, STEP)
            else:
                way = (way + 1) % 6
                knot += 1 if way == 0 else 0
    return turns, lengths
