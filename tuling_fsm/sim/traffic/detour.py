"""Another way through a junction for somebody whose own way is full behind it.

Who drives at random and stands at its line without room behind the junction takes another exit that has room: otherwise
full streets would wait for one another in a ring, and in the end the whole town would stand.
"""

from __future__ import annotations

from tuling_fsm.core.kernels import kernel
from tuling_fsm.sim.traffic.fleet import ANY, LANES, PATH_LANES, Fleet
from tuling_fsm.sim.traffic.lane_graph import LaneGraph, Records
from tuling_fsm.sim.traffic.localization import append_lane, keep_path

STANDING_SPEED = 0.1
WAIT_S = 4.0
"""So long one waits for the way that one has chosen."""


@kernel
def _exit(graph: LaneGraph, lane: int) -> int:
    """The lane behind the junction that a lane in it leads to; -1 where there is none."""
    junction = graph.lane.junction[lane]
    for _ in range(PATH_LANES):
        if graph.lane.junction[lane] != junction:
            return int(lane)
        if graph.lane.next_at[lane] == graph.lane.next_end[lane]:
            break
        lane = graph.next[graph.lane.next_at[lane]]
    return -1


@kernel
def _room_on(graph: LaneGraph, lane: int, desk: Records) -> float:
    """Room from the beginning of a lane to the last tail on it that nobody has been promised, m."""
    return float(min(desk.tail[lane], graph.lane.length[lane]) - desk.promised[lane])


@kernel
def take_another_way(
    graph: LaneGraph, fleet: Fleet, i: int, gate: int, desk: Records, stamp: float, need: float
) -> None:
    """Let vehicle `i`, which waits at the junction at `gate` of its path, take the next way in turn that has as much
    room (m) as it needs, and drive on from there at random. A given path or route is kept.
    """
    given = fleet.car.mode[i] != LANES or fleet.turns[i, 0] != ANY
    if given or gate == 0 or stamp - fleet.car.arrived[i] < WAIT_S or fleet.car.v[i] > STANDING_SPEED:
        return
    lane = fleet.path_lane[i, gate - 1]
    first, count = graph.lane.next_at[lane], graph.lane.next_end[lane] - graph.lane.next_at[lane]
    present = 0
    while present + 1 < count and graph.next[first + present] != fleet.path_lane[i, gate]:
        present += 1
    for turn in range(1, count):
        other = graph.next[first + (present + turn) % count]
        worse = graph.lane.endless[fleet.path_lane[i, gate]] and not graph.lane.endless[other]
        if graph.lane.junction[other] < 0 or worse:
            continue
        behind = _exit(graph, other)
        if behind >= 0 and _room_on(graph, behind, desk) >= need:
            fleet.car.path_count[i], fleet.car.arrived[i] = gate, stamp
            append_lane(graph, fleet, i, other)
            keep_path(graph, fleet, i, True)
            return
