"""Which candidates there are: end offsets and transition lengths for every lane line (NOR-3, NOR-4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.planning.lanes.lane_lines import LaneLines
from tuling_fsm.planning.obstacles.moving import MovingObstacles, oversteps
from tuling_fsm.planning.obstacles.static import StaticObstacles
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import (
    BACK,
    LANE,
    LEFT_AGAIN,
    NODE,
    OFFSET,
    REACHABLE,
    REACHED,
    SECOND_PASS,
    START_D,
    START_S,
)
from tuling_fsm.planning.paths.reference_line import LEFT, RIGHT, S

MAX_CANDIDATES = 96
_AHEAD = 40.0
"""What lies farther ahead (m) is not led around yet."""
_GROUP = 7.0
"""Things that follow one another more closely than this (m) are led around together."""
_AROUND_AT_ONCE = 2
_CLEAR = 1.0
"""Gap (m) to a vehicle that comes towards the car at which that need not be slow (USE-15)."""
_EDGE = 0.1
"""A car that goes aside keeps this far (m) from the bounds: it swings out a little beyond where it goes."""
_TIMES = 20
"""Prediction steps of a moving object that its own candidates look at."""


class SamplingShapes(NamedTuple):
    """`LateralParameters`, as far as they shape candidates."""

    grid: float
    transitions: int
    shortest: float
    offset: float
    around: float
    around_tight: float
    return_length: float


class SamplingScope(NamedTuple):
    """What is offered on a tick: objects slower than `slow` (m/s), and those that come towards the car over its
    bounds, are led around in the second pass (NOR-4), unless there is none; `gap` (m) is how near to static things a
    path may come.
    """

    shapes: SamplingShapes
    slow: float
    keep_lane: bool
    first_pass_only: bool
    gap: float


@kernel
def _transition(start_s: float, phase: float, number: int, shapes: SamplingShapes) -> float:
    """Arc length at which the transition `number` ends; at the same places of the route on every tick, until they are
    too near.
    """
    first = np.ceil((phase + start_s + shapes.shortest) / shapes.grid)
    return float((first + number) * shapes.grid - phase)


@kernel
def _fits(lines: LaneLines, at: int, s: float, offset: float, half_width: float) -> bool:
    """Whether a body at an offset is between the bounds at an arc length, and nearer to this line than to any other."""
    line, n = lines.row[at], lines.points[at]
    k = min(max(np.searchsorted(line[:n, S], s), 0), n - 1)
    if offset + half_width > line[k, LEFT] or offset - half_width < line[k, RIGHT]:
        return False
    for other in range(len(lines.points)):
        apart = lines.start[at, START_D] - lines.start[other, START_D]
        if other != at and lines.start[other, REACHABLE] > 0.0 and abs(offset - apart) < abs(offset):
            return False
    return True


@kernel
def _is_in_the_way(extent: FloatArray, start_s: float, half: float, body: Footprint) -> bool:
    ahead = extent[1] >= start_s - body.rear and extent[0] <= start_s + _AHEAD
    return bool(ahead and extent[2] <= half and extent[3] >= -half)


@kernel
def _in_the_way(
    static: StaticObstacles, at: int, start_s: float, half: float, body: Footprint
) -> tuple[float, float, float, float]:
    """Extent (first and last arc length, least and largest offset) of the first group of static things that a line
    leads through.
    """
    extent, total = static.extent[at], len(static.box)
    first = np.inf
    for m in range(total):
        if _is_in_the_way(extent[m], start_s, half, body):
            first = min(first, extent[m, 0])
    reach, last, low, high, grows = first, -np.inf, np.inf, -np.inf, first < np.inf
    while grows:
        grows = False
        for m in range(total):
            if extent[m, 0] <= reach and _is_in_the_way(extent[m], start_s, half, body):
                low, high = min(low, extent[m, 2]), max(high, extent[m, 3])
                if extent[m, 1] > last:
                    last, grows = extent[m, 1], True
        reach = last + _GROUP
    return first, last, low, high


@kernel
def _around_static(
    lines: LaneLines,
    at: int,
    static: StaticObstacles,
    scope: SamplingScope,
    body: Footprint,
    specs: FloatArray,
    count: int,
) -> int:
    """Out beside what stands in the way, past it, and back."""
    start_s, shapes = lines.start[at, START_S], scope.shapes
    s0, s1, d0, d1 = _in_the_way(static, at, start_s, body.half_width + scope.gap, body)
    if s1 == -np.inf:
        return count
    for room in (shapes.around, shapes.around_tight):
        for side in (1.0, -1.0):
            offset = d1 + body.half_width + room if side > 0.0 else d0 - body.half_width - room
            if count >= len(specs) or not _fits(lines, at, 0.5 * (s0 + s1), offset, body.half_width):
                continue
            past = s1 + body.rear + 1.0
            reached = max(start_s + shapes.shortest, s0 - body.front - 0.5)
            specs[count, LANE], specs[count, OFFSET], specs[count, REACHED] = at, offset, reached
            specs[count, LEFT_AGAIN] = max(past, reached)
            specs[count, BACK] = specs[count, LEFT_AGAIN] + shapes.return_length
            specs[count, SECOND_PASS] = 0.0
            count += 1
    return count


@kernel
def _sides(lines: LaneLines, at: int, moving: MovingObstacles, i: int) -> tuple[float, float]:
    """Least and largest offset that an object covers while it is ahead of the car."""
    low, high = np.inf, -np.inf
    for j in range(_TIMES):
        if moving.node[at, i, j] > lines.start[at, NODE]:
            half = moving.box[i, j, 5] + 0.1 * moving.box[i, j, 4]
            low, high = min(low, moving.across[at, i, j] - half), max(high, moving.across[at, i, j] + half)
    return low, high


@kernel
def _within(lines: LaneLines, at: int, s: float, offset: float, half_width: float) -> float:
    """The offset nearest to another at which a body is well between the bounds at an arc length."""
    line, n = lines.row[at], lines.points[at]
    k = min(max(np.searchsorted(line[:n, S], s), 0), n - 1)
    side = half_width + _EDGE
    return float(max(min(offset, line[k, LEFT] - side), line[k, RIGHT] + side))


@kernel
def _beside_moving(
    lines: LaneLines,
    at: int,
    sides: tuple[float, float],
    comes: bool,
    scope: SamplingScope,
    body: Footprint,
    specs: FloatArray,
    count: int,
) -> int:
    """To either side of an object that covers the offsets from one of the `sides` to the other; beside one that comes
    towards the car as far aside as need be and as the bounds allow.
    """
    shapes = scope.shapes
    room = _CLEAR if comes else shapes.around
    for side in (1.0, -1.0):
        wanted = sides[1] + body.half_width + room if side > 0.0 else sides[0] - body.half_width - room
        for number in range(0, shapes.transitions, 2):
            reached = _transition(lines.start[at, START_S], lines.phase[at], number, shapes)
            offset = _within(lines, at, reached, wanted, body.half_width) if comes else wanted
            if abs(offset - wanted) > room or count >= len(specs):
                continue
            if _fits(lines, at, reached, offset, body.half_width):
                specs[count, LANE], specs[count, OFFSET], specs[count, REACHED] = at, offset, reached
                specs[count, LEFT_AGAIN], specs[count, BACK], specs[count, SECOND_PASS] = np.inf, np.inf, 1.0
                count += 1
    return count


@kernel
def _around_moving(
    lines: LaneLines,
    at: int,
    moving: MovingObstacles,
    scope: SamplingScope,
    body: Footprint,
    specs: FloatArray,
    count: int,
) -> int:
    """Beside where the next slow objects, and those that come towards the car over its bounds, are going to be: these
    exist in the second pass only.
    """
    done, shapes = 0, scope.shapes
    for i in moving.order[at]:
        low, high = _sides(lines, at, moving, i)
        half = body.half_width + shapes.around_tight
        if moving.shadow[i] or low > half or high < -half or low == np.inf:
            continue
        comes = oversteps(lines.row[at], moving, at, i, int(lines.start[at, NODE]))
        if moving.speed[i] >= scope.slow and not comes:
            continue
        count = _beside_moving(lines, at, (low, high), comes=comes, scope=scope, body=body, specs=specs, count=count)
        done += 1
        if done == _AROUND_AT_ONCE:
            break
    return count


@kernel
def sample_candidates(
    lines: LaneLines,
    static: StaticObstacles,
    moving: MovingObstacles,
    scope: SamplingScope,
    body: Footprint,
    specs: FloatArray,
) -> int:
    """Fill `specs` (MAX_CANDIDATES, SPEC) with the candidates of a tick; returns how many."""
    count, shapes = 0, scope.shapes
    for at in range(len(lines.points)):
        if lines.start[at, REACHABLE] == 0.0 or (scope.keep_lane and at != lines.home):
            continue
        for offset in (0.0, shapes.offset, -shapes.offset):
            # Beside the centre of another lane the longest transition will do.
            every = at == lines.home or offset == 0.0
            for number in range(0 if every else shapes.transitions - 1, shapes.transitions):
                if count < MAX_CANDIDATES:
                    specs[count, LANE], specs[count, OFFSET] = at, offset
                    reached = _transition(lines.start[at, START_S], lines.phase[at], number, shapes)
                    specs[count, REACHED], specs[count, LEFT_AGAIN], specs[count, BACK] = reached, np.inf, np.inf
                    specs[count, SECOND_PASS] = 0.0
                    count += 1
        count = _around_static(lines, at, static, scope, body, specs, count)
        if at == lines.home and not scope.first_pass_only:
            count = _around_moving(lines, at, moving, scope, body, specs, count)
    return count
