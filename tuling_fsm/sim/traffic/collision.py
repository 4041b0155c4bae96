"""Third stage: what is in the way of every vehicle, measured along its own path.

The corridor ahead of the front bumper is walked in steps as long as nothing can be hit (sphere tracing), for every
box near it. Boxes may be predictions: where an agent will be `when` seconds from now. They count unless the vehicle
is long past by then.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import Int32Array
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.sim.traffic.fleet import Fleet, ignores, nearest_sample, offset_at, path_index
from tuling_fsm.sim.traffic.lane_graph import SWEEP_M, Records, TrafficLaneGraph, lane_point
from tuling_fsm.sim.traffic.spatial_grid import CellRange, SpatialGrid, cells


class Corridor(NamedTuple):
    """From the arc of the front bumper to the `end` of what is watched (m), `room` wide to either side, which holds
    what a vehicle sweeps while it changes lanes; and the rectangle around all of it.
    """

    front: float
    end: float
    room: float
    x0: float
    x1: float
    y0: float
    y1: float


@inlined_kernel
def _span(graph: TrafficLaneGraph, fleet: Fleet, i: int, place: int, front: float, end: float) -> tuple[int, int]:
    """First and last sample of a lane of the path of vehicle `i` that enclose a stretch of it."""
    lane, at = fleet.path_lane[i, place], fleet.path_at[i, place]
    first, last, step = graph.lane.at[lane], graph.lane.end[lane] - 1, max(graph.lane.step[lane], 1e-9)
    begin = first + min(max(int((front - at) / step), 0), last - first)
    return begin, min(first + max(math.ceil((end - at) / step), begin - first), last)


@inlined_kernel
def corridor_of(graph: TrafficLaneGraph, fleet: Fleet, i: int, reach: float, clearance: float) -> Corridor:
    """The corridor of vehicle `i` over `reach` m, with `clearance` m to either side."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    end = min(front + reach, fleet.path_at[i, fleet.car.path_count[i]])
    place = path_index(fleet, i, front)
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    while True:
        sample, last = _span(graph, fleet, i, place, front, end)
        stride = graph.lane.stride[fleet.path_lane[i, place]]
        while True:
            x, y = graph.sample.x[sample], graph.sample.y[sample]
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
            if sample >= last:
                break
            sample = min(sample + stride, last)
        place += 1
        if place >= fleet.car.path_count[i] or fleet.path_at[i, place] >= end:
            break
    aside = max(abs(fleet.car.offset_from[i]), abs(fleet.car.offset_to[i]))
    room = 0.5 * fleet.car.width[i] + clearance + SWEEP_M + aside
    return Corridor(front, end, room, x0 - room, x1 + room, y0 - room, y1 + room)


@inlined_kernel
def within(boxes: Records, j: int, corridor: Corridor) -> bool:
    """Whether box `j` may touch the rectangle around a corridor."""
    x, y, half_x, half_y = boxes.x[j], boxes.y[j], boxes.half_x[j], boxes.half_y[j]
    across = (corridor.x0 - half_x <= x) & (x <= corridor.x1 + half_x)
    return bool(across & (corridor.y0 - half_y <= y) & (y <= corridor.y1 + half_y))


@inlined_kernel
def first_touch(graph: TrafficLaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, corridor: Corridor) -> float:
    """Arc from which on box `j` may touch the corridor of vehicle `i`; inf where it does not."""
    near_x, near_y = boxes.half_x[j] + corridor.room, boxes.half_y[j] + corridor.room
    place = path_index(fleet, i, corridor.front)
    while True:
        lane = fleet.path_lane[i, place]
        first, step, stride = graph.lane.at[lane], graph.lane.step[lane], graph.lane.stride[lane]
        sample, last = _span(graph, fleet, i, place, corridor.front, corridor.end)
        while True:
            following = min(sample + stride, last)
            x, y = graph.sample.x[sample], graph.sample.y[sample]
            other_x, other_y = graph.sample.x[following], graph.sample.y[following]
            across = (min(x, other_x) - near_x <= boxes.x[j]) & (boxes.x[j] <= max(x, other_x) + near_x)
            if across & (min(y, other_y) - near_y <= boxes.y[j]) & (boxes.y[j] <= max(y, other_y) + near_y):
                return float(max(fleet.path_at[i, place] + (sample - first) * step, corridor.front))
            sample = following
            if sample >= last:
                break
        place += 1
        if place >= fleet.car.path_count[i] or fleet.path_at[i, place] >= corridor.end:
            return np.inf


