"""Made-up scenes on every way through the planner, so that all kernels are compiled before the first real tick."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tuling_fsm.core.geometry import Polyline, Pose
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
from tuling_fsm.planning.planner import Planner

WALL = StopWall(60.0, -5.0, 60.0, 5.0, Reason.RED_LIGHT)


def rehearse(planner: Planner) -> None:
    """All of it; what a process has compiled before is only loaded."""
    rehearse_lanes(planner)
    rehearse_stops(planner)
    rehearse_manoeuvres(planner)


def rehearse_lanes(planner: Planner) -> PlanResult:
    """Two lanes with a parked car, a leader, and one who crosses; returns the plan."""
    scene, lanes = _scene(), _lanes()
    result = planner.plan(FollowLanes(lanes, (WALL,), 8.0), scene, None)
    planner.plan(FollowLanes(lanes, (), 8.0, keep_lane=True, goal_s=70.0), _later(scene), result)
    return result


def rehearse_stops(planner: Planner) -> None:
    """The independent check, and stops at ease and in an emergency."""
    scene = _scene()
    slower = tuple(replace(lane, limit=lane.left) for lane in _lanes())
    begun = planner.plan(Hold(Reason.NONE), scene, None)
    planner.checked(begun, FollowLanes(slower, (WALL,), 8.0), scene)
    for emergency in (False, True):
        planner.plan(Hold(Reason.NONE, emergency), _later(scene), begun)


def rehearse_manoeuvres(planner: Planner) -> None:
    """Forward and back from a standstill, with others on the way, and into a bay."""
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
        center, half, half, half + 3.5 * (shift < 1), half + 3.5 * shift, half * 5.0, shift, LaneEnd.HORIZON, 0.0
    )


def _scene() -> Scene:
    """A parked car, a leader, and one who crosses."""
    t = 0.2 * np.arange(PREDICTION_STEPS)
    x = np.stack((np.full(len(t), 40.0), 25.0 + 3.0 * t, np.full(len(t), 30.0)))
    y = np.stack((np.full(len(t), -1.5), np.zeros(len(t)), -6.0 + 1.5 * t))
    heading = np.stack((np.zeros(len(t)), np.zeros(len(t)), np.full(len(t), 0.5 * math.pi)))
    around = Obstacles(
        np.arange(3, dtype=np.uint32), np.array((1, 1, 6), np.uint8), np.array((False, True, True)),
        np.array((4.5, 4.5, 0.5)), np.array((1.9, 1.9, 0.5)), x, y, heading, np.array((0.0, 3.0, 1.5)),
    )  # fmt: skip
    edges = np.array(((0.0, 9.0, 80.0, 9.0),))
    return Scene(0.0, Ego(Pose(0.0, 0.0, 0.0), 5.0, 0.0, 0.0), around, edges)
