"""The scene as the kernels see it: static boxes and moving boxes near the lines, and what is passed closely."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.scene import PREDICTION_STEPS, Obstacles, Scene
from tuling_fsm.planning.obstacles.beside import ObstaclesBeside, PassingLimits, gather_beside
from tuling_fsm.planning.obstacles.boxes import CarOnLines, ObstacleColumns
from tuling_fsm.planning.obstacles.moving import MovingObstacleGaps, MovingObstacles, gather_moving_obstacles
from tuling_fsm.planning.obstacles.static import BAND, StaticObstacles, gather_static_obstacles


class Surroundings(NamedTuple):
    """What is around; `id` of static and moving obstacles and `row` of those `beside` are rows of `obstacles`, to name
    them.
    """

    static: StaticObstacles
    moving: MovingObstacles
    beside: ObstaclesBeside
    obstacles: Obstacles

    @classmethod
    def of(
        cls,
        scene: Scene,
        car: CarOnLines,
        solid_gap: float,
        wanted: float,
        moving_gaps: MovingObstacleGaps,
        passing: PassingLimits,
        top_speed: float = math.inf,
    ) -> Surroundings:
        """Collect what may matter on the lines for a car that drives no faster than `top_speed` (m/s), comes no nearer
        than `solid_gap` (m) to static things and would rather keep `wanted` (m).
        """
        around = ObstacleColumns.of(scene.obstacles)
        static = gather_static_obstacles(around, scene.static_segments, solid_gap, wanted, car, BAND)
        moving = gather_moving_obstacles(around, moving_gaps.in_noise(scene.position_noise), top_speed, car)
        return cls(static, moving, gather_beside(around, static, moving, passing, car), scene.obstacles)


def moving_boxes(obstacles: Obstacles, rows: IntArray) -> FloatArray:
    """Objects as boxes (N, T, 6) at every prediction time."""
    boxes = np.empty((len(rows), PREDICTION_STEPS, 6))
    heading = obstacles.heading[rows]
    boxes[..., 0], boxes[..., 1] = obstacles.x[rows], obstacles.y[rows]
    boxes[..., 3], boxes[..., 2] = elementwise.sin_cos(heading)
    boxes[..., 4], boxes[..., 5] = 0.5 * obstacles.length[rows, None], 0.5 * obstacles.width[rows, None]
    return boxes
