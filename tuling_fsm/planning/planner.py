"""The planner: one function for each kind of request."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.request import (
    FollowLanes,
    FreeSpace,
    Hold,
    LaneEnd,
    LaneLine,
    Limit,
    PlanningRequest,
    PlanResult,
    PullOver,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import PREDICTION_STEPS, Ego, Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.check import Breach, Violation, check
from tuling_fsm.planning.continuity import StartState, start_state
from tuling_fsm.planning.free_space import warm_up
from tuling_fsm.planning.hold import STANDS, comfortable_stop, stop_result
from tuling_fsm.planning.lanes import follow_lanes, rest_of
from tuling_fsm.planning.manoeuvre import plan_manoeuvre
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.pull_over import plan_pull_over
from tuling_fsm.planning.tools import Tools


class Planner:
    """Plans one tick. The result follows from the arguments alone; what is kept between calls is scratch space."""

    def __init__(self, vehicle: Vehicle, parameters: PlanningParameters) -> None:
        self._vehicle = vehicle
        self._parameters = parameters
        self._tools = Tools.of(vehicle, parameters)
        self._by_request: dict[type[Any], Callable[..., PlanResult]] = {
            Hold: self._hold,
            FollowLanes: self._follow_lanes,
            FreeSpace: self._free_space,
            PullOver: self._pull_over,
        }

    def plan(self, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        """The plan for a request; its trajectory starts at the scene's stamp.

        It goes on from the trajectory of `previous` while the car is close to that, else from where the car was
        measured. A result that is not feasible still carries a trajectory, which comes to a stop.

        Raises:
            KeyError: a request that is none of the union's members.
        """
        before = previous.trajectory if previous is not None else None
        start = start_state(scene, before, self._parameters.continuity)
        return self._by_request[type(request)](request, scene, start, previous)

    def checked(
        self, result: PlanResult, request: PlanningRequest, scene: Scene
    ) -> tuple[PlanResult, Violation | None]:
        """A plan and what the independent check has against it (SAF-2).

        Where the car would hit something on the way back to a plan that it is off, another one is made from where it
        was measured.
        """
        violation = self._violation(result, request, scene)
        if violation is not None and violation.breach is Breach.COLLISION:
            anew = self.plan(request, scene, None)
            if anew.feasible and self._violation(anew, request, scene) is None:
                return anew, None
        return result, violation

    def _violation(self, result: PlanResult, request: PlanningRequest, scene: Scene) -> Violation | None:
        if result.trajectory is None:
            return None
        return check(result.trajectory, scene, request, self._vehicle, self._parameters)

    def _hold(self, request: Hold, scene: Scene, start: StartState, previous: PlanResult | None) -> PlanResult:
        return stop_result(request, scene, start, previous, self._vehicle, self._parameters.speed)

    def _follow_lanes(
        self, request: FollowLanes, scene: Scene, start: StartState, previous: PlanResult | None
    ) -> PlanResult:
        rolls_back = start.v < -STANDS
        result = None if rolls_back else follow_lanes(request, scene, start, previous, self._tools)
        if result is not None:
            return result
        if not rolls_back and (rest := rest_of(previous, scene, start, self._tools)) is not None:
            return rest
        before = previous.trajectory if previous is not None and start.planned else None
        trajectory = comfortable_stop(scene, start, before, self._vehicle, self._parameters.speed)
        if rolls_back:
            return PlanResult(True, trajectory, Limit(Reason.GEAR_CHANGE))
        return PlanResult(False, trajectory, Limit(Reason.NO_PATH, detail="no lane to join"), Reason.NO_PATH)

    def _free_space(
        self, request: FreeSpace, scene: Scene, start: StartState, previous: PlanResult | None
    ) -> PlanResult:
        return plan_manoeuvre(request, scene, start, previous, self._tools)

    def _pull_over(self, request: PullOver, scene: Scene, start: StartState, previous: PlanResult | None) -> PlanResult:
        return plan_pull_over(request, scene, start, previous, self._tools)

    def warm_up(self) -> None:
        """Compile and load every kernel, so that no tick has to; those for free space last."""
        scene = _sample_scene()
        lanes = tuple(_sample_lane(shift) for shift in (1, 0))
        wall = StopWall(60.0, -5.0, 60.0, 5.0, Reason.RED_LIGHT)
        result = self.plan(FollowLanes(lanes, (wall,), 8.0), scene, None)
        slower = tuple(replace(lane, limit=lane.left) for lane in lanes)
        self.checked(result, FollowLanes(slower, (wall,), 8.0), scene)
        later = replace(scene, stamp=0.1, ego=scene.ego._replace(pose=Pose(0.5, 0.0, 0.0)))
        self.plan(FollowLanes(lanes, (), 8.0, keep_lane=True, goal_s=70.0), later, result)
        for emergency in (False, True):
            self.plan(Hold(Reason.NONE, emergency), later, result)
        warm_up(self._vehicle, self._parameters.free_space)
        standing = replace(scene, ego=scene.ego._replace(v=0.0))
        for goal in (Pose(12.0, 0.5, 0.0), Pose(-6.0, 0.0, 0.0)):
            self.plan(FreeSpace(goal, walls=(wall,)), standing, None)
        around = replace(scene.obstacles, heading=scene.obstacles.heading + math.pi)
        self.plan(FreeSpace(Pose(12.0, 0.5, 0.0)), replace(standing, obstacles=around), None)
        self.plan(PullOver((Pose(30.0, -6.0, 0.0),)), scene, None)


def _sample_lane(shift: int) -> LaneLine:
    center = Polyline.of(np.column_stack((np.linspace(-10.0, 80.0, 181), np.full(181, 3.5 * shift))))
    half = np.full(len(center.s), 1.75)
    return LaneLine(
        center, half, half, half + 3.5 * (shift < 1), half + 3.5 * shift, half * 5.0, shift, LaneEnd.HORIZON, 0.0
    )


def _sample_scene() -> Scene:
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
