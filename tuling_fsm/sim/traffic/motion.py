"""Fifth stage: accelerations of all vehicles, then all of them move at once, with dynamics or without."""

from __future__ import annotations

import math

from tuling_fsm.core.kernels import kernel, part, sqrt
from tuling_fsm.sim.traffic.collision import Driver
from tuling_fsm.sim.traffic.dynamics import press_pedals, roll, turn_wheels
from tuling_fsm.sim.traffic.fleet import LANES, OFF, RAILS, Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import LaneGraph, Records

LOOK_STEP_M = 2.0
LINE_GAP_M = 0.3
MIN_GAP_M = 0.02
NEEDED_SHARE = 0.8
"""Braking for a line begins at this share of comfortable braking."""
REACTION_S = 0.4
"""A speed that is too high is corrected within this time."""
MIN_BEND_SPEED = 1.5
JERK_UP, JERK_DOWN = 3.0, 8.0
HARD = -3.0
"""Braking harder than this is not held back by the jerk limits, m/s^2."""


@part
def allowed_speed(graph: LaneGraph, fleet: Fleet, i: int, k: Driver) -> float:
    """Speed (m/s) that limits and bends allow now, so that slower stretches ahead can be reached with comfortable
    braking.
    """
    v = fleet.car.v[i]
    reach = v * v / (2.0 * k.comfort_decel) + 2.0 * LOOK_STEP_M
    place = path_index(fleet, i, fleet.car.arc[i])
    squared, ahead, bend_factor = math.inf, 0.0, sqrt(k.lateral_accel)
    free = not math.isnan(fleet.car.wanted[i])
    while ahead <= reach:
        arc = fleet.car.arc[i] + ahead
        while place + 1 < fleet.car.path_count[i] and fleet.path_at[i, place + 1] <= arc:
            place += 1
        lane = fleet.path_lane[i, place]
        here = math.inf if free else graph.lane.limit[lane] * fleet.car.share[i]
        if not graph.lane.straight[lane]:
            sample = graph.lane.at[lane] + int((arc - fleet.path_at[i, place]) / max(graph.lane.step[lane], 1e-9))
            sample = min(max(sample, graph.lane.at[lane]), graph.lane.end[lane] - 1)
            here = min(here, max(bend_factor * graph.sample.bend_speed[sample], MIN_BEND_SPEED))
        squared = min(squared, here * here + 2.0 * k.comfort_decel * ahead)
        ahead += LOOK_STEP_M
        if graph.lane.straight[lane]:
            ahead = max(ahead, fleet.path_at[i, place + 1] - fleet.car.arc[i])
    return float(sqrt(squared))


@part
def _free_accel(graph: LaneGraph, fleet: Fleet, i: int, k: Driver, dt: float) -> float:
    """Acceleration on an empty road: toward the wanted speed at its rate, or as the driver likes."""
    v, allowed = fleet.car.v[i], allowed_speed(graph, fleet, i, k)
    wanted = fleet.car.wanted[i]
    if not math.isnan(wanted) and not math.isinf(fleet.car.rate[i]):
        toward = min(max((wanted - v) / dt, -fleet.car.rate[i]), fleet.car.rate[i])
        return float(toward if v <= allowed else min(toward, (allowed - v) / REACTION_S))
    target = allowed if math.isnan(wanted) else min(allowed, wanted)
    if v > target:
        return float(max((target - v) / REACTION_S, -k.max_decel))
    ratio = v / max(target, 0.1)
    return float(k.max_accel * (1.0 - ratio * ratio * ratio * ratio))


@part
def _line_accel(v: float, gap: float, k: Driver) -> float:
    """Acceleration that ends `gap` m ahead in a stop with comfortable braking."""
    if gap < MIN_GAP_M:
        return -k.max_decel
    needed = 0.5 * v * v / gap
    if needed > NEEDED_SHARE * k.comfort_decel:
        return max(-needed, -k.max_decel)
    return float((sqrt(2.0 * NEEDED_SHARE * k.comfort_decel * gap) - v) / REACTION_S)


@kernel
def move(graph: LaneGraph, fleet: Fleet, ahead: Records, orders: Records, k: Driver, dt: float) -> None:
    """Accelerate and move every vehicle by `dt` s; one that comes to a dead end goes off the road."""
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == OFF:
            continue
        v, front = fleet.car.v[i], fleet.car.arc[i] + 0.5 * fleet.car.length[i]
        end = fleet.path_at[i, fleet.car.path_count[i]]
        stop = min(orders.stop_arc[i], end) if fleet.car.mode[i] == RAILS else orders.stop_arc[i]
        a = min(_free_accel(graph, fleet, i, k, dt), ahead.accel[i], _line_accel(v, stop - front - LINE_GAP_M, k))
        if a > HARD and math.isinf(fleet.car.rate[i]):
            a = max(min(a, fleet.car.a[i] + JERK_UP * dt), fleet.car.a[i] - JERK_DOWN * dt)
        if fleet.car.physical[i]:
            new_v = press_pedals(fleet, i, a, k, dt)
            turn_wheels(graph, fleet, i, k, dt)
            roll(graph, fleet, i, 0.5 * (v + new_v) * dt, k)
        else:
            new_v = max(v + a * dt, 0.0)
            fleet.car.arc[i] += 0.5 * (v + new_v) * dt
        fleet.car.a[i] = (new_v - v) / dt
        fleet.car.v[i] = new_v
        fleet.car.offset_time[i] += dt
        fleet.car.standing[i] = fleet.car.standing[i] + dt if new_v < 0.1 and not orders.red[i] else 0.0
        if fleet.car.mode[i] == LANES and front >= end - 1.0:
            fleet.car.mode[i] = OFF
