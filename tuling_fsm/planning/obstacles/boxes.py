"""The objects of a scene as kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.kernels import inlined_kernel
from tuling_fsm.core.scene import PREDICTION_STEP_S, Obstacles
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.world.inputs import Kind

_FAR, _WITHIN_S = 100.0, 6.0
"""An object farther away than the one (m) that does not get nearer in the other (s) is not looked at."""
FORESIGHT = 35.0
"""The car yields to nothing that is farther ahead than this (m)."""
_BESIDE = 10.0
"""Room (m) for the car's own size, for gaps, and for what is beside a path."""


VULNERABLE = (int(Kind.PEDESTRIAN), int(Kind.ANIMAL))


class ObstacleColumns(NamedTuple):
    """Columns of `Obstacles`: `x`, `y`, `heading` (N, T), all others (N,)."""

    kind: npt.NDArray[np.uint8]
    moving: BoolArray
    length: FloatArray
    width: FloatArray
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    speed: FloatArray

    @classmethod
    def of(cls, obstacles: Obstacles) -> ObstacleColumns:
        """The same columns."""
        o = obstacles
        return cls(
            kind=o.kind, moving=o.moving, length=o.length, width=o.width, x=o.x, y=o.y, heading=o.heading, speed=o.speed
        )


class CarOnLines(NamedTuple):
    """A car among L lines: `lines` (L, n, COLUMNS), of which `points` (L,) rows are filled, its `offsets` (L,) from
    them (m), its pose (x, y, heading, curvature), its speed (m/s) and its body.
    """

    lines: FloatArray
    points: IntArray
    offsets: FloatArray
    pose: tuple[float, float, float, float]
    v: float
    body: Footprint


@inlined_kernel
def is_vulnerable(kind: int) -> bool:
    """Whether an object is a pedestrian or an animal: the car keeps farther from these."""
    return kind in VULNERABLE


@inlined_kernel
def is_near(around: ObstacleColumns, i: int, x: float, y: float) -> bool:
    """Whether object `i` could come near a place within its prediction."""
    far = _FAR + around.length[i] + _WITHIN_S * around.speed[i]
    return bool(elementary.hypot(around.x[i, 0] - x, around.y[i, 0] - y) < far)


@inlined_kernel
def can_meet(around: ObstacleColumns, i: int, x: float, y: float, top_speed: float) -> bool:
    """Whether a car that starts at a place and drives no faster than `top_speed` (m/s) ever sees object `i` within
    its foresight.
    """
    within = FORESIGHT + _BESIDE + around.length[i]
    for j in range(around.x.shape[1]):
        dx, dy = around.x[i, j] - x, around.y[i, j] - y
        if dx * dx + dy * dy < within * within:
            return True
        within += PREDICTION_STEP_S * top_speed
    return False


@inlined_kernel
def put_box(around: ObstacleColumns, i: int, j: int, box: FloatArray) -> None:
    """Fill a box (as in `footprint`) with object `i` at prediction step `j`."""
    heading = around.heading[i, j]
    sine, cosine = elementary.sin_cos(heading)
    box[0], box[1], box[2], box[3] = around.x[i, j], around.y[i, j], cosine, sine
    box[4], box[5] = 0.5 * around.length[i], 0.5 * around.width[i]
