"""The scene as the kernels see it: static boxes and moving boxes near the lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS, Obstacles, Scene
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.movers import Movers, gather_movers
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.rss import Rss, lateral_distance
from tuling_fsm.planning.solids import IntArray, Solids, boxes_of_segments, gather_solids
from tuling_fsm.world.inputs import Kind

WALKERS = (int(Kind.PEDESTRIAN), int(Kind.ANIMAL))
_FAR = 100.0
_WALKS = np.isin(np.arange(256), WALKERS)
_WALKING = 0.3
"""A pedestrian slower than this (m/s) stands, and may be passed as closely as a vehicle."""
_SEGMENT = -1
"""Id of static edges, which have none."""


class Scenery(NamedTuple):
    """What is around; `solid_rows`/`mover_rows` are rows of `Obstacles` (-1 for static edges), to name them."""

    body: Body
    solids: Solids
    movers: Movers
    mover_rows: IntArray
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
        parameters: PlanningParameters,
    ) -> Scenery:
        """Collect what may matter on lines `rows` (L, n, COLUMNS) for a car at `pose`, `offsets` (L,) from them."""
        obstacles, clearance = scene.obstacles, parameters.clearance
        near = _near(obstacles, pose)
        static = np.flatnonzero(near & ~obstacles.moving)
        boxes, ids = static_boxes(scene, static)
        solids = gather_solids(boxes, ids, solid_gap, clearance.wanted, rows, points, offsets, pose, body)
        moving = np.flatnonzero(near & obstacles.moving)
        walks = _WALKS[obstacles.kind[moving]]
        speeds = obstacles.speed[moving]
        beside = max(clearance.mover, lateral_distance(0.0, 0.0, Rss.of(parameters.rss)))
        gaps = np.where(walks & (speeds > _WALKING), clearance.person, beside)
        keeps = np.full(len(moving), parameters.speed.crossing_gap)
        boxes = moving_boxes(obstacles, moving)
        movers = gather_movers(boxes, moving, speeds, gaps, keeps, rows, points, pose, body)
        return cls(body, solids, movers, moving, obstacles)


def _near(obstacles: Obstacles, pose: tuple[float, float, float, float]) -> npt.NDArray[np.bool_]:
    """Objects (N,) that could come near the lines within their prediction."""
    distance = np.hypot(obstacles.x[:, 0] - pose[0], obstacles.y[:, 0] - pose[1])
    return np.asarray(distance < _FAR + obstacles.length + 6.0 * obstacles.speed, dtype=np.bool_)


def static_boxes(scene: Scene, rows: IntArray) -> tuple[FloatArray, IntArray]:
    """Static objects (given rows of the obstacles) and edges as boxes (M, 6), and the rows they come from."""
    if len(rows) == 0 and len(scene.static_segments) == 0:
        return np.empty((0, 6)), np.empty(0, np.int64)
    edges = boxes_of_segments(scene.static_segments)
    boxes = np.concatenate((moving_boxes(scene.obstacles, rows)[:, 0], edges))
    return boxes, np.concatenate((rows, np.full(len(edges), _SEGMENT, np.int64)))


def moving_boxes(obstacles: Obstacles, rows: IntArray) -> FloatArray:
    """Objects as boxes (N, T, 6) at every prediction time."""
    boxes = np.empty((len(rows), PREDICTION_STEPS, 6))
    heading = obstacles.heading[rows]
    boxes[..., 0], boxes[..., 1] = obstacles.x[rows], obstacles.y[rows]
    boxes[..., 2], boxes[..., 3] = np.cos(heading), np.sin(heading)
    boxes[..., 4], boxes[..., 5] = 0.5 * obstacles.length[rows, None], 0.5 * obstacles.width[rows, None]
    return boxes
