"""Driving a free-space motion that was found once: the same path, timed anew on every tick against what moves (USE-8,
USE-9).

Predictions end long before a slow motion on the other side of the road does. Beyond them every vehicle goes straight
on, and keeps the distance of definition 2 of `rss`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.rectangles import Rectangle, rectangles_apart
from tuling_fsm.core.request import (
    FailedSearch,
    FreeSpace,
    Limit,
    Maneuver,
    OpenSearch,
    PlanResult,
    PullOver,
    Reason,
    StopWall,
)
from tuling_fsm.core.scene import PREDICTION_STEP_S, Ego, Scene
from tuling_fsm.core.standing import AT_REST, HELD, VEHICLE_STANDS
from tuling_fsm.planning.free_space.planner import begin_plan, plan_free_space, plan_on
from tuling_fsm.planning.free_space.search_tree import SearchTree
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.explanation import BY_BINDING, moving_obstacle_limit, passing_limit
from tuling_fsm.planning.lanes.path_end import wall_at
from tuling_fsm.planning.lanes.path_speed import SpeedTask, drive_among
from tuling_fsm.planning.lanes.workspace import EvaluationBuffers, LaneWorkspace
from tuling_fsm.planning.maneuvers.approach import limit_approach
from tuling_fsm.planning.maneuvers.curves import curve_to_goal
from tuling_fsm.planning.maneuvers.searches import (
    failed_before,
    fails_as_before,
    fails_still,
    goes_on,
    noted,
    same_goal,
    searching,
)
from tuling_fsm.planning.maneuvers.section import ManeuverSection, as_driven, facing, next_section, surroundings_of
from tuling_fsm.planning.obstacles.occupancy import SweptBand, SweptPath, point_spacing, swept_band
from tuling_fsm.planning.obstacles.rss import Rss, oncoming_distance
from tuling_fsm.planning.obstacles.static import blocked_by_static
from tuling_fsm.planning.obstacles.surroundings import Surroundings
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PS, FrenetPath
from tuling_fsm.planning.speed import roll_out
from tuling_fsm.planning.speed.passing import limit_passing, nearest_pass
from tuling_fsm.planning.speed.roll_out import AccelerationDemand, StartMotion, StopTarget, fill_envelope
from tuling_fsm.planning.speed.stopping import comfortable_stop
from tuling_fsm.planning.speed.trajectory import from_standstill, timed_path
from tuling_fsm.planning.speed.yielding import GapAcceptance
from tuling_fsm.planning.start_state import StartState, as_measured

_STEP_S = 0.5
_LONGEST_S = 40.0
"""So far ahead a motion is looked at."""
_SLOWER = 1.2
"""A motion takes longer than it was planned to by this factor."""
_COMES = 1.0
"""A vehicle slower than this (m/s) does not come."""
_AGAINST = -0.5
"""Cosine of the angle to the motion's goal from which on a vehicle comes the other way."""
_ALONG_ROAD = 0.35
"""Who is turned from the other way by no more than this (rad) at the end of its prediction goes on along the road."""


def oncoming_vehicle(
    kept: Maneuver, row: int, scene: Scene, start: StartState, body: Footprint, gap: float, rss: Rss
) -> int:
    """Row of an object in whose way the rest of a motion would still be when it comes, and a car that waits is not; -1
    for none. `gap` (m) is kept to its sides.
    """
    around = scene.obstacles
    # Out of a bend it comes the other way only later.
    against = elementwise.cos(around.heading - kept.goal.heading) < _AGAINST
    rows = np.flatnonzero(around.moving & (around.speed > _COMES) & against.any(axis=1))
    if len(rows) == 0:
        return -1
    whole = kept.whole
    t = _SLOWER * (whole.t[row:] - whole.t[row])
    at = np.searchsorted(t, np.arange(0.0, min(float(t[-1]), _LONGEST_S) + _STEP_S, _STEP_S))
    at = row + np.minimum(at, len(t) - 1)
    motion = np.column_stack((whole.x[at], whole.y[at], whole.heading[at], np.abs(whole.v[at])))
    back = kept.goal.heading + math.pi
    for i in rows.tolist():
        track = np.column_stack((around.x[i], around.y[i], around.heading[i]))
        end = float(around.heading[i, -1])
        onward = back if abs(wrap_angle(end - back)) <= _ALONG_ROAD else end
        other = (float(around.speed[i]), 0.5 * float(around.length[i]), 0.5 * float(around.width[i]) + gap, onward)
        if _meets(motion, (start.pose.x, start.pose.y, start.pose.heading), track, other, body, rss):
            return int(i)
    return -1


