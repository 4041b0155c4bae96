"""The independent check of the outgoing plan (SAF-2): own geometry, own limits, nothing shared with the planners."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, LaneLine, PlanningRequest, PullOver, Reason
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.contact import first_segment_met, meetings
from tuling_fsm.planning.parameters import CheckParameters, PlanningParameters

BoolArray = npt.NDArray[np.bool_]


class Breach(str, Enum):
    """What a plan can be rejected for."""

    BROKEN = "BROKEN"
    CURVATURE = "CURVATURE"
    CURVATURE_RATE = "CURVATURE_RATE"
    ACCELERATION = "ACCELERATION"
    JERK = "JERK"
    SPEED_LIMIT = "SPEED_LIMIT"
    RED_LIGHT = "RED_LIGHT"
    COLLISION = "COLLISION"
    PREDICTED_COLLISION = "PREDICTED_COLLISION"


@dataclass(frozen=True)
class Violation:
    """The first thing wrong with a plan: what, when (s after its stamp), and a few words for people."""

    breach: Breach
    t: float
    detail: str


class _Case(NamedTuple):
    plan: Trajectory
    scene: Scene
    request: PlanningRequest
    vehicle: Vehicle
    limits: CheckParameters


_STANDS = 0.1
_ROLLS = 0.05
_ONSET = 0.5
"""Jerk up to this long before or after hard braking belongs to it (s)."""


def check(
    trajectory: Trajectory, scene: Scene, request: PlanningRequest, vehicle: Vehicle, parameters: PlanningParameters
) -> Violation | None:
    """What is wrong with a plan before it is sent, `None` when nothing is.

    Stops are exempt from limits of comfort but not from collision where they could be avoided; a car that stands, or
    is hit from behind in its own lane, is not at fault.
    """
    case = _Case(trajectory, scene, request, vehicle, parameters.check)
    for rule in _RULES:
        violation = rule(case)
        if violation is not None:
            return violation
    return None


def _first(bad: BoolArray, t: FloatArray, breach: Breach, detail: Callable[[int], str]) -> Violation | None:
    rows = np.flatnonzero(bad)
    return None if len(rows) == 0 else Violation(breach, float(t[rows[0]]), detail(int(rows[0])))


def _broken(case: _Case) -> Violation | None:
    """Rows that are no motion: not finite, not in order, or not where speed and heading lead."""
    plan = case.plan
    columns = np.stack((plan.t, plan.x, plan.y, plan.heading, plan.curvature, plan.v, plan.a))
    if not np.all(np.isfinite(columns)) or not math.isfinite(plan.stamp):
        return Violation(Breach.BROKEN, 0.0, "a value is not finite")
    step = np.diff(plan.t)
    if np.any(step <= 0.0):
        return Violation(Breach.BROKEN, 0.0, "time does not increase")
    v, heading = 0.5 * (plan.v[1:] + plan.v[:-1]), 0.5 * (plan.heading[1:] + plan.heading[:-1])
    error = np.hypot(np.diff(plan.x) - v * step * np.cos(heading), np.diff(plan.y) - v * step * np.sin(heading))
    return _first(error > case.limits.position, plan.t, Breach.BROKEN, lambda i: f"{error[i]:.2f} m off its own speed")


def _curvature(case: _Case) -> Violation | None:
    plan, most = case.plan, case.limits.curvature * case.vehicle.max_curvature
    bad = np.abs(plan.curvature) > most
    return _first(bad, plan.t, Breach.CURVATURE, lambda i: f"{plan.curvature[i]:.3f} 1/m, limit {most:.3f}")


def _curvature_rate(case: _Case) -> Violation | None:
    """The steering angle's rate between rows."""
    plan, most = case.plan, case.limits.steer_rate * case.vehicle.max_steer_rate
    rate = np.diff(np.arctan(case.vehicle.wheelbase * plan.curvature)) / np.diff(plan.t)
    bad = (np.abs(rate) > most) & (np.abs(plan.v[1:]) > _ROLLS)
    return _first(bad, plan.t, Breach.CURVATURE_RATE, lambda i: f"{rate[i]:.2f} rad/s, limit {most:.2f}")


def _acceleration(case: _Case) -> Violation | None:
    plan, vehicle = case.plan, case.vehicle
    gear = np.where(plan.v < 0.0, -1.0, 1.0)
    forward = gear * plan.a
    most, least = case.limits.accel * vehicle.max_accel, -case.limits.accel * vehicle.emergency_decel
    bad = (forward > most) | (forward < least)
    return _first(bad, plan.t, Breach.ACCELERATION, lambda i: f"{forward[i]:.2f} m/s^2")


