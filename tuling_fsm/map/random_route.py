"""Random routes over any map, to try a planner on."""

from __future__ import annotations

import itertools

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.map.lane_graph import MIN_WIDTH_M
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.reference import route_through
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

TRIES = 200

START_M = 8.0
"""The route starts at least this far into its first lane, m."""

BEFORE_JUNCTION_M = 10.0
"""The route ends at least this far before the next junction where the lane is long enough, m."""

BEFORE_DEAD_END_M = 8.0
"""The route ends at least this far before the end of the last road, m: a car reaches ahead of its rear axle."""

MIN_LENGTH_M = 5.0
"""Shortest route, m."""

MAX_TURN = 0.9
"""Lanes that turn by more than this (rad) within `lane_graph.TURN_WINDOW_M` are left out: their radius is below
3.3 m.
"""

MAX_KINK = 0.35
MAX_GAP_M = 0.5
"""Lanes that meet with a larger change of heading (rad) or farther apart (m) are not driven one after the other."""


def random_route(road_map: RoadMap, rng: np.random.Generator, length_m: float) -> Route:
    """A random walk over driving lanes of about `length_m`, or the longest of `TRIES` walks where the map has
    none so long.

    No section of a road is driven twice, in either direction; there is no lane change; no lane is narrower than
    `MIN_WIDTH_M` or bends tighter than a car can follow; start and end lie outside junctions.

    Raises:
        InputError: the map has no lane to start on.
    """
    usable = {lane_id for lane_id in road_map.graph.successors if _usable(road_map, road_map.lanes[lane_id])}
    starts = [lane_id for lane_id in road_map.graph.successors if lane_id in usable and _startable(road_map, lane_id)]
    if not starts:
        raise InputError(road_map.name, "no driving lane long enough to start on", f"one of more than {START_M:g} m")
    weights = np.array([road_map.lanes[lane_id].length for lane_id in starts])
    best: tuple[float, list[LaneId], float, float] | None = None
    for _ in range(TRIES):
        start = starts[int(rng.choice(len(starts), p=weights / weights.sum()))]
        walk = _walk(road_map, rng, start, usable, length_m)
        if best is None or walk[0] > best[0]:
            best = walk
        if best[0] >= length_m - 1e-6:
            break
    assert best is not None
    _, lanes, s_start, s_end = best
    return route_through(road_map, lanes, s_start, s_end)


def _usable(road_map: RoadMap, lane: Lane) -> bool:
    return road_map.graph.turn[lane.id] <= MAX_TURN and float(np.min(lane.left + lane.right)) >= MIN_WIDTH_M


def _startable(road_map: RoadMap, lane_id: LaneId) -> bool:
    lane = road_map.lanes[lane_id]
    return lane.junction is None and lane.length >= START_M + MIN_LENGTH_M


def _walk(
    road_map: RoadMap, rng: np.random.Generator, start: LaneId, usable: set[LaneId], length_m: float
) -> tuple[float, list[LaneId], float, float]:
    """Length, lanes, and arc lengths of start and end of one walk."""
    lane = road_map.lanes[start]
    latest = max(START_M, lane.length - BEFORE_JUNCTION_M - MIN_LENGTH_M)
    s_start = float(rng.uniform(START_M, latest))
    lanes, seen = [start], {start[:2]}
    driven = lane.length - s_start
    while driven < length_m + BEFORE_JUNCTION_M or lane.junction is not None:
        onward = [n for n in road_map.graph.successors[lane.id] if n in usable and n[:2] not in seen]
        onward = [n for n in onward if _smooth(lane, road_map.lanes[n])]
        if not onward:
            break
        lane = road_map.lanes[onward[int(rng.integers(len(onward)))]]
        lanes.append(lane.id)
        seen.add(lane.id[:2])
        driven += lane.length
    return _trimmed(road_map, lanes, s_start, length_m)


def _smooth(lane: Lane, following: Lane) -> bool:
    a, b = lane.center, following.center
    gap = float(elementwise.hypot(*(b.xy[0] - a.xy[-1])))
    return gap <= MAX_GAP_M and abs(wrap_angle(float(b.heading[0] - a.heading[-1]))) <= MAX_KINK


def _trimmed(
    road_map: RoadMap, lanes: list[LaneId], s_start: float, length_m: float
) -> tuple[float, list[LaneId], float, float]:
    """The walk cut to the last place within the wanted length that lies outside junctions and well before the next."""
    ends = [
        0.0,
        *itertools.accumulate(road_map.lanes[n].length - (s_start if i == 0 else 0.0) for i, n in enumerate(lanes)),
    ]
    for i in reversed(range(len(lanes))):
        lane = road_map.lanes[lanes[i]]
        if lane.junction is not None or (i and ends[i] >= length_m):
            continue
        first = s_start if i == 0 else 0.0
        room = BEFORE_DEAD_END_M - _to_dead_end(road_map, lane)
        if i and lane.length < room:
            continue
        latest = max(lane.length - max(room, _spare(road_map, lane)), min(first + MIN_LENGTH_M, lane.length))
        s_end = min(latest, first + length_m - ends[i])
        return ends[i] + s_end - first, lanes[: i + 1], s_start, s_end
    return 0.0, lanes[:1], s_start, road_map.lanes[lanes[0]].length


def _spare(road_map: RoadMap, lane: Lane) -> float:
    """How far before the end of a lane that is no dead end a route may end, m."""
    leads_into_junction = any(road_map.lanes[n].junction is not None for n in lane.successors)
    return BEFORE_JUNCTION_M if leads_into_junction else 1.0


def _to_dead_end(road_map: RoadMap, lane: Lane, beyond: float = 0.0) -> float:
    """How far after the end of a lane the nearest dead end is (m), as far as `BEFORE_DEAD_END_M`: the last section of a
    road may be shorter than a car.
    """
    if beyond >= BEFORE_DEAD_END_M or not lane.successors:
        return beyond
    following = (road_map.lanes[n] for n in lane.successors)
    return min(_to_dead_end(road_map, each, beyond + each.length) for each in following)
