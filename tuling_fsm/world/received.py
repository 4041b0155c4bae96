"""Which messages are taken (SAF-3): never one that is stale, out of order, not finite or out of range.

What is refused is as if it had not come: the last good message goes on until it is too old itself. Every fault has a
key, under which it is reported once until it is over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.core.topics import BOOL, INPUTS
from tuling_fsm.world.inputs import FAR_TABLES, TABLES, BoolMessage, Inputs, Occupancy, Odometry, StampedRows
from tuling_fsm.world.mission import Mission, parse_mission
from tuling_fsm.world.objects import InputFault
from tuling_fsm.world.parameters import WorldParameters

T = TypeVar("T")
_Fault = Callable[[Any, WorldParameters], str]
"""What is wrong with a message, or an empty string."""

_MAX_SPEED = 80.0
_MAX_YAW_RATE = 6.0
_MAX_HEADING = 1e4
"""Of an angle that is not wrapped, rad: one of 1e308 has no digit left that says where it points."""
_FINEST_M, _COARSEST_M = 0.001, 100.0
"""Cells of a grid."""


@dataclass(frozen=True, eq=False)
class Received:
    """The last good message of each kind, the last mission as it came (to tell a new one) and what is wrong with it,
    and when time last jumped and, before it did, when it began (s).
    """

    odometry: Odometry | None = None
    objects: StampedRows | None = None
    occupancy: Occupancy | None = None
    lane_lines: StampedRows | None = None
    traffic_lights: StampedRows | None = None
    parking_slots: StampedRows | None = None
    rain_fog: BoolMessage | None = None
    emergency_stop: BoolMessage | None = None
    radar_health: BoolMessage | None = None
    mission_raw: Mapping[str, Any] | None = None
    mission_fault: str = ""
    mission: Mission | None = None
    jumped_at: float = -math.inf
    began_at: float = -math.inf


def receive(
    inputs: Inputs, last: Received, parameters: WorldParameters
) -> tuple[Received, Received, tuple[InputFault, ...]]:
    """Judge the messages of a tick.

    Returns what to remember, the same without what is too old to use, and the complaints that hold now.
    """
    complaints: list[InputFault] = []
    taken = _new_mission(inputs, last)
    mission_fault = taken.get("mission_fault", last.mission_fault)
    if inputs.mission is not None and mission_fault:
        complaints.append(InputFault("mission refused", mission_fault))
    for name, (_, fault) in _MESSAGES.items():
        new, old = getattr(inputs, name), getattr(last, name)
        if new is None or new is old:
            continue
        new = in_floats(new)
        what = _stamp_fault(new.stamp, old, inputs.stamp + parameters.future_tolerance) or fault(new, parameters)
        if what:
            complaints.append(InputFault(f"{name} refused", f"{name}: {what}"))
        else:
            taken[name] = new
    for name in FLAGS:
        flag, known = getattr(inputs, name), getattr(last, name)
        if flag is None or (flag is known and flag.stamp <= inputs.stamp):
            continue
        flag = in_floats(flag)
        taken[name] = flag if flag.stamp <= inputs.stamp else _set_back(flag, known, inputs.stamp)
    kept = replace(last, **taken) if taken else last
    return kept, _without_stale(kept, inputs.stamp, parameters, complaints), tuple(complaints)


def _new_mission(inputs: Inputs, last: Received) -> dict[str, Any]:
    """What there is to remember of a mission that has come; one that stays is read once, good or bad."""
    raw = inputs.mission
    if raw is None or raw is last.mission_raw:
        return {}
    try:
        return {"mission_raw": raw, "mission_fault": "", "mission": parse_mission(raw, inputs.stamp)}
    except InputError as error:
        return {"mission_raw": raw, "mission_fault": str(error)}


def in_floats(message: T) -> T:
    """The same with every number as a `float`, where it has fields for numbers.

    For a whole number, or one of NumPy's, Numba would compile a tick's kernels anew, which takes many seconds.
    """
    changed: dict[str, Any] = {}
    kind: Any = type(message)
    for name in _fields_of(kind):
        value = getattr(message, name)
        if isinstance(value, Pose):
            if any(type(number) is not float for number in value):
                changed[name] = Pose(*map(float, value))
        elif type(value) is int or isinstance(value, np.number):
            changed[name] = float(value)
    if not changed:
        return message
    given: Any = message
    coerced: T = replace(given, **changed)
    return coerced


@cache
def _fields_of(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


def _set_back(flag: BoolMessage, known: BoolMessage | None, now: float) -> BoolMessage:
    """A flag from before the clock was set back grows old from then on: a silent link has to be noticed."""
    if known is not None and known.stamp <= now and known.value == flag.value:
        return known
    return replace(flag, stamp=now)


def _without_stale(kept: Received, now: float, parameters: WorldParameters, complaints: list[InputFault]) -> Received:
    stale: dict[str, Any] = {}
    for name, (max_age, _) in _MESSAGES.items():
        message, limit = getattr(kept, name), getattr(parameters, max_age)
        if message is not None and now - message.stamp > limit + 1e-6:
            complaints.append(InputFault(f"{name} stale", f"{name}: older than {limit:g} s, taken as not received"))
            stale[name] = None
    return replace(kept, **stale) if stale else kept


def _stamp_fault(stamp: float, old: Odometry | StampedRows | Occupancy | None, latest: float) -> str:
    if not math.isfinite(stamp):
        return f"stamp {stamp} is not finite (expected seconds)"
    if stamp > latest:
        return f"stamp {stamp:.3f} s lies ahead of the tick (expected at most {latest:.3f} s)"
    if old is not None and stamp < old.stamp:
        return f"stamp {stamp:.3f} s is out of order (expected at least {old.stamp:.3f} s)"
    return ""


def _odometry_fault(message: Odometry, parameters: WorldParameters) -> str:
    numbers = (*message.pose, message.v, message.yaw_rate, message.position_std, message.heading_std)
    if not all(map(math.isfinite, numbers)):
        return "a value that is not finite (expected numbers)"
    if max(abs(message.pose.x), abs(message.pose.y)) > parameters.max_coordinate:
        return f"position out of range (expected within {parameters.max_coordinate:g} m)"
    if abs(message.pose.heading) > _MAX_HEADING:
        return f"heading {message.pose.heading:g} rad out of range (expected within {_MAX_HEADING:g} rad)"
    if abs(message.v) > _MAX_SPEED:
        return f"speed {message.v:g} m/s out of range (expected within {_MAX_SPEED:g} m/s)"
    if abs(message.yaw_rate) > _MAX_YAW_RATE:
        return f"yaw rate {message.yaw_rate:g} rad/s out of range (expected within {_MAX_YAW_RATE:g} rad/s)"
    if min(message.position_std, message.heading_std) < 0.0:
        return "a negative standard deviation (expected 0 or more)"
    return ""


def _table_fault(topic: str) -> _Fault:
    dtype = TABLES[topic]
    known = dtype, FAR_TABLES.get(topic, dtype)

    def fault(message: StampedRows, _: WorldParameters) -> str:
        if message.rows.dtype not in known or message.rows.ndim != 1:
            return f"columns {message.rows.dtype} (expected {dtype})"
        return ""

    return fault


def _occupancy_fault(message: Occupancy, parameters: WorldParameters) -> str:
    if not _FINEST_M <= message.resolution <= _COARSEST_M:
        return f"resolution {message.resolution:g} m out of range (expected {_FINEST_M:g} to {_COARSEST_M:g} m)"
    if not all(math.isfinite(number) for number in message.origin):
        return "an origin that is not finite (expected numbers)"
    if max(abs(message.origin.x), abs(message.origin.y)) > parameters.max_coordinate:
        return f"origin out of range (expected within {parameters.max_coordinate:g} m)"
    if abs(message.origin.heading) > _MAX_HEADING:
        return f"origin turned by {message.origin.heading:g} rad (expected within {_MAX_HEADING:g} rad)"
    if message.cells.ndim != 2 or message.cells.dtype != np.int8:
        return f"cells {message.cells.dtype} of {message.cells.ndim} dimensions (expected int8 of 2)"
    return ""


_FAULTS: Mapping[str, _Fault] = {
    "odometry": _odometry_fault,
    "occupancy": _occupancy_fault,
    **{name: _table_fault(name) for name in TABLES},
}
_MAX_AGES = {topic.field: topic.max_age.removeprefix("world.") for topic in INPUTS if topic.stamped}
_MESSAGES: Mapping[str, tuple[str, _Fault]] = {
    name: (_MAX_AGES[name], _FAULTS[name]) for name in (field.name for field in fields(Received)) if name in _MAX_AGES
}
"""The messages that grow old: the parameter that says when, and what can be wrong with one."""
FLAGS = tuple(topic.field for topic in INPUTS if topic.type == BOOL)
"""Messages of a truth, each of which holds until the next one."""
