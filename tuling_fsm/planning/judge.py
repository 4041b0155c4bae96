"""What a candidate costs, in metres of progress (NOR-5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import part
from tuling_fsm.planning.body import Body, walk
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.occupied import Swept
from tuling_fsm.planning.paths import NODE, PCOS, PD, PKAPPA, PROOM, PS, PSIN, PX, PY, START_S, Laid
from tuling_fsm.planning.profile import STEP_S, seek
from tuling_fsm.planning.reference import COS, SIN, S, X, Y
from tuling_fsm.planning.stopping import BOUND, CURVATURE, SOLID, Stop
from tuling_fsm.planning.yielding import CROWDS, CUTS_OFF, least_gap

MEMORY_S = 2.0
"""The previous plan is remembered as its position this far ahead."""
_BESIDE = 1.0
"""The way over from another lane costs no more than this offset, squared (m^2)."""
_TOO_FAST, _EXACT = 10.0, 0.2
"""Metres of progress that each second costs for each m/s above the envelope, if it is more than the other (m/s)."""
_CROWDING, _COLLIDING, _UNDRIVABLE = 15.0, 100.0, 1000.0


class Weights(NamedTuple):
    """`ChoiceParameters`, the gap that is wanted, how fast (rad/s) the wheels may turn at the most for a plan to be
    sent (SAF-2), and the previous plan: its lane, and where it is after `MEMORY_S` (`inf`: none).
    """

    horizon: float
    lane: float
    switch: float
    shift: float
    offset: float
    jerk: float
    clearance: float
    lane_end: float
    foresight: float
    wanted: float
    steer_rate: float
    previous_shift: int
    previous_x: float
    previous_y: float


class Judgement(NamedTuple):
    """Cost with all terms and without the gaps to moving objects, what of it is for comfort, progress along the route
    (m), how badly it cuts in, and where it is at the horizon (m, `map`).
    """

    full: float
    first_pass: float
    comfort: float
    progress: float
    conflict: int
    x: float
    y: float


@part
def _where(laid: Laid, s: float) -> tuple[float, float, int]:
    """Position at an arc length, and the point before it."""
    i = seek(laid.path, laid.points, 0, s)
    u = s - laid.path[i, PS]
    return laid.path[i, PX] + u * laid.path[i, PCOS], laid.path[i, PY] + u * laid.path[i, PSIN], i


@part
def _progress(laid: Laid, lines: Lines, x: float, y: float, i: int) -> float:
    """How far along the route a position at point `i` is from the car's."""
    route, begun = lines.row[lines.route], lines.start[lines.route]
    hint = int(begun[NODE]) + max(0, laid.first + i - 1 - int(lines.start[laid.at, NODE]))
    k = walk(route, lines.points[lines.route], hint, x, y)
    along = (x - route[k, X]) * route[k, COS] + (y - route[k, Y]) * route[k, SIN]
    return float(route[k, S] + along - begun[START_S])


@part
def _steered(laid: Laid, wheelbase: float, s: float, at: int) -> float:
    """Steering angle (rad) at an arc length behind point `at`."""
    path, after = laid.path, min(at + 1, laid.points - 1)
    share = (s - path[at, PS]) / max(0.05, path[after, PS] - path[at, PS])
    return elementary.atan(wheelbase * (path[at, PKAPPA] + share * (path[after, PKAPPA] - path[at, PKAPPA])))


