"""All candidates of a tick in one kernel: path, where it has to end, speed profile against the traffic, cost."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.planning.candidates import Offers, candidates
from tuling_fsm.planning.judge import Judgement
from tuling_fsm.planning.occupied import swept
from tuling_fsm.planning.path_speed import Case, best_speed, drive_among
from tuling_fsm.planning.paths import LANE, OFFSET, PS, REACHED, SECOND_PASS, START_D, Laid, lay_path, place_body
from tuling_fsm.planning.profile import STEP_S, Demand, envelope
from tuling_fsm.planning.reference import LIMIT
from tuling_fsm.planning.stopping import END_OF_LINE, WALL, Stop, find_stop
from tuling_fsm.planning.tick import Scratch, Tick

(
    COST_FIRST, COST_SECOND, COST_FULL, PROGRESS, STOP_AT, STOP_BY, STOP_ROW, THING_AT, BINDS, BLAME, DISTANCE, YIELDS,
    CONFLICT, END_X, END_Y, SPEEDS,
) = range(16)  # fmt: skip
"""Columns of a verdict: cost in the first and second pass of NOR-4 (`inf`: out of the question there) and with all
terms; progress along the route (m); a `Stop`; what binds at the start, who, how far ahead; whether it yields to a
moving object, and how badly it cuts in before one; where it is at the horizon; how many speeds were judged."""
VERDICT = 16
_COMMITTED = 0.6
"""Share of the room before others that a change of lanes once begun still asks for."""
_EVADING = 1.8
"""To pass before a crossing object by changing lanes takes this much more time to spare than in the lane of the
previous plan."""


@part
def _note(judged: Judgement, stop: Stop, binds: Demand, yields: bool, second_pass: bool, verdict: FloatArray) -> None:
    """Fill the verdict of a candidate, which is of the second pass alone or of both."""
    free = not yields and judged.conflict == 0
    verdict[COST_FIRST] = np.inf if second_pass else judged.first_pass
    verdict[COST_SECOND] = judged.full if free else np.inf
    verdict[COST_FULL], verdict[PROGRESS] = judged.full, judged.progress
    verdict[END_X], verdict[END_Y] = judged.x, judged.y
    verdict[STOP_AT], verdict[STOP_BY], verdict[STOP_ROW], verdict[THING_AT] = stop.at, stop.by, stop.row, stop.thing
    verdict[BINDS], verdict[BLAME], verdict[DISTANCE] = binds.reason, binds.blame, binds.distance
    verdict[YIELDS], verdict[CONFLICT] = 1.0 if yields else 0.0, judged.conflict


@part
def _evaluate(spec: FloatArray, tick: Tick, scratch: Scratch, verdict: FloatArray) -> int:
    """Plan one candidate; its path and rows stay in `scratch`. Returns the number of points of the path."""
    at, lines, start, d = int(spec[LANE]), tick.lines, tick.start, tick.drive
    span = len(scratch.rows) * STEP_S
    top = min(d.max_speed, start.v + d.accel * span)
    reach = top * span + 0.5 * top * top / d.decel + tick.body.front + tick.gaps.obstacle
    line, path = lines.row[at], scratch.path
    points, first = lay_path(spec, line, lines.points[at], lines.start[at], start.pose, reach, path)
    place_body(path, points, tick.body.middle, scratch.places)
    laid = Laid(path, points, first, line, at, scratch.places)
    stop = find_stop(
        laid, lines, tick.solids, tick.walls, spec[REACHED], start.v, tick.body, d.max_curvature, tick.gaps
    )
    for i in range(laid.points):
        scratch.limit[i] = min(tick.speed_limit, laid.line[max(0, laid.first + i - 1), LIMIT])
    envelope(laid, scratch.limit, d, scratch.speed, scratch.bound, scratch.level)
    sidestep = abs(spec[OFFSET] - lines.start[at, START_D])
    stays = lines.shift[at] == tick.weights.previous_shift
    ease, lead = (_COMMITTED, tick.lead) if stays else (1.0, _EVADING * tick.lead)
    known = stop.by in (WALL, END_OF_LINE)
    slack = 0.4 * tick.gaps.line if known else tick.gaps.obstacle - tick.gaps.end
    target = (min(stop.at, laid.path[laid.points - 1, PS]), slack)
    case = Case(laid, swept(laid), stop, target, spec[OFFSET], sidestep, lead, ease)
    driven = drive_among(
        laid, tick.movers, case.covered, target, (start.v, start.a), sidestep, lead, ease, tick.body, d, scratch
    )
    judged, binds, verdict[SPEEDS] = best_speed(case, tick, driven, scratch)
    _note(judged, stop, binds, driven.yields, spec[SECOND_PASS] > 0.0, verdict)
    return int(laid.points)


@part
def _shorter(s: Scratch, rows: int) -> Scratch:
    """The same scratch for trajectories of fewer rows."""
    return Scratch(
        s.path, s.places, s.limit, s.speed, s.bound, s.level, s.rows[:rows], s.slower, s.poses, s.traffic, s.farthest
    )


@kernel
def evaluate_all(specs: FloatArray, tick: Tick, scratch: Scratch, verdicts: FloatArray) -> int:
    """Plan every candidate (C, SPEC) and fill the verdicts (C, VERDICT).

    Path and rows of the last one stay in `scratch`; returns the number of points of its path.
    """
    points = 0
    for c in range(len(specs)):
        points = _evaluate(specs[c], tick, scratch, verdicts[c])
    return points


@part
def _choose(verdicts: FloatArray, first_pass_only: bool) -> int:
    """The winner of the first pass, or that of the second where its whole cost is less."""
    best = int(np.argmin(verdicts[:, COST_FIRST]))
    if first_pass_only:
        return best
    second = int(np.argmin(verdicts[:, COST_SECOND]))
    return second if verdicts[second, COST_SECOND] < verdicts[best, COST_FULL] else best


@kernel
def plan_best(
    tick: Tick, offers: Offers, rows: int, scratch: Scratch, specs: FloatArray, verdicts: FloatArray
) -> tuple[int, int, int]:
    """Fill `specs` (MAX_CANDIDATES, SPEC) and `verdicts` (MAX_CANDIDATES, VERDICT) with the candidates of a tick, each
    planned for `rows` rows; then plan the best one for as many as `scratch` has.

    Returns how many there are, the row of the best, and the number of points of its path.
    """
    count = candidates(tick.lines, tick.solids, tick.movers, offers, tick.body, specs)
    best, points = -1, 0
    # One loop with the best once more at its end, for each call of what is evaluated here takes seconds to compile.
    for c in range(count + 1):
        if c == count:
            best = _choose(verdicts[:count], offers.first_pass_only)
        at, until = (best, len(scratch.rows)) if c == count else (c, rows)
        points = _evaluate(specs[at], tick, _shorter(scratch, until), verdicts[at])
    return count, best, points
