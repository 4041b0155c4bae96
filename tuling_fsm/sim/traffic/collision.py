"""Third stage: what is in the way of every vehicle, measured along its own path.

The corridor ahead of the front bumper is walked in steps as long as nothing can be hit (sphere tracing), for every
box near it. Boxes may be predictions: where somebody will be `when` seconds from now. They count unless the vehicle
is long past by then.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.sim.kernel import kernel
from tuling_fsm.sim.traffic.fleet import Fleet, ignores, offset_at
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, Records, lane_point

CELL_M = 24.0
MAX_CELLS_A_SIDE = 256
SAME_LEVEL_M = 3.0
MIN_STEP_M = 0.3
SAMPLE_STEP_M = 5.0
SAMPLE_ROOM_M = 0.9
"""Between samples of this distance a path stays within this of the rectangle around them."""
PAIR = 1 << 32
"""Key of a pair: row of the one that does not see times this, and the number of the other."""
LongArray = npt.NDArray[np.int64]
MIN_REACH_M = 45.0
"""Everybody looks this far: over a junction to the room behind it."""
PASSED_MARGIN_S = 0.7
"""A predicted box is ignored by a vehicle that will have passed it this much earlier."""


BOX = np.dtype(
    [
        ("x", "f8"), ("y", "f8"), ("z", "f8"), ("heading", "f8"), ("length", "f8"), ("width", "f8"), ("v", "f8"),
        ("when", "f8"), ("owner", "i8"), ("who", "i8"), ("person", "?"),
    ]
)  # fmt: skip
"""A body: centre, level z (m, NaN for unknown), heading, size, speed along the heading (m/s), `when` (s from
now), the row of the fleet that it is, or -1, its number (0 for the ego), and whether it is a person.
"""


class Grid(NamedTuple):
    """Boxes by cell: those of cell `c` (row * columns + column) are `item[start[c] : start[c + 1]]`."""

    x0: float
    y0: float
    cell: float
    columns: int
    rows: int
    start: IntArray
    item: IntArray
    largest: float
    """Greatest half-diagonal of a box, m."""


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


@njit(cache=True)
def build_grid(boxes: Records) -> Grid:
    """Sort boxes into square cells."""
    count = len(boxes)
    if count == 0:
        return Grid(0.0, 0.0, CELL_M, 1, 1, np.zeros(2, np.int32), np.zeros(0, np.int32), 0.0)
    x0, y0 = boxes.x.min(), boxes.y.min()
    extent = max(boxes.x.max() - x0, boxes.y.max() - y0)
    cell = max(CELL_M, extent / (MAX_CELLS_A_SIDE - 1))
    columns, rows = int((boxes.x.max() - x0) / cell) + 1, int((boxes.y.max() - y0) / cell) + 1
    start = np.zeros(columns * rows + 1, np.int32)
    place = np.empty(count, np.int32)
    largest = 0.0
    for j in range(count):
        place[j] = int((boxes.y[j] - y0) / cell) * columns + int((boxes.x[j] - x0) / cell)
        start[place[j] + 1] += 1
        largest = max(largest, 0.5 * math.hypot(boxes.length[j], boxes.width[j]))
    for c in range(columns * rows):
        start[c + 1] += start[c]
    filled = start[:-1].copy()
    item = np.empty(count, np.int32)
    for j in range(count):
        item[filled[place[j]]] = j
        filled[place[j]] += 1
    return Grid(x0, y0, cell, columns, rows, start, item, largest)


@kernel
def idm(v: float, gap: float, lead_v: float, standing_gap: float, k: Driver) -> float:
    """Interaction part of the Intelligent Driver Model: the acceleration that a leader at `gap` leaves to somebody who
    would stand `standing_gap` behind it, at most `max_accel`.
    """
    if gap < 0.1:
        return -k.max_decel
    wish = v * k.headway + v * (v - lead_v) / (2.0 * math.sqrt(k.max_accel * k.comfort_decel))
    ratio = (standing_gap + max(wish, 0.0)) / gap
    return max(k.max_accel * (1.0 - ratio * ratio), -k.max_decel)


@kernel
def _to_box(boxes: Records, j: int, x: float, y: float) -> tuple[float, float]:
    """Vector from a point to the nearest point of a box, (0, 0) inside."""
    c, s = math.cos(boxes.heading[j]), math.sin(boxes.heading[j])
    dx, dy = x - boxes.x[j], y - boxes.y[j]
    along, across = c * dx + s * dy, c * dy - s * dx
    near_along = min(max(along, -0.5 * boxes.length[j]), 0.5 * boxes.length[j])
    near_across = min(max(across, -0.5 * boxes.width[j]), 0.5 * boxes.width[j])
    along, across = near_along - along, near_across - across
    return c * along - s * across, s * along + c * across


@kernel
def corridor_hit(
    graph: LaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, reach: float, k: Driver
) -> tuple[float, float]:
    """Gap from the front bumper to box `j` in the corridor of vehicle `i` (inf for none) and the path's
    heading there.
    """
    half = 0.5 * fleet.car.width[i] + k.side_clearance
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    end = min(front + reach, fleet.path_at[i, fleet.car.path_count[i]])
    arc, lane = front, 0
    pace = max(fleet.car.v[i], 1.0)
    while arc <= end:
        while lane + 1 < fleet.car.path_count[i] and fleet.path_at[i, lane + 1] <= arc:
            lane += 1
        x, y, heading = lane_point(graph, fleet.path_lane[i, lane], arc - fleet.path_at[i, lane])
        offset = offset_at(fleet, i, (arc - fleet.car.arc[i]) / pace, k.lane_change_time)
        if offset != 0.0:
            x, y = x - offset * math.sin(heading), y + offset * math.cos(heading)
        dx, dy = _to_box(boxes, j, x, y)
        distance = math.hypot(dx, dy)
        if distance <= half:
            return arc + dx * math.cos(heading) + dy * math.sin(heading) - front, heading
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
def _watch(
    graph: LaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, reach: float, blind: LongArray, k: Driver,
    ahead: Records,
) -> None:  # fmt: skip
    """Take one box into account."""
    share = fleet.rules.ignore_walkers[i] if boxes.person[j] else fleet.rules.ignore_vehicles[i]
    if ignores(fleet, i, share, boxes.who[j]) or _blind(blind, i, boxes.who[j]):
        return
    gap, heading = corridor_hit(graph, fleet, i, boxes, j, reach, k)
    if gap == np.inf or (boxes.when[j] > 0.0 and _passes_first(fleet, i, boxes, j, gap)):
        return
    lead_v = max(boxes.v[j] * math.cos(boxes.heading[j] - heading), 0.0)
    ahead.accel[i] = min(ahead.accel[i], idm(fleet.car.v[i], gap, lead_v, fleet.rules.gap[i], k))
    if boxes.when[j] == 0.0 and gap < ahead.gap[i]:
        ahead.gap[i], ahead.v[i] = gap, lead_v


@kernel
def _bounds(graph: LaneGraph, fleet: Fleet, i: int, reach: float, k: Driver) -> tuple[float, float, float, float]:
    """A rectangle in the frame of vehicle `i` that holds all of its corridor: ahead from and to, left from and to."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    end = min(front + reach, fleet.path_at[i, fleet.car.path_count[i]])
    c, s = math.cos(fleet.car.heading[i]), math.sin(fleet.car.heading[i])
    pace, lane, arc = max(fleet.car.v[i], 1.0), 0, front
    ahead0, ahead1, left0, left1 = np.inf, -np.inf, np.inf, -np.inf
    while True:
        while lane + 1 < fleet.car.path_count[i] and fleet.path_at[i, lane + 1] <= arc:
            lane += 1
        x, y, heading = lane_point(graph, fleet.path_lane[i, lane], arc - fleet.path_at[i, lane])
        offset = offset_at(fleet, i, (arc - fleet.car.arc[i]) / pace, k.lane_change_time)
        dx = x - offset * math.sin(heading) - fleet.car.x[i]
        dy = y + offset * math.cos(heading) - fleet.car.y[i]
        ahead, left = c * dx + s * dy, c * dy - s * dx
        ahead0, ahead1, left0, left1 = min(ahead0, ahead), max(ahead1, ahead), min(left0, left), max(left1, left)
        if arc >= end:
            break
        arc = min(arc + SAMPLE_STEP_M, end)
    room = 0.5 * fleet.car.width[i] + k.side_clearance + SAMPLE_ROOM_M
    return ahead0 - room, ahead1 + room, left0 - room, left1 + room


