"""One curve: a quintic in both coordinates, and how fast the wheels can follow a path.

The curves are those of [takahashi1989][]: their coordinates are quintic polynomials, and position, direction and
curvature are met at both ends.
"""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.paths.frenet_path import PATH, PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed.car_following import LongitudinalLimits

_BASIS = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)
"""From value, first and second derivative at 0 and at 1 to coefficients, lowest power first."""
_EASE = 0.7
"""Share of comfortable braking on which a curve may count: braking has to set in first."""


def quintic_curve(
    start: Pose, curvature: float, goal: Pose, stretches: tuple[float, float], spacing: float
) -> FloatArray:
    """The curve from a pose with a path curvature (1/m) to a goal that is reached straight, as a path (n, PATH).

    `stretches` are the lengths of the tangents at both ends in distances between the poses: the greater, the longer the
    curve keeps to them. Points are at most about `spacing` (m) apart.
    """
    distance = elementary.hypot(goal.x - start.x, goal.y - start.y)
    ends = np.zeros((6, 2))
    for row, pose, bend, stretch in ((0, start, curvature, stretches[0]), (3, goal, 0.0, stretches[1])):
        reach = stretch * distance
        sin, cos = elementary.sin_cos(pose.heading)
        ends[row] = pose.x, pose.y
        ends[row + 1] = reach * cos, reach * sin
        ends[row + 2] = -bend * reach * reach * sin, bend * reach * reach * cos
    c = (_BASIS[:, :, None] * ends).sum(axis=1)
    longest = distance * max(1.0, *stretches)
    path: FloatArray = _points(c, max(3, math.ceil(longest / spacing) + 1), float(start.heading))
    return path


@kernel
def _polynomial(c: FloatArray, axis: int, derived: int, u: float) -> float:
    """Value of a polynomial or of a derivative of it at `u`; coefficients (6, 2), lowest power first (Horner)."""
    value = 0.0
    for power in range(5, derived - 1, -1):
        factor = 1.0
        for each in range(derived):
            factor *= power - each
        value = value * u + factor * c[power, axis]
    return value


@array_kernel
def _points(c: FloatArray, n: int, heading: float) -> FloatArray:
    """The path (n, PATH) along two polynomials with coefficients (6, 2); its direction is unwrapped from `heading`."""
    path, step, turned = np.zeros((PATH, n)).T, 1.0 / (n - 1), 0.0
    for i in range(n):
        u = 1.0 if i == n - 1 else i * step
        path[i, PX], path[i, PY] = _polynomial(c, 0, 0, u), _polynomial(c, 1, 0, u)
        along, across = _polynomial(c, 0, 1, u), _polynomial(c, 1, 1, u)
        pace = max(elementary.hypot(along, across), 1e-9)
        path[i, PCOS], path[i, PSIN] = along / pace, across / pace
        bend = along * _polynomial(c, 1, 2, u) - across * _polynomial(c, 0, 2, u)
        path[i, PKAPPA] = bend / (pace * pace * pace)
        angle = elementary.atan2(path[i, PSIN], path[i, PCOS])
        turned += _whole_turns(angle - heading)
        heading = angle
        path[i, PHEADING] = angle + turned
        if i > 0:
            path[i, PS] = path[i - 1, PS] + elementary.hypot(
                path[i, PX] - path[i - 1, PX], path[i, PY] - path[i - 1, PY]
            )
    return path


@kernel
def _whole_turns(change: float) -> float:
    """What has to be added to a change of angle (rad) for it to lie within half a turn."""
    if abs(change) < math.pi:
        return 0.0
    within = (change + math.pi) % (2.0 * math.pi) - math.pi
    if within == -math.pi and change > 0.0:
        within = math.pi
    return within - change


def straight(start: Pose, length: float, spacing: float) -> FloatArray:
    """The straight path (n, PATH) ahead of a pose, without its end at `length` (m)."""
    s = np.arange(math.ceil(length / spacing)) * (length / math.ceil(length / spacing))
    path = new_path(len(s))
    path[:, PS], path[:, PHEADING] = s, start.heading
    path[:, PSIN], path[:, PCOS] = elementary.sin_cos(start.heading)
    path[:, PX], path[:, PY] = start.x + s * path[:, PCOS], start.y + s * path[:, PSIN]
    return path


@kernel
def _steered(path: FloatArray, i: int, wheelbase: float, steer_rate: float) -> float:
    """Speed (m/s) at which the wheels can follow a path from point `i` to the next."""
    steer, then = elementary.atan(wheelbase * path[i, PKAPPA]), elementary.atan(wheelbase * path[i + 1, PKAPPA])
    change: float = abs(then - steer) / max(path[i + 1, PS] - path[i, PS], 1e-6)
    return steer_rate / max(change, 1e-9)


@array_kernel
def _allowed(path: FloatArray, speed_limit: float, wheelbase: float, steer_rate: float, lateral: float) -> FloatArray:
    speed = np.empty(len(path) - 1)
    for i in range(len(speed)):
        bend = math.sqrt(lateral / max(abs(path[i + 1, PKAPPA]), 1e-6))
        speed[i] = min(min(_steered(path, i, wheelbase, steer_rate), bend), speed_limit)
    return speed


def allowed_speeds(path: FloatArray, speed_limit: float, drive: LongitudinalLimits) -> FloatArray:
    """Speeds (n - 1,) that the limit, bends and the turning of the wheels allow on a path (n, PATH), m/s."""
    speed: FloatArray = _allowed(path, speed_limit, drive.wheelbase, drive.steer_rate, drive.lateral)
    return speed


@kernel
def _is_drivable(
    path: FloatArray, v: float, brake: float, wheelbase: float, steer_rate: float, most: float, slowest: float
) -> bool:
    for i in range(len(path)):
        least = math.sqrt(max(v * v - 2.0 * _EASE * brake * path[i, PS], 0.0))
        if not abs(elementary.atan(wheelbase * path[i, PKAPPA])) <= most:
            return False
        if i == len(path) - 1:
            return least == 0.0
        if not max(least, slowest) <= _steered(path, i, wheelbase, steer_rate):
            return False
    return False


def drivable(path: FloatArray, v: float, drive: LongitudinalLimits, max_steer: float, slowest: float) -> bool:
    """Whether the car, at `v` (m/s) at its start, can follow a path (n, PATH) and stop at its end, both at ease, and
    has to be no slower than `slowest` (m/s) for its wheels to follow.
    """
    limits = drive.decel, drive.wheelbase, drive.steer_rate
    return bool(_is_drivable(path, float(v), *limits, max_steer, slowest))