@kernel
def _apart(pose: tuple[float, float, float], body: Footprint, box: Rectangle) -> float:
    """Gap (m) between the car with its rear axle at a pose and a box."""
    x, y, heading = pose
    sin, cos = elementary.sin_cos(heading)
    cx, cy = x + body.middle * cos, y + body.middle * sin
    return float(rectangles_apart(Rectangle(cx, cy, cos, sin, body.half_length, body.half_width), box))


@kernel
def _meets(
    motion: FloatArray,
    waits: tuple[float, float, float],
    track: FloatArray,
    other: tuple[float, float, float, float],
    body: Footprint,
    rss: Rss,
) -> bool:
    """Whether a car on a motion (K, 4: x, y, heading,
    speed every `_STEP_S`) is in the way of an `other` vehicle that drives a track
    (T, 3) and then straight on, the way that it says; not so where a car that `waits` is in its way too.
    """
    v, half, wide, onward = other
    end, met = (len(track) - 1) * PREDICTION_STEP_S, False
    for k in range(len(motion)):
        t = k * _STEP_S
        j = min(len(track) - 1, int(t / PREDICTION_STEP_S + 1e-9))
        beyond, turn = v * max(0.0, t - end), track[j, 2] if t <= end else onward
        sine, cosine = elementary.sin_cos(turn)
        x, y = track[j, 0] + beyond * cosine, track[j, 1] + beyond * sine
        s, c = elementary.sin_cos(turn)
        if _apart(waits, body, Rectangle(x, y, c, s, half + 0.5 * v * _STEP_S, wide)) <= 0.0:
            return False
        ahead = 0.5 * oncoming_distance(v, motion[k, 3], rss.brake, rss)
        reach = Rectangle(x + ahead * c, y + ahead * s, c, s, half + ahead, wide)
        met |= _apart((motion[k, 0], motion[k, 1], motion[k, 2]), body, reach) <= 0.0
    return met


_START_ROOM = 0.05
"""What is left of a maneuver is driven down to this (m), where lane driving would stay where it is."""
_SHORT = 0.022
"""A stop comes out this much (m) before its place. Where the gear changes, the car would not be on the next stretch:
it is turned by twice the curvature for every metre that is missing.
"""
_SLOW = 1.0
"""A car that rolls no faster than this (m/s) stops to search for its way."""
_CONFIRM_S = 0.5
"""What blocks a motion that was free has to be seen for longer than this: until then the car stands before it."""
_CREEP = 0.1
"""Where the wheels turn on the spot, the car may be as slow as this (m/s)."""


class SectionEnd(NamedTuple):
    """Where to stand on a stretch (m along it), why, how far beyond that the bumper is from what stands there (m), and
    whether that blocks the motion for good.
    """

    at: float
    limit: Limit
    beyond: float
    blocks: bool = False


class ManeuverWorkspace(NamedTuple):
    """What a planner keeps between calls: for the speed along paths, and to search in."""

    lanes: LaneWorkspace
    tree: SearchTree


def plan_maneuver(
    request: FreeSpace,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    derived: DerivedParameters,
    workspace: ManeuverWorkspace,
) -> PlanResult:
    """Go on with the motion under way, or find one. What cannot be planned comes with a comfortable stop and its
    reason.
    """
    vehicle, parameters = derived.vehicle, derived.parameters
    kept = previous.maneuver if previous is not None else None
    if kept is not None and same_goal(kept.goal, request.goal):
        result = continue_maneuver(kept, request, scene, start, derived, workspace.lanes)
        if result is not None:
            return result
    anew = as_measured(start, scene)
    here = replace(scene, ego=Ego(anew.pose, anew.v, anew.a, anew.curvature))
    failed = fails_still(previous, request, here, parameters.maneuver.retry)
    goes = previous is not None and previous.search is not None and goes_on(previous.search, request, here)
    if failed is None and not goes and not request.feasibility_only:
        curve = curve_to_goal(request, here, anew, derived)
        if curve is not None:
            begun = Maneuver(request.goal, curve)
            result = continue_maneuver(begun, request, scene, anew, derived, workspace.lanes)
            if result is not None:
                return result
    settles = abs(scene.ego.v) > VEHICLE_STANDS
    found = failed or _found(previous, replace(request, walls=()), here, settles, derived, workspace)
    if isinstance(found, PlanResult) and found.trajectory is not None:
        begun = Maneuver(request.goal, found.trajectory)
        return continue_maneuver(begun, request, scene, anew, derived, workspace.lanes, fresh=True) or found
    before = previous.trajectory if previous is not None and start.planned else None
    stop = comfortable_stop(scene, start, before, vehicle, parameters.speed)
    match found:
        case PlanResult():
            return replace(found, trajectory=stop, in_vain=noted(found, request, here))
        case FailedSearch():
            return fails_as_before(found, stop)
        case _:
            return searching(found, stop, failed_before(previous, request))


