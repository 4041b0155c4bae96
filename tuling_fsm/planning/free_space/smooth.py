"""Makes the steering along a path of arcs and lines continuous while the car moves.

Each section in one gear gets ramps as long as wished. Ramps near a place where it would touch something, or that the
arcs cannot make up for, are made shorter; where even a short one does not do, the car stops and turns the wheel.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import inner, kernel, maker
from tuling_fsm.planning.free_space.ramps import (
    BIT,
    GEAR,
    HEADING,
    LENGTH,
    STEER0,
    STEER1,
    X0,
    Y0,
    Section,
    Steering,
    close_section,
    lay,
    ramp_room,
)
from tuling_fsm.planning.free_space.sweep import Body, advance
from tuling_fsm.planning.free_space.walls import Walls, free_length

LEAST = 0.25
"""Least share of the wished length of a ramp: creeping along a shorter one would take longer than a stop."""
SHARES = np.array((1.0, 0.5, LEAST, 0.0))
"""Shares of the wished length of a ramp that are tried in turn."""

SPREAD = 3.0
"""Distance (m) for which a ramp is taken that is a share longer."""


@kernel
def free_of_motion(walls: Walls, body: Body, motion: FloatArray, wheelbase: float) -> float:
    """Length (m) of the motion that the car can go before it touches anything; infinite if it never does."""
    done = 0.0
    for r in range(len(motion)):
        k = elementary.tan(0.5 * (motion[r, STEER0] + motion[r, STEER1])) / wheelbase
        x, y, h, length = motion[r, X0], motion[r, Y0], motion[r, HEADING], motion[r, LENGTH]
        free: float = free_length(walls, body, x, y, h, k, int(motion[r, GEAR]), length)
        if free < length:
            return done + free
        done += length
    return np.inf


@inner
def _shorten_ramp(levels: npt.NDArray[np.int64], lengths: FloatArray, s: float) -> None:
    """Makes one ramp shorter: near a length `s` (m) along the section, if finite, and rather one still long."""
    chosen, at, least = -1, 0.0, np.inf
    for i in range(len(levels)):
        at += lengths[i]
        distance = (abs(at - s) if s < np.inf else 0.0) + SPREAD * levels[i]
        if levels[i] < len(SHARES) - 1 and distance < least:
            chosen, least = i, distance
    levels[chosen] += 1


@maker
def _ramped(walls: Walls, body: Body, arcs: Section, car: Steering, out: FloatArray) -> int:
    """Writes the motion of a section with ramps as long as they can be; its rows."""
    levels = np.zeros(len(arcs.ramps), np.int64)
    left = (len(SHARES) - 1) * len(levels)
    while left > 0:
        left -= 1
        section = Section(
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
    whole: int = lay(arcs, car.wheelbase, out)[0]
    return whole


@njit(cache=True, error_model="numpy")
def smooth(
    walls: Walls, body: Body, pose: FloatArray, steers: FloatArray, lengths: FloatArray, car: Steering, rolling: bool
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
        arcs = Section(start, goal, gear, gear * lengths[i:j], steers[i:j].copy(), ramps, rolling and i == 0)
        rows += _ramped(walls, body, arcs, car, motion[rows:])
        start, i = goal, j
    return motion[:rows]
