"""Several speeds on every path: polynomials in time beside the car-following model ([werling2010][]).

The model goes as fast as it may and brakes when it must: before an agent that has left by the time the car gets there
it brakes and accelerates again. A polynomial that slows down early arrives when the path is free. No polynomial ever
asks for more than the model would allow where it leads, so that the model can go on from it at any time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.occupancy import ROWS_A_STEP
from tuling_fsm.planning.parameters import ChoiceParameters
from tuling_fsm.planning.paths.frenet_path import PS, FrenetPath, quintic
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, StopRamp, stopping_distance
from tuling_fsm.planning.speed.roll_out import (
    FOLLOWING,
    FREE,
    STOPPING,
    YIELDING,
    AccelerationDemand,
    Progress,
    SpeedEnvelope,
    StartMotion,
    StBoundaries,
    StopTarget,
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
"""So many prediction steps may pass until the acceleration is what the car-following model allows: that of the start
may be more."""
_GONE = 10.0
"""An agent that is so much farther (m) at last than where the car yields to it has gone ahead."""
_TOLERANCE = 0.05


class SpeedSampling(NamedTuple):
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
    def of(cls, vehicle: Vehicle, choice: ChoiceParameters) -> SpeedSampling:
        """The numbers for a vehicle."""
        return cls(choice.speeds, choice.braking, choice.regain / (2.0 * vehicle.max_accel), choice.ease, 0.0)


class SpeedPolynomial(NamedTuple):
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


@inlined_kernel
def keep_speed(v: float, a: float, speed: float, until: float) -> SpeedPolynomial:
    """From `v` and `a` to `speed` without acceleration, wherever that is: the quartic of least jerk."""
    dv, da = speed - v - a * until, -a * until
    return SpeedPolynomial(
        v, 0.5 * a, (3.0 * dv - da) / (3.0 * until**2), (da - 2.0 * dv) / (4.0 * until**3), 0.0, until, speed
    )


@inlined_kernel
def arrive(v: float, a: float, s: float, speed: float, until: float) -> SpeedPolynomial:
    """From `v` and `a` to `speed` without acceleration at arc length `s`: a quintic."""
    _, slope, c2, c3, c4, c5 = quintic(0.0, v - speed, a, s - speed * until, until)
    return SpeedPolynomial(slope + speed, c2, c3, c4, c5, until, speed)


@inlined_kernel
def distance_at(course: SpeedPolynomial, t: float) -> float:
    """Arc length (m) at `t` (s)."""
    c, u = course, min(t, course.until)
    return u * (c.c1 + u * (c.c2 + u * (c.c3 + u * (c.c4 + u * c.c5)))) + course.speed * (t - u)


@inlined_kernel
def sample_polynomial(course: SpeedPolynomial, rows: FloatArray) -> None:
    """Fill `rows` (T, 3) with arc length, speed and acceleration, `STEP_S` apart."""
    c = course
    for i in range(len(rows)):
        t = i * STEP_S
        u = min(t, c.until)
        rows[i, 0] = u * (c.c1 + u * (c.c2 + u * (c.c3 + u * (c.c4 + u * c.c5)))) + c.speed * (t - u)
        rows[i, 1] = c.c1 + u * (2.0 * c.c2 + u * (3.0 * c.c3 + u * (4.0 * c.c4 + u * 5.0 * c.c5)))
        rows[i, 2] = 2.0 * c.c2 + u * (6.0 * c.c3 + u * (12.0 * c.c4 + u * 20.0 * c.c5))


@inlined_kernel
def yields_for_a_while(traffic: StBoundaries) -> bool:
    """Whether the car yields to an agent that has left, or gone ahead, before the predictions end."""
    nearest, last = np.inf, len(traffic.wall_s) - 1
    for j in range(last):
        nearest = min(nearest, traffic.wall_s[j])
    return bool(traffic.wall_s[last] == np.inf and traffic.leader_s[last] > nearest + _GONE)


@inlined_kernel
def slow_down(
    start: StartMotion, speed: float, stamp: float, traffic: StBoundaries, ramp: StopRamp, d: LongitudinalLimits
) -> SpeedPolynomial:
    """The polynomial to a lower speed: to where the car can still stop before the objects that it yields to when the
    last of them has left, else to whatever place it comes to.
    """
    v, a = start
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


@inlined_kernel
def _is_smooth(rows: FloatArray, d: LongitudinalLimits) -> bool:
    """Whether the car goes forward and keeps to comfortable acceleration and jerk."""
    beyond = 0
    for i in range(1, len(rows)):
        change = abs(rows[i, 2] - rows[i - 1, 2])
        beyond += (rows[i, 1] < 0.0) | (rows[i, 2] > d.accel) | (rows[i, 2] < -d.decel) | (change > d.jerk * STEP_S)
    return beyond == 0


@inlined_kernel
def _is_slow_enough(rows: FloatArray, frenet: FrenetPath, envelope: SpeedEnvelope) -> bool:
    """Whether the speed keeps below the path's envelope."""
    path, speed, last, at = frenet.path, envelope.speed, len(rows) - 1, 0
    if rows[last, 0] <= envelope.level[0]:
        top = 0.0
        for i in range(len(rows)):
            top = max(top, rows[i, 1])
        return bool(top <= speed[0] + _TOLERANCE)
    for i in range(len(rows)):
        s = rows[i, 0]
        if s >= path[frenet.points - 1, PS]:
            return False
        at = seek(path, frenet.points, at, s)
        share = (s - path[at, PS]) / (path[at + 1, PS] - path[at, PS])
        if rows[i, 1] > speed[at] + share * (speed[at + 1] - speed[at]) + _TOLERANCE:
            return False
    return True