def _found(
    previous: PlanResult | None,
    request: FreeSpace,
    scene: Scene,
    settles: bool,
    derived: DerivedParameters,
    workspace: ManeuverWorkspace,
) -> PlanResult | OpenSearch | None:
    """The plan, for a car that stands in steps of one a tick, and none yet for one that is about to stand, or `settles`
    after its plan stands. Where what was begun is of no use any more it is made at once, with half as much of a search,
    so that no change after change keeps the car waiting.
    """
    vehicle, parameters, v = derived.vehicle, derived.parameters.free_space, abs(scene.ego.v)
    under_way = previous.search if previous is not None else None
    if under_way is not None and goes_on(under_way, request, scene):
        found = plan_on(under_way, vehicle, parameters, workspace.tree)
        if isinstance(found, OpenSearch) or found.trajectory is None:
            return found
        return replace(found, trajectory=replace(found.trajectory, stamp=scene.stamp))
    if not request.feasibility_only and (HELD <= v < _SLOW or (v < HELD and settles)):
        return None
    if not request.feasibility_only and v < HELD:
        if under_way is None:
            return begin_plan(request, scene, vehicle, parameters)
        request = replace(request, max_expansions=request.max_expansions // 2)
    return plan_free_space(request, scene, vehicle, parameters, workspace.tree)


def continue_maneuver(
    kept: Maneuver,
    request: FreeSpace | PullOver,
    scene: Scene,
    start: StartState,
    derived: DerivedParameters,
    workspace: LaneWorkspace,
    fresh: bool = False,
) -> PlanResult | None:
    """The next part of the motion, `None` where it is over, blocked for more than a moment, too far from the car, or
    reverses although that is not allowed any more. One that has never been free is blocked at once; if it is `fresh` it
    leads out of something that the car touches.
    """
    vehicle, parameters = derived.vehicle, derived.parameters
    stretch = next_section(kept, start, parameters)
    if stretch is None:
        return None
    reverse = bool(np.any(kept.whole.v[stretch.row :] < -AT_REST))
    if reverse and not request.allow_reverse:
        return None
    path, n, gear = stretch.path, len(stretch.path), stretch.gear
    body = facing(derived.body, gear)
    frenet, surroundings = surroundings_of(as_driven(stretch, scene.ego.pose, derived), scene, body, derived)
    walls = [wall for wall in request.walls if not _led_past(wall, scene)]
    end = _end_of(stretch, frenet, walls, body, parameters.speed.line_gap)
    stop = _before_static(end, frenet, surroundings, body, parameters)
    blocked = stop.blocks and stop.at < parameters.speed.start_room and abs(start.v) < HELD
    if blocked and fresh:
        stop = end
    elif blocked:
        if not 0.0 <= scene.stamp - kept.free_at <= _CONFIRM_S:
            return None
        stop = stop._replace(at=min(stop.at, 0.0))
    stop = _for_oncoming(stop, kept, stretch.row, scene, start, derived)
    top = min(request.speed_limit, vehicle.max_speed if gear > 0.0 else vehicle.max_reverse_speed)
    limit = np.full(n, top)
    if isinstance(request, FreeSpace):
        limit_approach(limit, path, scene, body)
    buffers, motion = (
        workspace.buffers(len(surroundings.moving.id)),
        StartMotion(max(0.0, gear * start.v), gear * start.a),
    )
    swept = SweptPath(frenet, body, SweptBand(*swept_band(frenet)), point_spacing(frenet), math.inf)
    binds = _time_section(swept, surroundings, limit, stop.at, motion, derived, buffers)
    trajectory = timed_path(scene.stamp, path, n, buffers.rows, gear)
    limited = _limit(binds, stop, swept, surroundings)
    if abs(start.v) < HELD:
        trajectory, limited = from_standstill(trajectory, limited, start.curvature, vehicle)
    going = replace(kept, row=stretch.row, free_at=kept.free_at if blocked else scene.stamp)
    return PlanResult(True, trajectory, limited, uses_reverse=reverse, maneuver=going)


def _led_past(wall: StopWall, scene: Scene) -> bool:
    """Whether a wall is there for a thing that never moves: the motion leads past that, or is blocked by it itself."""
    there = scene.obstacles.id == wall.blocker
    return wall.reason is Reason.OBSTACLE and bool((there & ~scene.obstacles.moving).any())


def _end_of(
    stretch: ManeuverSection, frenet: FrenetPath, walls: list[StopWall], body: Footprint, gap: float
) -> SectionEnd:
    """The nearest of a stretch's end and the walls."""
    path, reverse = frenet.path, stretch.gear < 0.0
    stop = SectionEnd(float(path[-1, PS]) + _SHORT, Limit(Reason.TARGET if stretch.last else Reason.GEAR_CHANGE), 0.0)
    for wall in walls:
        ends = (wall.x1, wall.y1, wall.x0, wall.y0) if reverse else (wall.x0, wall.y0, wall.x1, wall.y1)
        touch = wall_at(path, len(path), body, np.array(ends), 0.0)
        # Lines are for the front bumper (USE-3); backwards the car leaves what it stands at.
        if reverse and (wall.reason is not Reason.PEDESTRIAN or touch <= 0.0):
            continue
        if touch - gap < stop.at:
            stop = SectionEnd(touch - gap, Limit(wall.reason, 0.0, wall.detail, wall.blocker), gap)
    return stop


def _before_static(
    end: SectionEnd, frenet: FrenetPath, surroundings: Surroundings, body: Footprint, parameters: PlanningParameters
) -> SectionEnd:
    """The same, or a stop before static things that were not there when the motion was planned, or that a car which is
    off its path would touch.
    """
    gap = parameters.speed.line_gap
    blocked, by = blocked_by_static(frenet, surroundings.static, body, parameters.clearance.wanted)
    free = float(frenet.path[max(0, blocked - 1), PS]) - gap
    if by < 0 or free >= end.at:
        return end
    row = int(surroundings.static.id[by])
    blocker = int(surroundings.obstacles.id[row]) if row >= 0 else -1
    what = f"object {blocker}" if row >= 0 else "static edge"
    return SectionEnd(free, Limit(Reason.OBSTACLE, 0.0, what, blocker), gap, True)


def _for_oncoming(
    stop: SectionEnd, kept: Maneuver, row: int, scene: Scene, start: StartState, derived: DerivedParameters
) -> SectionEnd:
    """The same, or for a while none at all for a car that stands and would be met head-on before the motion is over."""
    parameters = derived.parameters
    if abs(start.v) > HELD or not 0.0 <= scene.stamp - kept.whole.stamp <= parameters.maneuver.patience:
        return stop
    row_met = oncoming_vehicle(kept, row, scene, start, derived.body, parameters.clearance.moving, derived.drive.rss)
    if row_met < 0:
        return stop
    number = int(scene.obstacles.id[row_met])
    return SectionEnd(min(stop.at, 0.0), Limit(Reason.CROSSING, 0.0, f"object {number} comes", number), 0.0)


def _time_section(
    swept: SweptPath,
    surroundings: Surroundings,
    limit: FloatArray,
    stop_at: float,
    start: StartMotion,
    derived: DerivedParameters,
    buffers: EvaluationBuffers,
) -> AccelerationDemand:
    """Roll out a stretch into the rows of the buffers; returns what binds."""
    speed = derived.parameters.speed
    drive = derived.drive._replace(start_room=_START_ROOM, crossing_start_room=_START_ROOM, creep=_CREEP)
    # As gently as the motion was planned: braking that comes in slowly enough to be slow where the wheels have to turn.
    gentle = derived.parameters.free_space.accel
    drive = drive._replace(accel=min(drive.accel, gentle))
    eased = drive._replace(decel=min(drive.decel, gentle))
    limit_passing(swept, surroundings.beside, limit, buffers.cause)
    fill_envelope(swept.frenet, limit, buffers.cause, eased, buffers.envelope)
    v2 = start.v * start.v
    stops = 0.5 * v2 / drive.decel, 0.5 * v2 / drive.emergency
    gap = GapAcceptance(speed.pass_ahead, 1.0, 0.0, False, *stops, drive.rss)
    task = SpeedTask(swept, StopTarget(stop_at, 0.4 * speed.line_gap), start, gap)
    driven = drive_among(task, surroundings.moving, drive, buffers)
    return AccelerationDemand(*driven.binds)


def _limit(binds: AccelerationDemand, stop: SectionEnd, swept: SweptPath, surroundings: Surroundings) -> Limit:
    """What limits the speed now."""
    if binds.reason in BY_BINDING:
        return BY_BINDING[binds.reason]
    if binds.reason == roll_out.PASSING:
        gap, distance = nearest_pass(swept.frenet, surroundings.beside, binds.blame, swept.body)
        return passing_limit(surroundings.beside, binds.blame, gap, distance, surroundings.obstacles)
    if binds.reason == roll_out.STOPPING:
        return replace(stop.limit, distance=binds.distance + stop.beyond)
    return moving_obstacle_limit(binds.reason, binds.blame, binds.distance, surroundings)
