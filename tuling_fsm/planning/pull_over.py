"""Into a slot at the roadside: quintic curves into every goal, a free-space search when all of them fail (TMP-1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose, wrap_angle
from tuling_fsm.core.request import FreeSpace, Limit, Manoeuvre, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.continuity import StartState, as_measured
from tuling_fsm.planning.hold import STANDS, comfortable_stop
from tuling_fsm.planning.laws import Drive
from tuling_fsm.planning.manoeuvre import go_on, plan_manoeuvre
from tuling_fsm.planning.paths import PHEADING, PKAPPA, PROOM, PS, PX, PY
from tuling_fsm.planning.quintic_curve import quintic_curve, straight
from tuling_fsm.planning.solids import blocked_by_solids
from tuling_fsm.planning.stretch import among
from tuling_fsm.planning.tools import Tools

_STRETCHES = (1.0, 0.8, 1.3, 0.6, 1.6)
"""Tangents of the curves that are tried, in distances to the goal."""
_LEADS = (0.0, 0.3, 0.5, 0.65, 0.8)
"""How much of the way ahead is driven straight on before the curve, past what stands in the bays before."""
_STRAIGHT = 0.005
"""A car on a path of less curvature (1/m) drives straight on."""
_SPACING = 0.15
_SHORTEST = 2.0
"""Curves are for goals at least this far ahead, m."""
_NEXT_GOAL = 0.5
"""What a goal that is ranked one place lower costs: as much as half the car's greatest curvature."""
_EASE = 0.7
"""Share of comfortable braking on which a curve may count: braking has to set in first."""
_SLOWEST = 1.0
"""The wheels must be able to follow a curve at this speed, m/s."""


class Curve(NamedTuple):
    """A curve into a goal, and what speaks against it."""

    cost: float
    goal: Pose
    path: FloatArray


def plan_pull_over(
    request: PullOver, scene: Scene, start: StartState, previous: PlanResult | None, tools: Tools
) -> PlanResult:
    """The plan into one of the goals; a motion that has been begun is driven to its end (USE-8)."""
    begun = None if previous is None else previous.manoeuvre
    if begun is not None and begun.goal in request.goals:
        result = go_on(begun, request, scene, start, tools)
        if result is not None:
            return result
    anew = as_measured(start, scene)
    arrived = next((goal for goal in request.goals if _at(anew.pose, goal, request)), None)
    if arrived is not None:
        return plan_manoeuvre(_free_space(request, arrived), scene, start, previous, tools)
    curve = min(_free_curves(request, scene, anew, tools), key=lambda each: each.cost, default=None)
    if curve is not None:
        result = go_on(
            Manoeuvre(curve.goal, _motion(curve.path, scene.stamp, request.speed_limit)), request, scene, anew, tools
        )
        if result is not None:
            return result
    if abs(start.v) > STANDS:
        before = previous.trajectory if previous is not None and start.planned else None
        stop = comfortable_stop(scene, start, before, tools.vehicle, tools.parameters.speed)
        return PlanResult(True, stop, Limit(Reason.TARGET, detail="stops to search for a way into the slot"))
    return _search(request, scene, start, previous, tools)


def _free_curves(request: PullOver, scene: Scene, start: StartState, tools: Tools) -> Iterator[Curve]:
    """Curves that the car can drive and that nothing stands in."""
    if start.v < 0.0:
        return
    scene = replace(scene, static_segments=np.vstack((scene.static_segments, request.lines)))
    for rank, goal in enumerate(request.goals):
        for path in _curves(start, goal):
            if not drivable(path, start.v, tools.drive, tools.vehicle.max_steer):
                continue
            laid, scenery = among(path, scene, tools.body, tools)
            wanted = tools.parameters.clearance.wanted
            _, by = blocked_by_solids(laid, scenery.solids, tools.body, wanted)
            if by < 0:
                bend = float(np.abs(path[:, PKAPPA]).max()) / tools.vehicle.max_curvature
                tight = 1.0 - float(path[:, PROOM].min()) / wanted
                yield Curve(bend + tight + _NEXT_GOAL * rank, goal, path)


def _at(pose: Pose, goal: Pose, request: PullOver) -> bool:
    near = elementary.hypot(goal.x - pose.x, goal.y - pose.y) <= request.goal_tolerance
    return near and abs(wrap_angle(goal.heading - pose.heading)) <= request.goal_heading_tolerance


def _curves(start: StartState, goal: Pose) -> Iterator[FloatArray]:
    """Curves into a goal ahead, begun now or later."""
    pose = start.pose
    dx, dy = goal.x - pose.x, goal.y - pose.y
    cos, sin = elementary.cos(pose.heading), elementary.sin(pose.heading)
    along = dx * cos + dy * sin
    for share in _LEADS if abs(start.curvature) < _STRAIGHT else _LEADS[:1]:
        lead = share * along
        begin = Pose(pose.x + lead * cos, pose.y + lead * sin, pose.heading)
        if along - lead < max(_SHORTEST, 0.7 * elementary.hypot(goal.x - begin.x, goal.y - begin.y)):
            return
        for stretch in _STRETCHES:
            curve = quintic_curve(begin, start.curvature, goal, stretch, _SPACING)
            if lead > 0.0:
                curve[:, PS] += lead
                curve = np.concatenate((straight(pose, lead, _SPACING), curve))
            yield curve


def drivable(path: FloatArray, v: float, drive: Drive, max_steer: float) -> bool:
    """Whether the car, at `v` (m/s) at its start, can follow a path (n, PATH) and stop at its end, both at ease."""
    steer = elementwise.arctan(drive.wheelbase * path[:, PKAPPA])
    change = np.abs(np.diff(steer)) / np.maximum(np.diff(path[:, PS]), 1e-6)
    least = np.sqrt(np.maximum(v * v - 2.0 * _EASE * drive.decel * path[:, PS], 0.0))
    follows = bool(np.all(change * np.maximum(least[:-1], _SLOWEST) <= drive.steer_rate))
    return follows and float(np.abs(steer).max()) <= max_steer and float(least[-1]) == 0.0


def _motion(path: FloatArray, stamp: float, speed: float) -> Trajectory:
    """The path as a motion at one speed, which is timed when it is driven."""
    v = np.full(len(path), speed)
    v[-1] = 0.0
    return Trajectory(
        stamp, path[:, PS] / speed, path[:, PX], path[:, PY], path[:, PHEADING], path[:, PKAPPA], v, np.zeros(len(v))
    )


def _search(
    request: PullOver, scene: Scene, start: StartState, previous: PlanResult | None, tools: Tools
) -> PlanResult:
    """Free-space searches in the order of the goals; that of a motion under way comes first."""
    begun = None if previous is None or previous.manoeuvre is None else previous.manoeuvre.goal
    result = PlanResult(False, None, Limit(Reason.NO_PATH, detail="no goal"), Reason.NO_PATH)
    for goal in sorted(request.goals, key=lambda pose: pose != begun):
        result = plan_manoeuvre(_free_space(request, goal), scene, start, previous, tools)
        if result.feasible:
            break
    return result


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
