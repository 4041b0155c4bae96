"""Where and when moving objects are in the way of a path: its plane of arc length and time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.rectangles import Rectangle, rectangle, rectangles_apart
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.obstacles.boxes import FORESIGHT
from tuling_fsm.planning.obstacles.moving import ALONG, ASIDE, SLACK, MovingObstacles
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import AT_ONCE, CCOS, CSIN, CX, CY, PD, PKAPPA, PS, PTURN, FrenetPath
from tuling_fsm.planning.paths.reference_line import KAPPA

ROWS_A_STEP = round(PREDICTION_STEP_S / STEP_S)
"""Rows of a profile to each step of a prediction."""
SIDESTEP = 0.8
"""A path that leaves its present offset by more than this (m) cuts in before vehicles behind, and has to look there."""
_NEARER = 0.1
"""A path that leads no farther than this (m) towards the strip that a vehicle drives on does not come nearer to it."""
_BESIDE = 1.5
"""Objects that stay farther than this (m) from all that a path sweeps are not looked at."""


class SweptBand(NamedTuple):
    """Least and largest offset of a path, and the largest sine (absolute) of its angle to the line."""

    low: float
    high: float
    turn: float


class SweptPath(NamedTuple):
    """A path and what the body covers on it: the band, the mean distance of its points (m), and how far it leads from
    the car's present offset (m).
    """

    frenet: FrenetPath
    body: Footprint
    band: SweptBand
    spacing: float
    sidestep: float


class ConflictBuffers(NamedTuple):
    """Scratch for up to N objects that cross a path or come into it: `rows` (N,) among the moving obstacles, `spans`
    (N, T, 3) as in `occupied`, and `apart` (AT_ONCE,) as in `_gaps`.
    """

    rows: IntArray
    spans: FloatArray
    apart: FloatArray


def new_conflicts(objects: int) -> ConflictBuffers:
    """Scratch for a number of objects."""
    return ConflictBuffers(np.empty(objects, np.int64), np.empty((objects, PREDICTION_STEPS, 3)), np.empty(AT_ONCE))


@inlined_kernel
def ignored(swept: SweptPath, moving: MovingObstacles, i: int) -> bool:
    """Whether object `i` is one that would run into the car from behind (it must never hold the car up)."""
    if moving.shadow[i] or not moving.trailing[swept.frenet.at, i] or swept.sidestep >= SIDESTEP:
        return bool(moving.shadow[i])
    return not _comes_nearer(swept, moving, i)


@inlined_kernel
def _comes_nearer(swept: SweptPath, moving: MovingObstacles, i: int) -> bool:
    """Whether a path leads the body too near to the strip that object `i` is on now: from the lane's middle, however
    little of the way to there is left.
    """
    at, now, body = swept.frenet.at, swept.frenet.path[0, PD], swept.body
    across, room = moving.across[at, i, 0], moving.half[at, i, 0, ASIDE] + moving.gap[i] + body.half_width
    room += swept.band.turn * body.front
    if across > now:
        return bool(swept.band.high > now + _NEARER and swept.band.high > across - room)
    return bool(swept.band.low < now - _NEARER and swept.band.low < across + room)


@inlined_kernel
def swept_band(frenet: FrenetPath) -> SweptBand:
    """What a path covers."""
    low, high, turn = np.inf, -np.inf, 0.0
    for i in range(frenet.points):
        low, high = min(low, frenet.path[i, PD]), max(high, frenet.path[i, PD])
        turn = max(turn, abs(frenet.path[i, PTURN]))
    return SweptBand(low, high, turn)


@inlined_kernel
def point_spacing(frenet: FrenetPath) -> float:
    """Mean distance (m) of a path's points."""
    return float(frenet.path[frenet.points - 1, PS] / max(1, frenet.points - 1))


@inlined_kernel
def beside(swept: SweptPath, moving: MovingObstacles, i: int) -> bool:
    """Whether object `i` stays clear of all that a path covers, to its left or right."""
    band, side = moving.band[swept.frenet.at, i], swept.body.half_width + _BESIDE
    return bool(band[0] > swept.band.high + side or band[1] < swept.band.low - side)


