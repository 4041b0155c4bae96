"""Follows a trajectory: steering angle and acceleration from nothing but its rows and the car's own motion.

Lateral: curvature of the path ahead (as far as the steering lags) plus a feedback that lets the lateral error decay
over a length, critically damped. Longitudinal: the planned acceleration ahead (as far as the drive lags) plus a
feedback on speed and on position along the path. Forward and reverse alike: errors are measured in the direction of
travel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.standing import AT_REST
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters

MIN_CURVATURE_SPEED = 0.05
"""Slower rows carry no curvature over the wire, where only the yaw rate travels (m/s)."""
HAIR_M = 1e-3
"""Less way than this is rounding."""
STANDS_AHEAD_S = 0.3
"""A plan that moves this soon is no reason to hold the brake."""
SEARCH_S = 1.0
"""The car is looked for on this stretch of the plan around the present time."""


class ReferenceTrajectory(NamedTuple):
    """A trajectory made ready: `s` is the distance driven (m), `gear` the direction of travel of each row (+1, -1)."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    v: FloatArray
    a: FloatArray
    curvature: FloatArray
    s: FloatArray
    gear: FloatArray


class TrackerGains(NamedTuple):
    """The tracker's numbers, see `TrackerParameters`."""

    wheelbase: float
    max_steer: float
    steer_lag: float
    drive_lag: float
    decay_length: float
    decay_time: float
    damping: float
    speed_gain: float
    position_gain: float
    max_correction: float
    standstill_speed: float


class TrackerCommand(NamedTuple):
    """Steering angle (rad), acceleration in the direction of `gear` (m/s^2), direction (+1, -1), brake held."""

    steer: float
    accel: float
    gear: float
    hold: bool


def gains(vehicle: Vehicle, dynamics: DynamicsParameters, tracker: TrackerParameters) -> TrackerGains:
    """The numbers for one car."""
    return TrackerGains(
        wheelbase=vehicle.wheelbase,
        max_steer=vehicle.max_steer,
        steer_lag=dynamics.steer_lag,
        drive_lag=dynamics.drive_lag,
        decay_length=tracker.decay_length,
        decay_time=tracker.decay_time,
        damping=tracker.damping,
        speed_gain=tracker.speed_gain,
        position_gain=tracker.position_gain,
        max_correction=tracker.max_correction,
        standstill_speed=tracker.standstill_speed,
    )


def course(trajectory: Trajectory) -> ReferenceTrajectory:
    """Prepare a trajectory; curvature is taken where the car moves and carried over to the rows where it stands."""
    own = (trajectory.t, trajectory.x, trajectory.y, trajectory.heading, trajectory.v, trajectory.a)
    t, x, y, heading, v, a = (np.ascontiguousarray(column, dtype=np.float64) for column in own)
    turned, s, gear, curvature = np.empty((4, len(t)))
    _unwrap(heading, turned)
    _measure(x, y, s)
    _carry(np.sign(v), v, AT_REST, 1.0, gear)
    _carry(trajectory.curvature, v, MIN_CURVATURE_SPEED, 0.0, curvature)
    return ReferenceTrajectory(t=t, x=x, y=y, heading=turned, v=v, a=a, curvature=curvature, s=s, gear=gear)


@kernel
def _unwrap(heading: FloatArray, turned: FloatArray) -> None:
    """Headings without jumps of a whole turn."""
    jumps = 0.0
    turned[0] = heading[0]
    for i in range(1, len(heading)):
        step = heading[i] - heading[i - 1]
        if abs(step) >= math.pi:
            jumps += wrap_angle(step) - step
        turned[i] = heading[i] + jumps


@kernel
def _measure(x: FloatArray, y: FloatArray, s: FloatArray) -> None:
    """Arc lengths, m."""
    s[0] = 0.0
    for i in range(1, len(x)):
        s[i] = s[i - 1] + elementary.hypot(x[i] - x[i - 1], y[i] - y[i - 1])


@kernel
def _carry(values: FloatArray, v: FloatArray, moving: float, default: float, carried: FloatArray) -> None:
    """The values where the car moves faster, elsewhere that of the next such row, behind the last that of the last."""
    last = len(v) - 1
    while last >= 0 and not abs(v[last]) > moving:
        last -= 1
    value = values[last] if last >= 0 else default
    for i in range(len(v) - 1, -1, -1):
        if abs(v[i]) > moving:
            value = values[i]
        carried[i] = value


@array_kernel
def _row_at(column: FloatArray, value: float) -> tuple[int, float]:
    """Row before a value of an increasing column and the share of the step to the next row, clamped to the ends."""
    found = int(np.searchsorted(column, value))
    i = min(max(found - 1, 0), max(len(column) - 2, 0))
    if len(column) < 2 or column[i + 1] <= column[i]:
        return i, 0.0
    return i, min(max((value - column[i]) / (column[i + 1] - column[i]), 0.0), 1.0)


