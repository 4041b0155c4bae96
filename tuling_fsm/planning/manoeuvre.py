"""Driving a free-space motion that was found once: the same path, timed anew on every tick against what moves (USE-8,
USE-9)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Pose, wrap_angle
from tuling_fsm.core.request import FreeSpace, Limit, Manoeuvre, PlanResult, PullOver, Reason, StopWall
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.planning import profile
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.continuity import StartState, as_measured
from tuling_fsm.planning.explain import BY_BINDING, mover_limit
from tuling_fsm.planning.free_space import plan_free_space
from tuling_fsm.planning.hold import STANDS, comfortable_stop
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.occupied import Swept, swept
from tuling_fsm.planning.oncoming import who_comes
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.path_speed import drive_among
from tuling_fsm.planning.paths import PS, Laid
from tuling_fsm.planning.profile import Demand, envelope
from tuling_fsm.planning.scenery import Scenery
from tuling_fsm.planning.solids import blocked_by_solids
from tuling_fsm.planning.steering import from_standstill
from tuling_fsm.planning.stretch import Stretch, among, as_driven, facing, next_stretch
from tuling_fsm.planning.timed import timed_path
from tuling_fsm.planning.tools import Tools
from tuling_fsm.planning.walls import wall_at

_SAME_GOAL_M, _SAME_GOAL_RAD = 0.1, 0.03
_MOVES = 1e-3
_START_ROOM = 0.05
"""What is left of a manoeuvre is driven down to this (m), where lane driving would stay where it is."""
_SHORT = 0.022
"""A stop comes out this much (m) before its place. Where the gear changes, the car would not be on the next stretch:
it is turned by twice the curvature for every metre that is missing.
"""
_CREEP = 0.1
"""Where the wheels turn on the spot, the car may be as slow as this (m/s)."""
_LEAST = 0.3
"""No point of a motion is driven slower (m/s) because it was planned so: it was timed from one standstill to the next.
"""


class Stop(NamedTuple):
    """Where to stand on a stretch (m along it), why, how far beyond that the bumper is from what stands there (m), and
    whether that blocks the motion for good.
    """

    at: float
    limit: Limit
    beyond: float
    blocks: bool = False


def plan_manoeuvre(
    request: FreeSpace, scene: Scene, start: StartState, previous: PlanResult | None, tools: Tools
) -> PlanResult:
    """Go on with the motion under way, or find one. What cannot be planned comes with a comfortable stop and its
    reason.
    """
    vehicle, parameters = tools.vehicle, tools.parameters
    kept = previous.manoeuvre if previous is not None else None
    if kept is not None and _same(kept.goal, request.goal):
        result = go_on(kept, request, scene, start, tools)
        if result is not None:
            return result
    anew = as_measured(start, scene)
    here = replace(scene, ego=Ego(anew.pose, anew.v, anew.a, anew.curvature))
    found = plan_free_space(replace(request, walls=()), here, vehicle, parameters.free_space)
    if found.trajectory is None:
        before = previous.trajectory if previous is not None and start.planned else None
        return replace(found, trajectory=comfortable_stop(scene, start, before, vehicle, parameters.speed))
    return go_on(Manoeuvre(request.goal, found.trajectory), request, scene, anew, tools, fresh=True) or found


def _same(one: Pose, other: Pose) -> bool:
    apart = elementary.hypot(one.x - other.x, one.y - other.y)
    return apart < _SAME_GOAL_M and abs(wrap_angle(one.heading - other.heading)) < _SAME_GOAL_RAD


def go_on(
    kept: Manoeuvre,
    request: FreeSpace | PullOver,
    scene: Scene,
    start: StartState,
    tools: Tools,
    fresh: bool = False,
) -> PlanResult | None:
    """The next part of the motion, `None` where it is over, blocked, too far from the car, or reverses although that
    is not allowed any more. What is blocked at once although it is `fresh` leads out of something that the car touches.
    """
    vehicle, parameters = tools.vehicle, tools.parameters
    stretch = next_stretch(kept, start, parameters)
    if stretch is None:
        return None
    reverse = bool(np.any(kept.whole.v[stretch.row :] < -_MOVES))
    if reverse and not request.allow_reverse:
        return None
    path, n, gear = stretch.path, len(stretch.path), stretch.gear
    body = facing(tools.body, gear)
    laid, scenery = among(as_driven(stretch, scene.ego.pose, tools), scene, body, tools)
    walls = [wall for wall in request.walls if not _led_past(wall, scene)]
    end = _end_of(stretch, laid, walls, body, parameters.speed.line_gap)
    stop = _before_solids(end, laid, scenery, body, parameters)
    if stop.blocks and stop.at < parameters.speed.start_room and abs(start.v) < STANDS:
        if not fresh:
            return None
        stop = end
    stop = _for_who_comes(stop, kept, stretch.row, scene, start, tools)
    top = min(request.speed_limit, vehicle.max_speed if gear > 0.0 else vehicle.max_reverse_speed)
    limit = np.minimum(top, np.maximum(stretch.speed, _LEAST))
    binds = _time(laid, scenery.movers, body, limit, stop, start, gear, tools)
    trajectory, limit = timed_path(scene.stamp, path, n, tools.whole.rows, gear), _limit(binds, stop, scenery)
    if abs(start.v) < STANDS:
        trajectory, limit = from_standstill(trajectory, limit, start.curvature, vehicle)
    return PlanResult(True, trajectory, limit, uses_reverse=reverse, manoeuvre=replace(kept, row=stretch.row))


def _led_past(wall: StopWall, scene: Scene) -> bool:
    """Whether a wall is there for a thing that never moves: the motion leads past that, or is blocked by it itself."""
    there = scene.obstacles.id == wall.blocker
    return wall.reason is Reason.OBSTACLE and bool((there & ~scene.obstacles.moving).any())


def _end_of(stretch: Stretch, laid: Laid, walls: list[StopWall], body: Body, gap: float) -> Stop:
    """The nearest of a stretch's end and the walls."""
    path = laid.path
    stop = Stop(float(path[-1, PS]) + _SHORT, Limit(Reason.TARGET if stretch.last else Reason.GEAR_CHANGE), 0.0)
    for wall in walls:
        touch = wall_at(path, len(path), body, np.array((wall.x0, wall.y0, wall.x1, wall.y1)), 0.0)
        if touch - gap < stop.at:
            stop = Stop(touch - gap, Limit(wall.reason, 0.0, wall.detail, wall.blocker), gap)
    return stop


