"""From a path and a speed profile to a trajectory; wheels of a car that stands are turned before it goes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.paths.frenet_path import add_headings, on_path


@kernel
def _place(path: FloatArray, n: int, rows: FloatArray, gear: float, columns: FloatArray) -> None:
    add_headings(path, n)
    for i in range(len(rows)):
        x, y, heading, kappa = on_path(path, n, rows[i, 0])
        if gear < 0.0:
            heading, kappa = heading - math.pi, -kappa
        columns[0, i], columns[1, i], columns[2, i], columns[3, i] = x, y, heading, kappa
        columns[4, i], columns[5, i] = gear * rows[i, 1], gear * rows[i, 2]


def times(rows: int) -> FloatArray:
    """Times of the rows of a profile, s."""
    return np.asarray(STEP_S * np.arange(rows), dtype=np.float64)


def timed_path(stamp: float, path: FloatArray, n: int, rows: FloatArray, gear: float) -> Trajectory:
    """Rows of `roll_out` on a path of `n` points, as a trajectory. `gear` is -1 for a path driven in reverse:
    its headings and curvatures are those of the direction of travel."""
    columns = np.empty((6, len(rows)))
    _place(path, n, rows, gear, columns)
    x, y, heading, curvature, v, a = columns
    return Trajectory(stamp, times(len(rows)), x=x, y=y, heading=heading, curvature=curvature, v=v, a=a)


_STEERED = 0.02
"""Wheels that stand this near (rad) to where they are needed need no time to get there."""


def from_standstill(
    trajectory: Trajectory, limit: Limit, curvature: float, vehicle: Vehicle
) -> tuple[Trajectory, Limit]:
    """A plan of a car that stands with its wheels turned for `curvature` (1/m), after the time that they need to turn
    to where its path begins, and what limits the speed then; where it goes nowhere, they stay as they are.
    """
    if trajectory.stands:
        return replace(trajectory, curvature=np.full(len(trajectory), curvature)), limit
    now = elementary.atan(vehicle.wheelbase * curvature)
    needed = elementary.atan(vehicle.wheelbase * float(trajectory.curvature[0]))
    rows = math.ceil(abs(needed - now) / vehicle.max_steer_rate / STEP_S)
    if abs(needed - now) < _STEERED:
        return trajectory, limit
    lead = now + (needed - now) * np.arange(rows) / rows
    columns = {name: getattr(trajectory, name) for name in ("x", "y", "heading", "v", "a")}
    held = {name: np.concatenate((np.full(rows, column[0]), column)) for name, column in columns.items()}
    held["v"][:rows], held["a"][:rows] = 0.0, 0.0
    bend = np.concatenate((elementwise.tan(lead) / vehicle.wheelbase, trajectory.curvature))
    return Trajectory(trajectory.stamp, times(len(bend)), curvature=bend, **held), Limit(Reason.STEERING)
