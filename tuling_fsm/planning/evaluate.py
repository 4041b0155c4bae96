"""All candidates of a tick in one kernel: path, bounds, static things, speed profile against the traffic, cost."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning import profile
from tuling_fsm.core.scene import PREDICTION_STEPS
from tuling_fsm.planning.body import Body, offset_at, walk, within_bounds
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.movers import CROWDS, CUTS_OFF, Movers, follow_leaders, least_gap, yield_to_others
from tuling_fsm.planning.paths import (
    BACK,
    LANE,
    LEFT_AGAIN,
    OFFSET,
    PATH,
    PCOS,
    PD,
    PKAPPA,
    PROOM,
    PS,
    PSIN,
    PTURN,
    PX,
    PY,
    REACHED,
    SECOND_PASS,
    START_D,
    START_S,
    lay_path,
)
from tuling_fsm.planning.profile import STEP_S, Demand, Drive, Traffic, envelope, no_traffic, roll_out
from tuling_fsm.planning.reference import COS, LIMIT, MAX_POINTS, NEED, SIN, S, X, Y
from tuling_fsm.planning.solids import IntArray, Solids, blocked_by_solids
from tuling_fsm.planning.walls import wall_at

NOTHING, END_OF_LINE, SOLID, BOUND, CURVATURE, WALL = range(6)
"""What a path is stopped by."""

(COST_FIRST, COST_SECOND, COST_FULL, PROGRESS, STOP_AT, STOP_BY, STOP_ROW, THING_AT, BINDS, BLAME, DISTANCE, YIELDS, CONFLICT, END_X,
 END_Y) = range(15)  # fmt: skip
"""Columns of a verdict: cost in the first and second pass of NOR-4 (`inf`: out of the question there) and with all terms; progress
along the route (m); where the profile stands, why, for which wall or solid, and where that thing touches the front bumper; what binds
at the start, who, how far ahead; whether it yields to a moving object, or meets one all the same; where it is at the horizon."""
VERDICT = 15


class Start(NamedTuple):
    """Pose (x, y, heading, curvature), speed and acceleration that all candidates start from."""

    pose: tuple[float, float, float, float]
    v: float
    a: float


class Weights(NamedTuple):
    """`ChoiceParameters`, gaps, and the previous plan: its lane, and where it is after `_MEMORY_S`."""

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
    slack: float
    line_gap: float
    obstacle_gap: float
    end_gap: float
    pass_ahead: float
    speed_limit: float
    previous_shift: int
    previous_x: float
    previous_y: float


class Scratch(NamedTuple):
    """Arrays that every candidate uses anew."""

    path: FloatArray
    limit: FloatArray
    speed: FloatArray
    bound: FloatArray
    rate: FloatArray
    spans: FloatArray
    free: FloatArray
    rows: FloatArray
    none: Traffic
    traffic: Traffic


MEMORY_S = 2.0
_HARD_TO_STEER = 1.005
_TOO_FAST, _EXACT = 10.0, 0.2
"""Metres of progress that each second costs for each m/s above the envelope, if it is more than the other (m/s)."""
_EVADING = 1.8
"""To pass before a crossing object by changing lanes takes this much more time to spare than in the lane of the previous plan."""
_CROWDING, _COLLIDING = 15.0, 50.0
_COMMITTED = 0.6
"""Share of the room before others that a change of lanes once begun still asks for."""
_BESIDE = 1.0
"""The way over from another lane costs no more than this offset, squared (m^2)."""


def new_scratch(rows: int) -> Scratch:
    """Scratch for trajectories of `rows` rows."""
    n = MAX_POINTS + 1
    return Scratch(
        np.zeros((n, PATH)), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros((PREDICTION_STEPS, 2)),
        np.zeros((rows, 3)), np.zeros((rows, 3)), no_traffic(), no_traffic(),
    )  # fmt: skip


@njit(cache=True)
def _out_of_bounds(
    spec: FloatArray, lines: Lines, path: FloatArray, n: int, first: int, body: Body, slack: float
) -> int:
    """First point at which the body leaves the bounds, `n` for none.

    A car that starts beyond a bound may take its time to come back but not go farther out, and where a car on the reference itself
    would reach over a bound the same much is granted to all, on either side. Until a transition to another line has ended the bounds are those of the
    line that the car comes from, as they say what may be crossed from there.
    """
    at, home = int(spec[LANE]), lines.home
    k_home = int(lines.start[home, 0])
    carry_left, carry_right = np.inf, np.inf
    changing = at != home
    for i in range(n):
        k = max(0, first + i - 1)
        line, count, offset, turn = lines.row[at], lines.count[at], path[i, PD], path[i, PTURN]
        x, y, cos, sin = path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN]
        if changing and line[k, S] < spec[REACHED]:
            line, count = lines.row[home], lines.count[home]
            k_home = walk(line, count, k_home, x, y)
            k, offset = k_home, offset_at(line, k_home, x, y)
            turn = sin * line[k, COS] - cos * line[k, SIN]
        elif changing:
            changing, carry_left, carry_right = False, 0.0, 0.0
        left, right = within_bounds(line, count, k, offset, turn, x, y, cos, sin, body)
        if i == 0:
            carry_left, carry_right = max(0.0, left), max(0.0, right)
        elif left > max(line[k, NEED], carry_left) + slack or right > max(line[k, NEED], carry_right) + slack:
            return i
        carry_left, carry_right = min(carry_left, max(0.0, left)), min(carry_right, max(0.0, right))
    return n


@njit(cache=True)
def _arc_at(line: FloatArray, path: FloatArray, n: int, first: int, start_s: float, s: float) -> float:
    """Arc length of a path where it passes arc length `s` of its line, `inf` beyond its end, negative behind its start."""
    if s <= start_s:
        return s - start_s
    for i in range(1, n):
        here = line[first + i - 1, S]
        if here >= s:
            before = start_s if i == 1 else line[first + i - 2, S]
            return float(path[i - 1, PS] + (s - before) / max(1e-6, here - before) * (path[i, PS] - path[i - 1, PS]))
    return np.inf


@njit(cache=True)
def _block(
    spec: FloatArray,
    lines: Lines,
    solids: Solids,
    path: FloatArray,
    n: int,
    first: int,
    body: Body,
    d: Drive,
    w: Weights,
) -> tuple[int, int, int]:
    """First point that cannot be driven, why, and the solid's row."""
    blocked, by = blocked_by_solids(path, n, first, int(spec[LANE]), solids, body, w.wanted)
    why = SOLID if blocked < n else NOTHING
    out = _out_of_bounds(spec, lines, path, blocked, first, body, w.slack)
    if out < blocked:
        blocked, why, by = out, BOUND, -1
    for i in range(1, blocked):
        if abs(path[i, PKAPPA]) > max(d.max_curvature * _HARD_TO_STEER, abs(path[0, PKAPPA])):
            return i, CURVATURE, -1
    return blocked, why, by


