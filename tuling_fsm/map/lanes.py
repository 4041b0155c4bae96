"""What the map is made of, once read: lanes in direction of travel, their types, stop lines, crosswalks, junctions ...

Everything here is sampled and plain; how OpenDRIVE says it is the business of the reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Polyline, Pose

DRIVING = "driving"

READ_AS_DRIVING = frozenset(
    {"entry", "exit", "onRamp", "offRamp", "connectingRamp", "slipLane", "bidirectional", "mwyEntry", "mwyExit"}
)
"""Lane types of OpenDRIVE that are ordinary driving lanes to a car; a `Lane` carries `driving` for all of them."""

SURFACE = frozenset({DRIVING, "parking", "stop", "shoulder", "border", "biking", "bus", "taxi", "HOV", "restricted"})
"""Lane types whose surface a wheel may touch. Everything else is road edge."""

OFF_ROAD = frozenset({"none", "sidewalk", "walking", "curb", "median", "rail", "tram", "roadWorks"})
"""Lane types on which a vehicle is off the road."""


def canonical(lane_type: str) -> str:
    """OpenDRIVE's lane type with all driving kinds folded into `driving`."""
    return DRIVING if lane_type in READ_AS_DRIVING else lane_type


class LaneId(NamedTuple):
    """OpenDRIVE's own key: road id, index of the lane section along the road, lane number. A section in which limits
    change is several here, so that the index may be higher than the file's.
    """

    road: str
    section: int
    lane: int


class MarkKind(IntEnum):
    """Lane markings, with the codes of the `lane_lines` topic."""

    UNKNOWN = 0
    SOLID = 1
    BROKEN = 2
    SOLID_SOLID = 3
    SOLID_BROKEN = 4
    BROKEN_SOLID = 5
    CURB = 6
    VIRTUAL = 7


class LaneMark(NamedTuple):
    """One stretch of a lane's boundary line, along the lane's centre in direction of travel (m).

    `crossable` is meant from inside the lane outwards: a solid-broken pair may be crossable from one side only.
    """

    s_from: float
    s_to: float
    kind: MarkKind
    crossable: bool

    def is_at(self, s: FloatArray) -> BoolArray:
        """Whether it is the mark at each arc length of its lane."""
        return np.asarray((s >= self.s_from - 1e-6) & (s <= self.s_to + 1e-6))


@dataclass(frozen=True, eq=False)
class Lane:
    """One lane of one lane section, sampled at most 0.5 m apart in its direction of travel.

    `left`/`right` are the distances (m, >= 0) from the centre to the boundaries. `left_neighbour`/`right_neighbour` is
    the lane beside it in the same direction of travel (whatever the mark between says). `road_s` and
    `road_t` are OpenDRIVE's s and t of each sample.
    """

    id: LaneId
    type: str
    """OpenDRIVE's e_laneType: driving, parking, shoulder, sidewalk, ..."""
    section: int
    """Index of the lane section in the file."""
    junction: str | None
    center: Polyline
    z: FloatArray
    road_s: FloatArray
    road_t: FloatArray
    left: FloatArray
    right: FloatArray
    left_marks: tuple[LaneMark, ...]
    right_marks: tuple[LaneMark, ...]
    limit: float
    """Speed limit, m/s."""
    successors: tuple[LaneId, ...]
    predecessors: tuple[LaneId, ...]
    left_neighbour: LaneId | None
    right_neighbour: LaneId | None

    @property
    def length(self) -> float:
        """Length of the centre, m."""
        return self.center.length

    def height(self, s: float) -> float:
        """Of the lane's centre at `s` (m), m."""
        return float(np.interp(s, self.center.s, self.z))

    def slope(self, s: float) -> float:
        """By how much the lane rises in a metre of its centre at `s` (m)."""
        i = min(max(int(np.searchsorted(self.center.s, s)) - 1, 0), len(self.z) - 2)
        return float((self.z[i + 1] - self.z[i]) / max(self.center.s[i + 1] - self.center.s[i], 1e-6))


class LanePosition(NamedTuple):
    """A point on a lane: `s` along the lane's centre in travel direction, `offset` + left of travel (m); `heading` of
    travel.
    """

    lane: LaneId
    s: float
    offset: float
    width: float
    heading: float


@dataclass(frozen=True)
class StopLine:
    """Where vehicles of one lane stop for a signal: `s` along that lane, from edge to edge across it (m, `map`)."""

    lane: LaneId
    s: float
    x0: float
    y0: float
    x1: float
    y1: float
    kind: str
    """`light`, `stop` or `yield`."""
    signal: int
    """Number of the signal on the topics `traffic_lights`: unique in the map, equal to the OpenDRIVE id where that is
    a number.
    """
    approach: LaneId | None = None
    """The lane that it is painted on, where ways on from there have lights or signs of their own: it then holds for the
    one over `lane`, whose beginning is `-s` m beyond it.
    """


@dataclass(frozen=True)
class Signal:
    """A signal head or sign: `number` as in `StopLine.signal`, OpenDRIVE id, type, where it stands, and its controller
    if any.
    """

    number: int
    id: str
    type: str
    subtype: str
    dynamic: bool
    road: str
    s: float
    pose: Pose
    controller: str | None
    junction: str | None
    """The junction that its stop lines lead into."""


@dataclass(frozen=True, eq=False)
class Crosswalk:
    """A pedestrian crossing: outline (K, 2) in `map`, and every driving lane it lies on with the stretch of it (lane,
    s_from, s_to).
    """

    id: str
    road: str
    outline: FloatArray
    lanes: tuple[tuple[LaneId, float, float], ...]


@dataclass(frozen=True, eq=False)
class ParkingSlot:
    """A parking space: centre pose (heading along its length), length and width (m), outline (K, 2).

    No other of the map has its `id`: that of the object, with a number for further copies of a repeated one (`12#2`).
    """

    number: int
    id: str
    road: str
    pose: Pose
    length: float
    width: float
    outline: FloatArray
    reserved: str = ""
    """Whom the space is kept for, in the words of the map (`handicapped`); empty: any car may park there."""


@dataclass(frozen=True, eq=False)
class StaticObject:
    """Any other object of the map: a static obstacle where `solid` and its outline (K, 2) reaches the carriageway."""

    id: str
    type: str
    name: str
    road: str
    outline: FloatArray
    solid: bool


@dataclass(frozen=True)
class Junction:
    """A junction: its connecting lanes, and for each the other connecting lanes whose surface it shares (crossing or
    merging).
    """

    id: str
    lanes: tuple[LaneId, ...]
    conflicts: dict[LaneId, tuple[LaneId, ...]]
    has_lights: bool
