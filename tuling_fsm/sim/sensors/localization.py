"""Where the car believes to be: while localization is lost it reckons on from its speed and yaw rate, and drifts.

Whatever is then told or asked in the frame `map` is told or asked in the frame of that belief.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.sim.parameters import SensorParameters


class PoseOffset(NamedTuple):
    """A turn about the origin (rad), then a move (m)."""

    turn: float
    x: float
    y: float

    def pose(self, pose: Pose) -> Pose:
        """A pose moved."""
        s, c = elementary.sin_cos(self.turn)
        heading = float(wrap_angle(pose.heading + self.turn))
        return Pose(c * pose.x - s * pose.y + self.x, s * pose.x + c * pose.y + self.y, heading)

    def table(self, rows: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
        """A table with `x`, `y`, `heading` in `map`, and velocities if it has them."""
        if self == NOWHERE:
            return rows
        moved = rows.copy()
        s, c = elementary.sin_cos(self.turn)
        x, y = rows["x"].astype(np.float64), rows["y"].astype(np.float64)
        moved["x"], moved["y"] = c * x - s * y + self.x, s * x + c * y + self.y
        moved["heading"] = elementwise.wrap_angle(rows["heading"].astype(np.float64) + self.turn)
        if "vx" in (rows.dtype.names or ()):
            moved["vx"], moved["vy"] = c * rows["vx"] - s * rows["vy"], s * rows["vx"] + c * rows["vy"]
        return moved

    def boxes(self, boxes: FloatArray) -> FloatArray:
        """Rows (N, >= 4) of x, y, z, heading and more moved."""
        moved = boxes.copy()
        s, c = elementary.sin_cos(self.turn)
        moved[:, 0] = c * boxes[:, 0] - s * boxes[:, 1] + self.x
        moved[:, 1] = s * boxes[:, 0] + c * boxes[:, 1] + self.y
        moved[:, 3] = boxes[:, 3] + self.turn
        return moved

    def trajectory(self, plan: Trajectory) -> Trajectory:
        """A plan moved."""
        s, c = elementary.sin_cos(self.turn)
        x, y = c * plan.x - s * plan.y + self.x, s * plan.x + c * plan.y + self.y
        return dataclasses.replace(plan, x=x, y=y, heading=plan.heading + self.turn)


NOWHERE = PoseOffset(0.0, 0.0, 0.0)


def shift_from(one: Pose, other: Pose) -> PoseOffset:
    """The shift that takes one pose to another."""
    turn = float(wrap_angle(other.heading - one.heading))
    s, c = elementary.sin_cos(turn)
    return PoseOffset(turn, other.x - (c * one.x - s * one.y), other.y - (s * one.x + c * one.y))


class LocalizationError(NamedTuple):
    """By how much a localization that reports itself sound is off, in the frame of the car: metres ahead and to the
    left, and by how many more to the left each second.
    """

    ahead: float = 0.0
    left: float = 0.0
    drift: float = 0.0

    def after(self, seconds: float) -> LocalizationError:
        """The same as it has grown."""
        return self._replace(left=self.left + self.drift * seconds)

    def shifts(self, pose: Pose) -> Pose:
        """Where a car at a pose is believed to be."""
        s, c = elementary.sin_cos(pose.heading)
        x, y = pose.x + self.ahead * c - self.left * s, pose.y + self.ahead * s + self.left * c
        return Pose(x, y, pose.heading)


SOUND = LocalizationError()


class DeadReckoning:
    """The car's belief, frame by frame."""

    def __init__(self, parameters: SensorParameters) -> None:
        self._p = parameters
        self.error = SOUND
        """Of the localization, while there is one."""
        self._believed: Pose | None = None
        self._stamp = 0.0
        self.from_map = NOWHERE
        """From the frame `map` into that of the belief."""
        self.to_map = NOWHERE

    def update(self, stamp: float, pose: Pose, v: float, yaw_rate: float, localized: bool) -> Pose:
        """The believed pose on a frame (s); to be asked once a frame. `pose`, `v` (m/s) and `yaw_rate` (rad/s) are the
        true ones of the rear axle.
        """
        before, dt = self._believed, stamp - self._stamp
        self._stamp = stamp
        if self.error != SOUND and localized:
            self.error = self.error.after(dt)
            return self._believe(pose, self.error.shifts(pose))
        if localized or before is None:
            self._believed, self.from_map, self.to_map = pose, NOWHERE, NOWHERE
            return pose
        way = (1.0 + self._p.lost_speed_error) * v * dt
        turn = (yaw_rate + self._p.lost_yaw_rate_error * (abs(v) > 0.0)) * dt
        middle = before.heading + 0.5 * turn
        sine, cosine = elementary.sin_cos(middle)
        x, y = before.x + way * cosine, before.y + way * sine
        return self._believe(pose, Pose(x, y, float(wrap_angle(before.heading + turn))))

    def _believe(self, pose: Pose, believed: Pose) -> Pose:
        self._believed = believed
        self.from_map, self.to_map = shift_from(pose, believed), shift_from(believed, pose)
        return believed
