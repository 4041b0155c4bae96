"""Leaders to follow, crossing objects to yield to, gaps to accept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.rectangles import Rectangle, rectangle, rectangles_apart
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.standing import AGENT_STANDS, VEHICLE_STANDS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.obstacles.moving import ALONG, SAME_WAY, MovingObstacles
from tuling_fsm.planning.obstacles.occupancy import (
    ROWS_A_STEP,
    SIDESTEP,
    ConflictBuffers,
    SweptPath,
    always_beyond,
    beside,
    ignored,
    occupied,
    out_of_reach,
    row_at,
    still_met,
    touches_now,
    travelled,
)
from tuling_fsm.planning.obstacles.rss import Rss
from tuling_fsm.planning.paths.frenet_path import PCOS, PS, PSIN, PX, PY, FrenetPath
from tuling_fsm.planning.paths.reference_line import COS, SIN, S
from tuling_fsm.planning.speed.roll_out import StBoundaries

NONE = -1
"""Row of an object that the car does not pass before."""
CROWDS, CUTS_OFF = 1, 2
"""A path comes in before a vehicle and leaves it too little room; it comes in where that can no longer be let go
first."""
_GAP_STEPS = 21
"""Gaps between two motions count up to this prediction step (4 s)."""
_JUST_PAST = 0.5
"""Time to spare (s) that is enough for a car which cannot stop in comfort any more: braking hard beside the object is
worse."""
_COMING_IN, _ENTRY_GAP = 5, 0.5
"""The car keeps this far (m) from an object that comes into the path, judged over so many prediction steps."""
_ALONGSIDE, _AHEAD = 0.94, 1.0
"""A vehicle that comes in from beside, turned from the line by no more than the angle of this cosine and so far (m)
ahead of the car, is followed before it is there; one turned from the way back by no more comes along the line."""
_EASES_OFF = 1.0
"""So much (m/s^2) a vehicle slows down that lets in one which has begun to come before it."""
_CUT_IN_GAP, _CUT_IN_TIME = 2.0, 0.6
"""Room (m, and s at its speed) that is left before a vehicle by a car that comes into its lane."""


class GapAcceptance(NamedTuple):
    """When the car passes before an object: `lead` (s) is the time to spare, `ease` the share of the room that a
    vehicle going the same way has to be left, `crowding` that without which it is cut off, `begun` whether a change of
    lanes has, `braking` and `hard_braking` (m) the lengths of a comfortable and of the hardest stop, `rss` what other
    vehicles may be trusted to do.
    """

    lead: float
    ease: float
    crowding: float
    begun: bool
    braking: float
    hard_braking: float
    rss: Rss


@inlined_kernel
def _first_inside(spans: FloatArray) -> int:
    j = 0
    while spans[j, 0] == np.inf:
        j += 1
    return j


@inlined_kernel
def _nearest(spans: FloatArray) -> float:
    least = np.inf
    for j in range(len(spans)):
        least = min(least, spans[j, 0])
    return least


@inlined_kernel
def _course(frenet: FrenetPath, moving: MovingObstacles, i: int, j: int) -> float:
    """Cosine of the angle at which object `i` drives to the line at prediction step `j`; 0 where it is beside the
    line's ends.
    """
    k = moving.node[frenet.at, i, j]
    if k < 0:
        return 0.0
    return float(moving.box[i, j, 2] * frenet.line[k, COS] + moving.box[i, j, 3] * frenet.line[k, SIN])


@inlined_kernel
def _goes_along(frenet: FrenetPath, moving: MovingObstacles, i: int, j: int) -> bool:
    """Whether object `i` drives the way of the line at prediction step `j`, or stands."""
    return bool(_course(frenet, moving, i, j) > SAME_WAY or moving.speed[i] < AGENT_STANDS)


@inlined_kernel
def _last_inside(spans: FloatArray) -> int:
    j = len(spans) - 1
    while spans[j, 0] == np.inf:
        j -= 1
    return j


@inlined_kernel
def _comes_towards(frenet: FrenetPath, moving: MovingObstacles, i: int, spans: FloatArray) -> bool:
    """Whether object `i` drives or walks along the line, against its way, and stays on the path at `spans` until it is
    where the car is.

    One that goes straight on across a turn of the path is at an angle to it, and leaves it before.
    """
    last = _last_inside(spans)
    if moving.speed[i] < AGENT_STANDS or (last < len(spans) - 1 and spans[last, 0] > 0.0):
        return False
    for j in range(_first_inside(spans), last + 1):
        if spans[j, 0] < np.inf and _course(frenet, moving, i, j) > -_ALONGSIDE:
            return False
    return True


@inlined_kernel
def _passes_first(spans: FloatArray, free: FloatArray, lead: float, ease: float, v_other: float, walks: bool) -> bool:
    """Whether a car that drives `free` (rows of `roll_out`) is past before the object comes, `lead` seconds to spare.

    `v_other` is the speed of an object that goes the same way and must not be made to brake, else 0; `ease` scales the
    room before it. It sees a car that stands, and stops behind it or goes round it; so does a person (`walks`) where
    the car has stood for as long as is to spare.
    """
    for j in range(len(spans)):
        if spans[j, 0] == np.inf:
            continue
        now = row_at(j, len(free))
        early = max(0, round((j * PREDICTION_STEP_S - lead) / STEP_S))
        if v_other > 0.0:
            if free[now, 1] < VEHICLE_STANDS:
                continue
            room = _CUT_IN_GAP + _CUT_IN_TIME * v_other + max(0.0, v_other - free[now, 1]) * lead
            if travelled(free, ROWS_A_STEP * j) < spans[j, 1] + ease * room:
                return False
        elif travelled(free, early) < spans[j, 1]:
            before = free[min(early, len(free) - 1), 1]
            if not walks or max(before, free[now, 1]) >= VEHICLE_STANDS:
                return False
    return True


@inlined_kernel
def _steps_that_count(swept: SweptPath, moving: MovingObstacles, i: int, v: float, gap: GapAcceptance) -> int:
    """Prediction steps in which a car of speed `v` (m/s) looks at vehicle `i`: where it has begun to change lanes ahead
    of that one, no more than that takes to see the car and to be no faster any more. Braking right before it is worse.
    """
    steps = moving.box.shape[1]
    if not gap.begun or swept.sidestep < SIDESTEP or not moving.trailing[swept.frenet.at, i]:
        return int(steps)
    reacts = gap.rss.response + max(0.0, moving.speed[i] - v) / _EASES_OFF
    return min(int(steps), int(np.ceil(reacts / PREDICTION_STEP_S)) + 1)


@inlined_kernel
def _can_stop(moving: MovingObstacles, i: int, spans: FloatArray, rss: Rss) -> bool:
    """Whether vehicle `i` still comes to stand before it is on the path, braking as RSS trusts it to."""
    v, time = moving.speed[i], _first_inside(spans) * PREDICTION_STEP_S
    return bool(not moving.vulnerable[i] and time > rss.response + 0.5 * v / rss.brake)


@inlined_kernel
def _goes_first(
    frenet: FrenetPath,
    moving: MovingObstacles,
    i: int,
    spans: FloatArray,
    free: FloatArray,
    gap: GapAcceptance,
) -> bool:
    """Whether a car that drives `free` may pass before object `i`, which is on the path at `spans` (T, 3)."""
    along = _goes_along(frenet, moving, i, _first_inside(spans))
    entry = _nearest(spans)
    # Wherever the car came to stand, it would stand in the way, or before one that comes in behind it: getting out of
    # it is quicker.
    sooner_out = entry < (0.0 if along else gap.hard_braking) and _can_stop(moving, i, spans, gap.rss)
    if sooner_out and not _comes_towards(frenet, moving, i, spans):
        return True
    can_stop = entry - moving.keep[i] > gap.braking
    spare = gap.lead if can_stop else min(gap.lead, _JUST_PAST)
    return _passes_first(spans, free, spare, gap.ease, moving.speed[i] if along else 0.0, moving.vulnerable[i])


@inlined_kernel
def still_first(
    frenet: FrenetPath,
    moving: MovingObstacles,
    rows: FloatArray,
    gap: GapAcceptance,
    conflicts: ConflictBuffers,
    count: int,
) -> bool:
    """Whether a car that drives `rows` passes before all of the first `count` conflicts that `yield_to_conflicts` has
    left there.
    """
    for m in range(count):
        i = conflicts.rows[m]
        if i != NONE and not _goes_first(frenet, moving, i, conflicts.spans[m], rows, gap):
            return False
    return True


@inlined_kernel
def _is_ahead(swept: SweptPath, moving: MovingObstacles, i: int) -> bool:
    """Whether object `i` is now ahead of the car's bumper, in whichever lane."""
    line, k = swept.frenet.line, moving.node[swept.frenet.at, i, 0]
    bumper = line[max(0, swept.frenet.first - 1), S] + swept.body.front
    return bool(k >= 0 and line[k, S] - moving.half[swept.frenet.at, i, 0, ALONG] > bumper)


