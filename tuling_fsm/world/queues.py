"""Which vehicles stand in line (NOR-11): a queue is no obstacle, what is parked or has broken down is one.

A vehicle that stands is in line behind another one that stands or creeps, close ahead in its lane; and where nothing is
ahead of it, before a light that is not known to be green, or before a junction or ring that is full, be it of traffic
with priority at a yield line, of a jam, or for want of room behind it. Before a junction that is free it is given the
time that a driver takes for a turn, where one may have to give way. What stands off the middle of the lane, at its
outer edge, is parked there. What stands with nothing ahead and for no such reason has broken down: that one alone is an
obstacle, and those that stand behind it stay in line.

A line reaches from a vehicle to its head. It moves when any of these moves, not when others join behind; round a ring
that is jammed there is no head, and the line is the whole ring. One that has not moved for the patience is given up.
The table of objects carries no hazard lights: the place in the lane and what is ahead have to do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.world import objects as ob
from tuling_fsm.world import tracks as tr
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.lane_index import LIGHT as LIGHT_LINE
from tuling_fsm.world.lane_index import LaneArrays
from tuling_fsm.world.lane_kernels import CANDIDATES, DEPTH, LaneChains, LanePlaces
from tuling_fsm.world.objects import ByteArray
from tuling_fsm.world.prediction_kernels import GAP, LIGHT, LINE, LookAhead

QUEUEING = np.isin(np.arange(256), (Kind.CAR, Kind.TRUCK, Kind.BUS, Kind.MOTORCYCLE, Kind.BICYCLE))
"""By kind: those that wait in line. What is of unknown kind does too, once it has been seen to move."""
AT_LINE_M = 5.0
"""A driver who is about to go on stands no farther from a line than this ..."""
OVER_LINE_M = 2.5
"""... and no farther over it than this."""
TO_JUNCTION_M = 20.0
"""A junction begins no farther than this beyond the front bumper of one that waits to enter it."""
BEFORE_LIGHT_M = 30.0
"""Nothing is won by going round one that stands this near to a red light: Autoware's avoidance, too, leaves out who
stands before one (`ignore_area.traffic_light`, [autoware][])."""
BESIDE_M = 1.0
"""One whose side is this near to the middle of a lane takes room on it."""


class QueueParameters(NamedTuple):
    """What makes a line, as `WorldParameters` has it: speeds (m/s), distances (m), times (s)."""

    standing: float
    creeping: float
    gap: float
    kerb: float
    kerb_side: float
    """1 for a kerb at the left edge, where traffic keeps to the left, else -1."""
    turn: float
    patience: float


class Waiting(NamedTuple):
    """N objects as they wait: `waiting` for what is waited for, `given_up` for what no longer is (N,)."""

    waiting: BoolArray
    given_up: BoolArray
    size: IntArray
    """Vehicles from it to the head of its line, both included; 0 for what is in none."""
    still: FloatArray
    """How long none of these has moved, s; 0 for what is in none."""
    seen_moving: BoolArray
    """Whether that is since one has been seen to move, and not since all are known (N,)."""


class _Junctions(NamedTuple):
    """How many of the vehicles take room on each lane (L,), and whether one of them does (N, CANDIDATES)."""

    many: IntArray
    takes: BoolArray


@array_kernel
def waiting_lines(
    lanes: LaneArrays, line_green: BoolArray, kind: ByteArray, body: FloatArray, past: FloatArray,
    places: LanePlaces, found: LaneChains, ahead: LookAhead, stamp: float, p: QueueParameters,
) -> Waiting:  # fmt: skip
    """Which of N objects wait in line; `body` (N + 1, BODY) has the car itself as the last row, which is in none.

    `line_green` are the stop lines whose light is known to let traffic through; `found` and `ahead` tell the ways of
    the objects and what is on them.
    """
    n = len(kind)
    queueing = np.zeros(n, np.bool_)
    for i in range(n):
        queueing[i] = QUEUEING[kind[i]] or (ob.VEHICLE[kind[i]] and past[i, tr.MOVED] > -np.inf)
    junctions = _junctions(len(lanes.length), places, body, queueing)
    leader, reason = np.full(n, -1, np.int64), np.zeros(n, np.bool_)
    for b in range(len(found.row)):
        i = found.row[b]
        if body[i, ob.SPEED] > p.standing or not queueing[i] or _is_parked(found, b, p):
            queueing[i] = False
            continue
        j = ahead.leader[b]
        if leader[i] < 0 and 0 <= j < n and (QUEUEING[kind[j]] or past[j, tr.MOVED] > -np.inf):
            close = body[j, ob.SPEED] <= p.creeping and ahead.distance[b, GAP] < p.gap
            leader[i] = j if close and _in_the_way(places, found, b, j, body) else -1
        if not reason[i]:
            lately = stamp - past[i, tr.STILL] <= p.turn and ahead.distance[b, LINE] < AT_LINE_M
            # Of one that was there already nothing says that it is about to turn off.
            likely = past[i, tr.STILL] > past[i, tr.FIRST] or b == 0 or found.row[b - 1] != i
            turn = lately and likely and _may_give_way(lanes, found.chain[b], found.begin[b], 0.5 * body[i, ob.LENGTH])
            reason[i] = turn or _held_up(lanes, line_green, body, places, found, ahead, junctions, b, p)
    return follow_lines(queueing & (body[:n, ob.SPEED] <= p.standing), leader, reason, past, stamp, p.patience)


@array_kernel
def before_lights(kind: ByteArray, found: LaneChains, ahead: LookAhead, p: QueueParameters) -> BoolArray:
    """Which of N objects are on the last metres before a light that is closed, with no other line before it."""
    held, parked = np.zeros(len(kind), np.bool_), False
    for b in range(len(found.row)):
        i = found.row[b]
        parked = _is_parked(found, b, p) or (parked and found.row[b - 1] == i)
        near = ahead.distance[b, LIGHT] < BEFORE_LIGHT_M and ahead.distance[b, LIGHT] <= ahead.distance[b, LINE]
        held[i] |= near and QUEUEING[kind[i]] and not parked
    return held


@kernel
def _is_parked(found: LaneChains, b: int, p: QueueParameters) -> bool:
    """Whether a chain is the likeliest one of an object and begins beside the kerb."""
    return bool(p.kerb_side * found.side[b] > p.kerb and (b == 0 or found.row[b - 1] != found.row[b]))


@kernel
def _in_the_way(places: LanePlaces, found: LaneChains, b: int, j: int, body: FloatArray) -> bool:
    """Whether the one that follows chain `b` would touch `j` if it drove straight on in its lane."""
    apart, i = np.inf, found.row[b]
    for depth in range(DEPTH):
        for k in range(CANDIDATES):
            if found.chain[b, depth] >= 0 and places.lane[j, k] == found.chain[b, depth]:
                apart = min(apart, abs(places.offset[j, k] - found.side[b]))
    return bool(apart < 0.5 * (body[i, ob.WIDTH] + body[j, ob.WIDTH]))


@array_kernel
def _junctions(lane_count: int, places: LanePlaces, body: FloatArray, queueing: BoolArray) -> _Junctions:
    count, takes = np.zeros(lane_count, np.int64), np.zeros((len(queueing), CANDIDATES), np.bool_)
    for i in range(len(queueing)):
        for j in range(CANDIDATES):
            number = places.lane[i, j]
            if queueing[i] and number >= 0 and abs(places.offset[i, j]) < 0.5 * body[i, ob.WIDTH] + BESIDE_M:
                takes[i, j] = True
                count[number] += 1
    return _Junctions(count, takes)


@kernel
def _taken(junctions: _Junctions, lane: IntArray, i: int, number: int) -> bool:
    """Whether another vehicle than `i` takes room on a lane."""
    own = 0
    for j in range(CANDIDATES):
        own += 1 if junctions.takes[i, j] and lane[i, j] == number else 0
    return bool(junctions.many[number] > own)


@kernel
def _may_give_way(lanes: LaneArrays, chain: IntArray, begin: FloatArray, front: float) -> bool:
    """Whether one that follows a chain has a line close before it, or a way through a junction on which some that it
    meets do not give way to it.
    """
    inside = False
    for depth in range(DEPTH):
        number, entry = chain[depth], begin[depth] - front
        if number < 0 or (entry > AT_LINE_M and not inside) or (inside and not lanes.in_junction[number]):
            break
        for k in range(lanes.line_start[number], lanes.line_start[number + 1]):
            if -OVER_LINE_M < entry + lanes.line_s[k] < AT_LINE_M:
                return True
        inside = inside or (lanes.in_junction[number] and entry > -OVER_LINE_M)
        if inside and not _has_priority(lanes, number):
            return True
    return False


@kernel
def _has_priority(lanes: LaneArrays, number: int) -> bool:
    """Whether all that a way through a junction meets give way to it."""
    for k in range(lanes.conflict_start[number], lanes.conflict_start[number + 1]):
        other, gives = lanes.conflict[k], False
        for back in range(lanes.conflict_start[other], lanes.conflict_start[other + 1]):
            gives = gives or (lanes.conflict[back] == number and lanes.gives_way[back])
        if not gives:
            return False
    return True


@kernel
def _held_up(
    lanes: LaneArrays, line_green: BoolArray, body: FloatArray, places: LanePlaces, found: LaneChains,
    ahead: LookAhead, junctions: _Junctions, b: int, p: QueueParameters,
) -> bool:  # fmt: skip
    """Whether one that follows chain `b` stands before a light that is not green, or before a full junction."""
    if not ahead.distance[b, LINE] < p.gap:
        return False
    i, chain, begin = found.row[b], found.chain[b], found.begin[b]
    front, beyond, inside = 0.5 * body[i, ob.LENGTH], np.inf, False
    for depth in range(DEPTH):
        number, entry = chain[depth], begin[depth] - front
        if number < 0:
            break
        for k in range(lanes.line_start[number], lanes.line_start[number + 1]):
            room = entry + lanes.line_s[k]
            if lanes.line_kind[k] == LIGHT_LINE and not line_green[k] and -OVER_LINE_M < room < p.gap:
                return True
        if entry > TO_JUNCTION_M and not inside:
            break
        if lanes.in_junction[number] and entry > -OVER_LINE_M:
            inside = True
            if _taken(junctions, places.lane, i, number) or _crossed(lanes, junctions, places, i, number):
                return True
        elif inside:
            beyond = entry
            break
    j = ahead.leader[b]
    jam = 0 <= j < len(junctions.takes) and body[j, ob.SPEED] <= p.creeping
    return bool(jam and inside and ahead.distance[b, GAP] < beyond + p.gap)


@kernel
def _crossed(lanes: LaneArrays, junctions: _Junctions, places: LanePlaces, i: int, number: int) -> bool:
    """Whether another one is on a lane that crosses or joins a way through a junction."""
    crossed = False
    for k in range(lanes.conflict_start[number], lanes.conflict_start[number + 1]):
        crossed = crossed or _taken(junctions, places.lane, i, lanes.conflict[k])
    return crossed


@array_kernel
def follow_lines(
    standing: BoolArray, leader: IntArray, reason: BoolArray, past: FloatArray, stamp: float, patience: float
) -> Waiting:  # fmt: skip
    """Follow every line to its head, or once round where it has none."""
    n = len(standing)
    waiting, given_up = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    size, still, seen = np.zeros(n, np.int64), np.zeros(n), np.full(n, -1, np.int64)
    seen_moving = np.zeros(n, np.bool_)
    for i in range(n):
        if not standing[i] or not (reason[i] or leader[i] >= 0):
            continue
        j, moved = i, -np.inf
        while j >= 0 and seen[j] != i:
            seen[j] = i
            size[i] += 1
            if past[j, tr.STILL] > moved:
                moved, seen_moving[i] = past[j, tr.STILL], past[j, tr.STILL] > past[j, tr.FIRST]
            j = leader[j]
        still[i] = max(stamp - moved, 0.0)
        given_up[i] = still[i] > patience
        waiting[i] = not given_up[i]
    return Waiting(waiting, given_up, size, still, seen_moving)
