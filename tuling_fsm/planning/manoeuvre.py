"""Driving a free-space motion that was found once: the same path, timed anew on every tick against what moves (USE-8,
USE-9)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import FloatArray, Pose, wrap_angle
from tuling_fsm.core.request import FreeSpace, Limit, Manoeuvre, PlanResult, PullOver, Reason
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning import profile
from tuling_fsm.planning.body import Body
from tuling_fsm.planning.continuity import StartState
from tuling_fsm.planning.evaluate import drive_among
from tuling_fsm.planning.explain import BY_BINDING, mover_limit
from tuling_fsm.planning.free_space import plan_free_space
from tuling_fsm.planning.hold import STANDS, comfortable_stop
from tuling_fsm.planning.movers import Movers
from tuling_fsm.planning.occupied import Swept, swept
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths import (
    AT_ONCE,
    PCOS,
    PHEADING,
    PKAPPA,
    PLACES,
    PS,
    PSIN,
    PX,
    PY,
    Laid,
    new_path,
    place_body,
)
from tuling_fsm.planning.profile import STEP_S, Demand, envelope
from tuling_fsm.planning.reference import COLUMNS, COS, EXTENSION, HEADING, KAPPA, SIN, S, X, Y
from tuling_fsm.planning.scenery import Scenery
from tuling_fsm.planning.solids import blocked_by_solids
from tuling_fsm.planning.timed import timed_path, times
from tuling_fsm.planning.tools import Tools
from tuling_fsm.planning.walls import wall_at

_SAME_GOAL_M, _SAME_GOAL_RAD = 0.1, 0.03
_SPACING = 0.1
_MAX_POINTS = 240
_MOVES = 1e-3
_START_ROOM = 0.05
"""What is left of a manoeuvre is driven down to this (m), where lane driving would stay where it is."""
_CREEP = 0.1
"""Where the wheels turn on the spot, the car may be as slow as this (m/s)."""
_LEAST = 0.3
"""No point of a motion is driven slower (m/s) because it was planned so: it was timed from one standstill to the next.
"""
_STEERED = 0.02
"""Wheels that stand this near (rad) to where they are needed need no time to get there."""


class Stretch(NamedTuple):
    """What is left of a motion up to its next standstill: the path, in directions of travel, the speeds (m/s) that it
    was planned with, the gear (+1, -1), the first row of the whole motion that is ahead, and whether the motion ends
    there.
    """

    path: FloatArray
    speed: FloatArray
    gear: float
    row: int
    last: bool


class Stop(NamedTuple):
    """Where to stand on a stretch (m along it), why, and how far beyond that the bumper is from what stands there
    (m).
    """

    at: float
    limit: Limit
    beyond: float


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
    here = replace(scene, ego=Ego(start.pose, start.v, start.a, start.curvature)) if start.planned else scene
    found = plan_free_space(replace(request, walls=()), here, vehicle, parameters.free_space)
    if found.trajectory is None:
        before = previous.trajectory if previous is not None and start.planned else None
        return replace(found, trajectory=comfortable_stop(scene, start, before, vehicle, parameters.speed))
    kept = Manoeuvre(request.goal, found.trajectory)
    return go_on(kept, request, scene, start, tools) or found


def among(path: FloatArray, scene: Scene, body: Body, parameters: PlanningParameters) -> tuple[Laid, Scenery]:
    """A path (n, PATH) laid on itself, and what is around it."""
    line = _as_line(path)
    pose = (float(path[0, PX]), float(path[0, PY]), float(path[0, PHEADING]), float(path[0, PKAPPA]))
    scenery = Scenery.of(scene, line[None], np.array([len(line)]), np.zeros(1), pose, body, 0.0, parameters)
    places = np.zeros((PLACES, len(path) + AT_ONCE))
    place_body(path, len(path), body.middle, places)
    return Laid(path, len(path), 1, line, 0, places), scenery


def _same(one: Pose, other: Pose) -> bool:
    apart = math.hypot(one.x - other.x, one.y - other.y)
    return apart < _SAME_GOAL_M and abs(wrap_angle(one.heading - other.heading)) < _SAME_GOAL_RAD


def go_on(
    kept: Manoeuvre, request: FreeSpace | PullOver, scene: Scene, start: StartState, tools: Tools
) -> PlanResult | None:
    """The next part of the motion, `None` where it is over, blocked, too far from the car, or reverses although that
    is not allowed any more.
    """
    vehicle, parameters = tools.vehicle, tools.parameters
    stretch = next_stretch(kept, start, parameters)
    if stretch is None:
        return None
    reverse = bool(np.any(kept.whole.v[stretch.row :] < -_MOVES))
    if reverse and not request.allow_reverse:
        return None
    path, n, gear = stretch.path, len(stretch.path), stretch.gear
    body = _facing(tools.body, gear)
    laid, scenery = among(path, scene, body, parameters)
    stop = _stop_on(stretch, laid, request, scenery, body, parameters)
    if stop.limit.reason is Reason.OBSTACLE and stop.at < parameters.speed.start_room and abs(start.v) < STANDS:
        return None
    top = min(request.speed_limit, vehicle.max_speed if gear > 0.0 else vehicle.max_reverse_speed)
    limit = np.minimum(top, np.maximum(stretch.speed, _LEAST))
    binds = _time(laid, scenery.movers, body, limit, stop, start, gear, tools)
    trajectory, limit = timed_path(scene.stamp, path, n, tools.whole.rows, gear), _limit(binds, stop, scenery)
    if abs(start.v) < STANDS and trajectory.stands:
        # Nobody turns the wheels of a car that only waits: that still takes its time when it may go on.
        trajectory = replace(trajectory, curvature=np.full(len(trajectory), start.curvature))
    elif abs(start.v) < STANDS:
        steered = _steer_first(trajectory, start.curvature, vehicle)
        trajectory, limit = steered, limit if steered is trajectory else Limit(Reason.STEERING)
    return PlanResult(True, trajectory, limit, uses_reverse=reverse, manoeuvre=replace(kept, row=stretch.row))


def next_stretch(kept: Manoeuvre, start: StartState, parameters: PlanningParameters) -> Stretch | None:
    """What is to be driven next, from the point nearest to the car on."""
    whole, row, limits = kept.whole, kept.row, parameters.manoeuvre
    moves = np.abs(whole.v) > _MOVES
    while True:
        ahead = row + np.flatnonzero(moves[row:])
        if len(ahead) == 0:
            return None
        gear = float(np.sign(whole.v[ahead[0]]))
        # It ends at the next standstill, where the gear changes or the wheels are turned.
        stands = np.flatnonzero((np.diff(ahead) > 1) | (np.sign(whole.v[ahead[1:]]) != gear))
        driven = ahead[: stands[0] + 1] if len(stands) else ahead
        end = min(int(driven[-1]) + 1, len(whole) - 1)
        path, speed, row_here = _cut(whole, max(0, int(ahead[0]) - 1), end, start.pose, gear)
        aside = (start.pose.y - path[0, PY]) * path[0, PCOS] - (start.pose.x - path[0, PX]) * path[0, PSIN]
        turn = wrap_angle(start.pose.heading - path[0, PHEADING] + (math.pi if gear < 0.0 else 0.0))
        if abs(aside) > limits.off_path or abs(turn) > limits.off_heading or gear * start.v < -STANDS:
            return None
        if path[-1, PS] > limits.cusp or abs(start.v) > STANDS:
            return Stretch(path, speed, gear, row_here, len(stands) == 0)
        row = end + 1


def _cut(whole: Trajectory, first: int, end: int, pose: Pose, gear: float) -> tuple[FloatArray, FloatArray, int]:
    """Rows `first` to `end` from the point nearest to a pose on as a path, its speeds, the row before that point."""
    xy = np.column_stack((whole.x[first : end + 1], whole.y[first : end + 1]))
    way = np.diff(xy, axis=0)
    length2 = np.maximum(np.sum(way * way, axis=1), 1e-12)
    share = np.clip(np.sum((np.array(pose[:2]) - xy[:-1]) * way, axis=1) / length2, 0.0, 1.0)
    foot = xy[:-1] + share[:, None] * way
    at = int(np.argmin(np.hypot(*(foot - np.array(pose[:2])).T)))
    s = np.concatenate((np.zeros(1), np.cumsum(np.sqrt(length2))))
    begin = float(s[at] + share[at] * (s[at + 1] - s[at]))
    n = int(min(_MAX_POINTS, max(2, (s[-1] - begin) / _SPACING + 2)))
    samples = np.linspace(begin, float(s[-1]), n)
    rows = slice(first, end + 1)
    path = new_path(n)
    path[:, PX], path[:, PY] = np.interp(samples, s, whole.x[rows]), np.interp(samples, s, whole.y[rows])
    path[:, PHEADING] = np.interp(samples, s, whole.heading[rows]) + (math.pi if gear < 0.0 else 0.0)
    path[:, PKAPPA] = gear * np.interp(samples, s, whole.curvature[rows])
    path[:, PCOS], path[:, PSIN] = np.cos(path[:, PHEADING]), np.sin(path[:, PHEADING])
    path[:, PS] = samples - begin
    return path, np.interp(samples, s, np.abs(whole.v[rows])), first + at


def _facing(body: Body, gear: float) -> Body:
    """The body as seen in the direction of travel: in reverse the rear comes first."""
    if gear > 0.0:
        return body
    return Body(body.rear, body.front, -body.middle, body.half_length, body.half_width)


def _as_line(path: FloatArray) -> FloatArray:
    """The path as a reference line, straight on beyond its end."""
    more = int(EXTENSION)
    line = np.zeros((len(path) + more, COLUMNS))
    for column, source in ((X, PX), (Y, PY), (COS, PCOS), (SIN, PSIN), (HEADING, PHEADING), (KAPPA, PKAPPA), (S, PS)):
        line[: len(path), column] = path[:, source]
        line[len(path) :, column] = path[-1, source]
    beyond = 1.0 + np.arange(more)
    line[len(path) :, KAPPA] = 0.0
    line[len(path) :, X] += beyond * path[-1, PCOS]
    line[len(path) :, Y] += beyond * path[-1, PSIN]
    line[len(path) :, S] += beyond
    return line


def _stop_on(
    stretch: Stretch,
    laid: Laid,
    request: FreeSpace | PullOver,
    scenery: Scenery,
    body: Body,
    parameters: PlanningParameters,
) -> Stop:
    """The nearest of the stretch's end, walls, and static things that were not there when the motion was planned."""
    path, gap = stretch.path, parameters.speed.line_gap
    stop = Stop(float(path[-1, PS]), Limit(Reason.TARGET if stretch.last else Reason.GEAR_CHANGE), 0.0)
    for wall in request.walls:
        touch = wall_at(path, len(path), body, np.array((wall.x0, wall.y0, wall.x1, wall.y1)), 0.0)
        if touch - gap < stop.at:
            stop = Stop(touch - gap, Limit(wall.reason, 0.0, wall.detail, wall.blocker), gap)
    blocked, by = blocked_by_solids(laid, scenery.solids, body, parameters.clearance.wanted)
    free = float(path[max(0, blocked - 1), PS]) - gap
    if by >= 0 and free < stop.at:
        row = int(scenery.solids.id[by])
        blocker = int(scenery.obstacles.id[row]) if row >= 0 else -1
        stop = Stop(free, Limit(Reason.OBSTACLE, 0.0, f"object {blocker}" if row >= 0 else "static edge", blocker), gap)
    return stop


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
    binds, _, _ = drive_among(
        laid, movers, Swept(*swept(laid)), target, motion, math.inf, lead, 1.0, body, drive, scratch
    )
    return Demand(*binds)


