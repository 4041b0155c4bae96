"""Several speeds on every path: polynomials in time beside the driver's laws (Werling et al., ICRA 2010).

The laws go as fast as they may and brake when they must: before somebody who is gone by the time the car gets there
they brake and get away again. A polynomial that settles at a lower speed early is there when the way is free. No
polynomial ever asks for more than the laws would allow where it leads, so that they can go on from it at any time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import part
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.laws import Drive, Ramp, stopping_distance
from tuling_fsm.planning.parameters import ChoiceParameters
from tuling_fsm.planning.paths import PS, Laid, quintic
from tuling_fsm.planning.profile import (
    FOLLOWING,
    FREE,
    ROWS_A_STEP,
    STEP_S,
    STOPPING,
    YIELDING,
    Demand,
    Traffic,
    seek,
    traffic_demand,
)

_GRID_S, _SOONEST_S = 2.5, 1.5
"""Speeds settle at whole multiples of the one from the start of the day on, so that the polynomial of the next tick is
the rest of this one, and no sooner than the other from now."""
_STEEPEST = 4.0 / 3.0
"""The change of speed over the time that it takes is at most comfortable braking over this: a quartic's steepest part
is 1.5 times as steep as the whole, and what is left of it up to 9/8 times as steep as that."""
_SETTLING = 3
"""So many prediction steps may pass until the acceleration is what the laws allow: that of the start may be more."""
_GONE = 10.0
"""Who is so much farther (m) at last than where one yields to him has gone ahead."""
_TOLERANCE = 0.05


class Effort(NamedTuple):
    """`ChoiceParameters` of the speeds on a path: how many lower ones there are, costs of braking, squared, by time
    (s^3/m), and of speed that is missing at the end, squared (s^2/m), the part of what is saved that counts among
    paths, and what a speed may lose (m) beyond what it can save without being left out.
    """

    speeds: int
    braking: float
    regain: float
    share: float
    slack: float

    @classmethod
    def of(cls, vehicle: Vehicle, choice: ChoiceParameters) -> Effort:
        """The numbers for a vehicle."""
        return cls(choice.speeds, choice.braking, choice.regain / (2.0 * vehicle.max_accel), choice.ease, 0.0)


class Course(NamedTuple):
    """Arc length over time: a polynomial of the fifth degree that begins at 0, lowest power first, until `until` (s),
    from then on at `speed` (m/s).
    """

    c1: float
    c2: float
    c3: float
    c4: float
    c5: float
    until: float
    speed: float


@part
def keep_speed(v: float, a: float, speed: float, until: float) -> Course:
    """From `v` and `a` to `speed` without acceleration, wherever that is: the quartic of least jerk."""
    dv, da = speed - v - a * until, -a * until
    return Course(v, 0.5 * a, (3.0 * dv - da) / (3.0 * until**2), (da - 2.0 * dv) / (4.0 * until**3), 0.0, until, speed)


@part
def arrive(v: float, a: float, s: float, speed: float, until: float) -> Course:
    """From `v` and `a` to `speed` without acceleration at arc length `s`: a quintic."""
    _, slope, c2, c3, c4, c5 = quintic(0.0, v - speed, a, s - speed * until, until)
    return Course(slope + speed, c2, c3, c4, c5, until, speed)


@part
def way(course: Course, t: float) -> float:
    """Arc length (m) at `t` (s)."""
    c, u = course, min(t, course.until)
    return u * (c.c1 + u * (c.c2 + u * (c.c3 + u * (c.c4 + u * c.c5)))) + course.speed * (t - u)


@part
def time_course(course: Course, rows: FloatArray) -> None:
    """Fill `rows` (T, 3) with arc length, speed and acceleration, `STEP_S` apart."""
    c = course
    for i in range(len(rows)):
        t = i * STEP_S
        u = min(t, c.until)
        rows[i, 0] = u * (c.c1 + u * (c.c2 + u * (c.c3 + u * (c.c4 + u * c.c5)))) + c.speed * (t - u)
        rows[i, 1] = c.c1 + u * (2.0 * c.c2 + u * (3.0 * c.c3 + u * (4.0 * c.c4 + u * 5.0 * c.c5)))
        rows[i, 2] = 2.0 * c.c2 + u * (6.0 * c.c3 + u * (12.0 * c.c4 + u * 20.0 * c.c5))


@part
def waits_a_while(traffic: Traffic) -> bool:
    """Whether the car yields to somebody who has left, or gone ahead, before the predictions end."""
    nearest, last = np.inf, len(traffic.wall_s) - 1
    for j in range(last):
        nearest = min(nearest, traffic.wall_s[j])
    return bool(nearest < np.inf and traffic.wall_s[last] == np.inf and traffic.leader_s[last] > nearest + _GONE)


@part
def settle(v: float, a: float, speed: float, stamp: float, traffic: Traffic, ramp: Ramp, d: Drive) -> Course:
    """The way to a lower speed: to where the car can still stop before those that it yields to when the last of them
    has left, else to whatever place it comes to.
    """
    nearest, last = np.inf, -1
    for j in range(len(traffic.wall_s)):
        if traffic.wall_s[j] < np.inf:
            nearest, last = min(nearest, traffic.wall_s[j]), j
    until = (last + 1) * PREDICTION_STEP_S
    place = nearest - stopping_distance(speed + d.decel / d.gain, ramp, d)
    if until >= _SOONEST_S and place > 0.0:
        return arrive(v, a, place, speed, until)
    soonest = stamp + max(_SOONEST_S, _STEEPEST * abs(v - speed) / d.decel)
    return keep_speed(v, a, speed, (np.floor(soonest / _GRID_S) + 1.0) * _GRID_S - stamp)


@part
def _is_smooth(rows: FloatArray, d: Drive) -> bool:
    """Whether the car goes forward and keeps to comfortable acceleration and jerk."""
    beyond = 0
    for i in range(1, len(rows)):
        change = abs(rows[i, 2] - rows[i - 1, 2])
        beyond += (rows[i, 1] < 0.0) | (rows[i, 2] > d.accel) | (rows[i, 2] < -d.decel) | (change > d.jerk * STEP_S)
    return beyond == 0


@part
def _is_slow_enough(rows: FloatArray, laid: Laid, speed: FloatArray, level: FloatArray) -> bool:
    """Whether the speed keeps below the path's envelope."""
    path, last, at = laid.path, len(rows) - 1, 0
    if rows[last, 0] <= level[0]:
        top = 0.0
        for i in range(len(rows)):
            top = max(top, rows[i, 1])
        return bool(top <= speed[0] + _TOLERANCE)
    for i in range(len(rows)):
        s = rows[i, 0]
        if s >= path[laid.points - 1, PS]:
            return False
        at = seek(path, laid.points, at, s)
        share = (s - path[at, PS]) / (path[at + 1, PS] - path[at, PS])
        if rows[i, 1] > speed[at] + share * (speed[at + 1] - speed[at]) + _TOLERANCE:
            return False
    return True


