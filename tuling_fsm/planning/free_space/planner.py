"""Answers a free-space request: forward and in reverse to a pose, among everything that stands (REG-2, SLF-1, PRK-3,
EXP-1).

The plan is a pure function of its arguments: the search is bounded by expansions, and ties fall the same way every
time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Limit, OpenSearch, PlanResult, Reason, StopWall
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import STOPPED
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.collision import InflatedFootprint, advance, free_length, occupied
from tuling_fsm.planning.free_space.obstacles import covered, held_lines, held_static, solid_segments
from tuling_fsm.planning.free_space.problem import (
    FreeSpaceProblem,
    arrived,
    body_of,
    build_problem,
    full_steer,
    moved,
    usable_goals,
)
from tuling_fsm.planning.free_space.pull_out import pull_out, pull_out_bent
from tuling_fsm.planning.free_space.search_tree import SearchTree
from tuling_fsm.planning.free_space.smoothing import GEAR, LENGTH, STOP, SteeringLimits, smooth
from tuling_fsm.planning.free_space.solver import ArcPath, PathSearch, free_bodies, passing_tree, search_on, soften
from tuling_fsm.planning.free_space.speed_profile import (
    STEER,
    A,
    H,
    MotionLimits,
    T,
    V,
    X,
    Y,
    cut_at_walls,
    limits_of,
    stopping_length,
    time_motion,
)
from tuling_fsm.planning.parameters import FreeSpaceParameters

TIMED = 8
"""So many of the cheapest ways out in one go are timed."""
MUCH_S = 4.0
"""What less clearance has to save, s."""
FEW_STOPS = 2
"""What is searched for and starts from a standstill more often than this is slow: there may be a way out in one go."""
HAIR = 0.001
"""Clearance (m) that is enough where the car already stands too near to something."""

WaysOut = Callable[[FreeSpaceProblem, InflatedFootprint, float, float], list[ArcPath]]
"""As `pull_out` is."""


@dataclass(frozen=True)
class RollingStart:
    """Signed length (m) that a moving car covers before it could stand, with its steering (rad), and speed (m/s)."""

    length: float
    steer: float
    v: float


class _Case(NamedTuple):
    """All that a plan is made of."""

    request: FreeSpace
    scene: Scene
    vehicle: Vehicle
    parameters: FreeSpaceParameters
    roll: RollingStart
    problem: FreeSpaceProblem


def plan_free_space(
    request: FreeSpace,
    scene: Scene,
    vehicle: Vehicle,
    parameters: FreeSpaceParameters | None = None,
    tree: SearchTree | None = None,
) -> PlanResult:
    """A trajectory from the present pose to the goal of the request, or the reason why there is none (USE-7).

    Poses, segments and the trajectory are in `map`, SI units. The trajectory starts with the speed and steering that
    the car has, stands at every change of gear and at its end, and keeps clear of everything that stands along the
    whole motion. A car that rolls has no time: half as much is spent on finding its path and on bettering it. A line
    that the car stands on is dropped near it, see `held_lines`. What cannot be planned comes back as an infeasible
    result without a trajectory; nothing is raised. A caller that plans again and again hands in a `tree` (`new_tree`)
    to search in; no result depends on it.
    """
    case = _case_of(request, scene, vehicle, parameters or FreeSpaceParameters())
    if isinstance(case, PlanResult):
        return case
    tree, step = tree or passing_tree(), _begun(case)
    while isinstance(step, PathSearch):
        step = _gone_on(case, step, tree)
    return step


def begin_plan(
    request: FreeSpace, scene: Scene, vehicle: Vehicle, parameters: FreeSpaceParameters
) -> PlanResult | OpenSearch:
    """The first step of `plan_free_space`: what needs no search, else a search to go on with by `plan_on`."""
    case = _case_of(request, scene, vehicle, parameters)
    return case if isinstance(case, PlanResult) else _result_of(case, _begun(case))


def plan_on(
    search: OpenSearch, vehicle: Vehicle, parameters: FreeSpaceParameters, tree: SearchTree
) -> PlanResult | OpenSearch:
    """The next step of a plan, of a third of the work or so. All steps together give what `plan_free_space` does in the
    scene in which the plan was begun.
    """
    case, progress = _case_of(search.request, search.scene, vehicle, parameters), search.progress
    if isinstance(case, PlanResult) or not isinstance(progress, PathSearch):
        return plan_free_space(search.request, search.scene, vehicle, parameters, tree)
    return _result_of(case, _gone_on(case, progress, tree))


def _result_of(case: _Case, step: PlanResult | PathSearch) -> PlanResult | OpenSearch:
    return OpenSearch(case.request, case.scene, step) if isinstance(step, PathSearch) else step


def _case_of(request: FreeSpace, scene: Scene, vehicle: Vehicle, parameters: FreeSpaceParameters) -> _Case | PlanResult:
    """What there is to plan, or the result where nothing has to be searched for."""
    pose = scene.ego.pose
    if not _on_map(pose, request.goal, parameters.max_distance):
        return _failed(Reason.OUTSIDE_MAP)
    roll = _roll(scene, vehicle, limits_of(vehicle, parameters, request.speed_limit))
    if roll.v == 0.0 and arrived(request, pose):
        standing = Trajectory.standing(scene.stamp, pose, scene.ego.curvature)
        return PlanResult(True, standing, Limit(Reason.ARRIVED))
    problem = _problem(request, scene, vehicle, parameters, roll)
    if isinstance(problem, Reason):
        return _failed(problem)
    return _Case(request, scene, vehicle, parameters, roll, problem)


def _failed(reason: Reason) -> PlanResult:
    """No plan."""
    return PlanResult(False, None, Limit(reason), reason)


def _on_map(pose: Pose, goal: Pose, farthest: float) -> bool:
    """Whether both poses are numbers and near enough to each other to be on one map."""
    return all(map(math.isfinite, (*pose, *goal))) and elementary.hypot(goal.x - pose.x, goal.y - pose.y) <= farthest


def _roll(scene: Scene, vehicle: Vehicle, limits: MotionLimits) -> RollingStart:
    """What the car covers before it could stand."""
    ego = scene.ego
    steer = elementary.atan(ego.curvature * vehicle.wheelbase) if math.isfinite(ego.curvature) else 0.0
    steer = min(vehicle.max_steer, max(-vehicle.max_steer, steer))
    if abs(ego.v) < STOPPED:
        return RollingStart(0.0, steer, 0.0)
    return RollingStart(math.copysign(stopping_length(ego.v, limits), ego.v), steer, abs(ego.v))


def _problem(
    request: FreeSpace, scene: Scene, vehicle: Vehicle, parameters: FreeSpaceParameters, roll: RollingStart
) -> FreeSpaceProblem | Reason:
    """The problem from where the car could stand, with the usable goals."""
    pose = scene.ego.pose
    static = held_static(solid_segments(scene), pose, vehicle, parameters.start_overlap)
    if static is None or covered(scene, pose.x, pose.y):
        return Reason.START_OCCUPIED
    segments = np.concatenate((static, held_lines(request.lines, pose, vehicle, parameters.line_release)))
    curvature = elementary.tan(roll.steer) / vehicle.wheelbase
    start = Pose(*advance(*pose, curvature, roll.length))
    gear = int(np.sign(roll.length))
    problem = build_problem(start, [request.goal], segments, vehicle, parameters, gear, request.allow_reverse)
    hair = body_of(vehicle, HAIR)
    x, y, h = problem.frame.pose_to_local(pose)
    bend = problem.frame.mirror * curvature
    way = abs(roll.length)
    if gear and free_length(problem.walls, hair, x, y, h, curvature=bend, gear=gear, limit=way) < way:
        return Reason.NO_PATH
    body = body_of(vehicle, parameters.least_clearance)

    def taken(ahead: float, left: float) -> bool:
        place = moved(request.goal, (ahead, left, 0.0), problem.frame.mirror)
        return covered(scene, place.x, place.y)

    offsets = usable_goals(request, problem.walls, body, problem.goals[0], taken)
    if not offsets:
        return Reason.GOAL_OCCUPIED
    if offsets == [(0.0, 0.0, 0.0)]:
        return problem
    goals = [moved(request.goal, offset, problem.frame.mirror) for offset in offsets]
    return build_problem(start, goals, segments, vehicle, parameters, gear, request.allow_reverse)


def _bodies(
    problem: FreeSpaceProblem, vehicle: Vehicle, parameters: FreeSpaceParameters
) -> tuple[InflatedFootprint, ...]:
    """The footprint with the clearances that are tried, widest first."""
    least = parameters.least_clearance
    margins = [parameters.clearance, math.sqrt(parameters.clearance * least), least]
    if occupied(problem.walls, body_of(vehicle, least), *problem.start):
        margins.append(HAIR)
    return tuple(body_of(vehicle, margin) for margin in dict.fromkeys(margins) if margin <= parameters.clearance)


_NONE: tuple[float, FloatArray] = (math.inf, np.zeros((0, 8)))
"""Time (s) and motion where there is none."""


def _timed(case: _Case, path: ArcPath) -> tuple[float, FloatArray]:
    """How long (s) a path takes, and the motion (N, 8) along it."""
    limits = limits_of(case.vehicle, case.parameters, case.request.speed_limit)
    motion = timed_motion(case.problem, path, case.vehicle, case.parameters, case.roll)
    return float(timed_rows(case.problem, motion, limits, case.parameters, case.roll)[-1, T]), motion


def _one_go(case: _Case, body: InflatedFootprint, ways: WaysOut = pull_out) -> tuple[float, FloatArray]:
    """The quickest way out in one go that there is for a body."""
    paths = ways(case.problem, body, case.parameters.gear_cost, case.parameters.curve_cost)[:TIMED]
    return min((_timed(case, path) for path in paths), key=itemgetter(0), default=_NONE)


def _begun(case: _Case) -> PlanResult | PathSearch:
    """The motion out in one go with as much clearance as start and goal leave, or a search."""
    bodies = _bodies(case.problem, case.vehicle, case.parameters)
    quickest = _one_go(case, free_bodies(case.problem, bodies)[0])
    if quickest[0] < math.inf:
        return _driven(case, quickest[1])
    if case.request.feasibility_only:
        return PathSearch(bodies[-1:], case.request.max_expansions, 0, first_will_do=True)
    rolls, most, spare = case.roll.v > 0.0, case.request.max_expansions, case.parameters.improve_expansions
    if rolls:
        return PathSearch(bodies, most // 2, spare // 2, hurried=True)
    return PathSearch(bodies, most, spare)


def _gone_on(case: _Case, search: PathSearch, tree: SearchTree) -> PlanResult | PathSearch:
    """The next step of a search, or what comes of one that is over."""
    if search.outcome is None:
        search = search_on(case.problem, search, tree)
        if not isinstance(search.outcome, Reason):
            return search
    motion = _chosen(case, search.outcome)
    return _failed(motion) if isinstance(motion, Reason) else _driven(case, motion)


def _chosen(case: _Case, found: ArcPath | Reason) -> FloatArray | Reason:
    """The motion (N, 8) that was searched for; with less clearance out in one go only where that is much quicker, or
    where the search has found nothing.
    """
    if case.request.feasibility_only:
        return found if isinstance(found, Reason) else _timed(case, found)[1]
    wide, *narrow = free_bodies(case.problem, _bodies(case.problem, case.vehicle, case.parameters))
    searched = _NONE
    if not isinstance(found, Reason):
        searched = _timed(case, soften(case.problem, found, case.parameters.curve_cost))
    each_go = (_one_go(case, body) for body in narrow)
    quickest = next((each for each in each_go if each[0] < math.inf), searched)
    if quickest[0] + MUCH_S < searched[0]:
        return quickest[1]
    if np.count_nonzero(searched[1][:, STOP]) > FEW_STOPS:
        searched = min(searched, _one_go(case, wide, pull_out_bent), key=itemgetter(0))
    return found if isinstance(found, Reason) else searched[1]


def _driven(case: _Case, motion: FloatArray) -> PlanResult:
    """The plan along a motion (N, 8), up to the first stop wall."""
    request, parameters, roll = case.request, case.parameters, case.roll
    limits = limits_of(case.vehicle, parameters, request.speed_limit)
    cut, wall = cut_at_walls(
        motion, request.walls, case.problem.frame, case.vehicle, parameters.wall_gap, abs(roll.length)
    )
    trajectory = _trajectory(case.problem, cut, limits, case.vehicle, parameters, roll, case.scene)
    return PlanResult(True, trajectory, _limit(cut, wall), uses_reverse=bool((motion[:, GEAR] < 0.0).any()))


def timed_motion(
    problem: FreeSpaceProblem, path: ArcPath, vehicle: Vehicle, parameters: FreeSpaceParameters, roll: RollingStart
) -> FloatArray:
    """The motion (N, 8) along a path in the local frame, with what the car rolls first, see `smooth`."""
    steers, lengths = elementwise.arctan(path.turns * elementary.tan(full_steer(vehicle))), path.lengths
    start = problem.start
    if roll.length:
        steer = problem.frame.mirror * roll.steer
        x, y, h = start
        start = np.array(advance(x, y, h, elementary.tan(steer) / vehicle.wheelbase, -roll.length))
        steers, lengths = np.concatenate(((steer,), steers)), np.concatenate(((roll.length,), lengths))
    margin = path.body.half - vehicle.width / 2.0
    body = body_of(vehicle, max(0.5 * margin, margin - 0.03))
    car = SteeringLimits(vehicle.wheelbase, vehicle.max_steer, parameters.steering_speed / vehicle.max_steer_rate)
    motion: FloatArray = smooth(problem.walls, body, start, steers, lengths, car, bool(roll.length))
    return motion


def timed_rows(
    problem: FreeSpaceProblem,
    motion: FloatArray,
    limits: MotionLimits,
    parameters: FreeSpaceParameters,
    roll: RollingStart,
) -> FloatArray:
    """Timed rows (N, 7) in `map` of a motion in the local frame, columns as in `speed_profile`."""
    mirror = problem.frame.mirror
    rows: FloatArray = time_motion(motion, limits, roll.v, mirror * roll.steer, parameters.gear_hold)
    rows[:, X], rows[:, Y], rows[:, H] = problem.frame.to_map(rows[:, X], rows[:, Y], rows[:, H])
    rows[:, STEER] *= mirror
    return rows


def _trajectory(
    problem: FreeSpaceProblem,
    motion: FloatArray,
    limits: MotionLimits,
    vehicle: Vehicle,
    parameters: FreeSpaceParameters,
    roll: RollingStart,
    scene: Scene,
) -> Trajectory:
    """The trajectory of a motion; standing where none is left."""
    if len(motion) == 0:
        return Trajectory.standing(scene.stamp, scene.ego.pose, scene.ego.curvature)
    # Each column in one piece: for others the kernels that follow would have to be compiled first.
    columns = np.ascontiguousarray(timed_rows(problem, motion, limits, parameters, roll).T)
    curvature = elementwise.tan(columns[STEER]) / vehicle.wheelbase
    turns = scene.ego.pose.heading - columns[H, 0]
    return Trajectory(
        scene.stamp, t=columns[T], x=columns[X], y=columns[Y], heading=columns[H] + turns, curvature=curvature,
        v=columns[V], a=columns[A],
    )  # fmt: skip


def _limit(motion: FloatArray, wall: StopWall | None) -> Limit:
    """What the car stops for next, and how far away that is."""
    if len(motion) == 0:
        return Limit(Reason.TARGET) if wall is None else Limit(wall.reason, 0.0, wall.detail, wall.blocker)
    change = np.flatnonzero(motion[:, GEAR] != motion[0, GEAR])
    if len(change):
        return Limit(Reason.GEAR_CHANGE, float(motion[: change[0], LENGTH].sum()))
    length = float(motion[:, LENGTH].sum())
    return Limit(Reason.TARGET, length) if wall is None else Limit(wall.reason, length, wall.detail, wall.blocker)
