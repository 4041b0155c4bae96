"""Paths of arcs and lines: taken out of the search tree, shortened and softened.

A path is two arrays in driving order: `turns`, the share of the full curvature (+ left), and `lengths` (m, negative
in reverse).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.free_space.analytic_expansion import word_is_free
from tuling_fsm.planning.free_space.collision import advance
from tuling_fsm.planning.free_space.hybrid_a_star import BestPath, SearchTask
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, WORDS, cost_of, words
from tuling_fsm.planning.free_space.search_tree import SearchTree

Scratch = tuple[FloatArray, FloatArray, FloatArray]

KNOTS = 60
"""Most knots that are tried."""
SOFT = (1.0, 0.5, 0.25, 0.125)
"""Shares of the full curvature with which words are tried."""
KEPT = 512
"""Most words that are kept in one pass."""
GAIN = 1e-6
"""Smaller gains (m) are none."""


class PathDraft(NamedTuple):
    """Shortest paths over the knots of a path in the making.

    `pose` (K, 3) of the knots, `turn` and `move` (K,) to each from the one before; `cost` (K, 2) by last gear (0
    forward, 1 reverse) and `back` (K, 2, 3) = knot before, gear there, word (-1: along the path). `kept[0]` words lie
    in `word_turns`, `word_lengths`; `kept[1]` words were looked at.
    """

    pose: FloatArray
    turn: FloatArray
    move: FloatArray
    cost: FloatArray
    back: IntArray
    word_turns: FloatArray
    word_lengths: FloatArray
    kept: IntArray


@array_kernel
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


@array_kernel
def extract(tree: SearchTree, found: BestPath) -> tuple[FloatArray, FloatArray]:
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


@kernel
def _moves(lengths: FloatArray, step: float) -> int:
    """Number of moves of at most `step` (m) along a path."""
    count = 0
    for i in range(len(lengths)):
        count += math.ceil(abs(lengths[i]) / step)
    return count


@array_kernel
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


@array_kernel
def _draft(root: FloatArray, turns: FloatArray, lengths: FloatArray, curvature: float, step: float) -> PathDraft:
    """The knots of a path, none of them reached yet."""
    pose, turn, move = knots(root, turns, lengths, curvature, step)
    count = len(pose)
    words_of = np.empty((KEPT, PIECES)), np.empty((KEPT, PIECES))
    cost, back = np.empty((count, 2)), np.zeros((count, 2, 3), np.int64)
    for i in range(count):
        cost[i, 0], cost[i, 1] = np.inf, np.inf
    return PathDraft(pose, turn, move, cost, back, words_of[0], words_of[1], np.zeros(2, np.int64))


@kernel
def _reach(draft: PathDraft, i: int, before: int, j: int, last: int, cost: float, word: int) -> None:
    """Notes that knot j is best reached in gear `last` from knot i left in gear `before`."""
    draft.cost[j, last] = cost
    draft.back[j, last, 0], draft.back[j, last, 1], draft.back[j, last, 2] = i, before, word


@kernel
def _follow(draft: PathDraft, j: int, gear_cost: float, curve_cost: float) -> None:
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


@kernel
def _allowed(lengths: FloatArray, only: int) -> bool:
    """Whether a word keeps to the only gear (0: both are allowed)."""
    allowed = True
    for i in range(PIECES):
        allowed = allowed and only * lengths[i] >= -TINY
    return allowed


@kernel
def _longest(draft: PathDraft, i: int, j: int, change: float) -> float:
    """Length (m) from which on no word from knot i to knot j pays."""
    longest = -np.inf
    for last in range(2):
        most = min(draft.cost[j, last], draft.cost[j, 1 - last] + change)
        least = min(draft.cost[i, last], draft.cost[i, 1 - last] + change)
        longest = max(longest, most - least if least < np.inf else -np.inf)
    return longest


@kernel
def _bridge(
    task: SearchTask, draft: PathDraft, i: int, j: int, soft: float, curve_cost: float, longest: float, buffers: Scratch
) -> None:
    """Reaches knot j from knot i by the words of one curvature, up to `longest` (m), that pay and are free."""
    lengths, steers, turns = buffers
    change, k = task.rules.gear_cost, task.rules.curvature * soft
    start, end = draft.pose[i], draft.pose[j]
    dx, dy, (s, c) = end[0] - start[0], end[1] - start[1], elementary.sin_cos(start[2])
    turn = end[2] - start[2]
    for w in range(words((c * dx + s * dy) * k, (c * dy - s * dx) * k, turn, lengths, steers, longest * k)):
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


@array_kernel
def shorten(
    task: SearchTask,
    root: FloatArray,
    turns: FloatArray,
    lengths: FloatArray,
    gear: int,
    curve_cost: float,
    step: float,
) -> tuple[FloatArray, FloatArray, int]:
    """The cheapest path over the knots of a path, between any two of which it may follow the path or a free word; and
    how many words were looked at.

    `gear` is the one before the path (0: standing), `step` (m) the largest distance between knots. Only a `curve_cost`
    makes words of less than the full curvature pay.
    """
    change = task.rules.gear_cost
    draft = _draft(root, turns, lengths, task.rules.curvature, step)
    buffers = (np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES)), np.empty(PIECES))
    draft.cost[0, 0], draft.cost[0, 1] = change if gear < 0 else 0.0, change if gear > 0 else 0.0
    for j in range(1, len(draft.pose)):
        _follow(draft, j, change, curve_cost)
        for i in range(j - 1):
            apart = elementary.hypot(draft.pose[j, 0] - draft.pose[i, 0], draft.pose[j, 1] - draft.pose[i, 1])
            turn = draft.pose[j, 2] - draft.pose[i, 2]
            turned = abs(turn - 2.0 * math.pi * np.rint(turn / (2.0 * math.pi))) / task.rules.curvature
            for soft in SOFT:
                longest = _longest(draft, i, j, change)
                least = max(apart, turned / soft) + curve_cost * soft * turned
                if least < longest and (soft == 1.0 or curve_cost > 0.0):
                    _bridge(task, draft, i=i, j=j, soft=soft, curve_cost=curve_cost, longest=longest, buffers=buffers)
    best_turns, best_lengths = _unwind(draft)
    return best_turns, best_lengths, draft.kept[1]


@array_kernel
def _unwind(draft: PathDraft) -> tuple[FloatArray, FloatArray]:
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


SHIFTS = ((0.5, 5), (0.5, 2), (0.15, 3), (0.05, 2))
"""How far (m) poses are shifted in turn, and over how many knots to each side the path is replaced."""
TURN = 0.4
"""Heading (rad) that is turned for a metre of shift."""
STEP = 1.0
"""Largest distance (m) between the poses."""
WORTH = 1e-3
"""Smaller gains (m) are none."""


class ReedsSheppWords(NamedTuple):
    """Words of a stretch: lengths (m) and steers (44, 5); cost (m), first and last gear (44, 3)."""

    lengths: FloatArray
    steers: FloatArray
    facts: FloatArray


@array_kernel
def _words() -> ReedsSheppWords:
    """Room for the words of a stretch."""
    return ReedsSheppWords(np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES)), np.empty((WORDS, 3)))


@kernel
def _list(task: SearchTask, start: FloatArray, end: FloatArray, longest: float, found: ReedsSheppWords) -> int:
    """Lists the words from one pose to another, up to `longest` (m), that keep to the only gear; their number."""
    k, (s, c) = task.rules.curvature, elementary.sin_cos(start[2])
    dx, dy, turn = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    count = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, turn, found.lengths, found.steers, longest * k)
    for w in range(count):
        first, last = gears(found.lengths[w])
        cost = cost_of(found.lengths[w], 1.0 / k, 0, 0, task.rules.gear_cost)
        for p in range(PIECES):
            found.lengths[w, p] /= k
            cost = np.inf if task.rules.only * found.lengths[w, p] < -1e-9 else cost
        found.facts[w, 0], found.facts[w, 1], found.facts[w, 2] = cost, first, last
    return count


@kernel
def _cheapest(
    one: ReedsSheppWords, n: int, other: ReedsSheppWords, m: int, before: int, after: int, change: float
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


@kernel
def _by_way_of(
    task: SearchTask, start: FloatArray, middle: FloatArray, end: FloatArray, before: int, after: int, bound: float,
    one: ReedsSheppWords, other: ReedsSheppWords,
) -> tuple[int, int]:  # fmt: skip
    """Rows of the two cheapest free words by way of a pose that together cost less than `bound`, or -1 twice."""
    k, a, b = task.rules.curvature, 0, 0
    to = elementary.hypot(middle[0] - start[0], middle[1] - start[1])
    on = elementary.hypot(end[0] - middle[0], end[1] - middle[1])
    if to + on >= bound:
        return -1, -1
    n = _list(task, start, middle, bound - on, one)
    m = _list(task, middle, end, bound - to, other) if n > 0 else 0
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


@kernel
def _gear(move: FloatArray, i: int, gear: int) -> int:
    """The gear in which knot i is reached; that before the path at the first."""
    if i == 0:
        return gear
    return 1 if move[i] > 0.0 else -1


@kernel
def _cost(move: FloatArray, a: int, b: int, before: int, after: int, change: float) -> float:
    """Cost (m) of the path from knot a to knot b, with the changes of gear at both."""
    total = 0.0
    for i in range(a + 1, b + 1):
        now = _gear(move, i, 0)
        total += abs(move[i]) + (change if before * now < 0 else 0.0)
        before = now
    return total + (change if before * after < 0 else 0.0)


@array_kernel
def _spliced(
    turn: FloatArray, move: FloatArray, a: int, b: int, one: ReedsSheppWords, i: int, other: ReedsSheppWords, j: int
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


@array_kernel
def pull(
    task: SearchTask, root: FloatArray, turns: FloatArray, lengths: FloatArray, gear: int, most: int
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
            s, c = elementary.sin_cos(pose[knot, 2])
            middle[0], middle[1] = pose[knot, 0] + c * ahead - s * left, pose[knot, 1] + s * ahead + c * left
            middle[2] = pose[knot, 2] + TURN * size * (way == 4) - TURN * size * (way == 5)
            i, j = _by_way_of(
                task, pose[a], middle, pose[b], before=before, after=after, bound=now - WORTH, one=one, other=other
            )
            most -= 1
            if i >= 0:
                turns, lengths = _spliced(turn, move, a=a, b=b, one=one, i=i, other=other, j=j)
                pose, turn, move = knots(root, turns, lengths, task.rules.curvature, STEP)
            else:
                way = (way + 1) % 6
                knot += 1 if way == 0 else 0
    return turns, lengths
