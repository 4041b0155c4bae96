"""Into a slot at the roadside: quintic curves into every goal, a free-space search when all of them fail (TMP-1)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.request import FailedSearch, FreeSpace, Limit, Maneuver, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.curves import at_one_speed, free_curves
from tuling_fsm.planning.maneuvers.maneuver import ManeuverWorkspace, continue_maneuver, plan_maneuver
from tuling_fsm.planning.maneuvers.searches import fails_still
from tuling_fsm.planning.speed.stopping import comfortable_stop
from tuling_fsm.planning.start_state import StartState, as_measured

_NEXT_GOAL = 0.5
"""What a goal that is ranked one place lower costs: as much as half the car's greatest curvature."""


class PullOverCurve(NamedTuple):
    """A curve into a goal, and what speaks against it."""

    cost: float
    goal: Pose
    path: FloatArray


def plan_pull_over(
    request: PullOver,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: ManeuverWorkspace,
) -> PlanResult:
    """The plan into one of the goals; a motion that has been begun is driven to its end (USE-8)."""
    begun = None if previous is None else previous.maneuver
    if begun is not None and begun.goal in request.goals:
        result = continue_maneuver(begun, request, scene, start, derived, workspace.lanes)
        if result is not None:
            return result
    anew = as_measured(start, scene)
    arrived = next((goal for goal in request.goals if _at(anew.pose, goal, request)), None)
    if arrived is not None:
        return plan_maneuver(_free_space(request, arrived), scene, start, previous, derived, workspace)
    if previous is not None and previous.search is not None and abs(start.v) < HELD:
        return _search(request, scene, start, previous, derived, workspace)
    curve = min(_free_curves(request, scene, anew, derived), key=lambda each: each.cost, default=None)
    if curve is not None:
        motion = at_one_speed(curve.path, scene.stamp, request.speed_limit)
        result = continue_maneuver(Maneuver(curve.goal, motion), request, scene, anew, derived, workspace.lanes)
        if result is not None:
            return result
    if abs(start.v) > HELD:
        before = previous.trajectory if previous is not None and start.planned else None
        stop = comfortable_stop(scene, start, before, derived.vehicle, derived.parameters.speed)
        return PlanResult(True, stop, Limit(Reason.TARGET, detail="stops to search for a way into the slot"))
    return _search(request, scene, start, previous, derived, workspace)


def _free_curves(
    request: PullOver, scene: Scene, start: StartState, derived: DerivedParameters
) -> Iterator[PullOverCurve]:
    """Curves that the car can drive and that nothing stands in."""
    scene = replace(scene, static_segments=np.vstack((scene.static_segments, request.lines)))
    for rank, goal in enumerate(request.goals):
        for cost, path in free_curves(goal, scene, start, derived):
            yield PullOverCurve(cost + _NEXT_GOAL * rank, goal, path)


def _at(pose: Pose, goal: Pose, request: PullOver) -> bool:
    near = elementary.hypot(goal.x - pose.x, goal.y - pose.y) <= request.goal_tolerance
    return near and abs(wrap_angle(goal.heading - pose.heading)) <= request.goal_heading_tolerance


def _search(
    request: PullOver,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: ManeuverWorkspace,
) -> PlanResult:
    """Free-space searches in the order of the goals; that of a search or a motion under way comes first. While there is
    a search, no other one is made again that has found nothing.
    """
    begun = None if previous is None else _goal_begun(previous)
    goals = sorted(request.goals, key=lambda pose: pose != begun)
    under_way = previous is not None and previous.search is not None and begun in goals
    result = PlanResult(False, None, Limit(Reason.NO_PATH, detail="no goal"), Reason.NO_PATH)
    in_vain: tuple[FailedSearch, ...] = ()
    while goals:
        goal = goals.pop(0)
        wanted, last = _free_space(request, goal), previous
        if previous is not None and goal != begun:
            last = replace(previous, search=None)
            failed = fails_still(previous, wanted, scene, math.inf) if under_way else None
            if failed is not None:
                in_vain += (failed,)
                continue
        result = plan_maneuver(wanted, scene, start, last, derived, workspace)
        in_vain += result.in_vain
        if result.feasible or result.search is not None:
            break
    kept = () if previous is None else tuple(each for each in previous.in_vain if each.request.goal in goals)
    return replace(result, in_vain=in_vain + kept)


def _goal_begun(previous: PlanResult) -> Pose | None:
    """The goal of the search or of the motion that is under way."""
    if previous.search is not None:
        return previous.search.request.goal
    return None if previous.maneuver is None else previous.maneuver.goal


def _free_space(request: PullOver, goal: Pose) -> FreeSpace:
    return FreeSpace(
        goal,
        request.lines,
        walls=request.walls,
        speed_limit=request.speed_limit,
        allow_reverse=request.allow_reverse,
        goal_tolerance=request.goal_tolerance,
        goal_heading_tolerance=request.goal_heading_tolerance,
        max_expansions=request.max_expansions,
    )