@inlined_kernel
def _least_speed(frenet: FrenetPath, moving: MovingObstacles, i: int, first: int) -> float:
    """The least speed (m/s) that object `i` has along the line from prediction step `first` on; 0 where it comes to be
    beside the line's ends.
    """
    line, box, least = frenet.line, moving.box[i], np.inf
    for j in range(first, len(box) - 1):
        k = moving.node[frenet.at, i, j]
        if k < 0:
            return 0.0
        way = (box[j + 1, 0] - box[j, 0]) * line[k, COS] + (box[j + 1, 1] - box[j, 1]) * line[k, SIN]
        least = min(least, way / PREDICTION_STEP_S)
    return max(0.0, least) if least < np.inf else 0.0


@kernel
def _follow(spans: FloatArray, i: int, top: float, alongside: bool, traffic: StBoundaries, least: float = 0.0) -> None:
    """Enter object `i` as a leader no faster than `top` and no slower than `least`. Until it is on the path it is a
    leader as well where it comes from `alongside` and is ahead by then already; else the place where it comes in is a
    wall.

    The place where it is touched tells its speed, but not on a path that joins its way behind it: there that stays
    where the path comes in for as long as the object is beside that.
    """
    times = len(spans)
    inside = _first_inside(spans)
    entry, back = _nearest(spans[inside : inside + _COMING_IN]) - _ENTRY_GAP, 0.0
    for j in range(inside, times):
        if j > inside and spans[j, 0] >= traffic.leader_s[j]:
            continue
        # At its first and last time on the path there is no place before, or after, to tell its speed from.
        a = j - 1 if j > inside and spans[j - 1, 0] < np.inf else j
        b = j + 1 if j + 1 < times and spans[j + 1, 0] < np.inf else j
        v = (spans[b, 0] - spans[a, 0]) / ((b - a) * PREDICTION_STEP_S) if b > a else 0.0
        v = min(max(v, least), top)
        if j == inside:
            back = v
        if spans[j, 0] < traffic.leader_s[j]:
            traffic.leader_s[j], traffic.leader_id[j], traffic.leader_v[j] = spans[j, 0], i, v
    ahead = alongside and spans[inside, 0] - back * inside * PREDICTION_STEP_S > _AHEAD
    for j in range(inside):
        s = spans[inside, 0] - back * (inside - j) * PREDICTION_STEP_S
        if ahead and s < traffic.leader_s[j]:
            traffic.leader_s[j], traffic.leader_id[j], traffic.leader_v[j] = s, i, back
        elif not ahead and entry < traffic.wall_s[j]:
            traffic.wall_s[j], traffic.wall_id[j] = entry, i


