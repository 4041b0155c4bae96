"""`nav_msgs/msg/Path` as rows x, y, heading: routes, the part of one that is blocked, and the planned path.

A path of hundreds of poses goes through one NumPy record: with the frame `map` (or none) every pose takes 72 bytes,
56 of its own doubles and 16 with the header of the next one.
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import MAP_FRAME, PATH
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, check_frame, packed_header, pose_value, seconds, stamp_ns, unpack, yaws

_RECORD = np.dtype(
    [
        ("position", "<f8", 3),
        ("orientation", "<f8", 4),
        ("sec", "<i4"),
        ("nanosec", "<u4"),
        ("frame_size", "<u4"),
        ("frame", "S4"),
    ]
)
_FIRST = 40
"""Offset of the first pose's doubles in the body."""
_NEXT_HEADER = 16
_SHORT_FRAME = 4
"""Frames up to this size in bytes, with the final zero, leave the layout as it is."""


def pack_path(ns: int, points: FloatArray) -> bytes:
    """Rows x, y, heading (N, 3) in `map`; N = 0 is a message without poses."""
    head = packed_header(ns, MAP_FRAME)
    if len(points) == 0:
        return LITTLE_ENDIAN + head + struct.pack("<I", 0)
    records = np.zeros(len(points), _RECORD)
    records["position"][:, :2] = points[:, :2]
    half = 0.5 * np.remainder(points[:, 2] + np.pi, 2.0 * np.pi) - 0.5 * np.pi
    records["orientation"][:, 2], records["orientation"][:, 3] = elementwise.sin_cos(half)
    records["sec"], records["nanosec"] = divmod(ns, 1_000_000_000)
    records["frame_size"] = _SHORT_FRAME
    records["frame"] = MAP_FRAME.encode()
    start = head + struct.pack("<I", len(points)) + head + b"\0\0\0\0"
    return b"".join((LITTLE_ENDIAN, start, records.tobytes()[:-_NEXT_HEADER]))


def unpack_path(raw: bytes, where: str) -> tuple[float, FloatArray]:
    """Stamp (s) and rows x, y, heading (N, 3), headings wrapped.

    Raises:
        InputError: no Path, another frame, a value that is not finite.
    """
    records = _uniform_records(raw)
    if records is None:
        return _unpack_any(raw, where)
    orientation = records["orientation"]
    with np.errstate(over="ignore", invalid="ignore"):  # What is no quaternion is refused below.
        points = np.column_stack((records["position"][:, :2], yaws(orientation[:, 2], orientation[:, 3])))
        norms = np.sqrt((orientation * orientation).sum(axis=1))
    _check(points, norms, where)
    return seconds(stamp_ns(raw, where)), points


def _uniform_records(raw: bytes) -> npt.NDArray[np.void] | None:
    """The poses as one view, or `None` where the message is laid out otherwise or its poses are tilted."""
    head = packed_header(0, MAP_FRAME)[8:]
    if raw[:4] != LITTLE_ENDIAN or raw[12 : 12 + len(head)] != head or len(raw) < 4 + _FIRST:
        return None
    (count,) = struct.unpack_from("<I", raw, 4 + 16)
    first_frame_size = struct.unpack_from("<I", raw, 4 + 28)[0]
    body = raw[4 + _FIRST :]
    if not count or len(body) + _NEXT_HEADER != count * _RECORD.itemsize or first_frame_size > _SHORT_FRAME:
        return None
    records = np.frombuffer(body + b"\0" * _NEXT_HEADER, _RECORD)
    if (records["frame_size"] > _SHORT_FRAME).any() or (np.abs(records["orientation"][:, :2]) > 1e-3).any():
        return None
    return records


def _unpack_any(raw: bytes, where: str) -> tuple[float, FloatArray]:
    message = unpack(raw, PATH, where)
    stamp = check_frame(message.header, MAP_FRAME, where)
    poses = [pose_value(item.pose, f"{where}: pose {i}") for i, item in enumerate(message.poses)]
    return stamp, np.array(poses, dtype=np.float64).reshape(-1, 3)


def _check(points: FloatArray, norms: FloatArray, where: str) -> None:
    bad = ~(np.isfinite(points).all(axis=1) & (np.abs(norms - 1.0) < 0.01))
    if bad.any():
        i = int(np.argmax(bad))
        values = ", ".join(f"{value:g}" for value in points[i])
        raise InputError(
            f"{where}: pose {i}", f"x, y, heading {values}, orientation of norm {norms[i]:.4g}", "finite values"
        )
