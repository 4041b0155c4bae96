"""Serialized messages (CDR) by type name, and what most messages share: stamps, frames and planar poses."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_typestore

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose

STORE = get_typestore(Stores.ROS2_JAZZY)
TYPES: dict[str, Any] = dict(STORE.types)
LITTLE_ENDIAN = b"\x00\x01\x00\x00"
"""Encapsulation header of little-endian plain CDR."""
_STAMP = struct.Struct("<iI")
_STAMP_BYTES = 12
"""Of a message that begins with a header, up to the end of its stamp."""
_NS = 1_000_000_000
_LATEST_S = 2**31 - 1 - 86_400
"""A day less than a stamp can tell (January 2038): where messages fall silent, time goes on from the last stamp."""
_MAX_TILT = 1e-3
"""Quaternion components of roll and pitch below which the heading is read as that of a planar turn."""
_NEIGHBOURS = (0, 1, -1, 2, -2)


def pack(type_name: str, message: Any) -> bytes:
    """Serialize a message object of the type store."""
    return bytes(STORE.serialize_cdr(message, type_name, little_endian=True))


def unpack(raw: bytes, type_name: str, where: str) -> Any:
    """Deserialize to a message object of the type store.

    Raises:
        InputError: the bytes are no message of that type.
    """
    try:
        return STORE.deserialize_cdr(raw, type_name)
    except (SerdeError, struct.error, IndexError, AssertionError, MemoryError, OverflowError) as error:
        raise InputError(where, f"{len(raw)} bytes that cannot be read: {error}", f"a {type_name}") from None


def nanoseconds(stamp: float) -> int:
    """A stamp in s as whole ns."""
    return round(stamp * 1e9)


def seconds(ns: int) -> float:
    """Whole ns as a stamp in s: the inverse of `nanoseconds` up to weeks, and to 0.2 us for the present epoch."""
    return ns / 1e9


def time_message(ns: int) -> Any:
    """A `builtin_interfaces/msg/Time`."""
    return TYPES["builtin_interfaces/msg/Time"](*divmod(ns, _NS))


def time_ns(message: Any, where: str) -> int:
    """The inverse of `time_message`.

    Raises:
        InputError: as `stamp_ns`.
    """
    return _whole_ns(int(message.sec), int(message.nanosec), where)


def header(ns: int, frame: str) -> Any:
    """A `std_msgs/msg/Header`."""
    return TYPES["std_msgs/msg/Header"](time_message(ns), frame)


def packed_header(ns: int, frame: str) -> bytes:
    """The CDR body of a header at the start of a message, up to and with the last character of the frame."""
    text = frame.encode() + b"\0"
    return _STAMP.pack(*divmod(ns, _NS)) + struct.pack("<I", len(text)) + text


def stamp_ns(raw: bytes, where: str = "header") -> int:
    """The stamp of a serialized message that begins with a header, in ns, without deserializing it.

    Raises:
        InputError: too short to have one, a second of nanoseconds or more, or later than January 2038.
    """
    if len(raw) < _STAMP_BYTES:
        raise InputError(where, f"only {len(raw)} bytes", "a stamp")
    sec, nanosec = struct.unpack_from("<iI" if raw[1] & 1 else ">iI", raw, 4)
    return _whole_ns(sec, nanosec, where)


def stamp_ns_if_any(raw: bytes) -> int | None:
    """The same, or None where there is none that can be used."""
    try:
        return stamp_ns(raw)
    except InputError:
        return None


def _whole_ns(sec: int, nanosec: int, where: str) -> int:
    if nanosec >= _NS or sec > _LATEST_S:
        raise InputError(where, f"stamp of {sec} s and {nanosec} ns", f"up to {_LATEST_S} s and {_NS - 1} ns")
    return sec * _NS + nanosec


def check_frame(message_header: Any, frame: str, where: str) -> float:
    """The stamp (s) of a header that has to be in `frame`.

    Raises:
        InputError: another frame, or a stamp as `stamp_ns` refuses.
    """
    if message_header.frame_id != frame:
        raise InputError(where, f"frame_id {message_header.frame_id!r}", repr(frame))
    return seconds(time_ns(message_header.stamp, where))


def check_finite(where: str, **values: float) -> None:
    """Raise `InputError` that names the first value that is no finite number."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise InputError(where, f"{name} is {value}", "a finite number")


def pose_message(pose: Pose) -> Any:
    """A planar `geometry_msgs/msg/Pose`."""
    point = TYPES["geometry_msgs/msg/Point"](pose.x, pose.y, 0.0)
    z, w = half_angle(pose.heading)
    return TYPES["geometry_msgs/msg/Pose"](point, TYPES["geometry_msgs/msg/Quaternion"](0.0, 0.0, z, w))


def pose_value(message: Any, where: str) -> Pose:
    """The planar part of a `geometry_msgs/msg/Pose`.

    Raises:
        InputError: not finite, or an orientation that is no unit quaternion.
    """
    p, q = message.position, message.orientation
    return planar_pose(where, float(p.x), float(p.y), q.x, q.y, q.z, q.w)


def planar_pose(where: str, x: float, y: float, qx: float, qy: float, qz: float, qw: float) -> Pose:
    """A pose from a position (m) and the components of a quaternion.

    Raises:
        InputError: as `pose_value`.
    """
    check_finite(where, x=x, y=y)
    norm = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    if not abs(norm - 1.0) < 0.01:
        raise InputError(where, f"orientation of norm {norm:.4g}", "a unit quaternion")
    return Pose(x, y, _yaw(qx, qy, qz, qw))


def half_angle(heading: float) -> tuple[float, float]:
    """Quaternion z, w of a heading, so chosen that `pose_value` gives back every bit of one in (-pi, pi].

    Rounding the two may move the angle by a bit; then one of the neighbouring pairs of numbers fits.
    """
    heading = math.remainder(heading, math.tau)
    z, w = elementary.sin_cos(0.5 * heading)
    for near_w in _NEIGHBOURS:
        for near_z in _NEIGHBOURS:
            pair = z + near_z * math.ulp(z), w + near_w * math.ulp(w)
            if 2.0 * elementary.atan2(*pair) == heading:
                return pair
    return z, w


def _yaw(x: float, y: float, z: float, w: float) -> float:
    if abs(x) < _MAX_TILT and abs(y) < _MAX_TILT:
        return 2.0 * elementary.atan2(z, w) if w >= 0.0 else 2.0 * elementary.atan2(-z, -w)
    return elementary.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def yaws(z: FloatArray, w: FloatArray) -> FloatArray:
    """Headings (rad, wrapped) of planar quaternions."""
    sign = np.where(w < 0.0, -1.0, 1.0)
    return np.asarray(2.0 * elementwise.arctan2(sign * z, sign * w), dtype=np.float64)