@kernel
def _stop_for(spans: FloatArray, i: int, keep: float, traffic: StBoundaries) -> None:
    """Enter a wall before all that crossing object `i` will cover, until it has left."""
    nearest_s, last = np.inf, -1
    for j in range(len(spans)):
        if spans[j, 0] < np.inf:
            nearest_s, last = min(nearest_s, spans[j, 0]), j
    for j in range(last + 1):
        if nearest_s - keep < traffic.wall_s[j]:
            traffic.wall_s[j], traffic.wall_id[j] = nearest_s - keep, i


@kernel
def _meet(
    frenet: FrenetPath, moving: MovingObstacles, i: int, spans: FloatArray, keep: float, traffic: StBoundaries
) -> None:
    """Enter object `i`, which comes towards the car, until it has left the path; before it is there, as if it came
    along it.
    """
    last = _last_inside(spans)
    v = -_course(frenet, moving, i, last) * moving.speed[i]
    s = spans[last, 0] - keep
    for j in range(last, -1, -1):
        s = spans[j, 0] - keep if spans[j, 0] < np.inf else s + v * PREDICTION_STEP_S
        if s < traffic.oncoming_s[j]:
            traffic.oncoming_s[j], traffic.oncoming_v[j], traffic.oncoming_id[j] = s, v, i


@inlined_kernel
def follow_leaders(
    swept: SweptPath,
    moving: MovingObstacles,
    farthest: FloatArray,
    traffic: StBoundaries,
    conflicts: ConflictBuffers,
) -> tuple[int, int]:
    """Fill `traffic` with the vehicles that are ahead on a path and go along with it.

    `farthest` (T,) is what the car cannot have got beyond at each prediction step. Returns how many there are, and how
    many objects more cross the path or come into it; `conflicts` gets their rows, where and when.
    """
    frenet, apart = swept.frenet, conflicts.apart
    traffic.leader_s[:], traffic.wall_s[:], traffic.oncoming_s[:] = np.inf, np.inf, np.inf
    leaders, more, end = 0, 0, farthest[len(farthest) - 1]
    for i in moving.order[frenet.at]:
        if beside(swept, moving, i) or ignored(swept, moving, i):
            continue
        if out_of_reach(swept, moving, i, end):
            continue
        span = conflicts.spans[more]
        if touches_now(swept, moving, i, apart, span) and span[0, 0] > 0.0 and _goes_along(frenet, moving, i, 0):
            leaders += 1
            if span[0, 0] < traffic.leader_s[0] or not always_beyond(swept, moving, i, traffic.leader_s):
                occupied(swept, moving, i, farthest, 1, apart, span)
                _follow(span, i, 1.5 * moving.speed[i] + 1.0, True, traffic)
        elif occupied(swept, moving, i, farthest, 1, apart, span) + (span[0, 0] < np.inf) > 0:
            conflicts.rows[more] = i
            more += 1
    return leaders, more


