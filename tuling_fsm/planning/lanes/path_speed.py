"""The speed along one path: that of the car-following model in traffic, or lower where that is more even."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.kernels import inlined_kernel
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.lanes.context import EvaluationContext
from tuling_fsm.planning.lanes.cost import CandidateCost, PathCandidate, candidate_cost, until_row, with_savings
from tuling_fsm.planning.lanes.workspace import EvaluationBuffers
from tuling_fsm.planning.obstacles.moving import MovingObstacles
from tuling_fsm.planning.obstacles.occupancy import SweptPath
from tuling_fsm.planning.speed.candidates import (
    demand_ahead,
    distance_at,
    is_admissible,
    sample_polynomial,
    slow_down,
    speed_cost,
    yields_for_a_while,
)
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, ramp_of
from tuling_fsm.planning.speed.roll_out import AccelerationDemand, StartMotion, StopTarget, fill_reachable, roll_out
from tuling_fsm.planning.speed.yielding import GapAcceptance, follow_leaders, still_first, yield_to_conflicts

_SLOWER = 0.3
"""What a lower speed may be above the present one, m/s: a car that has slowed down to it keeps it."""
_WORTH = 0.5
"""A lower speed is better than that of the car-following model by at least this cost (m), else it is not worth
while.
"""
_STRAIGHT_ON = 0.5
"""A metre along a path is at least this much progress (m) along the route."""


class SpeedTask(NamedTuple):
    """What a path is driven with: all that it covers, where to stand, the motion at the start, and when to pass before
    objects.
    """

    swept: SweptPath
    target: StopTarget
    start: StartMotion
    gap: GapAcceptance


class SpeedOutcome(NamedTuple):
    """What binds at the start, whether the car yields to anything, how badly it cuts in before other vehicles, and how
    many objects cross the path or come into it.
    """

    binds: AccelerationDemand
    yields: bool
    cuts_in: int
    conflicts: int


@inlined_kernel
def drive_among(
    task: SpeedTask, moving: MovingObstacles, d: LongitudinalLimits, buffers: EvaluationBuffers
) -> SpeedOutcome:
    """Roll out a path, its envelope in `buffers`: behind leaders, then yielding to all other objects that come
    first.
    """
    s, swept, start = buffers, task.swept, task.start
    fill_reachable(start, len(s.rows), d, s.farthest)
    leaders, more = follow_leaders(swept, moving, s.farthest, s.traffic, s.conflicts)
    binds = roll_out(swept.frenet, s.envelope, task.target, s.traffic, start, d, s.rows)
    if more == 0:
        return SpeedOutcome(binds, leaders > 0, 0, 0)
    yielded, cuts_in = yield_to_conflicts(swept, moving, s.rows, task.gap, s.traffic, s.conflicts, more)
    if yielded > 0:
        binds = roll_out(swept.frenet, s.envelope, task.target, s.traffic, start, d, s.rows)
    return SpeedOutcome(binds, leaders + yielded > 0, cuts_in, more)


@inlined_kernel
def _lower(
    task: SpeedTask,
    tick: EvaluationContext,
    driven: SpeedOutcome,
    speed: float,
    spare: float,
    until: int,
    s: EvaluationBuffers,
) -> bool:
    """Fill the rows of a lower speed up to row `until`; whether it can be driven, and does not lose more than `spare`
    (m) for sure.
    """
    start, d, e, ramp = task.start, tick.drive, tick.effort, ramp_of(tick.drive)
    if speed > start.v + _SLOWER:
        return False
    course = slow_down(start, speed, tick.start.stamp, s.traffic, ramp, d)
    missing = min(tick.speed_limit, d.max_speed) - speed if course.until < until * STEP_S else 0.0
    lost = _STRAIGHT_ON * (s.rows[until, 0] - distance_at(course, until * STEP_S)) + e.regain * missing**2
    if lost > spare:
        return False
    rows, frenet = s.slower[: until + 1], task.swept.frenet
    sample_polynomial(course, rows)
    if not is_admissible(rows, frenet, s.envelope, task.target, s.traffic, ramp, d):
        return False
    return still_first(frenet, tick.moving, rows, task.gap, s.conflicts, driven.conflicts)


@inlined_kernel
def best_speed(
    candidate: PathCandidate, task: SpeedTask, tick: EvaluationContext, driven: SpeedOutcome, s: EvaluationBuffers
) -> tuple[CandidateCost, AccelerationDemand, int]:
    """Judge a candidate as `drive_among` drives it and at lower speeds; the rows of the best stay in the buffers.

    Returns its cost, what binds at the start, and how many speeds have been judged.
    """
    e, until = tick.effort, until_row(s.rows, tick.weights)
    top = min(tick.speed_limit, tick.drive.max_speed)
    best, least, spare, chosen, judgements = CandidateCost(np.inf, np.inf, 0.0, 0.0, 0, 0.0, 0.0), np.inf, np.inf, 0, 0
    for k in range(e.speeds + 1):
        if k > 0 and not _lower(task, tick, driven, top * (1.0 - k / (e.speeds + 1.0)), spare, until, s):
            continue
        rows = s.rows if k == 0 else s.slower[: until + 1]
        judged = candidate_cost(
            candidate, tick.lines, tick.moving, s.envelope.speed, rows, driven.cuts_in, task.gap, tick.weights, s.poses
        )
        judgements += 1
        effort = speed_cost(rows, until, top, e)
        cost = judged.first_pass + effort
        if k == 0:
            best, least = judged, cost - _WORTH
            spare = e.slack + (judged.comfort + effort - _WORTH if yields_for_a_while(s.traffic) else 0.0)
            if spare <= 0.0:
                break
        elif cost < least:
            best, least, chosen = with_savings(best, judged, e.share * (least - cost)), cost, k
            for i in range(until + 1):
                s.rows[i, 0], s.rows[i, 1], s.rows[i, 2] = rows[i, 0], rows[i, 1], rows[i, 2]
    if chosen == 0:
        return best, driven.binds, judgements
    roll_out(task.swept.frenet, s.envelope, task.target, s.traffic, task.start, tick.drive, s.rows, until)
    return best, demand_ahead(driven.binds, s.traffic), judgements
