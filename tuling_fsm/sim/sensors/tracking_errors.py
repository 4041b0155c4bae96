"""What a tracker of objects gets wrong: ghosts, one object seen as two, and ids that change (SIM-2: seeded).

Everything is off unless the parameters say so, and nothing is drawn then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.parameters import TrackingErrorParameters
from tuling_fsm.sim.seeds import generator
from tuling_fsm.world.inputs import Kind, Source

Rows = npt.NDArray[np.void]

LASTS_S = 0.6
"""How long a ghost, or the two halves of an object, are seen: what a tracker needs to find out."""
GHOST_REACH_M = 30.0
GHOST_SIDE_M = 6.0
GHOST_SIZE_M = (1.0, 0.6)
GHOST_EXISTENCE = 0.5
SPLIT_LENGTH_M = 6.0
"""Shorter objects are not seen as two."""
FIRST_NUMBER = 0x8000_0000
"""Ids that the tracker makes up begin here; those of the agents are smaller."""


@dataclass(frozen=True)
class _Ghost:
    """A thing that is not there, until `until` (s)."""

    id: int
    x: float
    y: float
    until: float


class TrackingErrors:
    """The tracker between what is seen and the table of objects.

    Args:
        seed: what is drawn comes from it.
        parameters: how often what goes wrong.
    """

    def __init__(self, seed: np.random.SeedSequence, parameters: TrackingErrorParameters) -> None:
        self.parameters = parameters
        """Exchanged between two frames where a tracker gets better or worse."""
        self._random = generator(seed)
        self._stamp = 0.0
        self._next = FIRST_NUMBER
        self._ghosts: tuple[_Ghost, ...] = ()
        self._split_until: dict[int, float] = {}
        self._renamed: dict[int, int] = {}

    def apply(self, stamp: float, pose: Pose, rows: Rows, lidar: bool) -> Rows:
        """Rows of the topic `objects` as the tracker tells them at a stamp (s), from the car's pose; once a frame.

        Ghosts are the lidar's: without it (`lidar`: whether it sees anything) they are drawn as ever, and not seen.
        """
        dt, self._stamp = max(stamp - self._stamp, 0.0), stamp
        if self.parameters.id_changes > 0.0:
            rows = self._rename(rows, dt)
        if self.parameters.splits > 0.0:
            rows = self._split(rows, stamp, dt)
        if self.parameters.ghosts > 0.0:
            ghosts = self._draw_ghosts(rows.dtype, stamp, dt, pose)
            rows = np.concatenate((rows, ghosts)) if lidar else rows
        return rows

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _drawn(self, rate: float, dt: float, count: int) -> BoolArray:
        """Which of `count` events of a rate (1/s) happen within `dt` (s)."""
        return np.asarray(self._random.random(count) < rate * dt)

    def _rename(self, rows: Rows, dt: float) -> Rows:
        for number in rows["id"][self._drawn(self.parameters.id_changes, dt, len(rows))].tolist():
            self._renamed[number] = self._number()
        renamed = rows.copy()
        renamed["id"] = [self._renamed.get(number, number) for number in rows["id"].tolist()]
        return renamed

    def _split(self, rows: Rows, stamp: float, dt: float) -> Rows:
        """The rear half of a split object keeps its id, its front half is a new object."""
        begins = self._drawn(self.parameters.splits, dt, len(rows)) & (rows["length"] >= SPLIT_LENGTH_M)
        self._split_until.update(dict.fromkeys(rows["id"][begins].tolist(), stamp + LASTS_S))
        split = np.array([self._split_until.get(number, -math.inf) > stamp for number in rows["id"].tolist()], np.bool_)
        if not split.any():
            return rows
        rear, front = rows.copy(), rows[split].copy()
        front["id"] = [number | FIRST_NUMBER | 1 << 30 for number in front["id"].tolist()]
        _halve(rear, split, -1.0)
        _halve(front, np.ones(len(front), np.bool_), 1.0)
        return np.concatenate((rear, front))

    def _draw_ghosts(self, row: np.dtype[np.void], stamp: float, dt: float, pose: Pose) -> Rows:
        if self._drawn(self.parameters.ghosts, dt, 1)[0]:
            ahead, side = self._random.random(2).tolist()
            along, across = GHOST_REACH_M * ahead, GHOST_SIDE_M * (2.0 * side - 1.0)
            s, c = elementary.sin_cos(pose.heading)
            x, y = pose.x + along * c - across * s, pose.y + along * s + across * c
            self._ghosts = (*self._ghosts, _Ghost(self._number(), x, y, stamp + LASTS_S))
        self._ghosts = tuple(ghost for ghost in self._ghosts if ghost.until > stamp)
        shown = np.zeros(len(self._ghosts), row)
        shown["id"] = [ghost.id for ghost in self._ghosts]
        shown["kind"], shown["source"] = Kind.UNKNOWN, Source.LIDAR
        shown["x"], shown["y"] = [ghost.x for ghost in self._ghosts], [ghost.y for ghost in self._ghosts]
        shown["length"], shown["width"] = GHOST_SIZE_M
        shown["existence"] = GHOST_EXISTENCE
        return shown


def _halve(rows: Rows, chosen: BoolArray, side: float) -> None:
    """Leave of the chosen boxes their front (1) or rear (-1) half."""
    half: FloatArray = 0.25 * rows["length"][chosen].astype(np.float64)
    sine, cosine = elementwise.sin_cos(rows["heading"][chosen])
    rows["x"][chosen] += side * half * cosine
    rows["y"][chosen] += side * half * sine
    rows["length"][chosen] *= 0.5
