"""Moving objects in the plane of path and time: whom to follow, for whom to stop, before whom to pass."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.planning.body import Body, body_separation, nearest, offset_at, walk
from tuling_fsm.planning.paths import PCOS, PD, PKAPPA, PS, PSIN, PTURN, PX, PY
from tuling_fsm.planning.profile import STEP_S, Traffic
from tuling_fsm.planning.reference import COS, KAPPA, SIN, S, X, Y
from tuling_fsm.planning.solids import IntArray

BoolArray = npt.NDArray[np.bool_]
_DEEPEST = -0.3
_SAME_WAY = 0.5
"""Cosine of the angle up to which two go the same way."""
_STANDS = 0.3
_SIDESTEP = 0.8
"""A path that leaves its present offset by more than this (m) cuts in before others, and has to look behind."""
_BESIDE = 1.5
_ELSEWHERE = 6.0
_COARSE = 8
"""An object farther from the line than the one (m) may come onto it somewhere else: it is looked for at every so many samples."""
_FORESIGHT = 35.0
_GAP_STEPS = 21
"""Gaps between two motions count up to this prediction step (4 s)."""
_JUST_PAST = 0.5
"""Time to spare (s) that is enough for a car which cannot stop in comfort any more: to brake hard beside the other would be worse."""
_COMING_IN, _ENTRY_GAP = 5, 0.5
"""One who comes into the path is kept this far (m) from, judged over so many prediction steps."""
CROWDS, CUTS_OFF = 1, 2
_CUT_IN_GAP, _CUT_IN_TIME = 2.0, 0.6
"""Room (m, and s at its speed) that is left before another by a car that comes into its lane."""


class Movers(NamedTuple):
    """N moving objects at T prediction times, and where they are on each of L lines.

    `box` (N, T, 6) as in `body`; `gap` (N,) is how near they count as touching; `keep` (N,) how far from them to stop when they cross;
    `shadow` (N,) are behind the car and in its way, `trailing` (N,) beside or behind it on the same course. `node` (L, N, T) is the
    nearest sample (-1 where beside the line's ends), `across` (L, N, T) the offset, `band` (L, N, 2) all that they cover of it.
    """

    box: FloatArray
    id: IntArray
    speed: FloatArray
    gap: FloatArray
    keep: FloatArray
    shadow: BoolArray
    trailing: BoolArray
    node: IntArray
    across: FloatArray
    band: FloatArray


@njit(cache=True)
def _coarsely_nearest(line: FloatArray, n: int, x: float, y: float) -> int:
    best, found = np.inf, 0
    for k in range(0, n, _COARSE):
        d2 = (x - line[k, X]) ** 2 + (y - line[k, Y]) ** 2
        if d2 < best:
            best, found = d2, k
    return found


@njit(cache=True)
def _place_on_line(
    line: FloatArray, n: int, boxes: FloatArray, node: IntArray, across: FloatArray, band: FloatArray
) -> None:
    """Follow one object along a line through its prediction."""
    band[0], band[1] = np.inf, -np.inf
    k = nearest(line, 0, n, boxes[0, 0], boxes[0, 1])
    for j in range(len(boxes)):
        x, y = boxes[j, 0], boxes[j, 1]
        k = walk(line, n, k, x, y)
        if abs(offset_at(line, k, x, y)) > _ELSEWHERE:
            k = walk(line, n, _coarsely_nearest(line, n, x, y), x, y)
        along = (x - line[k, X]) * line[k, COS] + (y - line[k, Y]) * line[k, SIN]
        half = boxes[j, 4] + boxes[j, 5]
        node[j] = -1 if (k == n - 1 and along > half) or (k == 0 and along < -half) else k
        across[j] = offset_at(line, k, x, y)
        if node[j] >= 0:
            sine = abs(boxes[j, 3] * line[k, COS] - boxes[j, 2] * line[k, SIN])
            wide = boxes[j, 4] * sine + boxes[j, 5]
            band[0], band[1] = min(band[0], across[j] - wide), max(band[1], across[j] + wide)


@njit(cache=True)
def gather_movers(
    boxes: FloatArray,
    ids: IntArray,
    speeds: FloatArray,
    gaps: FloatArray,
    keeps: FloatArray,
    lines: FloatArray,
    counts: IntArray,
    pose: tuple[float, float, float, float],
    body: Body,
) -> Movers:
    """Place moving objects on the lines and relative to the car."""
    total, times, many = boxes.shape[0], boxes.shape[1], len(counts)
    node, across = np.empty((many, total, times), np.int64), np.empty((many, total, times))
    band = np.empty((many, total, 2))
    gap = gaps.copy()
    shadow, trailing = np.zeros(total, np.bool_), np.zeros(total, np.bool_)
    cos, sin = math.cos(pose[2]), math.sin(pose[2])
    cx, cy = pose[0] + body.middle * cos, pose[1] + body.middle * sin
    for i in range(total):
        box = boxes[i, 0]
        gap[i] = min(gap[i], max(_DEEPEST, body_separation(pose[0], pose[1], cos, sin, body, box) - 0.02))
        along, side = (box[0] - cx) * cos + (box[1] - cy) * sin, (box[1] - cy) * cos - (box[0] - cx) * sin
        turn, sine = box[2] * cos + box[3] * sin, box[3] * cos - box[2] * sin
        long, wide = box[4] * abs(turn) + box[5] * abs(sine), box[4] * abs(sine) + box[5] * abs(turn)
        shadow[i] = along + long < -body.half_length + 0.3 and abs(side) < wide + body.half_width
        trailing[i] = turn > _SAME_WAY and along + long < 0.0
        for at in range(many):
            _place_on_line(lines[at], counts[at], boxes[i], node[at, i], across[at, i], band[at, i])
    return Movers(boxes, ids, speeds, gap, keeps, shadow, trailing, node, across, band)


@njit(cache=True)
def _entry(path: FloatArray, n: int, lo: int, hi: int, body: Body, box: FloatArray, gap: float, bend: float) -> float:
    """Arc length at which the body comes as near as `gap` to a box, looked for between two points; `inf` for nowhere.

    A separation is a distance that can be driven blindly, so the search leaps; `bend` is the largest curvature on the way.
    """
    i = lo
    apart = body_separation(path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN], body, box) - gap
    while apart <= 0.0 and i > 0:
        i = max(0, i - 3)
        apart = body_separation(path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN], body, box) - gap
    if apart <= 0.0:
        return min(0.0, apart)
    reach = 1.0 / (1.0 + bend * body.front)
    while i < hi:
        step = path[min(i + 1, n - 1), PS] - path[i, PS] + 1e-3
        leap = min(hi - i, max(1, int(apart * reach / step)))
        before = apart
        i += leap
        apart = body_separation(path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN], body, box) - gap
        if apart <= 0.0:
            while leap > 1:
                i -= 1
                leap -= 1
                back = body_separation(path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN], body, box) - gap
                if back > 0.0:
                    before = back
                    i += 1
                    break
                apart = back
            return float(path[i - 1, PS] + (path[i, PS] - path[i - 1, PS]) * before / (before - apart))
    return np.inf


@njit(cache=True)
def _row(j: int, rows: int) -> int:
    """The row of a profile at prediction step `j`, the last one beyond its end."""
    return min(rows - 1, round(j * PREDICTION_STEP_S / STEP_S))


@njit(cache=True)
def occupied(
    path: FloatArray,
    n: int,
    first: int,
    line: FloatArray,
    movers: Movers,
    at: int,
    i: int,
    body: Body,
    free: FloatArray,
    spans: FloatArray,
) -> int:
    """Fill `spans` (T, 2): arc lengths between which the body would touch object `i` (`inf`, `inf` for none); returns how many times.

    The far end is judged on the straight and a little long. What is `_FORESIGHT` ahead of a car that drives `free` is left out.
    """
    met = 0
    step = path[n - 1, PS] / max(1, n - 1)
    for j in range(len(spans)):
        spans[j, 0], spans[j, 1] = np.inf, np.inf
        k = movers.node[at, i, j]
        if k < 0:
            continue
        box = movers.box[i, j]
        cos = abs(box[2] * line[k, COS] + box[3] * line[k, SIN])
        sin = abs(box[3] * line[k, COS] - box[2] * line[k, SIN])
        long, wide = box[4] * cos + box[5] * sin, box[4] * sin + box[5] * cos
        here = k - first + 1
        bend = abs(line[k, KAPPA])
        slack = 0.2 + bend * (long + body.front) ** 2
        lo = here - int((long + body.front + movers.gap[i] + slack) / step) - 1
        hi = here + int((long + body.rear + movers.gap[i] + slack) / step) + 1
        if hi < 0 or lo >= n - 1 or path[max(lo, 0), PS] > free[_row(j, len(free)), 0] + _FORESIGHT:
            continue
        behind = min(0, here) * step
        lo, hi, here = max(0, lo), min(n - 1, hi), min(max(here, 0), n - 1)
        left = max(path[lo, PD], max(path[here, PD], path[hi, PD]))
        right = min(path[lo, PD], min(path[here, PD], path[hi, PD]))
        reach = wide + body.half_width + movers.gap[i] + slack + abs(path[here, PTURN]) * body.front
        if movers.across[at, i, j] > left + reach or movers.across[at, i, j] < right - reach:
            continue
        spans[j, 0] = _entry(path, n, lo, hi, body, box, movers.gap[i], max(bend, abs(path[here, PKAPPA])))
        if spans[j, 0] < np.inf:
            spans[j, 1] = path[here, PS] + behind + long + body.rear + movers.gap[i] + 0.5 * slack
            met += 1
    return met


@njit(cache=True)
def _passes_first(spans: FloatArray, free: FloatArray, lead: float, ease: float, v_other: float) -> bool:
    """Whether a car that drives `free` (rows of `roll_out`) is past before the object comes, `lead` seconds to spare.

    `v_other` is the speed of one that goes the same way and must not be made to brake, else 0; `ease` scales the room before it.
    """
    for j in range(len(spans)):
        if spans[j, 0] == np.inf:
            continue
        now = _row(j, len(free))
        early = min(len(free) - 1, max(0, round((j * PREDICTION_STEP_S - lead) / STEP_S)))
        if v_other > 0.0:
            room = _CUT_IN_GAP + _CUT_IN_TIME * v_other + max(0.0, v_other - free[now, 1]) * lead
            if free[now, 0] < spans[j, 1] + ease * room:
                return False
        elif free[early, 0] < spans[j, 1]:
            return False
    return True


@njit(cache=True)
def _first_inside(spans: FloatArray) -> int:
    j = 0
    while spans[j, 0] == np.inf:
        j += 1
    return j


@njit(cache=True)
def _follow(spans: FloatArray, who: int, top: float, traffic: Traffic) -> None:
    """Enter a leader; until it is on the path, the place where it comes in is a wall."""
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
def ignored(movers: Movers, i: int, sidestep: float) -> bool:
    """Whether object `i` is one that would run into the car from behind (it must never hold the car up)."""
    return bool(movers.shadow[i] or (movers.trailing[i] and sidestep < _SIDESTEP))


@njit(cache=True)
def _swept(path: FloatArray, n: int, body: Body) -> tuple[float, float]:
    """Least and largest offset that a path comes near to."""
    low, high = np.inf, -np.inf
    for i in range(n):
        low, high = min(low, path[i, PD]), max(high, path[i, PD])
    side = body.half_width + _BESIDE
    return low - side, high + side


@njit(cache=True)
def _goes_along(line: FloatArray, movers: Movers, at: int, i: int, j: int) -> bool:
    """Whether object `i` drives the way of a line at prediction step `j`, or stands."""
    k = movers.node[at, i, j]
    along = movers.box[i, j, 2] * line[k, COS] + movers.box[i, j, 3] * line[k, SIN]
    return bool(along > _SAME_WAY or movers.speed[i] < _STANDS)


@njit(cache=True)
def follow_leaders(
    path: FloatArray, n: int, first: int, line: FloatArray, at: int, movers: Movers, body: Body, free: FloatArray, sidestep: float,
    spans: FloatArray, traffic: Traffic, others: IntArray,
) -> tuple[int, int]:  # fmt: skip
    """Fill `traffic` with those that are ahead on a path of line `at` and go along with it.

    `free` is how the path would be driven without them, `sidestep` (m) how far it leads from the car's present offset, `spans` scratch.
    Returns how many there are, and how many more cross the path or come into it; `others` gets their rows.
    """
    traffic.leader_s[:], traffic.wall_s[:] = np.inf, np.inf
    leaders, more = 0, 0
    low, high = _swept(path, n, body)
    for i in range(len(movers.id)):
        if movers.band[at, i, 0] > high or movers.band[at, i, 1] < low or ignored(movers, i, sidestep):
            continue
        if occupied(path, n, first, line, movers, at, i, body, free, spans) == 0:
            continue
        if spans[0, 0] < np.inf and spans[0, 0] > 0.0 and _goes_along(line, movers, at, i, 0):
            _follow(spans, i, 1.5 * movers.speed[i] + 1.0, traffic)
            leaders += 1
        else:
            others[more] = i
            more += 1
    return leaders, more


@njit(cache=True)
def yield_to_others(
    path: FloatArray, n: int, first: int, line: FloatArray, at: int, movers: Movers, body: Body, free: FloatArray, sidestep: float,
    spans: FloatArray, traffic: Traffic, others: IntArray, lead: float, ease: float, braking: float,
) -> tuple[int, int]:  # fmt: skip
    """Add to `traffic` those of the `others` that the car does not pass before, driving `free`; `lead` and `ease` as in `_passes_first`.

    Returns how many, and how badly the path cuts in: `CROWDS` before one that is left too little room, `CUTS_OFF` before one that
    can no longer be let go first within `braking` (m), the length of a comfortable stop.
    """
    yielded, cuts_in = 0, 0
    for i in others:
        if occupied(path, n, first, line, movers, at, i, body, free, spans) == 0:
            continue
        inside = _first_inside(spans)
        along = _goes_along(line, movers, at, i, inside)
        can_stop = np.min(spans[:, 0]) - movers.keep[i] > braking
        spare = lead if can_stop else min(lead, _JUST_PAST)
        if _passes_first(spans, free, spare, ease, movers.speed[i] if along else 0.0):
            continue
        if along and _passes_first(spans, free, 0.0, 0.0, movers.speed[i]):
            cuts_in = max(cuts_in, CROWDS)
            continue
        yielded += 1
        if along:
            if inside > 0 and sidestep >= _SIDESTEP and spans[inside, 0] < braking:
                cuts_in = CUTS_OFF
            _follow(spans, i, 1.5 * movers.speed[i] + 1.0, traffic)
        else:
            _stop_for(spans, i, movers.keep[i], traffic)
    return yielded, cuts_in


@njit(cache=True)
def least_gap(
    path: FloatArray,
    n: int,
    at: int,
    movers: Movers,
    body: Body,
    rows: FloatArray,
    wanted: float,
    sidestep: float,
) -> tuple[float, int]:
    """Smallest gap (m, at most `wanted`) to any moving object in the first 4 s of a motion, and whose."""
    least, whose = wanted, -1
    low, high = _swept(path, n, body)
    for i in range(len(movers.id)):
        if movers.band[at, i, 0] > high or movers.band[at, i, 1] < low or ignored(movers, i, sidestep):
            continue
        k = 0
        for j in range(min(movers.box.shape[1], _GAP_STEPS)):
            row = _row(j, len(rows))
            if j > 0 and rows[row, 1] < 0.1:
                break
            while k + 2 < n and path[k + 1, PS] <= rows[row, 0]:
                k += 1
            box = movers.box[i, j]
            u = rows[row, 0] - path[k, PS]
            cos, sin = path[k, PCOS], path[k, PSIN]
            x, y = path[k, PX] + u * cos, path[k, PY] + u * sin
            reach = body.half_length + body.half_width + box[4] + box[5] + wanted
            if abs(box[0] - x - body.middle * cos) > reach or abs(box[1] - y - body.middle * sin) > reach:
                continue
            apart = body_separation(x, y, cos, sin, body, box)
            if apart < least:
                least, whose = apart, i
    return least, whose
