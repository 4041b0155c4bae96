"""What goes through the pipe from a drive to the process that shows it: messages, one frame each."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from tuling_fsm.core.topics import BY_NAME

TICK_MS, RESULT = "tick_ms", "result"
"""Beside the topics: stamp (s) and time (ms) of a tick; `result.json` at the end."""
_NAMES = (*BY_NAME, TICK_MS, RESULT)
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}
_HEAD, _TICK = struct.Struct("<BI"), struct.Struct("<dd")


def frames(messages: Iterable[tuple[str, bytes]]) -> bytes:
    """Messages as bytes, each after the number of its topic and its length."""
    return b"".join(_HEAD.pack(_NUMBERS[topic], len(raw)) + raw for topic, raw in messages)


def read_frames(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Messages until the stream ends; half a one at its end, of a drive that was killed, is none."""
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        number, size = _HEAD.unpack(head)
        raw = stream.read(size)
        if len(raw) < size:
            return
        yield _NAMES[number], raw


def tick_ms_message(stamp: float, tick_ms: float) -> tuple[str, bytes]:
    """How long (ms) the tick of a stamp (s) took."""
    return TICK_MS, _TICK.pack(stamp, tick_ms)


def read_tick_ms(raw: bytes) -> tuple[float, float]:
    """Stamp (s) and time (ms)."""
    stamp, tick_ms = _TICK.unpack(raw)
    return float(stamp), float(tick_ms)


def result_message(result: Mapping[str, Any]) -> tuple[str, bytes]:
    """What the drive came to."""
    return RESULT, json.dumps(result).encode()