@inlined_kernel
def is_admissible(
    rows: FloatArray,
    frenet: FrenetPath,
    envelope: SpeedEnvelope,
    stop: StopTarget,
    traffic: StBoundaries,
    ramp: StopRamp,
    d: LongitudinalLimits,
) -> bool:
    """Whether a motion is comfortable and never asks for more than the car-following model allows where it leads."""
    if not _is_smooth(rows, d) or not _is_slow_enough(rows, frenet, envelope):
        return False
    for j in range(_SETTLING, min(len(traffic.wall_s), (len(rows) - 1) // ROWS_A_STEP + 1)):
        i = ROWS_A_STEP * j
        demand = traffic_demand(traffic, stop, j, 0.0, Progress(rows[i, 0], rows[i, 1], rows[i, 2]), ramp, d)
        if rows[i, 2] > demand.accel + _TOLERANCE:
            return False
    return True


@inlined_kernel
def speed_cost(rows: FloatArray, until: int, top: float, e: SpeedSampling) -> float:
    """What braking up to row `until`, and being slower there than `top` (m/s), costs."""
    braking = 0.0
    for i in range(until):
        braking += min(0.0, rows[i, 2]) ** 2
    return float(e.braking * braking * STEP_S + e.regain * max(0.0, top - rows[until, 1]) ** 2)


@inlined_kernel
def demand_ahead(binds: AccelerationDemand, traffic: StBoundaries) -> AccelerationDemand:
    """What a lower speed is kept for: what binds already, else the object that the car would brake for soon."""
    if binds.reason in (FOLLOWING, YIELDING, STOPPING):
        return binds
    reason, blame, distance = FREE, -1, np.inf
    for j in range(len(traffic.wall_s)):
        if traffic.wall_s[j] < distance:
            reason, blame, distance = YIELDING, int(traffic.wall_id[j]), traffic.wall_s[j]
    if blame < 0 and traffic.leader_s[0] < np.inf:
        reason, blame, distance = FOLLOWING, int(traffic.leader_id[0]), traffic.leader_s[0]
    return binds if blame < 0 else AccelerationDemand(binds.accel, reason, blame, distance, binds.room)