SAME_LEVEL_M = 3.0
MIN_STEP_M = 0.3
SLACK_M = 5.0
"""A path is at least as long as the straight way, but for this: gaps between lanes, and a lane change."""
PAIR = 1 << 32
"""Key of a pair: row of the vehicle that ignores the other, times this, plus the number of the other."""
MIN_REACH_M = 45.0
"""Every vehicle looks this far: over a junction to the room behind it."""
PASSED_MARGIN_S = 0.7
"""A predicted box is ignored by a vehicle that will have passed it this much earlier."""


class IdmParameters(NamedTuple):
    """The Intelligent Driver Model's numbers and the corridor's, see `TrafficManagerParameters`."""

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


class ObstacleStage(NamedTuple):
    """What the stage works on: boxes and their cells, sorted keys of the pairs without collision detection, the
    parameters, `AHEAD` of every vehicle, and room for a list of boxes, one more than all.
    """

    boxes: Records
    grid: SpatialGrid
    ignored_pairs: Int32Array
    k: IdmParameters
    ahead: Records
    candidates: Int32Array


@kernel
def idm(v: float, gap: float, lead_v: float, standing_gap: float, k: IdmParameters) -> float:
    """Interaction part of the Intelligent Driver Model: the acceleration (m/s^2) that a leader at `gap` (m) with speed
    `lead_v` leaves to a vehicle with speed `v` (m/s) that keeps `standing_gap` (m) behind it, at most `max_accel`.
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


@inlined_kernel
def corridor_hit(
    graph: TrafficLaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, start: float, end: float, k: IdmParameters
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
            sine, cosine = elementary.sin_cos(heading)
            x, y = x - offset * sine, y + offset * cosine
        dx, dy = _to_box(boxes, j, x, y)
        distance = elementary.hypot(dx, dy)
        if distance <= half:
            sine, cosine = elementary.sin_cos(heading)
            return arc + dx * cosine + dy * sine - front, heading
        arc += max(distance - half, MIN_STEP_M)
    return np.inf, 0.0


@kernel
def _passes_first(fleet: Fleet, i: int, boxes: Records, j: int, gap: float) -> bool:
    """Whether the tail of vehicle `i` is past a predicted box before its time."""
    way = gap + fleet.car.length[i] + boxes.width[j]
    return bool(fleet.car.v[i] * (boxes.when[j] - PASSED_MARGIN_S) > way)


@kernel
def _ignores_pair(ignored_pairs: Int32Array, i: int, number: int) -> bool:
    """Whether collision detection is off between vehicle `i` and an agent: a pair in the sorted table of keys."""
    key = i * PAIR + number
    at = np.searchsorted(ignored_pairs, key)
    return bool(at < len(ignored_pairs) and ignored_pairs[at] == key)


@kernel
def _matters(fleet: Fleet, i: int, boxes: Records, j: int, k: IdmParameters, ahead: Records) -> bool:
    """Whether box `j` could hold vehicle `i` back more than what it has seen so far, if it stood in the way there."""
    nose = 0.5 * fleet.car.length[i]
    x, y = fleet.car.x[i] + nose * fleet.car.cos[i], fleet.car.y[i] + nose * fleet.car.sin[i]
    room = boxes.half_x[j] + boxes.half_y[j] + fleet.car.width[i] + 2.0 * k.side_clearance + SLACK_M
    gap = elementary.hypot(boxes.x[j] - x, boxes.y[j] - y) - room
    nearer = boxes.when[j] == 0.0 and gap < ahead.gap[i]
    return bool(nearer or idm(fleet.car.v[i], gap, 0.0, fleet.rules.gap[i], k) < ahead.accel[i])


@inlined_kernel
def _consider_obstacle(
    graph: TrafficLaneGraph, fleet: Fleet, i: int, j: int, corridor: Corridor, stage: ObstacleStage
) -> None:
    """Take box `j` into account, where it is on the level of the vehicle or of the path."""
    boxes, k, ahead = stage.boxes, stage.k, stage.ahead
    share = fleet.rules.ignore_walkers[i] if boxes.person[j] else fleet.rules.ignore_vehicles[i]
    if ignores(fleet, i, share, boxes.id[j]) or _ignores_pair(stage.ignored_pairs, i, boxes.id[j]):
        return
    start = first_touch(graph, fleet, i, boxes, j, corridor)
    gap, heading = corridor_hit(graph, fleet, i=i, boxes=boxes, j=j, start=start, end=corridor.end, k=k)
    if gap == np.inf or (boxes.when[j] > 0.0 and _passes_first(fleet, i, boxes, j, gap)):
        return
    if abs(boxes.z[j] - fleet.car.z[i]) > SAME_LEVEL_M:
        level = graph.sample.z[nearest_sample(graph, fleet, i, gap + corridor.front)]
        if abs(boxes.z[j] - level) > SAME_LEVEL_M:
            return
    lead_v = max(boxes.v[j] * elementary.cos(boxes.heading[j] - heading), 0.0)
    ahead.accel[i] = min(ahead.accel[i], idm(fleet.car.v[i], gap, lead_v, fleet.rules.gap[i], k))
    if boxes.when[j] == 0.0 and gap < ahead.gap[i]:
        ahead.gap[i], ahead.v[i] = gap, lead_v


@kernel
def _candidates(
    fleet: Fleet, i: int, boxes: Records, grid: SpatialGrid, corridor: Corridor, around: CellRange,
    candidates: Int32Array,
) -> int:  # fmt: skip
    """Put the boxes that may touch the corridor of vehicle `i` into `candidates`, first the nearest that is no
    prediction; returns how many they are.
    """
    nearest, place, count = np.inf, 0, 0
    x, y = fleet.car.x[i], fleet.car.y[i]
    for row in range(around.bottom, around.top + 1):
        first, last = row * grid.columns + around.left, row * grid.columns + around.right
        for j in range(grid.start[first], grid.start[last + 1]):
            # Most boxes are not there: that is found out without a jump for each condition.
            candidates[count] = j
            here = within(boxes, j, corridor) & (boxes.row[j] != i)
            dx, dy = boxes.x[j] - x, boxes.y[j] - y
            if here & (boxes.when[j] == 0.0) & (dx * dx + dy * dy < nearest):
                nearest, place = dx * dx + dy * dy, count
            count += here
    for c in range(place, 0, -1):
        candidates[c - 1], candidates[c] = candidates[c], candidates[c - 1]
    return count


@kernel
def detect_obstacles(graph: TrafficLaneGraph, fleet: Fleet, stage: ObstacleStage) -> None:
    """The stage: fill `ahead` for all vehicles, cell by cell, so that boxes are still in the processor's cache for the
    next vehicle. The nearest box is looked at first: most others then do not matter.
    """
    boxes, grid, k, ahead, candidates = stage.boxes, stage.grid, stage.k, stage.ahead, stage.candidates
    for i in range(len(fleet.car)):
        ahead.accel[i], ahead.gap[i], ahead.v[i] = k.max_accel, np.inf, 0.0
    for body in range(grid.start[len(grid.start) - 1]):
        i = boxes.row[body]
        if i < 0:
            continue
        v = fleet.car.v[i]
        reach = max(MIN_REACH_M, 12.0 + v * (k.headway + 1.0) + v * v / k.comfort_decel)
        corridor = corridor_of(graph, fleet, i, reach, k.side_clearance)
        around = cells(grid, corridor.x0, corridor.x1, corridor.y0, corridor.y1)
        for c in range(_candidates(fleet, i, boxes, grid, corridor, around, candidates)):
            j = candidates[c]
            if (c == 0 and boxes.when[j] == 0.0) or _matters(fleet, i, boxes, j, k, ahead):
                _consider_obstacle(graph, fleet, i, j, corridor, stage)
