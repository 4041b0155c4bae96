"""`nav_msgs/msg/Odometry`: every tick waits for it, so that its usual layout is read as one row of doubles."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BASE_FRAME, MAP_FRAME, ODOMETRY
from tuling_fsm.wire.cdr import (
    LITTLE_ENDIAN,
    check_finite,
    check_frame,
    half_angle,
    packed_header,
    planar_pose,
    pose_value,
    seconds,
    stamp_ns,
    time_ns,
    unpack,
)
from tuling_fsm.world.inputs import Odometry

_X, _Y, _XY, _YAW = 0, 7, 1, 35
"""Indices in the row-major 6 x 6 covariance of x, y, z, roll, pitch, yaw."""
_IN_MAP = packed_header(0, MAP_FRAME)[8:]
_CHILD = 12 + len(_IN_MAP)
"""Offset of the size of the child frame."""
_ROW = struct.Struct("<49d")
"""Position, orientation, the pose's covariance, linear and angular velocity."""
_COVARIANCE, _LINEAR, _ANGULAR = 7, 43, 46
_NO_COVARIANCE = bytes(8 * 36)
_CHILD_FRAME = struct.pack("<I", len(BASE_FRAME) + 1) + BASE_FRAME.encode() + b"\0"
_BYTES, _PADDING = _ROW.size + len(_NO_COVARIANCE), 3
"""From the position to the end of the twist's covariance, and what may follow."""


def pack_odometry(ns: int, odometry: Odometry) -> bytes:
    """Equal standard deviations along x and y, as `Odometry` has but one."""
    head = packed_header(ns, MAP_FRAME) + _CHILD_FRAME
    covariance = [0.0] * 36
    covariance[_X] = covariance[_Y] = odometry.position_std * odometry.position_std
    covariance[_YAW] = odometry.heading_std * odometry.heading_std
    place = (odometry.pose.x, odometry.pose.y, 0.0, 0.0, 0.0, *half_angle(odometry.pose.heading))
    row = _ROW.pack(*place, *covariance, odometry.v, 0.0, 0.0, 0.0, 0.0, odometry.yaw_rate)
    return b"".join((LITTLE_ENDIAN, head, b"\0" * (-len(head) % 8), row, _NO_COVARIANCE))


def unpack_odometry(raw: bytes) -> tuple[int, Odometry]:
    """Stamp (ns) and value; the position's standard deviation is that along the worst direction.

    Raises:
        InputError: another frame, a stamp that `stamp_ns` refuses, a value that is not finite, no unit quaternion, a
            negative variance.
    """
    row = _row(raw)
    if row is not None:
        ns = stamp_ns(raw, "odometry")
        pose = planar_pose("odometry", *row[:2], *row[3:_COVARIANCE])
        v, yaw_rate, covariance = row[_LINEAR], row[_ANGULAR + 2], row[_COVARIANCE:_LINEAR]
    else:
        message = unpack(raw, ODOMETRY, "odometry")
        check_frame(message.header, MAP_FRAME, "odometry")
        ns = time_ns(message.header.stamp, "odometry")
        pose = pose_value(message.pose.pose, "odometry")
        v, yaw_rate = float(message.twist.twist.linear.x), float(message.twist.twist.angular.z)
        covariance = message.pose.covariance
    check_finite("odometry", v=v, yaw_rate=yaw_rate)
    position_std, heading_std = _deviations(covariance)
    return ns, Odometry(seconds(ns), pose, v, yaw_rate, position_std, heading_std)


def _row(raw: bytes) -> tuple[float, ...] | None:
    """The doubles of a message in `map`, or `None` where it is laid out otherwise."""
    if raw[:4] != LITTLE_ENDIAN or raw[12:_CHILD] != _IN_MAP or len(raw) < _CHILD + 4:
        return None
    child = struct.unpack_from("<I", raw, _CHILD)[0]
    body = _CHILD + child
    start = 4 + body + -body % 8
    return _ROW.unpack_from(raw, start) if 0 <= len(raw) - start - _BYTES <= _PADDING else None


def _deviations(covariance: FloatArray | Sequence[float]) -> tuple[float, float]:
    xx, yy, xy, yaw = (float(covariance[i]) for i in (_X, _Y, _XY, _YAW))
    check_finite("odometry", variance_x=xx, variance_y=yy, covariance_xy=xy, variance_yaw=yaw)
    if min(xx, yy, yaw) < 0.0:
        raise InputError("odometry", f"variance {min(xx, yy, yaw)}", "no negative one")
    largest = 0.5 * (xx + yy) + elementary.hypot(0.5 * (xx - yy), xy)
    return math.sqrt(largest), math.sqrt(yaw)
