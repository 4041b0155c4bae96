"""Moving objects on the lines and in a path's plane of arc length and time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.planning.body import Body, body_separation, nearest, offset_at, walk
from tuling_fsm.planning.paths import PCOS, PD, PKAPPA, PS, PSIN, PTURN, PX, PY, Laid
from tuling_fsm.planning.profile import STEP_S
from tuling_fsm.planning.reference import COS, KAPPA, SIN, X, Y
from tuling_fsm.planning.solids import DEEPEST, IntArray

BoolArray = npt.NDArray[np.bool_]
SAME_WAY = 0.5
"""Cosine of the angle up to which two go the same way."""
SIDESTEP = 0.8
"""A path that leaves its present offset by more than this (m) cuts in before others, and has to look behind."""
_BESIDE = 1.5
"""Objects that stay farther than this (m) from all that a path sweeps are not looked at."""
_ELSEWHERE, _COARSE = 6.0, 8
"""An object farther from the line than the one (m) may come onto it somewhere else, and is looked for at every so
many samples."""
_FORESIGHT = 35.0
"""Nobody yields to what is farther ahead than this (m)."""


class Movers(NamedTuple):
    """N moving objects at T prediction times, and where they are on each of L lines.

    `box` (N, T, 6) as in `body`; `gap` (N,) is how near they count as touching; `keep` (N,) how far from them to stop
    when they cross; `shadow` (N,) are behind the car and in its way, `trailing` (N,) beside or behind it on the same
    course. `node` (L, N, T) is the nearest sample (-1 where beside the line's ends), `across` (L, N, T) the offset,
    `band` (L, N, 2) all that they cover of it.
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
        gap[i] = min(gap[i], max(DEEPEST, body_separation(pose[0], pose[1], cos, sin, body, box) - 0.02))
        along, side = (box[0] - cx) * cos + (box[1] - cy) * sin, (box[1] - cy) * cos - (box[0] - cx) * sin
        turn, sine = box[2] * cos + box[3] * sin, box[3] * cos - box[2] * sin
        long, wide = box[4] * abs(turn) + box[5] * abs(sine), box[4] * abs(sine) + box[5] * abs(turn)
        shadow[i] = along + long < -body.half_length + 0.3 and abs(side) < wide + body.half_width
        trailing[i] = turn > SAME_WAY and along + long < 0.0
        for at in range(many):
            _place_on_line(lines[at], counts[at], boxes[i], node[at, i], across[at, i], band[at, i])
    return Movers(boxes, ids, speeds, gap, keeps, shadow, trailing, node, across, band)


@njit(cache=True)
def ignored(movers: Movers, i: int, sidestep: float) -> bool:
    """Whether object `i` is one that would run into the car from behind (it must never hold the car up)."""
    return bool(movers.shadow[i] or (movers.trailing[i] and sidestep < SIDESTEP))


@njit(cache=True)
def swept(laid: Laid, body: Body) -> tuple[float, float]:
    """Least and largest offset that a path comes near to."""
    low, high = np.inf, -np.inf
    for i in range(laid.points):
        low, high = min(low, laid.path[i, PD]), max(high, laid.path[i, PD])
    side = body.half_width + _BESIDE
    return low - side, high + side


@njit(cache=True)
def row_at(j: int, rows: int) -> int:
    """The row of a profile at prediction step `j`, the last one beyond its end."""
    return min(rows - 1, round(j * PREDICTION_STEP_S / STEP_S))


@njit(cache=True)
def _gap_at(path: FloatArray, i: int, body: Body, box: FloatArray) -> float:
    return float(body_separation(path[i, PX], path[i, PY], path[i, PCOS], path[i, PSIN], body, box))


@njit(cache=True)
def _entry(laid: Laid, lo: int, hi: int, body: Body, box: FloatArray, gap: float, bend: float) -> float:
    """Arc length at which the body comes as near as `gap` to a box, looked for between two points; `inf` for nowhere.

    A separation is a distance that can be driven blindly, so the search leaps; `bend` is the largest curvature on the
    way.
    """
    path, i = laid.path, lo
    apart = _gap_at(path, i, body, box) - gap
    while apart <= 0.0 and i > 0:
        i = max(0, i - 3)
        apart = _gap_at(path, i, body, box) - gap
    if apart <= 0.0:
        return float(min(0.0, apart))
    reach = 1.0 / (1.0 + bend * body.front)
    while i < hi:
        step = path[min(i + 1, laid.points - 1), PS] - path[i, PS] + 1e-3
        last, before = i, apart
        i += min(hi - i, max(1, int(apart * reach / step)))
        apart = _gap_at(path, i, body, box) - gap
        if apart > 0.0:
            continue
        while i - last > 1:
            back = _gap_at(path, i - 1, body, box) - gap
            if back > 0.0:
                last, before = i - 1, back
            else:
                i, apart = i - 1, back
        return float(path[last, PS] + (path[i, PS] - path[last, PS]) * before / (before - apart))
    return np.inf


@njit(cache=True)
def occupied(laid: Laid, movers: Movers, i: int, body: Body, free: FloatArray, spans: FloatArray) -> int:
    """Fill `spans` (T, 2): arc lengths between which the body would touch object `i` (`inf`, `inf` for none).

    Returns at how many times it does. The far end is judged on the straight and a little long. What is far ahead of a
    car that drives `free` (rows of `roll_out`) is left out.
    """
    path, line, n, met = laid.path, laid.line, laid.points, 0
    step = path[n - 1, PS] / max(1, n - 1)
    for j in range(len(spans)):
        spans[j, 0], spans[j, 1] = np.inf, np.inf
        k = movers.node[laid.at, i, j]
        if k < 0:
            continue
        box, gap = movers.box[i, j], movers.gap[i]
        cos = abs(box[2] * line[k, COS] + box[3] * line[k, SIN])
        sin = abs(box[3] * line[k, COS] - box[2] * line[k, SIN])
        long, wide = box[4] * cos + box[5] * sin, box[4] * sin + box[5] * cos
        here, bend = k - laid.first + 1, abs(line[k, KAPPA])
        slack = 0.2 + bend * (long + body.front) ** 2
        lo = here - int((long + body.front + gap + slack) / step) - 1
        hi = here + int((long + body.rear + gap + slack) / step) + 1
        if hi < 0 or lo >= n - 1 or path[max(lo, 0), PS] > free[row_at(j, len(free)), 0] + _FORESIGHT:
            continue
        behind = min(0, here) * step
        lo, hi, here = max(0, lo), min(n - 1, hi), min(max(here, 0), n - 1)
        left = max(path[lo, PD], max(path[here, PD], path[hi, PD]))
        right = min(path[lo, PD], min(path[here, PD], path[hi, PD]))
        reach = wide + body.half_width + gap + slack + abs(path[here, PTURN]) * body.front
        across = movers.across[laid.at, i, j]
        if across > left + reach or across < right - reach:
            continue
        spans[j, 0] = _entry(laid, lo, hi, body, box, gap, max(bend, abs(path[here, PKAPPA])))
        if spans[j, 0] < np.inf:
            spans[j, 1] = path[here, PS] + behind + long + body.rear + gap + 0.5 * slack
            met += 1
    return met
