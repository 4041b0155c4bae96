"""First of all: which vehicles are on the road, and where new ones may appear."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.traffic.fleet import LANES, OFF, Fleet, draw
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, lane_point
from tuling_fsm.world.inputs import Kind


class Size(NamedTuple):
    """A class of vehicles: kind, length and width (m), share of the population."""

    kind: Kind
    length: float
    width: float
    share: float


SIZES = (
    Size(Kind.CAR, 3.7, 1.65, 0.25),
    Size(Kind.CAR, 4.5, 1.82, 0.40),
    Size(Kind.CAR, 4.9, 1.92, 0.17),
    Size(Kind.TRUCK, 5.6, 2.0, 0.10),
    Size(Kind.MOTORCYCLE, 2.2, 0.8, 0.08),
)
SIDE_ROOM_M = 0.4
"""A lane must be this much wider than the vehicle."""
LANE_ROOM_M = 6.0
"""A vehicle appears on a lane that is this much longer than itself."""


class Places(NamedTuple):
    """Where vehicles may appear: lanes with the cumulated share of each, circles (x, y, radius) to stay out of, and
    circles one of which is to be kept within, if there are any.
    """

    lanes: IntArray
    shares: FloatArray
    circles: FloatArray
    within: FloatArray


def draw_sizes(fleet: Fleet, rows: range, spread: float, share: float) -> IntArray:
    """Draw class and eagerness of vehicles; returns their kinds (N,) for the whole fleet."""
    kinds = np.full(len(fleet.car), int(Kind.CAR), dtype=np.int32)
    for i in rows:
        pick = draw(fleet, i)
        for size in SIZES:
            if pick < size.share:
                break
            pick -= size.share
        kinds[i] = size.kind
        fleet.car.length[i], fleet.car.width[i] = size.length, size.width
        fleet.car.share[i] = share * (1.0 + spread * (2.0 * draw(fleet, i) - 1.0))
    return kinds


ANYWHERE = np.zeros((0, 3))


def places(graph: LaneGraph, circles: FloatArray, within: FloatArray = ANYWHERE) -> Places:
    """All lanes outside junctions that lead somewhere, weighted by their length."""
    room = np.maximum(graph.lane.length - min(size.length for size in SIZES) - LANE_ROOM_M, 0.0)
    room[(graph.lane.junction >= 0) | (graph.lane.width < min(size.width for size in SIZES) + SIDE_ROOM_M)] = 0.0
    endless = np.where(graph.lane.endless, room, 0.0)
    weights = endless if endless.sum() > 0.0 else room
    lanes = np.flatnonzero(weights).astype(np.int32)
    outside, inside = (np.ascontiguousarray(each, dtype=np.float64).reshape(-1, 3) for each in (circles, within))
    return Places(lanes, np.cumsum(weights[lanes]), outside, inside)


def capacity(graph: LaneGraph, gap: float) -> int:
    """How many vehicles the lanes take without filling up, a gap (m) between one and the next."""
    mean = math.fsum(size.length * size.share for size in SIZES)
    room = graph.lane.length[graph.lane.junction < 0].sum()
    return int(room / (mean + gap))


@kernel
def clear_of(fleet: Fleet, i: int, x: float, y: float, heading: float, ahead: float, behind: float) -> bool:
    """Whether vehicle `i` would find nobody from `behind` to `ahead` (m) of it at a place in its lane."""
    c, s = elementary.cos(heading), elementary.sin(heading)
    for j in range(len(fleet.car)):
        if j == i or fleet.car.mode[j] == OFF:
            continue
        dx, dy = fleet.car.x[j] - x, fleet.car.y[j] - y
        along, across = c * dx + s * dy, c * dy - s * dx
        reach = 0.5 * (fleet.car.length[i] + fleet.car.length[j])
        if -reach - behind < along < reach + ahead and abs(across) < 0.5 * (fleet.car.width[i] + fleet.car.length[j]):
            return False
    return True


@kernel
def _in_any(circles: FloatArray, x: float, y: float) -> bool:
    inside = 0
    for k in range(len(circles)):
        inside += elementary.hypot(x - circles[k, 0], y - circles[k, 1]) < circles[k, 2]
    return inside > 0


@kernel
def put_on_lane(graph: LaneGraph, fleet: Fleet, i: int, lane: int, s: float, v: float) -> None:
    """Put vehicle `i` on the road with its centre at `s` of a lane; its path is that lane and grows from there."""
    fleet.path_lane[i, 0] = lane
    fleet.path_at[i, 0], fleet.path_at[i, 1] = -s, graph.lane.length[lane] - s
    fleet.car.path_count[i] = 1
    fleet.car.arc[i], fleet.car.v[i], fleet.car.a[i] = 0.0, v, 0.0
    fleet.car.x[i], fleet.car.y[i], fleet.car.heading[i] = lane_point(graph, lane, s)
    fleet.car.offset_time[i] = np.inf
    fleet.car.cleared[i], fleet.car.stopped_at[i] = -np.inf, -np.inf
    fleet.car.arrived[i], fleet.car.standing[i] = np.inf, 0.0
    fleet.car.offset_from[i] = fleet.car.offset_to[i] = fleet.rules.offset[i]
    fleet.car.mode[i], fleet.car.physical[i] = LANES, False


@kernel
def appear(graph: LaneGraph, fleet: Fleet, i: int, where: Places, gap: float) -> bool:
    """Try to put vehicle `i` on the road, standing, at a place drawn by its own generator; nothing happens where there
    is no room with `gap` (m) to the others.
    """
    if len(where.lanes) == 0:
        return False
    pick = draw(fleet, i) * where.shares[-1]
    share = draw(fleet, i)
    lane = where.lanes[min(np.searchsorted(where.shares, pick, side="right"), len(where.lanes) - 1)]
    free = graph.lane.length[lane] - fleet.car.length[i] - LANE_ROOM_M
    if free < 0.0 or graph.lane.width[lane] < fleet.car.width[i] + SIDE_ROOM_M:
        return False
    s = 0.5 * (graph.lane.length[lane] - free) + share * free
    x, y, heading = lane_point(graph, lane, s)
    if _in_any(where.circles, x, y) or (len(where.within) > 0 and not _in_any(where.within, x, y)):
        return False
    if not clear_of(fleet, i, x, y, heading, gap, gap):
        return False
    put_on_lane(graph, fleet, i, lane, s, 0.0)
    return True
