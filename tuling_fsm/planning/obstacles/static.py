"""Static things along the lines: where a path is blocked, and how much room is beside it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns, is_near, put_box
from tuling_fsm.planning.paths.footprint import Footprint, body_separation, nearest
from tuling_fsm.planning.paths.frenet_path import PCOS, PROOM, PSIN, PX, PY, FrenetPath
from tuling_fsm.planning.paths.reference_line import COS, SIN, S, X, Y, offset_at, walk

BAND = 5.0
"""Candidates stay within this of their line, or of the car's offset from it (m)."""
_STRIDE = 4
EDGE = -1
"""Id of static edges, which have none."""
DEEPEST = -0.3
"""What overlaps the body at the start by no more than this (m) is taken for a false measurement and may be left."""


class StaticObstacles(NamedTuple):
    """M boxes as in `footprint`, and for each of L lines where they matter.

    `id` (M,) is the row in `Obstacles`, `EDGE` for a static edge; `gap` (M,) is how near a path may come to each,
    `near` (L, M, 2) the samples from and to which the body can reach it (empty where from > to), `extent` (L, M, 4) its
    first and last arc length and its least and largest offset there.
    """

    box: FloatArray
    id: IntArray
    gap: FloatArray
    near: IntArray
    extent: FloatArray


@kernel
def _point_to_box(x: float, y: float, box: FloatArray) -> float:
    dx, dy = x - box[0], y - box[1]
    along = max(0.0, abs(dx * box[2] + dy * box[3]) - box[4])
    across = max(0.0, abs(dy * box[2] - dx * box[3]) - box[5])
    return elementary.hypot(along, across)


@kernel
def _extent(line: FloatArray, n: int, box: FloatArray, lo: int, hi: int, extent: FloatArray) -> None:
    """Arc lengths and offsets that a box covers, from its corners and the middles of its long sides."""
    extent[0], extent[1], extent[2], extent[3] = np.inf, -np.inf, np.inf, -np.inf
    k = nearest(line, lo, hi + 1, box[0], box[1])
    for a in (1.0, 0.0, -1.0):
        for b in (1.0, -1.0):
            x = box[0] + a * box[4] * box[2] - b * box[5] * box[3]
            y = box[1] + a * box[4] * box[3] + b * box[5] * box[2]
            at = walk(line, n, k, x, y)
            d = offset_at(line, at, x, y)
            s = line[at, S] + (x - line[at, X]) * line[at, COS] + (y - line[at, Y]) * line[at, SIN]
            extent[0], extent[1] = min(extent[0], s), max(extent[1], s)
            extent[2], extent[3] = min(extent[2], d), max(extent[3], d)


@kernel
def _within_reach(line: FloatArray, n: int, box: FloatArray, reach: float, near: IntArray) -> None:
    """First and last sample within `reach` of a box, the last up to `_STRIDE` too late; empty where from > to."""
    near[0], near[1] = n, -1
    k = 0
    while k < n:
        apart = _point_to_box(line[k, X], line[k, Y], box) - reach
        if apart <= 0.0:
            near[0], near[1] = min(near[0], k), min(n - 1, k + _STRIDE)
            k += _STRIDE
        else:
            # No sample before can be within reach, however far apart samples are.
            at = line[k, S] + apart
            k += 1
            while k < n and line[k, S] < at:
                k += 1


@kernel
def put_segment(segment: FloatArray, box: FloatArray) -> None:
    """Fill a box of no width with a segment x0, y0, x1, y1."""
    dx, dy = segment[2] - segment[0], segment[3] - segment[1]
    length = max(elementary.hypot(dx, dy), 1e-9)
    box[0], box[1] = 0.5 * (segment[0] + segment[2]), 0.5 * (segment[1] + segment[3])
    box[2], box[3] = dx / length if length > 1e-9 else 1.0, dy / length
    box[4], box[5] = 0.5 * length, 0.0


@kernel
def _put_segments(segments: FloatArray, boxes: FloatArray) -> None:
    for m in range(len(segments)):
        put_segment(segments[m], boxes[m])


@kernel
def _put_static(
    around: ObstacleColumns, segments: FloatArray, x: float, y: float, boxes: FloatArray, ids: IntArray
) -> int:
    """Fill boxes with the static objects near a place and with all segments; `ids` are the objects' rows. Returns how
    many.
    """
    total = 0
    for i in range(len(around.moving)):
        if not around.moving[i] and is_near(around, i, x, y):
            put_box(around, i, 0, boxes[total])
            ids[total] = i
            total += 1
    _put_segments(segments, boxes[total:])
    ids[total : total + len(segments)] = EDGE
    return total + len(segments)


