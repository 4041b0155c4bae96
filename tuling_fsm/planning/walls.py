"""Where the front bumper would meet a stop wall."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.paths import PCOS, PS, PSIN, PX, PY

_JUST_OVER = 0.4
_ROLLING = 0.5
"""A bumper over the line by no more than the one (m), slower than the other (m/s), still stops there."""


@kernel
def crossing(ax: float, ay: float, bx: float, by: float, wall: FloatArray) -> float:
    """Share of the way from a to b at which a wall is crossed, `inf` for nowhere."""
    dx, dy = bx - ax, by - ay
    wx, wy = wall[2] - wall[0], wall[3] - wall[1]
    cross = dx * wy - dy * wx
    if abs(cross) < 1e-12:
        return np.inf
    ox, oy = wall[0] - ax, wall[1] - ay
    u, w = (ox * wy - oy * wx) / cross, (ox * dy - oy * dx) / cross
    return u if 0.0 <= u <= 1.0 and 0.0 <= w <= 1.0 else np.inf


@kernel
def _front(path: FloatArray, i: int, body: Body, side: float) -> tuple[float, float]:
    x = path[i, PX] + body.front * path[i, PCOS] - side * body.half_width * path[i, PSIN]
    y = path[i, PY] + body.front * path[i, PSIN] + side * body.half_width * path[i, PCOS]
    return x, y


@kernel
def _over_by(path: FloatArray, body: Body, wall: FloatArray) -> float:
    """How far the bumper of a car at the path's start is over the wall; `-inf` where the wall is not below the car."""
    over = -np.inf
    for side in (-1.0, 0.0, 1.0):
        fx, fy = _front(path, 0, body, side)
        length = body.front + body.rear
        u = crossing(fx, fy, fx - length * path[0, PCOS], fy - length * path[0, PSIN], wall)
        if u < np.inf:
            over = max(over, u * length)
    return over


@kernel
def wall_at(path: FloatArray, n: int, body: Body, wall: FloatArray, v: float) -> float:
    """Arc length at which the bumper touches a wall (m, `inf` for never).

    A wall that the bumper has passed is none (USE-3), but a car that rolls out just over it stops where it is: 0.
    """
    over = _over_by(path, body, wall)
    if over >= 0.0:
        return 0.0 if over < _JUST_OVER and v < _ROLLING else np.inf
    wx, wy = wall[2] - wall[0], wall[3] - wall[1]
    length = elementary.hypot(wx, wy)
    if length < 1e-6:
        return np.inf
    best = np.inf
    for i in range(n - 1):
        fx, fy = _front(path, i, body, 0.0)
        away = abs((fx - wall[0]) * wy - (fy - wall[1]) * wx) / length
        if away > body.half_width + path[i + 1, PS] - path[i, PS] + 0.5:
            continue
        for side in (-1.0, 0.0, 1.0):
            ax, ay = _front(path, i, body, side)
            bx, by = _front(path, i + 1, body, side)
            u = crossing(ax, ay, bx, by, wall)
            if u < np.inf:
                best = min(best, path[i, PS] + u * (path[i + 1, PS] - path[i, PS]))
        if best < np.inf:
            break
    return best
