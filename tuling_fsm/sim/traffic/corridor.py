"""Where the corridor ahead of a vehicle runs, by rectangles along the map's axes: enough to leave most others alone."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.kernels import part
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import SWEEP_M, LaneGraph, Records


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


@part
def _span(graph: LaneGraph, fleet: Fleet, i: int, place: int, front: float, end: float) -> tuple[int, int]:
    """First and last sample of a lane of the path of vehicle `i` that enclose a stretch of it."""
    lane, at = fleet.path_lane[i, place], fleet.path_at[i, place]
    first, last, step = graph.lane.at[lane], graph.lane.end[lane] - 1, max(graph.lane.step[lane], 1e-9)
    begin = first + min(max(int((front - at) / step), 0), last - first)
    return begin, min(first + max(math.ceil((end - at) / step), begin - first), last)


@part
def corridor_of(graph: LaneGraph, fleet: Fleet, i: int, reach: float, clearance: float) -> Corridor:
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


@part
def within(boxes: Records, j: int, corridor: Corridor) -> bool:
    """Whether box `j` may touch the rectangle around a corridor."""
    x, y, half_x, half_y = boxes.x[j], boxes.y[j], boxes.half_x[j], boxes.half_y[j]
    across = (corridor.x0 - half_x <= x) & (x <= corridor.x1 + half_x)
    return bool(across & (corridor.y0 - half_y <= y) & (y <= corridor.y1 + half_y))


@part
def first_touch(graph: LaneGraph, fleet: Fleet, i: int, boxes: Records, j: int, corridor: Corridor) -> float:
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
