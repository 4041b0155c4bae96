"""What the node sends when the planner gave nothing: it does not depend on the planner being sound (SAF-1)."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.standing import AT_REST
from tuling_fsm.core.trajectory import Trajectory

ROWS = 40
ELSEWHERE_M = 1.0
"""A car this far from its plan is not on it."""


def braking(last: Trajectory, stamp: float, decel: float) -> Trajectory:
    """Brake to standstill along the way that the last trajectory still has to go.

    Never faster than that trajectory; harder than asked where its way is too short. A car that stands stays.

    Args:
        last: the trajectory that was sent last.
        stamp: of the first row, s.
        decel: m/s^2, positive.
    """
    rest = last.after(stamp)
    v0 = float(rest.v[0])
    forward = 1.0 if v0 > 0.0 else -1.0
    ends = np.flatnonzero(rest.v * forward < AT_REST)
    rows = int(ends[0]) + 1 if len(ends) else len(rest)
    way = np.concatenate(([0.0], np.cumsum(elementwise.hypot(np.diff(rest.x[:rows]), np.diff(rest.y[:rows])))))
    if abs(v0) < AT_REST or way[-1] < AT_REST:
        return Trajectory.standing(stamp, rest.pose(0), float(rest.curvature[0]))
    decel = max(decel, v0 * v0 / (2.0 * float(way[-1])))
    s = np.linspace(0.0, v0 * v0 / (2.0 * decel), ROWS)

    def along(column: FloatArray) -> FloatArray:
        return np.asarray(np.interp(s, way, column[:rows]), dtype=np.float64)

    slowing = np.sqrt(np.maximum(v0 * v0 - 2.0 * decel * s, 0.0))
    speed = np.minimum(slowing, np.abs(along(rest.v)))
    speed[-1] = 0.0
    last_row = int(np.argmax(speed < AT_REST))
    s, speed = s[: last_row + 1], speed[: last_row + 1]
    step = 2.0 * np.diff(s) / (speed[1:] + speed[:-1])
    t = np.concatenate(([0.0], np.cumsum(step)))
    a = np.append(np.diff(speed) / step, 0.0) * forward
    return Trajectory(
        stamp, t, along(rest.x), along(rest.y), along(rest.heading), along(rest.curvature), forward * speed, a
    )


def is_elsewhere(plan: Trajectory, stamp: float, pose: Pose) -> bool:
    """Whether a car is not where its plan has it at a stamp (s): then the plan is none for it (SAF-5)."""
    return distance(plan.sample(stamp)[0], pose) > ELSEWHERE_M


def straight_on(stamp: float, pose: Pose, v: float) -> Trajectory:
    """A minute straight on at constant speed."""
    t = np.array([0.0, 60.0])
    way = v * t
    zero = np.zeros(2)
    sine, cosine = elementwise.sin_cos(pose.heading)
    x, y = pose.x + way * cosine, pose.y + way * sine
    return Trajectory(stamp, t, x, y, zero + pose.heading, zero, zero + v, zero)
