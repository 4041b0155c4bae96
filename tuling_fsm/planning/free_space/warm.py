"""Compiles and loads everything before the first request."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.request import FreeSpace, Reason, StopWall
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.motion import limits_of
from tuling_fsm.planning.free_space.obstacles import box_outlines
from tuling_fsm.planning.free_space.parameters import FreeSpaceParameters
from tuling_fsm.planning.free_space.planner import Roll, lay_motion, plan_free_space, timed_rows
from tuling_fsm.planning.free_space.problem import body_of, build_problem
from tuling_fsm.planning.free_space.solve import Path, soften

START, GOAL = Pose(12.0, 3.5, 0.1), Pose(0.0, 0.0, 0.0)


def warm_up(vehicle: Vehicle | None = None, parameters: FreeSpaceParameters | None = None) -> None:
    """Plans a narrow parallel slot, standing and rolling: compiles every kernel and makes the cost table."""
    vehicle = vehicle or Vehicle()
    wall = StopWall(3.0, 1.5, 3.0, 6.0, Reason.RED_LIGHT)
    request = FreeSpace(GOAL, walls=(wall,), max_expansions=3000)
    for v in (0.0, 0.5):
        scene = Scene(0.0, Ego(START, v, 0.0, 0.0), static_segments=_slot(vehicle))
        plan_free_space(request, scene, vehicle, parameters)


def warm_up_motion(vehicle: Vehicle | None = None, parameters: FreeSpaceParameters | None = None) -> None:
    """Shortens, smooths and times a path that was not searched for: what comes after the search."""
    vehicle, parameters = vehicle or Vehicle(), parameters or FreeSpaceParameters()
    problem = build_problem(START, [GOAL], _slot(vehicle), vehicle, parameters, 0, True)
    turns, lengths = np.array((0.0, 1.0, 0.0, -1.0, 0.0)), np.array((2.0, -2.0, -3.0, -2.0, 1.0))
    path = Path(turns, lengths, 20.0, body_of(vehicle, parameters.least_clearance), 0)
    path = soften(problem, path, parameters.curve_cost)
    roll = Roll(0.0, 0.0, 0.0)
    motion = lay_motion(problem, path, vehicle, parameters, roll)
    timed_rows(problem, motion, limits_of(vehicle, parameters, vehicle.max_speed), parameters, roll)


def _slot(vehicle: Vehicle) -> FloatArray:
    """Edges (M, 4) of two cars and the kerb around a slot at the origin."""
    length, width = np.array((6.0, 6.0, 30.0)), np.array((2.0, 2.0, 0.4))
    gap = vehicle.length + 0.9
    ahead = 0.5 * vehicle.length - vehicle.rear_overhang
    x, y = np.array((ahead + 0.5 * gap + 3.0, ahead - 0.5 * gap - 3.0, 0.0)), np.array((0.0, 0.0, -1.7))
    return box_outlines(x, y, np.zeros(3), length, width)
