"""The objects of a tick put on the map and predicted, in one call."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel, kernel
from tuling_fsm.world import objects as ob
from tuling_fsm.world import tracks as tr
from tuling_fsm.world.lane_index import LaneArrays
from tuling_fsm.world.lane_kernels import LanePlaces, chains, locate
from tuling_fsm.world.objects import VEHICLE, VULNERABLE, ByteArray, IdArray
from tuling_fsm.world.prediction_kernels import PredictionParameters, look_ahead, predict
from tuling_fsm.world.queues import QueueParameters, Waiting, before_lights, waiting_lines

CHAIN_REACH_M = 60.0
_REVERSING_SPEED = -0.5
_MOVE_OFF_S = 5.0
"""One that stands some way before a light is given as long from when it lets traffic through. What is an obstacle by
then stays one: the car is on its way round it when the light is red again."""

_WAVERS_M = 0.3
"""Who stays within this of where it was beside the lane's centre has been there since."""


class PredictionArrays(NamedTuple):
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


class PredictedLaneArrays(NamedTuple):
    """N objects on the map: the fields of `world.traffic.PredictedLanes` of the same names, the `past` (N, PAST) with
    what has been learnt, and what is predicted, a row for each of `obstacle_row` (R,).
    """

    past: FloatArray
    moving: BoolArray
    waiting: Waiting
    lane: IntArray
    lane_s: FloatArray
    chain_row: IntArray
    chain: IntArray
    chain_begin: FloatArray
    obstacle_row: IntArray
    predicted: PredictionArrays


@array_kernel
def put_on_map(
    lanes: LaneArrays, line_closed: BoolArray, held: IntArray, line_green: BoolArray, ids: IdArray, kind: ByteArray,
    body: FloatArray, past: FloatArray, stamp: float, expected: PredictionParameters, queues: QueueParameters,
) -> PredictedLaneArrays:  # fmt: skip
    """Lanes, ways, lines and prediction of N objects; `body` (N + 1, BODY) has the car itself as the last row."""
    n, e = len(kind), expected
    places = locate(lanes, body, _followers(kind, body), e.lane_heading)
    lane = places.lane
    learnt = past.copy()
    for i in range(n):
        _learn_place(lanes, places, i, stamp, learnt[i])
    found = chains(lanes, body, learnt, places, CHAIN_REACH_M, e.lateral, e.decel)
    ahead = look_ahead(lanes, line_closed, held, body, places, found, e.decel)
    line = waiting_lines(lanes, line_green, kind, body, past, places, found, ahead, stamp, queues)
    red, moving = before_lights(kind, found, ahead, queues), np.empty(n, np.bool_)
    for i in range(n):
        known = max(learnt[i, tr.MOVED], learnt[i, tr.FIRST])
        if red[i] and stamp - known <= e.stopped_leader:
            learnt[i, tr.MOVED] = max(learnt[i, tr.MOVED], stamp - max(0.0, e.stopped_leader - _MOVE_OFF_S))
        if line.waiting[i]:
            learnt[i, tr.MOVED] = stamp
        elif line.given_up[i]:
            learnt[i, tr.MOVED] = min(learnt[i, tr.MOVED], past[i, tr.STILL])
        moving[i] = stamp - learnt[i, tr.MOVED] <= e.stopped_leader or VULNERABLE[kind[i]]
    rows, x, y, heading = predict(lanes, kind, body, learnt, stamp, found, ahead, e)
    m = len(rows)
    predicted = PredictionArrays(
        id=np.empty(m, np.uint32), kind=np.empty(m, np.uint8), moving=np.empty(m, np.bool_),
        length=np.empty(m), width=np.empty(m), x=x, y=y, heading=heading, speed=np.empty(m),
    )  # fmt: skip
    for r in range(m):
        i = rows[r]
        predicted.id[r], predicted.kind[r], predicted.moving[r] = ids[i], kind[i], moving[i]
        predicted.length[r], predicted.width[r] = body[i, ob.LENGTH], body[i, ob.WIDTH]
        predicted.speed[r] = body[i, ob.SPEED]
    return PredictedLaneArrays(
        past=learnt, moving=moving, waiting=line, lane=lane[:n], lane_s=places.arc[:n],
        chain_row=found.row, chain=found.chain, chain_begin=found.begin, obstacle_row=rows, predicted=predicted,
    )  # fmt: skip


@kernel
def _learn_place(lanes: LaneArrays, places: LanePlaces, i: int, stamp: float, past: FloatArray) -> None:
    """Which lane object `i` is on, and since when it has been as far beside its centre. In a junction lanes lie over
    one another, and tell nothing of that.
    """
    number, aside = places.lane[i, 0], places.offset[i, 0]
    on_road = number >= 0 and not lanes.in_junction[number]
    if on_road:
        past[tr.ROAD_LANE] = number
    if not on_road or abs(aside - past[tr.ASIDE]) > _WAVERS_M:
        past[tr.ASIDE], past[tr.ASIDE_SINCE] = aside, stamp


@array_kernel
def _followers(kind: ByteArray, body: FloatArray) -> BoolArray:
    """Which bodies may follow a lane: vehicles, and the car, that do not reverse."""
    follows = np.ones(len(body), np.bool_)
    for i in range(len(kind)):
        heading = body[i, ob.HEADING]
        sine, cosine = elementary.sin_cos(heading)
        forward = body[i, ob.VX] * cosine + body[i, ob.VY] * sine
        follows[i] = VEHICLE[kind[i]] and forward > _REVERSING_SPEED
    return follows