def _jerk(case: _Case) -> Violation | None:
    """Jerk between rows; hard braking, and the last moment before standing, have a limit of their own."""
    if isinstance(case.request, Hold):
        return None
    plan, vehicle, limits = case.plan, case.vehicle, case.limits
    jerk = np.abs(np.diff(plan.a)) / np.diff(plan.t)
    gear = np.where(plan.v < 0.0, -1.0, 1.0)
    hard = _near_row(gear * plan.a < -1.2 * vehicle.comfort_decel, plan.t)[:-1]
    settling = np.minimum(np.abs(plan.v[1:]), np.abs(plan.v[:-1])) < _STANDS
    most = np.where(hard | settling, limits.brake_jerk, limits.jerk * vehicle.max_jerk)
    return _first(jerk > most, plan.t, Breach.JERK, lambda i: f"{jerk[i]:.1f} m/s^3, limit {most[i]:.1f}")


def _near_row(rows: BoolArray, t: FloatArray) -> BoolArray:
    """Rows within `_ONSET` of one that is set."""
    at = t[rows]
    return np.asarray(np.any(np.abs(t[:, None] - at[None, :]) <= _ONSET, axis=1))


def _speed_limit(case: _Case) -> Violation | None:
    """Faster than allowed without braking for it."""
    plan, request, vehicle = case.plan, case.request, case.vehicle
    if isinstance(request, Hold):
        return None
    most: FloatArray = np.full(len(plan), min(request.speed_limit, vehicle.max_speed))
    if isinstance(request, FreeSpace | PullOver):
        most = np.where(plan.v < 0.0, min(request.speed_limit, vehicle.max_reverse_speed), most)
    elif request.lanes:
        most = np.minimum(most, _lane_limit(request.lanes, plan))
    eases = np.where(plan.v < 0.0, -1.0, 1.0) * plan.a < -0.3 * vehicle.comfort_decel
    allowed = np.maximum(most, _soonest_braking(plan, vehicle))
    bad = (np.abs(plan.v) > allowed + case.limits.speed) & ~eases
    return _first(bad, plan.t, Breach.SPEED_LIMIT, lambda i: f"{abs(plan.v[i]):.2f} m/s, limit {most[i]:.2f}")


def _soonest_braking(plan: Trajectory, vehicle: Vehicle) -> FloatArray:
    """Speed of a car that starts to brake now, with the comfortable jerk: a limit that has just fallen is met no
    sooner.
    """
    gear = -1.0 if plan.v[0] < 0.0 else 1.0
    accel = np.maximum(gear * plan.a[0] - vehicle.max_jerk * plan.t, -vehicle.comfort_decel)
    change = np.concatenate(([0.0], np.cumsum(0.5 * (accel[1:] + accel[:-1]) * np.diff(plan.t))))
    return np.asarray(gear * plan.v[0] + change, dtype=np.float64)


def _lane_limit(lanes: tuple[LaneLine, ...], plan: Trajectory) -> FloatArray:
    """Speed limit at every row, of the lane whose centre is nearest."""
    best: FloatArray = np.full(len(plan), np.inf)
    limit: FloatArray = np.full(len(plan), np.inf)
    for lane in lanes:
        xy, limits = lane.center.xy[::4], lane.limit[::4]
        distance = np.hypot(plan.x[:, None] - xy[:, 0], plan.y[:, None] - xy[:, 1])
        nearest = np.argmin(distance, axis=1)
        apart = distance[np.arange(len(plan)), nearest]
        closer = apart < best
        best, limit = np.where(closer, apart, best), np.where(closer, limits[nearest], limit)
    return limit


def _red_light(case: _Case) -> Violation | None:
    """The front bumper over a red stop line that it could have stopped at."""
    plan, vehicle = case.plan, case.vehicle
    if isinstance(case.request, Hold):
        return None
    for wall in case.request.walls:
        if wall.reason is not Reason.RED_LIGHT:
            continue
        row = _bumper_over(plan, vehicle, (wall.x0, wall.y0, wall.x1, wall.y1))
        if row < 0:
            continue
        way = float(np.hypot(np.diff(plan.x[: row + 1]), np.diff(plan.y[: row + 1])).sum())
        if way > 0.5 * float(plan.v[0]) ** 2 / vehicle.emergency_decel:
            return Violation(Breach.RED_LIGHT, float(plan.t[row]), wall.detail)
    return None


def _bumper_over(plan: Trajectory, vehicle: Vehicle, wall: tuple[float, float, float, float]) -> int:
    """First row at which the middle of the front bumper has crossed a segment, -1 for none."""
    x = plan.x + vehicle.front * np.cos(plan.heading)
    y = plan.y + vehicle.front * np.sin(plan.heading)
    wx, wy = wall[2] - wall[0], wall[3] - wall[1]
    side = (x - wall[0]) * wy - (y - wall[1]) * wx
    along = ((x - wall[0]) * wx + (y - wall[1]) * wy) / max(wx * wx + wy * wy, 1e-12)
    crosses = (side[:-1] * side[1:] <= 0.0) & (side[:-1] != side[1:]) & (plan.v[1:] > 0.0)
    half = 0.5 * vehicle.width / max(math.hypot(wx, wy), 1e-6)
    rows = np.flatnonzero(crosses & (along[1:] > -half) & (along[1:] < 1.0 + half))
    return int(rows[0]) + 1 if len(rows) else -1


