"""The route of a baseline at even stations: bends, limits, the speed that both allow; and how far the car has come."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

STATION_M, SMOOTHING_M = 1.0, 2.0
SEEN_M = 80.0
"""What lies farther ahead does not count."""
SLIPPED_M = 10.0
"""The car is looked for from so far behind where it was last."""


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
        reach = SEEN_M if self.s > 0.0 else self.route.length
        found = self.route.reference.project(pose.x, pose.y, self.s - SLIPPED_M, self.s + reach)
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