@njit(cache=True)
def _stop_place(
    spec: FloatArray, lines: Lines, walls: FloatArray, path: FloatArray, n: int, first: int, block: tuple[int, int, int], body: Body,
    v: float, w: Weights, verdict: FloatArray,
) -> None:  # fmt: skip
    """Fill `STOP_*` and `THING_AT`: the nearest of the line's end, walls, and what blocks the path."""
    at = int(spec[LANE])
    end = _arc_at(lines.row[at], path, n, first, lines.start[at, START_S], lines.stop[at])
    verdict[STOP_AT], verdict[STOP_BY], verdict[STOP_ROW], verdict[THING_AT] = end, END_OF_LINE, at, end
    for row in range(len(walls)):
        touch = wall_at(path, n, body, walls[row], v)
        if touch - w.line_gap < verdict[STOP_AT]:
            verdict[STOP_AT], verdict[STOP_BY], verdict[STOP_ROW], verdict[THING_AT] = (
                touch - w.line_gap,
                WALL,
                row,
                touch,
            )
    blocked, why, by = block
    if why == NOTHING:
        return
    free = path[max(0, blocked - 1), PS]
    gap = w.obstacle_gap
    if free - gap < verdict[STOP_AT]:
        nearest = free - w.end_gap
        if verdict[STOP_AT] <= nearest and verdict[STOP_AT] > free - gap:
            return
        verdict[STOP_AT], verdict[STOP_BY], verdict[STOP_ROW], verdict[THING_AT] = free - gap, why, by, free


@njit(cache=True)
def _where(path: FloatArray, n: int, s: float) -> tuple[float, float, int]:
    """Position at an arc length, and the point before it."""
    i = profile.seek(path, n, 0, s)
    u = s - path[i, PS]
    return path[i, PX] + u * path[i, PCOS], path[i, PY] + u * path[i, PSIN], i


