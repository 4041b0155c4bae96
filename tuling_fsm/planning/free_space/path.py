"""Paths of arcs and lines: taken out of the search tree, shortened and softened.

A path is two arrays in driving order: `turns`, the share of the full curvature (+ left), and `lengths` (m, negative
in reverse).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inner, kernel, maker
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, WORDS, cost_of, words
from tuling_fsm.planning.free_space.search import Found, Task
from tuling_fsm.planning.free_space.shot import word_is_free
from tuling_fsm.planning.free_space.sweep import advance
from tuling_fsm.planning.free_space.tree import Tree

Scratch = tuple[FloatArray, FloatArray, FloatArray]

KNOTS = 60
"""Most knots that are tried."""
SOFT = (1.0, 0.5, 0.25, 0.125)
"""Shares of the full curvature with which words are tried."""
KEPT = 512
"""Most words that are kept in one pass."""
GAIN = 1e-6
"""Smaller gains (m) are none."""


class Draft(NamedTuple):
    """Shortest paths over the knots of a path in the making.

    `pose` (K, 3) of the knots, `turn` and `move` (K,) to each from the one before; `cost` (K, 2) by last gear (0
    forward, 1 reverse) and `back` (K, 2, 3) = knot before, gear there, word (-1: along the path). `kept[0]` words lie
    in `word_turns`, `word_lengths`; `kept[1]` words were looked at.
    """

    pose: FloatArray
    turn: FloatArray
    move: FloatArray
    cost: FloatArray
    back: npt.NDArray[np.int64]
    word_turns: FloatArray
    word_lengths: FloatArray
    kept: npt.NDArray[np.int64]


@njit(cache=True, error_model="numpy")
def join(turns: FloatArray, lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same path with neighbouring pieces of one curvature and gear made one, and empty ones left out."""
    out_turns, out_lengths, n = np.empty(len(turns)), np.empty(len(turns)), 0
    for i in range(len(turns)):
        if abs(lengths[i]) <= TINY:
            continue
        if n > 0 and out_turns[n - 1] == turns[i] and out_lengths[n - 1] * lengths[i] > 0.0:
            out_lengths[n - 1] += lengths[i]
        else:
            out_turns[n], out_lengths[n] = turns[i], lengths[i]
            n += 1
    return out_turns[:n], out_lengths[:n]


@njit(cache=True, error_model="numpy")
def extract(tree: Tree, found: Found) -> tuple[FloatArray, FloatArray]:
    """The best path from its root to its target."""
    depth, node = 0, found.at[0]
    while tree.parent[node] >= 0:
        node = tree.parent[node]
        depth += 1
    turns, lengths = np.empty(depth + PIECES), np.empty(depth + PIECES)
    for i in range(PIECES):
        turns[depth + i], lengths[depth + i] = found.steers[i], found.lengths[i]
    node = found.at[0]
    for i in range(depth - 1, -1, -1):
        turns[i], lengths[i] = tree.steer[node], tree.length[node]
        node = tree.parent[node]
    joined: tuple[FloatArray, FloatArray] = join(turns, lengths)
    return joined


@kernel
def cost_of_path(turns: FloatArray, lengths: FloatArray, gear: int, gear_cost: float, curve_cost: float) -> float:
    """Length (m) plus `gear_cost` for each change of gear (0 before: none), plus `curve_cost` a metre at full turn."""
    total = 0.0
    for i in range(len(lengths)):
        now = 1 if lengths[i] > 0.0 else -1
        total += abs(lengths[i]) * (1.0 + curve_cost * turns[i] ** 2) + (gear_cost if gear * now < 0 else 0.0)
        gear = now
    return total


@inner
def _moves(lengths: FloatArray, step: float) -> int:
    """Number of moves of at most `step` (m) along a path."""
    count = 0
    for i in range(len(lengths)):
        count += math.ceil(abs(lengths[i]) / step)
    return count