@part
def _comfort(laid: Laid, speed: FloatArray, rows: FloatArray, until: int, wheelbase: float, w: Weights) -> float:
    """Cost of lateral jerk, of driving beside the line, and of being faster than the envelope allows, summed over
    time; so fast that the wheels cannot be turned in time is out of the question where there is another way.
    """
    path, cost, at = laid.path, 0.0, 0
    for i in range(until):
        at = seek(path, laid.points, at, rows[i, 0])
        after = min(at + 1, laid.points - 1)
        step = max(0.05, path[after, PS] - path[at, PS])
        jerk = rows[i, 1] ** 3 * (path[after, PKAPPA] - path[at, PKAPPA]) / step
        cost += (w.jerk * jerk * jerk + w.offset * min(path[at, PD] ** 2, _BESIDE)) * STEP_S
        over = rows[i, 1] - speed[at] - _EXACT
        if over <= 0.0:
            continue
        cost += _TOO_FAST * over * STEP_S
        onward = seek(path, laid.points, at, rows[i + 1, 0])
        turn = _steered(laid, wheelbase, rows[i + 1, 0], onward) - _steered(laid, wheelbase, rows[i, 0], at)
        cost += _UNDRIVABLE if abs(turn) > w.steer_rate * STEP_S else 0.0
    return float(cost)


@part
def _prospect(laid: Laid, lines: Lines, stop: Stop, w: Weights) -> float:
    """Cost of a lane beside the route's, of one that ends or is blocked, and of changing one's mind."""
    ahead = lines.ends[laid.at] - lines.start[laid.at, START_S]
    cost = w.lane * abs(lines.shift[laid.at]) + w.lane_end * max(0.0, 1.0 - max(0.0, ahead) / w.foresight)
    if stop.by in (SOLID, BOUND, CURVATURE):
        cost += w.lane_end * max(0.0, 1.0 - max(0.0, stop.thing) / w.foresight)
    return float(cost) + (w.switch if lines.shift[laid.at] != w.previous_shift else 0.0)


@part
def _aside(laid: Laid, rows: FloatArray, w: Weights) -> float:
    """Distance (m) across the path from where the previous plan would be, 0 without one."""
    if w.previous_x == np.inf:
        return 0.0
    x, y, i = _where(laid, rows[min(len(rows) - 1, round(MEMORY_S / STEP_S)), 0])
    cos, sin = laid.path[i, PCOS], laid.path[i, PSIN]
    return float((w.previous_y - y) * cos - (w.previous_x - x) * sin)


@part
def easier(judged: Judgement, chosen: Judgement, saved: float) -> Judgement:
    """A path that is driven as `chosen` and costs so much less than judged."""
    return Judgement(
        judged.full - saved,
        judged.first_pass - saved,
        chosen.comfort,
        chosen.progress,
        judged.conflict,
        chosen.x,
        chosen.y,
    )


@part
def until_row(rows: FloatArray, w: Weights) -> int:
    """The row at the horizon."""
    return min(len(rows) - 1, round(w.horizon / STEP_S))


@part
def judge(
    laid: Laid,
    lines: Lines,
    movers: Movers,
    covered: Swept,
    speed: FloatArray,
    rows: FloatArray,
    poses: FloatArray,
    stop: Stop,
    offset: float,
    sidestep: float,
    cuts_in: int,
    body: Body,
    wheelbase: float,
    w: Weights,
) -> Judgement:
    """Judge a path to an end offset with its envelope and profile; `poses` is scratch.

    Gaps to moving objects count in the second pass alone.
    """
    until = until_row(rows, w)
    x, y, i = _where(laid, rows[until, 0])
    progress = _progress(laid, lines, x, y, i)
    comfort = _comfort(laid, speed, rows, until, wheelbase, w)
    cost = comfort + w.offset * min(offset * offset, _BESIDE) - progress
    cost += _prospect(laid, lines, stop, w) + w.shift * min(_aside(laid, rows, w) ** 2, 4.0)
    room = w.wanted
    for j in range(min(laid.points, i + 1)):
        room = min(room, laid.path[j, PROOM])
    cost += w.clearance * (1.0 - max(0.0, room) / w.wanted) ** 2
    gap, _ = least_gap(laid, movers, covered, body, rows, poses, w.wanted, sidestep)
    conflict = CUTS_OFF if gap < 0.0 else cuts_in
    cost += _CROWDING * (conflict == CROWDS) + _COLLIDING * (conflict == CUTS_OFF)
    full = cost + w.clearance * (1.0 - max(0.0, gap) / w.wanted) ** 2
    return Judgement(full, cost, comfort, progress, conflict, x, y)
