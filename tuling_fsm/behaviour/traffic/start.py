"""Safe to start (USE-6): a standing car stays while something is in its start path or comes into it."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from tuling_fsm.behaviour.traffic.pedestrians import are_released
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.request import Reason, StopWall
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.world.inputs import Kind

_SETTLED_S = 1.0
"""A car that has stood for less is still stopping: the plan that stopped it deals with what is ahead."""
_TURNED_RAD = 0.785
"""One that is turned by more is no leader, but comes across."""


def start_rule(
    now: TrafficSituation, blocked: bool, clear_since: float, released: Collection[int]
) -> tuple[tuple[tuple[float, StopWall], ...], bool, float]:
    """A wall at the bumper while the start path is not clear, whether it is, and since when.

    Pedestrians that are crept past are `released`: they stand, and what is planned keeps clear of them (USE-5).
    """
    p = now.parameters.start
    if not now.stands or now.world.standing_for < _SETTLED_S:
        return (), False, -math.inf
    intruder = _intruder(now, p.clear if blocked else p.trigger, released)
    if intruder is not None:
        return _wall(now, intruder, "in the start path"), True, math.inf
    if not blocked:
        return (), False, clear_since
    since = min(clear_since, now.now)
    if now.now - since >= p.clear_time - 1e-9:
        return (), False, since
    return _wall(now, None, "start path clear for a moment only"), True, since


def _wall(now: TrafficSituation, at: int | None, why: str) -> tuple[tuple[float, StopWall], ...]:
    if at is None:
        return ((now.front, now.wall(now.front, Reason.OBSTACLE, why)),)
    traffic = now.world.traffic
    row = int(traffic.obstacle_row[at])
    walks = int(traffic.kind[row]) in (Kind.PEDESTRIAN, Kind.ANIMAL)
    number = int(traffic.id[row])
    reason = Reason.PEDESTRIAN if walks else Reason.LEADER if _leads(now, at) else Reason.OBSTACLE
    return ((now.front, now.wall(now.front, reason, f"object {number} {why}", number)),)


def _leads(now: TrafficSituation, at: int) -> bool:
    """Whether an obstacle is a leader: it has moved lately or waits in line, before the bumper and along the car. For
    one farther ahead the lane planner says the same (NOR-7, NOR-11).
    """
    obstacles, pose = now.world.scene.obstacles, now.world.ego.pose
    s, c = elementary.sin_cos(pose.heading)
    dx, dy = float(obstacles.x[at, 0]) - pose.x, float(obstacles.y[at, 0]) - pose.y
    before = c * dx + s * dy > now.vehicle.front
    before &= abs(c * dy - s * dx) < 0.5 * (now.vehicle.width + float(obstacles.width[at]))
    along = abs(wrap_angle(float(obstacles.heading[at, 0]) - pose.heading)) < _TURNED_RAD
    return bool(obstacles.moving[at]) and before and along


def _intruder(now: TrafficSituation, margin: float, released: Collection[int]) -> int | None:
    """Row of the first obstacle that is in the start path, or moves into it within the look-ahead.

    What stands beside or behind the car does not keep it: it may always drive away from what is near.
    """
    obstacles, vehicle, pose = now.world.scene.obstacles, now.vehicle, now.world.ego.pose
    if len(obstacles) == 0:
        return None
    steps = 1 + round(now.parameters.start.look_ahead / PREDICTION_STEP_S)
    s, c = elementary.sin_cos(pose.heading)
    dx, dy = obstacles.x[:, :steps] - pose.x, obstacles.y[:, :steps] - pose.y
    ahead, side = c * dx + s * dy - vehicle.front, c * dy - s * dx
    skew = obstacles.heading[:, :steps] - pose.heading
    half_length, half_width = 0.5 * obstacles.length[:, None], 0.5 * obstacles.width[:, None]
    sine, cosine = elementwise.sin_cos(skew)
    along = np.abs(cosine) * half_length + np.abs(sine) * half_width
    across = np.abs(sine) * half_length + np.abs(cosine) * half_width
    inside = (ahead + along > -0.2) & (ahead - along < now.parameters.start.reach)
    inside &= np.abs(side) - across < 0.5 * vehicle.width + margin
    standing = obstacles.speed < AGENT_STANDS
    ahead_of_bumper = np.abs(side[:, 0]) - across[:, 0] < 0.5 * vehicle.width
    counts = np.where(standing, inside[:, 0] & ahead_of_bumper & (ahead[:, 0] > 0.0), inside.any(axis=1))
    if released:
        counts &= ~are_released(obstacles, released)
    rows = np.flatnonzero(counts)
    return int(rows[0]) if len(rows) else None
