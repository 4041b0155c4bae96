"""Moving objects on the lines and in a path's plane of arc length and time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, inlined_kernel, kernel
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns, can_meet, is_near, is_vulnerable, put_box
from tuling_fsm.planning.obstacles.rss import Rss, following_distance, lateral_distance
from tuling_fsm.planning.obstacles.static import DEEPEST
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint, body_separation
from tuling_fsm.planning.paths.reference_line import COS, KAPPA, LEFT, RIGHT, SIN, S, X, Y, offset_at, walk

SAME_WAY = 0.5
"""Cosine of the angle up to which two vehicles go the same way."""
_SLIPS_BY = 0.2
"""An object behind the car that overlaps its width by no more than this (m) may come past it."""
_SAME_COURSE = 0.9
"""Cosine of the angle up to which a vehicle goes on as it is, and along a line."""
_OVER = 0.1
"""Beyond the edge of its lane by no more than this (m) a vehicle keeps to it: so far its place and heading err."""
_ELSEWHERE, _COARSE = 6.0, 8
"""An object farther from a winding line than the one (m) may come onto it somewhere else, and is looked for at every
so many samples."""
_STRAIGHT = 0.87
"""A line does not wind that turns from its first direction by no more than the angle of this cosine."""


_DEVIATIONS, _MOST_DOUBT = 2.0, 1.5
"""So many standard deviations of its place, and no more than this (m), nearer the way of what crosses may turn out to
be: one that turns in a junction is taken for another, or to turn more sharply, from one moment to the next."""
ALONG, ASIDE, SLACK = range(3)
"""Columns of `MovingObstacles.half`."""
_OFF_LINE = 1_000_000


class MovingObstacles(NamedTuple):
    """N moving objects at T prediction times, and where they are on each of L lines.

    `box` (N, T, 6) as in `footprint`; `gap` (N,) is how near they count as touching; `keep` (N,) how far from them to
    stop when they cross, `doubt` how much farther; `vulnerable` (N,) are people and two-wheelers that move; `shadow`
    (N,) are behind the car and in its way, `trailing` (L, N) beside or behind it on the same course, for as long as the
    line does not bend across that. `node` (L, N, T) is the nearest sample (-1 where beside the line's ends), `across`
    (L, N, T) the offset, `half` (L, N, T, 3) half the extent along and across the line and what to allow for because
    the line bends. `band` (L, N, 4) is all that they cover across, without and with the room that a path has to keep,
    `stretch` (L, N, 2) the first and last sample that they are near, `order` (L, N) their rows by where they are now.
    """

    box: FloatArray
    id: IntArray
    speed: FloatArray
    gap: FloatArray
    keep: FloatArray
    doubt: float
    vulnerable: BoolArray
    shadow: BoolArray
    trailing: BoolArray
    node: IntArray
    across: FloatArray
    half: FloatArray
    band: FloatArray
    stretch: IntArray
    order: IntArray


class _Track(NamedTuple):
    """One object on one line: its rows of `MovingObstacles`, to be filled."""

    node: IntArray
    across: FloatArray
    half: FloatArray
    band: FloatArray
    stretch: IntArray


class MovingObstacleGaps(NamedTuple):
    """How near (m) to a vehicle and to a walking pedestrian a path may come, how far from either to stop when they
    cross, and how much farther where it is in `doubt` which way they take.
    """

    moving: float
    person: float
    crossing: float
    doubt: float = 0.0

    @classmethod
    def of(cls, parameters: PlanningParameters) -> MovingObstacleGaps:
        """The numbers that are set; never nearer than two vehicles that stay in their lanes (RSS)."""
        clearance = parameters.clearance
        beside = max(clearance.moving, lateral_distance(0.0, 0.0, Rss.of(parameters.rss)))
        return cls(beside, clearance.person, parameters.speed.crossing_gap)

    def in_noise(self, deviation: float) -> MovingObstacleGaps:
        """The same where places of objects are reported with this standard deviation (m)."""
        return self._replace(doubt=min(_DEVIATIONS * deviation, _MOST_DOUBT))


@inlined_kernel
def _coarsely_nearest(line: FloatArray, n: int, x: float, y: float) -> int:
    best, found = np.inf, 0
    for k in range(0, n, _COARSE):
        d2 = (x - line[k, X]) ** 2 + (y - line[k, Y]) ** 2
        if d2 < best:
            best, found = d2, k
    return found


@inlined_kernel
def _winds(line: FloatArray, n: int) -> bool:
    """Whether a line turns so far that it may come by the same object again."""
    least = 1.0
    for k in range(1, n):
        least = min(least, line[k, COS] * line[0, COS] + line[k, SIN] * line[0, SIN])
    return bool(least < _STRAIGHT)


@inlined_kernel
def _place_on_line(
    line: FloatArray,
    n: int,
    winds: bool,
    boxes: FloatArray,
    gap: float,
    body: Footprint,
    track: _Track,
) -> None:
    """Follow one object along a line through its prediction."""
    node, across, half, band = track.node, track.across, track.half, track.band
    low, high, near_low, near_high, first, last = np.inf, -np.inf, np.inf, -np.inf, n + _OFF_LINE, -_OFF_LINE
    per = max(1, n - 1) / (line[n - 1, S] - line[0, S])
    longest, farther = boxes[0, 4] + boxes[0, 5], max(body.front, body.rear) + gap
    k = _coarsely_nearest(line, n, boxes[0, 0], boxes[0, 1])
    for j in range(len(boxes)):
        x, y = boxes[j, 0], boxes[j, 1]
        # From about where it should be by now there is less to walk.
        along = (x - line[k, X]) * line[k, COS] + (y - line[k, Y]) * line[k, SIN]
        k = walk(line, n, k + int(along * per), x, y)
        offset = offset_at(line, k, x, y)
        if winds and abs(offset) > _ELSEWHERE:
            k = walk(line, n, _coarsely_nearest(line, n, x, y), x, y)
            offset = offset_at(line, k, x, y)
        along = (x - line[k, X]) * line[k, COS] + (y - line[k, Y]) * line[k, SIN]
        node[j] = -1 if (k == n - 1 and along > longest) or (k == 0 and along < -longest) else k
        across[j] = offset
        cos = abs(boxes[j, 2] * line[k, COS] + boxes[j, 3] * line[k, SIN])
        sin = abs(boxes[j, 3] * line[k, COS] - boxes[j, 2] * line[k, SIN])
        long, aside = boxes[0, 4] * cos + boxes[0, 5] * sin, boxes[0, 4] * sin + boxes[0, 5] * cos
        slack = 0.2 + abs(line[k, KAPPA]) * (long + body.front) ** 2
        half[j, ALONG], half[j, ASIDE], half[j, SLACK] = long, aside, slack
        if node[j] < 0:
            continue
        wide, room = boxes[0, 4] * sin + boxes[0, 5], aside + gap + slack
        low, high = min(low, offset - wide), max(high, offset + wide)
        near_low, near_high = min(near_low, offset - room), max(near_high, offset + room)
        reach = int((long + farther + slack) * 2.0 * per) + 2
        first, last = min(first, k - reach), max(last, k + reach)
    band[0], band[1], band[2], band[3] = low, high, near_low, near_high
    track.stretch[0], track.stretch[1] = first, last


@inlined_kernel
def _bends_across(line: FloatArray, node: IntArray, boxes: FloatArray) -> bool:
    """Whether a line leads off the course of an object that itself goes straight on, as that of a car that turns."""
    for j in range(len(boxes)):
        if boxes[j, 2] * boxes[0, 2] + boxes[j, 3] * boxes[0, 3] < _SAME_COURSE:
            return False
        k = node[j]
        if k >= 0 and boxes[j, 2] * line[k, COS] + boxes[j, 3] * line[k, SIN] < _SAME_COURSE:
            return True
    return False


@kernel
def _sort_in(node: IntArray, order: IntArray) -> None:
    """Fill `order` (N,) with the rows of `node` (N, T) by their first column, equal ones as they come."""
    for i in range(len(order)):
        k = i
        while k > 0 and node[order[k - 1], 0] > node[i, 0]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


@kernel
def _choose(around: ObstacleColumns, x: float, y: float, top_speed: float, ids: IntArray) -> int:
    """Fill `ids` with the moving objects that matter for a car at a place; returns how many."""
    total = 0
    for i in range(len(around.moving)):
        if around.moving[i] and is_near(around, i, x, y) and can_meet(around, i, x, y, top_speed):
            ids[total] = i
            total += 1
    return total


@kernel
def _beside_car(
    boxes: FloatArray, pose: tuple[float, float, float, float], body: Footprint, gap: FloatArray, shadow: BoolArray,
    trailing: BoolArray,
) -> None:  # fmt: skip
    """Fill `shadow` and, for every line alike, `trailing`; a `gap` is no more than there is now."""
    sin, cos = elementary.sin_cos(pose[2])
    cx, cy = pose[0] + body.middle * cos, pose[1] + body.middle * sin
    for i in range(len(boxes)):
        box = boxes[i, 0]
        gap[i] = min(gap[i], max(DEEPEST, body_separation(pose[0], pose[1], cos, sin, body, box) - 0.02))
        along, side = (box[0] - cx) * cos + (box[1] - cy) * sin, (box[1] - cy) * cos - (box[0] - cx) * sin
        turn, sine = box[2] * cos + box[3] * sin, box[3] * cos - box[2] * sin
        long, wide = box[4] * abs(turn) + box[5] * abs(sine), box[4] * abs(sine) + box[5] * abs(turn)
        shadow[i] = along + long < -body.half_length + 0.3 and abs(side) < wide + body.half_width - _SLIPS_BY
        trailing[:, i] = turn > SAME_WAY and along + long < 0.0


@array_kernel
def gather_moving_obstacles(
    around: ObstacleColumns,
    gaps: MovingObstacleGaps,
    top_speed: float,
    car: CarOnLines,
) -> MovingObstacles:
    """Place the moving objects that a car no faster than `top_speed` (m/s) may meet on the lines, and relative to the
    car.
    """
    lines, counts, pose, body = car.lines, car.points, car.pose, car.body
    every = np.empty(len(around.moving), np.int64)
    ids = every[: _choose(around, pose[0], pose[1], top_speed, every)]
    total, times, many = len(ids), around.x.shape[1], len(counts)
    boxes, speed, gap = np.empty((total, times, 6)), np.empty(total), np.empty(total)
    vulnerable = np.empty(total, np.bool_)
    for i in range(total):
        speed[i] = around.speed[ids[i]]
        vulnerable[i] = is_vulnerable(around.kind[ids[i]]) and speed[i] > AGENT_STANDS
        gap[i] = gaps.person if vulnerable[i] else gaps.moving
        for j in range(times):
            put_box(around, ids[i], j, boxes[i, j])
    shadow, trailing = np.empty(total, np.bool_), np.empty((many, total), np.bool_)
    _beside_car(boxes, pose, body, gap, shadow, trailing)
    node, across = np.empty((many, total, times), np.int64), np.empty((many, total, times))
    half, band = np.empty((many, total, times, 3)), np.empty((many, total, 4))
    stretch, order = np.empty((many, total, 2), np.int64), np.empty((many, total), np.int64)
    for at in range(many):
        winds = _winds(lines[at], counts[at])
        for i in range(total):
            track = _Track(node[at, i], across[at, i], half[at, i], band[at, i], stretch[at, i])
            _place_on_line(lines[at], counts[at], winds, boxes[i], gap[i], body, track)
            trailing[at, i] = trailing[at, i] and not _bends_across(lines[at], track.node, boxes[i])
        _sort_in(node[at], order[at])
    return MovingObstacles(
        box=boxes, id=ids, speed=speed, gap=gap, keep=np.full(total, gaps.crossing), doubt=gaps.doubt,
        vulnerable=vulnerable, shadow=shadow, trailing=trailing, node=node, across=across, half=half, band=band,
        stretch=stretch, order=order,
    )  # fmt: skip


@kernel
def oversteps(line: FloatArray, moving: MovingObstacles, at: int, i: int, here: int) -> bool:
    """Whether object `i` comes along line `at` towards a car at sample `here`, and reaches between the line's bounds
    until it is there, as far as it is predicted: it does not keep to its own lane.

    One that turns off, or that a turn of the line leads across, does so for a while, or at an angle.
    """
    comes = False
    if moving.speed[i] < AGENT_STANDS:
        return False
    for j in range(moving.node.shape[2]):
        k, box = moving.node[at, i, j], moving.box[i, j]
        if k < 0:
            continue
        if k < here:
            break
        across, aside = moving.across[at, i, j], moving.half[at, i, j, ASIDE] - _OVER
        if across - aside > line[k, LEFT] or across + aside < line[k, RIGHT]:
            return False
        if box[2] * line[k, COS] + box[3] * line[k, SIN] > -_SAME_COURSE:
            return False
        comes = True
    return comes


@kernel
def is_dangerous_ahead(
    boxes: FloatArray, speed: FloatArray, pose: tuple[float, float, float, float], v: float, body: Footprint, rss: Rss
) -> bool:
    """Whether a car at `pose`, `v` (m/s) fast, is in a dangerous situation ([shalev2017][]) with a moving vehicle
    (`boxes` (N, T, 6), `speed` (N,)) that goes the same way, its middle ahead of the car's front: it is nearer than is
    safe both along and across. For one that comes in farther back braking alone is too late.
    """
    sin, cos = elementary.sin_cos(pose[2])
    cx, cy = pose[0] + body.middle * cos, pose[1] + body.middle * sin
    for i in range(len(boxes)):
        box = boxes[i, 0]
        turn, sine = box[2] * cos + box[3] * sin, box[3] * cos - box[2] * sin
        if turn < SAME_WAY or speed[i] < AGENT_STANDS:
            continue
        along, side = (box[0] - cx) * cos + (box[1] - cy) * sin, (box[1] - cy) * cos - (box[0] - cx) * sin
        long, wide = box[4] * turn + box[5] * abs(sine), box[4] * abs(sine) + box[5] * turn
        gap, apart = along - long - body.half_length, abs(side) - wide - body.half_width
        if along < body.half_length or gap > following_distance(v, speed[i] * turn, rss):
            continue
        towards = speed[i] * sine * (-1.0 if side > 0.0 else 1.0)
        if apart < lateral_distance(-towards, 0.0, rss):
            return True
    return False
