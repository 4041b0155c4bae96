"""What is remembered of objects from tick to tick: since when they stand, when they last moved, how they turn and
gather speed, where they came from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import kernel, sqrt
from tuling_fsm.core.standing import PEDESTRIAN_STANDS
from tuling_fsm.world import objects as ob
from tuling_fsm.world.estimates import ESTIMATE, VAR_V, MeasuredNoise, associated_rows, estimate
from tuling_fsm.world.objects import VULNERABLE, ByteArray, Detections, IdArray
from tuling_fsm.world.parameters import WorldParameters

NEVER = -np.inf

SEEN, ANCHOR_X, ANCHOR_Y, MOVED, STILL, HEADING, YAW_RATE, ROAD_LANE, ASIDE, ASIDE_SINCE, FIRST, PACE, GAINS = range(13)
"""Columns of a past: stamp of the latest sight; where the object was when it last moved (m), and when that was; since
when it stands, equal to `SEEN` while it moves (where perception is noisy: whenever it has left its last place);
heading and its filtered change (rad/s); number of the last lane outside junctions, -1 for none; how far it is beside
that lane's centre (m, + left), and since when about as far; stamp of the first sight; speed, filtered (m/s), and how
fast it gathers speed at least, as far as that is certain (m/s^2, 0 for not). Stamps in s, `NEVER` for what has not been
seen.
"""
PAST = 13

_ANCHOR_M = 1.0
"""One that is this far from where it was seen to stand has moved, whatever its reported speed."""
_NOISY = 3.0
"""And by so many standard deviations of the positions farther, and only then: what is seen of one that stands jitters
by more than the speed at which one moves, and one that has broken down would seem to have moved every few seconds.
"""
_TURN_FILTER_S = 0.2
_MAX_YAW_RATE = 1.0
_PACE_FILTER_S, _SURE, _MAX_GAIN = 0.5, 2.0, 3.0
"""A speed is compared with what it was about so long ago; what is more than so many standard deviations faster gathers
speed, and is taken to do so no harder than this (m/s^2).
"""
_VAGUE_MPS, _LEAP_MPS = 1.0, 3.0
"""A speed known no better than the one, or faster by more than the other, is new knowledge and no gain."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """N objects, their `past` (N, PAST) and their `estimates` (N, ESTIMATE), and how noisy perception is."""

    id: IdArray
    past: FloatArray
    estimates: FloatArray
    noise: MeasuredNoise


class Association(NamedTuple):
    """Rows of the tracks that the objects seen continue, -1 for what is new; which of these tracks are `taken` over."""

    rows: IntArray
    taken: BoolArray


NO_TRACKS = Tracks(np.zeros(0, np.uint32), np.zeros((0, PAST)), np.zeros((0, ESTIMATE)), MeasuredNoise())


def associate(previous: Tracks, found: Detections, stamp: float) -> Association:
    """The tracks that the objects seen at `stamp` continue (rows may repeat an id); `previous` are ordered by id."""
    return Association(*associated_rows(previous.id, previous.estimates, found, stamp, previous.noise))


def follow(
    previous: Tracks, association: Association, found: Detections, stamp: float, parameters: WorldParameters
) -> Tracks:
    """The tracks of the objects found now, in their order. The bodies of those seen become what is estimated of them at
    `stamp`; what coasts stays as it is.
    """
    rows, n = association.rows, found.seen
    yaw_rate = np.ascontiguousarray(previous.past[:, YAW_RATE])
    seen, noise = estimate(previous.estimates, yaw_rate, rows, found, stamp, previous.noise)
    past: FloatArray = np.empty((n, PAST))
    far = _ANCHOR_M + _NOISY * noise.beyond_exact
    speed = parameters.moving_speed
    _follow(previous.past, seen, rows, found.kind, found.body, stamp, moving_speed=speed, far=far, out=past)
    if n == len(found.id):
        return Tracks(found.id, past, seen, noise)
    lost = np.searchsorted(previous.id, found.id[n:])
    past = np.concatenate([past, previous.past[lost]])
    return Tracks(found.id, past, np.concatenate([seen, previous.estimates[lost]]), noise)


@kernel
def _follow(
    before: FloatArray, seen: FloatArray, rows: IntArray, kind: ByteArray, body: FloatArray, stamp: float,
    moving_speed: float, far: float, out: FloatArray,
) -> None:  # fmt: skip
    for i in range(len(rows)):
        here, now, row = body[i], out[i], rows[i]
        moves = here[ob.SPEED] > (PEDESTRIAN_STANDS if VULNERABLE[kind[i]] else moving_speed)
        now[MOVED], now[STILL], now[YAW_RATE], now[ROAD_LANE], now[FIRST] = NEVER, stamp, 0.0, -1.0, stamp
        now[ANCHOR_X], now[ANCHOR_Y] = here[ob.X], here[ob.Y]
        now[ASIDE], now[ASIDE_SINCE], now[PACE], now[GAINS] = 0.0, stamp, here[ob.SPEED], 0.0
        if row >= 0:
            old = before[row]
            gone = elementary.hypot(here[ob.X] - old[ANCHOR_X], here[ob.Y] - old[ANCHOR_Y]) > far
            moves = gone or (moves and far <= _ANCHOR_M)
            dt = max(stamp - old[SEEN], 0.0)
            turn = (here[ob.HEADING] - old[HEADING] + math.pi) % (2.0 * math.pi) - math.pi
            rate = min(max(turn / max(dt, 1e-3), -_MAX_YAW_RATE), _MAX_YAW_RATE)
            gain = dt / (dt + _TURN_FILTER_S)
            now[YAW_RATE] = old[YAW_RATE] + gain * (rate - old[YAW_RATE])
            now[MOVED], now[ROAD_LANE], now[FIRST] = old[MOVED], old[ROAD_LANE], old[FIRST]
            now[ASIDE], now[ASIDE_SINCE] = old[ASIDE], old[ASIDE_SINCE]
            now[PACE], now[GAINS] = _gathers(old[PACE], here[ob.SPEED], dt, doubt=_SURE * sqrt(seen[i, VAR_V]))
            if not moves:
                now[ANCHOR_X], now[ANCHOR_Y], now[STILL] = old[ANCHOR_X], old[ANCHOR_Y], old[STILL]
        if moves:
            now[MOVED] = stamp
        now[SEEN], now[HEADING] = stamp, here[ob.HEADING]


@kernel
def _gathers(pace: float, speed: float, dt: float, doubt: float) -> tuple[float, float]:
    """The filtered speed (m/s) after one more sight, and by how much it surely grows (m/s^2)."""
    now = pace + dt / (dt + _PACE_FILTER_S) * (speed - pace)
    if doubt > _VAGUE_MPS or speed - now > _LEAP_MPS:
        return speed, 0.0
    return now, min(max(speed - now - doubt, 0.0) / _PACE_FILTER_S, _MAX_GAIN)


def remember(previous: Tracks, taken: BoolArray, now: Tracks, order: IntArray, stamp: float, memory_s: float) -> Tracks:
    """The tracks to keep for the next tick: those of now, and those lost for less than `memory_s`, which nothing has
    `taken` over; one row an id, in the order of the ids. `order` are the rows of `now` in this order.
    """
    merged = np.empty(len(previous.id) + len(now.id), np.int64)
    gone = taken | (stamp - previous.past[:, SEEN] > memory_s)
    kept = _merge(previous.id, gone, now.id, order, merged)
    rows = merged[:kept]
    ids, past = np.concatenate([previous.id, now.id])[rows], np.concatenate([previous.past, now.past])[rows]
    return Tracks(ids, past, np.concatenate([previous.estimates, now.estimates])[rows], now.noise)


@kernel
def _merge(known: IdArray, gone: BoolArray, ids: IdArray, order: IntArray, out: IntArray) -> int:
    """Rows of both tables, one after the other, in the order of their ids, the first of each; returns how many."""
    kept, last = 0, -1
    i = j = 0
    while i < len(order) or j < len(known):
        if i == len(order) or (j < len(known) and known[j] < ids[order[i]]):
            number, row, left = int(known[j]), j, gone[j]
            j += 1
        else:
            number, row, left = int(ids[order[i]]), len(known) + order[i], False
            i += 1
        if number == last or left:
            continue
        out[kept], last = row, number
        kept += 1
    return kept
