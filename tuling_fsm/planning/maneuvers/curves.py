"""Quintic curves to a goal ahead, which the car drives forward in one go with its wheels turning as it rolls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space.obstacles import held_lines
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.curve_shape import allowed_speeds, drivable, quintic_curve, straight
from tuling_fsm.planning.maneuvers.section import static_along
from tuling_fsm.planning.obstacles.static import blocked_by_static
from tuling_fsm.planning.paths.frenet_path import PHEADING, PKAPPA, PROOM, PS, PX, PY, new_path
from tuling_fsm.planning.start_state import StartState

_STRETCHES = (
    (1.0, 1.0),
    (0.8, 0.8),
    (1.3, 1.3),
    (0.85, 1.2),
    (0.85, 1.5),
    (1.0, 1.7),
    (1.3, 0.9),
    (0.6, 0.6),
    (1.6, 1.6),
)
"""Tangents at both ends of the curves that are tried, in distances to the goal."""
_LEADS = (0.0, 0.3, 0.5, 0.65, 0.8)
"""How much of the way ahead is driven straight on before the curve, past what stands in the bays before."""
_TAILS = (0.0, 0.2, 0.35, 0.5)
"""How much of the way ahead is driven straight on after a curve that is not the last part of a slot."""
_EARLY_LEADS, _FEW_STRETCHES = (0.0, 0.15, 0.3), ((1.0, 1.0), (0.8, 0.8), (1.25, 1.25))
"""Leads and tangents of such curves."""
_CREEPING = 0.4
"""The wheels must be able to follow such a curve at this speed, m/s."""
_STARTING = 0.2
"""A motion is timed as if it began and ended at this speed, m/s."""
_STRAIGHT = 0.005
"""A car on a path of less curvature (1/m) drives straight on."""
_SPACING = 0.15
_SHORTEST = 2.0
"""Curves are for goals at least this far ahead, m."""
_SLOWEST = 1.0
"""The wheels must be able to follow a curve at this speed, m/s."""


class FreeCurve(NamedTuple):
    """A path (n, PATH) on which nothing stands, and what speaks against it: shares of the car's greatest curvature and
    of the room that is wanted.
    """

    cost: float
    path: FloatArray


def free_curves(goal: Pose, scene: Scene, start: StartState, derived: DerivedParameters) -> Iterator[FreeCurve]:
    """Curves to a goal that the car can drive and that nothing stands in."""
    if not _within_reach(goal, start, derived):
        return
    wanted = derived.parameters.clearance.wanted
    for path in _curves(start, goal):
        if not drivable(path, start.v, derived.drive, derived.vehicle.max_steer, _SLOWEST):
            continue
        _, by = blocked_by_static(*static_along(path, scene, derived), derived.body, wanted)
        if by < 0:
            bend = float(np.abs(path[:, PKAPPA]).max()) / derived.vehicle.max_curvature
            yield FreeCurve(bend + 1.0 - min(float(path[:, PROOM].min()), wanted) / wanted, path)


def curve_to_goal(request: FreeSpace, scene: Scene, start: StartState, derived: DerivedParameters) -> Trajectory | None:
    """The quickest curve that keeps the clearance which a search wishes for, as a motion; None where there is none.

    The curve may be over before the goal, and the rest of the way straight on. Lines hold as for a search: one that the
    car stands on is dropped near it, see `held_lines`.
    """
    if not _within_reach(request.goal, start, derived):
        return None
    free_space = derived.parameters.free_space
    lines = held_lines(request.lines, start.pose, derived.vehicle, free_space.line_release)
    scene = replace(scene, static_segments=np.vstack((scene.static_segments, lines)))
    paths = (
        path
        for path in _shapes(start, request.goal)
        if drivable(path, start.v, derived.drive, derived.vehicle.max_steer, _CREEPING)
    )
    for path in sorted(
        paths, key=lambda each: _duration(each, allowed_speeds(each, request.speed_limit, derived.drive))
    ):
        _, by = blocked_by_static(*static_along(path, scene, derived), derived.body, free_space.clearance)
        if by < 0 and float(path[:, PROOM].min()) >= free_space.clearance:
            return _timed(
                path, scene.stamp, allowed_speeds(path, request.speed_limit, derived.drive), free_space.accel, start.v
            )
    return None


def _within_reach(goal: Pose, start: StartState, derived: DerivedParameters) -> bool:
    """Whether the car does not go back, and the goal is on its map."""
    away = elementary.hypot(goal.x - start.pose.x, goal.y - start.pose.y)
    return start.v >= 0.0 and away <= derived.parameters.free_space.max_distance


def _shapes(start: StartState, goal: Pose) -> Iterator[FloatArray]:
    """Curves to a goal ahead, begun now or later, and over there or earlier."""
    sin, cos = elementary.sin_cos(goal.heading)
    along = (goal.x - start.pose.x) * cos + (goal.y - start.pose.y) * sin
    for share in _TAILS:
        tail = share * along
        middle = Pose(goal.x - tail * cos, goal.y - tail * sin, goal.heading)
        for curve in _curves(start, middle, _EARLY_LEADS, _FEW_STRETCHES):
            if tail <= 0.0:
                yield curve
                continue
            rest = straight(middle, tail, _SPACING)
            end = new_path(1)
            end[0] = rest[-1]
            end[0, PX], end[0, PY], end[0, PS] = goal.x, goal.y, tail
            rest = np.concatenate((rest[1:], end))
            rest[:, PS] += curve[-1, PS]
            rest[:, PHEADING] += 2.0 * math.pi * round((curve[-1, PHEADING] - goal.heading) / (2.0 * math.pi))
            yield np.asfortranarray(np.concatenate((curve, rest)))


def _duration(path: FloatArray, allowed: FloatArray) -> float:
    """Time (s) that a path takes at the speeds that are allowed on it."""
    return float(np.sum(np.diff(path[:, PS]) / allowed))


def _timed(path: FloatArray, stamp: float, allowed: FloatArray, accel: float, v0: float) -> Trajectory:
    """The path as a motion from `v0` (m/s) to a stop, at these speeds and this acceleration (m/s^2); oncoming vehicles
    are judged by how long it takes.
    """
    step = np.diff(path[:, PS])
    v = np.minimum(np.append(allowed, np.inf), np.append(np.inf, allowed))
    v[0], v[-1] = max(v0, _STARTING), _STARTING
    for i in range(len(step)):
        v[i + 1] = min(v[i + 1], math.sqrt(v[i] * v[i] + 2.0 * accel * step[i]))
    for i in range(len(step) - 1, -1, -1):
        v[i] = min(v[i], math.sqrt(v[i + 1] * v[i + 1] + 2.0 * accel * step[i]))
    t = np.append(0.0, np.cumsum(2.0 * step / (v[:-1] + v[1:])))
    v[-1] = 0.0
    return Trajectory(
        stamp, t=t, x=path[:, PX], y=path[:, PY], heading=path[:, PHEADING], curvature=path[:, PKAPPA], v=v,
        a=np.zeros(len(v)),
    )  # fmt: skip


def _curves(
    start: StartState,
    goal: Pose,
    leads: tuple[float, ...] = _LEADS,
    stretches: tuple[tuple[float, float], ...] = _STRETCHES,
) -> Iterator[FloatArray]:
    """Curves into a goal ahead, begun now or later."""
    pose = start.pose
    dx, dy = goal.x - pose.x, goal.y - pose.y
    sin, cos = elementary.sin_cos(pose.heading)
    along = dx * cos + dy * sin
    for share in leads if abs(start.curvature) < _STRAIGHT else leads[:1]:
        lead = share * along
        begin = Pose(pose.x + lead * cos, pose.y + lead * sin, pose.heading)
        if along - lead < max(_SHORTEST, 0.7 * elementary.hypot(goal.x - begin.x, goal.y - begin.y)):
            return
        for tangents in stretches:
            curve = quintic_curve(begin, start.curvature, goal, tangents, _SPACING)
            if lead > 0.0:
                curve[:, PS] += lead
                curve = np.concatenate((straight(pose, lead, _SPACING), curve))
            yield curve


def at_one_speed(path: FloatArray, stamp: float, speed: float) -> Trajectory:
    """The path as a motion at one speed, which is timed when it is driven."""
    v = np.full(len(path), speed)
    v[-1] = 0.0
    return Trajectory(
        stamp, t=path[:, PS] / speed, x=path[:, PX], y=path[:, PY], heading=path[:, PHEADING],
        curvature=path[:, PKAPPA], v=v, a=np.zeros(len(v)),
    )  # fmt: skip
