"""Continuous steering: ramps between the arcs and lines of a path, each section in one gear.

Where the steering jumps, it is ramped at a steady rate over a length that lies about half before and half after the
jump, so that the heading comes out the same: the path departs from the arcs by about (jump in curvature) * length^2 /
24. What that shifts the end by is taken back by slightly other lengths and curvatures of the arcs (Newton, least
change).

Each section in one gear gets ramps as long as wished. Ramps near a place where it would touch something, or that the
arcs cannot make up for, are made shorter; where even a short one does not do, the car stops and turns the wheel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.planning.free_space.collision import InflatedFootprint, SegmentGrid, advance, free_length

BIT = 0.04
"""Longest piece (m) of a ramp that is driven and checked as one arc; an arc stands in for it within 0.01 mm."""
X0, Y0, HEADING, STEER0, STEER1, LENGTH, GEAR, STOP = range(8)
"""Columns of a motion: pose at its start, steering at start and end (rad), length (m), gear, 1 after a standstill."""
ROLL_ROOM = 0.15
"""Length (m) at the end of the stretch in which a rolling car could stop that is free for turning the wheel."""
ROOM = 0.9
"""Share of an arc that its ramps may take."""
ITERATIONS = 15
CLOSE = 1e-7
"""How near (m and rad together) the end has to come."""
LEAP = 0.3
"""A correction larger than this (m or rad) means that the arcs cannot make up for the ramps."""
STEER_WEIGHT = 0.02
"""How readily steering (rad) is corrected against lengths (m)."""


class SteeringLimits(NamedTuple):
    """Wheelbase (m), largest steering angle (rad), and wished length of a ramp for each radian of steering (m)."""

    wheelbase: float
    most: float
    per_radian: float


class GearSection(NamedTuple):
    """Arcs in one gear from a pose (3,) to a goal (3,): lengths (m, positive), steering (rad) and the ramp after each
    (m).

    The first arc of a `rolling` start is the stretch to brake on: it stays as it is.
    """

    start: FloatArray
    goal: FloatArray
    gear: int
    lengths: FloatArray
    steers: FloatArray
    ramps: FloatArray
    rolling: bool


@kernel
def _share_before(steer0: float, steer1: float) -> float:
    """Share of a ramp that lies before the jump for the car to turn as far as the arcs would."""
    turn = steer1 - steer0
    if abs(turn) < 1e-3:
        return 0.5
    mean = (elementary.log(elementary.cos(steer0)) - elementary.log(elementary.cos(steer1))) / turn
    return (elementary.tan(steer1) - mean) / (elementary.tan(steer1) - elementary.tan(steer0))


@kernel
def ramp_room(section: GearSection, i: int) -> float:
    """Longest ramp (m) after arc i for which the arcs before and after it have room."""
    n, lengths = len(section.lengths), section.lengths
    share: float = _share_before(section.steers[i], section.steers[i + 1])
    before: float = lengths[i] * (ROOM if i == 0 else 0.5 * ROOM)
    if i == 0 and section.rolling:
        before = ROLL_ROOM
    after: float = lengths[i + 1] * (ROOM if i == n - 2 else 0.5 * ROOM)
    return min(before / share, after / (1.0 - share))


@kernel
def _ends(section: GearSection, i: int) -> tuple[float, float]:
    """Lengths (m) at the start and at the end of arc i that its ramps take."""
    steers, ramps, first, last = section.steers, section.ramps, 0.0, 0.0
    if i > 0:
        first = ramps[i - 1] * (1.0 - _share_before(steers[i - 1], steers[i]))
    if i < len(ramps):
        last = ramps[i] * _share_before(steers[i], steers[i + 1])
    return first, last


@kernel
def _put(
    row: FloatArray, pose: FloatArray, steer0: float, steer1: float, length: float, gear: int, stop: float
) -> None:
    """Writes one row of a motion."""
    row[X0], row[Y0], row[HEADING] = pose[0], pose[1], pose[2]
    row[STEER0], row[STEER1] = steer0, steer1
    row[LENGTH], row[GEAR], row[STOP] = length, gear, stop


@kernel
def _go(pose: FloatArray, steer: float, signed: float, wheelbase: float) -> None:
    """Moves a pose to the end of an arc."""
    x, y, h = advance(pose[0], pose[1], pose[2], elementary.tan(steer) / wheelbase, signed)
    pose[0], pose[1], pose[2] = x, y, h


@array_kernel
def lay_section(section: GearSection, wheelbase: float, out: FloatArray) -> tuple[int, FloatArray]:
    """Writes the motion of a section; its rows and the pose at its end. Where a ramp has no length, it stops."""
    pose, n, rows, gear = section.start.copy(), len(section.lengths), 0, section.gear
    ramps, steers, stop = section.ramps, section.steers, 1.0
    for i in range(n):
        first, last = _ends(section, i)
        core = section.lengths[i] - first - last
        if core > 1e-9:
            _put(out[rows], pose, steers[i], steers[i], core, gear, stop)
            _go(pose, steers[i], gear * core, wheelbase)
            rows, stop = rows + 1, 0.0
        if i == n - 1:
            break
        if ramps[i] <= 0.0:
            stop = 1.0
            continue
        bits = math.ceil(ramps[i] / BIT)
        step, turn = ramps[i] / bits, (steers[i + 1] - steers[i]) / bits
        for b in range(bits):
            steer = steers[i] + b * turn
            _put(out[rows], pose, steer, steer + turn, step, gear, stop)
            _go(pose, steer + 0.5 * turn, gear * step, wheelbase)
            rows, stop = rows + 1, 0.0
    return rows, pose


@kernel
def _solve3(a: FloatArray, b: FloatArray) -> bool:
    """Solves a 3 x 3 system in place by elimination with pivoting; False when it is singular."""
    for i in range(3):
        p = i
        for r in range(i + 1, 3):
            p = r if abs(a[r, i]) > abs(a[p, i]) else p
        if abs(a[p, i]) < 1e-9:
            return False
        for c in range(3):
            a[i, c], a[p, c] = a[p, c], a[i, c]
        b[i], b[p] = b[p], b[i]
        for r in range(i + 1, 3):
            f = a[r, i] / a[i, i]
            for c in range(i, 3):
                a[r, c] -= f * a[i, c]
            b[r] -= f * b[i]
    for i in range(2, -1, -1):
        for c in range(i + 1, 3):
            b[i] -= a[i, c] * b[c]
        b[i] /= a[i, i]
    return True


@kernel
def _pose_at(motion: FloatArray, s: float, wheelbase: float) -> tuple[float, float, float]:
    """The pose after a length of a motion in one gear."""
    row = 0
    while row < len(motion) - 1 and s > motion[row, LENGTH] + 1e-9:
        s -= motion[row, LENGTH]
        row += 1
    k = elementary.tan(0.5 * (motion[row, STEER0] + motion[row, STEER1])) / wheelbase
    x, y, h = advance(motion[row, X0], motion[row, Y0], motion[row, HEADING], k, motion[row, GEAR] * s)
    return x, y, h


@kernel
def _influence(section: GearSection, motion: FloatArray, end: FloatArray, wheelbase: float, out: FloatArray) -> None:
    """Change of the end pose by each length, then by each steering: columns of `out` (3, 2 n)."""
    n, gear, s = len(section.lengths), section.gear, 0.0
    for i in range(n):
        length, steer = section.lengths[i], section.steers[i]
        x, y, _ = _pose_at(motion, s + 0.5 * length, wheelbase)
        swing = gear * length / (wheelbase * elementary.cos(steer) ** 2)
        out[0, n + i], out[1, n + i], out[2, n + i] = -swing * (end[1] - y), swing * (end[0] - x), swing
        s += length
        x, y, h = _pose_at(motion, s, wheelbase)
        turn = gear * elementary.tan(steer) / wheelbase
        sine, cosine = elementary.sin_cos(h)
        out[0, i] = gear * cosine - turn * (end[1] - y)
        out[1, i] = gear * sine + turn * (end[0] - x)
        out[2, i] = turn


@array_kernel
def _correct(section: GearSection, columns: FloatArray, miss: FloatArray, held: BoolArray, most: float) -> bool:
    """Changes lengths and steering by the least that makes up for `miss`; what reaches a bound is held there."""
    n = len(section.lengths)
    weight = np.empty(2 * n)
    for v in range(2 * n):
        weight[v] = 0.0 if held[v] else (1.0 if v < n else STEER_WEIGHT)
    normal = np.zeros((3, 3))
    for v in range(2 * n):
        for a in range(3):
            for b in range(3):
                normal[a, b] += weight[v] * columns[a, v] * columns[b, v]
    if not _solve3(normal, miss):
        return False
    for v in range(2 * n):
        step = weight[v] * (columns[0, v] * miss[0] + columns[1, v] * miss[1] + columns[2, v] * miss[2])
        if abs(step) > LEAP:
            return False
        if v < n:
            first, last = _ends(section, v)
            least = first + last
            section.lengths[v] = max(section.lengths[v] + step, least)
            held[v] = held[v] or section.lengths[v] <= least
        else:
            steer = section.steers[v - n] + step
            section.steers[v - n] = min(most, max(-most, steer))
            held[v] = held[v] or abs(steer) > most
    return True


@array_kernel
def close_section(section: GearSection, car: SteeringLimits, out: FloatArray) -> int:
    """Adjusts lengths and steering until the section with its ramps ends at its goal.

    Returns the rows of its motion in `out`, 0 if that cannot be had.
    """
    n = len(section.lengths)
    columns, held = np.zeros((3, 2 * n)), np.zeros(2 * n, np.bool_)
    if section.rolling:
        held[0], held[n] = True, True
    rows: int
    for _ in range(ITERATIONS):
        rows, end = lay_section(section, car.wheelbase, out)
        miss = section.goal - end
        if abs(miss[0]) + abs(miss[1]) + abs(miss[2]) < CLOSE:
            return rows
        _influence(section, out[:rows], end, car.wheelbase, columns)
        if not _correct(section, columns, miss, held, car.most):
            break
    return 0


LEAST = 0.125
"""Least share of the wished length of a ramp: creeping along a shorter one would take longer than a stop."""
SHARES = np.array((1.0, 0.5, 0.25, LEAST, 0.0))
"""Shares of the wished length of a ramp that are tried in turn."""

SPREAD = 3.0
"""Distance (m) for which a ramp is taken that is a share longer."""


@kernel
def free_of_motion(walls: SegmentGrid, body: InflatedFootprint, motion: FloatArray, wheelbase: float) -> float:
    """Length (m) of the motion that the car can go before it touches anything; infinite if it never does."""
    done = 0.0
    for r in range(len(motion)):
        k = elementary.tan(0.5 * (motion[r, STEER0] + motion[r, STEER1])) / wheelbase
        x, y, h, length = motion[r, X0], motion[r, Y0], motion[r, HEADING], motion[r, LENGTH]
        free: float = free_length(walls, body, x, y, h, curvature=k, gear=int(motion[r, GEAR]), limit=length)
        if free < length:
            return done + free
        done += length
    return np.inf


@kernel
def _shorten_ramp(levels: IntArray, lengths: FloatArray, s: float) -> None:
    """Makes one ramp shorter: near a length `s` (m) along the section, if finite, and rather one still long."""
    chosen, at, least = -1, 0.0, np.inf
    for i in range(len(levels)):
        at += lengths[i]
        distance = (abs(at - s) if s < np.inf else 0.0) + SPREAD * levels[i]
        if levels[i] < len(SHARES) - 1 and distance < least:
            chosen, least = i, distance
    levels[chosen] += 1


@array_kernel
def _ramped(
    walls: SegmentGrid, body: InflatedFootprint, arcs: GearSection, car: SteeringLimits, out: FloatArray
) -> int:
    """Writes the motion of a section with ramps as long as they can be; its rows."""
    levels = np.zeros(len(arcs.ramps), np.int64)
    left = (len(SHARES) - 1) * len(levels)
    while left > 0:
        left -= 1
        section = GearSection(
            arcs.start, arcs.goal, arcs.gear, arcs.lengths.copy(), arcs.steers.copy(), arcs.ramps.copy(), arcs.rolling
        )
        for i in range(len(levels)):
            wish, room = car.per_radian * abs(arcs.steers[i + 1] - arcs.steers[i]), ramp_room(arcs, i)
            section.ramps[i] = 0.0 if room < LEAST * wish else min(SHARES[levels[i]] * wish, room)
        rows: int = close_section(section, car, out)
        if rows == 0:
            _shorten_ramp(levels, section.lengths, np.inf)
            continue
        free = free_of_motion(walls, body, out[:rows], car.wheelbase)
        if free == np.inf:
            return rows
        _shorten_ramp(levels, section.lengths, free)
    for i in range(len(levels)):
        arcs.ramps[i] = 0.0
    whole: int = lay_section(arcs, car.wheelbase, out)[0]
    return whole


@array_kernel
def smooth(
    walls: SegmentGrid,
    body: InflatedFootprint,
    pose: FloatArray,
    steers: FloatArray,
    lengths: FloatArray,
    car: SteeringLimits,
    rolling: bool,
) -> FloatArray:
    """The motion (N, 8) along arcs of steering `steers` (rad) and signed `lengths` (m) from a pose.

    `rolling` says that the car moves at the start: the first arc is then kept as it is.
    """
    most = 64 + len(lengths) * (4 + int(2.0 * car.per_radian * car.most / BIT))
    motion, rows, i = np.zeros((most, 8)), 0, 0
    start = pose.copy()
    while i < len(lengths):
        j, goal = i, start.copy()
        while j < len(lengths) and lengths[j] * lengths[i] > 0.0:
            bend = elementary.tan(steers[j]) / car.wheelbase
            goal[0], goal[1], goal[2] = advance(goal[0], goal[1], goal[2], bend, lengths[j])
            j += 1
        gear = 1 if lengths[i] > 0.0 else -1
        ramps = np.zeros(j - i - 1)
        arcs = GearSection(start, goal, gear, gear * lengths[i:j], steers[i:j].copy(), ramps, rolling and i == 0)
        rows += _ramped(walls, body, arcs, car, motion[rows:])
        start, i = goal, j
    return motion[:rows]
