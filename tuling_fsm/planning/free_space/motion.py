"""From a path to a timed motion: what a rolling car covers first, smooth steering, stop walls, speed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.request import StopWall
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.parameters import FreeSpaceParameters
from tuling_fsm.planning.free_space.problem import Frame, body_of
from tuling_fsm.planning.free_space.profile import Limits, window
from tuling_fsm.planning.free_space.ramps import LENGTH, ROLL_ROOM, STEER0, STEER1
from tuling_fsm.planning.free_space.smooth import free_of_motion
from tuling_fsm.planning.free_space.walls import bin_segments

SHORTEST = 0.05
"""A motion that a stop wall leaves shorter than this (m) is not begun."""


def limits_of(vehicle: Vehicle, parameters: FreeSpaceParameters, speed_limit: float) -> Limits:
    """The bounds of a speed profile; rows are at most 0.1 m apart."""
    forward, reverse = min(vehicle.max_speed, speed_limit), min(vehicle.max_reverse_speed, speed_limit)
    return Limits(
        forward=forward,
        reverse=reverse,
        accel=min(vehicle.max_accel, parameters.accel),
        decel=min(vehicle.comfort_decel, parameters.accel),
        jerk=vehicle.max_jerk,
        lateral=vehicle.max_lateral_accel,
        steer_rate=vehicle.max_steer_rate,
        wheelbase=vehicle.wheelbase,
        row=min(parameters.row, 0.099 / max(forward, reverse)),
    )


def stopping_length(v: float, limits: Limits) -> float:
    """Length (m) in which a rolling car comes to a comfortable stop, and a little in which it may turn the wheel."""
    return float(abs(v) * window(limits) / 2.0 + v * v / (2.0 * limits.decel) + 2.0 * ROLL_ROOM)


def cut_at_walls(
    motion: FloatArray, walls: Sequence[StopWall], frame: Frame, vehicle: Vehicle, gap: float, least: float
) -> tuple[FloatArray, StopWall | None]:
    """The motion up to `gap` (m) before the first wall that it meets, and that wall.

    A wall that the car touches at the start is behind its bumper already and stops nothing. A car that rolls cannot
    stop within less than `least` (m).
    """
    body = body_of(vehicle, 0.0)
    nearest, first = math.inf, None
    for wall in walls:
        ends = frame.to_local(np.array(((wall.x0, wall.y0), (wall.x1, wall.y1))))
        low, high = ends.min(axis=0) - 1.0, ends.max(axis=0) + 1.0
        binned = bin_segments(ends.reshape(1, 4), low[0], low[1], high[0], high[1])
        free = free_of_motion(binned, body, motion, vehicle.wheelbase)
        if 0.0 < free < nearest:
            nearest, first = free, wall
    return (motion, None) if first is None else (shortened(motion, max(nearest - gap, least)), first)


def shortened(motion: FloatArray, length: float) -> FloatArray:
    """The first `length` (m) of a motion; no rows when that is not worth driving."""
    if length < SHORTEST:
        return motion[:0]
    ends = np.cumsum(motion[:, LENGTH])
    last = int(np.searchsorted(ends, length))
    if last >= len(motion):
        return motion
    kept = motion[: last + 1].copy()
    share = 1.0 - (ends[last] - length) / motion[last, LENGTH]
    kept[last, LENGTH] *= share
    kept[last, STEER1] = kept[last, STEER0] + share * (kept[last, STEER1] - kept[last, STEER0])
    return kept
