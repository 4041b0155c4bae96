"""Moving objects on the lines and in a path's plane of arc length and time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.planning.body import Body, body_separation, offset_at, walk
from tuling_fsm.planning.paths import AT_ONCE
from tuling_fsm.planning.reference import COS, KAPPA, SIN, S, X, Y
from tuling_fsm.planning.solids import DEEPEST, IntArray

BoolArray = npt.NDArray[np.bool_]
SAME_WAY = 0.5
"""Cosine of the angle up to which two go the same way."""
_ELSEWHERE, _COARSE = 6.0, 8
"""An object farther from the line than the one (m) may come onto it somewhere else, and is looked for at every so
many samples."""


ALONG, ASIDE, SLACK = range(3)
"""Columns of `Movers.half`."""
_OFF_LINE = 1_000_000


class Movers(NamedTuple):
    """N moving objects at T prediction times, and where they are on each of L lines.

    `box` (N, T, 6) as in `body`; `gap` (N,) is how near they count as touching; `keep` (N,) how far from them to stop
    when they cross; `shadow` (N,) are behind the car and in its way, `trailing` (N,) beside or behind it on the same
    course. `node` (L, N, T) is the nearest sample (-1 where beside the line's ends), `across` (L, N, T) the offset,
    `half` (L, N, T, 3) half the extent along and across the line and what to allow for because the line bends.
    `band` (L, N, 4) is all that they cover across, without and with the room that a path has to keep, `stretch`
    (L, N, 2) the first and last sample that they are near, `order` (L, N) their rows by where they are now.
    `others` (N,), `spans` (N, T, 3) and `apart` (AT_ONCE,) are scratch.
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
    half: FloatArray
    band: FloatArray
    stretch: IntArray
    order: IntArray
    others: IntArray
    spans: FloatArray
    apart: FloatArray


@part
def _coarsely_nearest(line: FloatArray, n: int, x: float, y: float) -> int:
    best, found = np.inf, 0
    for k in range(0, n, _COARSE):
        d2 = (x - line[k, X]) ** 2 + (y - line[k, Y]) ** 2
        if d2 < best:
            best, found = d2, k
    return found


@part
def _place_on_line(
    line: FloatArray,
    n: int,
    boxes: FloatArray,
    gap: float,
    body: Body,
    node: IntArray,
    across: FloatArray,
    half: FloatArray,
    band: FloatArray,
    stretch: IntArray,
) -> None:
    """Follow one object along a line through its prediction."""
    band[0], band[1], band[2], band[3] = np.inf, -np.inf, np.inf, -np.inf
    stretch[0], stretch[1] = n + _OFF_LINE, -_OFF_LINE
    spacing = (line[n - 1, S] - line[0, S]) / max(1, n - 1)
    k = _coarsely_nearest(line, n, boxes[0, 0], boxes[0, 1])
    for j in range(len(boxes)):
        box = boxes[j]
        k = walk(line, n, k, box[0], box[1])
        if abs(offset_at(line, k, box[0], box[1])) > _ELSEWHERE:
            k = walk(line, n, _coarsely_nearest(line, n, box[0], box[1]), box[0], box[1])
        along = (box[0] - line[k, X]) * line[k, COS] + (box[1] - line[k, Y]) * line[k, SIN]
        longest = box[4] + box[5]
        node[j] = -1 if (k == n - 1 and along > longest) or (k == 0 and along < -longest) else k
        across[j] = offset_at(line, k, box[0], box[1])
        if node[j] < 0:
            continue
        cos = abs(box[2] * line[k, COS] + box[3] * line[k, SIN])
        sin = abs(box[3] * line[k, COS] - box[2] * line[k, SIN])
        half[j, ALONG], half[j, ASIDE] = box[4] * cos + box[5] * sin, box[4] * sin + box[5] * cos
        half[j, SLACK] = 0.2 + abs(line[k, KAPPA]) * (half[j, ALONG] + body.front) ** 2
        wide = box[4] * sin + box[5]
        band[0], band[1] = min(band[0], across[j] - wide), max(band[1], across[j] + wide)
        room = half[j, ASIDE] + gap + half[j, SLACK]
        band[2], band[3] = min(band[2], across[j] - room), max(band[3], across[j] + room)
        reach = int((half[j, ALONG] + max(body.front, body.rear) + gap + half[j, SLACK]) / (0.5 * spacing)) + 2
        stretch[0], stretch[1] = min(stretch[0], k - reach), max(stretch[1], k + reach)


@kernel
def _sort_in(node: IntArray, order: IntArray) -> None:
    """Fill `order` (N,) with the rows of `node` (N, T) by their first column, equal ones as they come."""
    for i in range(len(order)):
        k = i
        while k > 0 and node[order[k - 1], 0] > node[i, 0]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


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
    half, band = np.empty((many, total, times, 3)), np.empty((many, total, 4))
    stretch, order = np.empty((many, total, 2), np.int64), np.empty((many, total), np.int64)
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
            _place_on_line(
                lines[at], counts[at], boxes[i], gap[i], body, node[at, i], across[at, i], half[at, i], band[at, i],
                stretch[at, i],
            )  # fmt: skip
    for at in range(many):
        _sort_in(node[at], order[at])
    return Movers(
        boxes, ids, speeds, gap, keeps, shadow, trailing, node, across, half, band, stretch, order,
        np.empty(total, np.int64), np.empty((total, times, 3)), np.empty(AT_ONCE),
    )  # fmt: skip
