"""What comes in on a tick, as plain values: fields of the topics in `core.topics`.

Everything carries the stamp of its own message (s). A field that is `None` has never been received; the latest
message is given again on every tick until a newer one replaces it, so freshness is judged by its stamp.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import Any

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import FAR_M, INPUTS, Topic


def _rows(topic: Topic, place: str) -> np.dtype[np.void]:
    columns = [(each.name, f"<{place if each.place else each.type}") for each in topic.columns]
    return np.dtype((np.record, columns))


TABLES: Mapping[str, np.dtype[np.void]] = {topic.name: _rows(topic, "f4") for topic in INPUTS if topic.columns}
"""The rows of each topic that is a table; a row has its columns as attributes, also where nothing is compiled."""
FAR_TABLES: Mapping[str, np.dtype[np.void]] = {
    topic.name: _rows(topic, "f8") for topic in INPUTS if any(column.place for column in topic.columns)
}
"""The rows of tables with places in `map`, as they are told far from its origin: `x` and `y` as `f8`."""
OBJECTS, LANE_LINES = TABLES["objects"], TABLES["lane_lines"]
TRAFFIC_LIGHTS, PARKING_SLOTS = TABLES["traffic_lights"], TABLES["parking_slots"]


def rows_of(topic: str, reach: float) -> np.dtype[np.void]:
    """The rows that tell of places up to so far (m) from the origin of `map`, to a centimetre."""
    return TABLES[topic] if reach < FAR_M else FAR_TABLES[topic]


class Kind(IntEnum):
    """`objects.kind`."""

    UNKNOWN = 0
    CAR = 1
    TRUCK = 2
    BUS = 3
    MOTORCYCLE = 4
    BICYCLE = 5
    PEDESTRIAN = 6
    ANIMAL = 7
    CONE = 8
    BARRIER = 9
    DEBRIS = 10


class Source(IntFlag):
    """`objects.source`."""

    LIDAR = 1
    RADAR = 2
    CAMERA = 4
    V2X = 8
    HISTORY_MAP = 16


class Light(IntEnum):
    """`traffic_lights.state`."""

    UNKNOWN = 0
    RED = 1
    YELLOW = 2
    GREEN = 3
    RED_YELLOW = 4
    FLASHING_YELLOW = 5
    DARK = 6


@dataclass(frozen=True)
class Odometry:
    """Rear-axle pose in `map`, twist in the body frame, and the pose's standard deviations (localization quality)."""

    stamp: float
    pose: Pose
    v: float
    yaw_rate: float
    position_std: float = 0.0
    heading_std: float = 0.0


@dataclass(frozen=True, eq=False)
class StampedRows:
    """Rows of one of `TABLES` or `FAR_TABLES`, with the stamp of their message."""

    stamp: float
    rows: npt.NDArray[np.void]


@dataclass(frozen=True, eq=False)
class Occupancy:
    """An occupancy grid: `cells` (H, W) int8, -1 unknown, 0 free to 100 occupied; cell (0, 0) has its corner at
    `origin`.
    """

    stamp: float
    resolution: float
    origin: Pose
    cells: npt.NDArray[np.int8]


@dataclass(frozen=True)
class BoolMessage:
    """A Bool message; it has no stamp of its own and takes that of the tick that first sees it (DWELL-3)."""

    stamp: float
    value: bool


@dataclass(frozen=True, eq=False)
class RouteAnswer:
    """An answer of the route server, or a pushed route (`request` = -1). `points` (N, 3) x, y, heading; empty when
    refused.
    """

    stamp: float
    request: int
    points: FloatArray


@dataclass(frozen=True, eq=False)
class RouteRequest:
    """A question to the route server: `purpose` is `initial`, `next`, `refresh`, `replan` or `search`."""

    number: int
    purpose: str
    start: Pose
    goal: Pose


@dataclass(frozen=True, eq=False)
class Inputs:
    """All that one tick may use. `stamp` is the tick's time: that of the odometry, or of the timer when odometry
    is silent.
    """

    stamp: float
    odometry: Odometry | None = None
    objects: StampedRows | None = None
    occupancy: Occupancy | None = None
    lane_lines: StampedRows | None = None
    traffic_lights: StampedRows | None = None
    parking_slots: StampedRows | None = None
    rain_fog: BoolMessage | None = None
    emergency_stop: BoolMessage | None = None
    radar_health: BoolMessage | None = None
    clear_emergency_stop: bool = False
    reset: bool = False
    """An operator's call: out of `parked` (PRK-5)."""
    skip_task: bool = False
    """An operator's call: the present task is dropped."""
    route_answers: tuple[RouteAnswer, ...] = ()
    """Answers that arrived since the last tick."""
    mission: dict[str, Any] | None = None
    """The latest mission; a new object means a new message."""
