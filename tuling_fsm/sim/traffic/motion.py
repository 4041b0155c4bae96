"""Fifth stage: accelerations of all vehicles, then all of them move at once, with dynamics or without.

The pedals hold the speed that the wanted accelerations add up to, the wheels turn towards a point of the path ahead.
The motor lags, the wheels turn at a limited rate, and the body goes where the wheels point (TM-1, TM-3).
"""

from __future__ import annotations

import math

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.core.standing import STOPPED, VEHICLE_STANDS
from tuling_fsm.sim.traffic.collision import IdmParameters
from tuling_fsm.sim.traffic.fleet import (
    AXLE_SHARE,
    GIVEN_PATH,
    NO_OWNER,
    OFF,
    ROAMING,
    Fleet,
    nearest_sample,
    offset_at,
    path_index,
    path_point,
)
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph

PEDAL_P, PEDAL_I, PEDAL_D = 2.0, 0.2, 0.05
WHEEL_P, WHEEL_I, WHEEL_D = 1.0, 0.05, 0.02
"""Times the angle that would lead a bicycle on an arc to the point ahead."""
PEDAL_LAG_S = 0.1
MOTOR = 2.0
"""The motor gives at most this multiple of the usual acceleration."""
MAX_LAG = 0.25
"""The target speed is at most this far from the present one, m/s."""
LOOK_M, LOOK_S = 0.3, 0.15
"""The point ahead of the front axle."""
NEAREST = 1e-9
"""A distance, squared, over which no direction is told, m^2."""
MAX_STEER, STEER_RATE = 0.75, 2.5
STANDING = STOPPED


@kernel
def start_dynamics(fleet: Fleet, i: int) -> None:
    """Begin with dynamics: as fast as it is, wheels straight."""
    car = fleet.car
    car.physical[i], car.target[i], car.commanded[i] = True, car.v[i], car.a[i]
    car.steer[i], car.error[i], car.error_sum[i], car.lag_sum[i] = 0.0, 0.0, 0.0, 0.0


@kernel
def control_speed(fleet: Fleet, i: int, wanted: float, k: IdmParameters, dt: float) -> float:
    """Speed after `dt` s when `wanted` (m/s^2) is asked for."""
    car = fleet.car
    v = car.v[i]
    target = min(max(car.target[i] + wanted * dt, v - MAX_LAG, 0.0), v + MAX_LAG)
    lag = target - v
    car.lag_sum[i] = min(max(car.lag_sum[i] + lag * dt, -1.0), 1.0)
    change = (lag - (car.target[i] - v)) / dt
    car.target[i] = target
    pedal = wanted + PEDAL_P * lag + PEDAL_I * car.lag_sum[i] + PEDAL_D * change
    pedal = min(max(pedal, -k.max_decel), MOTOR * k.max_accel)
    a = car.a[i] + (pedal - car.a[i]) * dt / (PEDAL_LAG_S + dt)
    if target < STANDING and v < STANDING and wanted <= 0.0:
        car.lag_sum[i] = 0.0
        return 0.0
    return float(max(v + a * dt, 0.0))


@kernel
def control_steering(graph: TrafficLaneGraph, fleet: Fleet, i: int, k: IdmParameters, dt: float) -> None:
    """Turn the front wheels towards the point of the path ahead."""
    car = fleet.car
    axle = AXLE_SHARE * car.length[i]
    base = 2.0 * axle
    sine, cosine = elementary.sin_cos(car.heading[i])
    rear_x, rear_y = car.x[i] - axle * cosine, car.y[i] - axle * sine
    ahead = base + LOOK_M + LOOK_S * car.v[i]
    offset = offset_at(fleet, i, (ahead - axle) / max(car.v[i], 1.0), k.lane_change_time)
    x, y, _ = path_point(graph, fleet, i, car.arc[i] - axle + ahead, offset)
    dx, dy = x - rear_x, y - rear_y
    squared = dx * dx + dy * dy
    # The arc through a point has twice the offset from the heading over the distance, squared, for its curvature.
    across = dy * cosine - dx * sine
    error = elementary.atan(2.0 * base * across / max(squared, base * sqrt(squared), NEAREST))
    rate = (error - car.error[i]) / dt
    car.error[i] = error
    car.error_sum[i] = min(max(car.error_sum[i] + error * dt, -0.5), 0.5)
    wanted = WHEEL_P * error + WHEEL_I * car.error_sum[i] + WHEEL_D * rate
    wanted = min(max(wanted, -MAX_STEER), MAX_STEER)
    car.steer[i] += min(max(wanted - car.steer[i], -STEER_RATE * dt), STEER_RATE * dt)