@inlined_kernel
def yield_to_conflicts(
    swept: SweptPath,
    moving: MovingObstacles,
    free: FloatArray,
    gap: GapAcceptance,
    traffic: StBoundaries,
    conflicts: ConflictBuffers,
    count: int,
) -> tuple[int, int]:
    """Add to `traffic` those of the first `count` conflicts, found by `follow_leaders`, that the car does not pass
    before, driving `free`.

    Returns how many, and how badly the path cuts in (0, `CROWDS`, `CUTS_OFF`); `NONE` takes the place of all that it
    does not pass before.
    """
    frenet, rows, yielded, cuts_in = swept.frenet, conflicts.rows, 0, 0
    for m in range(count):
        i, spans = rows[m], conflicts.spans[m]
        if still_met(spans, free) == 0:
            rows[m] = NONE
            continue
        if _goes_first(frenet, moving, i, spans, free, gap):
            continue
        inside = _first_inside(spans)
        along = _goes_along(frenet, moving, i, inside)
        close = spans[: _steps_that_count(swept, moving, i, free[0, 1], gap)]
        if along and _passes_first(close, free, 0.0, gap.crowding, moving.speed[i], moving.vulnerable[i]):
            cuts_in = max(cuts_in, CROWDS)
            continue
        yielded += 1
        rows[m] = NONE
        if along:
            if inside > 0 and swept.sidestep >= SIDESTEP and spans[inside, 0] < gap.braking:
                cuts_in = CUTS_OFF
            alongside = _course(frenet, moving, i, 0) > _ALONGSIDE
            joins = swept.sidestep >= SIDESTEP and _is_ahead(swept, moving, i)
            least = _least_speed(frenet, moving, i, inside) if joins else 0.0
            _follow(spans, i, 1.5 * moving.speed[i] + 1.0, alongside, traffic, least)
        elif _comes_towards(frenet, moving, i, spans):
            _meet(frenet, moving, i, spans, moving.keep[i] + moving.doubt, traffic)
        else:
            _stop_for(spans, i, moving.keep[i] + moving.doubt, traffic)
    return yielded, cuts_in


@inlined_kernel
def least_gap(
    swept: SweptPath,
    moving: MovingObstacles,
    rows: FloatArray,
    wanted: float,
    accepted: GapAcceptance,
    poses: FloatArray,
) -> tuple[float, int]:
    """Smallest gap (m, at most `wanted`) to any moving object in the first 4 s of a motion, and the row of that object;
    `poses` (T, 4) is scratch.
    """
    frenet, body = swept.frenet, swept.body
    path, least, nearest, steps, k = frenet.path, wanted, NONE, 0, 0
    for j in range(min(moving.box.shape[1], _GAP_STEPS)):
        row = row_at(j, len(rows))
        if j > 0 and rows[row, 1] < 0.1:
            break
        while k + 2 < frenet.points and path[k + 1, PS] <= rows[row, 0]:
            k += 1
        u, cos, sin = rows[row, 0] - path[k, PS] + body.middle, path[k, PCOS], path[k, PSIN]
        poses[j, 0], poses[j, 1], poses[j, 2], poses[j, 3] = path[k, PX] + u * cos, path[k, PY] + u * sin, cos, sin
        steps += 1
    for i in range(len(moving.id)):
        if beside(swept, moving, i) or ignored(swept, moving, i):
            continue
        reach = body.half_length + body.half_width + moving.box[i, 0, 4] + moving.box[i, 0, 5] + wanted
        for j in range(min(steps, _steps_that_count(swept, moving, i, rows[0, 1], accepted))):
            box, pose = moving.box[i, j], poses[j]
            if abs(box[0] - pose[0]) > reach or abs(box[1] - pose[1]) > reach:
                continue
            car = Rectangle(pose[0], pose[1], pose[2], pose[3], body.half_length, body.half_width)
            apart = rectangles_apart(car, rectangle(box))
            if apart < least:
                least, nearest = apart, i
    return least, nearest
