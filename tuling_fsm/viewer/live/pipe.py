"""What goes through the pipe from a drive to the process that shows it: messages, one frame each."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from tuling_fsm.core.topics import BY_NAME

TICK_MS, RESULT = "tick_ms", "result"
"""Beside the topics: stamp (s) and time (ms) of a tick, and how many ticks wait behind it; `result.json` at the end."""
_NAMES = (*BY_NAME, TICK_MS, RESULT)
_NUMBERS = {name: number for number, name in enumerate(_NAMES)}
_HEAD, _TICK = struct.Struct("<BI"), struct.Struct("<ddI")


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


class DriveTick(NamedTuple):
    """A tick of a stamp (s) that took so long (ms), and how many wait behind it."""

    stamp: float
    tick_ms: float
    waiting: int


def tick_ms_message(tick: DriveTick) -> tuple[str, bytes]:
    """As it goes through the pipe."""
    return TICK_MS, _TICK.pack(*tick)


def read_tick_ms(raw: bytes) -> DriveTick:
    """The inverse of `tick_ms_message`."""
    return DriveTick(*_TICK.unpack(raw))


def result_message(result: Mapping[str, Any]) -> tuple[str, bytes]:
    """What the drive came to."""
    return RESULT, json.dumps(result).encode()
