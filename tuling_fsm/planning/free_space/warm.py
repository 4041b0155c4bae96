"""Compiles and loads everything before the first request."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Reason, StopWall
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.obstacles import box_outlines
from tuling_fsm.planning.free_space.parameters import FreeSpaceParameters
from tuling_fsm.planning.free_space.planner import plan_free_space


def warm_up(vehicle: Vehicle | None = None, parameters: FreeSpaceParameters | None = None) -> None:
    """Plans a narrow parallel slot, standing and rolling: compiles every kernel and makes the cost table."""
    vehicle = vehicle or Vehicle()
    length, width = np.array((6.0, 6.0, 30.0)), np.array((2.0, 2.0, 0.4))
    gap = vehicle.length + 0.9
    ahead = 0.5 * vehicle.length - vehicle.rear_overhang
    x, y = np.array((ahead + 0.5 * gap + 3.0, ahead - 0.5 * gap - 3.0, 0.0)), np.array((0.0, 0.0, -1.7))
    segments = box_outlines(x, y, np.zeros(3), length, width)
    wall = StopWall(3.0, 1.5, 3.0, 6.0, Reason.RED_LIGHT)
    request = FreeSpace(Pose(0.0, 0.0, 0.0), walls=(wall,), max_expansions=3000)
    for v in (0.0, 0.5):
        scene = Scene(0.0, Ego(Pose(12.0, 3.5, 0.1), v, 0.0, 0.0), static_segments=segments)
        plan_free_space(request, scene, vehicle, parameters)
