"""Whom to follow, for whom to stop, before whom to pass."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.planning.body import Body, separation
from tuling_fsm.planning.movers import SAME_WAY, Movers
from tuling_fsm.planning.occupied import (
    SIDESTEP,
    Swept,
    beside,
    hidden,
    ignored,
    occupied,
    out_of_reach,
    row_at,
    still_met,
    touches_now,
)
from tuling_fsm.planning.paths import PCOS, PS, PSIN, PX, PY, Laid
from tuling_fsm.planning.profile import STEP_S, Traffic
from tuling_fsm.planning.reference import COS, SIN
from tuling_fsm.planning.solids import IntArray

NOBODY = -1
CROWDS, CUTS_OFF = 1, 2
"""A path comes in before another and leaves it too little room; it comes in where the other can no longer be let go
first."""
_STANDS = 0.3
_GAP_STEPS = 21
"""Gaps between two motions count up to this prediction step (4 s)."""
_JUST_PAST = 0.5
"""Time to spare (s) that is enough for a car which cannot stop in comfort any more: braking hard beside the other is
worse."""
_COMING_IN, _ENTRY_GAP = 5, 0.5
"""One who comes into the path is kept this far (m) from, judged over so many prediction steps."""
_CUT_IN_GAP, _CUT_IN_TIME = 2.0, 0.6
"""Room (m, and s at its speed) that is left before another by a car that comes into its lane."""


@part
def _first_inside(spans: FloatArray) -> int:
    j = 0
    while spans[j, 0] == np.inf:
        j += 1
    return j


@part
def _nearest(spans: FloatArray) -> float:
    least = np.inf
    for j in range(len(spans)):
        least = min(least, spans[j, 0])
    return least


@part
def _goes_along(laid: Laid, movers: Movers, i: int, j: int) -> bool:
    """Whether object `i` drives the way of the line at prediction step `j`, or stands."""
    k = movers.node[laid.at, i, j]
    along = movers.box[i, j, 2] * laid.line[k, COS] + movers.box[i, j, 3] * laid.line[k, SIN]
    return bool(along > SAME_WAY or movers.speed[i] < _STANDS)


@part
def _passes_first(spans: FloatArray, free: FloatArray, lead: float, ease: float, v_other: float) -> bool:
    """Whether a car that drives `free` (rows of `roll_out`) is past before the object comes, `lead` seconds to spare.

    `v_other` is the speed of one that goes the same way and must not be made to brake, else 0; `ease` scales the room
    before it.
    """
    for j in range(len(spans)):
        if spans[j, 0] == np.inf:
            continue
        now = row_at(j, len(free))
        early = min(len(free) - 1, max(0, round((j * PREDICTION_STEP_S - lead) / STEP_S)))
        if v_other > 0.0:
            room = _CUT_IN_GAP + _CUT_IN_TIME * v_other + max(0.0, v_other - free[now, 1]) * lead
            if free[now, 0] < spans[j, 1] + ease * room:
                return False
        elif free[early, 0] < spans[j, 1]:
            return False
    return True


@part
def _goes_first(
    laid: Laid, movers: Movers, i: int, spans: FloatArray, free: FloatArray, lead: float, ease: float, braking: float
) -> bool:
    """Whether a car that drives `free` may pass before object `i`; arguments as in `yield_to_others`."""
    along = _goes_along(laid, movers, i, _first_inside(spans))
    can_stop = _nearest(spans) - movers.keep[i] > braking
    spare = lead if can_stop else min(lead, _JUST_PAST)
    return _passes_first(spans, free, spare, ease, movers.speed[i] if along else 0.0)


@part
def still_first(
    laid: Laid,
    movers: Movers,
    rows: FloatArray,
    others: IntArray,
    all_spans: FloatArray,
    lead: float,
    ease: float,
    braking: float,
) -> bool:
    """Whether a car that drives `rows` passes before all those of `others` that `yield_to_others` has left there."""
    for m in range(len(others)):
        i = others[m]
        if i != NOBODY and not _goes_first(laid, movers, i, all_spans[m], rows, lead, ease, braking):
            return False
    return True


@kernel
def _follow(spans: FloatArray, who: int, top: float, traffic: Traffic) -> None:
    """Enter a leader no faster than `top`; until it is on the path, the place where it comes in is a wall."""
    times = len(spans)
    inside = _first_inside(spans)
    entry = _nearest(spans[inside : inside + _COMING_IN]) - _ENTRY_GAP
    for j in range(inside):
        if entry < traffic.wall_s[j]:
            traffic.wall_s[j], traffic.wall_id[j] = entry, who
    for j in range(inside, times):
        if spans[j, 0] >= traffic.leader_s[j]:
            continue
        a, b = max(inside, j - 1), min(times - 1, j + 1)
        v = 0.0
        if b > a and spans[b, 0] < np.inf and spans[a, 0] < np.inf:
            v = (spans[b, 0] - spans[a, 0]) / ((b - a) * PREDICTION_STEP_S)
        traffic.leader_s[j], traffic.leader_id[j] = spans[j, 0], who
        traffic.leader_v[j] = min(max(v, 0.0), top)


@kernel
def _stop_for(spans: FloatArray, who: int, keep: float, traffic: Traffic) -> None:
    """Enter a wall before all that a crossing object will cover, until it has left."""
    nearest_s, last = np.inf, -1
    for j in range(len(spans)):
        if spans[j, 0] < np.inf:
            nearest_s, last = min(nearest_s, spans[j, 0]), j
    for j in range(last + 1):
        if nearest_s - keep < traffic.wall_s[j]:
            traffic.wall_s[j], traffic.wall_id[j] = nearest_s - keep, who


@part
def follow_leaders(
    laid: Laid,
    movers: Movers,
    covered: Swept,
    body: Body,
    farthest: FloatArray,
    sidestep: float,
    traffic: Traffic,
    others: IntArray,
    spans: FloatArray,
) -> tuple[int, int]:
    """Fill `traffic` with those that are ahead on a path and go along with it.

    `farthest` (T,) is what the car cannot have got beyond at each prediction step, `sidestep` (m) how far the path
    leads from the car's present offset. Returns how many there are, and how many more cross the path or come into it;
    `others` (N,) gets their rows and `spans` (N, T, 3) where and when.
    """
    traffic.leader_s[:], traffic.wall_s[:] = np.inf, np.inf
    leaders, more, end = 0, 0, farthest[len(farthest) - 1]
    for i in movers.order[laid.at]:
        if beside(movers, laid.at, i, covered, body) or ignored(movers, i, sidestep):
            continue
        if out_of_reach(laid, movers, i, covered, body, end):
            continue
        span = spans[more]
        if touches_now(laid, movers, i, body, span) and span[0, 0] > 0.0 and _goes_along(laid, movers, i, 0):
            leaders += 1
            if span[0, 0] < traffic.leader_s[0] or not hidden(laid, movers, i, body, traffic.leader_s):
                occupied(laid, movers, i, body, farthest, 1, span)
                _follow(span, i, 1.5 * movers.speed[i] + 1.0, traffic)
        elif occupied(laid, movers, i, body, farthest, 1, span) + (span[0, 0] < np.inf) > 0:
            others[more] = i
            more += 1
    return leaders, more


@part
def yield_to_others(
    laid: Laid,
    movers: Movers,
    free: FloatArray,
    sidestep: float,
    traffic: Traffic,
    others: IntArray,
    all_spans: FloatArray,
    lead: float,
    ease: float,
    braking: float,
) -> tuple[int, int]:
    """Add to `traffic` those of the `others`, found by `follow_leaders` with `all_spans`, that the car does not pass
    before, driving `free`.

    `lead` and `ease` as in `_passes_first`; `braking` (m) is the length of a comfortable stop. Returns how many, and
    how badly the path cuts in (0, `CROWDS`, `CUTS_OFF`); `NOBODY` takes the place of all before whom it does not pass.
    """
    yielded, cuts_in = 0, 0
    for m in range(len(others)):
        i, spans = others[m], all_spans[m]
        if still_met(spans, free) == 0:
            others[m] = NOBODY
            continue
        if _goes_first(laid, movers, i, spans, free, lead, ease, braking):
            continue
        inside = _first_inside(spans)
        along = _goes_along(laid, movers, i, inside)
        if along and _passes_first(spans, free, 0.0, 0.0, movers.speed[i]):
            cuts_in = max(cuts_in, CROWDS)
            continue
        yielded += 1
        others[m] = NOBODY
        if along:
            if inside > 0 and sidestep >= SIDESTEP and spans[inside, 0] < braking:
                cuts_in = CUTS_OFF
            _follow(spans, i, 1.5 * movers.speed[i] + 1.0, traffic)
        else:
            _stop_for(spans, i, movers.keep[i], traffic)
    return yielded, cuts_in


@part
def least_gap(
    laid: Laid,
    movers: Movers,
    covered: Swept,
    body: Body,
    rows: FloatArray,
    poses: FloatArray,
    wanted: float,
    sidestep: float,
) -> tuple[float, int]:
    """Smallest gap (m, at most `wanted`) to any moving object in the first 4 s of a motion, and whose; `poses` (T, 4)
    is scratch.
    """
    path, least, whose, steps, k = laid.path, wanted, -1, 0, 0
    for j in range(min(movers.box.shape[1], _GAP_STEPS)):
        row = row_at(j, len(rows))
        if j > 0 and rows[row, 1] < 0.1:
            break
        while k + 2 < laid.points and path[k + 1, PS] <= rows[row, 0]:
            k += 1
        u, cos, sin = rows[row, 0] - path[k, PS] + body.middle, path[k, PCOS], path[k, PSIN]
        poses[j, 0], poses[j, 1], poses[j, 2], poses[j, 3] = path[k, PX] + u * cos, path[k, PY] + u * sin, cos, sin
        steps += 1
    for i in range(len(movers.id)):
        if beside(movers, laid.at, i, covered, body) or ignored(movers, i, sidestep):
            continue
        reach = body.half_length + body.half_width + movers.box[i, 0, 4] + movers.box[i, 0, 5] + wanted
        for j in range(steps):
            box, pose = movers.box[i, j], poses[j]
            if abs(box[0] - pose[0]) > reach or abs(box[1] - pose[1]) > reach:
                continue
            apart = separation(pose[0], pose[1], pose[2], pose[3], body.half_length, body.half_width, box)
            if apart < least:
                least, whose = apart, i
    return least, whose