@inlined_kernel
def out_of_reach(swept: SweptPath, moving: MovingObstacles, i: int, end: float) -> bool:
    """Whether object `i` cannot touch a path before arc length `end`, as far as a glance shows."""
    frenet, body, covered = swept.frenet, swept.body, swept.band
    band, stretch = moving.band[frenet.at, i], moving.stretch[frenet.at, i]
    side = body.half_width + covered.turn * body.front
    if band[2] > covered.high + side or band[3] < covered.low - side:
        return True
    lo, hi = stretch[0] - frenet.first + 1, stretch[1] - frenet.first + 1
    return bool(hi < 0 or lo >= frenet.points - 1 or frenet.path[max(0, lo), PS] > end + FORESIGHT)


@inlined_kernel
def row_at(j: int, rows: int) -> int:
    """The row of a profile at prediction step `j`, the last one beyond its end."""
    return min(rows - 1, ROWS_A_STEP * j)


@inlined_kernel
def travelled(rows: FloatArray, k: int) -> float:
    """How far (m) a car that drives `rows` (of `roll_out`) is at row `k`; beyond their end it goes on as fast."""
    last = len(rows) - 1
    if k <= last:
        return float(rows[k, 0])
    return float(rows[last, 0] + (k - last) * STEP_S * rows[last, 1])


class PathWindow(NamedTuple):
    """Points from the first to the last, and the largest curvature (1/m, absolute) between them."""

    first: int
    last: int
    bend: float


@inlined_kernel
def _gaps(places: FloatArray, i: int, body: Footprint, box: FloatArray, gap: float, apart: FloatArray) -> None:
    """Fill `apart` (AT_ONCE,) with what is more than `gap` between a box and the body at `places` from point `i` on."""
    x, y = places[CX, i : i + AT_ONCE], places[CY, i : i + AT_ONCE]
    cos, sin = places[CCOS, i : i + AT_ONCE], places[CSIN, i : i + AT_ONCE]
    other = rectangle(box)
    for k in range(len(apart)):
        car = Rectangle(x[k], y[k], cos[k], sin[k], body.half_length, body.half_width)
        apart[k] = rectangles_apart(car, other) - gap


@inlined_kernel
def _entry(
    frenet: FrenetPath, window: PathWindow, body: Footprint, box: FloatArray, gap: float, apart: FloatArray
) -> float:
    """Arc length at which the body comes as near as `gap` to a box, looked for in a window; `inf` for nowhere.

    A separation is a distance that can be driven blindly, so the search leaps from block to block of points; `apart`
    (AT_ONCE,) is scratch.
    """
    path, i, hi, passed = frenet.path, window.first, window.last, 0
    reach = 1.0 / (1.0 + window.bend * body.front)
    while i <= hi:
        _gaps(frenet.places, i, body, box, gap, apart)
        while apart[0] <= 0.0 and i > passed:
            i = max(passed, i - 3)
            _gaps(frenet.places, i, body, box, gap, apart)
        if apart[0] <= 0.0:
            return float(min(0.0, apart[0]))
        for k in range(1, AT_ONCE):
            if i + k > hi:
                return np.inf
            if apart[k] <= 0.0:
                before, step = path[i + k - 1, PS], path[i + k, PS] - path[i + k - 1, PS]
                return float(before + step * apart[k - 1] / (apart[k - 1] - apart[k]))
        i += AT_ONCE - 1
        passed, step = i, path[min(i + 1, frenet.points - 1), PS] - path[i, PS] + 1e-3
        i += max(0, int(apart[AT_ONCE - 1] * reach / step) - 1)
    return np.inf


