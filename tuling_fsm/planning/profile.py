"""Speed along a path: a driver's laws rolled out in time.

What the path itself allows is an envelope over arc length (backward pass). Stops, leaders and crossings give each an
acceleration; the least one counts, limited in jerk. Rolled out from any row of its own result the same laws give the
rest of that result, so a plan made anew on every tick goes on where the last one was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part, sqrt
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.planning.laws import Drive, Ramp, follow_accel, ramp_of, stop_accel
from tuling_fsm.planning.paths import PKAPPA, PROOM, PS, Laid, steepest_steering

STEP_S = 0.1
_HALF_STEP_S = 0.5 * STEP_S
ROWS_A_STEP = round(PREDICTION_STEP_S / STEP_S)
"""Rows of a profile to each step of a prediction."""
FREE, AT_LIMIT, IN_BEND, TIGHT, FOLLOWING, YIELDING, STOPPING = range(7)
"""What bound the speed at the start: nothing, a speed limit, a bend, a narrow place, a leader, a crossing object, a
stop."""
_SETTLED = 0.03
_SUDDEN_S = 3.0
"""What comes later than this does not call for hard braking yet: plans are made anew until then."""
_PREVIEW_S = (0.0, 0.35, 0.7)
_FARTHEST_PREVIEW_S = _PREVIEW_S[-1]


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


@part
def envelope(laid: Laid, limit: FloatArray, d: Drive, speed: FloatArray, bound: FloatArray, level: FloatArray) -> None:
    """Fill `speed` (n,) with what limit, bends, steering and narrow places allow, reachable at comfortable braking
    and jerk.

    `bound` gets what binds at each point (`AT_LIMIT`, `IN_BEND`, `TIGHT`), `level` the arc length up to which the
    speed stays what it is there (m, `inf` for beyond the end).
    """
    path, n, rate = laid.path, laid.points, level
    steepest_steering(path, n, d.wheelbase, 0.99 * d.steer_rate / d.max_speed, rate)
    for i in range(n):
        v, why, kappa = min(limit[i], d.max_speed), AT_LIMIT, abs(path[i, PKAPPA])
        if kappa * v * v > d.lateral or rate[i] * v > d.steer_rate:
            bend = sqrt(d.lateral / max(1e-4, kappa))
            bend = max(d.creep, min(bend, d.steer_rate / max(1e-4, rate[i])))
            if bend < v:
                v, why = bend, IN_BEND
        room = d.slow_speed + d.slow_slope * max(0.0, path[i, PROOM])
        if room < v:
            v, why = room, TIGHT
        speed[i], bound[i] = v, why
    decel = 0.0
    for i in range(n - 2, -1, -1):
        if speed[i + 1] >= speed[i]:
            decel = 0.0
            continue
        step = path[i + 1, PS] - path[i, PS]
        decel = min(d.decel, decel + d.jerk * step / max(d.creep, speed[i + 1]))
        reachable = sqrt(speed[i + 1] ** 2 + 2.0 * decel * step)
        if reachable < speed[i]:
            speed[i], bound[i] = reachable, bound[i + 1]
        else:
            decel = 0.0
    level[n - 1] = np.inf
    for i in range(n - 2, -1, -1):
        level[i] = level[i + 1] if speed[i] == speed[i + 1] else path[i, PS]


@part
def get_away(motion: tuple[float, float], rows: int, d: Drive, farthest: FloatArray) -> None:
    """Fill `farthest` (T,) with arc lengths (m) that a car with speed and acceleration `motion` cannot have got beyond
    at each prediction step; for all that come later it is that of the last of `rows` rows.
    """
    v, accel = motion[0], max(motion[1], d.accel)
    until = max(0.0, d.max_speed - v) / accel
    for j in range(len(farthest)):
        t = min(j * PREDICTION_STEP_S, (rows - 1) * STEP_S)
        faster = min(t, until)
        farthest[j] = v * t + accel * faster * (t - 0.5 * faster)


@part
def seek(path: FloatArray, n: int, i: int, s: float) -> int:
    """Point before arc length `s`, looked for from point `i` on."""
    while i + 2 < n and path[i + 1, PS] <= s:
        i += 1
    return i


@part
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
        here = sqrt(allowed * allowed - 2.0 * falling * ahead)
        least = min(least, gain * (here - v) + falling * min(1.0, v / max(here, 0.1)))
    return float(least)


@part
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


@part
def traffic_demand(
    traffic: Traffic, stop: tuple[float, float], j: int, late: float, s: float, v: float, a: float, ramp: Ramp, d: Drive
) -> Demand:
    """What the leader, the crossing objects and the stop at `stop` ask for, `late` seconds into prediction step `j`."""
    wanted, reason, blame, distance, room = np.inf, FREE, -1, np.inf, np.inf
    if traffic.leader_s[j] < np.inf:
        leader_v = traffic.leader_v[j]
        distance = traffic.leader_s[j] + leader_v * late - s
        wanted, left = follow_accel(distance, v, leader_v, ramp, d)
        reason, blame = FOLLOWING, int(traffic.leader_id[j])
        room = left if leader_v < 0.5 else np.inf
    wall, whose = _wall_at(traffic, j)
    target = min(stop[0], wall)
    if target < np.inf:
        accel = stop_accel(target - s, d.crossing_slack if wall < stop[0] else stop[1], v, a, ramp, d)
        room = min(room, target - s)
        if accel < wanted:
            wanted, distance = accel, target - s
            reason, blame = (YIELDING, whose) if wall < stop[0] else (STOPPING, -1)
    return Demand(wanted, reason, blame, distance, room)


@part
def _next_speed(v: float, a: float, wanted: float, soon: bool, settled: bool, d: Drive) -> tuple[float, float]:
    """Speed and acceleration one step on, within the jerk that the situation allows; never backwards."""
    hard = (soon and wanted < -1.3 * d.decel - 1e-9) or (a < -1.3 * d.decel and wanted > a)
    gentle, sudden = d.jerk * STEP_S, d.hard_jerk * STEP_S
    change = sudden if hard else gentle
    new_a = min(max(wanted, a - change), a + change)
    new_v = (v + _HALF_STEP_S * a) + _HALF_STEP_S * new_a
    if settled or (new_v <= 1e-4 and new_a <= 0.0) or new_v < 0.0:
        return 0.0, 0.0
    return new_v, new_a


@kernel
def roll_out(
    laid: Laid,
    speed: FloatArray,
    bound: FloatArray,
    level: FloatArray,
    stop: tuple[float, float],
    traffic: Traffic,
    motion: tuple[float, float],
    d: Drive,
    rows: FloatArray,
    begin: int = 0,
) -> Demand:
    """Fill `rows` (T, 3) with arc length, speed and acceleration, `STEP_S` apart; those before `begin` and that one are
    there already.

    `speed`, `bound` and `level` are the path's envelope; `stop` is the arc length to stand at (m, `inf` for none) and
    how far beyond it standing is a must; `motion` is speed and acceleration at the start. Returns what binds at the
    start.
    """
    if begin == 0:
        rows[0, 0], rows[0, 1], rows[0, 2] = 0.0, motion[0], motion[1]
    s, v, a, at, ramp = rows[begin, 0], rows[begin, 1], rows[begin, 2], 0, ramp_of(d)
    top, until = speed[0], level[0]
    first = Demand(d.accel, FREE, -1, 0.0, np.inf)
    for i in range(begin, len(rows)):
        rows[i, 0], rows[i, 1], rows[i, 2] = s, v, a
        even = s + v * _FARTHEST_PREVIEW_S < until
        if not even:
            at = seek(laid.path, laid.points, at, s)
            top, until = speed[at], level[at]
            even = s + v * _FARTHEST_PREVIEW_S < until
        kept = d.gain * (top - v) if even else _envelope_accel(laid, speed, at, s, v, d.gain)
        j = min(i // ROWS_A_STEP, len(traffic.wall_s) - 1)
        others = traffic_demand(traffic, stop, j, i * STEP_S - j * PREDICTION_STEP_S, s, v, a, ramp, d)
        wanted = max(-1.3 * d.decel, kept)
        held = v < 1e-6 and others.room < d.start_room
        if i == 0:
            if others.accel < min(wanted, d.accel) or held:
                first = others
            elif wanted < d.accel:
                first = Demand(wanted, int(bound[at]), -1, 0.0, others.room)
        wanted = min(min(d.accel, wanted), others.accel)
        if v < 1e-6:
            a, wanted = max(0.0, a), 0.0 if held else wanted
        settled = held or (others.room < _SETTLED and v < 0.15)
        s += _HALF_STEP_S * v
        v, a = _next_speed(v, a, wanted, i * STEP_S < _SUDDEN_S, settled, d)
        s += _HALF_STEP_S * v
    return first
