"""The speed along one path: as the driver's laws have it among all others, or lower where that is more even."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.kernels import part
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.judge import Judgement, easier, judge, until_row
from tuling_fsm.planning.laws import Drive, ramp_of
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.occupied import Swept
from tuling_fsm.planning.paths import Laid
from tuling_fsm.planning.profile import STEP_S, Demand, get_away, roll_out
from tuling_fsm.planning.speeds import abides, effort_of, for_whom, settle, time_course, waits_a_while, way
from tuling_fsm.planning.stopping import Stop
from tuling_fsm.planning.tick import Scratch, Tick
from tuling_fsm.planning.yielding import follow_leaders, still_first, yield_to_others

_SLOWER = 0.3
"""What a lower speed may be above the present one, m/s: who has slowed down to it stays there."""
_WORTH = 0.5
"""A lower speed is better than the laws by at least this cost (m), else it is not worth while."""
_STRAIGHT_ON = 0.5
"""No way along a path is less progress along the route than by this factor."""


class Case(NamedTuple):
    """A path that is laid, with what holds for it at any speed: all that it covers, where it has to end, the arc length
    to stand at and the slack beyond it (m), its end offset, how far it leads from the car's present offset (m), and the
    room that it leaves to those whom it passes before (`lead` in s, `ease` its share).
    """

    laid: Laid
    covered: Swept
    stop: Stop
    target: tuple[float, float]
    offset: float
    sidestep: float
    lead: float
    ease: float


class Driven(NamedTuple):
    """What binds at the start, whether the car yields to anything, how badly it cuts in before others, and how many
    cross the path or come into it.
    """

    binds: Demand
    yields: bool
    cuts_in: int
    others: int


@part
def drive_among(
    laid: Laid,
    movers: Movers,
    covered: Swept,
    stop: tuple[float, float],
    motion: tuple[float, float],
    sidestep: float,
    lead: float,
    ease: float,
    body: Body,
    d: Drive,
    scratch: Scratch,
) -> Driven:
    """Roll out a path that covers `covered`, its envelope in `scratch`: behind leaders, then yielding to all others
    that come first.

    `stop` is the arc length to stand at and the slack beyond it (m), `motion` speed and acceleration at the start.
    """
    s, others, spans = scratch, movers.others, movers.spans
    get_away(motion, len(s.rows), d, s.farthest)
    leaders, more = follow_leaders(laid, movers, covered, body, s.farthest, sidestep, s.traffic, others, spans)
    binds = roll_out(laid, s.speed, s.bound, s.level, stop, s.traffic, motion, d, s.rows)
    if more == 0:
        return Driven(binds, leaders > 0, 0, 0)
    braking = 0.5 * motion[0] ** 2 / d.decel
    yielded, cuts_in = yield_to_others(
        laid, movers, s.rows, sidestep, s.traffic, others[:more], spans, lead, ease, braking
    )
    if yielded > 0:
        binds = roll_out(laid, s.speed, s.bound, s.level, stop, s.traffic, motion, d, s.rows)
    return Driven(binds, leaders + yielded > 0, cuts_in, more)


@part
def _lower(case: Case, tick: Tick, driven: Driven, speed: float, spare: float, until: int, s: Scratch) -> bool:
    """Fill the rows of a lower speed up to row `until`; whether it can be driven, and does not lose more than `spare`
    (m) for sure.
    """
    start, d, e, ramp = tick.start, tick.drive, tick.effort, ramp_of(tick.drive)
    if speed > start.v + _SLOWER:
        return False
    course = settle(start.v, start.a, speed, start.stamp, s.traffic, ramp, d)
    missing = min(tick.speed_limit, d.max_speed) - speed if course.until < until * STEP_S else 0.0
    lost = _STRAIGHT_ON * (s.rows[until, 0] - way(course, until * STEP_S)) + e.regain * missing**2
    if lost > spare:
        return False
    rows, others = s.slower[: until + 1], tick.movers.others[: driven.others]
    time_course(course, rows)
    if not abides(rows, case.laid, s.speed, s.level, case.target, s.traffic, ramp, d):
        return False
    braking = 0.5 * start.v**2 / d.decel
    return still_first(case.laid, tick.movers, rows, others, tick.movers.spans, case.lead, case.ease, braking)


@part
def best_speed(case: Case, tick: Tick, driven: Driven, s: Scratch) -> tuple[Judgement, Demand, int]:
    """Judge a path as `drive_among` drives it and at lower speeds; the rows of the best stay in the scratch.

    Returns the path's judgement, what binds at the start, and how many speeds have been judged.
    """
    e, until = tick.effort, until_row(s.rows, tick.weights)
    top = min(tick.speed_limit, tick.drive.max_speed)
    best, least, spare, chosen, judgements = Judgement(np.inf, np.inf, 0.0, 0.0, 0, 0.0, 0.0), np.inf, np.inf, 0, 0
    for k in range(e.speeds + 1):
        if k > 0 and not _lower(case, tick, driven, top * (1.0 - k / (e.speeds + 1.0)), spare, until, s):
            continue
        rows = s.rows if k == 0 else s.slower[: until + 1]
        judged = judge(
            case.laid, tick.lines, tick.movers, case.covered, s.speed, rows, s.poses, case.stop, case.offset,
            case.sidestep, driven.cuts_in, tick.body, tick.drive.wheelbase, tick.weights,
        )  # fmt: skip
        judgements += 1
        effort = effort_of(rows, until, top, e)
        cost = judged.first_pass + effort
        if k == 0:
            best, least = judged, cost - _WORTH
            spare = e.slack + (judged.comfort + effort - _WORTH if waits_a_while(s.traffic) else 0.0)
            if spare <= 0.0:
                break
        elif cost < least:
            best, least, chosen = easier(best, judged, e.share * (least - cost)), cost, k
            for i in range(until + 1):
                s.rows[i, 0], s.rows[i, 1], s.rows[i, 2] = rows[i, 0], rows[i, 1], rows[i, 2]
    if chosen == 0:
        return best, driven.binds, judgements
    motion = (tick.start.v, tick.start.a)
    roll_out(case.laid, s.speed, s.bound, s.level, case.target, s.traffic, motion, tick.drive, s.rows, until)
    return best, for_whom(driven.binds, s.traffic), judgements
