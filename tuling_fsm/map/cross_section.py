"""A road from edge to edge at one place of it."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.map.lanes import SURFACE, Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.side_by_side import arc_abreast, lanes_abreast


def station_at(road_map: RoadMap, lane_id: LaneId, s: float) -> float:
    """OpenDRIVE's s of a lane's road at an arc length of the lane."""
    lane = road_map.lanes[lane_id]
    return float(np.interp(s, lane.center.s, lane.road_s))


def lane_s_at(road_map: RoadMap, lane_id: LaneId, station: float) -> float:
    """Arc length along a lane at OpenDRIVE's s of its road."""
    lane = road_map.lanes[lane_id]
    if lane.road_s[0] <= lane.road_s[-1]:
        return float(np.interp(station, lane.road_s, lane.center.s))
    return float(np.interp(station, lane.road_s[::-1], lane.center.s[::-1]))


def edge_point(road_map: RoadMap, lane_id: LaneId, station: float, side: int, beyond: float) -> tuple[float, float]:
    """The point on a lane's left (`side` 1) or right (-1) edge, moved outwards by `beyond` (m)."""
    return _edge(road_map.lanes[lane_id], lane_s_at(road_map, lane_id, station), side, beyond)


def _edge(lane: Lane, s: float, side: int, beyond: float = 0.0) -> tuple[float, float]:
    pose = lane.center.at(s)
    width = float(np.interp(s, lane.center.s, lane.left if side > 0 else lane.right)) + beyond
    sine, cosine = elementary.sin_cos(pose.heading)
    return pose.x - side * width * sine, pose.y + side * width * cosine


def across_road(
    road_map: RoadMap, lane_id: LaneId, station: float, beyond: float = 0.0
) -> tuple[float, float, float, float]:
    """From the left to the right edge of a lane's road, in the lane's direction, and by `beyond` (m) over either: all
    lanes that wheels may touch, whatever their type and direction, and in a junction those side by side with it.

    Returns the two ends x0, y0, x1, y1, m.
    """
    lane = road_map.lanes[lane_id]
    s = lane_s_at(road_map, lane_id, station)
    middle = lane.center.at(s)
    on_road = [other for other in road_map.lanes_beside(lane_id) if other.type in SURFACE or other.id == lane_id]
    places = [(other, lane_s_at(road_map, other.id, station)) for other in on_road]
    abreast = [road_map.lanes[other] for other in lanes_abreast(road_map, lane_id) if other[:2] != lane_id[:2]]
    places += [(other, arc_abreast(lane, s, other)) for other in abreast]
    x, y = np.array([_edge(*place, side) for place in places for side in (1, -1)]).T
    sine, cosine = elementary.sin_cos(middle.heading)
    left_x, left_y = -sine, cosine
    offset = (x - middle.x) * left_x + (y - middle.y) * left_y
    most, least = int(np.argmax(offset)), int(np.argmin(offset))
    return (
        float(x[most]) + beyond * left_x, float(y[most]) + beyond * left_y,
        float(x[least]) - beyond * left_x, float(y[least]) - beyond * left_y,
    )  # fmt: skip