@array_kernel
def _blend(values: FloatArray, i: int, share: float) -> float:
    if len(values) < 2:
        return float(values[0])
    return float(values[i] + share * (values[i + 1] - values[i]))


@array_kernel
def _nearest(plan: ReferenceTrajectory, lo: int, hi: int, x: float, y: float) -> tuple[int, float, float]:
    """Nearest point on the segments `lo` to `hi - 1`: row, share, signed offset (+ left of the car's heading there)."""
    best, best_i, best_share, best_offset = np.inf, lo, 0.0, 0.0
    for i in range(lo, hi):
        dx, dy = plan.x[i + 1] - plan.x[i], plan.y[i + 1] - plan.y[i]
        length2 = dx * dx + dy * dy
        px, py = x - plan.x[i], y - plan.y[i]
        share = min(max((px * dx + py * dy) / length2, 0.0), 1.0) if length2 > 1e-12 else 0.0
        ex, ey = px - share * dx, py - share * dy
        d2 = ex * ex + ey * ey
        if d2 < best:
            best, best_i, best_share = d2, i, share
            heading = plan.heading[i] + share * (plan.heading[i + 1] - plan.heading[i])
            sine, cosine = elementary.sin_cos(heading)
            best_offset = ey * cosine - ex * sine
    return best_i, best_share, best_offset


@array_kernel
def _same_gear(plan: ReferenceTrajectory, row: int, t_from: float, t_to: float) -> tuple[int, int]:
    """First and last row around `row` with its gear and between two times; the row that starts the stretch is part of
    it.
    """
    lo = row
    while lo > 0 and plan.gear[lo] == plan.gear[row] and plan.t[lo] > t_from:
        lo -= 1
    hi = row
    while hi + 1 < len(plan.t) and plan.gear[hi + 1] == plan.gear[row] and plan.t[hi] < t_to:
        hi += 1
    return lo, hi


@array_kernel
def _stands(plan: ReferenceTrajectory, t: float) -> bool:
    """Whether the plan stands from `t` for a while."""
    i, share = _row_at(plan.t, t)
    if abs(_blend(plan.v, i, share)) > 10.0 * AT_REST:
        return False
    for k in range(i + 1, len(plan.t)):
        if plan.t[k] > t and abs(plan.v[k]) > 10.0 * AT_REST:
            return False
        if plan.t[k] > t + STANDS_AHEAD_S:
            break
    return True


@array_kernel
def control(plan: ReferenceTrajectory, t: float, state: FloatArray, k: TrackerGains) -> TrackerCommand:
    """The command at `t` seconds into the plan for a car at `state` = x, y, heading, v, a, steer."""
    x, y, heading, v = state[0], state[1], state[2], state[3]
    i, share = _row_at(plan.t, t)
    ahead, ahead_share = _row_at(plan.t, t + k.drive_lag)
    gear_row = min(ahead + 1, len(plan.t) - 1) if ahead_share > 0.0 else ahead
    gear = plan.gear[gear_row]
    stands = _stands(plan, t)
    if stands and abs(v) < k.standstill_speed:
        moves_on = plan.s[-1] - _blend(plan.s, i, share) > HAIR_M
        steer = elementary.atan(k.wheelbase * _blend(plan.curvature, i, share)) if moves_on else state[5]
        return TrackerCommand(min(max(steer, -k.max_steer), k.max_steer), 0.0, gear, True)
    lo, hi = _same_gear(plan, gear_row, t - SEARCH_S, t + SEARCH_S)
    if hi > lo:
        near, near_share, offset = _nearest(plan, lo, hi, x, y)
    else:
        near, near_share = lo, 0.0
        sine, cosine = elementary.sin_cos(plan.heading[lo])
        offset = (y - plan.y[lo]) * cosine - (x - plan.x[lo]) * sine
    s_now = _blend(plan.s, near, near_share)
    turned = wrap_angle(heading - _blend(plan.heading, near, near_share))
    seen, seen_share = _row_at(plan.s, s_now + abs(v) * k.steer_lag)
    decay = k.decay_length + k.decay_time * abs(v)
    kind = elementary.atan(offset / (2.0 * k.damping * decay))
    curvature = _blend(plan.curvature, seen, seen_share) - gear * 2.0 * k.damping / decay * elementary.sin(
        turned + gear * kind
    )
    steer = elementary.atan(k.wheelbase * curvature)
    late = max(t - plan.t[-1], 0.0)
    speed_error = gear * (_blend(plan.v, i, share) - v)
    position_error = _blend(plan.s, i, share) + late * abs(plan.v[-1]) - s_now
    correction = k.speed_gain * speed_error + k.position_gain * position_error
    planned = 0.0 if late > 0.0 else gear * _blend(plan.a, ahead, ahead_share)
    accel = planned + min(max(correction, -k.max_correction), k.max_correction)
    return TrackerCommand(min(max(steer, -k.max_steer), k.max_steer), accel, gear, False)
