"""Which messages are taken (SAF-3): never one that is stale, out of order, not finite or out of range.

What is refused is as if it had not come: the last good message goes on until it is too old itself. Every fault has a
key, under which it is reported once until it is over.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.errors import InputError
from tuling_fsm.world.inputs import (
    LANE_LINES,
    OBJECTS,
    PARKING_SLOTS,
    TRAFFIC_LIGHTS,
    Flag,
    Inputs,
    Occupancy,
    Odometry,
    Table,
)
from tuling_fsm.world.mission import Mission, parse_mission
from tuling_fsm.world.objects import Complaint
from tuling_fsm.world.parameters import WorldParameters

Message = TypeVar("Message", Odometry, Table, Occupancy)

_MAX_SPEED = 80.0
_MAX_YAW_RATE = 6.0


@dataclass(frozen=True, eq=False)
class Received:
    """The last good message of each kind, and the mission as it came (to tell a new one)."""

    odometry: Odometry | None = None
    objects: Table | None = None
    occupancy: Occupancy | None = None
    lane_lines: Table | None = None
    traffic_lights: Table | None = None
    parking_slots: Table | None = None
    rain_fog: Flag | None = None
    emergency_stop: Flag | None = None
    mission_raw: Mapping[str, Any] | None = None
    mission: Mission | None = None


def receive(
    inputs: Inputs, last: Received, parameters: WorldParameters
) -> tuple[Received, Received, tuple[Complaint, ...]]:
    """Judge the messages of a tick.

    Returns what to remember, the same without what is too old to use, and the complaints that hold now.
    """
    complaints: list[Complaint] = []
    now, ahead = inputs.stamp, parameters.future_tolerance

    def take(name: str, new: Message | None, old: Message | None, fault: Callable[[Message], str]) -> Message | None:
        if new is None or new is old:
            return old
        what = _stamp_fault(new.stamp, old, now + ahead) or fault(new)
        if what:
            complaints.append(Complaint(f"{name} refused", f"{name}: {what}"))
            return old
        return new

    def table(dtype: np.dtype[np.void]) -> Callable[[Table], str]:
        return lambda message: _table_fault(message.rows, dtype)

    mission_raw, mission = _mission(inputs, last, complaints)
    kept = Received(
        odometry=take("odometry", inputs.odometry, last.odometry, lambda m: _odometry_fault(m, parameters)),
        objects=take("objects", inputs.objects, last.objects, table(OBJECTS)),
        occupancy=take("occupancy", inputs.occupancy, last.occupancy, lambda m: _occupancy_fault(m, parameters)),
        lane_lines=take("lane_lines", inputs.lane_lines, last.lane_lines, table(LANE_LINES)),
        traffic_lights=take("traffic_lights", inputs.traffic_lights, last.traffic_lights, table(TRAFFIC_LIGHTS)),
        parking_slots=take("parking_slots", inputs.parking_slots, last.parking_slots, table(PARKING_SLOTS)),
        rain_fog=inputs.rain_fog or last.rain_fog,
        emergency_stop=inputs.emergency_stop or last.emergency_stop,
        mission_raw=mission_raw,
        mission=mission,
    )
    return kept, _without_stale(kept, now, parameters, complaints), tuple(complaints)


def _mission(
    inputs: Inputs, last: Received, complaints: list[Complaint]
) -> tuple[Mapping[str, Any] | None, Mission | None]:
    raw = inputs.mission
    if raw is None or raw is last.mission_raw:
        return last.mission_raw, last.mission
    try:
        return raw, parse_mission(raw, inputs.stamp)
    except InputError as error:
        complaints.append(Complaint("mission refused", str(error)))
        return last.mission_raw, last.mission


def _without_stale(kept: Received, now: float, parameters: WorldParameters, complaints: list[Complaint]) -> Received:
    limits = {
        "odometry": parameters.odometry_max_age,
        "objects": parameters.objects_max_age,
        "occupancy": parameters.occupancy_max_age,
        "lane_lines": parameters.lines_max_age,
        "traffic_lights": parameters.lights_max_age,
        "parking_slots": parameters.slots_max_age,
    }
    stale: dict[str, None] = {}
    for name, limit in limits.items():
        message = getattr(kept, name)
        if message is not None and now - message.stamp > limit + 1e-6:
            complaints.append(Complaint(f"{name} stale", f"{name}: older than {limit:g} s, taken as not received"))
            stale[name] = None
    return dataclasses.replace(kept, **stale)


def _stamp_fault(stamp: float, old: Odometry | Table | Occupancy | None, latest: float) -> str:
    if not math.isfinite(stamp):
        return f"stamp {stamp} is not finite (expected seconds)"
    if stamp > latest:
        return f"stamp {stamp:.3f} s lies ahead of the tick (expected at most {latest:.3f} s)"
    if old is not None and stamp < old.stamp:
        return f"stamp {stamp:.3f} s is out of order (expected at least {old.stamp:.3f} s)"
    return ""


def _odometry_fault(message: Odometry, parameters: WorldParameters) -> str:
    numbers = (*message.pose, message.v, message.yaw_rate, message.position_std, message.heading_std)
    if not all(math.isfinite(number) for number in numbers):
        return "a value that is not finite (expected numbers)"
    if max(abs(message.pose.x), abs(message.pose.y)) > parameters.max_coordinate:
        return f"position out of range (expected within {parameters.max_coordinate:g} m)"
    if abs(message.v) > _MAX_SPEED:
        return f"speed {message.v:g} m/s out of range (expected within {_MAX_SPEED:g} m/s)"
    if abs(message.yaw_rate) > _MAX_YAW_RATE:
        return f"yaw rate {message.yaw_rate:g} rad/s out of range (expected within {_MAX_YAW_RATE:g} rad/s)"
    if min(message.position_std, message.heading_std) < 0.0:
        return "a negative standard deviation (expected 0 or more)"
    return ""


def _table_fault(rows: npt.NDArray[np.void], dtype: np.dtype[np.void]) -> str:
    if rows.dtype != dtype or rows.ndim != 1:
        return f"columns {rows.dtype} (expected {dtype})"
    return ""


def _occupancy_fault(message: Occupancy, parameters: WorldParameters) -> str:
    if not (math.isfinite(message.resolution) and message.resolution > 0.0):
        return f"resolution {message.resolution} (expected more than 0 m)"
    if not all(math.isfinite(number) for number in message.origin):
        return "an origin that is not finite (expected numbers)"
    if max(abs(message.origin.x), abs(message.origin.y)) > parameters.max_coordinate:
        return f"origin out of range (expected within {parameters.max_coordinate:g} m)"
    if message.cells.ndim != 2 or message.cells.dtype != np.int8:
        return f"cells {message.cells.dtype} of {message.cells.ndim} dimensions (expected int8 of 2)"
    return ""
