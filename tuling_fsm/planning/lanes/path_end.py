"""Where a path has to end: stop walls, bounds, static obstacles, bends that are too tight, the end of the line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.obstacles.static import StaticObstacles, blocked_by_static
from tuling_fsm.planning.paths.footprint import Footprint, over_bounds, within_bounds
from tuling_fsm.planning.paths.frenet_path import NODE, PCOS, PD, PKAPPA, PS, PSIN, PTURN, PX, PY, START_S, FrenetPath
from tuling_fsm.planning.paths.reference_line import (
    COS,
    LEFT_OFF,
    LEFT_ROAD,
    NEED,
    RIGHT_OFF,
    RIGHT_ROAD,
    SIN,
    S,
    offset_at,
    walk,
)

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
    """Arc length at which the bumper touches a wall (m, `inf` for never) in the direction in which that stops it.

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
            if u < np.inf and (bx - ax) * wy < (by - ay) * wx:
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
def _overreach(
    line: FloatArray, points: int, k: int, offset: float, turn: float, frenet: FrenetPath, i: int, body: Footprint
) -> tuple[float, float, float, float]:
    """How far (m) the body at point `i` reaches over the left and right bound, and over the road's left and right edge
    where it does that; `turn` is the sine of its angle to the line.
    """
    path = frenet.path
    x, y, cos, sin = path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN]
    left, right = within_bounds(line, n=points, k=k, offset=offset, turn=turn, x=x, y=y, cos=cos, sin=sin, body=body)
    if left <= 0.0 and right <= 0.0:
        return left, right, -1.0, -1.0
    off_left, off_right = over_bounds(
        line, points, k, x, y, cos, sin, body, left_bound=LEFT_ROAD, right_bound=RIGHT_ROAD
    )
    return left, right, off_left, off_right


@inlined_kernel
def _out_of_bounds(
    frenet: FrenetPath, lines: LaneLines, reached: float, until: int, body: Footprint, slack: float
) -> int:
    """First point at which the body leaves the bounds, `until` for none before that.

    A car that starts beyond a bound may take its time to come back but not go farther out, and where a car on the
    reference itself would reach over a bound the same much is granted to all, on either side, while they stay on the
    road as it does. Until a transition to another line has ended, at `reached`, the bounds are those of the line that
    the car comes from, as they say what may be crossed from there; beyond its end there is nothing of it to be on.
    """
    home, path = lines.home, frenet.path
    line, points, k = lines.row[home], lines.points[home], int(lines.start[home, NODE])
    carry = (np.inf, np.inf, np.inf, np.inf)
    changing = frenet.at != home
    for i in range(until):
        ahead = max(0, frenet.first + i - 1)
        if changing:
            k = walk(line, points, k, path[i, PX], path[i, PY])
            if frenet.line[ahead, S] >= reached or line[k, S] + body.front >= lines.ends[home]:
                changing, carry = False, (0.0, 0.0, 0.0, 0.0)
        if changing:
            offset = offset_at(line, k, path[i, PX], path[i, PY])
            turn = path[i, PSIN] * line[k, COS] - path[i, PCOS] * line[k, SIN]
        else:
            line, points, k, offset, turn = frenet.line, lines.points[frenet.at], ahead, path[i, PD], path[i, PTURN]
        over = _overreach(line, points=points, k=k, offset=offset, turn=turn, frenet=frenet, i=i, body=body)
        granted = (line[k, NEED], line[k, NEED], line[k, LEFT_OFF], line[k, RIGHT_OFF])
        if i == 0:
            carry = (max(0.0, over[0]), max(0.0, over[1]), max(0.0, over[2]), max(0.0, over[3]))
        for side in range(4):
            if over[side] > max(granted[side], carry[side]) + slack:
                return i
        carry = (
            min(carry[0], max(0.0, over[0])), min(carry[1], max(0.0, over[1])),
            min(carry[2], max(0.0, over[2])), min(carry[3], max(0.0, over[3])),
        )  # fmt: skip
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
