"""The objects of a tick put on the map and predicted, in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import factory, inner, maker
from tuling_fsm.world import objects as ob
from tuling_fsm.world import tracks as tr
from tuling_fsm.world.lane_index import BoolArray, IntArray, LaneArrays
from tuling_fsm.world.lane_kernels import chains, locate
from tuling_fsm.world.objects import VEHICLE, VULNERABLE, ByteArray, IdArray
from tuling_fsm.world.prediction_kernels import GAP, LIGHT, LINE, look_ahead, predict

CHAIN_REACH_M = 60.0
_AT_LINE_M = 5.0
_REVERSING_SPEED = -0.5


class Expected(NamedTuple):
    """What is expected of others: as `WorldParameters` has it."""

    lane_heading: float
    lateral: float
    decel: float
    follow_gap: float
    standing: float
    """Who is no faster stands, m/s."""
    stopped_leader: float
    junction_wait: float
    queue_gap: float


class Predicted(NamedTuple):
    """The fields of `core.scene.Obstacles`."""

    id: IdArray
    kind: ByteArray
    moving: BoolArray
    length: FloatArray
    width: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    speed: FloatArray


class OnMap(NamedTuple):
    """N objects on the map: the fields of `world.traffic.Traffic` of the same names, the `past` (N, PAST) with what has
    been learnt, and what is predicted, a row for each of `obstacle_row` (R,).
    """

    past: FloatArray
    moving: BoolArray
    waiting: BoolArray
    lane: IntArray
    lane_s: FloatArray
    chain_row: IntArray
    chain: IntArray
    chain_begin: FloatArray
    obstacle_row: IntArray
    predicted: Predicted


@factory
def put_on_map(
    lanes: LaneArrays, line_closed: BoolArray, held: IntArray, ids: IdArray, kind: ByteArray, body: FloatArray,
    past: FloatArray, stamp: float, expected: Expected,
) -> OnMap:  # fmt: skip
    """Lanes, ways and prediction of N objects; `body` (N + 1, BODY) has the car itself as the last row."""
    n, e = len(kind), expected
    lane, arc, offset, turn = locate(lanes, body, _followers(kind, body), e.lane_heading)
    learnt = past.copy()
    for i in range(n):
        if lane[i, 0] >= 0 and not lanes.in_junction[lane[i, 0]]:
            learnt[i, tr.ROAD_LANE] = lane[i, 0]
    row, chain, begin, side = chains(
        lanes, body, learnt, lane, arc, offset, turn, CHAIN_REACH_M, e.lateral, e.decel
    )  # fmt: skip
    leader, distance = look_ahead(lanes, line_closed, held, body, lane, arc, offset, row, chain, begin, e.decel)
    waiting, moving = np.zeros(n + 1, np.bool_), np.empty(n, np.bool_)
    _mark_waiting(row, leader, distance, body, past, stamp, e.standing, e.junction_wait, e.queue_gap, waiting)
    for i in range(n):
        if waiting[i]:
            learnt[i, tr.MOVED] = stamp
        moving[i] = stamp - learnt[i, tr.MOVED] <= e.stopped_leader or VULNERABLE[kind[i]]
    rows, x, y, heading = predict(
        lanes, kind, body, learnt, row, chain, begin, side, leader, distance, e.standing, e.lateral, e.follow_gap
    )  # fmt: skip
    m = len(rows)
    predicted = Predicted(
        np.empty(m, np.uint32), np.empty(m, np.uint8), np.empty(m, np.bool_), np.empty(m), np.empty(m), x, y, heading,
        np.empty(m),
    )  # fmt: skip
    for r in range(m):
        i = rows[r]
        predicted.id[r], predicted.kind[r], predicted.moving[r] = ids[i], kind[i], moving[i]
        predicted.length[r], predicted.width[r] = body[i, ob.LENGTH], body[i, ob.WIDTH]
        predicted.speed[r] = body[i, ob.SPEED]
    return OnMap(learnt, moving, waiting[:n], lane[:n], arc[:n], row, chain, begin, rows, predicted)


@maker
def _followers(kind: ByteArray, body: FloatArray) -> BoolArray:
    """Who may follow a lane: vehicles, and the car, which do not reverse."""
    follows = np.ones(len(body), np.bool_)
    for i in range(len(kind)):
        heading = body[i, ob.HEADING]
        forward = body[i, ob.VX] * elementary.cos(heading) + body[i, ob.VY] * elementary.sin(heading)
        follows[i] = VEHICLE[kind[i]] and forward > _REVERSING_SPEED
    return follows


@inner
def _mark_waiting(
    row: IntArray, leader: IntArray, distance: FloatArray, body: FloatArray, past: FloatArray, stamp: float,
    standing: float, junction_wait: float, queue_gap: float, waiting: BoolArray,
) -> None:  # fmt: skip
    """Who stands at a closed light, or not too long at another line or junction, or close behind one that waits."""
    for b in range(len(row)):
        if body[row[b], ob.SPEED] <= standing:
            lately = stamp - past[row[b], tr.STILL] <= junction_wait
            if distance[b, LIGHT] < _AT_LINE_M or (lately and distance[b, LINE] < _AT_LINE_M):
                waiting[row[b]] = True
    joined = True
    while joined:
        joined = False
        for b in range(len(row)):
            i = row[b]
            queued = body[i, ob.SPEED] <= standing and leader[b] >= 0 and distance[b, GAP] < queue_gap
            if queued and waiting[leader[b]] and not waiting[i]:
                waiting[i] = joined = True
