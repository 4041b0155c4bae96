"""Tables: `sensor_msgs/msg/PointCloud2` of height 1 whose named fields are the columns of a NumPy structured array."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import BoolArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, CLOUD
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, check_frame, packed_header, seconds, stamp_ns, unpack
from tuling_fsm.world.inputs import FAR_TABLES, TABLES, StampedRows

_DATATYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}
_NUMPY_NAMES = {code: name for name, code in _DATATYPES.items()}


def _column_type(dtype: np.dtype[np.void], name: str) -> str:
    return dtype[name].str[1:]


@cache
def _row_types(topic: str) -> tuple[np.dtype[np.void], ...]:
    """Of rows near the origin of `map`, and of those far from it where that makes a difference."""
    return (TABLES[topic], FAR_TABLES[topic]) if topic in FAR_TABLES else (TABLES[topic],)


@cache
def _column_types(topic: str) -> dict[str, list[str]]:
    """Of each column the types that it may be sent as."""
    rows = _row_types(topic)
    return {name: list(dict.fromkeys(_column_type(dtype, name) for dtype in rows)) for name in rows[0].names or ()}


@cache
def _layout(dtype: np.dtype[np.void]) -> tuple[bytes, bytes]:
    """What is the same in every message of such rows: the packed fields, and the size of a row."""
    body, fields = bytearray(), dict(dtype.fields or {})
    for name, field in fields.items():
        body += b"\0" * (-len(body) % 4)
        text = name.encode() + b"\0"
        body += struct.pack("<I", len(text)) + text
        body += b"\0" * (-len(body) % 4)
        body += struct.pack("<IBxxxI", field[1], _DATATYPES[_column_type(dtype, name)], 1)
    return struct.pack("<I", len(fields)) + bytes(body), struct.pack("<I", dtype.itemsize)


def pack_table(topic: str, ns: int, rows: npt.NDArray[np.void]) -> bytes:
    """Rows of the topic's own dtypes as a message; the columns go out as one block of memory."""
    if rows.dtype not in _row_types(topic):
        raise InputError(topic, f"rows of {rows.dtype}", str(TABLES[topic]))
    fields, point_step = _layout(rows.dtype)
    start = packed_header(ns, BY_NAME[topic].frame)
    start += b"\0" * (-len(start) % 4) + struct.pack("<II", 1, len(rows))
    data = rows.tobytes()
    sizes = b"\0\0\0\0" + point_step + struct.pack("<II", len(data), len(data))
    return b"".join((LITTLE_ENDIAN, start, fields, sizes, data, b"\1"))


def unpack_table(topic: str, raw: bytes) -> StampedRows:
    """The columns of a table topic, places in `map` as `f4` or `f8` as they are sent; other columns are ignored, and
    the order of columns is free.

    Raises:
        InputError: another frame, a column absent or of another type, rows that do not add up, a value not finite.
    """
    own = (_own_rows(topic, dtype, raw) for dtype in _row_types(topic))
    rows = next((rows for rows in own if rows is not None), None)
    if rows is not None:
        stamp = seconds(stamp_ns(raw, topic))
    else:
        message = unpack(raw, CLOUD, topic)
        stamp = check_frame(message.header, BY_NAME[topic].frame, topic)
        rows = _rows(topic, message)
    names, finite = _finite(rows)
    if not finite.all():
        row, column = divmod(int(np.argmin(finite)), len(names))
        raise InputError(topic, f"{names[column]} of row {row} is {rows[names[column]][row]}", "a finite number")
    return StampedRows(stamp, rows)


def _finite(rows: npt.NDArray[np.void]) -> tuple[list[str], BoolArray]:
    """The columns of floating-point numbers, and of each row which of them are finite."""
    names, block = _numbers(rows.dtype)
    numbers = np.column_stack([rows[name] for name in names]) if block is None else rows.view(block)["numbers"]
    return names, np.isfinite(numbers)


@cache
def _numbers(dtype: np.dtype[np.void]) -> tuple[list[str], np.dtype[np.void] | None]:
    """The columns of floating-point numbers, with which every row ends, and a dtype that has them as one block, None
    where they are not all of one size.
    """
    fields = dict(dtype.fields or {})
    names = [name for name, field in fields.items() if field[0].kind == "f"]
    if len({fields[name][0] for name in names}) > 1:
        return names, None
    block = np.dtype(
        {
            "names": ["numbers"],
            "formats": [(fields[names[0]][0], (len(names),))],
            "offsets": [fields[names[0]][1]],
            "itemsize": dtype.itemsize,
        }
    )
    return names, block


def _own_rows(topic: str, dtype: np.dtype[np.void], raw: bytes) -> npt.NDArray[np.void] | None:
    """The rows as one view, or `None` where the message is laid out otherwise than `pack_table` does."""
    head, middle = _constants(topic, dtype)
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
def _constants(topic: str, dtype: np.dtype[np.void]) -> tuple[bytes, bytes]:
    """What `pack_table` writes between the stamp and the numbers of rows, and from there to the sizes of the data."""
    fields, point_step = _layout(dtype)
    head = packed_header(0, BY_NAME[topic].frame)
    return head[8:] + b"\0" * (-len(head) % 4), fields + b"\0\0\0\0" + point_step


def _rows(topic: str, message: Any) -> npt.NDArray[np.void]:
    found = {
        field.name: (_NUMPY_NAMES.get(field.datatype, "?"), int(field.offset), int(field.count))
        for field in message.fields
    }
    for name, types in _column_types(topic).items():
        if name not in found:
            raise InputError(topic, f"no column {name}", f"a column {name} of type {' or '.join(types)}")
        if found[name][0] not in types or found[name][2] not in (0, 1):
            raise InputError(
                topic, f"column {name} is {found[name][0]} x {found[name][2]}", f"one {' or '.join(types)}"
            )
    near, names = TABLES[topic], list(TABLES[topic].names or ())
    formats = [np.dtype(f"<{found[name][0]}") for name in names]
    dtype = near if formats == [near[name] for name in names] else FAR_TABLES[topic]
    step, count = int(message.point_step), int(message.width) * int(message.height)
    if message.is_bigendian:
        raise InputError(topic, "big-endian columns", "little-endian ones")
    if count * step != len(message.data):
        raise InputError(topic, f"{len(message.data)} bytes for {count} rows of {step}", f"{count * step} bytes")
    if any(found[name][1] + kind.itemsize > step for name, kind in zip(names, formats, strict=True)):
        raise InputError(topic, f"a column beyond the row of {step} bytes", "columns inside the row")
    if count == 0:
        return np.zeros(0, dtype)
    sent = np.dtype(
        {
            "names": names,
            "formats": formats,
            "offsets": [found[name][1] for name in names],
            "itemsize": step,
        }
    )
    rows = np.frombuffer(message.data, sent)
    return rows if sent == dtype else rows.astype(dtype)