def _poses(case: _Case) -> FloatArray:
    return np.column_stack((case.plan.x, case.plan.y, case.plan.heading))


def _near(case: _Case, x: FloatArray, y: FloatArray, size: FloatArray) -> BoolArray:
    """Things (centre and half size) within reach of the plan's bounding box."""
    plan, reach = case.plan, case.vehicle.front + case.vehicle.width
    dx = np.maximum(np.maximum(plan.x.min() - x, x - plan.x.max()), 0.0)
    dy = np.maximum(np.maximum(plan.y.min() - y, y - plan.y.max()), 0.0)
    return np.asarray(np.maximum(dx, dy) <= reach + size)


def _outline(vehicle: Vehicle) -> tuple[float, float, float]:
    return -vehicle.rear_overhang, vehicle.front, 0.5 * vehicle.width


def _collision(case: _Case) -> Violation | None:
    """Static edges and objects along the whole plan."""
    if case.plan.stands:
        return None
    edges = case.scene.static_segments
    middle = 0.5 * (edges[:, :2] + edges[:, 2:])
    size = 0.5 * np.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1])
    edges = np.ascontiguousarray(edges[_near(case, middle[:, 0], middle[:, 1], size)])
    poses, contact = _poses(case), case.limits.contact
    row, _ = first_segment_met(poses, edges, *_outline(case.vehicle), contact)
    if row >= 0:
        return Violation(Breach.COLLISION, float(case.plan.t[row]), "static edge")
    around = case.scene.obstacles
    still = np.flatnonzero(~around.moving & _near(case, around.x[:, 0], around.y[:, 0], around.length))
    met = _meetings(case, still, math.inf)
    hit = np.flatnonzero(met >= 0)
    if len(hit) == 0:
        return None
    worst = hit[np.argmin(met[hit])]
    return Violation(Breach.COLLISION, float(case.plan.t[int(met[worst])]), f"object {around.id[still[worst]]}")


def _meetings(case: _Case, rows: npt.NDArray[np.int64], until: float) -> FloatArray:
    """Row of the plan at which each of the given objects is met, -1 for never."""
    around, n = case.scene.obstacles, len(rows)
    boxes = np.empty((n, around.x.shape[1], 5))
    boxes[..., 0], boxes[..., 1], boxes[..., 2] = around.x[rows], around.y[rows], around.heading[rows]
    boxes[..., 3], boxes[..., 4] = around.length[rows, None], around.width[rows, None]
    met = np.empty(n)
    meetings(
        _poses(case), case.plan.t, boxes, PREDICTION_STEP_S, until, *_outline(case.vehicle), case.limits.contact, met
    )
    return met


def _predicted_collision(case: _Case) -> Violation | None:
    """Moving objects where they are predicted to be, as far as that can be relied on."""
    around, plan = case.scene.obstacles, case.plan
    if plan.stands:
        return None
    reach = around.length + 3.0 * around.speed
    rows = np.flatnonzero(around.moving & _near(case, around.x[:, 0], around.y[:, 0], reach))
    met = _meetings(case, rows, case.limits.predicted)
    for i in np.flatnonzero(met >= 0):
        row, k = int(rows[i]), int(met[i])
        if abs(float(plan.v[k])) > _STANDS and not _from_behind(case, row, k):
            return Violation(Breach.PREDICTED_COLLISION, float(plan.t[k]), f"object {around.id[row]}")
    return None


def _from_behind(case: _Case, row: int, k: int) -> bool:
    """Whether an object runs into the car's rear although the car has not come into its lane."""
    around, plan = case.scene.obstacles, case.plan
    j = min(round(float(plan.t[k]) / PREDICTION_STEP_S), around.x.shape[1] - 1)
    heading, gear = float(plan.heading[k]), math.copysign(1.0, float(plan.v[k]))
    dx, dy = float(around.x[row, j] - plan.x[k]), float(around.y[row, j] - plan.y[k])
    behind = gear * (dx * math.cos(heading) + dy * math.sin(heading)) < 0.0
    same_way = gear * math.cos(float(around.heading[row, j]) - heading) > 0.5
    return behind and same_way and abs(_sideways(case, k)) < 0.8


def _sideways(case: _Case, k: int) -> float:
    """How far (m) the plan leads out of the line that the car is on, from its start to row `k`."""
    plan, request = case.plan, case.request
    if not isinstance(request, FollowLanes) or not request.lanes:
        return 0.0
    first = [lane.center.project(float(plan.x[0]), float(plan.y[0])).offset for lane in request.lanes]
    own = int(np.argmin(np.abs(first)))
    return request.lanes[own].center.project(float(plan.x[k]), float(plan.y[k])).offset - first[own]


_RULES: tuple[Callable[[_Case], Violation | None], ...] = (
    _broken,
    _curvature,
    _curvature_rate,
    _acceleration,
    _jerk,
    _speed_limit,
    _red_light,
    _collision,
    _predicted_collision,
)
