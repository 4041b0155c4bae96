"""Speed along a path: the car-following model rolled out in time.

What the path itself allows is an envelope over arc length (backward pass). Stops, leaders and crossings give each an
acceleration; the least one counts, limited in jerk. Rolled out from any row of its own result the same model gives the
rest of that result, so a plan made anew on every tick goes on where the last one was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.standing import AGENT_MOVES
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.obstacles.occupancy import ROWS_A_STEP
from tuling_fsm.planning.paths.frenet_path import PKAPPA, PROOM, PS, FrenetPath, steepest_steering
from tuling_fsm.planning.speed.car_following import (
    LongitudinalLimits,
    StopRamp,
    follow_accel,
    meet_accel,
    ramp_of,
    stop_accel,
)

_HALF_STEP_S = 0.5 * STEP_S
FREE, AT_LIMIT, IN_BEND, TIGHT, FOLLOWING, YIELDING, STOPPING, PASSING = range(8)
"""What bound the speed at the start: nothing, a speed limit, a bend, a narrow place, a leader, a crossing object, a
stop, what is passed closely."""
_SETTLED = 0.03
_ROLLS_OUT = 0.15
"""With less room than the one (m), slower than the other (m/s), a stop is over."""
_NO_SPEED = 1e-4
"""What integration leaves of a speed (m/s) that falls to 0."""
_SUDDEN_S = 3.0
"""What comes later than this does not call for hard braking yet: plans are made anew until then."""
_PREVIEW_S = 0.7
_LEAD = 0.97
"""The envelope is looked at so long ahead at least, and so much of the time constant of following it: from there on
braking sets in."""


class StBoundaries(NamedTuple):
    """Moving things on one path, a row for each prediction step: arc length where the body would touch (m, `inf` for
    none).

    `leader_s`/`leader_v`/`leader_id` is the one to follow, `wall_s`/`wall_id` where to stop for those that cross,
    `oncoming_s`/`oncoming_v`/`oncoming_id` what comes towards the car, and how fast (m/s).
    """

    leader_s: FloatArray
    leader_v: FloatArray
    leader_id: FloatArray
    wall_s: FloatArray
    wall_id: FloatArray
    oncoming_s: FloatArray
    oncoming_v: FloatArray
    oncoming_id: FloatArray


def no_traffic() -> StBoundaries:
    """An empty road."""
    far, none = np.full(PREDICTION_STEPS, np.inf), np.full(PREDICTION_STEPS, -1.0)
    return StBoundaries(
        leader_s=far, leader_v=np.zeros(PREDICTION_STEPS), leader_id=none, wall_s=far.copy(), wall_id=none.copy(),
        oncoming_s=far.copy(), oncoming_v=np.zeros(PREDICTION_STEPS), oncoming_id=none.copy(),
    )  # fmt: skip


class SpeedEnvelope(NamedTuple):
    """What a path of n points allows at each of them: the speed (m/s), what binds there (`AT_LIMIT`, `IN_BEND`,
    `TIGHT`, `PASSING` plus the row of what is passed), the arc length up to which the speed stays what it is there (m,
    `inf` for beyond the end), and the change of the steering angle (rad/m).
    """

    speed: FloatArray
    bound: FloatArray
    level: FloatArray
    steering: FloatArray


def new_envelope(points: int) -> SpeedEnvelope:
    """Room for the envelope of a path of up to so many points."""
    return SpeedEnvelope(np.zeros(points), np.zeros(points), np.zeros(points), np.zeros(points))


class StopTarget(NamedTuple):
    """Arc length to stand at (m, `inf` for none), and how far beyond it standing is a must."""

    at: float
    slack: float


class StartMotion(NamedTuple):
    """Speed (m/s) and acceleration (m/s^2) in the direction of travel."""

    v: float
    a: float


class Progress(NamedTuple):
    """Arc length (m), speed (m/s) and acceleration (m/s^2) at some time of a roll-out."""

    s: float
    v: float
    a: float


@inlined_kernel
def fill_envelope(
    frenet: FrenetPath, limit: FloatArray, cause: FloatArray, d: LongitudinalLimits, envelope: SpeedEnvelope
) -> None:
    """Fill an envelope with what `limit` (n,), set by its `cause` (n,), bends, steering and narrow places allow,
    reachable at comfortable braking and jerk.
    """
    path, n = frenet.path, frenet.points
    speed, bound, level, rate = envelope.speed, envelope.bound, envelope.level, envelope.steering
    steepest_steering(path, n, d.wheelbase, 0.99 * d.steer_rate / d.max_speed, rate)
    for i in range(n):
        v, why, kappa = min(limit[i], d.max_speed), cause[i], abs(path[i, PKAPPA])
        if kappa * v * v > d.lateral or rate[i] * v > d.steer_rate:
            bend = sqrt(d.lateral / max(1e-4, kappa))
            bend = max(d.creep, min(bend, d.steer_rate / max(1e-4, rate[i])))
            if bend < v:
                v, why = bend, float(IN_BEND)
        room = d.slow_speed + d.slow_slope * max(0.0, path[i, PROOM])
        if room < v:
            v, why = room, float(TIGHT)
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


@inlined_kernel
def fill_reachable(start: StartMotion, rows: int, d: LongitudinalLimits, farthest: FloatArray) -> None:
    """Fill `farthest` (T,) with arc lengths (m) that the car cannot have got beyond at each prediction step; for all
    that come later it is that of the last of `rows` rows.
    """
    v, accel = start.v, max(start.a, d.accel)
    until = max(0.0, d.max_speed - v) / accel
    for j in range(len(farthest)):
        t = min(j * PREDICTION_STEP_S, (rows - 1) * STEP_S)
        faster = min(t, until)
        farthest[j] = v * t + accel * faster * (t - 0.5 * faster)


@inlined_kernel
def seek(path: FloatArray, n: int, i: int, s: float) -> int:
    """Point before arc length `s`, looked for from point `i` on."""
    while i + 2 < n and path[i + 1, PS] <= s:
        i += 1
    return i


@inlined_kernel
def _preview(gain: float) -> float:
    """How long ahead (s) the envelope is looked at."""
    return max(_PREVIEW_S, _LEAD / gain)


@inlined_kernel
def _envelope_accel(frenet: FrenetPath, speed: FloatArray, at: int, s: float, v: float, gain: float) -> float:
    """Acceleration that keeps to the envelope, seen a little ahead so that braking sets in gently. `at` is the point
    before `s`.
    """
    path, n, least, farthest = frenet.path, frenet.points, np.inf, _preview(gain)
    for tau in (0.0, 0.5 * farthest, farthest):
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


@inlined_kernel
def _wall_at(traffic: StBoundaries, j: int) -> tuple[float, int]:
    """The nearest wall during a prediction step, and the id that it has."""
    after = min(j + 1, len(traffic.wall_s) - 1)
    first = j if traffic.wall_s[j] <= traffic.wall_s[after] else after
    return float(traffic.wall_s[first]), int(traffic.wall_id[first])


class AccelerationDemand(NamedTuple):
    """The least acceleration that anything asks for, what asks (a code from above), its id, how far ahead it is, and
    the room to it.
    """

    accel: float
    reason: int
    blame: int
    distance: float
    room: float


@inlined_kernel
def traffic_demand(
    traffic: StBoundaries,
    stop: StopTarget,
    j: int,
    late: float,
    now: Progress,
    ramp: StopRamp,
    d: LongitudinalLimits,
) -> AccelerationDemand:
    """What the leader, the crossing objects, what comes towards the car and the stop ask for, `late` seconds into
    prediction step `j`.

    A car that stands near to what crosses stays there: it would only come into its way (USE-3).
    """
    s, v, a = now
    wanted, reason, blame, distance, room = np.inf, FREE, -1, np.inf, np.inf
    if traffic.leader_s[j] < np.inf:
        leader_v = traffic.leader_v[j]
        distance = traffic.leader_s[j] + leader_v * late - s
        wanted, left = follow_accel(distance, v, leader_v, ramp, d)
        reason, blame = FOLLOWING, int(traffic.leader_id[j])
        room = left if leader_v < AGENT_MOVES else np.inf
    wall, wall_id = _wall_at(traffic, j)
    target = min(stop.at, wall)
    if target < np.inf:
        accel = stop_accel(target - s, d.crossing_slack if wall < stop.at else stop.slack, v, a, ramp, d)
        room = min(room, target - s)
        if wall < stop.at and v < _NO_SPEED and wall - s < d.crossing_start_room:
            accel = min(accel, 0.0)
        if accel < wanted:
            wanted, distance = accel, target - s
            reason, blame = (YIELDING, wall_id) if wall < stop.at else (STOPPING, -1)
    if traffic.oncoming_s[j] < np.inf:
        gap = traffic.oncoming_s[j] - traffic.oncoming_v[j] * late - s
        accel = meet_accel(gap, v, traffic.oncoming_v[j], a, ramp, d)
        if accel < wanted:
            wanted, reason, blame, distance = accel, YIELDING, int(traffic.oncoming_id[j]), gap
    return AccelerationDemand(wanted, reason, blame, distance, room)


@inlined_kernel
def _next_speed(
    v: float, a: float, wanted: float, soon: bool, settled: bool, d: LongitudinalLimits
) -> tuple[float, float]:
    """Speed and acceleration one step on, within the jerk that the situation allows; never backwards.

    Hard braking is hard from its first step on: a jerk to less than that is none that the check allows.
    """
    begins = soon and wanted < -d.hard - 1e-9
    hard = begins or (a < -d.hard and wanted > a)
    gentle, sudden = d.jerk * STEP_S, d.hard_jerk * STEP_S
    change = sudden if hard else gentle
    new_a = min(max(wanted, a - change), a + change)
    if begins:
        new_a = min(new_a, -d.hard)
    new_v = (v + _HALF_STEP_S * a) + _HALF_STEP_S * new_a
    if settled or (new_v <= _NO_SPEED and new_a <= 0.0) or new_v < 0.0:
        return 0.0, 0.0
    return new_v, new_a


@kernel
def roll_out(
    frenet: FrenetPath,
    envelope: SpeedEnvelope,
    stop: StopTarget,
    traffic: StBoundaries,
    start: StartMotion,
    d: LongitudinalLimits,
    rows: FloatArray,
    begin: int = 0,
) -> AccelerationDemand:
    """Fill `rows` (T, 3) with arc length, speed and acceleration, `STEP_S` apart; those before `begin` and that one are
    there already. Returns what binds at the start.
    """
    speed, level = envelope.speed, envelope.level
    if begin == 0:
        rows[0, 0], rows[0, 1], rows[0, 2] = 0.0, start.v, start.a
    s, v, a, at, ramp = rows[begin, 0], rows[begin, 1], rows[begin, 2], 0, ramp_of(d)
    top, until, preview = speed[0], level[0], _preview(d.gain)
    first = AccelerationDemand(d.accel, FREE, -1, 0.0, np.inf)
    for i in range(begin, len(rows)):
        rows[i, 0], rows[i, 1], rows[i, 2] = s, v, a
        even = s + v * preview < until
        if not even:
            at = seek(frenet.path, frenet.points, at, s)
            top, until = speed[at], level[at]
            even = s + v * preview < until
        kept = d.gain * (top - v) if even else _envelope_accel(frenet, speed, at, s, v, d.gain)
        j = min(i // ROWS_A_STEP, len(traffic.wall_s) - 1)
        asked = traffic_demand(traffic, stop, j, i * STEP_S - j * PREDICTION_STEP_S, Progress(s, v, a), ramp, d)
        wanted = max(-1.3 * d.decel, kept)
        held = v < 1e-6 and (asked.room < d.start_room or (asked.reason == YIELDING and asked.accel <= 0.0))
        if i == 0:
            if asked.accel < min(wanted, d.accel) or held:
                first = asked
            elif wanted < d.accel:
                bound = int(envelope.bound[at])
                first = AccelerationDemand(wanted, min(bound, PASSING), max(-1, bound - PASSING), 0.0, asked.room)
        wanted = min(min(d.accel, wanted), asked.accel)
        if v < 1e-6:
            a = max(0.0, a)
        settled = held or (asked.room < _SETTLED and v < _ROLLS_OUT)
        s += _HALF_STEP_S * v
        v, a = _next_speed(v, a, wanted, i * STEP_S < _SUDDEN_S, settled, d)
        s += _HALF_STEP_S * v
    return first
