"""Lanes side by side, also those of a junction, where each lane may be a road of its own."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.reference import abeam
from tuling_fsm.map.road_map import RoadMap

APART_M = 3.0
"""Ways through a junction whose edges are nowhere farther apart than this (m) are side by side: no island lies between.
"""

_ABREAST: WeakKeyDictionary[RoadMap, dict[LaneId, tuple[LaneId, ...]]] = WeakKeyDictionary()


def lanes_abreast(road_map: RoadMap, lane_id: LaneId) -> tuple[LaneId, ...]:
    """The driving lanes side by side with this one in its direction of travel, left to right, itself among them.

    On a road those of `RoadMap.same_direction`. In a junction also the connecting lanes of other roads that join the
    same two carriageways in the same order, so that they neither meet nor cross it.
    """
    known = _ABREAST.setdefault(road_map, {})
    if lane_id not in known:
        on_road = road_map.same_direction(lane_id)
        known[lane_id] = (*_beyond(road_map, on_road[0], -1)[::-1], *on_road, *_beyond(road_map, on_road[-1], 1))
    return known[lane_id]


def arc_abreast(lane: Lane, s: float, beside: Lane) -> float:
    """The arc length (m) on a lane that lies beside `s` of another one: the lanes of a section share their stations,
    ways through a junction are shared out evenly.
    """
    if lane.id[:2] == beside.id[:2]:
        return abeam(lane, s, beside)
    return s * beside.length / lane.length


def _beyond(road_map: RoadMap, lane_id: LaneId, side: int) -> list[LaneId]:
    """The connecting lanes beyond this one on the left (`side` -1) or right (1), the nearest first."""
    found: list[LaneId] = []
    following = _next(road_map, lane_id, side)
    while following is not None:
        found.append(following)
        following = _next(road_map, following, side)
    return found


def _next(road_map: RoadMap, lane_id: LaneId, side: int) -> LaneId | None:
    lane = road_map.lanes[lane_id]
    ends = _ends(road_map, lane)
    if lane.junction is None or ends is None:
        return None
    before, after = ({other: n for n, other in enumerate(road_map.same_direction(end))} for end in ends)
    options = []
    for other_id in road_map.junctions[lane.junction].lanes:
        other = road_map.lanes[other_id]
        other_ends = _ends(road_map, other)
        if other_ends is None or other_ends[0] not in before or other_ends[1] not in after:
            continue
        aside = side * (before[other_ends[0]] - before[ends[0]]), side * (after[other_ends[1]] - after[ends[1]])
        if min(aside) > 0 and _apart(lane, other, side) <= APART_M:
            options.append((*aside, other_id))
    return min(options)[2] if options else None


def _ends(road_map: RoadMap, lane: Lane) -> tuple[LaneId, LaneId] | None:
    """The lanes outside its junction that a connecting lane comes from and leads to; None where there is not one
    each.
    """
    before, after = ([n for n in linked if n in road_map.lanes] for linked in (lane.predecessors, lane.successors))
    if len(before) != 1 or len(after) != 1:
        return None
    outside = all(road_map.lanes[end].junction != lane.junction for end in (*before, *after))
    return (before[0], after[0]) if outside else None


def _apart(lane: Lane, other: Lane, side: int) -> float:
    """The widest gap between the edges of two ways that face each other, m."""
    share = lane.center.s / lane.length * other.length
    x, y = (np.interp(share, other.center.s, other.center.xy[:, k]) for k in (0, 1))
    edges = (lane.right, other.left) if side > 0 else (lane.left, other.right)
    facing = edges[0] + np.interp(share, other.center.s, edges[1])
    gap = elementwise.hypot(x - lane.center.xy[:, 0], y - lane.center.xy[:, 1]) - facing
    return float(gap.max())