@njit(cache=True)
def _comfort(path: FloatArray, n: int, speed: FloatArray, rows: FloatArray, until: int, w: Weights) -> float:
    """Cost of lateral jerk, of driving beside the line, and of being faster than the envelope allows, summed over time."""
    cost, at = 0.0, 0
    for i in range(until):
        at = profile.seek(path, n, at, rows[i, 0])
        after = min(at + 1, n - 1)
        step = max(0.05, path[after, PS] - path[at, PS])
        jerk = rows[i, 1] ** 3 * (path[after, PKAPPA] - path[at, PKAPPA]) / step
        cost += (w.jerk * jerk * jerk + w.offset * min(path[at, PD] ** 2, _BESIDE)) * STEP_S
        cost += _TOO_FAST * max(0.0, rows[i, 1] - speed[at] - _EXACT) * STEP_S
    return cost


@njit(cache=True)
def _judge(
    spec: FloatArray, lines: Lines, movers: Movers, path: FloatArray, n: int, first: int, speed: FloatArray, body: Body, w: Weights,
    rows: FloatArray, sidestep: float, verdict: FloatArray,
) -> None:  # fmt: skip
    """Fill the costs, in metres of progress."""
    at, until = int(spec[LANE]), min(len(rows) - 1, round(w.horizon / STEP_S))
    x, y, i = _where(path, n, rows[until, 0])
    verdict[END_X], verdict[END_Y] = x, y
    route = lines.row[lines.route]
    begun = lines.start[lines.route, START_S]
    k = walk(
        route,
        lines.count[lines.route],
        int(lines.start[lines.route, 0]) + max(0, first + i - 1 - int(lines.start[at, 0])),
        x,
        y,
    )
    along = route[k, S] + (x - route[k, X]) * route[k, COS] + (y - route[k, Y]) * route[k, SIN]
    verdict[PROGRESS] = along - begun
    ahead = lines.ends[at] - lines.start[at, START_S]
    cost = -verdict[PROGRESS] + _comfort(path, n, speed, rows, until, w) + w.offset * min(spec[OFFSET] ** 2, _BESIDE)
    cost += w.lane * abs(lines.shift[at]) + w.lane_end * max(0.0, 1.0 - max(0.0, ahead) / w.foresight)
    if verdict[STOP_BY] == SOLID or verdict[STOP_BY] == BOUND or verdict[STOP_BY] == CURVATURE:
        cost += w.lane_end * max(0.0, 1.0 - max(0.0, verdict[THING_AT]) / w.foresight)
    if lines.shift[at] != w.previous_shift:
        cost += w.switch
    if w.previous_x < np.inf:
        px, py, _ = _where(path, n, rows[min(len(rows) - 1, round(MEMORY_S / STEP_S)), 0])
        j = profile.seek(path, n, 0, rows[min(len(rows) - 1, round(MEMORY_S / STEP_S)), 0])
        aside = (w.previous_y - py) * path[j, PCOS] - (w.previous_x - px) * path[j, PSIN]
        cost += w.shift * min(aside * aside, 4.0)
    room = w.wanted
    for j in range(min(n, i + 1)):
        room = min(room, path[j, PROOM])
    cost += w.clearance * (1.0 - max(0.0, room) / w.wanted) ** 2
    gap, _ = least_gap(path, n, at, movers, body, rows, w.wanted, sidestep)
    verdict[CONFLICT] = CUTS_OFF if gap < 0.0 else verdict[CONFLICT]
    cost += _CROWDING if verdict[CONFLICT] == CROWDS else _COLLIDING * verdict[CONFLICT]
    verdict[COST_FULL] = cost + w.clearance * (1.0 - max(0.0, gap) / w.wanted) ** 2
    verdict[COST_FIRST] = np.inf if spec[SECOND_PASS] > 0.0 else cost
    verdict[COST_SECOND] = np.inf if verdict[YIELDS] > 0.0 or verdict[CONFLICT] > 0.0 else verdict[COST_FULL]