@inlined_kernel
def _span(
    swept: SweptPath, moving: MovingObstacles, i: int, j: int, end: float, apart: FloatArray, span: FloatArray
) -> None:
    """Fill `span` (3,) as a row of `occupied`, but for what begins beyond `end` (m); `apart` is scratch."""
    frenet, body, step = swept.frenet, swept.body, swept.spacing
    path, line, n, k = frenet.path, frenet.line, frenet.points, moving.node[frenet.at, i, j]
    span[0], span[1], span[2] = np.inf, np.inf, np.inf
    if k < 0:
        return
    half, gap, per = moving.half[frenet.at, i, j], moving.gap[i], 1.0 / step
    here, room = k - frenet.first + 1, half[ALONG] + gap + half[SLACK]
    lo, hi = here - int((room + body.front) * per) - 1, here + int((room + body.rear) * per) + 1
    if hi < 0 or lo >= n - 1 or path[max(lo, 0), PS] > end:
        return
    behind = min(0, here) * step
    lo, hi, here = max(0, lo), min(n - 1, hi), min(max(here, 0), n - 1)
    span[2] = path[lo, PS]
    left = max(path[lo, PD], max(path[here, PD], path[hi, PD]))
    right = min(path[lo, PD], min(path[here, PD], path[hi, PD]))
    reach = half[ASIDE] + body.half_width + gap + half[SLACK] + abs(path[here, PTURN]) * body.front
    across = moving.across[frenet.at, i, j]
    if across > left + reach or across < right - reach:
        return
    bend = max(abs(line[k, KAPPA]), abs(path[here, PKAPPA]))
    span[0] = _entry(frenet, PathWindow(lo, hi, bend), body, moving.box[i, j], gap, apart)
    if span[0] < np.inf:
        span[1] = path[here, PS] + behind + half[ALONG] + body.rear + gap + 0.5 * half[SLACK]


@kernel
def occupied(
    swept: SweptPath,
    moving: MovingObstacles,
    i: int,
    farthest: FloatArray,
    first: int,
    apart: FloatArray,
    spans: FloatArray,
) -> int:
    """Fill `spans` (T, 3) from prediction step `first` on: arc lengths between which the body would touch object `i`
    (`inf`, `inf` for none), and one that is surely before them.

    Returns at how many times it does. The far end is judged on the straight and a little long. What is far ahead of a
    car that is nowhere beyond `farthest` (T,) is left out.
    """
    met = 0
    for j in range(first, len(spans)):
        _span(swept, moving, i, j, farthest[j] + FORESIGHT, apart, spans[j])
        met += spans[j, 0] < np.inf
    return met


@kernel
def still_met(spans: FloatArray, free: FloatArray) -> int:
    """Take out of filled `spans` what is far ahead of a car that drives `free` (rows of `roll_out`); returns at how
    many times the body still would touch it.
    """
    met = 0
    for j in range(len(spans)):
        if spans[j, 2] > travelled(free, ROWS_A_STEP * j) + FORESIGHT:
            spans[j, 0], spans[j, 1] = np.inf, np.inf
        met += spans[j, 0] < np.inf
    return met


@inlined_kernel
def touches_now(swept: SweptPath, moving: MovingObstacles, i: int, apart: FloatArray, spans: FloatArray) -> bool:
    """Fill the first row of `spans`; whether the body would touch object `i` where that is now."""
    _span(swept, moving, i, 0, FORESIGHT, apart, spans[0])
    return bool(spans[0, 0] < np.inf)


@inlined_kernel
def always_beyond(swept: SweptPath, moving: MovingObstacles, i: int, nearer: FloatArray) -> bool:
    """Whether object `i` is at all times beyond the arc lengths `nearer` (T,)."""
    frenet, body, step = swept.frenet, swept.body, swept.spacing
    path, n = frenet.path, frenet.points
    for j in range(1, len(nearer)):
        k = moving.node[frenet.at, i, j]
        if k < 0:
            continue
        half = moving.half[frenet.at, i, j]
        lo = k - frenet.first - int((half[ALONG] + moving.gap[i] + half[SLACK] + body.front) / step)
        if lo < n - 1 and path[max(lo, 0), PS] < nearer[j]:
            return False
    return True
