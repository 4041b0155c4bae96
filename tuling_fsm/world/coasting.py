"""Objects that perception has missed for a moment go on as they were last seen (USE-9).

A tracker coasts a track that gets no detection on its prediction, and drops it after a while ([barshalom2001][]). As
there, a track has to be confirmed first: nothing is taken to go on for longer than it has been seen, so that a ghost of
one message stays one.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.world import objects as ob
from tuling_fsm.world.estimates import row_of
from tuling_fsm.world.objects import Detections, IdArray
from tuling_fsm.world.tracks import FIRST, SEEN
from tuling_fsm.world.world import World

_TOLERANCE_S = 1e-6
"""Of the difference of two stamps."""


def coast(found: Detections, past: World | None, taken: BoolArray, now: float, longest: float, room: int) -> Detections:
    """The detections of `now`, and after them up to `room` objects of the past World that were last seen at most
    `longest` (s) ago, moved on by their velocity. Which of its tracks are `taken`, is among the detections.
    """
    if past is None or len(past.traffic.id) == 0:
        return found
    traffic, rows = past.traffic, np.empty(len(past.traffic.id), np.int64)
    tracks = past.tracks
    n = _lost(traffic.id, tracks.id, tracks.past, taken, now=now, longest=longest, room=room, out=rows)
    if n == 0:
        return found
    lost = rows[:n]
    body, dt = traffic.body[lost], now - past.stamp
    body[:, ob.X] += dt * body[:, ob.VX]
    body[:, ob.Y] += dt * body[:, ob.VY]
    ids = np.concatenate([found.id, traffic.id[lost]])
    return Detections(
        id=ids,
        kind=np.concatenate([found.kind, traffic.kind[lost]]),
        source=np.concatenate([found.source, traffic.source[lost]]),
        body=np.concatenate([found.body, body]),
        order=np.argsort(ids, kind="stable"),
        seen=found.seen,
    )


@kernel
def _lost(
    before: IdArray, tracked: IdArray, past: FloatArray, taken: BoolArray, now: float, longest: float, room: int,
    out: IntArray,
) -> int:  # fmt: skip
    """Rows of `before` that go on without being seen; returns how many there are."""
    n = 0
    for i in range(len(before)):
        row = row_of(tracked, before[i])
        if row < 0 or taken[row] or n == room:
            continue
        known, unseen = past[row, SEEN] - past[row, FIRST], now - past[row, SEEN]
        if unseen <= min(longest, known) + _TOLERANCE_S:
            out[n] = i
            n += 1
    return n
