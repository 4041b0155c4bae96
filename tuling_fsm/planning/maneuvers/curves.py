"""Quintic curves to a goal ahead, which the car drives forward in one go with its wheels turning as it rolls.

The curves are those of [takahashi1989][]: their coordinates are quintic polynomials, and position, direction and
curvature are met at both ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space.obstacles import held_lines
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers.section import surroundings_of
from tuling_fsm.planning.obstacles.static import blocked_by_static
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PROOM, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed.car_following import LongitudinalLimits
from tuling_fsm.planning.start_state import StartState

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
_TAILS = (0.0, 0.2, 0.35, 0.5)
"""How much of the way ahead is driven straight on after a curve that is not the last part of a slot."""
_EARLY_LEADS, _FEW_STRETCHES = (0.0, 0.15, 0.3), (1.0, 0.8, 1.25)
"""Leads and tangents of such curves."""
_CREEPING = 0.4
"""The wheels must be able to follow such a curve at this speed, m/s."""
_STARTING = 0.2
"""A motion is timed as if it began and ended at this speed, m/s."""
_STRAIGHT = 0.005
"""A car on a path of less curvature (1/m) drives straight on."""
_SPACING = 0.15
_FARTHEST = 1000.0
"""No curve leads farther, m: its points would only take up memory and time."""
_SHORTEST = 2.0
"""Curves are for goals at least this far ahead, m."""
_EASE = 0.7
"""Share of comfortable braking on which a curve may count: braking has to set in first."""
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
    if start.v < 0.0:
        return
    wanted = derived.parameters.clearance.wanted
    for path in _curves(start, goal):
        if not drivable(path, start.v, derived.drive, derived.vehicle.max_steer):
            continue
        frenet, surroundings = surroundings_of(path, scene, derived.body, derived)
        _, by = blocked_by_static(frenet, surroundings.static, derived.body, wanted)
        if by < 0:
            bend = float(np.abs(path[:, PKAPPA]).max()) / derived.vehicle.max_curvature
            yield FreeCurve(bend + 1.0 - min(float(path[:, PROOM].min()), wanted) / wanted, path)


def curve_to_goal(request: FreeSpace, scene: Scene, start: StartState, derived: DerivedParameters) -> Trajectory | None:
    """The quickest curve that keeps the clearance which a search wishes for, as a motion; None where there is none.

    The curve may be over before the goal, and the rest of the way straight on. Lines hold as for a search: one that the
    car stands on is dropped near it, see `held_lines`.
    """
    if start.v < 0.0:
        return None
    free_space = derived.parameters.free_space
    lines = held_lines(request.lines, start.pose, derived.vehicle, free_space.line_release)
    scene = replace(scene, static_segments=np.vstack((scene.static_segments, lines)))
    paths = (
        path
        for path in _shapes(start, request.goal)
        if drivable(path, start.v, derived.drive, derived.vehicle.max_steer, _CREEPING)
    )
    for path in sorted(paths, key=lambda each: _duration(each, _allowed(each, request.speed_limit, derived.drive))):
        frenet, surroundings = surroundings_of(path, scene, derived.body, derived)
        _, by = blocked_by_static(frenet, surroundings.static, derived.body, free_space.clearance)
        if by < 0 and float(path[:, PROOM].min()) >= free_space.clearance:
            return _timed(
                path, scene.stamp, _allowed(path, request.speed_limit, derived.drive), free_space.accel, start.v
            )
    return None


def _shapes(start: StartState, goal: Pose) -> Iterator[FloatArray]:
    """Curves to a goal ahead, begun now or later, and over there or earlier."""
    cos, sin = elementary.cos(goal.heading), elementary.sin(goal.heading)
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
            yield np.asfortranarray(np.concatenate((curve, rest)))


def _allowed(path: FloatArray, speed_limit: float, drive: LongitudinalLimits) -> FloatArray:
    """Speeds (n - 1,) that the limit, bends and the turning of the wheels allow on a path, m/s."""
    bend = np.sqrt(drive.lateral / np.maximum(np.abs(path[1:, PKAPPA]), 1e-6))
    allowed: FloatArray = np.minimum(np.minimum(_steered(path, drive), bend), speed_limit)
    return allowed


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


def _steered(path: FloatArray, drive: LongitudinalLimits) -> FloatArray:
    """Speeds (n - 1,) at which the wheels can follow a path (n, PATH), m/s."""
    steer = elementwise.arctan(drive.wheelbase * path[:, PKAPPA])
    change = np.abs(np.diff(steer)) / np.maximum(np.diff(path[:, PS]), 1e-6)
    speed: FloatArray = drive.steer_rate / np.maximum(change, 1e-9)
    return speed


def _curves(
    start: StartState, goal: Pose, leads: tuple[float, ...] = _LEADS, stretches: tuple[float, ...] = _STRETCHES
) -> Iterator[FloatArray]:
    """Curves into a goal ahead, begun now or later."""
    pose = start.pose
    dx, dy = goal.x - pose.x, goal.y - pose.y
    if elementary.hypot(dx, dy) > _FARTHEST:
        return
    cos, sin = elementary.cos(pose.heading), elementary.sin(pose.heading)
    along = dx * cos + dy * sin
    for share in leads if abs(start.curvature) < _STRAIGHT else leads[:1]:
        lead = share * along
        begin = Pose(pose.x + lead * cos, pose.y + lead * sin, pose.heading)
        if along - lead < max(_SHORTEST, 0.7 * elementary.hypot(goal.x - begin.x, goal.y - begin.y)):
            return
        for stretch in stretches:
            curve = quintic_curve(begin, start.curvature, goal, stretch, _SPACING)
            if lead > 0.0:
                curve[:, PS] += lead
                curve = np.concatenate((straight(pose, lead, _SPACING), curve))
            yield curve


def drivable(
    path: FloatArray, v: float, drive: LongitudinalLimits, max_steer: float, slowest: float = _SLOWEST
) -> bool:
    """Whether the car, at `v` (m/s) at its start, can follow a path (n, PATH) and stop at its end, both at ease, and
    has to be no slower than `slowest` (m/s) for its wheels to follow.
    """
    steer = elementwise.arctan(drive.wheelbase * path[:, PKAPPA])
    least = np.sqrt(np.maximum(v * v - 2.0 * _EASE * drive.decel * path[:, PS], 0.0))
    follows = bool(np.all(np.maximum(least[:-1], slowest) <= _steered(path, drive)))
    return follows and float(np.abs(steer).max()) <= max_steer and float(least[-1]) == 0.0


def at_one_speed(path: FloatArray, stamp: float, speed: float) -> Trajectory:
    """The path as a motion at one speed, which is timed when it is driven."""
    v = np.full(len(path), speed)
    v[-1] = 0.0
    return Trajectory(
        stamp, t=path[:, PS] / speed, x=path[:, PX], y=path[:, PY], heading=path[:, PHEADING],
        curvature=path[:, PKAPPA], v=v, a=np.zeros(len(v)),
    )  # fmt: skip
