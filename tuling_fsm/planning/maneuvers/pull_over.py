"""Into a slot at the roadside: quintic curves into every goal, a free-space search when all of them fail (TMP-1).

The curves are those of Takahashi et al., "Local path planning and motion control for AGV in positioning", IROS 1989:
their coordinates are quintic polynomials, and position, direction and curvature are met at both ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose, wrap_angle
from tuling_fsm.core.request import FreeSpace, Limit, Maneuver, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.maneuver import ManeuverWorkspace, continue_maneuver, plan_maneuver
from tuling_fsm.planning.maneuvers.section import surroundings_of
from tuling_fsm.planning.obstacles.static import blocked_by_static
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PROOM, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed.car_following import LongitudinalLimits
from tuling_fsm.planning.speed.stopping import STANDS, comfortable_stop
from tuling_fsm.planning.start_state import StartState, as_measured

_BASIS = np.array(
    [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        [-10.0, -6.0, -1.5, 10.0, -4.0, 0.5],
        [15.0, 8.0, 1.5, -15.0, 7.0, -1.0],
        [-6.0, -3.0, -0.5, 6.0, -3.0, 0.5],
    ]
)
"""From value, first and second derivative at 0 and at 1 to coefficients, lowest power first."""

_DERIVED = np.arange(6.0)
"""What each power is multiplied by when it is derived."""


def quintic_curve(start: Pose, curvature: float, goal: Pose, stretch: float, spacing: float) -> FloatArray:
    """The curve from a pose with a path curvature (1/m) to a goal that is reached straight, as a path (n, PATH).

    `stretch` is the length of both end tangents in distances between the poses: the greater, the later the curve
    bends. Points are at most about `spacing` (m) apart.
    """
    reach = stretch * elementary.hypot(goal.x - start.x, goal.y - start.y)
    ends = np.zeros((6, 2))
    for row, pose, bend in ((0, start, curvature), (3, goal, 0.0)):
        cos, sin = elementary.cos(pose.heading), elementary.sin(pose.heading)
        ends[row] = pose.x, pose.y
        ends[row + 1] = reach * cos, reach * sin
        ends[row + 2] = -bend * reach * reach * sin, bend * reach * reach * cos
    c = (_BASIS[:, :, None] * ends).sum(axis=1)
    u = np.linspace(0.0, 1.0, max(3, math.ceil(reach / spacing / min(stretch, 1.0)) + 1), dtype=np.float64)
    at = _polynomial(c, u)
    along = _polynomial(_DERIVED[1:, None] * c[1:], u)
    change = _polynomial(_DERIVED[2:, None] * _DERIVED[1:-1, None] * c[2:], u)
    pace = np.maximum(elementwise.hypot(along[:, 0], along[:, 1]), 1e-9)
    path = new_path(len(u))
    path[:, PX], path[:, PY] = at[:, 0], at[:, 1]
    path[:, PCOS], path[:, PSIN] = along[:, 0] / pace, along[:, 1] / pace
    path[:, PHEADING] = np.unwrap([start.heading, *elementwise.arctan2(path[:, PSIN], path[:, PCOS])])[1:]
    path[:, PKAPPA] = (along[:, 0] * change[:, 1] - along[:, 1] * change[:, 0]) / (pace * pace * pace)
    path[1:, PS] = np.cumsum(elementwise.hypot(np.diff(at[:, 0]), np.diff(at[:, 1])))
    return path


def _polynomial(coefficients: FloatArray, u: FloatArray) -> FloatArray:
    """Values (n, 2) of two polynomials at `u` (n,); coefficients (k, 2), lowest power first (Horner)."""
    value = np.zeros((len(u), 2))
    for row in coefficients[::-1]:
        value = value * u[:, None] + row
    return value


def straight(start: Pose, length: float, spacing: float) -> FloatArray:
    """The straight path (n, PATH) ahead of a pose, without its end at `length` (m)."""
    s = np.arange(math.ceil(length / spacing)) * (length / math.ceil(length / spacing))
    path = new_path(len(s))
    path[:, PS], path[:, PHEADING] = s, start.heading
    path[:, PCOS], path[:, PSIN] = elementary.cos(start.heading), elementary.sin(start.heading)
    path[:, PX], path[:, PY] = start.x + s * path[:, PCOS], start.y + s * path[:, PSIN]
    return path


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
    curve = min(_free_curves(request, scene, anew, derived), key=lambda each: each.cost, default=None)
    if curve is not None:
        motion = _motion(curve.path, scene.stamp, request.speed_limit)
        result = continue_maneuver(Maneuver(curve.goal, motion), request, scene, anew, derived, workspace.lanes)
        if result is not None:
            return result
    if abs(start.v) > STANDS:
        before = previous.trajectory if previous is not None and start.planned else None
        stop = comfortable_stop(scene, start, before, derived.vehicle, derived.parameters.speed)
        return PlanResult(True, stop, Limit(Reason.TARGET, detail="stops to search for a way into the slot"))
    return _search(request, scene, start, previous, derived, workspace)


def _free_curves(
    request: PullOver, scene: Scene, start: StartState, derived: DerivedParameters
) -> Iterator[PullOverCurve]:
    """Curves that the car can drive and that nothing stands in."""
    if start.v < 0.0:
        return
    scene = replace(scene, static_segments=np.vstack((scene.static_segments, request.lines)))
    for rank, goal in enumerate(request.goals):
        for path in _curves(start, goal):
            if not drivable(path, start.v, derived.drive, derived.vehicle.max_steer):
                continue
            frenet, surroundings = surroundings_of(path, scene, derived.body, derived)
            wanted = derived.parameters.clearance.wanted
            _, by = blocked_by_static(frenet, surroundings.static, derived.body, wanted)
            if by < 0:
                bend = float(np.abs(path[:, PKAPPA]).max()) / derived.vehicle.max_curvature
                tight = 1.0 - min(float(path[:, PROOM].min()), wanted) / wanted
                yield PullOverCurve(bend + tight + _NEXT_GOAL * rank, goal, path)


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


def drivable(path: FloatArray, v: float, drive: LongitudinalLimits, max_steer: float) -> bool:
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
        stamp, t=path[:, PS] / speed, x=path[:, PX], y=path[:, PY], heading=path[:, PHEADING],
        curvature=path[:, PKAPPA], v=v, a=np.zeros(len(v)),
    )  # fmt: skip


def _search(
    request: PullOver,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: ManeuverWorkspace,
) -> PlanResult:
    """Free-space searches in the order of the goals; that of a motion under way comes first."""
    begun = None if previous is None or previous.maneuver is None else previous.maneuver.goal
    result = PlanResult(False, None, Limit(Reason.NO_PATH, detail="no goal"), Reason.NO_PATH)
    for goal in sorted(request.goals, key=lambda pose: pose != begun):
        result = plan_maneuver(_free_space(request, goal), scene, start, previous, derived, workspace)
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
