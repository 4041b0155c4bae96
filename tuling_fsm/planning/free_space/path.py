"""Paths of arcs and lines: taken out of the search tree, and shortened."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, TINY, WORDS, cost_of, words
from tuling_fsm.planning.free_space.search import Found, Task
from tuling_fsm.planning.free_space.shot import word_is_free
from tuling_fsm.planning.free_space.sweep import advance
from tuling_fsm.planning.free_space.tree import Tree

StepArray = npt.NDArray[np.int8]

KNOT_STEP = 1.0
"""Largest distance (m) between the knots at which a path may be cut."""
KNOTS = 80
"""Most knots that are tried."""
GAIN = 1e-6
"""Smaller gains (m) are none."""


@njit(cache=True)
def join(steers: StepArray, lengths: FloatArray) -> tuple[StepArray, FloatArray]:
    """The same path with neighbouring pieces of one steering and gear made one, and empty ones left out."""
    out_steers, out_lengths, n = np.empty(len(steers), np.int8), np.empty(len(steers)), 0
    for i in range(len(steers)):
        if abs(lengths[i]) <= TINY:
            continue
        if n > 0 and out_steers[n - 1] == steers[i] and out_lengths[n - 1] * lengths[i] > 0.0:
            out_lengths[n - 1] += lengths[i]
        else:
            out_steers[n], out_lengths[n] = steers[i], lengths[i]
            n += 1
    return out_steers[:n], out_lengths[:n]


@njit(cache=True)
def extract(tree: Tree, found: Found) -> tuple[int, StepArray, FloatArray]:
    """The root that the best path starts from, and the path from there to its target."""
    depth, node = 0, found.at[0]
    while tree.parent[node] >= 0:
        node = tree.parent[node]
        depth += 1
    steers, lengths = np.empty(depth + PIECES, np.int8), np.empty(depth + PIECES)
    steers[depth:], lengths[depth:] = found.steers, found.lengths
    root, node = node, found.at[0]
    for i in range(depth - 1, -1, -1):
        steers[i], lengths[i] = tree.steer[node], tree.length[node]
        node = tree.parent[node]
    steers, lengths = join(steers, lengths)
    return root, steers, lengths


@njit(cache=True)
def cost_of_path(lengths: FloatArray, gear: int, end_gear: int, gear_cost: float) -> float:
    """Length (m) plus `gear_cost` for each change of gear, counting those against the gears before and after (0: none)."""
    total = 0.0
    for i in range(len(lengths)):
        now = 1 if lengths[i] > 0.0 else -1
        total += abs(lengths[i]) + (gear_cost if gear * now < 0 else 0.0)
        gear = now
    return total + (gear_cost if gear * end_gear < 0 else 0.0)


@njit(cache=True)
def _knots(
    root: FloatArray, steers: StepArray, lengths: FloatArray, curvature: float
) -> tuple[FloatArray, StepArray, FloatArray]:
    """Poses (K, 3) along a path, and steering and signed length of the move to each from the one before."""
    step = KNOT_STEP
    while True:
        count = 1
        for i in range(len(lengths)):
            count += math.ceil(abs(lengths[i]) / step)
        if count <= max(KNOTS, len(lengths) + 1):
            break
        step *= 1.25
    pose, steer, move = np.empty((count, 3)), np.zeros(count, np.int8), np.zeros(count)
    pose[0] = root
    n = 1
    for i in range(len(lengths)):
        bits = math.ceil(abs(lengths[i]) / step)
        for _ in range(bits):
            x, y, h = advance(pose[n - 1, 0], pose[n - 1, 1], pose[n - 1, 2], curvature * steers[i], lengths[i] / bits)
            pose[n, 0], pose[n, 1], pose[n, 2] = x, y, h
            steer[n], move[n] = steers[i], lengths[i] / bits
            n += 1
    return pose, steer, move


@njit(cache=True)
def _relax(
    cost: FloatArray, back: npt.NDArray[np.int64], i: int, j: int, gear: int, end_gear: int, value: float, word: int
) -> None:
    """Notes that knot j is best reached in `end_gear` from knot i left in `gear`, by a word (-1: the path itself)."""
    cost[j, end_gear] = value
    back[j, end_gear, 0], back[j, end_gear, 1], back[j, end_gear, 2] = i, gear, word


@njit(cache=True)
def shorten(
    task: Task, root: FloatArray, steers: StepArray, lengths: FloatArray, gear: int
) -> tuple[StepArray, FloatArray]:
    """The cheapest path over the knots of a path, between any two of which it may follow the path or a free word.

    `gear` is that before the path (0: standing); after it comes the one of the task.
    """
    rules = task.rules
    pose, steer, move = _knots(root, steers, lengths, rules.curvature)
    count = len(pose)
    cost, back = np.full((count, 2), np.inf), np.zeros((count, 2, 3), np.int64)
    word_lengths, word_steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES), np.int8)
    kept_lengths, kept_steers, kept = np.empty((512, PIECES)), np.empty((512, PIECES), np.int8), 0
    cost[0, 0] = rules.gear_cost if gear < 0 else 0.0
    cost[0, 1] = rules.gear_cost if gear > 0 else 0.0
    for j in range(1, count):
        end = int(move[j] < 0.0)
        for g in range(2):
            value = cost[j - 1, g] + abs(move[j]) + (rules.gear_cost if g != end else 0.0)
            if value < cost[j, end]:
                _relax(cost, back, j - 1, j, g, end, value, -1)
        for i in range(j - 1):
            if min(cost[i, 0], cost[i, 1]) + math.hypot(pose[j, 0] - pose[i, 0], pose[j, 1] - pose[i, 1]) >= max(
                cost[j, 0], cost[j, 1]
            ):
                continue
            dx, dy = pose[j, 0] - pose[i, 0], pose[j, 1] - pose[i, 1]
            c, s, k = math.cos(pose[i, 2]), math.sin(pose[i, 2]), rules.curvature
            turn = pose[j, 2] - pose[i, 2]
            found = words((c * dx + s * dy) * k, (c * dy - s * dx) * k, turn, word_lengths, word_steers)
            for w in range(found):
                first, last = _gears(word_lengths[w])
                if first < 0 or (rules.only != 0 and (rules.only * word_lengths[w]).min() < -TINY):
                    continue
                inner = cost_of(word_lengths[w], 1.0 / k, 0, 0, rules.gear_cost)
                g = 0
                if cost[i, 1] + (rules.gear_cost if first == 0 else 0.0) < cost[i, 0] + (
                    rules.gear_cost if first == 1 else 0.0
                ):
                    g = 1
                value = cost[i, g] + (rules.gear_cost if g != first else 0.0) + inner
                if value >= cost[j, last] - GAIN or value >= cost[j, 1 - last] + rules.gear_cost or kept >= 512:
                    continue
                word_lengths[w] /= k
                if word_is_free(task.walls, task.body, task.area, pose[i], word_lengths[w], word_steers[w], k):
                    kept_lengths[kept], kept_steers[kept] = word_lengths[w], word_steers[w]
                    _relax(cost, back, i, j, g, last, value, kept)
                    kept += 1
    return _unwind(task, cost, back, steer, move, kept_lengths, kept_steers)


@njit(cache=True)
def _gears(lengths: FloatArray) -> tuple[int, int]:
    """First and last gear of a word (0 forward, 1 reverse), or -1 twice when it is empty."""
    first, last = -1, -1
    for i in range(PIECES):
        if abs(lengths[i]) > TINY:
            last = int(lengths[i] < 0.0)
            first = last if first < 0 else first
    return first, last


@njit(cache=True)
def _unwind(
    task: Task,
    cost: FloatArray,
    back: npt.NDArray[np.int64],
    steer: StepArray,
    move: FloatArray,
    kept_lengths: FloatArray,
    kept_steers: StepArray,
) -> tuple[StepArray, FloatArray]:
    """The pieces of the cheapest path to the last knot."""
    j = len(cost) - 1
    after = task.target_gear
    end0 = cost[j, 0] + (task.rules.gear_cost if after < 0 else 0.0)
    end1 = cost[j, 1] + (task.rules.gear_cost if after > 0 else 0.0)
    g = 0 if end0 <= end1 else 1
    out_steers, out_lengths = np.zeros(PIECES * len(cost), np.int8), np.zeros(PIECES * len(cost))
    n = len(out_steers)
    while j > 0:
        i, before, word = back[j, g]
        n -= PIECES
        if word < 0:
            out_steers[n], out_lengths[n] = steer[j], move[j]
        else:
            out_steers[n : n + PIECES], out_lengths[n : n + PIECES] = kept_steers[word], kept_lengths[word]
        j, g = i, before
    return join(out_steers[n:], out_lengths[n:])