def _before_solids(end: Stop, laid: Laid, scenery: Scenery, body: Body, parameters: PlanningParameters) -> Stop:
    """The same, or a stop before static things that were not there when the motion was planned, or that a car which is
    off its path would touch.
    """
    gap = parameters.speed.line_gap
    blocked, by = blocked_by_solids(laid, scenery.solids, body, parameters.clearance.wanted)
    free = float(laid.path[max(0, blocked - 1), PS]) - gap
    if by < 0 or free >= end.at:
        return end
    row = int(scenery.solids.id[by])
    blocker = int(scenery.obstacles.id[row]) if row >= 0 else -1
    what = f"object {blocker}" if row >= 0 else "static edge"
    return Stop(free, Limit(Reason.OBSTACLE, 0.0, what, blocker), gap, True)


def _for_who_comes(stop: Stop, kept: Manoeuvre, row: int, scene: Scene, start: StartState, tools: Tools) -> Stop:
    """The same, or for a while none at all for a car that stands and would be met head-on before the motion is over."""
    parameters = tools.parameters
    if abs(start.v) > STANDS or scene.stamp - kept.whole.stamp > parameters.manoeuvre.patience:
        return stop
    who = who_comes(kept, row, scene, start, tools.body, parameters.clearance.mover, tools.drive.rss)
    if who < 0:
        return stop
    number = int(scene.obstacles.id[who])
    return Stop(min(stop.at, 0.0), Limit(Reason.CROSSING, 0.0, f"object {number} comes", number), 0.0)


def _time(
    laid: Laid, movers: Movers, body: Body, limit: FloatArray, stop: Stop, start: StartState, gear: float, tools: Tools
) -> Demand:
    """Roll out a stretch into the scratch's rows; returns what binds."""
    speed, scratch = tools.parameters.speed, tools.whole
    drive = tools.drive._replace(start_room=_START_ROOM, creep=_CREEP)
    # As gently as the motion was planned: braking that comes in slowly enough to be slow where the wheels have to turn.
    gentle = tools.parameters.free_space.accel
    drive = drive._replace(accel=min(drive.accel, gentle))
    eased = drive._replace(decel=min(drive.decel, gentle))
    envelope(laid, limit, eased, scratch.speed, scratch.bound, scratch.level)
    target, motion = (stop.at, 0.4 * speed.line_gap), (max(0.0, gear * start.v), gear * start.a)
    lead = speed.pass_ahead
    driven = drive_among(laid, movers, Swept(*swept(laid)), target, motion, math.inf, lead, 1.0, body, drive, scratch)
    return Demand(*driven.binds)


def _limit(binds: Demand, stop: Stop, scenery: Scenery) -> Limit:
    """What limits the speed now."""
    if binds.reason in BY_BINDING:
        return BY_BINDING[binds.reason]
    if binds.reason == profile.STOPPING:
        return replace(stop.limit, distance=binds.distance + stop.beyond)
    return mover_limit(binds.reason, binds.blame, binds.distance, scenery)
