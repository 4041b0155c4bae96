"""What a candidate costs, in metres of progress (NOR-5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.lanes.path_end import BOUND, CURVATURE, SOLID, PathEnd
from tuling_fsm.planning.obstacles.moving import MovingObstacles
from tuling_fsm.planning.obstacles.occupancy import SweptPath
from tuling_fsm.planning.paths.frenet_path import NODE, PCOS, PD, PKAPPA, PROOM, PS, PSIN, PX, PY, START_S, FrenetPath
from tuling_fsm.planning.paths.reference_line import COS, SIN, S, X, Y, walk
from tuling_fsm.planning.speed.roll_out import seek
from tuling_fsm.planning.speed.yielding import CROWDS, CUTS_OFF, GapAcceptance, least_gap

MEMORY_S = 2.0
"""The previous plan is remembered as its position this far ahead."""
_BESIDE = 1.0
"""The way over from another lane costs no more than this offset, squared (m^2)."""
_SWINGING, _LITTLE = 2.0, 0.4
"""Metres of progress that each second costs for each metre by which a path swings out beyond where it comes from and
leads to, if it is more than the other (m): out of a tight turn the car comes back to its line soon.
"""
_TOO_FAST, _EXACT = 10.0, 0.2
"""Metres of progress that each second costs for each m/s above the envelope, if it is more than the other (m/s)."""
_EARLY = 2.0
"""A window's lane counts from so many times as far as the end of a lane: a gap may have to be waited for."""
_CROWDING, _COLLIDING, _UNDRIVABLE = 15.0, 100.0, 1000.0


class CostWeights(NamedTuple):
    """`ChoiceParameters`, the gap that is wanted, the wheelbase (m), how fast (rad/s) the wheels may turn at the most
    for a plan to be sent (SAF-2), and the previous plan: its lane, and where it is after `MEMORY_S` (`inf`: none).
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
    window: float
    wanted: float
    wheelbase: float
    steer_rate: float
    previous_shift: int
    previous_x: float
    previous_y: float


class CandidateCost(NamedTuple):
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


class PathCandidate(NamedTuple):
    """A path with all that it covers, where it has to end, and its end offset (m)."""

    swept: SweptPath
    stop: PathEnd
    offset: float


@inlined_kernel
def _position_at(frenet: FrenetPath, s: float) -> tuple[float, float, int]:
    """Position at an arc length, and the point before it."""
    i = seek(frenet.path, frenet.points, 0, s)
    u = s - frenet.path[i, PS]
    return frenet.path[i, PX] + u * frenet.path[i, PCOS], frenet.path[i, PY] + u * frenet.path[i, PSIN], i


@inlined_kernel
def _progress(frenet: FrenetPath, lines: LaneLines, x: float, y: float, i: int) -> float:
    """How far along the route a position at point `i` is from the car's."""
    route, begun = lines.row[lines.route], lines.start[lines.route]
    hint = int(begun[NODE]) + max(0, frenet.first + i - 1 - int(lines.start[frenet.at, NODE]))
    k = walk(route, lines.points[lines.route], hint, x, y)
    along = (x - route[k, X]) * route[k, COS] + (y - route[k, Y]) * route[k, SIN]
    return float(route[k, S] + along - begun[START_S])


@inlined_kernel
def _steered(frenet: FrenetPath, wheelbase: float, s: float, at: int) -> float:
    """Steering angle (rad) at an arc length behind point `at`."""
    path, after = frenet.path, min(at + 1, frenet.points - 1)
    share = (s - path[at, PS]) / max(0.05, path[after, PS] - path[at, PS])
    return elementary.atan(wheelbase * (path[at, PKAPPA] + share * (path[after, PKAPPA] - path[at, PKAPPA])))


@inlined_kernel
def _comfort(
    frenet: FrenetPath, offset: float, speed: FloatArray, rows: FloatArray, until: int, w: CostWeights
) -> float:
    """Cost of lateral jerk, of driving beside the line, of swinging out on the way to an `offset` (m), and of being
    faster than the envelope allows, summed over time; so fast that the wheels cannot be turned in time is out of the
    question where there is another way.
    """
    path, cost, at = frenet.path, 0.0, 0
    low, high = min(path[0, PD], offset, 0.0) - _LITTLE, max(path[0, PD], offset, 0.0) + _LITTLE
    for i in range(until):
        at = seek(path, frenet.points, at, rows[i, 0])
        after = min(at + 1, frenet.points - 1)
        step = max(0.05, path[after, PS] - path[at, PS])
        jerk = rows[i, 1] ** 3 * (path[after, PKAPPA] - path[at, PKAPPA]) / step
        cost += (w.jerk * jerk * jerk + w.offset * min(path[at, PD] ** 2, _BESIDE)) * STEP_S
        cost += _SWINGING * max(0.0, path[at, PD] - high, low - path[at, PD]) * STEP_S
        over = rows[i, 1] - speed[at] - _EXACT
        if over <= 0.0:
            continue
        cost += _TOO_FAST * over * STEP_S
        onward = seek(path, frenet.points, at, rows[i + 1, 0])
        turn = _steered(frenet, w.wheelbase, rows[i + 1, 0], onward) - _steered(frenet, w.wheelbase, rows[i, 0], at)
        cost += _UNDRIVABLE if abs(turn) > w.steer_rate * STEP_S else 0.0
    return float(cost)


