"""Junctions along a vehicle's path: where the next one begins, where one waits for it, where one is through."""

from __future__ import annotations

from tuling_fsm.core.kernels import part
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.lane_graph import LaneGraph
from tuling_fsm.sim.traffic.lines import MARGIN_M

LINE_BEFORE_M = 25.0
"""A stop line this far before a junction is where one waits for it ..."""
LINE_WITHIN_M = 6.0
"""... and one this far inside it as well."""
ROOM_MARGIN_M = 3.0
"""Beside its own length a vehicle needs so much room to stand."""


@part
def gate_ahead(graph: LaneGraph, fleet: Fleet, i: int) -> int:
    """Index in the path of the first junction lane ahead that is not cleared; -1 for none."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(path_index(fleet, i, front), fleet.car.path_count[i]):
        if graph.lane.junction[fleet.path_lane[i, k]] >= 0 and fleet.path_at[i, k + 1] > fleet.car.cleared[i] + 1e-6:
            return k
    return -1


@part
def way_through(graph: LaneGraph, fleet: Fleet, i: int, gate: int) -> int:
    """One past the last lane of the way through the junction at `gate`, with the next one where there is no room to
    stand between.
    """
    k, count = gate, fleet.car.path_count[i]
    while k < count:
        junction = graph.lane.junction[fleet.path_lane[i, k]]
        while k < count and graph.lane.junction[fleet.path_lane[i, k]] == junction:
            k += 1
        after, room = k, fleet.car.length[i] + ROOM_MARGIN_M
        while after < count and graph.lane.junction[fleet.path_lane[i, after]] < 0:
            after += 1
        if after >= count or fleet.path_at[i, after] - fleet.path_at[i, k] >= room:
            return k
        k = after
    return int(count)


@part
def waiting_line(graph: LaneGraph, fleet: Fleet, i: int, gate: int) -> float:
    """Arc (m) at which one waits for the junction: its stop line, else just before it."""
    entry = fleet.path_at[i, gate]
    for k in range(gate, -1, -1):
        lane, at = fleet.path_lane[i, k], fleet.path_at[i, k]
        if fleet.path_at[i, k + 1] < entry - LINE_BEFORE_M or (k < gate and graph.lane.junction[lane] >= 0):
            break
        for line in range(graph.lane.stop_end[lane] - 1, graph.lane.stop_at[lane] - 1, -1):
            arc = at + graph.stop.s[line]
            if entry - LINE_BEFORE_M <= arc <= entry + LINE_WITHIN_M:
                return float(arc)
    return float(entry - MARGIN_M)
