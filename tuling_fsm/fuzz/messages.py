"""Hostile messages at the wire: what a topic brings, byte by byte and field by field.

A file is the name of a topic, an end of line, and a serialized message of it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from rosbags.serde import SerdeError

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BOOL, BY_NAME, INPUTS, STRING
from tuling_fsm.fuzz.mutation import mutate_bytes, mutate_json
from tuling_fsm.wire.cdr import STORE, stamp_ns
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics, unpack_diagnostics
from tuling_fsm.wire.inputs import pack_inputs, unpack_input
from tuling_fsm.wire.plan import pack_plan_request, unpack_plan_request
from tuling_fsm.wire.text import pack_json, pack_string
from tuling_fsm.wire.transition import unpack_transition
from tuling_fsm.world.inputs import TABLES, BoolMessage, Inputs, Occupancy, Odometry, RouteAnswer, StampedRows

PLAN_REQUEST = "plan_request"
"""What the route server is asked, in the type of a `Path`."""
_END = b"\n"
_FIELDS_SHARE = 0.5
_NUMBERS = (0.0, -0.0, 1.0, -1.0, 1e-320, 1e30, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
_WHOLE = (0, 1, 2, 127, 255, 65535, 2**31 - 1, 2**32 - 1)
_EVENT: dict[str, object] = {
    "stamp": 1.0,
    "from": "on_road/normal",
    "to": "on_road/replan",
    "clause": "NOR-1",
    "guard": "blocked",
    "dwell_s": 1.0,
    "supervisor": False,
    "rejected": [],
}


def _input(name: str, raw: bytes) -> object:
    return unpack_input(name, raw, 1.0)


_DECODERS: Mapping[str, Callable[[bytes], object]] = {
    **{name: partial(_input, name) for name in (*(topic.name for topic in INPUTS), "route_answer", "operator")},
    "why": lambda raw: unpack_diagnostics(raw, "why"),
    "transition": lambda raw: unpack_transition(raw, "transition"),
    PLAN_REQUEST: unpack_plan_request,
    "header": stamp_ns,
}
"""By topic, all that the nodes and the readers of bags unpack."""


def read_message_file(file: Path) -> int:
    """A message as the node takes it."""
    name, _, raw = file.read_bytes().partition(_END)
    topic = name.decode("ascii", "replace")
    if topic not in _DECODERS:
        raise InputError(str(file), "no topic of ours", "one of " + ", ".join(_DECODERS))
    _DECODERS[topic](raw)
    return 1


def mutate_message(content: bytes, random: Random) -> bytes:
    """Other fields, other bytes, or the message of another topic."""
    name, _, raw = content.partition(_END)
    topic = name.decode("ascii", "replace")
    kind = BY_NAME[topic].type if topic in BY_NAME else ""
    if kind == STRING and random.random() < _FIELDS_SHARE:
        text = mutate_json(raw[8:-1], random)
        return name + _END + raw[:4] + (len(text) + 1).to_bytes(4, "little") + text + b"\0"
    by_fields = bool(kind) and random.random() < _FIELDS_SHARE
    raw = _other_fields(kind, raw, random) if by_fields else mutate_bytes(raw, random)
    if random.random() < 0.02:
        name = random.choice(list(_DECODERS)).encode()
    return name + _END + raw


def _other_fields(kind: str, raw: bytes, random: Random) -> bytes:
    """The message with a few of its fields at extremes; mutated bytes of one that cannot be read or written."""
    try:
        message = STORE.deserialize_cdr(raw, kind)
        for _ in range(random.randint(1, 3)):
            _field_changed(message, random)
        return bytes(STORE.serialize_cdr(message, kind))
    except (
        SerdeError,
        struct.error,
        ValueError,
        TypeError,
        OverflowError,
        IndexError,
        AssertionError,
        KeyError,
        AttributeError,
    ):
        return mutate_bytes(raw, random)


def _field_changed(message: object, random: Random) -> None:
    """Go down a message at random, and change what is there."""
    names = [name for name in getattr(message, "__dataclass_fields__", ()) if not name.startswith("_")]
    if not names:
        return
    name = random.choice(names)
    value = getattr(message, name)
    if isinstance(value, list) and value and random.random() < 0.8:
        _field_changed(random.choice(value), random)
    elif hasattr(value, "__dataclass_fields__"):
        _field_changed(value, random)
    else:
        object.__setattr__(message, name, _other(value, random))


def _other(value: object, random: Random) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice(_WHOLE)
    if isinstance(value, float):
        return random.choice(_NUMBERS)
    if isinstance(value, str):
        return random.choice(("", "map", "odom", "base_link", "\u00e4\u202e", "x" * 3000))
    if isinstance(value, np.ndarray) and len(value):
        changed = value.copy()
        pool = _NUMBERS if value.dtype.kind == "f" else (0, 1, 100, 127)
        changed[random.randrange(len(value))] = random.choice(pool)
        return changed if random.random() < 0.7 else changed[: random.randrange(len(value))]
    if isinstance(value, list):
        return value * random.choice((0, 2, 50))
    return value


@cache
def _inputs() -> Inputs:
    """All inputs at once, as they should be."""
    given: dict[str, Any] = {name: StampedRows(1.0, np.ones(3, dtype)) for name, dtype in TABLES.items()}
    given |= {topic.field: BoolMessage(1.0, True) for topic in INPUTS if topic.type == BOOL}
    cells = np.zeros((6, 8), np.int8)
    points = np.array([(20.0 + k, -2.0, 0.0) for k in range(5)])
    return Inputs(
        1.0,
        Odometry(1.0, Pose(20.0, -2.0, 0.1), 3.0, 0.1, 0.2, 0.01),
        **given,
        occupancy=Occupancy(1.0, 0.5, Pose(0.0, 0.0, 0.0), cells),
        reset=True,
        route_answers=(RouteAnswer(1.0, -1, points), RouteAnswer(1.0, 4, points)),
        mission={"goal": {"x": 60.0, "y": -2.0, "heading": 0.0}},
    )


def message_seeds() -> list[bytes]:
    """A message of each topic."""
    packed = [(topic, raw) for topic, raw in pack_inputs(_inputs())]
    status = DiagnosticStatus("limit", "red light", (("code", "RED_LIGHT"), ("t", "1.0")))
    packed += [
        ("why", pack_diagnostics(1_000_000_000, (status,))),
        ("transition", pack_json(_EVENT)),
        (PLAN_REQUEST, pack_plan_request(1, Pose(0.0, 0.0, 0.0), Pose(5.0, 1.0, 2.0))),
        ("mission", pack_string("no JSON")),
    ]
    return [topic.encode() + _END + raw for topic, raw in packed]
