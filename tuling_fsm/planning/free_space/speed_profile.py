"""From a path to a timed motion: steering rate, speed, acceleration and jerk within their limits, stops where it must.

The fastest profile with bounded acceleration is averaged over a window of time: its acceleration then changes no
faster than the jerk allows. Slow zones are grown by what the window blurs, so that they hold afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.core.request import StopWall
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.collision import advance, bin_segments
from tuling_fsm.planning.free_space.problem import GoalFrame, body_of
from tuling_fsm.planning.free_space.smoothing import (
    GEAR,
    HEADING,
    LENGTH,
    ROLL_ROOM,
    STEER0,
    STEER1,
    STOP,
    X0,
    Y0,
    free_of_motion,
)
from tuling_fsm.planning.parameters import FreeSpaceParameters

GRID = 0.02
"""Step of the grid (m) on which the speed is planned."""
T, X, Y, H, V, STEER, A = range(7)
"""Columns of timed rows: s, m, m, rad, m/s (negative in reverse), rad, m/s^2."""
RATE_SHARE = 0.98
"""Share of the steering rate that is planned."""


class MotionLimits(NamedTuple):
    """Bounds of the profile, SI."""

    forward: float
    reverse: float
    accel: float
    decel: float
    jerk: float
    lateral: float
    steer_rate: float
    wheelbase: float
    row: float


@kernel
def window(limits: MotionLimits) -> float:
    """Length of the averaging window, s."""
    return (limits.accel + limits.decel) / limits.jerk


@kernel
def _bounds(motion: FloatArray, limits: MotionLimits, speed: FloatArray, step: float, lead: float) -> None:
    """Highest speed at each point of a grid that begins at `lead` (m), slow zones grown by the averaging.

    The mean of a position over a window differs from its middle by at most acceleration * window^2 / 24.
    """
    n, s, blur = len(speed), -lead, window(limits)
    for r in range(len(motion)):
        top = limits.forward if motion[r, GEAR] > 0.0 else limits.reverse
        steer = max(abs(motion[r, STEER0]), abs(motion[r, STEER1]))
        if steer > 1e-6:
            top = min(top, math.sqrt(limits.lateral * limits.wheelbase / elementary.tan(steer)))
        turn = abs(motion[r, STEER1] - motion[r, STEER0])
        if turn > 1e-9:
            top = min(top, RATE_SHARE * limits.steer_rate * motion[r, LENGTH] / turn)
        grown = 0.5 * top * blur + max(limits.accel, limits.decel) * blur * blur / 24.0
        i0 = max(0, math.floor((s - grown) / step))
        i1 = min(n - 1, math.ceil((s + motion[r, LENGTH] + grown) / step))
        for i in range(i0, i1 + 1):
            speed[i] = min(speed[i], top)
        s += motion[r, LENGTH]


@array_kernel
def _sharp(motion: FloatArray, limits: MotionLimits, length: float, lead: float, v0: float) -> FloatArray:
    """The fastest profile with bounded acceleration from `v0` to 0: rows of time, position, its integral, speed."""
    n = max(4, math.ceil(length / GRID)) + 1
    step = length / (n - 1)
    speed = np.empty(n)
    for i in range(n):
        speed[i] = np.inf
    _bounds(motion, limits, speed, step, lead)
    speed[0], speed[n - 1] = min(speed[0], v0), 0.0
    for i in range(1, n):
        speed[i] = min(speed[i], math.sqrt(speed[i - 1] ** 2 + 2.0 * limits.accel * step))
    for i in range(n - 2, -1, -1):
        speed[i] = min(speed[i], math.sqrt(speed[i + 1] ** 2 + 2.0 * limits.decel * step))
    for i in range(n - 1):
        speed[i] = max(speed[i], math.sqrt(max(0.0, v0 * v0 - 2.0 * limits.decel * step * i)))
    sharp = np.zeros((n, 4))
    sharp[0, 3] = speed[0]
    for i in range(1, n):
        dt = 2.0 * step / max(speed[i - 1] + speed[i], 1e-9)
        a, before = (speed[i] - speed[i - 1]) / dt, sharp[i - 1, 1]
        sharp[i, 0], sharp[i, 1] = sharp[i - 1, 0] + dt, i * step
        sharp[i, 2] = sharp[i - 1, 2] + dt * (before + dt * (0.5 * speed[i - 1] + dt * a / 6.0))
        sharp[i, 3] = speed[i]
    return sharp


@kernel
def _position(sharp: FloatArray, t: float) -> tuple[float, float, float]:
    """Integral of the position, position and speed of a sharp profile; before it the speed is its first, after it 0."""
    n = len(sharp)
    if t <= 0.0:
        v = sharp[0, 3]
        return 0.5 * v * t * t, v * t, v
    if t >= sharp[n - 1, 0]:
        return sharp[n - 1, 2] + sharp[n - 1, 1] * (t - sharp[n - 1, 0]), sharp[n - 1, 1], 0.0
    i = np.searchsorted(sharp[:, 0], t, side="right") - 1
    u, dt = t - sharp[i, 0], sharp[i + 1, 0] - sharp[i, 0]
    s, v, a = sharp[i, 1], sharp[i, 3], (sharp[i + 1, 3] - sharp[i, 3]) / dt
    return sharp[i, 2] + u * (s + u * (0.5 * v + u * a / 6.0)), s + u * (v + 0.5 * u * a), v + a * u


@kernel
def _put(row: FloatArray, t: float, x: float, y: float, heading: float, v: float, steer: float, a: float) -> None:
    """Writes one timed row."""
    row[T], row[X], row[Y], row[H], row[V], row[STEER], row[A] = t, x, y, heading, v, steer, a


@array_kernel
def _time_stretch(motion: FloatArray, limits: MotionLimits, t0: float, v0: float) -> FloatArray:
    """Timed rows of a motion without a stop inside, from `t0` on and without the first."""
    length, blur, gear = 0.0, window(limits), motion[0, GEAR]
    for r in range(len(motion)):
        length += motion[r, LENGTH]
    lead = min(0.5 * v0 * blur, 0.9 * length)
    sharp = _sharp(motion, limits, length - lead, lead, v0)
    total = sharp[-1, 0] + blur
    count = math.ceil(total / limits.row)
    rows = np.empty((count, 7))
    at, done = 0, 0.0
    for k in range(1, count + 1):
        t = total * k / count
        i1, s1, u1 = _position(sharp, t)
        i0, s0, u0 = _position(sharp, t - blur)
        s = min(lead + (i1 - i0) / blur, length)
        while at < len(motion) - 1 and done + motion[at, LENGTH] < s:
            done += motion[at, LENGTH]
            at += 1
        u = s - done
        steer = motion[at, STEER0] + (motion[at, STEER1] - motion[at, STEER0]) * min(1.0, u / motion[at, LENGTH])
        k_mean = elementary.tan(0.5 * (motion[at, STEER0] + steer)) / limits.wheelbase
        x, y, h = advance(motion[at, X0], motion[at, Y0], motion[at, HEADING], k_mean, gear * u)
        moving = gear if k < count else 0.0
        _put(rows[k - 1], t0 + t, x, y, h, v=moving * (s1 - s0) / blur, steer=steer, a=moving * (u1 - u0) / blur)
    return rows


@array_kernel
def _turn_wheel(last: FloatArray, steer: float, limits: MotionLimits, hold: float) -> FloatArray:
    """Timed rows after `last` in which the car stands at least `hold` s and turns the wheel to `steer`."""
    turn = steer - last[STEER]
    pause = max(hold, abs(turn) / (RATE_SHARE * limits.steer_rate))
    count = math.ceil(pause / limits.row) if pause > 1e-6 else 0
    rows = np.empty((count, 7))
    for k in range(count):
        share = (k + 1) / count
        _put(
            rows[k], last[T] + share * pause, last[X], last[Y], last[H], v=0.0, steer=last[STEER] + share * turn, a=0.0
        )
    return rows


@array_kernel
def _append(rows: FloatArray, count: int, more: FloatArray) -> tuple[FloatArray, int]:
    """The first `count` rows and some more, in an array with room to spare, and how many that are."""
    need = count + len(more)
    if need > len(rows):
        longer = np.empty((2 * need, 7))
        for r in range(count):
            for c in range(7):
                longer[r, c] = rows[r, c]
        rows = longer
    for r in range(len(more)):
        for c in range(7):
            rows[count + r, c] = more[r, c]
    return rows, need


@array_kernel
def time_motion(motion: FloatArray, limits: MotionLimits, v0: float, steer0: float, hold: float) -> FloatArray:
    """Timed rows (N, 7) of a motion that starts at `v0` (m/s, no sign) with steering `steer0` (rad) and ends
    standing.

    The car stands `hold` s at each change of gear and turns the wheel there. A moving start begins with the first row's
    steering.
    """
    rows: FloatArray = np.empty((1024, 7))
    n = 1
    _put(rows[0], 0.0, motion[0, X0], motion[0, Y0], motion[0, HEADING], v=motion[0, GEAR] * v0, steer=steer0, a=0.0)
    i = 0
    while i < len(motion):
        j = i + 1
        while j < len(motion) and motion[j, STOP] == 0.0:
            j += 1
        if i > 0 or v0 == 0.0:
            rows, n = _append(rows, n, _turn_wheel(rows[n - 1], motion[i, STEER0], limits, hold if i > 0 else 0.0))
        rows, n = _append(rows, n, _time_stretch(motion[i:j], limits, rows[n - 1, T], v0 if i == 0 else 0.0))
        i = j
    return rows[:n]


SHORTEST = 0.05
"""A motion that a stop wall leaves shorter than this (m) is not begun."""


def limits_of(vehicle: Vehicle, parameters: FreeSpaceParameters, speed_limit: float) -> MotionLimits:
    """The bounds of a speed profile; rows are at most 0.1 m apart."""
    forward, reverse = min(vehicle.max_speed, speed_limit), min(vehicle.max_reverse_speed, speed_limit)
    return MotionLimits(
        forward=forward,
        reverse=reverse,
        accel=min(vehicle.max_accel, parameters.accel),
        decel=min(vehicle.comfort_decel, parameters.accel),
        jerk=vehicle.max_jerk,
        lateral=vehicle.max_lateral_accel,
        steer_rate=vehicle.max_steer_rate,
        wheelbase=vehicle.wheelbase,
        row=min(parameters.row, 0.099 / max(forward, reverse)),
    )


def stopping_length(v: float, limits: MotionLimits) -> float:
    """Length (m) in which a rolling car comes to a comfortable stop, and a little in which it may turn the wheel."""
    return float(abs(v) * window(limits) / 2.0 + v * v / (2.0 * limits.decel) + 2.0 * ROLL_ROOM)


def cut_at_walls(
    motion: FloatArray, walls: Sequence[StopWall], frame: GoalFrame, vehicle: Vehicle, gap: float, least: float
) -> tuple[FloatArray, StopWall | None]:
    """The motion up to `gap` (m) before the first wall that it meets, and that wall.

    A wall that the car touches at the start is behind its bumper already and stops nothing. A car that rolls cannot
    stop within less than `least` (m).
    """
    body = body_of(vehicle, 0.0)
    nearest, first = math.inf, None
    for wall in walls:
        ends = frame.to_local(np.array(((wall.x0, wall.y0), (wall.x1, wall.y1))))
        low, high = ends.min(axis=0) - 1.0, ends.max(axis=0) + 1.0
        binned = bin_segments(ends.reshape(1, 4), low[0], low[1], high[0], high[1])
        free = free_of_motion(binned, body, motion, vehicle.wheelbase)
        if 0.0 < free < nearest:
            nearest, first = free, wall
    return (motion, None) if first is None else (shortened(motion, max(nearest - gap, least)), first)


def shortened(motion: FloatArray, length: float) -> FloatArray:
    """The first `length` (m) of a motion; no rows when that is not worth driving."""
    if length < SHORTEST:
        return motion[:0]
    ends = np.cumsum(motion[:, LENGTH])
    last = int(np.searchsorted(ends, length))
    if last >= len(motion):
        return motion
    kept = motion[: last + 1].copy()
    share = 1.0 - (ends[last] - length) / motion[last, LENGTH]
    kept[last, LENGTH] *= share
    kept[last, STEER1] = kept[last, STEER0] + share * (kept[last, STEER1] - kept[last, STEER0])
    return kept
