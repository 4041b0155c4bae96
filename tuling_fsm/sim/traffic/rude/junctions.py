"""Rude drivers at junctions: red lights that are run, gaps that are misjudged, right of way that is refused.

The traffic clears one vehicle after the other for its junction. A rude driver clears itself as soon as it thinks fit;
the others then find the junction held and wait, the ego has to see it.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.arrays import FloatArray, Int32Array, IntArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import TrafficLaneGraph
from tuling_fsm.sim.traffic.right_of_way import LIGHT, RED, RED_YELLOW, YELLOW, line_holds
from tuling_fsm.sim.traffic.rude.sight import SeenVehicles, blocked, gap_seen, way_through

NEAR_M, NEAR_S = 6.0, 1.5
"""It decides this near before the junction: a distance, and a time at its speed."""
RED_NEAR_M = 40.0
CLOSED = (RED, RED_YELLOW)


class RedClock:
    """Since when every light is red, s."""

    def __init__(self) -> None:
        self._since: FloatArray = np.zeros(0)

    def look(self, stamp: float, states: Int32Array) -> None:
        """Note the states (K,) at a time (s)."""
        if len(self._since) != len(states):
            self._since = np.full(len(states), -np.inf)
            self._since[~np.isin(states, CLOSED)] = np.inf
        red = np.isin(states, CLOSED)
        self._since[red & np.isinf(self._since) & (self._since > 0.0)] = stamp
        self._since[~red] = np.inf

    def red_for(self, stamp: float, signal: int) -> float:
        """For how long a light has been red, s; negative infinity where it is not."""
        return stamp - float(self._since[signal])


@kernel
def _first_light(graph: TrafficLaneGraph, fleet: Fleet, i: int) -> int:
    """Index of the next light on the path of vehicle `i` within `RED_NEAR_M`; -1 for none."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(path_index(fleet, i, front), fleet.car.path_count[i]):
        lane, at = fleet.path_lane[i, k], fleet.path_at[i, k]
        if at > front + RED_NEAR_M:
            break
        for line in range(graph.lane.stop_at[lane], graph.lane.stop_end[lane]):
            arc, signal = at + graph.stop.s[line], graph.stop.signal[line]
            near = front <= arc < front + RED_NEAR_M and line_holds(graph, fleet, i, k, line)
            if near and graph.stop.kind[line] == LIGHT and signal >= 0:
                return int(signal)
    return -1


@kernel
def _next_junction(graph: TrafficLaneGraph, fleet: Fleet, i: int) -> tuple[int, int]:
    """First and one past the last lane (in its path) of the junction that vehicle `i` comes to and is not cleared for;
    -1 where that is too far away to decide, or where its path ends in it.
    """
    count = fleet.car.path_count[i]
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    near = front + NEAR_M + NEAR_S * fleet.car.v[i]
    for k in range(path_index(fleet, i, front), count):
        if fleet.path_at[i, k] > near:
            break
        junction = graph.lane.junction[fleet.path_lane[i, k]]
        if junction >= 0 and fleet.path_at[i, k + 1] > fleet.car.cleared[i] + 1e-6:
            end = k
            while end < count and graph.lane.junction[fleet.path_lane[i, end]] == junction:
                end += 1
            return (k, end) if end < count else (-1, -1)
    return -1, -1


@kernel
def _look_ahead(graph: TrafficLaneGraph, fleet: Fleet, rows: IntArray, found: IntArray) -> None:
    for n in range(len(rows)):
        first, end = _next_junction(graph, fleet, rows[n])
        found[n, 0], found[n, 1], found[n, 2] = _first_light(graph, fleet, rows[n]), first, end


def look_ahead(graph: TrafficLaneGraph, fleet: Fleet, rows: IntArray) -> list[tuple[int, int, int]]:
    """What lies ahead of some vehicles, R rows.

    Returns:
        Of each the index of the next light within `RED_NEAR_M`; first and one past the last lane (in its path) of the
        junction that it comes to, is not cleared for, and is near enough to for a decision. -1 for none.
    """
    found = np.empty((len(rows), 3), dtype=np.int64)
    _look_ahead(graph, fleet, rows, found)
    return [(light, first, end) for light, first, end in found.tolist()]


def held_by_light(states: Int32Array, signal: int, runs: bool) -> bool:
    """Whether a light ahead (its index, -1 for none) is waited for."""
    return signal >= 0 and not runs and int(states[signal]) in (*CLOSED, YELLOW)


def goes(
    graph: TrafficLaneGraph, fleet: Fleet, i: int, lanes: tuple[int, int], seen: SeenVehicles, gap: float, refuses: bool
) -> bool:
    """Whether vehicle `i` thinks that it may enter the junction on lanes of its path, and then clears itself.

    Args:
        graph: of the lanes.
        fleet: of all vehicles.
        i: its row.
        lanes: first and one past the last of its path.
        seen: all vehicles.
        gap: in time to others that it thinks enough, s.
        refuses: it does not look at what comes, only at what is in its way already.
    """
    points = way_through(graph, fleet, i, *lanes)
    others = seen.near(float(points[0, 0]), float(points[0, 1]), i)
    front = float(fleet.car.arc[i] + 0.5 * fleet.car.length[i])
    if blocked(points, others) or not (refuses or gap_seen(points, front, float(fleet.car.v[i]), others, gap)):
        return False
    fleet.car.cleared[i] = fleet.path_at[i, lanes[1]]
    fleet.car.arrived[i], fleet.car.standing[i] = np.inf, 0.0
    return True
