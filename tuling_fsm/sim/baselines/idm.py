"""The Intelligent Driver Model along the centre of the route's lanes ([treiber2000][]), with the rules of the road.

It follows the leading vehicle on its path, stops for red lights, at stop signs and at the route's end, enters junctions
in gaps that are long enough, and waits for persons on or about to step on its way. It changes no lanes and goes round
nothing. nuPlan has such a baseline too, without signs and yielding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.baselines.planner import (
    HEADWAY_S,
    SIDE_ROOM_M,
    STANDING_GAP_M,
    BaselinePlan,
    BaselineRules,
    binding_limit,
    odometry_of,
)
from tuling_fsm.sim.baselines.route_agents import RouteObstacle, agents_along, leaders
from tuling_fsm.sim.baselines.route_profile import RouteProfile
from tuling_fsm.world.inputs import Inputs

HORIZON_S, STEP_S = 5.0, 0.1
TOUCHES_M = 0.1
"""Nearer than this is braked for with all that there is."""
SETTLE_S = 0.1
"""A speed that is too high is corrected within this time."""
SLOWEST = 0.1
"""Wanted speeds below this are not divided by, m/s."""


@dataclass(frozen=True)
class IdmModel:
    """The model's numbers: accelerations (m/s^2, > 0), time headway (s), gap at standstill (m)."""

    max_accel: float
    comfort_decel: float
    max_decel: float
    headway: float
    standing_gap: float

    @classmethod
    def of(cls, vehicle: Vehicle, headway: float, standing_gap: float) -> IdmModel:
        """With the accelerations of a car."""
        return cls(vehicle.max_accel, vehicle.comfort_decel, vehicle.emergency_decel, headway, standing_gap)

    def free(self, v: FloatArray, wanted: FloatArray) -> FloatArray:
        """Acceleration (m/s^2) on an empty road at speeds towards wanted ones (m/s), broadcast."""
        share = v / np.maximum(wanted, SLOWEST)
        slower = np.maximum((wanted - v) / SETTLE_S, -self.comfort_decel)
        return np.where(v > wanted, slower, self.max_accel * (1.0 - np.square(np.square(share))))

    def behind(self, v: FloatArray, gap: FloatArray, lead_v: FloatArray) -> FloatArray:
        """Acceleration (m/s^2) that leaders at gaps (m, inf for none) with speeds leave to followers, broadcast."""
        wish = v * self.headway + v * (v - lead_v) / (2.0 * math.sqrt(self.max_accel * self.comfort_decel))
        ratio = (self.standing_gap + np.maximum(wish, 0.0)) / np.maximum(gap, TOUCHES_M)
        a = np.maximum(self.max_accel * (1.0 - np.square(ratio)), -self.max_decel)
        return np.where(gap < TOUCHES_M, -self.max_decel, a)


class IdmPlanner:
    """Plans anew on every tick; it remembers how far it has come, and at which stop signs it has stood.

    Args:
        road_map: with the stop lines and limits of the route's lanes.
        route: what is driven.
        vehicle: the car.
    """

    def __init__(self, road_map: RoadMap, route: Route, vehicle: Vehicle) -> None:
        self._profile = RouteProfile(road_map, route, vehicle)
        self._rules = BaselineRules(road_map, self._profile)
        self._model = IdmModel.of(vehicle, HEADWAY_S, STANDING_GAP_M)

    def step(self, inputs: Inputs) -> BaselinePlan:
        """The plan for one tick.

        Raises:
            InputError: there is no odometry.
        """
        odometry = odometry_of(inputs)
        v0 = max(odometry.v, 0.0)
        self._profile.locate(odometry.pose)
        agents = agents_along(self._profile, inputs, odometry.pose)
        ahead = leaders(self._profile, agents, STANDING_GAP_M, SIDE_ROOM_M)
        ahead += self._rules.obstacles(inputs, agents, v0)
        s, v, a = self._roll_out(v0, ahead)
        limit = binding_limit(ahead, odometry.v, self._profile.vehicle)
        return BaselinePlan(self._trajectory(inputs.stamp, s, v, a), limit)

    def _roll_out(self, v0: float, ahead: list[RouteObstacle]) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Distance (from now), speed and acceleration at every step of the horizon."""
        count, profile = round(HORIZON_S / STEP_S) + 1, self._profile
        s, v, a = np.zeros(count), np.zeros(count), np.zeros(count)
        room, lead_v = (np.array(column) for column in zip(*((each.room, each.v) for each in ahead), strict=True))
        v[0] = v0
        for k in range(count):
            wanted = np.interp(profile.s + s[k], profile.stations, profile.speed)
            gap = room + lead_v * (k * STEP_S) - s[k] + STANDING_GAP_M
            a[k] = min(self._model.free(v[k], wanted), self._model.behind(v[k], gap, lead_v).min())
            if k + 1 < count:
                v[k + 1] = max(v[k] + a[k] * STEP_S, 0.0)
                s[k + 1] = s[k] + 0.5 * (v[k] + v[k + 1]) * STEP_S
        return s, v, a

    def _trajectory(self, stamp: float, s: FloatArray, v: FloatArray, a: FloatArray) -> Trajectory:
        at = self._profile.s + s
        x, y, heading = self._profile.poses_at(at)
        curvature = np.interp(at, self._profile.stations, self._profile.bends)
        t = STEP_S * np.arange(len(s), dtype=np.float64)
        return Trajectory(stamp=stamp, t=t, x=x, y=y, heading=heading, curvature=curvature, v=v, a=a)
