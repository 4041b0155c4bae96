"""What a planner must know of the surroundings, in plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.kernels import kernel

PREDICTION_STEP_S = 0.2
PREDICTION_STEPS = 31
"""Predictions cover 0 to 6 s in steps of 0.2 s."""


class Ego(NamedTuple):
    """The car's own motion: rear-axle pose in `map`, signed speed (m/s), acceleration (m/s^2), curvature of the path
    it steers (1/m).
    """

    pose: Pose
    v: float
    a: float
    curvature: float


def _empty() -> FloatArray:
    return np.zeros(0)


@kernel
def _any_moves(ids: npt.NDArray[np.uint32], moving: BoolArray, number: int) -> bool:
    found = False
    for i in range(len(ids)):
        found = found or (moving[i] and ids[i] == number)
    return found


@dataclass(frozen=True, eq=False)
class Obstacles:
    """N objects as boxes: the centre's predicted pose at each of T = `PREDICTION_STEPS` times, `PREDICTION_STEP_S`
    apart.

    `moving` (N,) tells moving vehicles and pedestrians from static ones (NOR-4 takes the former out of the path
    geometry).
    """

    id: npt.NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    kind: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    moving: BoolArray = field(default_factory=lambda: np.zeros(0, np.bool_))
    length: FloatArray = field(default_factory=_empty)
    width: FloatArray = field(default_factory=_empty)
    x: FloatArray = field(default_factory=lambda: np.zeros((0, PREDICTION_STEPS)))
    y: FloatArray = field(default_factory=lambda: np.zeros((0, PREDICTION_STEPS)))
    heading: FloatArray = field(default_factory=lambda: np.zeros((0, PREDICTION_STEPS)))
    speed: FloatArray = field(default_factory=_empty)

    def __len__(self) -> int:
        return len(self.id)

    def any_moves(self, number: int) -> bool:
        """Whether one with this id moves."""
        return _any_moves(self.id, self.moving, number)

    def with_standing(self, stand: BoolArray, larger: FloatArray) -> Obstacles:
        """The same, with those that `stand` (N,) static, and `larger` (N,) by so much all round, m."""
        grown = np.where(stand, 2.0 * larger, 0.0)
        return replace(self, moving=self.moving & ~stand, length=self.length + grown, width=self.width + grown)

    @classmethod
    def straight_on(cls, boxes: npt.ArrayLike, speed: npt.ArrayLike = 0.0, kind: npt.ArrayLike = 1) -> Obstacles:
        """Objects that go on as they do, numbered from 0: `boxes` (N, 5) are centre x, y, heading, length, width (m,
        rad, `map`). `speed` (m/s, along the heading) and `kind` (code of the table of objects; 1 is a car) are one for
        all or (N,). What stands is static.
        """
        rows = np.asarray(boxes, dtype=np.float64).reshape(-1, 5)
        n, pace = len(rows), np.broadcast_to(np.asarray(speed, dtype=np.float64), (len(rows),)).copy()
        kinds = np.broadcast_to(np.asarray(kind, dtype=np.uint8), (n,)).copy()
        way = pace[:, None] * PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
        x, y, heading = rows[:, 0:1], rows[:, 1:2], np.repeat(rows[:, 2:3], PREDICTION_STEPS, axis=1)
        sine, cosine = elementwise.sin_cos(heading)
        return cls(
            np.arange(n, dtype=np.uint32), kinds, pace != 0.0, rows[:, 3].copy(),
            rows[:, 4].copy(), x + way * cosine, y + way * sine, heading, pace,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scene:
    """One tick's surroundings. `static_segments` (M, 4) are x0, y0, x1, y1 of solid edges that nothing may touch (m,
    `map`). `position_noise` is the standard deviation of the places that perception reports of objects, along each axis
    (m); 0 where they are exact.
    """

    stamp: float
    ego: Ego
    obstacles: Obstacles = field(default_factory=Obstacles)
    static_segments: FloatArray = field(default_factory=lambda: np.zeros((0, 4)))
    position_noise: float = 0.0