def _steer_first(trajectory: Trajectory, curvature: float, vehicle: Vehicle) -> Trajectory:
    """The same after the time that the wheels need to turn while the car stands."""
    now = math.atan(vehicle.wheelbase * curvature)
    needed = math.atan(vehicle.wheelbase * float(trajectory.curvature[0]))
    rows = math.ceil(abs(needed - now) / vehicle.max_steer_rate / STEP_S)
    if abs(needed - now) < _STEERED:
        return trajectory
    lead = now + (needed - now) * np.arange(rows) / rows
    columns = {name: getattr(trajectory, name) for name in ("x", "y", "heading", "v", "a")}
    held = {name: np.concatenate((np.full(rows, column[0]), column)) for name, column in columns.items()}
    held["v"][:rows], held["a"][:rows] = 0.0, 0.0
    bend = np.concatenate((np.tan(lead) / vehicle.wheelbase, trajectory.curvature))
    return Trajectory(trajectory.stamp, times(len(bend)), curvature=bend, **held)


def _limit(binds: Demand, stop: Stop, scenery: Scenery) -> Limit:
    """What limits the speed now."""
    if binds.reason in BY_BINDING:
        return BY_BINDING[binds.reason]
    if binds.reason == profile.STOPPING:
        return replace(stop.limit, distance=binds.distance + stop.beyond)
    return mover_limit(binds.reason, binds.blame, binds.distance, scenery)
