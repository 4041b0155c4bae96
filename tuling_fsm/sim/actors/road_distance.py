"""How far it is from one place to another along the lanes."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap

ROAD_REACH_M = 500.0
"""Distances along the road are looked for up to this."""
NEAR_LANE_M = 3.0


def road_distance(road_map: RoadMap, start: Pose, end: Pose, reach: float = ROAD_REACH_M) -> float | None:
    """Shortest way along lanes (changing between those side by side) from one pose forward to another, m; None where
    its last lane begins farther off than `reach` (m).
    """
    here = road_map.project(start.x, start.y, start.heading, radius=NEAR_LANE_M)
    there = road_map.project(end.x, end.y, end.heading, radius=NEAR_LANE_M)
    if here is None or there is None:
        return None
    done: set[LaneId] = set()
    best: float | None = None
    queue: list[tuple[float, LaneId]] = [
        (-position, lane) for lane, position in _abreast(road_map, here.lane, here.s).items()
    ]
    heapq.heapify(queue)
    targets = _abreast(road_map, there.lane, there.s)
    while queue:
        at, lane = heapq.heappop(queue)
        if at > reach or (best is not None and at >= best):
            break
        if lane in targets and at + targets[lane] >= 0.0:
            reached = at + targets[lane]
            best = reached if best is None else min(best, reached)
            continue
        if lane in done:
            continue
        done.add(lane)
        for following in road_map.lanes[lane].successors:
            for beside in _abreast(road_map, following, 0.0):
                heapq.heappush(queue, (at + road_map.lanes[lane].length, beside))
    return best


def _abreast(road_map: RoadMap, lane: LaneId, s: float) -> Mapping[LaneId, float]:
    """The lanes side by side in one direction with the place abeam of `s`."""
    share = s / road_map.lanes[lane].length
    return {other: share * road_map.lanes[other].length for other in road_map.same_direction(lane)}