@kernel
def _within(fleet: Fleet, i: int, boxes: Records, j: int, bounds: tuple[float, float, float, float]) -> bool:
    """Whether box `j` may touch the rectangle."""
    c, s = math.cos(fleet.car.heading[i]), math.sin(fleet.car.heading[i])
    dx, dy = boxes.x[j] - fleet.car.x[i], boxes.y[j] - fleet.car.y[i]
    ahead, left = c * dx + s * dy, c * dy - s * dx
    turn = boxes.heading[j] - fleet.car.heading[i]
    along, across = abs(math.cos(turn)), abs(math.sin(turn))
    half_ahead = 0.5 * (along * boxes.length[j] + across * boxes.width[j])
    half_left = 0.5 * (across * boxes.length[j] + along * boxes.width[j])
    return bool(
        bounds[0] - half_ahead <= ahead <= bounds[1] + half_ahead
        and bounds[2] - half_left <= left <= bounds[3] + half_left
    )


@kernel
def watch_out(
    graph: LaneGraph, fleet: Fleet, boxes: Records, grid: Grid, blind: LongArray, k: Driver, ahead: Records
) -> None:
    """The stage: fill `ahead` for all vehicles."""
    for i in range(len(fleet.car)):
        ahead.accel[i], ahead.gap[i], ahead.v[i] = k.max_accel, np.inf, 0.0
        if fleet.car.mode[i] == 0:
            continue
        v = fleet.car.v[i]
        reach = max(MIN_REACH_M, 12.0 + v * (k.headway + 1.0) + v * v / k.comfort_decel)
        radius = 0.5 * fleet.car.length[i] + reach + grid.largest
        bounds = _bounds(graph, fleet, i, reach, k)
        first_row = max(int((fleet.car.y[i] - radius - grid.y0) / grid.cell), 0)
        last_row = min(int((fleet.car.y[i] + radius - grid.y0) / grid.cell), grid.rows - 1)
        first_column = max(int((fleet.car.x[i] - radius - grid.x0) / grid.cell), 0)
        last_column = min(int((fleet.car.x[i] + radius - grid.x0) / grid.cell), grid.columns - 1)
        for row in range(first_row, last_row + 1):
            for column in range(first_column, last_column + 1):
                c = row * grid.columns + column
                for place in range(grid.start[c], grid.start[c + 1]):
                    j = grid.item[place]
                    if boxes.owner[j] == i or abs(boxes.z[j] - fleet.car.z[i]) > SAME_LEVEL_M:
                        continue
                    away = math.hypot(boxes.x[j] - fleet.car.x[i], boxes.y[j] - fleet.car.y[i])
                    if away <= radius and _within(fleet, i, boxes, j, bounds):
                        _watch(graph, fleet, i, boxes, j, reach, blind, k, ahead)
