"""Last stage: accelerations of all vehicles, then all of them move at once."""

from __future__ import annotations

import math

from numba import njit

from tuling_fsm.sim.traffic.collision import Ahead, Driver
from tuling_fsm.sim.traffic.fleet import LANES, OFF, RAILS, Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import LaneGraph
from tuling_fsm.sim.traffic.lines import Orders

LOOK_STEP_M = 2.0
LINE_GAP_M = 0.3
REACTION_S = 0.4
"""A speed that is too high is corrected within this time."""
MIN_BEND_SPEED = 1.5
JERK_UP, JERK_DOWN = 3.0, 8.0
HARD = -3.0
"""Braking harder than this is not held back by the jerk limits, m/s^2."""


@njit(cache=True)
def allowed_speed(graph: LaneGraph, fleet: Fleet, i: int, k: Driver) -> float:
    """Speed that limits and bends allow now, so that slower stretches ahead can be reached with comfortable braking."""
    v = fleet.v[i]
    reach = v * v / (2.0 * k.comfort_decel) + 2.0 * LOOK_STEP_M
    lane = path_index(fleet, i, fleet.arc[i])
    allowed, ahead = math.inf, 0.0
    bend_factor = math.sqrt(k.lateral_accel)
    while ahead <= reach:
        arc = fleet.arc[i] + ahead
        while lane + 1 < fleet.path_count[i] and fleet.path_at[i, lane + 1] <= arc:
            lane += 1
        index = fleet.path_lane[i, lane]
        sample = graph.at[index] + int((arc - fleet.path_at[i, lane]) / max(graph.step[index], 1e-9))
        sample = min(max(sample, graph.at[index]), graph.at[index + 1] - 1)
        limit = graph.limit[index] * fleet.share[i]
        if not math.isnan(fleet.wanted[i]):
            limit = math.inf
        here = min(limit, max(bend_factor * graph.bend_speed[sample], MIN_BEND_SPEED))
        allowed = min(allowed, math.sqrt(here * here + 2.0 * k.comfort_decel * ahead))
        ahead += LOOK_STEP_M
    return allowed


@njit(cache=True)
def _free_accel(graph: LaneGraph, fleet: Fleet, i: int, k: Driver, dt: float) -> float:
    """Acceleration on an empty road: toward the wanted speed at its rate, or as the driver likes."""
    v, allowed = fleet.v[i], allowed_speed(graph, fleet, i, k)
    wanted = fleet.wanted[i]
    if not math.isnan(wanted) and not math.isinf(fleet.rate[i]):
        toward = min(max((wanted - v) / dt, -fleet.rate[i]), fleet.rate[i])
        return float(toward if v <= allowed else min(toward, (allowed - v) / REACTION_S))
    target = allowed if math.isnan(wanted) else min(allowed, wanted)
    if v > target:
        return float(max((target - v) / REACTION_S, -k.max_decel))
    ratio = v / max(target, 0.1)
    return float(k.max_accel * (1.0 - ratio * ratio * ratio * ratio))


@njit(cache=True)
def _line_accel(v: float, gap: float, k: Driver) -> float:
    """Acceleration that ends `gap` m ahead in a stop with comfortable braking."""
    if gap <= 0.05:
        return -k.max_decel if v > 0.3 else -max(v, 0.1) / 0.1
    return max((math.sqrt(2.0 * k.comfort_decel * gap) - v) / REACTION_S, -k.max_decel)


@njit(cache=True)
def move(graph: LaneGraph, fleet: Fleet, ahead: Ahead, orders: Orders, k: Driver, dt: float) -> None:
    """Accelerate and move every vehicle by `dt` s; one that comes to a dead end goes off the road."""
    for i in range(len(fleet.mode)):
        if fleet.mode[i] == OFF:
            continue
        v, front = fleet.v[i], fleet.arc[i] + 0.5 * fleet.length[i]
        end = fleet.path_at[i, fleet.path_count[i]]
        stop = min(orders.stop_arc[i], end) if fleet.mode[i] == RAILS else orders.stop_arc[i]
        a = min(_free_accel(graph, fleet, i, k, dt), ahead.accel[i], _line_accel(v, stop - front - LINE_GAP_M, k))
        if a > HARD and math.isinf(fleet.rate[i]):
            a = max(min(a, fleet.a[i] + JERK_UP * dt), fleet.a[i] - JERK_DOWN * dt)
        new_v = max(v + a * dt, 0.0)
        fleet.arc[i] += 0.5 * (v + new_v) * dt
        fleet.a[i] = (new_v - v) / dt
        fleet.v[i] = new_v
        fleet.offset_time[i] += dt
        fleet.standing[i] = fleet.standing[i] + dt if new_v < 0.1 and not orders.red[i] else 0.0
        if fleet.mode[i] == LANES and front >= end - 1.0:
            fleet.mode[i] = OFF
