"""The independent check of the outgoing plan (SAF-2): own geometry, own limits, nothing shared with the planners
but how the car comes back to its path. It is not told what was asked for, only what the world forbids.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene
from tuling_fsm.core.standing import STOPPED, VEHICLE_STANDS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import CheckParameters, PlanningParameters
from tuling_fsm.planning.safety import motion_limits
from tuling_fsm.planning.safety.collision import BoxTracks, FootprintOutline, bounds_of, first_segment_met, meetings
from tuling_fsm.planning.safety.recovery import Recovery


class ViolationKind(str, Enum):
    """What a plan can be rejected for."""

    BROKEN = "BROKEN"
    START = "START"
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

    breach: ViolationKind
    t: float
    detail: str


class _Case(NamedTuple):
    """A plan, the same as rows of `motion_limits`, the poses (T, 3) by which the car follows it from where it was
    measured, and what it is judged by.
    """

    plan: Trajectory
    rows: FloatArray
    poses: FloatArray
    scene: Scene
    regulations: Regulations
    vehicle: Vehicle
    limits: CheckParameters


_COLUMNS = ("t", "x", "y", "heading", "curvature", "v", "a")
_EVERY = 4
"""Speed limits are looked up at every so many points of a lane."""
_STANDS, _ROLLS = VEHICLE_STANDS, STOPPED
_CRAWLS = 0.35
"""A car that is slower than this (m/s) and stops at once is not jerked: that changes its speed by no more."""
_OUT_OF_LANE, _OUT_OF_STRIP = 0.8, 0.3
"""A car that leads out of its line by more than the one (m), or whose body comes out by more than the other to a side,
has come into the way of an object behind it, or of one beside it."""
_TURNING = 0.3
"""A car that turns by more than this (rad) while another goes straight on turns off before it."""
_ONSET = 0.5
"""Jerk up to this long before or after hard braking belongs to it (s)."""


def check(
    trajectory: Trajectory,
    scene: Scene,
    regulations: Regulations,
    vehicle: Vehicle,
    parameters: PlanningParameters,
    as_stop: bool = False,
) -> Violation | None:
    """What is wrong with a plan before it is sent, `None` when nothing is.

    One that is sent `as_stop`, and does nothing but stop, is exempt from limits of comfort and speed and may begin with
    the wheels and the acceleration as they are; from nothing else. A car that stands, or is hit from behind in its own
    lane, is not at fault.
    """
    case = _case(trajectory, scene, regulations, vehicle, parameters)
    return _first(_OF_STOPS if as_stop and motion_limits.only_stops(case.rows) else _OF_PLANS, case)


def hazard(
    trajectory: Trajectory, scene: Scene, regulations: Regulations, vehicle: Vehicle, parameters: PlanningParameters
) -> Violation | None:
    """What is dangerous in a motion, whatever its comfort."""
    return _first(_HAZARDS, _case(trajectory, scene, regulations, vehicle, parameters))


def _case(
    trajectory: Trajectory, scene: Scene, regulations: Regulations, vehicle: Vehicle, parameters: PlanningParameters
) -> _Case:
    rows = np.array([getattr(trajectory, name) for name in _COLUMNS])
    poses, back = np.empty((len(trajectory), 3)), Recovery.of(vehicle, parameters.recovery)
    motion_limits.as_driven(rows, scene.ego.pose, back, poses)
    return _Case(trajectory, rows, poses, scene, regulations, vehicle, parameters.check)


_Rule = Callable[[_Case], Violation | None]


def _first(rules: tuple[_Rule, ...], case: _Case) -> Violation | None:
    for rule in rules:
        violation = rule(case)
        if violation is not None:
            return violation
    return None


def _broken(case: _Case) -> Violation | None:
    """Rows that are no motion, not finite, not in order, or not where speed and heading lead; or so few that nothing is
    said of where the car could stand.
    """
    plan = case.plan
    if motion_limits.not_a_number(case.rows) >= 0 or not math.isfinite(plan.stamp):
        return Violation(ViolationKind.BROKEN, 0.0, "a value is not finite")
    if motion_limits.out_of_order(case.rows) >= 0:
        return Violation(ViolationKind.BROKEN, 0.0, "time does not increase")
    if abs(float(plan.v[-1])) > case.vehicle.emergency_decel * float(plan.t[-1]) + _ROLLS:
        return Violation(ViolationKind.BROKEN, float(plan.t[-1]), "ends before the car could stand")
    row, error = motion_limits.off_its_speed(case.rows, case.limits.position)
    return _at(case, row, ViolationKind.BROKEN, "{:.2f} m off its own speed", error)


def _told_wrongly(case: _Case) -> Violation | None:
    """A curvature or an acceleration that is not that of the motion, on which other rules rely."""
    row, error = motion_limits.bent_otherwise(case.rows, case.limits.heading)
    if row >= 0:
        return _at(case, row, ViolationKind.BROKEN, "{:.2f} rad off its own curvature", error)
    row, error = motion_limits.sped_otherwise(case.rows, case.limits.speed_change * case.vehicle.emergency_decel)
    return _at(case, row, ViolationKind.BROKEN, "{:.1f} m/s^2 off its own acceleration", error)


def _start(case: _Case) -> Violation | None:
    """A beginning that is not where the car is: farther from where it was measured than it can have moved (SAF-5)."""
    plan, ego, limits = case.plan, case.scene.ego, case.limits
    dx, dy = float(plan.x[0]) - ego.pose.x, float(plan.y[0]) - ego.pose.y
    sin, cos = elementary.sin_cos(ego.pose.heading)
    along, aside = abs(dx * cos + dy * sin), abs(dy * cos - dx * sin)
    turn = abs(wrap_angle(float(plan.heading[0]) - ego.pose.heading))
    if along <= limits.start + case.regulations.moved and aside <= limits.start and turn <= limits.start_heading:
        return None
    return Violation(ViolationKind.START, 0.0, f"begins {along:.1f} m along, {aside:.1f} m aside of the car")


def _at(case: _Case, row: int, breach: ViolationKind, detail: str, *numbers: float) -> Violation | None:
    """A breach at a row, none for -1; `numbers` are put into `detail`."""
    return None if row < 0 else Violation(breach, float(case.plan.t[row]), detail.format(*numbers))


def _curvature(case: _Case) -> Violation | None:
    most = case.limits.curvature * case.vehicle.max_curvature
    row, kappa = motion_limits.too_bent(case.rows, most)
    return _at(case, row, ViolationKind.CURVATURE, "{:.3f} 1/m, limit {:.3f}", kappa, most)


def _curvature_rate(case: _Case) -> Violation | None:
    """The steering angle's rate between rows."""
    most = case.limits.steer_rate * case.vehicle.max_steer_rate
    row, rate = motion_limits.steered_too_fast(case.rows, case.vehicle.wheelbase, most, _ROLLS)
    return _at(case, row, ViolationKind.CURVATURE_RATE, "{:.2f} rad/s, limit {:.2f}", rate, most)


