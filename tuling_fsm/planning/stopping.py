"""Where a path has to end: bounds, static things, bends that are too tight, walls, the end of the line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import part
from tuling_fsm.planning.body import Body, offset_at, walk, within_bounds
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.paths import NODE, PCOS, PD, PKAPPA, PS, PSIN, PTURN, PX, PY, START_S, Laid
from tuling_fsm.planning.reference import COS, NEED, SIN, S
from tuling_fsm.planning.solids import Solids, blocked_by_solids
from tuling_fsm.planning.walls import wall_at

NOTHING, END_OF_LINE, SOLID, BOUND, CURVATURE, WALL = range(6)
"""What a path is stopped by."""
_HARD_TO_STEER = 1.005


class Gaps(NamedTuple):
    """Distances (m) to keep: `wanted` and `slack` as in `ClearanceParameters` and `LateralParameters`, the rest
    `SpeedParameters`.
    """

    wanted: float
    slack: float
    line: float
    obstacle: float
    end: float


class Stop(NamedTuple):
    """Where to stand on a path (m, `inf` for nowhere), why, for which wall or solid, and where that touches the
    bumper (m).
    """

    at: float
    by: int
    row: int
    thing: float


@part
def _out_of_bounds(laid: Laid, lines: Lines, reached: float, until: int, body: Body, slack: float) -> int:
    """First point at which the body leaves the bounds, `until` for none before that.

    A car that starts beyond a bound may take its time to come back but not go farther out, and where a car on the
    reference itself would reach over a bound the same much is granted to all, on either side. Until a transition to
    another line has ended, at `reached`, the bounds are those of the line that the car comes from, as they say what
    may be crossed from there.
    """
    home, path = lines.home, laid.path
    home_line, home_points = lines.row[home], lines.points[home]
    line, points, k_home = laid.line, lines.points[laid.at], int(lines.start[home, NODE])
    carry_left, carry_right = np.inf, np.inf
    changing = laid.at != home
    for i in range(until):
        k = max(0, laid.first + i - 1)
        x, y, cos, sin = path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN]
        if changing and line[k, S] < reached:
            k_home = walk(home_line, home_points, k_home, x, y)
            offset = offset_at(home_line, k_home, x, y)
            turn = sin * home_line[k_home, COS] - cos * home_line[k_home, SIN]
            left, right = within_bounds(home_line, home_points, k_home, offset, turn, x, y, cos, sin, body)
            need = home_line[k_home, NEED]
        else:
            if changing:
                changing, carry_left, carry_right = False, 0.0, 0.0
            left, right = within_bounds(line, points, k, path[i, PD], path[i, PTURN], x, y, cos, sin, body)
            need = line[k, NEED]
        if i == 0:
            carry_left, carry_right = max(0.0, left), max(0.0, right)
        elif left > max(need, carry_left) + slack or right > max(need, carry_right) + slack:
            return i
        carry_left, carry_right = min(carry_left, max(0.0, left)), min(carry_right, max(0.0, right))
    return until


@part
def _block(
    laid: Laid, lines: Lines, solids: Solids, reached: float, body: Body, max_curvature: float, gaps: Gaps
) -> tuple[int, int, int]:
    """First point that cannot be driven, why, and the solid's row."""
    blocked, by = blocked_by_solids(laid, solids, body, gaps.wanted)
    why = SOLID if blocked < laid.points else NOTHING
    out = _out_of_bounds(laid, lines, reached, blocked, body, gaps.slack)
    if out < blocked:
        blocked, why, by = out, BOUND, -1
    most = max(max_curvature * _HARD_TO_STEER, abs(laid.path[0, PKAPPA]))
    for i in range(1, blocked):
        if abs(laid.path[i, PKAPPA]) > most:
            return i, CURVATURE, -1
    return blocked, why, by


@part
def _arc_at(laid: Laid, start_s: float, s: float) -> float:
    """Arc length of a path where it passes arc length `s` of its line, `inf` beyond its end, negative behind its
    start.
    """
    if s <= start_s:
        return s - start_s
    for i in range(1, laid.points):
        here = laid.line[laid.first + i - 1, S]
        if here >= s:
            before = start_s if i == 1 else laid.line[laid.first + i - 2, S]
            step = laid.path[i, PS] - laid.path[i - 1, PS]
            return float(laid.path[i - 1, PS] + (s - before) / max(1e-6, here - before) * step)
    return np.inf


@part
def find_stop(
    laid: Laid,
    lines: Lines,
    solids: Solids,
    walls: FloatArray,
    reached: float,
    v: float,
    body: Body,
    max_curvature: float,
    gaps: Gaps,
) -> Stop:
    """The nearest of all that a path has to end before; fills the path's `PROOM`.

    `reached` is the arc length of the line at which a change to it has ended, `v` the present speed. Before what
    blocks the path there is room to pull out, unless another stop lies within that room.
    """
    end = _arc_at(laid, lines.start[laid.at, START_S], lines.stop[laid.at])
    stop = Stop(end, END_OF_LINE, laid.at, end)
    for row in range(len(walls)):
        touch = wall_at(laid.path, laid.points, body, walls[row], v)
        if touch - gaps.line < stop.at:
            stop = Stop(touch - gaps.line, WALL, row, touch)
    blocked, why, by = _block(laid, lines, solids, reached, body, max_curvature, gaps)
    if why == NOTHING:
        return stop
    free = laid.path[max(0, blocked - 1), PS]
    if stop.at <= free - gaps.end:
        return stop
    return Stop(min(stop.at, free - gaps.obstacle), why, by, free)