@njit(cache=True)
def drive_among(
    path: FloatArray, n: int, first: int, line: FloatArray, at: int, movers: Movers, stop: tuple[float, float], motion: tuple[float, float],
    sidestep: float, lead: float, ease: float, body: Body, d: Drive, scratch: Scratch,
) -> tuple[Demand, bool, int]:  # fmt: skip
    """Roll out a path with its envelope in `scratch`: freely, then behind leaders, then yielding to all others that come first.

    `stop` is the arc length to stand at and the slack beyond it (m), `motion` speed and acceleration at the start. Returns what binds at
    the start, whether the car yields to anything, and how badly it cuts in before others.
    """
    s, rows = scratch, scratch.rows
    binds = roll_out(path, n, s.speed, s.bound, stop[0], stop[1], s.none, motion[0], motion[1], d, rows)
    if len(movers.id) == 0:
        return binds, False, 0
    others = np.empty(len(movers.id), np.int64)
    leaders, more = follow_leaders(path, n, first, line, at, movers, body, rows, sidestep, s.spans, s.traffic, others)
    if leaders > 0:
        binds = roll_out(path, n, s.speed, s.bound, stop[0], stop[1], s.traffic, motion[0], motion[1], d, rows)
    if more == 0:
        return binds, leaders > 0, 0
    braking = 0.5 * motion[0] ** 2 / d.decel
    yielded, cuts_in = yield_to_others(
        path, n, first, line, at, movers, body, rows, sidestep, s.spans, s.traffic, others[:more], lead, ease, braking
    )
    if yielded > 0:
        binds = roll_out(path, n, s.speed, s.bound, stop[0], stop[1], s.traffic, motion[0], motion[1], d, rows)
    return binds, leaders + yielded > 0, cuts_in


@njit(cache=True)
def evaluate(
    spec: FloatArray, lines: Lines, solids: Solids, movers: Movers, walls: FloatArray, start: Start, body: Body, d: Drive, w: Weights,
    scratch: Scratch, verdict: FloatArray,
) -> int:  # fmt: skip
    """Plan one candidate; its path and rows stay in `scratch`. Returns the number of points of the path."""
    at, path = int(spec[LANE]), scratch.path
    top = min(d.max_speed, max(start.v, 0.0) + d.accel * len(scratch.rows) * STEP_S)
    reach = top * len(scratch.rows) * STEP_S + 0.5 * top * top / d.decel + body.front + w.obstacle_gap
    n, first = lay_path(spec, lines.row[at], lines.count[at], lines.start[at], start.pose, reach, path)
    block = _block(spec, lines, solids, path, n, first, body, d, w)
    _stop_place(spec, lines, walls, path, n, first, block, body, start.v, w, verdict)
    blocked = verdict[STOP_BY] != WALL and verdict[STOP_BY] != END_OF_LINE
    slack = w.obstacle_gap - w.end_gap if blocked else 0.4 * w.line_gap
    for i in range(n):
        scratch.limit[i] = min(w.speed_limit, lines.row[at, max(0, first + i - 1), LIMIT])
    envelope(path, n, scratch.limit, d, scratch.speed, scratch.bound, scratch.rate)
    sidestep = abs(spec[OFFSET] - lines.start[at, START_D])
    stays = lines.shift[at] == w.previous_shift
    ease, lead = (_COMMITTED, w.pass_ahead) if stays else (1.0, _EVADING * w.pass_ahead)
    binds, yields, cuts_in = drive_among(
        path, n, first, lines.row[at], at, movers, (min(verdict[STOP_AT], path[n - 1, PS]), slack), (start.v, start.a), sidestep,
        lead, ease, body, d, scratch,
    )  # fmt: skip
    verdict[BINDS], verdict[BLAME], verdict[DISTANCE] = binds.reason, binds.blame, binds.distance
    verdict[YIELDS], verdict[CONFLICT] = 1.0 if yields else 0.0, float(cuts_in)
    _judge(spec, lines, movers, path, n, first, scratch.speed, body, w, scratch.rows, sidestep, verdict)
    return n


@njit(cache=True)
def evaluate_all(
    specs: FloatArray, lines: Lines, solids: Solids, movers: Movers, walls: FloatArray, start: Start, body: Body, d: Drive, w: Weights,
    scratch: Scratch, verdicts: FloatArray,
) -> None:  # fmt: skip
    """Plan every candidate (C, SPEC) and fill the verdicts (C, VERDICT)."""
    for c in range(len(specs)):
        evaluate(specs[c], lines, solids, movers, walls, start, body, d, w, scratch, verdicts[c])
