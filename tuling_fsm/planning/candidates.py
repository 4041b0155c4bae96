"""Which candidates there are: end offsets and transition lengths for every lane line (NOR-3, NOR-4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.lines import Lines
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.paths import (
    BACK,
    LANE,
    LEFT_AGAIN,
    NODE,
    OFFSET,
    REACHABLE,
    REACHED,
    SECOND_PASS,
    SPEC,
    START_D,
    START_S,
)
from tuling_fsm.planning.reference import LEFT, RIGHT, S
from tuling_fsm.planning.solids import Solids

MAX_CANDIDATES = 96
_AHEAD = 40.0
"""What lies farther ahead (m) is not led around yet."""
_GROUP = 7.0
"""Things that follow one another more closely than this (m) are led around together."""
_AROUND_AT_ONCE = 2
_TIMES = 20
"""Prediction steps of a moving object that its own candidates look at."""


class Shapes(NamedTuple):
    """`LateralParameters`, as far as they shape candidates."""

    grid: float
    transitions: int
    shortest: float
    offset: float
    around: float
    around_tight: float
    return_length: float


@njit(cache=True)
def _transition(start_s: float, phase: float, number: int, shapes: Shapes) -> float:
    """Arc length at which the transition `number` ends; at the same places of the route on every tick, until they are
    too near.
    """
    first = np.ceil((phase + start_s + shapes.shortest) / shapes.grid)
    return float((first + number) * shapes.grid - phase)


@njit(cache=True)
def _fits(lines: Lines, at: int, s: float, offset: float, half_width: float) -> bool:
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


@njit(cache=True)
def _in_the_way(solids: Solids, at: int, start_s: float, half: float, body: Body) -> tuple[float, float, float, float]:
    """Extent (first and last arc length, least and largest offset) of the first group of static things that a line
    leads through.
    """
    order = np.argsort(solids.extent[at, :, 0])
    group = (np.inf, -np.inf, np.inf, -np.inf)
    for m in order:
        s0, s1, d0, d1 = (
            solids.extent[at, m, 0],
            solids.extent[at, m, 1],
            solids.extent[at, m, 2],
            solids.extent[at, m, 3],
        )
        if s1 < start_s - body.rear or s0 > start_s + _AHEAD or d0 > half or d1 < -half:
            continue
        if group[1] > -np.inf and s0 > group[1] + _GROUP:
            break
        group = (min(group[0], s0), max(group[1], s1), min(group[2], d0), max(group[3], d1))
    return group


@njit(cache=True)
def _around_solids(
    lines: Lines, at: int, solids: Solids, shapes: Shapes, gap: float, body: Body, specs: FloatArray, count: int
) -> int:
    """Out beside what stands in the way, past it, and back."""
    start_s = lines.start[at, START_S]
    s0, s1, d0, d1 = _in_the_way(solids, at, start_s, body.half_width + gap, body)
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


@njit(cache=True)
def _sides(lines: Lines, at: int, movers: Movers, i: int) -> tuple[float, float]:
    """Least and largest offset that an object covers while it is ahead of the car."""
    low, high = np.inf, -np.inf
    for j in range(_TIMES):
        if movers.node[at, i, j] > lines.start[at, NODE]:
            half = movers.box[i, j, 5] + 0.1 * movers.box[i, j, 4]
            low, high = min(low, movers.across[at, i, j] - half), max(high, movers.across[at, i, j] + half)
    return low, high


@njit(cache=True)
def _around_movers(
    lines: Lines, at: int, movers: Movers, slow: float, shapes: Shapes, body: Body, specs: FloatArray, count: int
) -> int:
    """Beside where the next slow objects are going to be: these exist in the second pass only."""
    done = 0
    for i in np.argsort(movers.node[at, :, 0]):
        low, high = _sides(lines, at, movers, i)
        half = body.half_width + shapes.around_tight
        if movers.speed[i] >= slow or movers.shadow[i] or low > half or high < -half or low == np.inf:
            continue
        for side in (1.0, -1.0):
            offset = high + body.half_width + shapes.around if side > 0.0 else low - body.half_width - shapes.around
            for number in range(0, shapes.transitions, 2):
                reached = _transition(lines.start[at, START_S], lines.phase[at], number, shapes)
                if count >= len(specs) or not _fits(lines, at, reached, offset, body.half_width):
                    continue
                specs[count, LANE], specs[count, OFFSET], specs[count, REACHED] = at, offset, reached
                specs[count, LEFT_AGAIN], specs[count, BACK], specs[count, SECOND_PASS] = np.inf, np.inf, 1.0
                count += 1
        done += 1
        if done == _AROUND_AT_ONCE:
            break
    return count


@njit(cache=True)
def candidates(
    lines: Lines,
    solids: Solids,
    movers: Movers,
    slow: float,
    keep_lane: bool,
    first_pass_only: bool,
    shapes: Shapes,
    gap: float,
    body: Body,
) -> FloatArray:
    """The candidates (C, SPEC) of a tick.

    Objects slower than `slow` (m/s) are led around in the second pass (NOR-4).
    """
    specs = np.empty((MAX_CANDIDATES, SPEC))
    count = 0
    for at in range(len(lines.points)):
        if lines.start[at, REACHABLE] == 0.0 or (keep_lane and at != lines.home):
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
        count = _around_solids(lines, at, solids, shapes, gap, body, specs, count)
        if at == lines.home and not first_pass_only:
            count = _around_movers(lines, at, movers, slow, shapes, body, specs, count)
    return specs[:count]
