"""Arrays that every candidate uses anew, and what a planner keeps from one call to the next."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache
from tuling_fsm.planning.obstacles.occupancy import ConflictBuffers, new_conflicts
from tuling_fsm.planning.paths.frenet_path import AT_ONCE, PLACES, new_path
from tuling_fsm.planning.paths.reference_line import MAX_POINTS
from tuling_fsm.planning.speed.roll_out import SpeedEnvelope, StBoundaries, new_envelope, no_traffic

_OBJECTS = 64
"""Room for so many moving objects in the beginning."""


class EvaluationBuffers(NamedTuple):
    """Arrays that every candidate uses anew: its path of up to n points with the `places` of the body, the speed
    `limit` (n,) and its `cause` (n,), its envelope, `rows` (T, 3) of the roll-out and of a `slower` profile, `poses` as
    in `least_gap`, the traffic on it, the `farthest` arc lengths as in `fill_reachable`, and its conflicts.
    """

    path: FloatArray
    places: FloatArray
    limit: FloatArray
    cause: FloatArray
    envelope: SpeedEnvelope
    rows: FloatArray
    slower: FloatArray
    poses: FloatArray
    traffic: StBoundaries
    farthest: FloatArray
    conflicts: ConflictBuffers


def new_buffers(rows: int, objects: int) -> EvaluationBuffers:
    """Room for trajectories of `rows` rows among up to so many moving objects."""
    points = MAX_POINTS + 1
    return EvaluationBuffers(
        path=new_path(points),
        places=np.zeros((PLACES, points + AT_ONCE)),
        limit=np.zeros(points),
        cause=np.zeros(points),
        envelope=new_envelope(points),
        rows=np.zeros((rows, 3)),
        slower=np.zeros((rows, 3)),
        poses=np.zeros((PREDICTION_STEPS, 4)),
        traffic=no_traffic(),
        farthest=np.zeros(PREDICTION_STEPS),
        conflicts=new_conflicts(objects),
    )


class LaneWorkspace:
    """What a planner keeps between calls for speed alone: buffers, and the lane lines of the last requests.

    No result depends on it. It belongs to one caller at a time.
    """

    def __init__(self, rows: int) -> None:
        self.lines = LaneLineCache()
        self._buffers = new_buffers(rows, _OBJECTS)

    def buffers(self, objects: int) -> EvaluationBuffers:
        """The buffers, with room for so many moving objects."""
        if len(self._buffers.conflicts.rows) < objects:
            self._buffers = self._buffers._replace(conflicts=new_conflicts(2 * objects))
        return self._buffers
