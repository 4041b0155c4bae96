"""Lanes that lead past given points."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.traffic.lane_graph import LaneGraph

NEAR_M = 3.0
"""A lane whose centre comes this near passes a point."""


def lanes_along(graph: LaneGraph, start: int, points: Sequence[tuple[float, float]]) -> list[int]:
    """The shortest way over lanes from `start` past points (m) in their order, without the first lane.

    Raises:
        InputError: no lane leads from one to the next.
    """
    way, lane = list[int](), start
    for point in points:
        found = _shortest(graph, lane, _passing(graph, point))
        if found is None:
            raise InputError("traffic.set_path", f"no lane leads to ({point[0]:.1f}, {point[1]:.1f})", "points ahead")
        way += found
        lane = way[-1] if way else start
    return way


def _passing(graph: LaneGraph, point: tuple[float, float]) -> set[int]:
    """Lanes whose centre passes a point."""
    apart = elementwise.hypot(graph.sample.x - point[0], graph.sample.y - point[1])
    lanes = np.searchsorted(graph.lane["at"], np.flatnonzero(apart < NEAR_M), side="right") - 1
    return set(lanes.tolist())


def _shortest(graph: LaneGraph, start: int, goals: set[int]) -> list[int] | None:
    """Lanes after `start` up to the nearest of the goals; None where none can be reached."""
    queue: list[tuple[float, int, tuple[int, ...]]] = [(0.0, start, ())]
    done: set[int] = set()
    while queue:
        length, lane, way = heapq.heappop(queue)
        if lane in goals:
            return list(way)
        if lane in done:
            continue
        done.add(lane)
        for k in range(graph.lane.next_at[lane], graph.lane.next_end[lane]):
            following = int(graph.next[k])
            heapq.heappush(queue, (length + float(graph.lane.length[following]), following, (*way, following)))
    return None
