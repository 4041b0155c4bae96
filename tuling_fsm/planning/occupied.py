"""Where and when moving objects are in the way of a path: its plane of arc length and time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.core.rectangles import rectangles_apart
from tuling_fsm.planning.around import FORESIGHT
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.movers import ALONG, ASIDE, SLACK, Movers
from tuling_fsm.planning.paths import AT_ONCE, CCOS, CSIN, CX, CY, PD, PKAPPA, PS, PTURN, Laid
from tuling_fsm.planning.profile import ROWS_A_STEP
from tuling_fsm.planning.reference import KAPPA

SIDESTEP = 0.8
"""A path that leaves its present offset by more than this (m) cuts in before others, and has to look behind."""
_BESIDE = 1.5
"""Objects that stay farther than this (m) from all that a path sweeps are not looked at."""


class Swept(NamedTuple):
    """Least and largest offset of a path, and the largest sine (absolute) of its angle to the line."""

    low: float
    high: float
    turn: float


@part
def ignored(movers: Movers, i: int, sidestep: float) -> bool:
    """Whether object `i` is one that would run into the car from behind (it must never hold the car up)."""
    return bool(movers.shadow[i] or (movers.trailing[i] and sidestep < SIDESTEP))


@part
def swept(laid: Laid) -> Swept:
    """What a path covers."""
    low, high, turn = np.inf, -np.inf, 0.0
    for i in range(laid.points):
        low, high = min(low, laid.path[i, PD]), max(high, laid.path[i, PD])
        turn = max(turn, abs(laid.path[i, PTURN]))
    return Swept(low, high, turn)


@part
def beside(movers: Movers, at: int, i: int, covered: Swept, body: Body) -> bool:
    """Whether object `i` stays clear of all that a path on line `at` covers, to its left or right."""
    band, side = movers.band[at, i], body.half_width + _BESIDE
    return bool(band[0] > covered.high + side or band[1] < covered.low - side)


@part
def out_of_reach(laid: Laid, movers: Movers, i: int, covered: Swept, body: Body, end: float) -> bool:
    """Whether object `i` cannot touch a path before arc length `end`, as far as a glance shows."""
    band, stretch = movers.band[laid.at, i], movers.stretch[laid.at, i]
    side = body.half_width + covered.turn * body.front
    if band[2] > covered.high + side or band[3] < covered.low - side:
        return True
    lo, hi = stretch[0] - laid.first + 1, stretch[1] - laid.first + 1
    return bool(hi < 0 or lo >= laid.points - 1 or laid.path[max(0, lo), PS] > end + FORESIGHT)


@part
def row_at(j: int, rows: int) -> int:
    """The row of a profile at prediction step `j`, the last one beyond its end."""
    return min(rows - 1, ROWS_A_STEP * j)


@part
def _gaps(places: FloatArray, i: int, body: Body, box: FloatArray, gap: float, apart: FloatArray) -> None:
    """Fill `apart` (AT_ONCE,) with what is more than `gap` between a box and the body at `places` from point `i` on."""
    x, y = places[CX, i : i + AT_ONCE], places[CY, i : i + AT_ONCE]
    cos, sin = places[CCOS, i : i + AT_ONCE], places[CSIN, i : i + AT_ONCE]
    length, width = body.half_length, body.half_width
    bx, by, bcos, bsin, blength, bwidth = box[0], box[1], box[2], box[3], box[4], box[5]
    for k in range(len(apart)):
        apart[k] = (
            rectangles_apart(x[k], y[k], cos[k], sin[k], length, width, bx, by, bcos, bsin, blength, bwidth) - gap
        )


@part
def _entry(
    laid: Laid, lo: int, hi: int, body: Body, box: FloatArray, gap: float, bend: float, apart: FloatArray
) -> float:
    """Arc length at which the body comes as near as `gap` to a box, looked for between two points; `inf` for nowhere.

    A separation is a distance that can be driven blindly, so the search leaps from block to block of points; `bend` is
    the largest curvature on the way, `apart` (AT_ONCE,) scratch.
    """
    path, i, passed = laid.path, lo, 0
    reach = 1.0 / (1.0 + bend * body.front)
    while i <= hi:
        _gaps(laid.places, i, body, box, gap, apart)
        while apart[0] <= 0.0 and i > passed:
            i = max(passed, i - 3)
            _gaps(laid.places, i, body, box, gap, apart)
        if apart[0] <= 0.0:
            return float(min(0.0, apart[0]))
        for k in range(1, AT_ONCE):
            if i + k > hi:
                return np.inf
            if apart[k] <= 0.0:
                before, step = path[i + k - 1, PS], path[i + k, PS] - path[i + k - 1, PS]
                return float(before + step * apart[k - 1] / (apart[k - 1] - apart[k]))
        i += AT_ONCE - 1
        passed, step = i, path[min(i + 1, laid.points - 1), PS] - path[i, PS] + 1e-3
        i += max(0, int(apart[AT_ONCE - 1] * reach / step) - 1)
    return np.inf


@part
def _span(laid: Laid, movers: Movers, i: int, j: int, body: Body, step: float, end: float, span: FloatArray) -> None:
    """Fill `span` (3,) as a row of `occupied`, but for what begins beyond `end` (m); `step` is the path's spacing."""
    path, line, n, k = laid.path, laid.line, laid.points, movers.node[laid.at, i, j]
    span[0], span[1], span[2] = np.inf, np.inf, np.inf
    if k < 0:
        return
    half, gap, per = movers.half[laid.at, i, j], movers.gap[i], 1.0 / step
    here, room = k - laid.first + 1, half[ALONG] + gap + half[SLACK]
    lo, hi = here - int((room + body.front) * per) - 1, here + int((room + body.rear) * per) + 1
    if hi < 0 or lo >= n - 1 or path[max(lo, 0), PS] > end:
        return
    behind = min(0, here) * step
    lo, hi, here = max(0, lo), min(n - 1, hi), min(max(here, 0), n - 1)
    span[2] = path[lo, PS]
    left = max(path[lo, PD], max(path[here, PD], path[hi, PD]))
    right = min(path[lo, PD], min(path[here, PD], path[hi, PD]))
    reach = half[ASIDE] + body.half_width + gap + half[SLACK] + abs(path[here, PTURN]) * body.front
    across = movers.across[laid.at, i, j]
    if across > left + reach or across < right - reach:
        return
    bend = max(abs(line[k, KAPPA]), abs(path[here, PKAPPA]))
    span[0] = _entry(laid, lo, hi, body, movers.box[i, j], gap, bend, movers.apart)
    if span[0] < np.inf:
        span[1] = path[here, PS] + behind + half[ALONG] + body.rear + gap + 0.5 * half[SLACK]


