"""Last part of the fourth stage: who may enter a junction.

A junction is entered only with a clearance for the whole way through: no lane that crosses or joins that way may be
held by anybody who is in the junction or cleared for it, and behind the junction there must be room for the vehicle.
Clearances are given in order of arrival at the line, also to the ego, which asks for its way like everybody else
(INT-7). Whoever has waited for longer than the patience need not mind those that came before it and still wait, and who
finds no room behind the junction takes another way if there is one (`detour`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import part
from tuling_fsm.sim.traffic.collision import Driver
from tuling_fsm.sim.traffic.detour import take_another_way
from tuling_fsm.sim.traffic.fleet import Fleet, path_index
from tuling_fsm.sim.traffic.gates import (
    LINE_BEFORE_M,
    LINE_WITHIN_M,
    ROOM_MARGIN_M,
    gate_ahead,
    waiting_line,
    way_through,
)
from tuling_fsm.sim.traffic.lane_graph import IntArray, LaneGraph, Records
from tuling_fsm.sim.traffic.lines import MARGIN_M, YIELD, give_back

YIELD_PENALTY_S = 3.0
MOVING_ON_S = 1.5
"""A tail that moves counts as gone ahead for this long."""
SLOW = 1.0
GIVE_BACK_S = 4.0
"""Whoever is cleared but stands for this long is held up by something else: others may go."""


class EgoRequest(NamedTuple):
    """The way of the ego through its next junction as indices of the lane graph, when it came to the line (s, inf for
    not yet), whether it holds that way already, and whether it moves.
    """

    lanes: IntArray
    arrived: float
    holds: bool
    moves: bool


class Queue(NamedTuple):
    """Those that ask, as rows of the fleet (one past the last: the ego), and when they came (s). For every row: where
    it has to be cleared (index in its path), and the arc (m) at which other things stop it.
    """

    who: IntArray
    came: FloatArray
    gate: IntArray
    stop_arc: FloatArray


DESK = np.dtype([("held", "i4"), ("claimed", "i4"), ("tail", "f8"), ("promised", "f8")])
"""What is known of a lane: how many hold it, how many wait for it, where the last tail on it is, the room
promised on it (m).
"""


@part
def _hold(graph: LaneGraph, fleet: Fleet, i: int, desk: Records, change: int) -> None:
    """Count the junction lanes that vehicle `i` is in or cleared for."""
    tail = fleet.car.arc[i] - 0.5 * fleet.car.length[i]
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(fleet.car.path_count[i]):
        inside = fleet.path_at[i, k] < max(front, fleet.car.cleared[i]) - 1e-6 and fleet.path_at[i, k + 1] > tail
        if inside and graph.lane.junction[fleet.path_lane[i, k]] >= 0:
            desk.held[fleet.path_lane[i, k]] += change


@part
def _take_stock(graph: LaneGraph, fleet: Fleet, ego: EgoRequest, desk: Records) -> None:
    """Who holds what, where tails are, what room is promised."""
    desk.held[:], desk.claimed[:], desk.promised[:] = 0, 0, 0.0
    desk.tail[:] = np.inf
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == 0:
            continue
        _hold(graph, fleet, i, desk, 1)
        front, tail = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.arc[i] - 0.5 * fleet.car.length[i]
        for k in range(path_index(fleet, i, tail), fleet.car.path_count[i]):
            lane, at = fleet.path_lane[i, k], fleet.path_at[i, k]
            if at > front:
                break
            desk.tail[lane] = min(desk.tail[lane], max(tail - at, 0.0) + MOVING_ON_S * fleet.car.v[i])
        if fleet.car.cleared[i] > front:
            k = path_index(fleet, i, fleet.car.cleared[i] + 1e-6)
            desk.promised[fleet.path_lane[i, k]] += fleet.car.length[i] + ROOM_MARGIN_M
    if ego.holds:
        for lane in ego.lanes:
            desk.held[lane] += 1


@part
def _free(graph: LaneGraph, lanes: IntArray, desk: Records, mind_claims: bool) -> bool:
    """Whether nobody holds (or waits for, where that matters) a lane that conflicts with these."""
    for lane in lanes:
        for c in range(graph.lane.conflict_at[lane], graph.lane.conflict_end[lane]):
            other = graph.conflict[c]
            if desk.held[other] > 0 or (mind_claims and desk.claimed[other] > 0):
                return False
    return True


@part
def _room(graph: LaneGraph, fleet: Fleet, i: int, end: int, desk: Records, ahead: Records) -> bool:
    """Whether vehicle `i` finds room behind its way, which ends before lane `end` of its path."""
    count = fleet.car.path_count[i]
    if end >= count:
        return True
    exit_arc = fleet.path_at[i, end]
    need = fleet.car.length[i] + ROOM_MARGIN_M + desk.promised[fleet.path_lane[i, end]]
    obstacle = fleet.car.arc[i] + 0.5 * fleet.car.length[i] + ahead.gap[i]
    if ahead.v[i] < SLOW and obstacle < exit_arc + need:
        return False
    room = 0.0
    for k in range(end, count):
        lane = fleet.path_lane[i, k]
        if room >= need or graph.lane.junction[lane] >= 0:
            return bool(room >= need)
        if desk.tail[lane] < graph.lane.length[lane]:
            return bool(room + desk.tail[lane] >= need)
        room += graph.lane.length[lane]
    return True


@part
def _ask(
    graph: LaneGraph, fleet: Fleet, i: int, stamp: float, orders: Records, ahead: Records, k: Driver
) -> tuple[int, bool]:
    """Where vehicle `i` has to be cleared (index in its path, -1 for nowhere), and whether it is its turn to ask."""
    if fleet.car.standing[i] > GIVE_BACK_S:
        give_back(graph, fleet, i, np.inf)
    gate = gate_ahead(graph, fleet, i)
    if gate < 0:
        fleet.car.arrived[i] = np.inf
        return -1, False
    front, v = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.v[i]
    if fleet.path_at[i, gate] < front - LINE_WITHIN_M:
        fleet.car.cleared[i] = fleet.path_at[i, way_through(graph, fleet, i, gate)]
        return -1, False
    if fleet.path_at[i, gate] - LINE_BEFORE_M - front > v * v / k.comfort_decel + v + 2.0 * k.standing_gap:
        fleet.car.arrived[i] = np.inf
        return gate, False
    line = waiting_line(graph, fleet, i, gate)
    stopped_by_line = orders.stop_arc[i] < fleet.path_at[i, way_through(graph, fleet, i, gate)]
    near = line - front < v * v / (2.0 * k.comfort_decel) + v + 2.0 * k.standing_gap
    asks = near and not stopped_by_line and ahead.gap[i] >= line - front
    if not near or stopped_by_line:
        fleet.car.arrived[i] = np.inf
    elif asks and fleet.car.arrived[i] == np.inf:
        fleet.car.arrived[i] = stamp
    orders.stop_arc[i] = min(orders.stop_arc[i], max(line, front - MARGIN_M))
    return gate, asks


@part
def _penalty(graph: LaneGraph, fleet: Fleet, i: int, gate: int) -> float:
    """Those that have to yield count as having come later by this, s."""
    lane = fleet.path_lane[i, max(gate - 1, 0)]
    for line in range(graph.lane.stop_at[lane], graph.lane.stop_end[lane]):
        if graph.stop.kind[line] == YIELD:
            return YIELD_PENALTY_S
    return 0.0


@part
def _line_up(
    graph: LaneGraph,
    fleet: Fleet,
    stamp: float,
    ego: EgoRequest,
    ahead: Records,
    k: Driver,
    orders: Records,
    queue: Queue,
) -> int:
    """Fill the queue, and stop everybody at their line for the time being. Returns how many ask."""
    count, asking = len(fleet.car), 0
    for i in range(count):
        if fleet.car.mode[i] == 0:
            continue
        queue.stop_arc[i] = orders.stop_arc[i]
        queue.gate[i], asks = _ask(graph, fleet, i, stamp, orders, ahead, k)
        if asks:
            came = fleet.car.arrived[i] + _penalty(graph, fleet, i, queue.gate[i])
            queue.who[asking], queue.came[asking] = i, came
            asking += 1
    if ego.arrived < np.inf:
        queue.who[asking], queue.came[asking] = count, ego.arrived
        asking += 1
    return asking


@part
def _turn_of_ego(graph: LaneGraph, ego: EgoRequest, desk: Records) -> bool:
    """Whether the ego may go; its way is claimed in any case."""
    goes = bool(ego.moves and _free(graph, ego.lanes, desk, False))
    for lane in ego.lanes:
        desk.held[lane] += goes
        desk.claimed[lane] += 1
    return goes


@part
def _turn_of(
    graph: LaneGraph, fleet: Fleet, i: int, gate: int, stamp: float, ahead: Records, k: Driver, desk: Records
) -> bool:
    """Whether vehicle `i` is cleared for its way from `gate` on. Else it claims that way, or looks for another one
    where there is no room behind the junction.
    """
    end = way_through(graph, fleet, i, gate)
    if not _room(graph, fleet, i, end, desk, ahead):
        take_another_way(graph, fleet, i, gate, desk, stamp, fleet.car.length[i] + ROOM_MARGIN_M)
        return False
    lanes = fleet.path_lane[i, gate:end]
    _hold(graph, fleet, i, desk, -1)
    goes = _free(graph, lanes, desk, stamp - fleet.car.arrived[i] < k.patience)
    if goes:
        _clear(fleet, i, end, desk)
    else:
        for lane in lanes:
            desk.claimed[lane] += 1
    _hold(graph, fleet, i, desk, 1)
    return bool(goes)


@part
def _clear(fleet: Fleet, i: int, end: int, desk: Records) -> None:
    """Clear vehicle `i` up to lane `end` of its path, and promise it the room there."""
    fleet.car.cleared[i] = fleet.path_at[i, end]
    fleet.car.arrived[i], fleet.car.standing[i] = np.inf, 0.0
    if end < fleet.car.path_count[i]:
        desk.promised[fleet.path_lane[i, end]] += fleet.car.length[i] + ROOM_MARGIN_M


@njit(cache=True)
def share_junctions(
    graph: LaneGraph,
    fleet: Fleet,
    stamp: float,
    ego: EgoRequest,
    ahead: Records,
    k: Driver,
    desk: Records,
    orders: Records,
) -> bool:
    """The stage: clear vehicles in order of arrival and stop the others at their line. Returns whether the ego
    may go.
    """
    count = len(fleet.car)
    queue = Queue(np.empty(count + 1, np.int32), np.empty(count + 1), np.empty(count, np.int32), np.empty(count))
    _take_stock(graph, fleet, ego, desk)
    asking = _line_up(graph, fleet, stamp, ego, ahead, k, orders, queue)
    ego_goes = False
    for turn in np.argsort(queue.came[:asking], kind="mergesort"):
        i = queue.who[turn]
        if i == count:
            ego_goes = _turn_of_ego(graph, ego, desk)
        elif _turn_of(graph, fleet, i, queue.gate[i], stamp, ahead, k, desk):
            orders.stop_arc[i] = queue.stop_arc[i]
    return ego_goes
