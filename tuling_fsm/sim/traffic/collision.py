"""Third stage: what is in the way of every vehicle, measured along its own path.

The corridor ahead of the front bumper is walked in steps as long as nothing can be hit (sphere tracing), for every
box near it. Boxes may be predictions: where somebody will be `when` seconds from now. They count unless the vehicle
is long past by then.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.kernels import kernel, part, sqrt
from tuling_fsm.sim.traffic.boxes import Cells, Grid, cells
from tuling_fsm.sim.traffic.corridor import Corridor, corridor_of, first_touch, within
from tuling_fsm.sim.traffic.fleet import Fleet, ignores, offset_at
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, Records, lane_point

SAME_LEVEL_M = 3.0
MIN_STEP_M = 0.3
SLACK_M = 5.0
"""A path is at least as long as the straight way, but for this: gaps between lanes, and a lane change."""
PAIR = 1 << 32
"""Key of a pair: row of the one that does not see times this, and the number of the other."""
LongArray = npt.NDArray[np.int64]
MIN_REACH_M = 45.0
"""Everybody looks this far: over a junction to the room behind it."""
PASSED_MARGIN_S = 0.7
"""A predicted box is ignored by a vehicle that will have passed it this much earlier."""


class Driver(NamedTuple):
    """The Intelligent Driver Model's numbers and the corridor's, see `TrafficParameters`."""

    max_accel: float
    comfort_decel: float
    max_decel: float
    headway: float
    standing_gap: float
    lateral_accel: float
    side_clearance: float
    lane_change_time: float
    patience: float


AHEAD = np.dtype([("accel", "f8"), ("gap", "f8"), ("v", "f8")])
"""Result of the stage for a vehicle: the acceleration that all obstacles allow (m/s^2), and of the nearest body on
the road ahead the gap (m, inf for none) and the speed along the path (m/s).
"""


@kernel
def idm(v: float, gap: float, lead_v: float, standing_gap: float, k: Driver) -> float:
    """Interaction part of the Intelligent Driver Model: the acceleration (m/s^2) that a leader at `gap` (m) with speed
    `lead_v` leaves to somebody with speed `v` (m/s) who would stand `standing_gap` (m) behind it, at most `max_accel`.
    """
    if gap < 0.1:
        return -k.max_decel
    wish = v * k.headway + v * (v - lead_v) / (2.0 * sqrt(k.max_accel * k.comfort_decel))
    ratio = (standing_gap + max(wish, 0.0)) / gap
    return float(max(k.max_accel * (1.0 - ratio * ratio), -k.max_decel))


@kernel
def _to_box(boxes: Records, j: int, x: float, y: float) -> tuple[float, float]:
    """Vector from a point to the nearest point of a box, (0, 0) inside."""
    c, s = boxes.cos[j], boxes.sin[j]
    dx, dy = x - boxes.x[j], y - boxes.y[j]
    along, across = c * dx + s * dy, c * dy - s * dx
    near_along = min(max(along, -0.5 * boxes.length[j]), 0.5 * boxes.length[j])
    near_across = min(max(across, -0.5 * boxes.width[j]), 0.5 * boxes.width[j])
    along, across = near_along - along, near_across - across
    return c * along - s * across, s * along + c * across


@part
def corridor_hit(
    graph: LaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, start: float, end: float, k: Driver
) -> tuple[float, float]:
    """Gap from the front bumper to box `j` in the corridor of vehicle `i` between two arcs (inf for none) and the
    path's heading there.
    """
    half = 0.5 * fleet.car.width[i] + k.side_clearance
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    arc, place = start, 0
    pace = max(fleet.car.v[i], 1.0)
    centred = fleet.car.offset_time[i] >= k.lane_change_time and fleet.car.offset_to[i] == 0.0
    while arc <= end:
        while place + 1 < fleet.car.path_count[i] and fleet.path_at[i, place + 1] <= arc:
            place += 1
        x, y, heading = lane_point(graph, fleet.path_lane[i, place], arc - fleet.path_at[i, place])
        offset = 0.0 if centred else offset_at(fleet, i, (arc - fleet.car.arc[i]) / pace, k.lane_change_time)
        if offset != 0.0:
            x, y = x - offset * elementary.sin(heading), y + offset * elementary.cos(heading)
        dx, dy = _to_box(boxes, j, x, y)
        distance = elementary.hypot(dx, dy)
        if distance <= half:
            return arc + dx * elementary.cos(heading) + dy * elementary.sin(heading) - front, heading
        arc += max(distance - half, MIN_STEP_M)
    return np.inf, 0.0


@kernel
def _passes_first(fleet: Fleet, i: int, boxes: Records, j: int, gap: float) -> bool:
    """Whether the tail of vehicle `i` is past a predicted box before its time."""
    way = gap + fleet.car.length[i] + boxes.width[j]
    return bool(fleet.car.v[i] * (boxes.when[j] - PASSED_MARGIN_S) > way)


@kernel
def _blind(blind: LongArray, i: int, who: int) -> bool:
    """Whether vehicle `i` has been told not to see somebody: a pair in the sorted table of keys."""
    key, low, high = i * PAIR + who, 0, len(blind)
    while low < high:
        middle = (low + high) // 2
        if blind[middle] < key:
            low = middle + 1
        else:
            high = middle
    return bool(low < len(blind) and blind[low] == key)


@kernel
def _matters(fleet: Fleet, i: int, boxes: Records, j: int, k: Driver, ahead: Records) -> bool:
    """Whether box `j` could hold vehicle `i` back more than what it has seen so far, if it stood in the way there."""
    nose = 0.5 * fleet.car.length[i]
    x, y = fleet.car.x[i] + nose * fleet.car.cos[i], fleet.car.y[i] + nose * fleet.car.sin[i]
    room = boxes.half_x[j] + boxes.half_y[j] + fleet.car.width[i] + 2.0 * k.side_clearance + SLACK_M
    gap = elementary.hypot(boxes.x[j] - x, boxes.y[j] - y) - room
    nearer = boxes.when[j] == 0.0 and gap < ahead.gap[i]
    return bool(nearer or idm(fleet.car.v[i], gap, 0.0, fleet.rules.gap[i], k) < ahead.accel[i])


@part
def _watch(
    graph: LaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, corridor: Corridor, blind: LongArray, k: Driver,
    ahead: Records,
) -> None:  # fmt: skip
    """Take one box into account."""
    share = fleet.rules.ignore_walkers[i] if boxes.person[j] else fleet.rules.ignore_vehicles[i]
    if ignores(fleet, i, share, boxes.who[j]) or _blind(blind, i, boxes.who[j]):
        return
    start = first_touch(graph, fleet, i, boxes, j, corridor)
    gap, heading = corridor_hit(graph, fleet, i, boxes, j, start, corridor.end, k)
    if gap == np.inf or (boxes.when[j] > 0.0 and _passes_first(fleet, i, boxes, j, gap)):
        return
    lead_v = max(boxes.v[j] * elementary.cos(boxes.heading[j] - heading), 0.0)
    ahead.accel[i] = min(ahead.accel[i], idm(fleet.car.v[i], gap, lead_v, fleet.rules.gap[i], k))
    if boxes.when[j] == 0.0 and gap < ahead.gap[i]:
        ahead.gap[i], ahead.v[i] = gap, lead_v


@kernel
def _candidates(
    fleet: Fleet, i: int, boxes: Records, grid: Grid, corridor: Corridor, around: Cells, found: IntArray
) -> int:
    """Put the boxes on the level of vehicle `i` that may touch its corridor into `found`, the nearest of those that
    are there now first; returns how many they are.
    """
    nearest, place, count = np.inf, 0, 0
    x, y, z = fleet.car.x[i], fleet.car.y[i], fleet.car.z[i]
    for row in range(around.bottom, around.top + 1):
        first, last = row * grid.columns + around.left, row * grid.columns + around.right
        for j in range(grid.start[first], grid.start[last + 1]):
            # Most boxes are not there: that is found out without a jump for each condition.
            found[count] = j
            here = within(boxes, j, corridor) & (boxes.owner[j] != i) & (not abs(boxes.z[j] - z) > SAME_LEVEL_M)
            dx, dy = boxes.x[j] - x, boxes.y[j] - y
            if here & (boxes.when[j] == 0.0) & (dx * dx + dy * dy < nearest):
                nearest, place = dx * dx + dy * dy, count
            count += here
    for c in range(place, 0, -1):
        found[c - 1], found[c] = found[c], found[c - 1]
    return count


@kernel
def watch_out(
    graph: LaneGraph, fleet: Fleet, boxes: Records, grid: Grid, blind: LongArray, k: Driver, ahead: Records,
    found: IntArray,
) -> None:  # fmt: skip
    """The stage: fill `ahead` for all vehicles, cell by cell, so that what one has looked at the next finds at hand.
    The nearest box is looked at first: most others then do not matter. `found` has room for a box more than all.
    """
    for i in range(len(fleet.car)):
        ahead.accel[i], ahead.gap[i], ahead.v[i] = k.max_accel, np.inf, 0.0
    for body in range(grid.start[len(grid.start) - 1]):
        i = boxes.owner[body]
        if i < 0:
            continue
        v = fleet.car.v[i]
        reach = max(MIN_REACH_M, 12.0 + v * (k.headway + 1.0) + v * v / k.comfort_decel)
        corridor = corridor_of(graph, fleet, i, reach, k.side_clearance)
        around = cells(grid, corridor.x0, corridor.x1, corridor.y0, corridor.y1)
        for c in range(_candidates(fleet, i, boxes, grid, corridor, around, found)):
            j = found[c]
            if (c == 0 and boxes.when[j] == 0.0) or _matters(fleet, i, boxes, j, k, ahead):
                _watch(graph, fleet, i, boxes, j, corridor, blind, k, ahead)
