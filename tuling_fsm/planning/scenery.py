"""The scene as the kernels see it: static boxes and moving boxes near the lines."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS, Obstacles, Scene
from tuling_fsm.planning.around import Around
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.movers import MoverGaps, Movers, gather_movers
from tuling_fsm.planning.solids import IntArray, Solids, gather_solids


class Scenery(NamedTuple):
    """What is around; `id` of solids and movers are rows of `obstacles`, to name them."""

    solids: Solids
    movers: Movers
    obstacles: Obstacles

    @classmethod
    def of(
        cls,
        scene: Scene,
        rows: FloatArray,
        points: IntArray,
        offsets: FloatArray,
        pose: tuple[float, float, float, float],
        body: Body,
        solid_gap: float,
        wanted: float,
        mover_gaps: MoverGaps,
        top_speed: float = math.inf,
    ) -> Scenery:
        """Collect what may matter on lines `rows` (L, n, COLUMNS) for a car at `pose`, `offsets` (L,) from them, that
        drives no faster than `top_speed` (m/s), comes no nearer than `solid_gap` (m) to static things and would rather
        keep `wanted` (m).
        """
        around = Around.of(scene.obstacles)
        solids = gather_solids(around, scene.static_segments, solid_gap, wanted, rows, points, offsets, pose, body)
        movers = gather_movers(around, mover_gaps, top_speed, rows, points, pose, body)
        return cls(solids, movers, scene.obstacles)


def moving_boxes(obstacles: Obstacles, rows: IntArray) -> FloatArray:
    """Objects as boxes (N, T, 6) at every prediction time."""
    boxes = np.empty((len(rows), PREDICTION_STEPS, 6))
    heading = obstacles.heading[rows]
    boxes[..., 0], boxes[..., 1] = obstacles.x[rows], obstacles.y[rows]
    boxes[..., 2], boxes[..., 3] = elementwise.cos(heading), elementwise.sin(heading)
    boxes[..., 4], boxes[..., 5] = 0.5 * obstacles.length[rows, None], 0.5 * obstacles.width[rows, None]
    return boxes
