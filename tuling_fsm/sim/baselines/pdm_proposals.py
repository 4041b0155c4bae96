"""The proposals of PDM-Closed: IDM at several speeds along lines beside the route's middle, each driven by a bicycle.

A proposal is a share of the speed limit and a lateral offset. Its line is the route's reference moved sideways; the
Intelligent Driver Model gives the acceleration towards that speed behind whatever is on that line, and pure pursuit
(Coulter 1992) the steering towards a point of it ahead. Both drive a kinematic bicycle with the car's limits, step by
step, so that every proposal is what the car would really do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.baselines.forecast import AgentForecast
from tuling_fsm.sim.baselines.idm import IdmModel
from tuling_fsm.sim.baselines.planner import SIDE_ROOM_M
from tuling_fsm.sim.baselines.route_agents import RouteObstacle
from tuling_fsm.sim.baselines.route_profile import RouteProfile

SPEED_SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
OFFSETS_M = (0.0, -1.0, 1.0)
STEPS, STEP_S = 40, 0.1
"""Four seconds."""
LOOK_M, LOOK_S = 3.0, 0.8
"""The point ahead that is steered to: so far, and so long at the present speed."""
JERK, HARD = 4.0, -3.0
"""Accelerations change at this rate (m/s^3), but braking harder than the second (m/s^2) comes at once."""
AHEAD_M = 0.5
"""What is not this far ahead of the rear axle does not lead."""


class BicycleState(NamedTuple):
    """Where a roll-out begins: pose of the rear axle, speed (m/s), acceleration (m/s^2), curvature (1/m, + left)."""

    pose: Pose
    v: float
    a: float
    curvature: float


class ProposalSet(NamedTuple):
    """P proposals at K steps from now on, all (P, K): rear axle `x`, `y` (m), `heading` (rad), speed (m/s),
    acceleration from this step to the next (m/s^2), curvature (1/m), arc length along the route and offset beside it
    (m, + left).
    """

    x: FloatArray
    y: FloatArray
    heading: FloatArray
    v: FloatArray
    a: FloatArray
    curvature: FloatArray
    s: FloatArray
    offset: FloatArray


def roll_out(
    profile: RouteProfile,
    start: BicycleState,
    agents: AgentForecast,
    stops: list[RouteObstacle],
    model: IdmModel,
) -> ProposalSet:
    """All proposals, over `STEPS`.

    Args:
        profile: the route; it knows where the car is.
        start: the car now.
        agents: of which at least `STEPS` + 1 steps are forecast.
        stops: places that the bumper has to stop at.
        model: for following and stopping.
    """
    shares, targets = (column.ravel() for column in np.meshgrid(SPEED_SHARES, OFFSETS_M, indexing="ij"))
    rows = ProposalSet(*np.zeros((len(ProposalSet._fields), len(shares), STEPS + 1)))
    rows.x[:, 0], rows.y[:, 0], rows.heading[:, 0] = start.pose
    rows.v[:, 0], rows.curvature[:, 0] = start.v, start.curvature
    rows.s[:, 0], rows.offset[:, 0] = profile.s, _offset(profile, start.pose)
    stop_at = min((profile.s + profile.vehicle.front + each.room for each in stops), default=np.inf)
    before = np.full(len(shares), start.a)
    for k in range(STEPS + 1):
        wanted = _acceleration(profile, rows, k, shares, agents, targets, stop_at, model)
        gentle = np.clip(wanted, before - JERK * STEP_S, before + JERK * STEP_S)
        a = np.where(wanted < HARD, wanted, gentle)
        rows.a[:, k] = before = np.maximum(a, -rows.v[:, k] / STEP_S)
        if k < STEPS:
            _steer(profile, rows, k, targets)
            _drive(profile, rows, k)
    return rows


def _offset(profile: RouteProfile, pose: Pose) -> float:
    """How far beside the route a pose at the car's arc length is, m."""
    x, y, heading = profile.poses_at(np.array([profile.s]))
    sin, cos = elementwise.sin_cos(heading)
    return float((pose.y - y[0]) * cos[0] - (pose.x - x[0]) * sin[0])


def _acceleration(
    profile: RouteProfile, rows: ProposalSet, k: int, shares: FloatArray, agents: AgentForecast,
    targets: FloatArray, stop_at: float, model: IdmModel,
) -> FloatArray:  # fmt: skip
    """Acceleration (P,) that the model asks for at step `k`."""
    v, s = rows.v[:, k], rows.s[:, k]
    limit = shares * np.interp(s, profile.stations, profile.limits)
    a = model.free(v, np.minimum(limit, np.interp(s, profile.stations, profile.speed)))
    front = s + profile.vehicle.front
    a = np.minimum(a, model.behind(v, stop_at - front + model.standing_gap, np.zeros(1)))
    if len(agents.s):
        reach = agents.half_aside + 0.5 * profile.vehicle.width + SIDE_ROOM_M
        leads = (np.abs(agents.offset[:, k] - targets[:, None]) < reach) & (agents.s[:, k] > s[:, None] + AHEAD_M)
        leads &= agents.s[:, 0] > profile.s  # At constant velocity what is behind drives through the car.
        gap = np.where(leads, agents.s[:, k] - agents.half_along - front[:, None], np.inf)
        a = np.minimum(a, model.behind(v[:, None], gap, agents.v_along).min(axis=1))
    return a


def _steer(profile: RouteProfile, rows: ProposalSet, k: int, targets: FloatArray) -> None:
    """Curvature of the next step: towards the point ahead on each line, at the rate at which the wheels turn."""
    vehicle = profile.vehicle
    look = LOOK_M + LOOK_S * rows.v[:, k]
    x, y, heading = profile.poses_at(rows.s[:, k] + look)
    sine, cosine = elementwise.sin_cos(heading)
    x, y = x - targets * sine, y + targets * cosine
    dx, dy = x - rows.x[:, k], y - rows.y[:, k]
    sin, cos = elementwise.sin_cos(rows.heading[:, k])
    aside, squared = dy * cos - dx * sin, np.maximum(dx * dx + dy * dy, LOOK_M)
    wanted = np.clip(2.0 * aside / squared, -vehicle.max_curvature, vehicle.max_curvature)
    change = vehicle.max_steer_rate / vehicle.wheelbase * STEP_S
    before = rows.curvature[:, k]
    rows.curvature[:, k + 1] = np.clip(wanted, before - change, before + change)


def _drive(profile: RouteProfile, rows: ProposalSet, k: int) -> None:
    """Step `k` + 1 of the kinematic bicycle, and where that is along the route."""
    v = np.maximum(rows.v[:, k] + rows.a[:, k] * STEP_S, 0.0)
    way = 0.5 * (rows.v[:, k] + v) * STEP_S
    turn = way * 0.5 * (rows.curvature[:, k] + rows.curvature[:, k + 1])
    middle = rows.heading[:, k] + 0.5 * turn
    sine, cosine = elementwise.sin_cos(middle)
    x, y = rows.x[:, k] + way * cosine, rows.y[:, k] + way * sine
    at = rows.s[:, k] + way
    ref_x, ref_y, ref_heading = profile.poses_at(at)
    sin, cos = elementwise.sin_cos(ref_heading)
    rows.x[:, k + 1], rows.y[:, k + 1], rows.heading[:, k + 1], rows.v[:, k + 1] = x, y, rows.heading[:, k] + turn, v
    rows.s[:, k + 1] = at + (x - ref_x) * cos + (y - ref_y) * sin
    rows.offset[:, k + 1] = (y - ref_y) * cos - (x - ref_x) * sin
