"""What is remembered of objects from tick to tick: since when they stand, when they last moved, how they turn, where
they came from.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.world.objects import Detections, is_vulnerable
from tuling_fsm.world.parameters import WorldParameters

NEVER = -np.inf

_ANCHOR_M = 1.0
"""One that is this far from where it was seen to stand has moved, whatever its reported speed."""
_WALKING_SPEED = 0.25
_TURN_FILTER_S = 0.4
_MAX_YAW_RATE = 1.0


def _none(dtype: npt.DTypeLike = np.float64) -> npt.NDArray[np.generic]:
    return np.zeros(0, dtype)


@dataclass(frozen=True, eq=False)
class Tracks:
    """One row per object, ordered by id. Stamps in s, `NEVER` for what has not been seen."""

    id: npt.NDArray[np.uint32]
    seen: FloatArray
    x: FloatArray
    y: FloatArray
    """Where it was when it last moved, m."""
    moved: FloatArray
    """Stamp of its last movement."""
    still: FloatArray
    """Stamp since which it stands; equal to `seen` while it moves."""
    heading: FloatArray
    yaw_rate: FloatArray
    """Filtered change of the heading, rad/s."""
    road_lane: npt.NDArray[np.int64]
    """Number of the last lane outside junctions, -1 for none."""

    def rows_of(self, ids: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Row of each id, -1 for unknown ones."""
        if len(self.id) == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        row = np.minimum(np.searchsorted(self.id, ids), len(self.id) - 1)
        return np.asarray(np.where(self.id[row] == ids, row, -1), dtype=np.int64)

    def taken(self, rows: npt.NDArray[np.int64]) -> Tracks:
        """Some of the rows."""
        return Tracks(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})


NO_TRACKS = Tracks(
    np.zeros(0, np.uint32), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0),
    np.zeros(0, np.int64),
)  # fmt: skip


def follow(previous: Tracks, found: Detections, stamp: float, parameters: WorldParameters) -> Tracks:
    """The tracks of the objects found now, in their order (rows may repeat an id)."""
    row = previous.rows_of(found.id)
    known = row >= 0
    old = previous.taken(np.maximum(row, 0)) if len(previous.id) else _fresh(found, stamp)
    threshold = np.where(is_vulnerable(found.kind), _WALKING_SPEED, parameters.moving_speed)
    strayed = known & (np.hypot(found.x - old.x, found.y - old.y) > _ANCHOR_M)
    moves = (found.speed > threshold) | strayed
    dt = np.maximum(stamp - old.seen, 0.0)
    turn = (found.heading - old.heading + np.pi) % (2.0 * np.pi) - np.pi
    rate = np.clip(turn / np.maximum(dt, 1e-3), -_MAX_YAW_RATE, _MAX_YAW_RATE)
    gain = dt / (dt + _TURN_FILTER_S)
    return Tracks(
        id=found.id,
        seen=np.full(len(found.id), stamp),
        x=np.where(moves | ~known, found.x, old.x),
        y=np.where(moves | ~known, found.y, old.y),
        moved=np.where(moves, stamp, np.where(known, old.moved, NEVER)),
        still=np.where(moves | ~known, stamp, old.still),
        heading=found.heading,
        yaw_rate=np.where(known, old.yaw_rate + gain * (rate - old.yaw_rate), 0.0),
        road_lane=np.where(known, old.road_lane, -1),
    )


def _fresh(found: Detections, stamp: float) -> Tracks:
    zero = np.zeros(len(found.id))
    return Tracks(found.id, zero + stamp, found.x, found.y, zero, zero, found.heading, zero, np.full(len(zero), -1))


def remember(previous: Tracks, now: Tracks, stamp: float, memory_s: float) -> Tracks:
    """The tracks to keep for the next tick: those of now, and those lost for less than `memory_s`; one row an id."""
    order = np.argsort(now.id, kind="stable")
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = now.id[order[1:]] != now.id[order[:-1]]
    current = now.taken(order[first].astype(np.int64))
    lost = np.flatnonzero((stamp - previous.seen <= memory_s) & (current.rows_of(previous.id) < 0))
    if len(lost) == 0:
        return current
    kept = previous.taken(lost.astype(np.int64))
    both = Tracks(**{f.name: np.concatenate((getattr(current, f.name), getattr(kept, f.name))) for f in fields(Tracks)})
    return both.taken(np.argsort(both.id, kind="stable").astype(np.int64))
