"""Fourth stage: traffic lights and stop signs."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.sim.traffic.fleet import Fleet, ignores, path_index
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, Records

RED, YELLOW, GREEN, RED_YELLOW = 1, 2, 3, 4
LIGHT, STOP_SIGN, YIELD = 0, 1, 2
MARGIN_M = 0.5
YELLOW_DECEL = 3.0
"""Yellow is stopped for where this braking is enough, m/s^2."""
STOPPED_SPEED = 0.2
SIGN_ZONE_M = 3.0
"""A stop sign is heeded by standing this near to its line."""
SAME_PLACE_M = 1.0
"""Stop lines of a lane that are this near to one another are one place."""


ORDERS = np.dtype([("stop_arc", "f8"), ("red", "?")], align=True)
"""Result of the stage for a vehicle: arc that its front bumper must not pass (inf for none), and whether a red
light is why.
"""


@part
def _light_allows(graph: LaneGraph, states: IntArray, first: int, last: int, v: float, distance: float) -> bool:
    """Whether one may pass the light lines `first` to `last` of one place: any that is green will do, dark ones do not
    count.
    """
    binding = False
    for k in range(first, last):
        if graph.stop.kind[k] != LIGHT or graph.stop.signal[k] < 0:
            continue
        state = states[graph.stop.signal[k]]
        if state == GREEN:
            return True
        if state == YELLOW and v * v > 2.0 * YELLOW_DECEL * max(distance, 0.0):
            return True
        binding = binding or state in (RED, YELLOW, RED_YELLOW)
    return not binding


@part
def _same_place(graph: LaneGraph, first: int, end: int) -> int:
    """One past the last stop line that lies where line `first` does."""
    last = first + 1
    while last < end and graph.stop.s[last] - graph.stop.s[first] < SAME_PLACE_M:
        last += 1
    return last


@part
def give_back(graph: LaneGraph, fleet: Fleet, i: int, line: float) -> None:
    """Take back the clearance of a vehicle that has not used it yet; of one that is in a junction already, what lies
    beyond the `line` (arc) that it has to stop at.
    """
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    if fleet.car.cleared[i] > front:
        inside = graph.lane.junction[fleet.path_lane[i, path_index(fleet, i, front)]] >= 0
        fleet.car.cleared[i] = min(fleet.car.cleared[i], max(line, front)) if inside else front


@kernel
def mind_lines(graph: LaneGraph, fleet: Fleet, states: IntArray, reach: float, orders: Records) -> None:
    """Red lights and stop signs up to `reach` (m) ahead: fill `orders`."""
    for i in range(len(fleet.car)):
        orders.stop_arc[i], orders.red[i] = np.inf, False
        if fleet.car.mode[i] == 0:
            continue
        front, v = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.v[i]
        for k in range(path_index(fleet, i, front - MARGIN_M), fleet.car.path_count[i]):
            if fleet.path_at[i, k] > front + reach or orders.stop_arc[i] < np.inf:
                break
            lane = fleet.path_lane[i, k]
            line, end = graph.lane.stop_at[lane], graph.lane.stop_end[lane]
            while line < end:
                last = _same_place(graph, line, end)
                arc = fleet.path_at[i, k] + graph.stop.s[line]
                if arc < front or orders.stop_arc[i] < np.inf:
                    line = last
                    continue
                shuns = ignores(fleet, i, fleet.rules.ignore_lights[i], int(4.0 * arc))
                if not shuns and not _light_allows(graph, states, line, last, v, arc - front):
                    orders.stop_arc[i], orders.red[i] = arc, True
                    if arc < fleet.car.cleared[i]:
                        give_back(graph, fleet, i, arc)
                elif _sign_binds(graph, fleet, i, line, last, arc):
                    if v < STOPPED_SPEED and arc - front < SIGN_ZONE_M:
                        fleet.car.stopped_at[i] = arc
                    else:
                        orders.stop_arc[i] = arc
                line = last


@part
def _sign_binds(graph: LaneGraph, fleet: Fleet, i: int, first: int, last: int, arc: float) -> bool:
    """Whether a stop sign at this place has not been heeded yet."""
    if fleet.car.stopped_at[i] >= arc - MARGIN_M or ignores(fleet, i, fleet.rules.ignore_signs[i], int(4.0 * arc)):
        return False
    signs = 0
    for k in range(first, last):
        signs += graph.stop.kind[k] == STOP_SIGN
    return signs > 0
