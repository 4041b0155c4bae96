"""Made-up scenes on every way through the planner, so that all kernels are compiled before the first real tick."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.request import (
    FollowLanes,
    FreeSpace,
    Hold,
    LaneEnd,
    LaneLine,
    PlanResult,
    PullOver,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import PREDICTION_STEPS, Ego, Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.obstacles import box_outlines
from tuling_fsm.planning.free_space.planner import RollingStart, plan_free_space, timed_motion, timed_rows
from tuling_fsm.planning.free_space.problem import body_of, build_problem
from tuling_fsm.planning.free_space.solver import ArcPath, soften
from tuling_fsm.planning.free_space.speed_profile import limits_of
from tuling_fsm.planning.parameters import FreeSpaceParameters
from tuling_fsm.planning.planner import Planner

START, GOAL = Pose(12.0, 3.5, 0.1), Pose(0.0, 0.0, 0.0)


@cache
def warm_up_free_space(vehicle: Vehicle | None = None, parameters: FreeSpaceParameters | None = None) -> None:
    """Plans into a narrow parallel slot, standing and rolling, and out of one: compiles every kernel and makes the cost
    table. A process that has done so has them.
    """
    vehicle = vehicle or Vehicle()
    wall = StopWall(3.0, 6.0, 3.0, 1.5, Reason.RED_LIGHT)
    request = FreeSpace(GOAL, walls=(wall,), max_expansions=3000)
    for v in (0.0, 0.5):
        scene = Scene(0.0, Ego(START, v, 0.0, 0.0), static_segments=_slot(vehicle))
        plan_free_space(request, scene, vehicle, parameters)
    scene = Scene(0.0, Ego(GOAL, 0.0, 0.0, 0.0), static_segments=_slot(vehicle, room=2.0))
    plan_free_space(FreeSpace(Pose(20.0, 3.0, 0.0)), scene, vehicle, parameters)


def warm_up_free_space_motion(vehicle: Vehicle | None = None, parameters: FreeSpaceParameters | None = None) -> None:
    """Shortens, smooths and times a path that was not searched for: what comes after the search."""
    vehicle, parameters = vehicle or Vehicle(), parameters or FreeSpaceParameters()
    problem = build_problem(START, [GOAL], _slot(vehicle), vehicle, parameters, 0, True)
    turns, lengths = np.array((0.0, 1.0, 0.0, -1.0, 0.0)), np.array((2.0, -2.0, -3.0, -2.0, 1.0))
    path = ArcPath(turns, lengths, 20.0, body_of(vehicle, parameters.least_clearance), 0)
    path = soften(problem, path, parameters.curve_cost)
    roll = RollingStart(0.0, 0.0, 0.0)
    motion = timed_motion(problem, path, vehicle, parameters, roll)
    timed_rows(problem, motion, limits_of(vehicle, parameters, vehicle.max_speed), parameters, roll)


def _slot(vehicle: Vehicle, room: float = 0.9) -> FloatArray:
    """Edges (M, 4) of two cars and the kerb around a slot at the origin, longer than the car by `room` (m)."""
    length, width = np.array((6.0, 6.0, 30.0)), np.array((2.0, 2.0, 0.4))
    gap = vehicle.length + room
    ahead = 0.5 * vehicle.length - vehicle.rear_overhang
    x, y = np.array((ahead + 0.5 * gap + 3.0, ahead - 0.5 * gap - 3.0, 0.0)), np.array((0.0, 0.0, -1.7))
    return box_outlines(x, y, np.zeros(3), length, width)


WALL = StopWall(60.0, 5.0, 60.0, -5.0, Reason.RED_LIGHT)


def warm_up_planner(planner: Planner) -> None:
    """All of it; what a process has compiled before is only loaded."""
    warm_up_lanes(planner)
    warm_up_stops(planner)
    warm_up_maneuvers(planner)


def warm_up_lanes(planner: Planner) -> PlanResult:
    """Two lanes with a parked car, a leader, and a crossing pedestrian; returns the plan."""
    scene, lanes = _scene(), _lanes()
    result = planner.plan(FollowLanes(lanes, (WALL,), 8.0), scene, None)
    planner.plan(FollowLanes(lanes, (), 8.0, keep_lane=True, goal_s=70.0), _later(scene), result)
    return result


def warm_up_stops(planner: Planner) -> None:
    """The independent check, and stops at ease and in an emergency."""
    scene = _scene()
    slower = tuple(replace(lane, limit=lane.left) for lane in _lanes())
    begun = planner.plan(Hold(Reason.NONE), scene, None)
    line = ClosedLine(WALL.x0, WALL.y0, WALL.x1, WALL.y1, heading=0.0, decel=6.0)
    planner.checked(begun, Hold(Reason.NONE), scene, Regulations(slower, (line,), 8.0))
    planner.checked(replace(begun, feasible=False), Hold(Reason.NONE), scene, Regulations(slower, (line,), 8.0))
    for emergency in (False, True):
        planner.plan(Hold(Reason.NONE, emergency), _later(scene), begun)


def warm_up_maneuvers(planner: Planner) -> None:
    """Forward and back from a standstill, with vehicles on the way, and into a bay."""
    scene = _scene()
    standing = replace(scene, ego=scene.ego._replace(v=0.0))
    for goal in (Pose(12.0, 0.5, 0.0), Pose(-6.0, 0.0, 0.0)):
        planner.plan(FreeSpace(goal, walls=(WALL,)), standing, None)
    around = replace(scene.obstacles, heading=scene.obstacles.heading + math.pi)
    planner.plan(FreeSpace(Pose(12.0, 0.5, 0.0)), replace(standing, obstacles=around), None)
    planner.plan(PullOver((Pose(30.0, -6.0, 0.0),)), scene, None)


def _later(scene: Scene) -> Scene:
    return replace(scene, stamp=0.1, ego=scene.ego._replace(pose=Pose(0.5, 0.0, 0.0)))


def _lanes() -> tuple[LaneLine, ...]:
    return tuple(_lane(shift) for shift in (1, 0))


def _lane(shift: int) -> LaneLine:
    center = Polyline.of(np.column_stack((np.linspace(-10.0, 80.0, 181), np.full(181, 3.5 * shift))))
    half = np.full(len(center.s), 1.75)
    return LaneLine(
        center, left=half, right=half, left_free=half + 3.5 * (shift < 1), right_free=half + 3.5 * shift,
        limit=half * 5.0, left_road=half + 3.5, right_road=half + 3.5, shift=shift, end=LaneEnd.HORIZON, route_s0=0.0,
    )  # fmt: skip


def _scene() -> Scene:
    """A parked car, a leader, and a crossing pedestrian."""
    t = 0.2 * np.arange(PREDICTION_STEPS)
    x = np.stack((np.full(len(t), 40.0), 25.0 + 3.0 * t, np.full(len(t), 30.0)))
    y = np.stack((np.full(len(t), -1.5), np.zeros(len(t)), -6.0 + 1.5 * t))
    heading = np.stack((np.zeros(len(t)), np.zeros(len(t)), np.full(len(t), 0.5 * math.pi)))
    around = Obstacles(
        id=np.arange(3, dtype=np.uint32), kind=np.array((1, 1, 6), np.uint8), moving=np.array((False, True, True)),
        length=np.array((4.5, 4.5, 0.5)), width=np.array((1.9, 1.9, 0.5)), x=x, y=y, heading=heading,
        speed=np.array((0.0, 3.0, 1.5)),
    )  # fmt: skip
    edges = np.array(((0.0, 9.0, 80.0, 9.0),))
    return Scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 5.0, 0.0, 0.0), around, edges)