@njit(cache=True, error_model="numpy")
def knots(
    root: FloatArray, turns: FloatArray, lengths: FloatArray, curvature: float, step: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Poses (K, 3) on a path from a root at most `step` (m) apart, or as many as may be; turn and move to each."""
    most = max(KNOTS, len(lengths) + 1)
    while _moves(lengths, step) >= most:
        step *= 1.25
    count = _moves(lengths, step) + 1
    pose, turn, move = np.empty((count, 3)), np.zeros(count), np.zeros(count)
    pose[0, 0], pose[0, 1], pose[0, 2] = root[0], root[1], root[2]
    n = 1
    for i in range(len(lengths)):
        bits = math.ceil(abs(lengths[i]) / step)
        for _ in range(bits):
            x, y, h = advance(pose[n - 1, 0], pose[n - 1, 1], pose[n - 1, 2], curvature * turns[i], lengths[i] / bits)
            pose[n, 0], pose[n, 1], pose[n, 2] = x, y, h
            turn[n], move[n] = turns[i], lengths[i] / bits
            n += 1
    return pose, turn, move


@maker
def _draft(root: FloatArray, turns: FloatArray, lengths: FloatArray, curvature: float, step: float) -> Draft:
    """The knots of a path, none of them reached yet."""
    pose, turn, move = knots(root, turns, lengths, curvature, step)
    count = len(pose)
    words_of = np.empty((KEPT, PIECES)), np.empty((KEPT, PIECES))
    cost, back = np.empty((count, 2)), np.zeros((count, 2, 3), np.int64)
    for i in range(count):
        cost[i, 0], cost[i, 1] = np.inf, np.inf
    return Draft(pose, turn, move, cost, back, words_of[0], words_of[1], np.zeros(2, np.int64))


@inner
def _reach(draft: Draft, i: int, before: int, j: int, last: int, cost: float, word: int) -> None:
    """Notes that knot j is best reached in gear `last` from knot i left in gear `before`."""
    draft.cost[j, last] = cost
    draft.back[j, last, 0], draft.back[j, last, 1], draft.back[j, last, 2] = i, before, word


@inner
def _follow(draft: Draft, j: int, gear_cost: float, curve_cost: float) -> None:
    """Reaches knot j along the path."""
    last = int(draft.move[j] < 0.0)
    for before in range(2):
        cost = draft.cost[j - 1, before] + abs(draft.move[j]) * (1.0 + curve_cost * draft.turn[j] ** 2)
        cost += gear_cost if before != last else 0.0
        if cost < draft.cost[j, last]:
            _reach(draft, j - 1, before, j, last, cost, -1)


@kernel
def gears(lengths: FloatArray) -> tuple[int, int]:
    """First and last gear of a word, or 0 twice when it is empty."""
    first, last = 0, 0
    for i in range(PIECES):
        if abs(lengths[i]) > TINY:
            last = 1 if lengths[i] > 0.0 else -1
            first = last if first == 0 else first
    return first, last


@inner
def _allowed(lengths: FloatArray, only: int) -> bool:
    """Whether a word keeps to the only gear (0: both are allowed)."""
    allowed = True
    for i in range(PIECES):
        allowed = allowed and only * lengths[i] >= -TINY
    return allowed


@inner
def _bridge(task: Task, draft: Draft, i: int, j: int, soft: float, curve_cost: float, scratch: Scratch) -> None:
    """Reaches knot j from knot i by the words of one curvature that pay and are free."""
    lengths, steers, turns = scratch
    change, k = task.rules.gear_cost, task.rules.curvature * soft
    start, end = draft.pose[i], draft.pose[j]
    dx, dy, c, s = end[0] - start[0], end[1] - start[1], elementary.cos(start[2]), elementary.sin(start[2])
    for w in range(words((c * dx + s * dy) * k, (c * dy - s * dx) * k, end[2] - start[2], lengths, steers)):
        begins, ends = gears(lengths[w])
        first, last = int(begins < 0), int(ends < 0)
        if begins == 0 or not _allowed(lengths[w], task.rules.only):
            continue
        cost = cost_of(lengths[w], 1.0 / k, 0, 0, change)
        for p in range(PIECES):
            lengths[w, p] /= k
            turns[p] = soft * steers[w, p]
            cost += curve_cost * turns[p] ** 2 * abs(lengths[w, p])
        by = (draft.cost[i, 0] + (change if first == 1 else 0.0), draft.cost[i, 1] + (change if first == 0 else 0.0))
        before = int(by[1] < by[0])
        cost += by[before]
        if cost >= draft.cost[j, last] - GAIN or cost >= draft.cost[j, 1 - last] + change or draft.kept[0] == KEPT:
            continue
        draft.kept[1] += 1
        if word_is_free(task.walls, task.body, task.area, start, lengths[w], turns, task.rules.curvature):
            n = draft.kept[0]
            for p in range(PIECES):
                draft.word_turns[n, p], draft.word_lengths[n, p] = turns[p], lengths[w, p]
            draft.kept[0] += 1
            _reach(draft, i, before, j, last, cost, n)


@njit(cache=True, error_model="numpy")
def shorten(
    task: Task, root: FloatArray, turns: FloatArray, lengths: FloatArray, gear: int, curve_cost: float, step: float
) -> tuple[FloatArray, FloatArray, int]:
    """The cheapest path over the knots of a path, between any two of which it may follow the path or a free word; and
    how many words were looked at.

    `gear` is the one before the path (0: standing), `step` (m) the largest distance between knots. Only a `curve_cost`
    makes words of less than the full curvature pay.
    """
    change = task.rules.gear_cost
    draft = _draft(root, turns, lengths, task.rules.curvature, step)
    scratch = (np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES)), np.empty(PIECES))
    draft.cost[0, 0], draft.cost[0, 1] = change if gear < 0 else 0.0, change if gear > 0 else 0.0
    for j in range(1, len(draft.pose)):
        _follow(draft, j, change, curve_cost)
        for i in range(j - 1):
            apart = elementary.hypot(draft.pose[j, 0] - draft.pose[i, 0], draft.pose[j, 1] - draft.pose[i, 1])
            if min(draft.cost[i, 0], draft.cost[i, 1]) + apart >= max(draft.cost[j, 0], draft.cost[j, 1]):
                continue
            for soft in SOFT:
                if soft == 1.0 or curve_cost > 0.0:
                    _bridge(task, draft, i, j, soft, curve_cost, scratch)
    best_turns, best_lengths = _unwind(draft)
    return best_turns, best_lengths, draft.kept[1]


@maker
def _unwind(draft: Draft) -> tuple[FloatArray, FloatArray]:
    """The pieces of the cheapest path to the last knot."""
    j = len(draft.cost) - 1
    gear = int(draft.cost[j, 1] < draft.cost[j, 0])
    turns, lengths = np.zeros(PIECES * len(draft.cost)), np.zeros(PIECES * len(draft.cost))
    n = len(turns)
    while j > 0:
        i, before, word = draft.back[j, gear]
        n -= PIECES
        if word < 0:
            turns[n], lengths[n] = draft.turn[j], draft.move[j]
        else:
            for p in range(PIECES):
                turns[n + p], lengths[n + p] = draft.word_turns[word, p], draft.word_lengths[word, p]
        j, gear = i, before
    joined: tuple[FloatArray, FloatArray] = join(turns[n:], lengths[n:])
    return joined
