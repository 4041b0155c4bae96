"""How far the road reaches to both sides of a route, and the lanes of its direction to the side of the oncoming."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.map.lanes import SURFACE, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.surface import covered
from tuling_fsm.sim.baselines.route_profile import RouteProfile

NEAREST_M, FARTHEST_M, PROBE_M = 0.75, 3.0, 0.25
"""The surface is probed from so far beside the route to so far, in such steps."""
GAP_M = 0.05
"""A point this far outside a surface still lies on it: maps have hairline gaps."""


class RouteEdges:
    """Edges at the stations of a route, all as distances from its reference (m, >= 0).

    Args:
        road_map: with the lanes.
        profile: the route.
    """

    def __init__(self, road_map: RoadMap, profile: RouteProfile) -> None:
        self._profile = profile
        self._left, self._right = (_surface(road_map, profile, side) for side in (1.0, -1.0))
        self._lanes_left = _lanes_left(road_map, profile)

    def road_at(self, s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Where the road ends on the left and on the right at arc lengths of any shape."""
        stations = self._profile.stations
        return np.interp(s, stations, self._left), np.interp(s, stations, self._right)

    def lanes_left_at(self, s: FloatArray) -> FloatArray:
        """Where the lanes of the route's direction end on the left; inf in junctions, and where traffic keeps left."""
        return np.interp(s, self._profile.stations, self._lanes_left)

    def heading_at(self, s: FloatArray) -> FloatArray:
        """Heading of the route, rad."""
        return self._profile.poses_at(s)[2]


def _surface(road_map: RoadMap, profile: RouteProfile, side: float) -> FloatArray:
    """How far the surface reaches without a break to the left (1) or right (-1), up to `FARTHEST_M`."""
    x, y, heading = profile.poses_at(profile.stations)
    cos, sin = elementwise.cos(heading), elementwise.sin(heading)
    reach, open_ = np.full(len(x), NEAREST_M), np.ones(len(x), dtype=np.bool_)
    for aside in np.arange(NEAREST_M + PROBE_M, FARTHEST_M + 1e-9, PROBE_M):
        rows = np.flatnonzero(open_)
        points = np.column_stack((x[rows] - side * aside * sin[rows], y[rows] + side * aside * cos[rows]))
        on = covered(road_map.index, points, road_map.lanes, SURFACE, -GAP_M)
        reach[rows[on]], open_[rows[~on]] = aside, False
    return reach


def _lanes_left(road_map: RoadMap, profile: RouteProfile) -> FloatArray:
    """Distance to the far edge of the leftmost lane of the same direction."""
    found = np.full(len(profile.stations), np.inf)
    for i, s in enumerate(profile.stations.tolist()):
        stretch = profile.route.lanes[profile.route.index_at(s)]
        lane = road_map.lanes[stretch.lane]
        if lane.junction is None and not road_map.left_hand:
            at = stretch.lane_from + s - stretch.s_from
            found[i] = _own_left(road_map, stretch.lane, at)
    return found


def _own_left(road_map: RoadMap, lane_id: LaneId, s: float) -> float:
    lane = road_map.lanes[lane_id]
    reach = float(np.interp(s, lane.center.s, lane.left))
    abreast = road_map.same_direction(lane_id)
    for beside in abreast[: abreast.index(lane_id)]:
        other = road_map.lanes[beside]
        share = s / max(lane.length, 1e-9) * other.length
        reach += float(np.interp(share, other.center.s, other.left)) + float(
            np.interp(share, other.center.s, other.right)
        )
    return reach
