"""Second stage: every vehicle's path reaches far enough ahead, and drops what lies behind it."""

from __future__ import annotations

from tuling_fsm.core.kernels import kernel, part
from tuling_fsm.sim.traffic.fleet import ANY, LANES, OFF, PATH_LANES, TURNS, Fleet, draw
from tuling_fsm.sim.traffic.lane_graph import LaneGraph

REACH_M = 120.0
"""Paths reach this far ahead of the centre."""
KEEP_M = 5.0
"""Lanes are dropped this far behind the tail."""


@kernel
def _next_turn(graph: LaneGraph, fleet: Fleet, i: int, lane: int) -> int:
    """The turn that the route of vehicle `i` has for the junction after `lane`, `ANY` for none, and on to the next."""
    first = graph.lane.next_at[lane]
    if fleet.car.turn_at[i] >= TURNS or graph.lane.junction[graph.next[first]] < 0 or graph.lane.junction[lane] >= 0:
        return ANY
    turn = fleet.turns[i, fleet.car.turn_at[i]]
    if turn != ANY:
        fleet.car.turn_at[i] += 1
    return int(turn)


@kernel
def choose_next(graph: LaneGraph, fleet: Fleet, i: int, lane: int) -> int:
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


@part
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


@part
def append_lane(graph: LaneGraph, fleet: Fleet, i: int, lane: int) -> None:
    """Add a lane to the end of a path."""
    count = fleet.car.path_count[i]
    fleet.path_lane[i, count] = lane
    fleet.path_at[i, count + 1] = fleet.path_at[i, count] + graph.lane.length[lane]
    fleet.car.path_count[i] = count + 1


@part
def keep_path(graph: LaneGraph, fleet: Fleet, i: int, grows: bool) -> None:
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
def localize(graph: LaneGraph, fleet: Fleet) -> None:
    """Shorten and lengthen all paths."""
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] != OFF:
            keep_path(graph, fleet, i, fleet.car.mode[i] == LANES)
