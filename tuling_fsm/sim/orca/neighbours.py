"""The nearest neighbours of every agent: a k-d tree over all agents, built anew for every step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.orca.crowd import Crowd, IntArray

LEAF = 8
"""Most agents in a leaf."""
DEPTH = 128
"""Room for nodes that wait, and for parts that are still to be split: the deepest tree that can come about."""


class KdTree(NamedTuple):
    """A tree over N agents. `order` (N,) lists them leaf by leaf; `x`, `y`, `vx`, `vy`, `radius` are theirs in that
    order. Node `k` holds places `begin[k]` to `end[k]` of it within the bounds; a leaf has `left[k]` = 0, else its
    children are `left[k]` and the one after. `waiting` and `apart` (`DEPTH`,) are nodes that a search has yet to see.
    """

    order: IntArray
    x: FloatArray
    y: FloatArray
    vx: FloatArray
    vy: FloatArray
    radius: FloatArray
    begin: IntArray
    end: IntArray
    left: IntArray
    bounds: FloatArray
    waiting: IntArray
    apart: FloatArray


def new_tree(n: int) -> KdTree:
    """Room for a tree of N agents."""
    nodes = max(2 * n, 1)
    return KdTree(
        order=np.arange(n, dtype=np.int32),
        x=np.zeros(n),
        y=np.zeros(n),
        vx=np.zeros(n),
        vy=np.zeros(n),
        radius=np.zeros(n),
        begin=np.zeros(nodes, np.int32),
        end=np.zeros(nodes, np.int32),
        left=np.zeros(nodes, np.int32),
        bounds=np.zeros((nodes, 4)),
        waiting=np.zeros(DEPTH, np.int32),
        apart=np.zeros(DEPTH),
    )


@kernel
def build_tree(tree: KdTree, crowd: Crowd) -> None:
    """Sort the agents of a crowd into the tree. The order of the step before speeds it up and changes no result."""
    for k in range(len(tree.order)):
        i = tree.order[k]
        tree.x[k], tree.y[k] = crowd.x[i], crowd.y[i]
    tree.begin[0], tree.end[0] = 0, len(tree.order)
    used = 1
    node = 0
    while node < used:
        begin, end = tree.begin[node], tree.end[node]
        x0, x1, y0, y1 = _bound(tree, begin, end)
        bounds = tree.bounds[node]
        bounds[0], bounds[1], bounds[2], bounds[3] = x0, x1, y0, y1
        tree.left[node] = 0
        if end - begin > LEAF:
            along = tree.x if x1 - x0 > y1 - y0 else tree.y
            middle = 0.5 * (x0 + x1) if x1 - x0 > y1 - y0 else 0.5 * (y0 + y1)
            split = _part(tree, along, middle, begin, end)
            if split <= begin or split >= end:
                split = (begin + end) // 2
            tree.left[node] = used
            tree.begin[used], tree.end[used] = begin, split
            tree.begin[used + 1], tree.end[used + 1] = split, end
            used += 2
        node += 1
    for k in range(len(tree.order)):
        i = tree.order[k]
        tree.vx[k], tree.vy[k], tree.radius[k] = crowd.vx[i], crowd.vy[i], crowd.radius[i]


@kernel
def _bound(tree: KdTree, begin: int, end: int) -> tuple[float, float, float, float]:
    if begin >= end:
        return 0.0, 0.0, 0.0, 0.0
    x0 = x1 = tree.x[begin]
    y0 = y1 = tree.y[begin]
    for k in range(begin + 1, end):
        x0, x1 = min(x0, tree.x[k]), max(x1, tree.x[k])
        y0, y1 = min(y0, tree.y[k]), max(y1, tree.y[k])
    return x0, x1, y0, y1


@kernel
def _part(tree: KdTree, along: FloatArray, middle: float, begin: int, end: int) -> int:
    """Agents before `middle` to the left; returns where the right begins."""
    left, right = begin, end
    while left < right:
        if along[left] < middle:
            left += 1
        elif along[right - 1] >= middle:
            right -= 1
        else:
            right -= 1
            tree.order[left], tree.order[right] = tree.order[right], tree.order[left]
            tree.x[left], tree.x[right] = tree.x[right], tree.x[left]
            tree.y[left], tree.y[right] = tree.y[right], tree.y[left]
            left += 1
    return left


@kernel
def near_agents(tree: KdTree, me: int, reach: float, most: int, found: IntArray, apart: FloatArray) -> int:
    """The agents nearest to the one at place `me` of the tree, up to `most` that are nearer than `reach` (m), nearest
    first and those of lower number first among equals. Their places go into `found`, squared distances into `apart`.
    Returns their number.
    """
    x, y = tree.x[me], tree.y[me]
    reach_sq, count, top = reach * reach, 0, 0
    if most == 0:
        return 0
    node, distance = 0, 0.0
    while True:
        if distance <= reach_sq:
            left = tree.left[node]
            if left > 0:
                one, other = _outside(tree, left, x, y), _outside(tree, left + 1, x, y)
                near = left if one <= other else left + 1
                tree.waiting[top], tree.apart[top] = 2 * left + 1 - near, max(one, other)
                top += 1
                node, distance = near, min(one, other)
                continue
            for k in range(tree.begin[node], tree.end[node]):
                away = (tree.x[k] - x) ** 2 + (tree.y[k] - y) ** 2
                if (away < reach_sq or (away == reach_sq and count == most)) and k != me:
                    count = _insert(tree, k, away, most, count, found, apart)
                    if count == most:
                        reach_sq = apart[count - 1]
        if top == 0:
            return count
        top -= 1
        node, distance = tree.waiting[top], tree.apart[top]


@kernel
def _insert(tree: KdTree, k: int, away: float, most: int, count: int, found: IntArray, apart: FloatArray) -> int:
    """Put place `k` where it belongs; the last one falls out where all are taken."""
    place = count
    while place > 0:
        before = apart[place - 1]
        if away > before or (away == before and tree.order[k] > tree.order[found[place - 1]]):
            break
        if place < most:
            found[place], apart[place] = found[place - 1], before
        place -= 1
    if place < most:
        found[place], apart[place] = k, away
        count = min(count + 1, most)
    return count


@kernel
def _outside(tree: KdTree, node: int, x: float, y: float) -> float:
    """Squared distance from a point to the bounds of a node."""
    bounds = tree.bounds[node]
    dx = max(bounds[0] - x, x - bounds[1], 0.0)
    dy = max(bounds[2] - y, y - bounds[3], 0.0)
    return float(dx * dx + dy * dy)
