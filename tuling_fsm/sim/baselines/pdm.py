"""PDM-Closed ([dauner2023][]): the best of fifteen proposals, each simulated and scored, ten times a second.

What the paper has, and where this differs: five target speeds times three lateral offsets; IDM along each line, with
closed lights as standing leaders, and here signs, junctions and persons too, by the rules of the baselines; agents at
constant velocity; the score of nuPlan over four seconds; an emergency brake where the best proposal collides within two
seconds, or is too near to that at once. Proposals are tracked by pure pursuit where the paper has a regulator, and the
driven plan is the simulated motion of the best one, four seconds long.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.baselines.forecast import forecast
from tuling_fsm.sim.baselines.idm import IdmModel
from tuling_fsm.sim.baselines.pdm_proposals import STEP_S, STEPS, BicycleState, ProposalSet, roll_out
from tuling_fsm.sim.baselines.pdm_scoring import TTC_STEPS, score_proposals
from tuling_fsm.sim.baselines.planner import (
    HEADWAY_S,
    SIDE_ROOM_M,
    STANDING_GAP_M,
    BaselinePlan,
    BaselineRules,
    binding_limit,
    odometry_of,
)
from tuling_fsm.sim.baselines.route_agents import agents_along, leaders
from tuling_fsm.sim.baselines.route_profile import RouteEdges, RouteProfile
from tuling_fsm.world.inputs import Inputs, Odometry

PERIOD_S = 0.1
"""Between two plans; ticks between them go on with the last one."""
COLLISION_S, SHORT_S = 2.0, 0.5
"""A collision this soon, or a time to collision that is too short this soon, is braked for with all that there is."""
ROUNDING_S = 1e-6


class PdmPlanner:
    """Plans anew every `PERIOD_S`; it remembers its last plan, how far it has come, and at which signs it has stood.

    Args:
        road_map: with lanes, stop lines and limits.
        route: what is driven.
        vehicle: the car.
    """

    def __init__(self, road_map: RoadMap, route: Route, vehicle: Vehicle) -> None:
        self._profile = RouteProfile(road_map, route, vehicle)
        self._edges = RouteEdges(road_map, self._profile)
        self._rules = BaselineRules(road_map, self._profile)
        self._model = IdmModel.of(vehicle, HEADWAY_S, STANDING_GAP_M)
        self._last: BaselinePlan | None = None

    def step(self, inputs: Inputs) -> BaselinePlan:
        """The plan for one tick.

        Raises:
            InputError: there is no odometry.
        """
        odometry = odometry_of(inputs)
        last = self._last
        if last is not None and 0.0 <= inputs.stamp - last.trajectory.stamp < PERIOD_S - ROUNDING_S:
            return BaselinePlan(last.trajectory, last.limit)
        self._last = self._plan(inputs, odometry)
        return self._last

    def _plan(self, inputs: Inputs, odometry: Odometry) -> BaselinePlan:
        profile = self._profile
        start = self._start(inputs.stamp, odometry)
        profile.locate(odometry.pose)
        agents = agents_along(profile, inputs, odometry.pose)
        stops = self._rules.obstacles(inputs, agents, start.v)
        ahead = forecast(profile, agents, STEPS + 1 + TTC_STEPS[-1], STEP_S)
        rows = roll_out(profile, start, ahead, stops, self._model)
        scores = score_proposals(rows, ahead, self._edges, profile.vehicle)
        best = int(np.argmax(scores.score))
        limit = binding_limit(
            [*leaders(profile, agents, STANDING_GAP_M, SIDE_ROOM_M), *stops], odometry.v, profile.vehicle
        )
        trajectory = _row(rows, best, inputs.stamp)
        if scores.collision_s[best] < COLLISION_S or scores.short_s[best] < SHORT_S:
            trajectory = braked(trajectory, profile.vehicle.emergency_decel)
            limit = Limit(Reason.EMERGENCY_STOP) if limit.reason is Reason.SPEED_LIMIT else limit
        return BaselinePlan(trajectory, limit)

    def _start(self, stamp: float, odometry: Odometry) -> BicycleState:
        """The car now, with the acceleration and curvature that the last plan has for this time."""
        v, a, curvature = max(odometry.v, 0.0), 0.0, 0.0
        if self._last is not None:
            _, curvature, _, a = self._last.trajectory.sample(stamp)
        if v > AGENT_MOVES:
            curvature = odometry.yaw_rate / v
        return BicycleState(odometry.pose, v, a, curvature)


def _row(rows: ProposalSet, i: int, stamp: float) -> Trajectory:
    """A proposal as a trajectory."""
    t = STEP_S * np.arange(rows.x.shape[1], dtype=np.float64)
    columns = (column[i].copy() for column in (rows.x, rows.y, rows.heading, rows.curvature, rows.v, rows.a))
    return Trajectory(stamp, t, *columns)


def braked(trajectory: Trajectory, decel: float) -> Trajectory:
    """The same way with constant braking (m/s^2) from the first row on."""
    t, v0 = trajectory.t, float(trajectory.v[0])
    until: FloatArray = np.minimum(t, v0 / decel)
    way = v0 * until - 0.5 * decel * np.square(until)
    planned = np.concatenate(([0.0], np.cumsum(0.5 * (trajectory.v[1:] + trajectory.v[:-1]) * np.diff(t, axis=0))))
    x, y, heading, curvature = (
        np.interp(way, planned, column)
        for column in (trajectory.x, trajectory.y, trajectory.heading, trajectory.curvature)
    )
    v = np.maximum(v0 - decel * t, 0.0)
    a = np.where(v > 0.0, -decel, 0.0)
    return Trajectory(trajectory.stamp, t, x, y, heading, curvature, v, a)