@kernel
def integrate_motion(graph: TrafficLaneGraph, fleet: Fleet, i: int, way: float, k: IdmParameters) -> None:
    """Move the body by `way` (m) where its wheels point, and find it on its path."""
    car = fleet.car
    axle = AXLE_SHARE * car.length[i]
    before = car.heading[i]
    sine, cosine = elementary.sin_cos(before)
    rear_x, rear_y = car.x[i] - axle * cosine, car.y[i] - axle * sine
    turn = way * elementary.tan(car.steer[i]) / (2.0 * axle)
    sine, cosine = elementary.sin_cos(before + 0.5 * turn)
    rear_x, rear_y = rear_x + way * cosine, rear_y + way * sine
    heading = before + turn
    car.heading[i] = wrap_angle(heading) if abs(heading) > math.pi else heading
    sine, cosine = elementary.sin_cos(heading)
    car.x[i], car.y[i] = rear_x + axle * cosine, rear_y + axle * sine
    arc = car.arc[i] - axle + way
    offset = offset_at(fleet, i, -axle / max(car.v[i], 1.0), k.lane_change_time)
    x, y, heading = path_point(graph, fleet, i, arc, offset)
    sine, cosine = elementary.sin_cos(heading)
    ahead = (rear_x - x) * cosine + (rear_y - y) * sine
    car.arc[i] = arc + axle + min(max(ahead, -way), way)
    car.z[i] = graph.sample.z[nearest_sample(graph, fleet, i, car.arc[i])]


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


@inlined_kernel
def allowed_speed(graph: TrafficLaneGraph, fleet: Fleet, i: int, k: IdmParameters) -> float:
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


@inlined_kernel
def _free_accel(graph: TrafficLaneGraph, fleet: Fleet, i: int, k: IdmParameters, dt: float) -> float:
    """Acceleration on an empty road: toward the wanted speed at its rate, or that of the Intelligent Driver Model."""
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


@inlined_kernel
def _line_accel(v: float, gap: float, k: IdmParameters) -> float:
    """Acceleration that ends `gap` m ahead in a stop with comfortable braking."""
    if gap < MIN_GAP_M:
        return -k.max_decel
    needed = 0.5 * v * v / gap
    if needed > NEEDED_SHARE * k.comfort_decel:
        return max(-needed, -k.max_decel)
    return float((sqrt(2.0 * NEEDED_SHARE * k.comfort_decel * gap) - v) / REACTION_S)


@inlined_kernel
def _comes_to_dead_end(graph: TrafficLaneGraph, fleet: Fleet, i: int) -> bool:
    """Whether vehicle `i` is one of the scenario's and no lane goes on from the end of its path."""
    last = fleet.path_lane[i, fleet.car.path_count[i] - 1]
    return bool(fleet.car.owner[i] == NO_OWNER and graph.lane.next_at[last] == graph.lane.next_end[last])


@kernel
def move(
    graph: TrafficLaneGraph, fleet: Fleet, ahead: Records, stop_points: Records, k: IdmParameters, dt: float
) -> None:
    """Accelerate and move every vehicle by `dt` s. At a dead end the scenario's stop; all others go off the road."""
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == OFF:
            continue
        v, front = fleet.car.v[i], fleet.car.arc[i] + 0.5 * fleet.car.length[i]
        end = fleet.path_at[i, fleet.car.path_count[i]]
        ends = fleet.car.mode[i] == GIVEN_PATH or _comes_to_dead_end(graph, fleet, i)
        stop = min(stop_points.stop_arc[i], end) if ends else stop_points.stop_arc[i]
        a = min(_free_accel(graph, fleet, i, k, dt), ahead.accel[i], _line_accel(v, stop - front - LINE_GAP_M, k))
        if a > HARD and math.isinf(fleet.car.rate[i]):
            a = max(min(a, fleet.car.commanded[i] + JERK_UP * dt), fleet.car.commanded[i] - JERK_DOWN * dt)
        fleet.car.commanded[i] = max(a, -v / dt)
        if fleet.car.physical[i]:
            new_v = control_speed(fleet, i, a, k, dt)
            control_steering(graph, fleet, i, k, dt)
            integrate_motion(graph, fleet, i, 0.5 * (v + new_v) * dt, k)
        else:
            new_v = max(v + a * dt, 0.0)
            fleet.car.arc[i] += 0.5 * (v + new_v) * dt
        fleet.car.a[i] = (new_v - v) / dt
        fleet.car.v[i] = new_v
        fleet.car.offset_time[i] += dt
        fleet.car.standing[i] = fleet.car.standing[i] + dt if new_v < VEHICLE_STANDS and not stop_points.red[i] else 0.0
        if fleet.car.mode[i] == ROAMING and fleet.car.owner[i] != NO_OWNER and front >= end - 1.0:
            fleet.car.mode[i] = OFF
