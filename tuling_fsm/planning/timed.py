"""A path and a speed profile make a trajectory."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.paths import add_headings, on_path
from tuling_fsm.planning.profile import STEP_S


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
    """Rows of `profile.roll_out` on a path of `n` points, as a trajectory. `gear` is -1 for a path driven in reverse:
    its headings and curvatures are those of the direction of travel."""
    columns = np.empty((6, len(rows)))
    _place(path, n, rows, gear, columns)
    x, y, heading, curvature, v, a = columns
    return Trajectory(stamp, times(len(rows)), x, y, heading, curvature, v, a)
