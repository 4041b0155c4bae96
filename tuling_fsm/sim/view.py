"""The simulation as the storyboard sees it."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.cast import Cast
from tuling_fsm.sim.scenario.model import EGO, ActorState
from tuling_fsm.sim.scenario.placements import Placement

ROAD_REACH_M = 500.0
"""Distances along the road are looked for up to this."""
NEAR_LANE_M = 3.0


class View:
    """One frame for the storyboard (`SimulationView`)."""

    def __init__(self, road_map: RoadMap, cast: Cast, stamp: float, ego: ActorState) -> None:
        self._map = road_map
        self._cast = cast
        self._ego = ego
        self._stamp = stamp

    @property
    def stamp(self) -> float:
        """Simulated time, s."""
        return self._stamp

    def actor(self, name: str) -> ActorState | None:
        """The state of an actor, None while it is not in the world."""
        return self._ego if name == EGO else self._cast.state(name)

    def arrived(self, name: str) -> bool:
        """Whether the actor has come to the end of its way."""
        return name != EGO and self._cast.arrived(name)

    def road_distance(self, name: str, reference: str) -> float | None:
        """Distance along the road from an actor to another (m, + ahead); None when no road joins them."""
        one, other = self.actor(name), self.actor(reference)
        if one is None or other is None:
            return None
        ahead = road_distance(self._map, one.pose, other.pose)
        if ahead is not None:
            return ahead
        behind = road_distance(self._map, other.pose, one.pose)
        return None if behind is None else -behind

    def pose_of(self, placement: Placement) -> Pose | None:
        """Where a placement is."""
        return self._cast.pose_of(placement, self._ego.pose)


def road_distance(road_map: RoadMap, start: Pose, end: Pose) -> float | None:
    """Shortest way along lanes (changing between those side by side) from one pose forward to another, m."""
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
        if lane in done or at > ROAD_REACH_M:
            continue
        done.add(lane)
        if lane in targets and at + targets[lane] >= 0.0:
            reached = at + targets[lane]
            best = reached if best is None else min(best, reached)
            continue
        for following in road_map.lanes[lane].successors:
            for beside in _abreast(road_map, following, 0.0):
                heapq.heappush(queue, (at + road_map.lanes[lane].length, beside))
    return best


def _abreast(road_map: RoadMap, lane: LaneId, s: float) -> Mapping[LaneId, float]:
    """The lanes side by side in one direction with the place abeam of `s`."""
    share = s / road_map.lanes[lane].length
    return {other: share * road_map.lanes[other].length for other in road_map.same_direction(lane)}
