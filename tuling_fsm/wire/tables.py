"""Tables: `sensor_msgs/msg/PointCloud2` of height 1 whose named fields are the columns of a NumPy structured array."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, CLOUD
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, check_frame, packed_header, seconds, stamp_ns, unpack
from tuling_fsm.world.inputs import TABLES, StampedRows

_DATATYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}
_NUMPY_NAMES = {code: name for name, code in _DATATYPES.items()}


def _column_type(dtype: np.dtype[np.void], name: str) -> str:
    return dtype[name].str[1:]


@cache
def _layout(topic: str) -> tuple[bytes, bytes]:
    """What is the same in every message of a topic: the packed fields, and the size of a row."""
    dtype = TABLES[topic]
    body, fields = bytearray(), dict(dtype.fields or {})
    for name, field in fields.items():
        body += b"\0" * (-len(body) % 4)
        text = name.encode() + b"\0"
        body += struct.pack("<I", len(text)) + text
        body += b"\0" * (-len(body) % 4)
        body += struct.pack("<IBxxxI", field[1], _DATATYPES[_column_type(dtype, name)], 1)
    return struct.pack("<I", len(fields)) + bytes(body), struct.pack("<I", dtype.itemsize)


def pack_table(topic: str, ns: int, rows: npt.NDArray[np.void]) -> bytes:
    """Rows of the topic's own dtype as a message; the columns go out as one block of memory."""
    if rows.dtype != TABLES[topic]:
        raise InputError(topic, f"rows of {rows.dtype}", str(TABLES[topic]))
    fields, point_step = _layout(topic)
    start = packed_header(ns, BY_NAME[topic].frame)
    start += b"\0" * (-len(start) % 4) + struct.pack("<II", 1, len(rows))
    data = rows.tobytes()
    sizes = b"\0\0\0\0" + point_step + struct.pack("<II", len(data), len(data))
    return b"".join((LITTLE_ENDIAN, start, fields, sizes, data, b"\1"))


def unpack_table(topic: str, raw: bytes) -> StampedRows:
    """The columns of a table topic; other columns are ignored, and the order of columns is free.

    Raises:
        InputError: another frame, a column absent or of another type, rows that do not add up, a value not finite.
    """
    rows = _own_rows(topic, raw)
    if rows is not None:
        stamp = seconds(stamp_ns(raw, topic))
    else:
        message = unpack(raw, CLOUD, topic)
        stamp = check_frame(message.header, BY_NAME[topic].frame, topic)
        rows = _rows(topic, message)
    names, block = _numbers(topic)
    finite = np.isfinite(rows.view(block)["numbers"])
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), len(names))
        raise InputError(topic, f"{names[column]} of row {row} is {rows[names[column]][row]}", "a finite number")
    return StampedRows(stamp, rows)


@cache
def _numbers(topic: str) -> tuple[list[str], np.dtype[np.void]]:
    """The columns of floating-point numbers, with which every row ends, and a dtype that has them as one block."""
    fields = dict(TABLES[topic].fields or {})
    names = [name for name, field in fields.items() if field[0].kind == "f"]
    block = np.dtype(
        {
            "names": ["numbers"],
            "formats": [("<f4", (len(names),))],
            "offsets": [fields[names[0]][1]],
            "itemsize": TABLES[topic].itemsize,
        }
    )
    return names, block


def _own_rows(topic: str, raw: bytes) -> npt.NDArray[np.void] | None:
    """The rows as one view, or `None` where the message is laid out otherwise than `pack_table` does."""
    dtype = TABLES[topic]
    head, middle = _constants(topic)
    counts = 12 + len(head)
    sizes = counts + 8 + len(middle)
    data = sizes + 8
    if len(raw) < data or raw[:4] != LITTLE_ENDIAN or raw[12:counts] != head or raw[counts + 8 : sizes] != middle:
        return None
    height, width = struct.unpack_from("<II", raw, counts)
    size = width * dtype.itemsize
    if height != 1 or struct.unpack_from("<II", raw, sizes) != (size, size) or len(raw) < data + size:
        return None
    return np.frombuffer(raw, dtype, width, data) if width else np.zeros(0, dtype)


@cache
def _constants(topic: str) -> tuple[bytes, bytes]:
    """What `pack_table` writes between the stamp and the numbers of rows, and from there to the sizes of the data."""
    fields, point_step = _layout(topic)
    head = packed_header(0, BY_NAME[topic].frame)
    return head[8:] + b"\0" * (-len(head) % 4), fields + b"\0\0\0\0" + point_step


def _rows(topic: str, message: Any) -> npt.NDArray[np.void]:
    dtype = TABLES[topic]
    found = {
        field.name: (_NUMPY_NAMES.get(field.datatype, "?"), int(field.offset), int(field.count))
        for field in message.fields
    }
    for name in dtype.names or ():
        kind = _column_type(dtype, name)
        if name not in found:
            raise InputError(topic, f"no column {name}", f"a column {name} of type {kind}")
        if found[name][0] != kind or found[name][2] not in (0, 1):
            raise InputError(topic, f"column {name} is {found[name][0]} x {found[name][2]}", f"one {kind}")
    step, count = int(message.point_step), int(message.width) * int(message.height)
    if message.is_bigendian:
        raise InputError(topic, "big-endian columns", "little-endian ones")
    if count * step != len(message.data):
        raise InputError(topic, f"{len(message.data)} bytes for {count} rows of {step}", f"{count * step} bytes")
    if any(found[name][1] + dtype[name].itemsize > step for name in dtype.names or ()):
        raise InputError(topic, f"a column beyond the row of {step} bytes", "columns inside the row")
    if count == 0:
        return np.zeros(0, dtype)
    sent = np.dtype(
        {
            "names": list(dtype.names or ()),
            "formats": [dtype[name] for name in dtype.names or ()],
            "offsets": [found[name][1] for name in dtype.names or ()],
            "itemsize": step,
        }
    )
    rows = np.frombuffer(message.data, sent)
    return rows if sent == dtype else rows.astype(dtype)