def _acceleration(case: _Case) -> Violation | None:
    vehicle, share = case.vehicle, case.limits.accel
    row, accel = motion_limits.accelerated_too_hard(
        case.rows, share * vehicle.max_accel, -share * vehicle.emergency_decel
    )
    return _at(case, row, ViolationKind.ACCELERATION, "{:.2f} m/s^2", accel)


def _lateral_acceleration(case: _Case) -> Violation | None:
    return _cornering(case, case.limits.lateral * case.vehicle.max_lateral_accel)


def _cornering(case: _Case, most: float) -> Violation | None:
    row, lateral = motion_limits.cornered_too_hard(case.rows, most)
    return _at(case, row, ViolationKind.ACCELERATION, "{:.2f} m/s^2 to the side, limit {:.2f}", lateral, most)


def _stop_limits(case: _Case) -> Violation | None:
    """Curvature, braking and cornering that no car can do; what it does at the first row, it does already."""
    later = case._replace(rows=np.ascontiguousarray(case.rows[:, 1:]))
    grip = case.limits.accel * case.vehicle.emergency_decel
    return _curvature(later) or _acceleration(later) or _cornering(later, grip) or _told_wrongly(later)


def _jerk(case: _Case) -> Violation | None:
    """Jerk between rows; hard braking, and the last moment before standing, have a limit of their own."""
    vehicle, limits = case.vehicle, case.limits
    allowed = motion_limits.JerkLimits(
        ordinary=limits.jerk * vehicle.max_jerk,
        braking=limits.brake_jerk,
        hard=1.2 * vehicle.comfort_decel,
        onset=_ONSET,
        stands=_CRAWLS,
    )
    row, jerk, most = motion_limits.jerked(case.rows, allowed)
    return _at(case, row, ViolationKind.JERK, "{:.1f} m/s^3, limit {:.1f}", jerk, most)


def _speed_limit(case: _Case) -> Violation | None:
    """Faster than allowed without braking for it."""
    plan, held, vehicle, tolerance = case.plan, case.regulations, case.vehicle, case.limits.speed
    top = min(held.speed_limit, vehicle.max_speed)
    reverse = min(held.speed_limit, vehicle.max_reverse_speed)
    least = min((lane.lowest_limit for lane in held.lanes), default=math.inf)
    if plan.top_speed <= min(top, reverse, least) + tolerance:
        return None
    most = np.minimum(np.where(plan.v < 0.0, reverse, top), _lane_limit(held.lanes, case.rows))
    row, v, limit = motion_limits.too_fast(case.rows, most, tolerance, vehicle.max_jerk, vehicle.comfort_decel)
    return _at(case, row, ViolationKind.SPEED_LIMIT, "{:.2f} m/s, limit {:.2f}", v, limit)


