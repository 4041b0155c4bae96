"""A timed motion of the rear axle: what every planner returns and the tracker follows."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.standing import AT_REST

STEP_S = 0.1
"""Between two rows of a planned trajectory."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Rows of equal length N >= 1, `t` (s) strictly increasing from `stamp`.

    `x`, `y` (m) and `heading` (rad, continuous) are the rear axle in `map`; `curvature` (1/m, + left) is that of the
    path; `v` (m/s) is negative in reverse; `a` (m/s^2) is dv/dt. After the last row the car keeps that row: a
    trajectory that ends with `v` = 0 ends standing.
    """

    stamp: float
    t: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    curvature: FloatArray
    v: FloatArray
    a: FloatArray

    @classmethod
    def standing(cls, stamp: float, pose: Pose, curvature: float = 0.0) -> Trajectory:
        """Speed 0 at a pose."""
        column = np.zeros(1)
        return cls(
            stamp, column, column + pose.x, column + pose.y, column + pose.heading, column + curvature, column, column
        )

    def __len__(self) -> int:
        return len(self.t)

    @property
    def stands(self) -> bool:
        """Whether no row moves."""
        return self.top_speed < AT_REST

    @property
    def top_speed(self) -> float:
        """The greatest speed of any row, forwards or in reverse, m/s."""
        return _fastest(self.v)

    @property
    def length(self) -> float:
        """How far it drives, forwards and in reverse, m."""
        return _length(np.ascontiguousarray(self.x), np.ascontiguousarray(self.y))

    @property
    def end_stamp(self) -> float:
        """Stamp of the last row, s."""
        return self.stamp + float(self.t[-1])

    def pose(self, i: int) -> Pose:
        """The pose of row `i`."""
        return Pose(float(self.x[i]), float(self.y[i]), float(self.heading[i]))

    def sample(self, stamp: float) -> tuple[Pose, float, float, float]:
        """Pose, curvature, speed and acceleration at a stamp, linear between rows and clamped to the ends."""
        t = stamp - self.stamp
        x, y, heading, curvature, v, a = (
            float(np.interp(t, self.t, row)) for row in (self.x, self.y, self.heading, self.curvature, self.v, self.a)
        )
        return Pose(x, y, heading), curvature, v, a

    def after(self, stamp: float) -> Trajectory:
        """The rest from `stamp` on, with that as its stamp; its first row is interpolated."""
        pose, curvature, v, a = self.sample(stamp)
        keep = self.t + self.stamp > stamp + 1e-9
        rows = {f.name: getattr(self, f.name)[keep] for f in fields(self) if f.name != "stamp"}
        rows["t"] = rows["t"] + (self.stamp - stamp)
        first = {"t": 0.0, "x": pose.x, "y": pose.y, "heading": pose.heading, "curvature": curvature, "v": v, "a": a}
        return Trajectory(stamp, **{name: np.concatenate(([first[name]], row)) for name, row in rows.items()})


@kernel
def _length(x: FloatArray, y: FloatArray) -> float:
    total = 0.0
    for i in range(len(x) - 1):
        total += elementary.hypot(x[i + 1] - x[i], y[i + 1] - y[i])
    return total


@kernel
def _fastest(v: FloatArray) -> float:
    fastest = 0.0
    for i in range(len(v)):
        fastest = max(fastest, abs(v[i]))
    return fastest
