"""`std_msgs/msg/String` and `Bool`, and JSON inside the former."""

from __future__ import annotations

import json
import math
import struct
from contextlib import suppress
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BOOL, STRING
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, unpack

_TEXT = 8
"""Offset of the letters of a String."""
_SHOWN = 20
"""Digits of a number that is wrong, in the message."""


def pack_string(text: str) -> bytes:
    """A String."""
    data = text.encode() + b"\0"
    return LITTLE_ENDIAN + struct.pack("<I", len(data)) + data


def unpack_string(raw: bytes, where: str) -> str:
    """The text of a String.

    Raises:
        InputError: no String.
    """
    size = len(raw) - _TEXT
    if size > 0 and raw[:4] == LITTLE_ENDIAN and struct.unpack_from("<I", raw, 4) == (size,) and raw[-1] == 0:
        with suppress(UnicodeDecodeError):
            return raw[_TEXT:-1].decode()
    return str(unpack(raw, STRING, where).data)


def pack_bool(value: bool) -> bytes:
    """A Bool."""
    return LITTLE_ENDIAN + (b"\1" if value else b"\0")


def unpack_bool(raw: bytes, where: str) -> bool:
    """The value of a Bool.

    Raises:
        InputError: no Bool.
    """
    if len(raw) == len(LITTLE_ENDIAN) + 1 and raw[:-1] == LITTLE_ENDIAN:
        return raw[-1] != 0
    return bool(unpack(raw, BOOL, where).data)


def pack_json(value: dict[str, Any]) -> bytes:
    """A String that holds one JSON object."""
    return pack_string(json.dumps(value, allow_nan=False, ensure_ascii=False))


def unpack_json(raw: bytes, where: str) -> dict[str, Any]:
    """The JSON object in a String.

    Raises:
        InputError: no String, or as `parse_json`.
    """
    return parse_json(unpack_string(raw, where), where)


def parse_json(text: str, where: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        InputError: no JSON, no object; `NaN`, `Infinity`, numbers too large for a float and half a surrogate pair are
            no JSON.
    """
    try:
        value = json.loads(text, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
        if "\\u" in text:
            _check_letters(value)
    except (ValueError, RecursionError) as error:
        raise InputError(where, f"no JSON: {error}", "one JSON object") from None
    if not isinstance(value, dict):
        raise InputError(where, f"JSON of type {type(value).__name__}", "one JSON object")
    return value


def _check_letters(value: Any) -> None:
    """An escape may stand for half a surrogate pair (RFC 8259, 8.2), which is no letter and cannot be sent on."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"\\u{ord(error.object[error.start]):04x} is half a surrogate pair") from None


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number[:_SHOWN]} is no finite number")
    return value


def _whole(number: str) -> int:
    _finite(number)
    return int(number)
