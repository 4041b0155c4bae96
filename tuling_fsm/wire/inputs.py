"""The planner's inputs, message by message: what the node receives, the simulator sends and a bag file keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.grid import pack_occupancy, unpack_occupancy
from tuling_fsm.wire.odometry import pack_odometry, unpack_odometry
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.tables import pack_table, unpack_table
from tuling_fsm.wire.text import pack_bool, pack_json, unpack_bool, unpack_json
from tuling_fsm.world.inputs import Flag, Inputs, RouteAnswer

PUSHED = -1
"""`RouteAnswer.request` of a route that nobody asked for."""
TABLES = ("objects", "lane_lines", "traffic_lights", "parking_slots")
FLAGS = ("rain_fog", "emergency_stop")
OPERATOR = ("clear_emergency_stop", "reset", "skip_task")
"""Service calls: fields of `Inputs` that are true on one tick."""

_UNPACK: dict[str, Callable[[bytes, float], Any]] = {
    "odometry": lambda raw, _: unpack_odometry(raw)[1],
    "occupancy": lambda raw, _: unpack_occupancy(raw),
    "mission": lambda raw, _: unpack_json(raw, "mission"),
    "route": lambda raw, stamp: RouteAnswer(stamp, PUSHED, unpack_path(raw, "route")[1]),
    "route_answer": lambda raw, _: _unpack_answer(raw),
    "operator": lambda raw, _: _unpack_calls(raw),
}


def unpack_input(topic: str, raw: bytes, stamp: float) -> Any:
    """The value of one input message, of the type of the field of `Inputs` (`RouteAnswer` for the routes).

    Args:
        topic: its name in `topics.INPUTS`, `route_answer`, or `operator` (a list of names of `OPERATOR`).
        raw: the serialized message.
        stamp: that of the tick which sees it first, for messages without a stamp of their own (DWELL-3).

    Raises:
        InputError: the message cannot be used; one line says why.
    """
    if topic in TABLES:
        return unpack_table(topic, raw)
    if topic in FLAGS:
        return Flag(stamp, unpack_bool(raw, topic))
    return _UNPACK[topic](raw, stamp)


def pack_inputs(inputs: Inputs, previous: Inputs | None = None) -> Iterator[tuple[str, bytes]]:
    """Topic and message of all that is not the very object of `previous`, in the order of `topics.INPUTS`."""
    calls = [name for name in OPERATOR if getattr(inputs, name)]
    if calls:
        yield "operator", pack_json({"calls": calls})
    for topic in FLAGS:
        if _is_new(topic, inputs, previous):
            yield topic, pack_bool(getattr(inputs, topic).value)
    if _is_new("mission", inputs, previous) and inputs.mission is not None:
        yield "mission", pack_json(inputs.mission)
    for answer in inputs.route_answers:
        if answer.request == PUSHED:
            yield "route", pack_path(nanoseconds(answer.stamp), answer.points)
        else:
            yield "route_answer", _pack_answer(answer)
    if _is_new("occupancy", inputs, previous) and inputs.occupancy is not None:
        yield "occupancy", pack_occupancy(nanoseconds(inputs.occupancy.stamp), inputs.occupancy)
    for topic in ("lane_lines", "parking_slots", "objects", "traffic_lights"):
        if _is_new(topic, inputs, previous):
            table = getattr(inputs, topic)
            yield topic, pack_table(topic, nanoseconds(table.stamp), table.rows)
    if _is_new("odometry", inputs, previous) and inputs.odometry is not None:
        yield "odometry", pack_odometry(nanoseconds(inputs.odometry.stamp), inputs.odometry)


def _is_new(field: str, inputs: Inputs, previous: Inputs | None) -> bool:
    value = getattr(inputs, field)
    return value is not None and (previous is None or value is not getattr(previous, field))


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
