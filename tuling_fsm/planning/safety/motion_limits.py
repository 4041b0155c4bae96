"""What rows of a motion must keep to: kernels of the independent check.

A motion is an array (7, T): t, x, y, heading, curvature, v, a, as in `Trajectory`. A rule returns the first row that
breaks it, -1 for none, and the number to tell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.safety.recovery import PathError, Recovery, decay_error, path_error

T, X, Y, HEADING, CURVATURE, V, A = range(7)
_BRAKES = 0.54
"""A car that brakes by this (m/s^2) comes down to a limit, however firmly it could: near it, braking fades out."""
_ROUNDING = 1e-6
"""Jerk (m/s^3) that the difference of two rows may have too much by rounding, by far."""
_EVEN = 1e-3
"""A speed that rises by no more than this (m/s) between rows is one that stays."""


@kernel
def not_a_number(m: FloatArray) -> int:
    """Rows that are not finite."""
    for i in range(m.shape[1]):
        for c in range(m.shape[0]):
            if not math.isfinite(m[c, i]):
                return i
    return -1


@kernel
def out_of_order(m: FloatArray) -> int:
    """Rows after which time does not increase."""
    for i in range(m.shape[1] - 1):
        if m[T, i + 1] <= m[T, i]:
            return i
    return -1


@kernel
def off_its_speed(m: FloatArray, most: float) -> tuple[int, float]:
    """Rows after which the motion is farther than `most` (m) from where speed and heading lead; how far."""
    for i in range(m.shape[1] - 1):
        way = 0.5 * (m[V, i + 1] + m[V, i]) * (m[T, i + 1] - m[T, i])
        heading = 0.5 * (m[HEADING, i + 1] + m[HEADING, i])
        sine, cosine = elementary.sin_cos(heading)
        dx = m[X, i + 1] - m[X, i] - way * cosine
        dy = m[Y, i + 1] - m[Y, i] - way * sine
        if dx * dx + dy * dy > most * most:
            return i, elementary.hypot(dx, dy)
    return -1, 0.0


@kernel
def bent_otherwise(m: FloatArray, most: float) -> tuple[int, float]:
    """Rows after which the heading turns by `most` (rad) more or less than the curvature says; by how much."""
    for i in range(m.shape[1] - 1):
        way = 0.5 * (m[V, i + 1] + m[V, i]) * (m[T, i + 1] - m[T, i])
        turn = wrap_angle(m[HEADING, i + 1] - m[HEADING, i]) - 0.5 * (m[CURVATURE, i + 1] + m[CURVATURE, i]) * way
        if abs(turn) > most:
            return i, turn
    return -1, 0.0


@kernel
def sped_otherwise(m: FloatArray, most: float) -> tuple[int, float]:
    """Rows after which the speed changes at a rate that is `most` (m/s^2) off the acceleration, taken over a whole step
    where they are nearer, as a plan is cut anywhere; how much.
    """
    for i in range(m.shape[1] - 1):
        dt = m[T, i + 1] - m[T, i]
        rate = (m[V, i + 1] - m[V, i] - 0.5 * (m[A, i + 1] + m[A, i]) * dt) / max(dt, STEP_S)
        if abs(rate) > most:
            return i, rate
    return -1, 0.0


@kernel
def only_stops(m: FloatArray) -> bool:
    """Whether the motion gets no faster from any row to the next, does not change its gear, and ends standing."""
    gear = -1.0 if m[V, 0] < 0.0 else 1.0
    for i in range(m.shape[1] - 1):
        if gear * m[V, i + 1] > gear * m[V, i] + _EVEN or gear * m[V, i + 1] < 0.0:
            return False
    return bool(abs(m[V, m.shape[1] - 1]) <= _EVEN)


@kernel
def too_bent(m: FloatArray, most: float) -> tuple[int, float]:
    """Rows whose curvature is more than `most` (1/m); which."""
    for i in range(m.shape[1]):
        if abs(m[CURVATURE, i]) > most:
            return i, m[CURVATURE, i]
    return -1, 0.0


@kernel
def steered_too_fast(m: FloatArray, wheelbase: float, most: float, rolls: float) -> tuple[int, float]:
    """Rows after which the wheels turn faster than `most` (rad/s) while the car goes faster than `rolls` (m/s); how
    fast.
    """
    before = elementary.atan(wheelbase * m[CURVATURE, 0])
    for i in range(m.shape[1] - 1):
        after = elementary.atan(wheelbase * m[CURVATURE, i + 1])
        rate = (after - before) / (m[T, i + 1] - m[T, i])
        if abs(rate) > most and abs(m[V, i + 1]) > rolls:
            return i, rate
        before = after
    return -1, 0.0


@kernel
def _forward(m: FloatArray, i: int) -> float:
    """Acceleration in the direction of travel."""
    return float(-m[A, i] if m[V, i] < 0.0 else m[A, i])


@kernel
def accelerated_too_hard(m: FloatArray, most: float, least: float) -> tuple[int, float]:
    """Rows whose acceleration in the direction of travel is not between `least` and `most` (m/s^2); which."""
    for i in range(m.shape[1]):
        forward = _forward(m, i)
        if forward > most or forward < least:
            return i, forward
    return -1, 0.0


@kernel
def cornered_too_hard(m: FloatArray, most: float) -> tuple[int, float]:
    """Rows whose lateral acceleration is more than `most` (m/s^2); how much."""
    for i in range(m.shape[1]):
        lateral = m[V, i] * m[V, i] * abs(m[CURVATURE, i])
        if lateral > most:
            return i, lateral
    return -1, 0.0


@kernel
def _near_hard_braking(m: FloatArray, i: int, hard: float, onset: float) -> bool:
    near = False
    for k in range(m.shape[1]):
        near |= abs(m[T, k] - m[T, i]) <= onset and _forward(m, k) < -hard
    return near


class JerkLimits(NamedTuple):
    """Jerk (m/s^3) of ordinary driving and of `braking`, which is meant within `onset` (s) of braking harder than
    `hard` (m/s^2) and where the car goes slower than `stands` (m/s).
    """

    ordinary: float
    braking: float
    hard: float
    onset: float
    stands: float


@kernel
def jerked(m: FloatArray, limits: JerkLimits) -> tuple[int, float, float]:
    """Rows after which the jerk is more than its limit; the jerk and that limit."""
    for i in range(m.shape[1] - 1):
        jerk = abs(m[A, i + 1] - m[A, i]) / (m[T, i + 1] - m[T, i])
        if jerk <= min(limits.ordinary, limits.braking):
            continue
        settling = min(abs(m[V, i + 1]), abs(m[V, i])) < limits.stands
        braking = settling or _near_hard_braking(m, i, limits.hard, limits.onset)
        limit = limits.braking if braking else limits.ordinary
        if jerk > limit + _ROUNDING:
            return i, jerk, limit
    return -1, 0.0, 0.0


@kernel
def keep_to_lane_limit(
    m: FloatArray, xy: FloatArray, limit: FloatArray, stride: int, nearest: FloatArray, most: FloatArray
) -> None:
    """Put a lane's speed limit into `most` (T,) where its centre (every `stride`th point) is nearer than `nearest`
    (T,), the squared distance (m^2) to the lanes before, which it updates.
    """
    for i in range(m.shape[1]):
        best, found = np.inf, 0
        for k in range(0, len(xy), stride):
            d2 = (m[X, i] - xy[k, 0]) ** 2 + (m[Y, i] - xy[k, 1]) ** 2
            if d2 < best:
                best, found = d2, k
        if best < nearest[i]:
            nearest[i], most[i] = best, limit[found]


@kernel
def too_fast(
    m: FloatArray, most: FloatArray, tolerance: float, max_jerk: float, decel: float
) -> tuple[int, float, float]:
    """Rows faster than `most` (T,) (m/s) by more than `tolerance` that do not brake for it; the speed and the limit.

    A limit that has just fallen is met no sooner than by a car that starts to brake now, with jerk `max_jerk` and
    deceleration `decel`.
    """
    gear = -1.0 if m[V, 0] < 0.0 else 1.0
    soonest, a = gear * m[V, 0], max(gear * m[A, 0], -decel)
    for i in range(m.shape[1]):
        if i > 0:
            after = max(gear * m[A, 0] - max_jerk * m[T, i], -decel)
            soonest += 0.5 * (a + after) * (m[T, i] - m[T, i - 1])
            a = after
        if abs(m[V, i]) > max(most[i], soonest) + tolerance and _forward(m, i) >= -min(_BRAKES, 0.3 * decel):
            return i, abs(m[V, i]), most[i]
    return -1, 0.0, 0.0


@kernel
def as_driven(m: FloatArray, pose: Pose, back: Recovery, poses: FloatArray) -> None:
    """Fill `poses` (T, 3) with where a motion leads a car that is at a pose instead of at its first row."""
    off = path_error(Pose(m[X, 0], m[Y, 0], m[HEADING, 0]), pose)
    for i in range(m.shape[1]):
        if i > 0:
            gear = -1.0 if m[V, i - 1] + m[V, i] < 0.0 else 1.0
            step = elementary.hypot(m[X, i] - m[X, i - 1], m[Y, i] - m[Y, i - 1])
            seen = PathError(off.along, gear * off.aside, off.turn)
            seen = decay_error(seen, gear * m[CURVATURE, i - 1], m[V, i], step, back)
            off = PathError(seen.along, seen.aside * gear, seen.turn)
        sin, cos = elementary.sin_cos(m[HEADING, i])
        poses[i, 0] = m[X, i] + off.along * cos - off.aside * sin
        poses[i, 1] = m[Y, i] + off.along * sin + off.aside * cos
        poses[i, 2] = m[HEADING, i] + off.turn
