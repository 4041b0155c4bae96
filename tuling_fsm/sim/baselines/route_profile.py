"""The route of a baseline at even stations: bends, limits, the speed that both allow, the edges of road and lanes."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import SURFACE, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.surface import covered

STATION_M, SMOOTHING_M = 1.0, 2.0
SEEN_M = 80.0
"""What lies farther ahead does not count."""
SLIPPED_M = 10.0
"""The car is looked for from so far behind where it was last."""
NEAREST_M, FARTHEST_M, PROBE_M = 0.75, 3.0, 0.25
"""The surface is probed from so far beside the route to so far, in such steps."""
GAP_M = 0.05
"""A point this far outside a surface still lies on it: maps have hairline gaps."""


class RouteProfile:
    """A route with what depends on its stations alone, and the one thing that is remembered: how far the car has come.

    Args:
        road_map: with the limits of the route's lanes.
        route: what is driven.
        vehicle: the car.
    """

    def __init__(self, road_map: RoadMap, route: Route, vehicle: Vehicle) -> None:
        self.route, self.vehicle = route, vehicle
        self.s = 0.0
        """Arc length of the rear axle along the route, m; it never grows less."""
        self.stations: FloatArray = np.arange(0.0, route.length + STATION_M, STATION_M, dtype=np.float64)
        """Arc lengths (N,), m."""
        self.bends = _bends(route, self.stations)
        """Curvature (N,), 1/m, + left."""
        self.limits = _limits(road_map, route, vehicle, self.stations)
        """Speed limit, or the car's own where that is lower (N,), m/s."""
        self.speed = _allowed(self.limits, self.bends, vehicle)
        """Speed that limits and bends allow, with comfortable braking before (N,), m/s."""

    def locate(self, pose: Pose) -> float:
        """Note where the car is; returns `s`."""
        found = self.route.reference.project(pose.x, pose.y, self.s - SLIPPED_M, self.s + SEEN_M)
        self.s = max(self.s, found.s)
        return self.s

    def poses_at(self, s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """x, y (m) and heading (rad, not wrapped) of the reference at arc lengths of any shape."""
        reference = self.route.reference
        return (
            np.interp(s, reference.s, reference.xy[:, 0]),
            np.interp(s, reference.s, reference.xy[:, 1]),
            np.interp(s, reference.s, reference.heading),
        )


def _bends(route: Route, stations: FloatArray) -> FloatArray:
    """Curvature (1/m, + left) at every station, over a length that kinks of the map hardly count in."""
    reference = route.reference
    ahead, behind = (np.clip(stations + half, 0.0, route.length) for half in (SMOOTHING_M, -SMOOTHING_M))
    turned = np.interp(ahead, reference.s, reference.heading) - np.interp(behind, reference.s, reference.heading)
    return np.asarray(turned / np.maximum(ahead - behind, SMOOTHING_M))


def _limits(road_map: RoadMap, route: Route, vehicle: Vehicle, stations: FloatArray) -> FloatArray:
    limits = np.array([road_map.lanes[route.lanes[route.index_at(float(s))].lane].limit for s in stations])
    return np.asarray(np.minimum(limits, vehicle.max_speed))


def _allowed(limits: FloatArray, bends: FloatArray, vehicle: Vehicle) -> FloatArray:
    by_bend = vehicle.max_lateral_accel / np.maximum(np.abs(bends), 1e-6)
    squared = np.minimum(np.square(limits), by_bend)
    for k in range(len(squared) - 2, -1, -1):
        squared[k] = min(squared[k], squared[k + 1] + 2.0 * vehicle.comfort_decel * STATION_M)
    return np.asarray(np.sqrt(squared))


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
    sin, cos = elementwise.sin_cos(heading)
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
