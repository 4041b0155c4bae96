"""What is remembered of objects from tick to tick: since when they stand, when they last moved, how they turn, where
they came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.standing import PEDESTRIAN_STANDS
from tuling_fsm.world import objects as ob
from tuling_fsm.world.objects import VULNERABLE, ByteArray, Detections, IdArray, RowArray
from tuling_fsm.world.parameters import WorldParameters

NEVER = -np.inf

SEEN, ANCHOR_X, ANCHOR_Y, MOVED, STILL, HEADING, YAW_RATE, ROAD_LANE, FIRST = range(9)
"""Columns of a past: stamp of the latest sight; where the object was when it last moved (m), and when that was; since
when it stands, equal to `SEEN` while it moves; heading and its filtered change (rad/s); number of the last lane outside
junctions, -1 for none; stamp of the first sight. Stamps in s, `NEVER` for what has not been seen.
"""
PAST = 9

_ANCHOR_M = 1.0
"""One that is this far from where it was seen to stand has moved, whatever its reported speed."""
_TURN_FILTER_S = 0.4
_MAX_YAW_RATE = 1.0


@dataclass(frozen=True, eq=False)
class Tracks:
    """N objects and their `past` (N, PAST)."""

    id: IdArray
    past: FloatArray


NO_TRACKS = Tracks(np.zeros(0, np.uint32), np.zeros((0, PAST)))


def follow(previous: Tracks, found: Detections, stamp: float, parameters: WorldParameters) -> Tracks:
    """The tracks of the objects found now, in their order (rows may repeat an id); `previous` are ordered by id. The
    past of what coasts stays as it is.
    """
    past, n = np.empty((len(found.id), PAST)), found.seen
    _follow(previous.id, previous.past, found.id[:n], found.kind, found.body, stamp, parameters.moving_speed, past)
    if n < len(found.id):
        past[n:] = previous.past[np.searchsorted(previous.id, found.id[n:])]
    return Tracks(found.id, past)


@kernel
def row_of(ids: IdArray, number: int) -> int:
    """Row of an id among ordered ones, -1 for none."""
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) // 2
        if ids[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ids) and ids[low] == number else -1


@kernel
def _follow(
    known: IdArray, before: FloatArray, ids: IdArray, kind: ByteArray, body: FloatArray, stamp: float,
    moving_speed: float, out: FloatArray,
) -> None:  # fmt: skip
    for i in range(len(ids)):
        here, now, row = body[i], out[i], row_of(known, ids[i])
        moves = here[ob.SPEED] > (PEDESTRIAN_STANDS if VULNERABLE[kind[i]] else moving_speed)
        now[MOVED], now[STILL], now[YAW_RATE], now[ROAD_LANE], now[FIRST] = NEVER, stamp, 0.0, -1.0, stamp
        now[ANCHOR_X], now[ANCHOR_Y] = here[ob.X], here[ob.Y]
        if row >= 0:
            old = before[row]
            moves = moves or elementary.hypot(here[ob.X] - old[ANCHOR_X], here[ob.Y] - old[ANCHOR_Y]) > _ANCHOR_M
            dt = max(stamp - old[SEEN], 0.0)
            turn = (here[ob.HEADING] - old[HEADING] + math.pi) % (2.0 * math.pi) - math.pi
            rate = min(max(turn / max(dt, 1e-3), -_MAX_YAW_RATE), _MAX_YAW_RATE)
            gain = dt / (dt + _TURN_FILTER_S)
            now[YAW_RATE] = old[YAW_RATE] + gain * (rate - old[YAW_RATE])
            now[MOVED], now[ROAD_LANE], now[FIRST] = old[MOVED], old[ROAD_LANE], old[FIRST]
            if not moves:
                now[ANCHOR_X], now[ANCHOR_Y], now[STILL] = old[ANCHOR_X], old[ANCHOR_Y], old[STILL]
        if moves:
            now[MOVED] = stamp
        now[SEEN], now[HEADING] = stamp, here[ob.HEADING]


def remember(previous: Tracks, now: Tracks, order: RowArray, stamp: float, memory_s: float) -> Tracks:
    """The tracks to keep for the next tick: those of now, and those lost for less than `memory_s`; one row an id, in
    the order of the ids. `order` are the rows of `now` in this order.
    """
    room = len(previous.id) + len(now.id)
    ids, past = np.empty(room, np.uint32), np.empty((room, PAST))
    kept = _merge(previous.id, previous.past, now.id, now.past, order, stamp, memory_s, ids, past)
    return Tracks(ids[:kept], past[:kept])


@kernel
def _merge(
    known: IdArray, before: FloatArray, ids: IdArray, now: FloatArray, order: RowArray, stamp: float, memory_s: float,
    out_ids: IdArray, out: FloatArray,
) -> int:  # fmt: skip
    """Both tables in the order of their ids, the first row of each; returns how many there are."""
    kept = i = j = 0
    while i < len(order) or j < len(known):
        lost = i == len(order) or (j < len(known) and known[j] < ids[order[i]])
        if lost:
            number, row = known[j], before[j]
            j += 1
        else:
            number, row = ids[order[i]], now[order[i]]
            i += 1
        again = kept > 0 and out_ids[kept - 1] == number
        if again or (lost and stamp - row[SEEN] > memory_s):
            continue
        out_ids[kept] = number
        for k in range(PAST):
            out[kept, k] = row[k]
        kept += 1
    return kept
