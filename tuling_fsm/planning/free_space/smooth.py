"""Makes the curvature of a path of arcs and lines continuous while the car moves.

Where the steering jumps, it is ramped at a steady rate over a length that lies half before and half after the jump: the path departs
from the arcs by about (jump in curvature) * length^2 / 24. What that shifts the end by is taken back by slightly other lengths and
curvatures of the arcs (Newton). A section whose ramps touch something gets shorter ramps, and in the end none: the car stops there
and turns the wheel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.planning.free_space.sweep import Body, advance
from tuling_fsm.planning.free_space.walls import Walls, free_length

BIT = 0.04
"""Longest piece (m) of a ramp that is driven and checked as one arc; an arc stands in for it within 0.01 mm."""
LADDER = (1.0, 0.5, 0.25, 0.1)
"""Shares of the wished length of a ramp that are tried in turn."""
X0, Y0, HEADING, STEER0, STEER1, LENGTH, GEAR, STOP = range(8)
"""Columns of a motion: pose at its start, steering at start and end (rad), length (m), gear, 1 where the car stands before it."""
ROLL_ROOM = 0.15
"""Length (m) at the end of the stretch in which a rolling car could stop that is free for turning the wheel."""
ITERATIONS = 15
CLOSE = 1e-7


class Steering(NamedTuple):
    """Wheelbase (m), largest steering angle (rad), and wished length of a ramp for each radian of steering (m)."""

    wheelbase: float
    most: float
    per_radian: float


@njit(cache=True)
def ramp_lengths(lengths: FloatArray, steers: FloatArray, per_radian: float, rolling: bool, out: FloatArray) -> None:
    """Length of the ramp after each piece of a section but the last: `per_radian` of steering, or what the pieces have room for.

    The first piece of a `rolling` start is there to brake on: a ramp may take no more than its last `ROLL_ROOM`.
    """
    n = len(lengths)
    for i in range(n - 1):
        before = lengths[i] * (1.8 if i == 0 else 0.9)
        if i == 0 and rolling:
            before = 2.0 * ROLL_ROOM
        after = lengths[i + 1] * (1.8 if i == n - 2 else 0.9)
        out[i] = min(per_radian * abs(steers[i + 1] - steers[i]), before, after)


@njit(cache=True)
def _put(
    row: FloatArray, x: float, y: float, heading: float, steer0: float, steer1: float, length: float, gear: int
) -> None:
    """Writes one row of a motion."""
    row[X0], row[Y0], row[HEADING] = x, y, heading
    row[STEER0], row[STEER1] = steer0, steer1
    row[LENGTH], row[GEAR], row[STOP] = length, gear, 0.0


@njit(cache=True)
def lay(
    pose: FloatArray,
    gear: int,
    lengths: FloatArray,
    steers: FloatArray,
    ramps: FloatArray,
    wheelbase: float,
    out: FloatArray,
) -> tuple[int, FloatArray]:
    """Writes the motion of one section to `out` and returns its rows and the pose at its end."""
    x, y, h = pose
    n, rows = len(lengths), 0
    for i in range(n):
        core = lengths[i] - (0.5 * ramps[i - 1] if i > 0 else 0.0) - (0.5 * ramps[i] if i < n - 1 else 0.0)
        if core > 1e-9:
            _put(out[rows], x, y, h, steers[i], steers[i], core, gear)
            rows += 1
            x, y, h = advance(x, y, h, math.tan(steers[i]) / wheelbase, gear * core)
        if i == n - 1 or ramps[i] <= 0.0:
            continue
        bits = math.ceil(ramps[i] / BIT)
        step, turn = ramps[i] / bits, (steers[i + 1] - steers[i]) / bits
        for b in range(bits):
            start = steers[i] + b * turn
            _put(out[rows], x, y, h, start, start + turn, step, gear)
            rows += 1
            x, y, h = advance(x, y, h, math.tan(start + 0.5 * turn) / wheelbase, gear * step)
    return rows, np.array((x, y, h))


@njit(cache=True)
def _solve3(a: FloatArray, b: FloatArray) -> bool:
    """Solves a 3 x 3 system in place by elimination with pivoting; False when it is singular."""
    for i in range(3):
        p = i
        for r in range(i + 1, 3):
            if abs(a[r, i]) > abs(a[p, i]):
                p = r
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


@njit(cache=True)
def _influence(
    motion: FloatArray,
    rows: int,
    gear: int,
    lengths: FloatArray,
    steers: FloatArray,
    end: FloatArray,
    wheelbase: float,
    out: FloatArray,
) -> None:
    """Change of the end pose (3) by each length, then by each steering: columns of `out` (3, 2 n)."""
    n = len(lengths)
    s, row = 0.0, 0
    for i in range(n):
        for half in (0.5, 1.0):
            at = s + half * lengths[i]
            done = 0.0
            for r in range(rows):
                if done + motion[r, LENGTH] >= at - 1e-9 or r == rows - 1:
                    row = r
                    break
                done += motion[r, LENGTH]
            k = math.tan(0.5 * (motion[row, STEER0] + motion[row, STEER1])) / wheelbase
            x, y, h = advance(motion[row, X0], motion[row, Y0], motion[row, HEADING], k, gear * (at - done))
            turn = gear * math.tan(steers[i]) / wheelbase
            if half == 1.0:
                out[0, i] = gear * math.cos(h) - turn * (end[1] - y)
                out[1, i] = gear * math.sin(h) + turn * (end[0] - x)
                out[2, i] = turn
            else:
                swing = gear * lengths[i] / (wheelbase * math.cos(steers[i]) ** 2)
                out[0, n + i] = -swing * (end[1] - y)
                out[1, n + i] = swing * (end[0] - x)
                out[2, n + i] = swing
        s += lengths[i]


@njit(cache=True)
def close_section(
    pose: FloatArray,
    goal: FloatArray,
    gear: int,
    lengths: FloatArray,
    steers: FloatArray,
    ramps: FloatArray,
    wheelbase: float,
    max_steer: float,
    rolling: bool,
    out: FloatArray,
) -> int:
    """Adjusts `lengths` and `steers` until the section with its ramps ends at `goal`; rows of its motion in `out`, 0 if it fails.

    The first piece of a `rolling` start stays as it is.
    """
    n = len(lengths)
    columns, held = np.zeros((3, 2 * n)), np.zeros(2 * n, np.bool_)
    held[0], held[n] = rolling, rolling
    weight = np.ones(2 * n)
    for i in range(n):
        weight[n + i] = 0.02
    for _ in range(ITERATIONS):
        rows, end = lay(pose, gear, lengths, steers, ramps, wheelbase, out)
        miss = goal - end
        if abs(miss[0]) + abs(miss[1]) + abs(miss[2]) < CLOSE:
            return rows
        _influence(out, rows, gear, lengths, steers, end, wheelbase, columns)
        normal = np.zeros((3, 3))
        for v in range(2 * n):
            if not held[v]:
                for a in range(3):
                    for b in range(3):
                        normal[a, b] += weight[v] * columns[a, v] * columns[b, v]
        if not _solve3(normal, miss):
            return 0
        for v in range(2 * n):
            if held[v]:
                continue
            step = weight[v] * (columns[0, v] * miss[0] + columns[1, v] * miss[1] + columns[2, v] * miss[2])
            if abs(step) > 0.3:
                return 0
            if v < n:
                least = (0.5 * ramps[v - 1] if v > 0 else 0.0) + (0.5 * ramps[v] if v < n - 1 else 0.0)
                lengths[v] += step
                if lengths[v] < least:
                    lengths[v], held[v] = least, True
            else:
                steers[v - n] += step
                if abs(steers[v - n]) > max_steer:
                    steers[v - n], held[v] = math.copysign(max_steer, steers[v - n]), True
    return 0


@njit(cache=True)
def free_of_motion(walls: Walls, body: Body, motion: FloatArray, wheelbase: float) -> float:
    """Length (m) of the motion that the car can go before it touches anything; infinite if it never does."""
    done = 0.0
    for r in range(len(motion)):
        k = math.tan(0.5 * (motion[r, STEER0] + motion[r, STEER1])) / wheelbase
        x, y, h, length = motion[r, X0], motion[r, Y0], motion[r, HEADING], motion[r, LENGTH]
        free = free_length(walls, body, x, y, h, k, int(motion[r, GEAR]), length)
        if free < length:
            return done + free
        done += length
    return np.inf


@njit(cache=True)
def _stop_and_turn(
    pose: FloatArray, gear: int, lengths: FloatArray, steers: FloatArray, wheelbase: float, out: FloatArray
) -> int:
    """The section as it is, with a stop before each piece."""
    rows, _ = lay(pose, gear, lengths, steers, np.zeros(len(lengths)), wheelbase, out)
    for r in range(rows):
        out[r, STOP] = 1.0
    return rows


@njit(cache=True)
def _ramped(
    walls: Walls,
    body: Body,
    start: FloatArray,
    goal: FloatArray,
    gear: int,
    lengths: FloatArray,
    steers: FloatArray,
    car: Steering,
    rolling: bool,
    out: FloatArray,
) -> int:
    """Writes the section with the longest ramps that are free; its rows, 0 when none are."""
    ramps = np.zeros(len(lengths))
    for share in LADDER:
        length, steer = lengths.copy(), steers.copy()
        ramp_lengths(length, steer, share * car.per_radian, rolling, ramps)
        rows = close_section(start, goal, gear, length, steer, ramps, car.wheelbase, car.most, rolling, out)
        if rows > 0 and free_of_motion(walls, body, out[:rows], car.wheelbase) == np.inf:
            return rows
    return 0


@njit(cache=True)
def smooth(
    walls: Walls, body: Body, pose: FloatArray, steers: FloatArray, lengths: FloatArray, car: Steering, rolling: bool
) -> FloatArray:
    """The motion (N, 8) along pieces of steering `steers` (rad) and signed `lengths` (m) from a pose.

    `rolling` says that the car moves at the start: the first piece is then kept as it is.
    """
    most = 64 + len(lengths) * (4 + int(2.0 * car.per_radian * car.most / BIT))
    motion, rows, i = np.zeros((most, 8)), 0, 0
    start = pose.copy()
    while i < len(lengths):
        j = i + 1
        while j < len(lengths) and lengths[j] * lengths[i] > 0.0:
            j += 1
        gear = 1 if lengths[i] > 0.0 else -1
        goal = start.copy()
        for k in range(i, j):
            goal[0], goal[1], goal[2] = advance(
                goal[0], goal[1], goal[2], math.tan(steers[k]) / car.wheelbase, lengths[k]
            )
        length, roll = np.abs(lengths[i:j]), rolling and i == 0
        added = _ramped(walls, body, start, goal, gear, length, steers[i:j], car, roll, motion[rows:])
        if added == 0:
            added = _stop_and_turn(start, gear, length, steers[i:j], car.wheelbase, motion[rows:])
        motion[rows, STOP] = 1.0
        rows += added
        start, i = goal, j
    return motion[:rows]
