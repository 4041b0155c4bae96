"""A light record of a run for its report."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.sim.referee import Others

EGO_EVERY_S = 0.2
ACTORS_EVERY_S = 0.5


class EgoSample(NamedTuple):
    """Stamp (s), rear-axle pose, speed (m/s)."""

    t: float
    pose: Pose
    v: float


class ActorSample(NamedTuple):
    """Stamp (s), ids, and boxes (N, 7) of x, y, z, heading, length, width, speed."""

    t: float
    ids: npt.NDArray[np.uint32]
    boxes: FloatArray


class History:
    """The ego five times, the others twice a second."""

    def __init__(self, dt: float) -> None:
        self.ego: list[EgoSample] = []
        self.actors: list[ActorSample] = []
        self._ego_every = max(round(EGO_EVERY_S / dt), 1)
        self._actors_every = max(round(ACTORS_EVERY_S / dt), 1)

    def note(self, frame: int, stamp: float, pose: Pose, v: float, others: Others) -> None:
        """Note a frame if it is one to note: its time (s), the ego's rear axle and speed (m/s), the others."""
        if frame % self._ego_every == 0:
            self.ego.append(EgoSample(stamp, pose, v))
        if frame % self._actors_every == 0:
            self.actors.append(ActorSample(stamp, others.ids, others.boxes))
