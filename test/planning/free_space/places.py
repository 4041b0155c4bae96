"""Places to maneuver in, around a goal at the origin unless said otherwise."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanResult
from tuling_fsm.core.scene import PREDICTION_STEPS, Ego, Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space import FreeSpaceParameters, plan_free_space
from tuling_fsm.planning.free_space.obstacles import box_outlines

CAR = Vehicle()
GOAL = Pose(0.0, 0.0, 0.0)
BESIDE = Pose(9.0, -8.0, math.pi / 2.0)
LANE = Pose(8.0, 3.2, 0.0)


def boxes(*rows: tuple[float, float, float, float, float]) -> FloatArray:
    """Outlines of boxes x, y, heading, length, width."""
    x, y, heading, length, width = np.array(rows, dtype=np.float64).reshape(-1, 5).T
    return box_outlines(x, y, heading, length, width)


def slot_across() -> FloatArray:
    """A slot between two parked cars, as wide as they leave it: 0.53 m to each side."""
    return boxes((1.4, 2.5, 0.0, 4.8, 2.0), (1.4, -2.5, 0.0, 4.8, 2.0), (5.0, 0.0, 0.0, 1.0, 9.0))


def slot_along(gap: float) -> FloatArray:
    """A slot at a kerb between two parked cars that leaves `gap` (m) more than the car's length."""
    ahead = 0.5 * CAR.length - CAR.rear_overhang
    half = 0.5 * (CAR.length + gap) + 2.4
    return boxes((ahead + half, 0.0, 0.0, 4.8, 2.0), (ahead - half, 0.0, 0.0, 4.8, 2.0), (0.0, -1.6, 0.0, 30.0, 0.2))


def scene(pose: Pose, segments: FloatArray | None = None, v: float = 0.0, curvature: float = 0.0) -> Scene:
    solid = np.zeros((0, 4)) if segments is None else segments
    return Scene(5.0, Ego(pose, v, 0.0, curvature), static_segments=solid)


def with_object(base: Scene, pose: Pose, moving: bool, speed: float) -> Scene:
    """The scene with one object of the size of a car, its centre at a pose."""
    one = np.ones(1)
    track = np.ones((1, PREDICTION_STEPS))
    dx = 0.2 * speed * np.arange(PREDICTION_STEPS)
    objects = Obstacles(
        id=np.array((9,), np.uint32),
        kind=np.array((1,), np.uint8),
        moving=np.array((moving,)),
        length=4.6 * one,
        width=1.9 * one,
        x=track * pose.x + dx * math.cos(pose.heading),
        y=track * pose.y + dx * math.sin(pose.heading),
        heading=track * pose.heading,
        speed=speed * one,
    )
    return Scene(base.stamp, base.ego, objects, base.static_segments)


def plan(where: Scene, request: FreeSpace | None = None, parameters: FreeSpaceParameters | None = None) -> PlanResult:
    return plan_free_space(request or FreeSpace(GOAL), where, CAR, parameters)
