"""Where a path has to end: stop walls, bounds, static obstacles, bends that are too tight, the end of the line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.obstacles.static import StaticObstacles, blocked_by_static
from tuling_fsm.planning.paths.footprint import Footprint, offset_at, walk, within_bounds
from tuling_fsm.planning.paths.frenet_path import NODE, PCOS, PD, PKAPPA, PS, PSIN, PTURN, PX, PY, START_S, FrenetPath
from tuling_fsm.planning.paths.reference_line import COS, NEED, NEED_RIGHT, SIN, S

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
def _front(path: FloatArray, i: int, body: Footprint, side: float) -> tuple[float, float]:
    x = path[i, PX] + body.front * path[i, PCOS] - side * body.half_width * path[i, PSIN]
    y = path[i, PY] + body.front * path[i, PSIN] + side * body.half_width * path[i, PCOS]
    return x, y


@kernel
def _over_by(path: FloatArray, body: Footprint, wall: FloatArray) -> float:
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
def wall_at(path: FloatArray, n: int, body: Footprint, wall: FloatArray, v: float) -> float:
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


NOTHING, END_OF_LINE, SOLID, BOUND, CURVATURE, WALL = range(6)
"""What a path is stopped by."""
_HARD_TO_STEER = 1.005


class StopLimits(NamedTuple):
    """What a path has to keep to: distances (m), `wanted` and `slack` as in `ClearanceParameters` and
    `LateralParameters`, `line`, `obstacle` and `end` as in `SpeedParameters`, and the car's `curvature` (1/m).
    """

    wanted: float
    slack: float
    line: float
    obstacle: float
    end: float
    curvature: float


class PathEnd(NamedTuple):
    """Where to stand on a path (m, `inf` for nowhere), why, for which wall or solid, and where that touches the
    bumper (m).
    """

    at: float
    by: int
    row: int
    thing: float


@inlined_kernel
def _out_of_bounds(
    frenet: FrenetPath, lines: LaneLines, reached: float, until: int, body: Footprint, slack: float
) -> int:
    """First point at which the body leaves the bounds, `until` for none before that.

    A car that starts beyond a bound may take its time to come back but not go farther out, and where a car on the
    reference itself would reach over a bound the same much is granted to all, on either side. Until a transition to
    another line has ended, at `reached`, the bounds are those of the line that the car comes from, as they say what
    may be crossed from there.
    """
    home, path = lines.home, frenet.path
    home_line, home_points = lines.row[home], lines.points[home]
    line, points, k_home = frenet.line, lines.points[frenet.at], int(lines.start[home, NODE])
    carry_left, carry_right = np.inf, np.inf
    changing = frenet.at != home
    for i in range(until):
        k = max(0, frenet.first + i - 1)
        x, y, cos, sin = path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN]
        if changing and line[k, S] < reached:
            k_home = walk(home_line, home_points, k_home, x, y)
            offset = offset_at(home_line, k_home, x, y)
            turn = sin * home_line[k_home, COS] - cos * home_line[k_home, SIN]
            left, right = within_bounds(
                home_line, n=home_points, k=k_home, offset=offset, turn=turn, x=x, y=y, cos=cos, sin=sin, body=body
            )
            need, need_right = home_line[k_home, NEED], home_line[k_home, NEED_RIGHT]
        else:
            if changing:
                changing, carry_left, carry_right = False, 0.0, 0.0
            left, right = within_bounds(
                line, n=points, k=k, offset=path[i, PD], turn=path[i, PTURN], x=x, y=y, cos=cos, sin=sin, body=body
            )
            need, need_right = line[k, NEED], line[k, NEED_RIGHT]
        if i == 0:
            carry_left, carry_right = max(0.0, left), max(0.0, right)
        elif left > max(need, carry_left) + slack or right > max(need_right, carry_right) + slack:
            return i
        carry_left, carry_right = min(carry_left, max(0.0, left)), min(carry_right, max(0.0, right))
    return until


@inlined_kernel
def _block(
    frenet: FrenetPath,
    lines: LaneLines,
    static: StaticObstacles,
    reached: float,
    body: Footprint,
    limits: StopLimits,
) -> tuple[int, int, int]:
    """First point that cannot be driven, why, and the solid's row."""
    blocked, by = blocked_by_static(frenet, static, body, limits.wanted)
    why = SOLID if blocked < frenet.points else NOTHING
    out = _out_of_bounds(frenet, lines, reached, blocked, body, limits.slack)
    if out < blocked:
        blocked, why, by = out, BOUND, -1
    most = max(limits.curvature * _HARD_TO_STEER, abs(frenet.path[0, PKAPPA]))
    for i in range(1, blocked):
        if abs(frenet.path[i, PKAPPA]) > most:
            return i, CURVATURE, -1
    return blocked, why, by


@inlined_kernel
def _arc_at(frenet: FrenetPath, start_s: float, s: float) -> float:
    """Arc length of a path where it passes arc length `s` of its line, `inf` beyond its end, negative behind its
    start.
    """
    if s <= start_s:
        return s - start_s
    for i in range(1, frenet.points):
        here = frenet.line[frenet.first + i - 1, S]
        if here >= s:
            before = start_s if i == 1 else frenet.line[frenet.first + i - 2, S]
            step = frenet.path[i, PS] - frenet.path[i - 1, PS]
            return float(frenet.path[i - 1, PS] + (s - before) / max(1e-6, here - before) * step)
    return np.inf


@inlined_kernel
def find_stop(
    frenet: FrenetPath,
    lines: LaneLines,
    static: StaticObstacles,
    walls: FloatArray,
    reached: float,
    v: float,
    body: Footprint,
    limits: StopLimits,
) -> PathEnd:
    """The nearest of all that a path has to end before; fills the path's `PROOM`.

    `reached` is the arc length of the line at which a change to it has ended, `v` the present speed. Before what
    blocks the path there is room to pull out, unless another stop lies within that room.
    """
    end = _arc_at(frenet, lines.start[frenet.at, START_S], lines.stop[frenet.at])
    stop = PathEnd(end, END_OF_LINE, frenet.at, end)
    for row in range(len(walls)):
        touch = wall_at(frenet.path, frenet.points, body, walls[row], v)
        if touch - limits.line < stop.at:
            stop = PathEnd(touch - limits.line, WALL, row, touch)
    blocked, why, by = _block(frenet, lines, static, reached, body, limits)
    if why == NOTHING:
        return stop
    free = frenet.path[max(0, blocked - 1), PS]
    if stop.at <= free - limits.end:
        return stop
    return PathEnd(min(stop.at, free - limits.obstacle), why, by, free)