@kernel
def _gap_to(box: FloatArray, pose: tuple[float, float, float, float], body: Footprint, gap: float) -> float:
    """How near a path may come to a box: `gap`, or a little less than now for one that is nearer (m); a false
    measurement behind the car's middle holds nothing up (-inf).
    """
    sin, cos = elementary.sin_cos(pose[2])
    apart = body_separation(pose[0], pose[1], cos, sin, body, box)
    behind = (box[0] - pose[0]) * cos + (box[1] - pose[1]) * sin < body.middle
    if apart < DEEPEST and behind:
        return -np.inf
    return min(gap, max(DEEPEST, apart - 0.02))


@array_kernel
def gather_static_obstacles(
    around: ObstacleColumns,
    segments: FloatArray,
    gap: float,
    wanted: float,
    car: CarOnLines,
    band: float,
) -> StaticObstacles:
    """Those of the static objects and `segments` (M, 4) that the body could reach on paths within `band` (m) of any
    line, or of the car's offset from it, and where.
    """
    lines, counts, pose, body = car.lines, car.points, car.pose, car.body
    many, most = len(counts), len(around.moving) + len(segments)
    boxes, ids = np.empty((most, 6)), np.empty(most, np.int64)
    total = _put_static(around, segments, pose[0], pose[1], boxes, ids)
    near = np.empty((many, total, 2), np.int64)
    keep = np.zeros(total, np.bool_)
    corner = elementary.hypot(body.front, body.half_width)
    for at in range(many):
        reach = band + abs(car.offsets[at]) + corner + wanted
        for m in range(total):
            _within_reach(lines[at], counts[at], boxes[m], reach, near[at, m])
            keep[m] |= near[at, m, 1] >= 0
    chosen = np.flatnonzero(keep)
    extent = np.empty((many, len(chosen), 4))
    gaps = np.empty(len(chosen))
    for i in range(len(chosen)):
        box = boxes[chosen[i]]
        gaps[i] = _gap_to(box, pose, body, gap)
        for at in range(many):
            extent[at, i, 0], extent[at, i, 1], extent[at, i, 2], extent[at, i, 3] = np.inf, -np.inf, np.inf, -np.inf
            if near[at, chosen[i], 1] >= 0:
                _extent(lines[at], counts[at], box, near[at, chosen[i], 0], near[at, chosen[i], 1], extent[at, i])
    return StaticObstacles(boxes[chosen], ids[chosen], gaps, near[:, chosen], extent)


@kernel
def blocked_by_static(frenet: FrenetPath, static: StaticObstacles, body: Footprint, wanted: float) -> tuple[int, int]:
    """First point of a path at which the body is too near to a static thing (its length for none), and that thing's
    row.

    Fills `PROOM`: rooms are right up to `wanted` and up to that point; where nothing is near, `inf`.
    """
    path, blocked, by = frenet.path, frenet.points, -1
    path[: frenet.points, PROOM] = np.inf
    reach = elementary.hypot(body.half_length, body.half_width)
    for m in range(len(static.box)):
        near = static.near[frenet.at, m]
        lo, hi = max(0, near[0] - frenet.first + 1), near[1] - frenet.first + 1
        if static.gap[m] == -np.inf:
            continue
        box = static.box[m]
        far = (reach + elementary.hypot(box[4], box[5]) + max(wanted, static.gap[m])) ** 2
        for i in range(lo, min(hi + 1, blocked)):
            cos, sin = path[i, PCOS], path[i, PSIN]
            dx, dy = box[0] - path[i, PX] - body.middle * cos, box[1] - path[i, PY] - body.middle * sin
            if dx * dx + dy * dy > far:
                continue
            apart = body_separation(path[i, PX], path[i, PY], cos, sin, body, box)
            path[i, PROOM] = min(path[i, PROOM], apart)
            if apart <= static.gap[m]:
                blocked, by = i, m
                break
    return blocked, by


def boxes_of_segments(segments: FloatArray) -> FloatArray:
    """Segments (M, 4) x0, y0, x1, y1 as boxes (M, 6) of no width."""
    boxes = np.empty((len(segments), 6))
    _put_segments(segments, boxes)
    return boxes
