"""Speed along a path: a driver's laws rolled out in time.

What the path itself allows is an envelope over arc length (backward pass). Stops, leaders and crossings give each an
acceleration; the least one counts, limited in jerk. Rolled out from any row of its own result the same laws give the
rest of that result, so a plan made anew on every tick goes on where the last one was.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import SpeedParameters
from tuling_fsm.planning.paths import PKAPPA, PROOM, PS, Laid, steepest_steering

STEP_S = 0.1
FREE, AT_LIMIT, IN_BEND, TIGHT, FOLLOWING, YIELDING, STOPPING = range(7)
"""What bound the speed at the start: nothing, a speed limit, a bend, a narrow place, a leader, a crossing object, a
stop."""
_CREEP = 0.5
"""No bend makes a car on a lane slower than this (m/s), whatever little kink its line has."""
_SETTLED = 0.03
_PREVIEW_S = (0.0, 0.35, 0.7)


class Drive(NamedTuple):
    """Limits of the longitudinal motion: `Vehicle` and `SpeedParameters` in one."""

    wheelbase: float
    max_curvature: float
    max_speed: float
    accel: float
    decel: float
    emergency: float
    jerk: float
    lateral: float
    steer_rate: float
    gain: float
    stop_jerk: float
    hard_jerk: float
    headway: float
    standstill_gap: float
    gap_time: float
    start_room: float
    crossing_slack: float
    creep: float
    slow_speed: float
    slow_slope: float

    @classmethod
    def of(cls, vehicle: Vehicle, speed: SpeedParameters, slow_speed: float, slow_slope: float) -> Drive:
        """The limits of a vehicle; `slow_*` as in `ClearanceParameters`."""
        return cls(
            vehicle.wheelbase, vehicle.max_curvature, vehicle.max_speed, vehicle.max_accel, vehicle.comfort_decel,
            vehicle.emergency_decel, vehicle.max_jerk, vehicle.max_lateral_accel,
            vehicle.max_steer_rate * speed.steer_share, speed.gain, speed.stop_jerk, speed.hard_jerk, speed.headway,
            speed.standstill_gap, speed.gap_time, speed.start_room, 0.5 * speed.crossing_gap, _CREEP,
            slow_speed, slow_slope,
        )  # fmt: skip


class Traffic(NamedTuple):
    """Moving things on one path, a row for each prediction step: arc length where the body would touch (m, `inf` for
    none).

    `leader_s`/`leader_v`/`leader_id` is the one to follow, `wall_s`/`wall_id` where to stop for those that cross.
    """

    leader_s: FloatArray
    leader_v: FloatArray
    leader_id: FloatArray
    wall_s: FloatArray
    wall_id: FloatArray


def no_traffic() -> Traffic:
    """An empty road."""
    far, zero, nobody = np.full(PREDICTION_STEPS, np.inf), np.zeros(PREDICTION_STEPS), np.full(PREDICTION_STEPS, -1.0)
    return Traffic(far, zero, nobody, far.copy(), nobody.copy())


@njit(cache=True)
def envelope(laid: Laid, limit: FloatArray, d: Drive, speed: FloatArray, bound: FloatArray, rate: FloatArray) -> None:
    """Fill `speed` (n,) with what limit, bends, steering and narrow places allow, reachable at comfortable braking
    and jerk.

    `bound` gets what binds at each point (`AT_LIMIT`, `IN_BEND`, `TIGHT`); `rate` is scratch.
    """
    path, n = laid.path, laid.points
    steepest_steering(path, n, d.wheelbase, rate)
    for i in range(n):
        v, why = min(limit[i], d.max_speed), AT_LIMIT
        bend = math.sqrt(d.lateral / max(1e-4, abs(path[i, PKAPPA])))
        bend = max(d.creep, min(bend, d.steer_rate / max(1e-4, rate[i])))
        if bend < v:
            v, why = bend, IN_BEND
        room = d.slow_speed + d.slow_slope * max(0.0, path[i, PROOM])
        if room < v:
            v, why = room, TIGHT
        speed[i], bound[i] = v, why
    decel = 0.0
    for i in range(n - 2, -1, -1):
        step = path[i + 1, PS] - path[i, PS]
        decel = min(d.decel, decel + d.jerk * step / max(d.creep, speed[i + 1]))
        reachable = math.sqrt(speed[i + 1] ** 2 + 2.0 * decel * step)
        if reachable < speed[i]:
            speed[i], bound[i] = reachable, bound[i + 1]
        else:
            decel = 0.0


@njit(cache=True)
def seek(path: FloatArray, n: int, i: int, s: float) -> int:
    """Point before arc length `s`, looked for from point `i` on."""
    while i + 2 < n and path[i + 1, PS] <= s:
        i += 1
    return i


@njit(cache=True)
def _envelope_accel(laid: Laid, speed: FloatArray, at: int, s: float, v: float, gain: float) -> float:
    """Acceleration that keeps to the envelope, seen a little ahead so that braking sets in gently. `at` is the point
    before `s`.
    """
    path, n, least = laid.path, laid.points, np.inf
    for tau in _PREVIEW_S:
        ahead = v * tau
        if n < 2 or s + ahead >= path[n - 1, PS]:
            least = min(least, gain * (speed[n - 1] - v))
            break
        at = seek(path, n, at, s + ahead)
        step = path[at + 1, PS] - path[at, PS]
        change = speed[at + 1] - speed[at]
        allowed = speed[at] + (s + ahead - path[at, PS]) / step * change
        if change >= 0.0:
            least = min(least, gain * (allowed - v))
            continue
        falling = allowed * change / step
        here = math.sqrt(allowed * allowed - 2.0 * falling * ahead)
        least = min(least, gain * (here - v) + falling * min(1.0, v / max(here, 0.1)))
    return float(least)


@njit(cache=True)
def _stop_speed(room: float, decel: float, jerk: float) -> tuple[float, float]:
    """Speed from which a braking that ends in a ramp of `jerk` stops within `room`, and the deceleration at that
    speed.
    """
    if room <= 0.0:
        return 0.0, 0.0
    ramp_v = 0.5 * decel * decel / jerk
    ramp_s = 2.0 / 3.0 * ramp_v**1.5 / math.sqrt(2.0 * jerk)
    if room < ramp_s:
        v = (1.5 * math.sqrt(2.0 * jerk) * room) ** (2.0 / 3.0)
        return v, math.sqrt(2.0 * jerk * v)
    return math.sqrt(ramp_v * ramp_v + 2.0 * decel * (room - ramp_s)), decel


@njit(cache=True)
def _stop_accel(room: float, slack: float, v: float, a: float, d: Drive) -> float:
    """Acceleration that stops within `room` (m): comfortable where that suffices, as hard as it takes where not.

    `slack` (m) beyond that place may be used before it gets hard. A car that still accelerates loses the way that it
    takes to end that.
    """
    allowed, decel = _stop_speed(room - 0.5 * v * max(0.0, a) / d.jerk, d.decel, d.stop_jerk)
    needed = 0.5 * v * v / max(0.02, room + slack)
    if needed > d.decel and v > 0.3:
        return -min(d.emergency, 1.15 * needed)
    eased = d.gain * (allowed - v) - decel * min(1.0, v / max(allowed, 0.05))
    return float(max(-1.3 * d.decel, eased))


@njit(cache=True)
def _follow_accel(gap: float, v: float, leader_v: float, d: Drive) -> tuple[float, float]:
    """Acceleration behind a leader whose rear bumper is `gap` ahead, and the way left to the gap that is wanted."""
    room = gap - d.standstill_gap - d.headway * leader_v
    decel = 0.7 * d.decel
    knee = decel * d.gap_time * d.gap_time
    if room < knee:
        closing, slope = room / d.gap_time, 1.0 / d.gap_time
    else:
        closing = math.sqrt(2.0 * decel * (room - 0.5 * knee))
        slope = decel / closing
    moving = min(1.0, 0.5 * leader_v)
    stop, stop_decel = _stop_speed(room, d.decel, d.stop_jerk)
    wanted = max(0.0, leader_v + moving * closing + (1.0 - moving) * stop)
    faster = max(0.0, v - leader_v)
    ahead = moving * slope * faster + (1.0 - moving) * stop_decel * min(1.0, v / max(stop, 0.05))
    accel = max(-d.decel, d.gain * (wanted - v) - ahead)
    needed = 0.5 * faster * faster / max(0.05, gap - 0.6 * d.standstill_gap)
    if needed > 0.8 * d.decel and v > 0.3:
        accel = min(accel, -min(d.emergency, 1.1 * needed))
    return accel, room


@njit(cache=True)
def _wall_at(traffic: Traffic, j: int) -> tuple[float, int]:
    """The nearest wall during a prediction step, and whose it is."""
    after = min(j + 1, len(traffic.wall_s) - 1)
    first = j if traffic.wall_s[j] <= traffic.wall_s[after] else after
    return float(traffic.wall_s[first]), int(traffic.wall_id[first])


class Demand(NamedTuple):
    """The least acceleration that anything asks for, what asks (a code from above), its id, how far ahead it is, and
    the room to it.
    """

    accel: float
    reason: int
    blame: int
    distance: float
    room: float


@njit(cache=True)
def _traffic_demand(
    traffic: Traffic, stop: tuple[float, float], j: int, late: float, s: float, v: float, a: float, d: Drive
) -> Demand:
    """What the leader, the crossing objects and the stop at `stop` ask for, `late` seconds into prediction step `j`."""
    wanted, reason, blame, distance, room = np.inf, FREE, -1, np.inf, np.inf
    if traffic.leader_s[j] < np.inf:
        leader_v = traffic.leader_v[j]
        distance = traffic.leader_s[j] + leader_v * late - s
        wanted, left = _follow_accel(distance, v, leader_v, d)
        reason, blame = FOLLOWING, int(traffic.leader_id[j])
        room = left if leader_v < 0.5 else np.inf
    wall, whose = _wall_at(traffic, j)
    target = min(stop[0], wall)
    if target < np.inf:
        accel = _stop_accel(target - s, d.crossing_slack if wall < stop[0] else stop[1], v, a, d)
        room = min(room, target - s)
        if accel < wanted:
            wanted, distance = accel, target - s
            reason, blame = (YIELDING, whose) if wall < stop[0] else (STOPPING, -1)
    return Demand(wanted, reason, blame, distance, room)


@njit(cache=True)
def _next_speed(v: float, a: float, wanted: float, settled: bool, d: Drive) -> tuple[float, float]:
    """Speed and acceleration one step on, within the jerk that the situation allows; never backwards."""
    hard = wanted < -1.3 * d.decel - 1e-9 or (a < -1.3 * d.decel and wanted > a)
    jerk = (d.hard_jerk if hard else d.jerk) * STEP_S
    new_a = min(max(wanted, a - jerk), a + jerk)
    new_v = v + 0.5 * (a + new_a) * STEP_S
    if settled or (new_v <= 1e-4 and new_a <= 0.0) or new_v < 0.0:
        return 0.0, 0.0
    return new_v, new_a


@njit(cache=True)
def roll_out(
    laid: Laid,
    speed: FloatArray,
    bound: FloatArray,
    stop: tuple[float, float],
    traffic: Traffic,
    motion: tuple[float, float],
    d: Drive,
    rows: FloatArray,
) -> Demand:
    """Fill `rows` (T, 3) with arc length, speed and acceleration, `STEP_S` apart.

    `speed` and `bound` are the path's envelope; `stop` is the arc length to stand at (m, `inf` for none) and how far
    beyond it standing is a must; `motion` is speed and acceleration at the start. Returns what binds at the start.
    """
    s, v, a, at = 0.0, motion[0], motion[1], 0
    first = Demand(d.accel, FREE, -1, 0.0, np.inf)
    for i in range(len(rows)):
        rows[i, 0], rows[i, 1], rows[i, 2] = s, v, a
        at = seek(laid.path, laid.points, at, s)
        j = min(int(i * STEP_S / PREDICTION_STEP_S + 1e-9), len(traffic.wall_s) - 1)
        others = _traffic_demand(traffic, stop, j, i * STEP_S - j * PREDICTION_STEP_S, s, v, a, d)
        wanted = max(-1.3 * d.decel, _envelope_accel(laid, speed, at, s, v, d.gain))
        held = v < 1e-6 and others.room < d.start_room
        if i == 0:
            if others.accel < min(wanted, d.accel) or held:
                first = others
            elif wanted < d.accel:
                first = Demand(wanted, int(bound[at]), -1, 0.0, others.room)
        wanted = min(d.accel, min(wanted, others.accel))
        if v < 1e-6:
            a, wanted = max(0.0, a), 0.0 if held else wanted
        settled = held or (others.room < _SETTLED and v < 0.15)
        v_before = v
        v, a = _next_speed(v, a, wanted, settled, d)
        s += 0.5 * (v_before + v) * STEP_S
    return first
