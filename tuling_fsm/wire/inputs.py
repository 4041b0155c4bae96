"""The planner's inputs, message by message: what the node receives, the simulator sends and a bag file keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BOOL, BY_NAME, CLOUD, GRID, INPUTS, ODOMETRY, PATH, STRING
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.grid import pack_occupancy, unpack_occupancy
from tuling_fsm.wire.odometry import pack_odometry, unpack_odometry
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.tables import pack_table, unpack_table
from tuling_fsm.wire.text import pack_bool, pack_json, unpack_bool, unpack_json
from tuling_fsm.world.inputs import BoolMessage, Inputs, RouteAnswer

_STOP = "emergency_stop"
PUSHED = -1
"""`RouteAnswer.request` of a route that was not asked for."""
OPERATOR = ("clear_emergency_stop", "reset", "skip_task")
"""Service calls: fields of `Inputs` that are true on one tick."""


class _Codec(NamedTuple):
    """How a value becomes a message of a topic, and a message with the stamp (s) of its first tick a value."""

    pack: Callable[[str, Any], bytes]
    unpack: Callable[[str, bytes, float], Any]


_CODECS: Mapping[str, _Codec] = {
    BOOL: _Codec(
        lambda topic, flag: pack_bool(flag.value), lambda topic, raw, stamp: BoolMessage(stamp, unpack_bool(raw, topic))
    ),
    CLOUD: _Codec(
        lambda topic, table: pack_table(topic, nanoseconds(table.stamp), table.rows),
        lambda topic, raw, stamp: unpack_table(topic, raw),
    ),
    GRID: _Codec(
        lambda topic, grid: pack_occupancy(nanoseconds(grid.stamp), grid),
        lambda topic, raw, stamp: unpack_occupancy(raw),
    ),
    ODOMETRY: _Codec(
        lambda topic, odometry: pack_odometry(nanoseconds(odometry.stamp), odometry),
        lambda topic, raw, stamp: unpack_odometry(raw)[1],
    ),
    PATH: _Codec(
        lambda topic, answer: pack_path(nanoseconds(answer.stamp), answer.points),
        lambda topic, raw, stamp: RouteAnswer(stamp, PUSHED, unpack_path(raw, topic)[1]),
    ),
    STRING: _Codec(lambda topic, value: pack_json(value), lambda topic, raw, stamp: unpack_json(raw, topic)),
}
"""By the type of an input's messages."""
_RECORDED: Mapping[str, Callable[[bytes], Any]] = {
    "route_answer": lambda raw: _unpack_answer(raw),
    "operator": lambda raw: _unpack_calls(raw),
}


def unpack_input(topic: str, raw: bytes, stamp: float) -> Any:
    """The value of one input message, of the type of the field of `Inputs` (`RouteAnswer` for the routes).

    Args:
        topic: its name in `core.topics.INPUTS`, `route_answer`, or `operator` (a list of names of `OPERATOR`).
        raw: the serialized message.
        stamp: that of the tick which sees it first, for messages without a stamp of their own (DWELL-3).

    Raises:
        InputError: the message cannot be used; one line says why.
    """
    if topic in _RECORDED:
        return _RECORDED[topic](raw)
    return _CODECS[BY_NAME[topic].type].unpack(topic, raw, stamp)


def pack_inputs(inputs: Inputs, previous: Inputs | None = None) -> Iterator[tuple[str, bytes]]:
    """Topic and message of all that is not the very object of `previous`, in the order of `core.topics.INPUTS`."""
    calls = [name for name in OPERATOR if getattr(inputs, name)]
    if calls:
        yield "operator", pack_json({"calls": calls})
    for topic in INPUTS:
        value = getattr(inputs, topic.field)
        pack = _CODECS[topic.type].pack
        if topic.field == "route_answers":
            for answer in value:
                pushed = answer.request == PUSHED
                yield (topic.name, pack(topic.name, answer)) if pushed else ("route_answer", _pack_answer(answer))
        elif value is not None and (previous is None or value is not getattr(previous, topic.field)):
            yield topic.name, pack(topic.name, value)


def commands_stop(topic: str, raw: bytes | None) -> bool:
    """Whether a serialized message, if there is one, is the remote's command to stop.

    Nothing on its topic takes the place of one before a tick has seen it (EST-1): the button may be held for less time
    than a tick takes, and a second remote may say go.
    """
    if topic == _STOP and raw is not None:
        with suppress(InputError):
            return unpack_bool(raw, topic)
    return False


def with_input(latest: Inputs, topic: str, value: Any) -> Inputs:
    """The inputs with a value of `unpack_input`: answers and calls are added, anything else takes the place of the last
    one, but for a command to stop that the same tick is the first to see (EST-1).
    """
    field, stop = BY_NAME[topic].field, latest.emergency_stop
    if topic == _STOP and stop is not None and stop.value and stop.stamp == value.stamp:
        return latest
    changes: dict[str, Any] = {field: value}
    if topic == "operator":
        changes = dict.fromkeys(value, True)
    elif field == "route_answers":
        changes = {field: (*latest.route_answers, value)}
    return replace(latest, **changes)


def _pack_answer(answer: RouteAnswer) -> bytes:
    return pack_json({"stamp": answer.stamp, "request": answer.request, "points": answer.points.tolist()})


def _unpack_answer(raw: bytes) -> RouteAnswer:
    value = unpack_json(raw, "route_answer")
    try:
        points = np.array(value["points"], dtype=np.float64).reshape(-1, 3)
        return RouteAnswer(float(value["stamp"]), int(value["request"]), points)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError("route_answer", f"{error}", "stamp, request and points of x, y, heading") from None


def _unpack_calls(raw: bytes) -> list[str]:
    calls = unpack_json(raw, "operator").get("calls")
    if not isinstance(calls, list) or not all(call in OPERATOR for call in calls):
        raise InputError("operator", f"calls {calls!r}", "a list of " + ", ".join(OPERATOR))
    return calls