def _lane_limit(lanes: tuple[LaneLine, ...], rows: FloatArray) -> FloatArray:
    """Speed limit at every row, of the lane whose centre is nearest; `inf` without lanes."""
    nearest, most = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], np.inf)
    for lane in lanes:
        motion_limits.keep_to_lane_limit(rows, lane.center.xy, lane.limit, _EVERY, nearest, most)
    return most


def _red_light(case: _Case) -> Violation | None:
    """The front bumper over a closed stop line that it could have stopped at."""
    plan = case.plan
    for line in case.regulations.closed_lines:
        row, share = _bumper_over(plan, case.vehicle, line)
        if row < 0:
            continue
        steps = elementwise.hypot(np.diff(plan.x[: row + 1]), np.diff(plan.y[: row + 1]))
        way = float(steps[:-1].sum()) + share * float(steps[-1])
        if way > 0.5 * float(plan.v[0] * plan.v[0]) / line.decel:
            return Violation(ViolationKind.RED_LIGHT, float(plan.t[row]), line.detail)
    return None


def _bumper_over(plan: Trajectory, vehicle: Vehicle, line: ClosedLine) -> tuple[int, float]:
    """First row at which the middle of the front bumper has crossed a line in its direction, -1 for none, and the share
    of the step to that row which lies before the line.
    """
    sine, cosine = elementwise.sin_cos(plan.heading)
    x = plan.x + vehicle.front * cosine
    y = plan.y + vehicle.front * sine
    sin, cos = elementary.sin_cos(line.heading)
    beyond = (x - line.x0) * cos + (y - line.y0) * sin
    wx, wy = line.x1 - line.x0, line.y1 - line.y0
    along = ((x - line.x0) * wx + (y - line.y0) * wy) / max(wx * wx + wy * wy, 1e-12)
    crosses = (beyond[:-1] <= 0.0) & (beyond[1:] > 0.0) & (plan.v[1:] > 0.0)
    rows = np.flatnonzero(crosses & (along[1:] >= 0.0) & (along[1:] <= 1.0))
    if len(rows) == 0:
        return -1, 0.0
    before, after = beyond[rows[0] : rows[0] + 2].tolist()
    return int(rows[0]) + 1, before / (before - after)


def _outline(case: _Case) -> FootprintOutline:
    vehicle = case.vehicle
    return FootprintOutline(
        rear=-vehicle.rear_overhang, front=vehicle.front, half=0.5 * vehicle.width, shrink=case.limits.contact
    )


def _collision(case: _Case) -> Violation | None:
    """Static edges and objects along the whole plan."""
    if case.plan.stands:
        return None
    if len(case.scene.static_segments) and (edge := _edge_met(case)) is not None:
        return edge
    around = case.scene.obstacles
    rows = np.arange(len(case.poses))
    met = _met(case, rows, np.where(around.moving, -math.inf, around.length), math.inf)
    if met is None:
        return None
    hit = np.flatnonzero(met >= 0)
    worst = hit[np.argmin(met[hit])]
    return Violation(ViolationKind.COLLISION, float(case.plan.t[met[worst]]), f"object {around.id[worst]}")


def _edge_met(case: _Case) -> Violation | None:
    """Edges within reach of the plan's bounding box."""
    edges, car = case.scene.static_segments, _outline(case)
    x, y = 0.5 * (edges[:, 0] + edges[:, 2]), 0.5 * (edges[:, 1] + edges[:, 3])
    reach = 0.5 * elementwise.hypot(edges[:, 2] - edges[:, 0], edges[:, 3] - edges[:, 1]) + _reach(case)
    x0, x1, y0, y1 = bounds_of(case.poses)
    near = (x >= x0 - reach) & (x <= x1 + reach) & (y >= y0 - reach) & (y <= y1 + reach)
    row, _ = first_segment_met(case.poses, np.ascontiguousarray(edges[near]), car)
    return _at(case, row, ViolationKind.COLLISION, "static edge")


def _reach(case: _Case) -> float:
    return case.vehicle.front + case.vehicle.width


def _met(case: _Case, rows: IntArray, reach: FloatArray, until: float) -> IntArray | None:
    """Of some rows of the plan, the first among them, that at which each object is met first, -1 for never; objects
    that are farther from all of it than `reach` (N,) are not looked at. `None` where none is met.
    """
    o, met = case.scene.obstacles, np.empty(len(case.scene.obstacles), np.int64)
    tracks = BoxTracks(o.x, o.y, o.heading, o.length, o.width)
    far, poses, t = reach + _reach(case), case.poses[rows], case.plan.t[rows]
    count = meetings(poses, t, tracks, far, PREDICTION_STEP_S, until, _outline(case), met)
    return np.where(met >= 0, rows[met], -1) if count else None


