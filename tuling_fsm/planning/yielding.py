"""Whom to follow, for whom to stop, before whom to pass."""

from __future__ import annotations

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.planning.body import Body, body_separation
from tuling_fsm.planning.movers import SAME_WAY, SIDESTEP, Movers, ignored, occupied, row_at, swept
from tuling_fsm.planning.paths import PCOS, PS, PSIN, PX, PY, Laid
from tuling_fsm.planning.profile import STEP_S, Traffic
from tuling_fsm.planning.reference import COS, SIN
from tuling_fsm.planning.solids import IntArray

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


@njit(cache=True)
def _first_inside(spans: FloatArray) -> int:
    j = 0
    while spans[j, 0] == np.inf:
        j += 1
    return j


@njit(cache=True)
def _goes_along(laid: Laid, movers: Movers, i: int, j: int) -> bool:
    """Whether object `i` drives the way of the line at prediction step `j`, or stands."""
    k = movers.node[laid.at, i, j]
    along = movers.box[i, j, 2] * laid.line[k, COS] + movers.box[i, j, 3] * laid.line[k, SIN]
    return bool(along > SAME_WAY or movers.speed[i] < _STANDS)


@njit(cache=True)
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


@njit(cache=True)
def _follow(spans: FloatArray, who: int, top: float, traffic: Traffic) -> None:
    """Enter a leader no faster than `top`; until it is on the path, the place where it comes in is a wall."""
    times = len(spans)
    inside = _first_inside(spans)
    entry = np.min(spans[inside : inside + _COMING_IN, 0]) - _ENTRY_GAP
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


@njit(cache=True)
def _stop_for(spans: FloatArray, who: int, keep: float, traffic: Traffic) -> None:
    """Enter a wall before all that a crossing object will cover, until it has left."""
    nearest_s, last = np.inf, -1
    for j in range(len(spans)):
        if spans[j, 0] < np.inf:
            nearest_s, last = min(nearest_s, spans[j, 0]), j
    for j in range(last + 1):
        if nearest_s - keep < traffic.wall_s[j]:
            traffic.wall_s[j], traffic.wall_id[j] = nearest_s - keep, who


@njit(cache=True)
def follow_leaders(
    laid: Laid,
    movers: Movers,
    body: Body,
    free: FloatArray,
    sidestep: float,
    spans: FloatArray,
    traffic: Traffic,
    others: IntArray,
) -> tuple[int, int]:
    """Fill `traffic` with those that are ahead on a path and go along with it.

    `free` is how the path would be driven without them, `sidestep` (m) how far it leads from the car's present
    offset, `spans` scratch. Returns how many there are, and how many more cross the path or come into it; `others`
    gets their rows.
    """
    traffic.leader_s[:], traffic.wall_s[:] = np.inf, np.inf
    leaders, more = 0, 0
    low, high = swept(laid, body)
    for i in range(len(movers.id)):
        band = movers.band[laid.at, i]
        if band[0] > high or band[1] < low or ignored(movers, i, sidestep):
            continue
        if occupied(laid, movers, i, body, free, spans) == 0:
            continue
        if spans[0, 0] < np.inf and spans[0, 0] > 0.0 and _goes_along(laid, movers, i, 0):
            _follow(spans, i, 1.5 * movers.speed[i] + 1.0, traffic)
            leaders += 1
        else:
            others[more] = i
            more += 1
    return leaders, more


@njit(cache=True)
def yield_to_others(
    laid: Laid,
    movers: Movers,
    body: Body,
    free: FloatArray,
    sidestep: float,
    spans: FloatArray,
    traffic: Traffic,
    others: IntArray,
    lead: float,
    ease: float,
    braking: float,
) -> tuple[int, int]:
    """Add to `traffic` those of the `others` that the car does not pass before, driving `free`.

    `lead` and `ease` as in `_passes_first`; `braking` (m) is the length of a comfortable stop. Returns how many, and
    how badly the path cuts in (0, `CROWDS`, `CUTS_OFF`).
    """
    yielded, cuts_in = 0, 0
    for i in others:
        if occupied(laid, movers, i, body, free, spans) == 0:
            continue
        inside = _first_inside(spans)
        along = _goes_along(laid, movers, i, inside)
        can_stop = np.min(spans[:, 0]) - movers.keep[i] > braking
        spare = lead if can_stop else min(lead, _JUST_PAST)
        if _passes_first(spans, free, spare, ease, movers.speed[i] if along else 0.0):
            continue
        if along and _passes_first(spans, free, 0.0, 0.0, movers.speed[i]):
            cuts_in = max(cuts_in, CROWDS)
            continue
        yielded += 1
        if along:
            if inside > 0 and sidestep >= SIDESTEP and spans[inside, 0] < braking:
                cuts_in = CUTS_OFF
            _follow(spans, i, 1.5 * movers.speed[i] + 1.0, traffic)
        else:
            _stop_for(spans, i, movers.keep[i], traffic)
    return yielded, cuts_in


@njit(cache=True)
def least_gap(
    laid: Laid, movers: Movers, body: Body, rows: FloatArray, wanted: float, sidestep: float
) -> tuple[float, int]:
    """Smallest gap (m, at most `wanted`) to any moving object in the first 4 s of a motion, and whose."""
    path, least, whose = laid.path, wanted, -1
    low, high = swept(laid, body)
    for i in range(len(movers.id)):
        band = movers.band[laid.at, i]
        if band[0] > high or band[1] < low or ignored(movers, i, sidestep):
            continue
        k = 0
        for j in range(min(movers.box.shape[1], _GAP_STEPS)):
            row = row_at(j, len(rows))
            if j > 0 and rows[row, 1] < 0.1:
                break
            while k + 2 < laid.points and path[k + 1, PS] <= rows[row, 0]:
                k += 1
            box, u = movers.box[i, j], rows[row, 0] - path[k, PS]
            cos, sin = path[k, PCOS], path[k, PSIN]
            x, y = path[k, PX] + u * cos, path[k, PY] + u * sin
            reach = body.half_length + body.half_width + box[4] + box[5] + wanted
            if abs(box[0] - x - body.middle * cos) > reach or abs(box[1] - y - body.middle * sin) > reach:
                continue
            apart = body_separation(x, y, cos, sin, body, box)
            if apart < least:
                least, whose = apart, i
    return least, whose