@kernel
def occupied(
    laid: Laid, movers: Movers, i: int, body: Body, farthest: FloatArray, first: int, spans: FloatArray
) -> int:
    """Fill `spans` (T, 3) from prediction step `first` on: arc lengths between which the body would touch object `i`
    (`inf`, `inf` for none), and one that is surely before them.

    Returns at how many times it does. The far end is judged on the straight and a little long. What is far ahead of a
    car that is nowhere beyond `farthest` (T,) is left out.
    """
    met = 0
    step = laid.path[laid.points - 1, PS] / max(1, laid.points - 1)
    for j in range(first, len(spans)):
        _span(laid, movers, i, j, body, step, farthest[j] + FORESIGHT, spans[j])
        met += spans[j, 0] < np.inf
    return met


@kernel
def still_met(spans: FloatArray, free: FloatArray) -> int:
    """Take out of filled `spans` what is far ahead of a car that drives `free` (rows of `roll_out`); returns at how
    many times the body still would touch it.
    """
    met = 0
    for j in range(len(spans)):
        if spans[j, 2] > free[row_at(j, len(free)), 0] + FORESIGHT:
            spans[j, 0], spans[j, 1] = np.inf, np.inf
        met += spans[j, 0] < np.inf
    return met


@part
def touches_now(laid: Laid, movers: Movers, i: int, body: Body, spans: FloatArray) -> bool:
    """Fill the first row of `spans`; whether the body would touch object `i` where that is now."""
    step = laid.path[laid.points - 1, PS] / max(1, laid.points - 1)
    _span(laid, movers, i, 0, body, step, FORESIGHT, spans[0])
    return bool(spans[0, 0] < np.inf)


@part
def hidden(laid: Laid, movers: Movers, i: int, body: Body, nearer: FloatArray) -> bool:
    """Whether object `i` is at all times beyond the arc lengths `nearer` (T,)."""
    path, n = laid.path, laid.points
    step = path[n - 1, PS] / max(1, n - 1)
    for j in range(1, len(nearer)):
        k = movers.node[laid.at, i, j]
        if k < 0:
            continue
        half = movers.half[laid.at, i, j]
        lo = k - laid.first - int((half[ALONG] + movers.gap[i] + half[SLACK] + body.front) / step)
        if lo < n - 1 and path[max(lo, 0), PS] < nearer[j]:
            return False
    return True