def _predicted_collision(case: _Case) -> Violation | None:
    """Moving objects where they are predicted to be, as far as that can be relied on, and while the car moves."""
    around, plan = case.scene.obstacles, case.plan
    if plan.stands:
        return None
    soon = slice(0, math.ceil(case.limits.predicted / PREDICTION_STEP_S) + 1)
    gone = elementwise.hypot(around.x[:, soon] - around.x[:, :1], around.y[:, soon] - around.y[:, :1])
    reach = np.where(around.moving, around.length + gone.max(axis=1), -math.inf)
    moves = np.abs(plan.v) > _STANDS
    moves[0] = True
    met = _met(case, np.flatnonzero(moves), reach, case.limits.predicted)
    if met is None:
        return None
    for row in np.flatnonzero(met >= 0).tolist():
        k = int(met[row])
        if not _from_behind(case, row, k):
            return Violation(ViolationKind.PREDICTED_COLLISION, float(plan.t[k]), f"object {around.id[row]}")
    return None


def _from_behind(case: _Case, row: int, k: int) -> bool:
    """Whether an object runs into the car's rear although the car has not come into its lane; or, of one beside the
    car, neither come out towards it nor turned off before it.
    """
    around, plan = case.scene.obstacles, case.plan
    j = min(round(float(plan.t[k]) / PREDICTION_STEP_S), around.x.shape[1] - 1)
    heading, gear = float(plan.heading[k]), math.copysign(1.0, float(plan.v[k]))
    dx, dy = float(around.x[row, j] - plan.x[k]), float(around.y[row, j] - plan.y[k])
    sine, cosine = elementary.sin_cos(heading)
    behind = gear * (dx * cosine + dy * sine) < 0.0
    if not behind or gear * elementary.cos(float(around.heading[row, j]) - heading) <= 0.5:
        return False
    offsets = _offsets(case, np.array((plan.x[0], around.x[row, 0])), np.array((plan.y[0], around.y[row, 0])))
    aside = float(offsets[1] - offsets[0])
    if abs(aside) < 0.5 * (case.vehicle.width + float(around.width[row])) - case.limits.contact:
        return _leaves_lane(case, k) < _OUT_OF_LANE
    turned = abs(wrap_angle(heading - float(plan.heading[0])))
    theirs = abs(wrap_angle(float(around.heading[row, j] - around.heading[row, 0])))
    return _comes_out(case, k, math.copysign(1.0, aside)) < _OUT_OF_STRIP and turned - theirs < _TURNING


def _leaves_lane(case: _Case, k: int) -> float:
    """How far (m) the plan leads out of the line that the car is on, from its start to row `k`; 0 without lanes."""
    if not case.regulations.lanes:
        return 0.0
    offsets = _offsets(case, case.plan.x[[0, k]], case.plan.y[[0, k]])
    return abs(float(offsets[1] - offsets[0]))


def _comes_out(case: _Case, k: int, side: float) -> float:
    """How much farther (m) the car's body reaches to the left (`side` 1) or right (-1) at row `k` than at the start."""
    plan = case.plan
    poses = (Pose(float(plan.x[at]), float(plan.y[at]), float(plan.heading[at])) for at in (0, k))
    reach = [float((side * _offsets(case, *case.vehicle.footprint(pose).T)).max()) for pose in poses]
    return reach[1] - reach[0]


def _offsets(case: _Case, x: FloatArray, y: FloatArray) -> FloatArray:
    """Offsets (N,) of points from the line of the lane that the car is on, without lanes from the way that it faces at
    the start of the plan, + left, m.
    """
    plan, lanes = case.plan, case.regulations.lanes
    if not lanes:
        sin, cos = elementary.sin_cos(float(plan.heading[0]))
        return np.asarray((y - plan.y[0]) * cos - (x - plan.x[0]) * sin)
    lane = min(lanes, key=lambda each: abs(each.center.project(float(plan.x[0]), float(plan.y[0])).offset))
    return np.array([lane.center.project(px, py).offset for px, py in zip(x.tolist(), y.tolist(), strict=True)])


_HAZARDS: tuple[_Rule, ...] = (_broken, _start, _red_light, _collision, _predicted_collision)
_OF_STOPS: tuple[_Rule, ...] = (_broken, _start, _stop_limits, _red_light, _collision, _predicted_collision)
_OF_PLANS: tuple[_Rule, ...] = (
    _broken,
    _start,
    _curvature,
    _curvature_rate,
    _acceleration,
    _lateral_acceleration,
    _jerk,
    _told_wrongly,
    _speed_limit,
    _red_light,
    _collision,
    _predicted_collision,
)
