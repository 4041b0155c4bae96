"""`trajectory_msgs/msg/MultiDOFJointTrajectory`: the trajectory of the rear axle.

Each point has one transform (pose in `map`), one velocity (body frame: linear.x = v, angular.z = v * curvature) and
one acceleration (linear.x = a). With the frame `map` and the joint `base_link` every point takes 184 bytes, so that the
whole goes through one NumPy record.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BASE_FRAME, MAP_FRAME, TRAJECTORY
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, check_frame, packed_header, seconds, stamp_ns, unpack, yaws

_TOPIC = "trajectory"
_POINT = np.dtype(
    [("transforms", "<u4"), ("pad0", "<u4"), ("translation", "<f8", 3), ("rotation", "<f8", 4),
     ("velocities", "<u4"), ("pad1", "<u4"), ("linear", "<f8", 3), ("angular", "<f8", 3),
     ("accelerations", "<u4"), ("pad2", "<u4"), ("accel_linear", "<f8", 3), ("accel_angular", "<f8", 3),
     ("sec", "<i4"), ("nanosec", "<u4")]
)  # fmt: skip
_SLOW = 1e-6
"""Speed (m/s) below which v * curvature says nothing of the curvature."""


def _prefix(ns: int, points: int) -> bytes:
    head = packed_header(ns, MAP_FRAME)
    joint = BASE_FRAME.encode() + b"\0"
    body = head + struct.pack("<II", 1, len(joint)) + joint
    return LITTLE_ENDIAN + body + b"\0" * (-len(body) % 4) + struct.pack("<I", points)


def pack_trajectory(ns: int, trajectory: Trajectory) -> bytes:
    """Times are rounded to whole ns."""
    points = np.zeros(len(trajectory), _POINT)
    points["transforms"] = points["velocities"] = points["accelerations"] = 1
    points["translation"][:, 0] = trajectory.x
    points["translation"][:, 1] = trajectory.y
    half = 0.5 * np.remainder(trajectory.heading + np.pi, 2.0 * np.pi) - 0.5 * np.pi
    points["rotation"][:, 2], points["rotation"][:, 3] = elementwise.sin_cos(half)
    points["linear"][:, 0] = trajectory.v
    points["angular"][:, 2] = trajectory.v * trajectory.curvature
    points["accel_linear"][:, 0] = trajectory.a
    whole, rest = np.divmod(np.rint(trajectory.t * 1e9).astype(np.int64), 1_000_000_000)
    points["sec"], points["nanosec"] = whole, rest
    return _prefix(ns, len(trajectory)) + points.tobytes()


def unpack_trajectory(raw: bytes) -> Trajectory:
    """Curvature is yaw rate / v where the car moves, and between and beyond that linear and constant.

    Raises:
        InputError: another frame, no points, times that do not increase, a value that is not finite, no unit
            quaternion.
    """
    points = _uniform_points(raw)
    if points is None:
        points = _any_points(raw)
    # NumPy 1 would keep the product with a number that fits in 32 bits there, where it does not fit.
    t = (points["sec"].astype(np.int64) * 1_000_000_000 + points["nanosec"]) / 1e9
    if len(t) == 0 or not (np.diff(t) > 0.0).all():
        raise InputError(
            _TOPIC, "times from start that do not increase" if len(t) else "no points", "points in order of time"
        )
    _check_rotations(points["rotation"])
    v, yaw_rate = points["linear"][:, 0].copy(), points["angular"][:, 2]
    columns = {
        "t": t,
        "x": points["translation"][:, 0].copy(),
        "y": points["translation"][:, 1].copy(),
        "heading": np.unwrap(yaws(points["rotation"][:, 2], points["rotation"][:, 3])),
        "curvature": _curvature(t, v, yaw_rate),
        "v": v,
        "a": points["accel_linear"][:, 0].copy(),
    }
    for name, column in columns.items():
        if not np.isfinite(column).all():
            raise InputError(
                _TOPIC, f"{name} of point {int(np.argmin(np.isfinite(column)))} is not finite", "finite numbers"
            )
    return Trajectory(seconds(stamp_ns(raw, _TOPIC)), **columns)


def _check_rotations(rotations: FloatArray) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt((rotations * rotations).sum(axis=1))
    bad = ~(np.abs(norms - 1.0) < 0.01)
    if bad.any():
        i = int(np.argmax(bad))
        raise InputError(f"{_TOPIC}: point {i}", f"orientation of norm {norms[i]:.4g}", "a unit quaternion")


def _curvature(t: FloatArray, v: FloatArray, yaw_rate: FloatArray) -> FloatArray:
    moving = np.abs(v) > _SLOW
    if not moving.any():
        return np.zeros(len(t))
    return np.asarray(np.interp(t, t[moving], yaw_rate[moving] / v[moving]), dtype=np.float64)


def _uniform_points(raw: bytes) -> Any:
    start = len(_prefix(0, 0))
    if len(raw) < start or raw[:4] != LITTLE_ENDIAN or raw[12 : start - 4] != _prefix(0, 0)[12:-4]:
        return None
    (count,) = struct.unpack_from("<I", raw, start - 4)
    if len(raw) != start + count * _POINT.itemsize:
        return None
    points = np.frombuffer(raw, _POINT, offset=start)
    single = (points["transforms"] == 1) & (points["velocities"] == 1) & (points["accelerations"] == 1)
    return points if single.all() else None


def _any_points(raw: bytes) -> Any:
    """A message that another program laid out, as the same record."""
    message = unpack(raw, TRAJECTORY, _TOPIC)
    check_frame(message.header, MAP_FRAME, _TOPIC)
    points = np.zeros(len(message.points), _POINT)
    for i, point in enumerate(message.points):
        if not len(point.transforms) == len(point.velocities) == len(point.accelerations) == 1:
            raise InputError(f"{_TOPIC}: point {i}", "not one transform, velocity and acceleration", "one of each")
        shift, turn = point.transforms[0].translation, point.transforms[0].rotation
        points[i]["translation"] = (shift.x, shift.y, 0.0)
        points[i]["rotation"] = (turn.x, turn.y, turn.z, turn.w)
        points[i]["linear"][0] = point.velocities[0].linear.x
        points[i]["angular"][2] = point.velocities[0].angular.z
        points[i]["accel_linear"][0] = point.accelerations[0].linear.x
        points[i]["sec"], points[i]["nanosec"] = point.time_from_start.sec, point.time_from_start.nanosec
    return points
