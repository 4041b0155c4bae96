"""Second stage: every vehicle's path reaches far enough ahead, and drops what lies behind it.

A vehicle that drives at random and stands at its line without room behind the junction takes another exit that has
room: otherwise full streets would wait for one another in a ring (gridlock), and in the end the whole town would stand.
"""

from __future__ import annotations

from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.sim.traffic.fleet import ANY, OFF, PATH_LANES, ROAMING, TURNS, Fleet, draw
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph

REACH_M = 120.0
"""Paths reach this far ahead of the centre."""
KEEP_M = 5.0
"""Lanes are dropped this far behind the tail."""


@kernel
def _next_turn(graph: TrafficLaneGraph, fleet: Fleet, i: int, lane: int) -> int:
    """The turn that the route of vehicle `i` has for the junction after `lane`, `ANY` for none, and on to the next."""
    first = graph.lane.next_at[lane]
    if fleet.car.turn_at[i] >= TURNS or graph.lane.junction[graph.next[first]] < 0 or graph.lane.junction[lane] >= 0:
        return ANY
    turn = fleet.turns[i, fleet.car.turn_at[i]]
    if turn != ANY:
        fleet.car.turn_at[i] += 1
    return int(turn)


@kernel
def choose_next(graph: TrafficLaneGraph, fleet: Fleet, i: int, lane: int) -> int:
    """The successor that the vehicle's route turns to, else one drawn by its own generator, with a way on if there is
    one; -1 at a dead end.
    """
    first, last = graph.lane.next_at[lane], graph.lane.next_end[lane]
    if first == last:
        return -1
    turn = _next_turn(graph, fleet, i, lane)
    for k in range(first, last):
        if turn != ANY and graph.lane.turn[graph.next[k]] == turn:
            return int(graph.next[k])
    endless = 0
    for k in range(first, last):
        endless += graph.lane.endless[graph.next[k]]
    pick = int(draw(fleet, i) * (endless if endless > 0 else last - first))
    for k in range(first, last):
        if endless > 0 and not graph.lane.endless[graph.next[k]]:
            continue
        if pick == 0:
            return int(graph.next[k])
        pick -= 1
    return int(graph.next[last - 1])


@inlined_kernel
def _drop_behind(fleet: Fleet, i: int) -> None:
    tail = fleet.car.arc[i] - 0.5 * fleet.car.length[i] - KEEP_M
    drop, count = 0, fleet.car.path_count[i]
    while drop + 1 < count and fleet.path_at[i, drop + 1] < tail:
        drop += 1
    if drop > 0:
        for k in range(count - drop):
            fleet.path_lane[i, k] = fleet.path_lane[i, k + drop]
            fleet.path_at[i, k] = fleet.path_at[i, k + drop]
        fleet.path_at[i, count - drop] = fleet.path_at[i, count]
        fleet.car.path_count[i] = count - drop


@inlined_kernel
def append_lane(graph: TrafficLaneGraph, fleet: Fleet, i: int, lane: int) -> None:
    """Add a lane to the end of a path."""
    count = fleet.car.path_count[i]
    fleet.path_lane[i, count] = lane
    fleet.path_at[i, count + 1] = fleet.path_at[i, count] + graph.lane.length[lane]
    fleet.car.path_count[i] = count + 1


@inlined_kernel
def update_path(graph: TrafficLaneGraph, fleet: Fleet, i: int, grows: bool) -> None:
    """Drop what lies behind vehicle `i`, and where its path `grows` by itself make it reach far enough ahead."""
    _drop_behind(fleet, i)
    while grows and fleet.car.path_count[i] < PATH_LANES:
        count = fleet.car.path_count[i]
        if fleet.path_at[i, count] > fleet.car.arc[i] + REACH_M:
            break
        following = choose_next(graph, fleet, i, fleet.path_lane[i, count - 1])
        if following < 0:
            break
        append_lane(graph, fleet, i, following)


@kernel
def localize(graph: TrafficLaneGraph, fleet: Fleet) -> None:
    """Shorten and lengthen all paths."""
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] != OFF:
            update_path(graph, fleet, i, fleet.car.mode[i] == ROAMING)


STANDING_SPEED = VEHICLE_STANDS
WAIT_S = 4.0
"""So long a vehicle waits for the exit that it has chosen."""


@kernel
def _exit_lane(graph: TrafficLaneGraph, lane: int) -> int:
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
def _free_length(graph: TrafficLaneGraph, lane: int, occupancy: Records) -> float:
    """Length from the beginning of a lane to the last tail on it that is not promised to any vehicle, m."""
    return float(min(occupancy.tail[lane], graph.lane.length[lane]) - occupancy.promised[lane])


@kernel
def take_other_exit(
    graph: TrafficLaneGraph, fleet: Fleet, i: int, entry: int, occupancy: Records, stamp: float, need: float
) -> None:
    """Let vehicle `i`, which waits at the junction at `entry` of its path, take the next way in turn that has as much
    room (m) as it needs, and drive on from there at random. A given path or route is kept.
    """
    given = fleet.car.mode[i] != ROAMING or fleet.turns[i, 0] != ANY
    if given or entry == 0 or stamp - fleet.car.arrived[i] < WAIT_S or fleet.car.v[i] > STANDING_SPEED:
        return
    lane = fleet.path_lane[i, entry - 1]
    first, count = graph.lane.next_at[lane], graph.lane.next_end[lane] - graph.lane.next_at[lane]
    present = 0
    while present + 1 < count and graph.next[first + present] != fleet.path_lane[i, entry]:
        present += 1
    for turn in range(1, count):
        other = graph.next[first + (present + turn) % count]
        worse = graph.lane.endless[fleet.path_lane[i, entry]] and not graph.lane.endless[other]
        if graph.lane.junction[other] < 0 or worse:
            continue
        behind = _exit_lane(graph, other)
        if behind >= 0 and _free_length(graph, behind, occupancy) >= need:
            fleet.car.path_count[i], fleet.car.arrived[i] = entry, stamp
            append_lane(graph, fleet, i, other)
            update_path(graph, fleet, i, True)
            return