@part
def abides(
    rows: FloatArray,
    laid: Laid,
    speed: FloatArray,
    level: FloatArray,
    stop: tuple[float, float],
    traffic: Traffic,
    ramp: Ramp,
    d: Drive,
) -> bool:
    """Whether a motion is comfortable and never asks for more than the laws allow where it leads; `speed` and `level`
    are the path's envelope, `stop` as in `roll_out`.
    """
    if not _is_smooth(rows, d) or not _is_slow_enough(rows, laid, speed, level):
        return False
    for j in range(_SETTLING, min(len(traffic.wall_s), (len(rows) - 1) // ROWS_A_STEP + 1)):
        i = ROWS_A_STEP * j
        demand = traffic_demand(traffic, stop, j, 0.0, rows[i, 0], rows[i, 1], rows[i, 2], ramp, d)
        if rows[i, 2] > demand.accel + _TOLERANCE:
            return False
    return True


@part
def effort_of(rows: FloatArray, until: int, top: float, e: Effort) -> float:
    """What braking up to row `until`, and being slower there than `top` (m/s), costs."""
    braking = 0.0
    for i in range(until):
        braking += min(0.0, rows[i, 2]) ** 2
    return float(e.braking * braking * STEP_S + e.regain * max(0.0, top - rows[until, 1]) ** 2)


@part
def for_whom(binds: Demand, traffic: Traffic) -> Demand:
    """What a lower speed is kept for: what binds already, else those whom the car would brake for soon."""
    if binds.reason in (FOLLOWING, YIELDING, STOPPING):
        return binds
    reason, blame, distance = FREE, -1, np.inf
    for j in range(len(traffic.wall_s)):
        if traffic.wall_s[j] < distance:
            reason, blame, distance = YIELDING, int(traffic.wall_id[j]), traffic.wall_s[j]
    if blame < 0 and traffic.leader_s[0] < np.inf:
        reason, blame, distance = FOLLOWING, int(traffic.leader_id[0]), traffic.leader_s[0]
    return binds if blame < 0 else Demand(binds.accel, reason, blame, distance, binds.room)
