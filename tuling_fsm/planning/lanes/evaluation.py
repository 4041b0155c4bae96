"""All candidates of a tick in one kernel: path, where it has to end, speed profile against the traffic, cost."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.lanes.context import EvaluationContext
from tuling_fsm.planning.lanes.cost import CandidateCost, PathCandidate
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.lanes.path_end import END_OF_LINE, WALL, PathEnd, find_stop
from tuling_fsm.planning.lanes.path_speed import SpeedTask, best_speed, drive_among
from tuling_fsm.planning.lanes.sampling import SamplingScope, sample_candidates
from tuling_fsm.planning.lanes.workspace import EvaluationBuffers
from tuling_fsm.planning.obstacles.occupancy import SweptPath, point_spacing, swept_band
from tuling_fsm.planning.paths.frenet_path import (
    LANE,
    OFFSET,
    PS,
    REACHED,
    SECOND_PASS,
    START_D,
    FrenetPath,
    place_body,
    sample_path,
)
from tuling_fsm.planning.paths.reference_line import LIMIT
from tuling_fsm.planning.speed.passing import limit_passing, nearest_pass
from tuling_fsm.planning.speed.roll_out import PASSING, AccelerationDemand, StartMotion, StopTarget, fill_envelope
from tuling_fsm.planning.speed.yielding import GapAcceptance

(
    COST_FIRST, COST_SECOND, COST_FULL, PROGRESS, STOP_AT, STOP_BY, STOP_ROW, THING_AT, BINDS, BLAME, DISTANCE, YIELDS,
    CONFLICT, END_X, END_Y, SPEEDS, GAP,
) = range(17)  # fmt: skip
"""Columns of a verdict: cost in the first and second pass of NOR-4 (`inf`: out of the question there) and with all
terms; progress along the route (m); a `PathEnd`; what binds at the start, the row of the object, how far ahead; whether
it yields to a moving object, and how badly it cuts in before one; where it is at the horizon; how many speeds were
judged; the gap to what is passed closely (m, negative to the right)."""
VERDICT = 17
_COMMITTED = 0.6
"""Share of the room before other vehicles that a change of lanes once begun still asks for."""
_BEGUN = 0.3
"""A change of lanes can be seen when the car is so far (m) beside the line of its own."""
_EVADING = 1.8
"""To pass before a crossing object by changing lanes takes this much more time to spare than in the lane of the
previous plan."""


@inlined_kernel
def _fill_verdict(
    judged: CandidateCost,
    stop: PathEnd,
    binds: AccelerationDemand,
    yields: bool,
    second_pass: bool,
    verdict: FloatArray,
) -> None:
    """Fill the verdict of a candidate, which is of the second pass alone or of both."""
    free = not yields and judged.conflict == 0
    verdict[COST_FIRST] = np.inf if second_pass else judged.first_pass
    verdict[COST_SECOND] = judged.full if free else np.inf
    verdict[COST_FULL], verdict[PROGRESS] = judged.full, judged.progress
    verdict[END_X], verdict[END_Y] = judged.x, judged.y
    verdict[STOP_AT], verdict[STOP_BY], verdict[STOP_ROW], verdict[THING_AT] = stop.at, stop.by, stop.row, stop.thing
    verdict[BINDS], verdict[BLAME], verdict[DISTANCE] = binds.reason, binds.blame, binds.distance
    verdict[YIELDS], verdict[CONFLICT] = 1.0 if yields else 0.0, judged.conflict


@inlined_kernel
def _moves_over(lines: LaneLines, at: int, offset: float) -> bool:
    """Whether the car can be seen to come to `offset` (m) beside a line: it has left the line of its lane towards that
    one, or its lane is that one, and it comes nearer to the line.
    """
    aside = lines.start[lines.home, START_D]
    if at == lines.home:
        return bool(abs(offset) < abs(aside))
    return bool(aside * np.sign(aside - lines.start[at, START_D]) >= _BEGUN)


@inlined_kernel
def _evaluate(spec: FloatArray, tick: EvaluationContext, buffers: EvaluationBuffers, verdict: FloatArray) -> int:
    """Plan one candidate; its path and rows stay in `buffers`. Returns the number of points of the path."""
    at, lines, start, d = int(spec[LANE]), tick.lines, tick.start, tick.drive
    span = len(buffers.rows) * STEP_S
    top = min(d.max_speed, start.v + d.accel * span)
    reach = top * span + 0.5 * top * top / d.decel + tick.body.front + tick.stops.obstacle
    line, path = lines.row[at], buffers.path
    points, first = sample_path(spec, line, lines.points[at], lines.start[at], start.pose, reach, path)
    place_body(path, points, tick.body.middle, buffers.places)
    frenet = FrenetPath(path, points, first, line, at, buffers.places)
    stop = find_stop(frenet, lines, tick.static, tick.walls, spec[REACHED], start.v, tick.body, tick.stops)
    for i in range(frenet.points):
        buffers.limit[i] = min(tick.speed_limit, frenet.line[max(0, frenet.first + i - 1), LIMIT])
    sidestep = abs(spec[OFFSET] - lines.start[at, START_D])
    swept = SweptPath(frenet, tick.body, swept_band(frenet), point_spacing(frenet), sidestep)
    limit_passing(swept, tick.beside, buffers.limit, buffers.cause)
    fill_envelope(frenet, buffers.limit, buffers.cause, d, buffers.envelope)
    begun = _moves_over(lines, at, spec[OFFSET])
    stays = lines.shift[at] == tick.weights.previous_shift
    ease, crowding, lead = (_COMMITTED, 0.0, tick.lead) if stays else (1.0, 1.0, _EVADING * tick.lead)
    slack = tick.stops.obstacle - tick.stops.end
    if stop.by in (WALL, END_OF_LINE):
        slack = max(0.4 * tick.stops.line, lines.spare[at] if stop.by == END_OF_LINE else 0.0)
    task = SpeedTask(
        swept,
        StopTarget(min(stop.at, frenet.path[frenet.points - 1, PS]), slack),
        StartMotion(start.v, start.a),
        GapAcceptance(
            lead, ease, crowding, stays and begun, 0.5 * start.v**2 / d.decel, 0.5 * start.v**2 / d.emergency, d.rss
        ),
    )
    driven = drive_among(task, tick.moving, d, buffers)
    candidate = PathCandidate(swept, stop, spec[OFFSET])
    judged, binds, verdict[SPEEDS] = best_speed(candidate, task, tick, driven, buffers)
    _fill_verdict(judged, stop, binds, driven.yields, spec[SECOND_PASS] > 0.0, verdict)
    if binds.reason == PASSING:
        verdict[GAP], verdict[DISTANCE] = nearest_pass(frenet, tick.beside, binds.blame, tick.body)
    return int(frenet.points)


@inlined_kernel
def _shorter(s: EvaluationBuffers, rows: int) -> EvaluationBuffers:
    """The same buffers for trajectories of fewer rows."""
    return EvaluationBuffers(
        path=s.path, places=s.places, limit=s.limit, cause=s.cause, envelope=s.envelope, rows=s.rows[:rows],
        slower=s.slower, poses=s.poses, traffic=s.traffic, farthest=s.farthest, conflicts=s.conflicts,
    )  # fmt: skip


@kernel
def evaluate_all(specs: FloatArray, tick: EvaluationContext, buffers: EvaluationBuffers, verdicts: FloatArray) -> int:
    """Plan every candidate (C, SPEC) and fill the verdicts (C, VERDICT).

    Path and rows of the last one stay in `buffers`; returns the number of points of its path.
    """
    points = 0
    for c in range(len(specs)):
        points = _evaluate(specs[c], tick, buffers, verdicts[c])
    return points


@inlined_kernel
def _choose(verdicts: FloatArray, first_pass_only: bool) -> int:
    """The winner of the first pass, or that of the second where its whole cost is less."""
    best = int(np.argmin(verdicts[:, COST_FIRST]))
    if first_pass_only:
        return best
    second = int(np.argmin(verdicts[:, COST_SECOND]))
    return second if verdicts[second, COST_SECOND] < verdicts[best, COST_FULL] else best


@kernel
def plan_best(
    tick: EvaluationContext,
    scope: SamplingScope,
    rows: int,
    buffers: EvaluationBuffers,
    specs: FloatArray,
    verdicts: FloatArray,
) -> tuple[int, int, int]:
    """Fill `specs` (MAX_CANDIDATES, SPEC) and `verdicts` (MAX_CANDIDATES, VERDICT) with the candidates of a tick, each
    planned for `rows` rows; then plan the best one for as many as `buffers` has.

    Returns how many there are, the row of the best, and the number of points of its path.
    """
    count = sample_candidates(tick.lines, tick.static, tick.moving, scope, tick.body, specs)
    best, points = -1, 0
    # One loop with the best once more at its end, for each call of what is evaluated here takes seconds to compile.
    for c in range(count + 1):
        if c == count:
            best = _choose(verdicts[:count], scope.first_pass_only)
        at, until = (best, len(buffers.rows)) if c == count else (c, rows)
        points = _evaluate(specs[at], tick, _shorter(buffers, until), verdicts[at])
    return count, best, points