@inlined_kernel
def _prospect(frenet: FrenetPath, lines: LaneLines, stop: PathEnd, w: CostWeights) -> float:
    """Cost of a lane beside the route's, of one that ends or is blocked, and of switching lanes.

    What is left of a lane ends where the line to the route's side becomes solid (NOR-6).
    """
    ahead = lines.leave[frenet.at] - lines.start[frenet.at, START_S]
    cost = w.lane * abs(lines.shift[frenet.at]) + w.lane_end * max(0.0, 1.0 - max(0.0, ahead) / w.foresight)
    window = lines.window[frenet.at] - lines.start[frenet.at, START_S]
    cost += w.window * max(0.0, 1.0 - max(0.0, window) / (_EARLY * w.foresight))
    if stop.by in (SOLID, BOUND, CURVATURE):
        cost += w.lane_end * max(0.0, 1.0 - max(0.0, stop.thing) / w.foresight)
    return float(cost) + (w.switch if lines.shift[frenet.at] != w.previous_shift else 0.0)


@inlined_kernel
def _lateral_shift(frenet: FrenetPath, rows: FloatArray, w: CostWeights) -> float:
    """Distance (m) across the path from where the previous plan would be, 0 without one."""
    if w.previous_x == np.inf:
        return 0.0
    x, y, i = _position_at(frenet, rows[min(len(rows) - 1, round(MEMORY_S / STEP_S)), 0])
    cos, sin = frenet.path[i, PCOS], frenet.path[i, PSIN]
    return float((w.previous_y - y) * cos - (w.previous_x - x) * sin)


@inlined_kernel
def with_savings(judged: CandidateCost, chosen: CandidateCost, saved: float) -> CandidateCost:
    """A path that is driven as `chosen` and costs so much less than judged."""
    return CandidateCost(
        full=judged.full - saved,
        first_pass=judged.first_pass - saved,
        comfort=chosen.comfort,
        progress=chosen.progress,
        conflict=judged.conflict,
        x=chosen.x,
        y=chosen.y,
    )


@inlined_kernel
def until_row(rows: FloatArray, w: CostWeights) -> int:
    """The row at the horizon."""
    return min(len(rows) - 1, round(w.horizon / STEP_S))


@inlined_kernel
def candidate_cost(
    candidate: PathCandidate,
    lines: LaneLines,
    moving: MovingObstacles,
    speed: FloatArray,
    rows: FloatArray,
    cuts_in: int,
    accepted: GapAcceptance,
    w: CostWeights,
    poses: FloatArray,
) -> CandidateCost:
    """Judge a candidate driven at `rows` (T, 3) below the `speed` (n,) of its envelope; `cuts_in` as of
    `yield_to_conflicts` with the gaps that are `accepted`, `poses` is scratch.

    Gaps to moving objects count in the second pass alone.
    """
    frenet, offset = candidate.swept.frenet, candidate.offset
    until = until_row(rows, w)
    x, y, i = _position_at(frenet, rows[until, 0])
    progress = _progress(frenet, lines, x, y, i)
    comfort = _comfort(frenet, offset, speed, rows, until, w)
    cost = comfort + w.offset * min(offset * offset, _BESIDE) - progress
    cost += _prospect(frenet, lines, candidate.stop, w) + w.shift * min(_lateral_shift(frenet, rows, w) ** 2, 4.0)
    room = w.wanted
    for j in range(min(frenet.points, i + 1)):
        room = min(room, frenet.path[j, PROOM])
    cost += w.clearance * (1.0 - max(0.0, room) / w.wanted) ** 2
    gap, _ = least_gap(candidate.swept, moving, rows, w.wanted, accepted, poses)
    conflict = CUTS_OFF if gap < 0.0 else cuts_in
    cost += _CROWDING * (conflict == CROWDS) + _COLLIDING * (conflict == CUTS_OFF)
    full = cost + w.clearance * (1.0 - max(0.0, gap) / w.wanted) ** 2
    return CandidateCost(full, cost, comfort, progress, conflict, x, y)
