"""The planner: one function for each kind of request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.request import (
    FollowLanes,
    FreeSpace,
    Hold,
    Limit,
    PlanningRequest,
    PlanResult,
    PullOver,
    Reason,
)
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.solver import new_tree
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.lane_planner import follow_lanes, rest_of_plan
from tuling_fsm.planning.lanes.workspace import LaneWorkspace
from tuling_fsm.planning.maneuvers.maneuver import ManeuverWorkspace, plan_maneuver
from tuling_fsm.planning.maneuvers.pull_over import plan_pull_over
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import Violation, ViolationKind, check
from tuling_fsm.planning.speed.stopping import comfortable_stop, stop_result
from tuling_fsm.planning.start_state import StartState, start_state

_OFF_PLAN = (ViolationKind.START, ViolationKind.COLLISION)
_HITS = (ViolationKind.COLLISION, ViolationKind.PREDICTED_COLLISION)


class Planner:
    """Plans one tick. The result follows from the arguments alone; what is kept between calls makes it faster.

    A planner belongs to one thread at a time; several planners share nothing.
    """

    def __init__(self, vehicle: Vehicle, parameters: PlanningParameters) -> None:
        self._vehicle = vehicle
        self._parameters = parameters
        self._derived = DerivedParameters.of(vehicle, parameters)
        self._workspace = ManeuverWorkspace(LaneWorkspace(self._derived.rows), new_tree())

    def plan(self, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        """The plan for a request; its trajectory starts at the scene's stamp.

        It continues the trajectory of `previous` while the car is close to that, else from where the car was
        measured. A result that is not feasible still carries a trajectory, which comes to a stop.
        """
        before = previous.trajectory if previous is not None else None
        start = start_state(scene, before, self._parameters.continuity)
        match request:
            case Hold():
                return self._hold(request, scene, start, previous)
            case FollowLanes():
                return self._follow_lanes(request, scene, start, previous)
            case FreeSpace():
                return plan_maneuver(request, scene, start, previous, self._derived, self._workspace)
            case PullOver():
                return plan_pull_over(request, scene, start, previous, self._derived, self._workspace)
            case _:
                assert_never(request)

    def checked(
        self, result: PlanResult, request: PlanningRequest, scene: Scene, regulations: Regulations
    ) -> tuple[PlanResult, Violation | None]:
        """A plan and what the independent check has against it (SAF-2), whether it is feasible or not.

        Another one is made from where the car was measured, where it does not begin at the car or the car would hit
        something on the way back to it (SAF-5), and in its lane, where it would hit something along the lanes.
        """
        violation = self._violation(result, request, scene, regulations)
        if violation is None:
            return result, None
        for instead in _instead_of(request, violation.breach):
            anew = self.plan(instead, scene, _without_motion(result))
            better = anew.feasible or not result.feasible or violation.breach is ViolationKind.START
            if better and anew.trajectory is not None and self._violation(anew, instead, scene, regulations) is None:
                return anew, None
        return result, violation

    def _violation(
        self, result: PlanResult, request: PlanningRequest, scene: Scene, regulations: Regulations
    ) -> Violation | None:
        if result.trajectory is None:
            return None
        as_stop = isinstance(request, Hold) or not result.feasible
        return check(result.trajectory, scene, regulations, self._vehicle, self._parameters, as_stop)

    def _hold(self, request: Hold, scene: Scene, start: StartState, previous: PlanResult | None) -> PlanResult:
        return stop_result(request, scene, start, previous, self._vehicle, self._parameters.speed)

    def _follow_lanes(
        self, request: FollowLanes, scene: Scene, start: StartState, previous: PlanResult | None
    ) -> PlanResult:
        rolls_back = start.v < -HELD
        if not rolls_back:
            result = follow_lanes(request, scene, start, previous, self._derived, self._workspace.lanes)
            result = result or rest_of_plan(previous, scene, start, self._derived)
            if result is not None:
                return result
        before = previous.trajectory if previous is not None and start.planned else None
        trajectory = comfortable_stop(scene, start, before, self._vehicle, self._parameters.speed)
        if rolls_back:
            return PlanResult(True, trajectory, Limit(Reason.GEAR_CHANGE))
        return PlanResult(False, trajectory, Limit(Reason.NO_PATH, detail="no lane to join"), Reason.NO_PATH)


def _instead_of(request: PlanningRequest, breach: ViolationKind) -> Iterator[PlanningRequest]:
    """What a plan is made for anew where the one for this request may not be sent."""
    if breach in _OFF_PLAN:
        yield request
    if breach in _HITS and isinstance(request, FollowLanes) and not request.keep_lane:
        yield replace(request, keep_lane=True)


def _without_motion(result: PlanResult) -> PlanResult | None:
    """What is left to remember of a plan that is not gone on with: what was searched for in vain."""
    return replace(result, trajectory=None, maneuver=None, search=None) if result.in_vain else None
