"""Fourth stage: traffic lights, stop signs, and which vehicle may enter a junction.

A junction is entered only with a clearance for the whole way through: no lane that crosses or joins that way may be
held by a vehicle that is in the junction or cleared for it, and behind the junction there must be room for the vehicle.
Clearances are given in order of arrival at the line, also to the ego, which asks for its way like any other vehicle
(INT-7). A vehicle that has waited for longer than the patience need not yield to vehicles that came before it and still
wait; one that finds no room behind the junction takes another exit if there is one (`localization`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray, Int32Array
from tuling_fsm.core.kernels import array_kernel, inlined_kernel, kernel
from tuling_fsm.core.standing import LINGERS
from tuling_fsm.sim.traffic.collision import IdmParameters
from tuling_fsm.sim.traffic.fleet import Fleet, ignores, path_index
from tuling_fsm.sim.traffic.lane_graph import Records, TrafficLaneGraph
from tuling_fsm.sim.traffic.localization import take_other_exit

RED, YELLOW, GREEN, RED_YELLOW = 1, 2, 3, 4
LIGHT, STOP_SIGN, YIELD = 0, 1, 2
MARGIN_M = 0.5
YELLOW_DECEL = 3.0
"""Yellow is stopped for where this braking is enough, m/s^2."""
STOPPED_SPEED = LINGERS
SIGN_ZONE_M = 3.0
"""A stop sign is heeded by standing this near to its line."""
SAME_PLACE_M = 1.0
"""Stop lines of a lane that are this near to one another are one place."""


STOP_POINTS = np.dtype([("stop_arc", "f8"), ("red", "?")], align=True)
"""Result of the stage for a vehicle: arc that its front bumper must not pass (inf for none), and whether a red
light is why.
"""


@inlined_kernel
def line_holds(graph: TrafficLaneGraph, fleet: Fleet, i: int, place: int, line: int) -> bool:
    """Whether a stop line on lane `place` of the path of vehicle `i` holds for one who comes the way that it does."""
    approach = graph.stop.approach[line]
    return bool(approach < 0 or place == 0 or fleet.path_lane[i, place - 1] == approach)


@inlined_kernel
def _light_allows(
    graph: TrafficLaneGraph, fleet: Fleet, states: Int32Array, i: int, place: int, first: int, last: int,
    distance: float,
) -> bool:  # fmt: skip
    """Whether vehicle `i` may pass the light lines `first` to `last` of one place: any that is green will do, dark ones
    do not count.
    """
    binding, v = False, fleet.car.v[i]
    for k in range(first, last):
        if graph.stop.kind[k] != LIGHT or graph.stop.signal[k] < 0 or not line_holds(graph, fleet, i, place, k):
            continue
        state = states[graph.stop.signal[k]]
        if state == GREEN:
            return True
        if state == YELLOW and v * v > 2.0 * YELLOW_DECEL * max(distance, 0.0):
            return True
        binding = binding or state in (RED, YELLOW, RED_YELLOW)
    return not binding


@inlined_kernel
def _same_place(graph: TrafficLaneGraph, first: int, end: int) -> int:
    """One past the last stop line that lies where line `first` does."""
    last = first + 1
    while last < end and graph.stop.s[last] - graph.stop.s[first] < SAME_PLACE_M:
        last += 1
    return last


@inlined_kernel
def revoke_clearance(graph: TrafficLaneGraph, fleet: Fleet, i: int, line: float) -> None:
    """Take back the clearance of a vehicle that has not used it yet; of one that is in a junction already, what lies
    beyond the `line` (arc) that it has to stop at.
    """
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    if fleet.car.cleared[i] > front:
        inside = graph.lane.junction[fleet.path_lane[i, path_index(fleet, i, front)]] >= 0
        fleet.car.cleared[i] = min(fleet.car.cleared[i], max(line, front)) if inside else front


@kernel
def obey_traffic_controls(
    graph: TrafficLaneGraph, fleet: Fleet, states: Int32Array, reach: float, stop_points: Records
) -> None:
    """Red lights and stop signs up to `reach` (m) ahead: fill `stop_points`."""
    for i in range(len(fleet.car)):
        stop_points.stop_arc[i], stop_points.red[i] = np.inf, False
        if fleet.car.mode[i] == 0:
            continue
        front, v = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.v[i]
        for k in range(path_index(fleet, i, front - MARGIN_M), fleet.car.path_count[i]):
            if fleet.path_at[i, k] > front + reach or stop_points.stop_arc[i] < np.inf:
                break
            lane = fleet.path_lane[i, k]
            line, end = graph.lane.stop_at[lane], graph.lane.stop_end[lane]
            while line < end:
                last = _same_place(graph, line, end)
                arc = fleet.path_at[i, k] + graph.stop.s[line]
                if not line_holds(graph, fleet, i, k, line):
                    line += 1
                    continue
                if arc < front or stop_points.stop_arc[i] < np.inf:
                    line = last
                    continue
                ignored = ignores(fleet, i, fleet.rules.ignore_lights[i], int(4.0 * arc))
                if not ignored and not _light_allows(
                    graph, fleet, states, i=i, place=k, first=line, last=last, distance=arc - front
                ):
                    stop_points.stop_arc[i], stop_points.red[i] = arc, True
                    if arc < fleet.car.cleared[i]:
                        revoke_clearance(graph, fleet, i, arc)
                elif _sign_binds(graph, fleet, i, k, line, last, arc):
                    if v < STOPPED_SPEED and arc - front < SIGN_ZONE_M:
                        fleet.car.stopped_at[i] = arc
                    else:
                        stop_points.stop_arc[i] = arc
                line = last


@inlined_kernel
def _sign_binds(graph: TrafficLaneGraph, fleet: Fleet, i: int, place: int, first: int, last: int, arc: float) -> bool:
    """Whether a stop sign at this place has not been heeded yet."""
    if fleet.car.stopped_at[i] >= arc - MARGIN_M or ignores(fleet, i, fleet.rules.ignore_signs[i], int(4.0 * arc)):
        return False
    signs = 0
    for k in range(first, last):
        signs += graph.stop.kind[k] == STOP_SIGN and line_holds(graph, fleet, i, place, k)
    return signs > 0


LINE_BEFORE_M = 25.0
"""A stop line this far before a junction is where vehicles wait for it ..."""
LINE_WITHIN_M = 6.0
"""... and one this far inside it as well."""
ROOM_MARGIN_M = 3.0
"""Beside its own length a vehicle needs so much room to stand."""


@inlined_kernel
def entry_index(graph: TrafficLaneGraph, fleet: Fleet, i: int) -> int:
    """Index in the path of the first junction lane ahead that is not cleared; -1 for none."""
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(path_index(fleet, i, front), fleet.car.path_count[i]):
        if graph.lane.junction[fleet.path_lane[i, k]] >= 0 and fleet.path_at[i, k + 1] > fleet.car.cleared[i] + 1e-6:
            return k
    return -1


@inlined_kernel
def exit_index(graph: TrafficLaneGraph, fleet: Fleet, i: int, entry: int) -> int:
    """One past the last lane of the way through the junction at `entry`, with the next one where there is no room to
    stand between.
    """
    k, count = entry, fleet.car.path_count[i]
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


@inlined_kernel
def stop_line_arc(graph: TrafficLaneGraph, fleet: Fleet, i: int, entry: int) -> float:
    """Arc (m) at which vehicle `i` waits for the junction: its stop line, else just before it."""
    entry_arc = fleet.path_at[i, entry]
    for k in range(entry, -1, -1):
        lane, at = fleet.path_lane[i, k], fleet.path_at[i, k]
        if fleet.path_at[i, k + 1] < entry_arc - LINE_BEFORE_M or (k < entry and graph.lane.junction[lane] >= 0):
            break
        for line in range(graph.lane.stop_end[lane] - 1, graph.lane.stop_at[lane] - 1, -1):
            arc = at + graph.stop.s[line]
            near = entry_arc - LINE_BEFORE_M <= arc <= entry_arc + LINE_WITHIN_M
            if near and line_holds(graph, fleet, i, k, line):
                return float(arc)
    return float(entry_arc - MARGIN_M)


YIELD_PENALTY_S = 3.0
MOVING_ON_S = 1.5
"""A tail that moves counts as gone ahead for this long."""
SLOW = 1.0
REVOKE_S = 4.0
"""A vehicle that is cleared but stands for this long is held up by something else: others may go."""


class JunctionRequest(NamedTuple):
    """The way of the ego through its next junction as indices of the lane graph, when it came to the line (s, inf for
    not yet), whether it holds that way already, and whether it moves.
    """

    lanes: Int32Array
    arrived: float
    holds: bool
    moves: bool


class JunctionStage(NamedTuple):
    """What the stage works on: time of the frame (s), the ego's request, `AHEAD` of every vehicle, the parameters,
    `LANE_OCCUPANCY` of every lane, and `STOP_POINTS` of every vehicle.
    """

    stamp: float
    request: JunctionRequest
    ahead: Records
    k: IdmParameters
    occupancy: Records
    stop_points: Records


class JunctionQueue(NamedTuple):
    """Vehicles that ask, as rows of the fleet (one past the last: the ego), and when they arrived (s). For every row:
    where it has to be cleared (index in its path), and the arc (m) at which other things stop it.
    """

    row: Int32Array
    arrived: FloatArray
    entry: Int32Array
    stop_arc: FloatArray


LANE_OCCUPANCY = np.dtype([("held", "i4"), ("claimed", "i4"), ("tail", "f8"), ("promised", "f8")])
"""What is known of a lane: how many hold it, how many wait for it, where the last tail on it is, the room
promised on it (m).
"""


@inlined_kernel
def _count_held(graph: TrafficLaneGraph, fleet: Fleet, i: int, occupancy: Records, change: int) -> None:
    """Count the junction lanes that vehicle `i` is in or cleared for."""
    tail = fleet.car.arc[i] - 0.5 * fleet.car.length[i]
    front = fleet.car.arc[i] + 0.5 * fleet.car.length[i]
    for k in range(fleet.car.path_count[i]):
        inside = fleet.path_at[i, k] < max(front, fleet.car.cleared[i]) - 1e-6 and fleet.path_at[i, k + 1] > tail
        if inside and graph.lane.junction[fleet.path_lane[i, k]] >= 0:
            occupancy.held[fleet.path_lane[i, k]] += change


@inlined_kernel
def _update_occupancy(graph: TrafficLaneGraph, fleet: Fleet, ego: JunctionRequest, occupancy: Records) -> None:
    """Count which lanes are held, where tails are, what room is promised."""
    occupancy.held[:], occupancy.claimed[:], occupancy.promised[:] = 0, 0, 0.0
    occupancy.tail[:] = np.inf
    for i in range(len(fleet.car)):
        if fleet.car.mode[i] == 0:
            continue
        _count_held(graph, fleet, i, occupancy, 1)
        front, tail = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.arc[i] - 0.5 * fleet.car.length[i]
        for k in range(path_index(fleet, i, tail), fleet.car.path_count[i]):
            lane, at = fleet.path_lane[i, k], fleet.path_at[i, k]
            if at > front:
                break
            occupancy.tail[lane] = min(occupancy.tail[lane], max(tail - at, 0.0) + MOVING_ON_S * fleet.car.v[i])
        if fleet.car.cleared[i] > front:
            k = path_index(fleet, i, fleet.car.cleared[i] + 1e-6)
            occupancy.promised[fleet.path_lane[i, k]] += fleet.car.length[i] + ROOM_MARGIN_M
    if ego.holds:
        for lane in ego.lanes:
            occupancy.held[lane] += 1


@inlined_kernel
def _no_conflict(graph: TrafficLaneGraph, lanes: Int32Array, occupancy: Records, claims_bind: bool) -> bool:
    """Whether no vehicle holds (or waits for, where that matters) a lane that conflicts with these."""
    for lane in lanes:
        for c in range(graph.lane.conflict_at[lane], graph.lane.conflict_end[lane]):
            other = graph.conflict[c]
            if occupancy.held[other] > 0 or (claims_bind and occupancy.claimed[other] > 0):
                return False
    return True


@inlined_kernel
def _has_room(graph: TrafficLaneGraph, fleet: Fleet, i: int, end: int, stage: JunctionStage) -> bool:
    """Whether vehicle `i` finds room behind its way, which ends before lane `end` of its path."""
    count, ahead, occupancy = fleet.car.path_count[i], stage.ahead, stage.occupancy
    if end >= count:
        return True
    exit_arc = fleet.path_at[i, end]
    need = fleet.car.length[i] + ROOM_MARGIN_M + occupancy.promised[fleet.path_lane[i, end]]
    obstacle = fleet.car.arc[i] + 0.5 * fleet.car.length[i] + ahead.gap[i]
    if ahead.v[i] < SLOW and obstacle < exit_arc + need:
        return False
    room = 0.0
    for k in range(end, count):
        lane = fleet.path_lane[i, k]
        if room >= need or graph.lane.junction[lane] >= 0:
            return bool(room >= need)
        if occupancy.tail[lane] < graph.lane.length[lane]:
            return bool(room + occupancy.tail[lane] >= need)
        room += graph.lane.length[lane]
    return True


@inlined_kernel
def _request(graph: TrafficLaneGraph, fleet: Fleet, i: int, stage: JunctionStage) -> tuple[int, bool]:
    """Where vehicle `i` has to be cleared (index in its path, -1 for nowhere), and whether it is its turn to ask."""
    k, stop_points = stage.k, stage.stop_points
    if fleet.car.standing[i] > REVOKE_S:
        revoke_clearance(graph, fleet, i, np.inf)
    entry = entry_index(graph, fleet, i)
    if entry < 0:
        fleet.car.arrived[i] = np.inf
        return -1, False
    front, v = fleet.car.arc[i] + 0.5 * fleet.car.length[i], fleet.car.v[i]
    if fleet.path_at[i, entry] < front - LINE_WITHIN_M:
        fleet.car.cleared[i] = fleet.path_at[i, exit_index(graph, fleet, i, entry)]
        return -1, False
    if fleet.path_at[i, entry] - LINE_BEFORE_M - front > v * v / k.comfort_decel + v + 2.0 * k.standing_gap:
        fleet.car.arrived[i] = np.inf
        return entry, False
    line = stop_line_arc(graph, fleet, i, entry)
    stopped_by_line = stop_points.stop_arc[i] < fleet.path_at[i, exit_index(graph, fleet, i, entry)]
    near = line - front < v * v / (2.0 * k.comfort_decel) + v + 2.0 * k.standing_gap
    asks = near and not stopped_by_line and stage.ahead.gap[i] >= line - front
    if not near or stopped_by_line:
        fleet.car.arrived[i] = np.inf
    elif asks and fleet.car.arrived[i] == np.inf:
        fleet.car.arrived[i] = stage.stamp
    stop_points.stop_arc[i] = min(stop_points.stop_arc[i], max(line, front - MARGIN_M))
    return entry, asks


@inlined_kernel
def _yield_penalty(graph: TrafficLaneGraph, fleet: Fleet, i: int, entry: int) -> float:
    """A vehicle that has to yield counts as having arrived later by this, s."""
    for k in range(max(entry - 1, 0), entry + 1):
        lane = fleet.path_lane[i, k]
        for line in range(graph.lane.stop_at[lane], graph.lane.stop_end[lane]):
            own = k < entry or graph.stop.approach[line] >= 0
            if own and graph.stop.kind[line] == YIELD and line_holds(graph, fleet, i, k, line):
                return YIELD_PENALTY_S
    return 0.0


@inlined_kernel
def _enqueue(graph: TrafficLaneGraph, fleet: Fleet, stage: JunctionStage, queue: JunctionQueue) -> int:
    """Fill the queue, and stop every vehicle at its line for the time being. Returns how many ask."""
    count, asking, ego = len(fleet.car), 0, stage.request
    for i in range(count):
        if fleet.car.mode[i] == 0:
            continue
        queue.stop_arc[i] = stage.stop_points.stop_arc[i]
        queue.entry[i], asks = _request(graph, fleet, i, stage)
        if asks:
            arrived = fleet.car.arrived[i] + _yield_penalty(graph, fleet, i, queue.entry[i])
            queue.row[asking], queue.arrived[asking] = i, arrived
            asking += 1
    if ego.arrived < np.inf:
        queue.row[asking], queue.arrived[asking] = count, ego.arrived
        asking += 1
    return asking


@inlined_kernel
def _grant_ego(graph: TrafficLaneGraph, ego: JunctionRequest, occupancy: Records) -> bool:
    """Whether the ego may go; its way is claimed in any case."""
    goes = bool(ego.moves and _no_conflict(graph, ego.lanes, occupancy, False))
    for lane in ego.lanes:
        occupancy.held[lane] += goes
        occupancy.claimed[lane] += 1
    return goes


@inlined_kernel
def _grant(graph: TrafficLaneGraph, fleet: Fleet, i: int, entry: int, stage: JunctionStage) -> bool:
    """Whether vehicle `i` is cleared for its way from `entry` on. Else it claims that way, or looks for another exit
    where there is no room behind the junction.
    """
    end, stamp, occupancy = exit_index(graph, fleet, i, entry), stage.stamp, stage.occupancy
    if not _has_room(graph, fleet, i, end, stage):
        take_other_exit(graph, fleet, i, entry, occupancy, stamp, fleet.car.length[i] + ROOM_MARGIN_M)
        return False
    lanes = fleet.path_lane[i, entry:end]
    _count_held(graph, fleet, i, occupancy, -1)
    goes = _no_conflict(graph, lanes, occupancy, stamp - fleet.car.arrived[i] < stage.k.patience)
    if goes:
        _clear(fleet, i, end, occupancy)
    else:
        for lane in lanes:
            occupancy.claimed[lane] += 1
    _count_held(graph, fleet, i, occupancy, 1)
    return bool(goes)


@inlined_kernel
def _clear(fleet: Fleet, i: int, end: int, occupancy: Records) -> None:
    """Clear vehicle `i` up to lane `end` of its path, and promise it the room there."""
    fleet.car.cleared[i] = fleet.path_at[i, end]
    fleet.car.arrived[i], fleet.car.standing[i] = np.inf, 0.0
    if end < fleet.car.path_count[i]:
        occupancy.promised[fleet.path_lane[i, end]] += fleet.car.length[i] + ROOM_MARGIN_M


@array_kernel
def manage_junctions(graph: TrafficLaneGraph, fleet: Fleet, stage: JunctionStage) -> bool:
    """The stage: clear vehicles in order of arrival and stop the others at their line. Returns whether the ego
    may go.
    """
    count = len(fleet.car)
    queue = JunctionQueue(
        np.empty(count + 1, np.int32), np.empty(count + 1), np.empty(count, np.int32), np.empty(count)
    )
    _update_occupancy(graph, fleet, stage.request, stage.occupancy)
    asking = _enqueue(graph, fleet, stage, queue)
    ego_goes = False
    for turn in np.argsort(queue.arrived[:asking], kind="mergesort"):
        i = queue.row[turn]
        if i == count:
            ego_goes = _grant_ego(graph, stage.request, stage.occupancy)
        elif _grant(graph, fleet, i, queue.entry[i], stage):
            stage.stop_points.stop_arc[i] = queue.stop_arc[i]
    return ego_goes
