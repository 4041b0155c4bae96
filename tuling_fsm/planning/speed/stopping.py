"""Coming to a stop on the path that the car is on: comfortably, harder where something is in the way, or at once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.request import Hold, Limit, PlanResult
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.static import boxes_of_segments
from tuling_fsm.planning.obstacles.surroundings import moving_boxes
from tuling_fsm.planning.parameters import SpeedParameters
from tuling_fsm.planning.paths.footprint import Footprint, body_separation
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed.trajectory import timed_path
from tuling_fsm.planning.start_state import StartState

_LEAST_STEP = 0.05
_STEPS = (1.0, 1.8, 2.6)


class _Boxes(NamedTuple):
    """What a stop may meet: objects (N, T, 6) at every prediction time, and what never moves (M, 1, 6)."""

    objects: FloatArray
    edges: FloatArray


@kernel
def brake(v0: float, a0: float, decel: float, onset: float, release: float, rows: FloatArray) -> None:
    """Fill `rows` (as those of `roll_out`) with a stop at `decel`, reached with jerk `onset` and ended with jerk
    `release` (m/s^3).

    `inf` for `onset` brakes fully from the next row on.
    """
    s, v, a = 0.0, v0, a0
    for i in range(len(rows)):
        rows[i, 0], rows[i, 1], rows[i, 2] = s, v, a
        wanted = -min(decel, math.sqrt(2.0 * release * v))
        new_a = wanted if onset == np.inf else max(wanted, a - onset * STEP_S)
        new_v = v + (new_a if onset == np.inf else 0.5 * (a + new_a)) * STEP_S
        if new_v < HELD:
            new_v, new_a = 0.0, 0.0
        s += 0.5 * (v + new_v) * STEP_S
        v, a = new_v, new_a


def stop_result(
    request: Hold,
    scene: Scene,
    start: StartState,
    previous: PlanResult | None,
    vehicle: Vehicle,
    speed: SpeedParameters,
) -> PlanResult:
    """The plan of a `Hold`; the lane of the previous plan is kept in mind, and the maneuver that was under way."""
    before = previous.trajectory if previous is not None and start.planned else None
    if request.emergency:
        trajectory = emergency_stop(scene, start, before, vehicle, speed)
    else:
        trajectory = comfortable_stop(scene, start, before, vehicle, speed)
    shift, maneuver = (0, None) if previous is None else (previous.shift, previous.maneuver)
    return PlanResult(True, trajectory, Limit(request.reason, detail=request.detail), shift=shift, maneuver=maneuver)


def comfortable_stop(
    scene: Scene, start: StartState, before: Trajectory | None, vehicle: Vehicle, speed: SpeedParameters
) -> Trajectory:
    """Brake at `comfort_decel`, harder where the car would not stand at the end, the previous plan `before` stands
    earlier or something is in the way.

    The path of that plan is left by an emergency stop only: a gentle one with straight wheels would be long, and lead
    off the road in a bend.
    """
    v = abs(start.v)
    if v < HELD:
        return Trajectory.standing(scene.stamp, start.pose, start.curvature)
    onset, needed = _to_stand(v, math.copysign(1.0, start.v) * start.a, vehicle, speed)
    if before is not None and abs(float(before.v[-1])) < HELD:
        earlier = 0.5 * v * v / max(0.05, _length_left(before, scene.stamp))
        onset, needed = (speed.hard_jerk, earlier) if earlier > needed else (onset, needed)
    boxes = _boxes_near(scene, start)
    ways = _ways_on(start, before, vehicle, speed)
    for path in ways[:1] if before is not None else ways:
        for factor in _STEPS:
            decel = min(vehicle.emergency_decel, factor * needed)
            rows = _rows(v, vehicle, speed)
            begin = onset if factor == 1.0 else speed.hard_jerk
            brake(v, math.copysign(1.0, start.v) * start.a, decel, begin, speed.stop_jerk * factor, rows)
            trajectory = timed_path(scene.stamp, path, len(path), rows, math.copysign(1.0, start.v))
            if not _touches(_columns(trajectory), boxes, Footprint.of(vehicle)):
                return trajectory
    return emergency_stop(scene, start, before, vehicle, speed)


def _to_stand(v: float, a: float, vehicle: Vehicle, speed: SpeedParameters) -> tuple[float, float]:
    """The jerk (m/s^3) and the deceleration (m/s^2) of a comfortable stop, or by which a car with this speed and
    acceleration stands at the horizon.
    """
    for onset in (vehicle.max_jerk, speed.hard_jerk):
        # A stop lasts v / d and half of its ramps d / onset and d / release; while a is above 0, the car gets faster.
        rest = max(a, 0.0) / onset
        ramps, left, faster = 0.5 / onset + 0.5 / speed.stop_jerk, speed.horizon - rest, v + 0.5 * rest * max(a, 0.0)
        inside = left * left - 4.0 * ramps * faster
        if inside >= 0.0:
            return onset, max(vehicle.comfort_decel, 0.5 * (left - math.sqrt(inside)) / ramps)
    return speed.hard_jerk, vehicle.emergency_decel


def emergency_stop(
    scene: Scene, start: StartState, before: Trajectory | None, vehicle: Vehicle, speed: SpeedParameters
) -> Trajectory:
    """Brake at `emergency_decel` from the next row on (EST-1): on the path that the car is on, or where that leads into
    something and another does not, on that.
    """
    if abs(start.v) < HELD:
        return Trajectory.standing(scene.stamp, start.pose, start.curvature)
    rows = _rows(abs(start.v), vehicle, speed)
    brake(abs(start.v), 0.0, vehicle.emergency_decel, math.inf, math.inf, rows)
    rows[0, 2] = -vehicle.emergency_decel
    boxes = _boxes_near(scene, start)
    stops = [
        timed_path(scene.stamp, path, len(path), rows, math.copysign(1.0, start.v))
        for path in _ways_on(start, before, vehicle, speed)
    ]
    free = (stop for stop in stops if not _touches(_columns(stop), boxes, Footprint.of(vehicle)))
    return next(free, stops[0])


def _rows(v: float, vehicle: Vehicle, speed: SpeedParameters) -> FloatArray:
    """Scratch up to the horizon, or as long as a car with weak brakes takes to stand."""
    ramps = vehicle.emergency_decel * (1.0 / speed.hard_jerk + 1.0 / speed.stop_jerk)
    seconds = max(speed.horizon, v / vehicle.emergency_decel + ramps)
    return np.zeros((round(seconds / STEP_S) + 1, 3))


def _length_left(trajectory: Trajectory, stamp: float) -> float:
    keep = trajectory.t + trajectory.stamp >= stamp
    return float(elementwise.hypot(np.diff(trajectory.x[keep]), np.diff(trajectory.y[keep])).sum())


def _ways_on(
    start: StartState, before: Trajectory | None, vehicle: Vehicle, speed: SpeedParameters
) -> tuple[FloatArray, FloatArray]:
    """Paths to stop on: the one that the car is on, and one on which the wheels are turned straight at once.

    Without a previous plan the first is a guess: a car that has just begun to plan may come out of a bend.
    """
    turn = speed.steer_share * vehicle.max_steer_rate / max(1.0, abs(start.v))
    return (
        _path_ahead(start, before, 0.0, vehicle, speed),
        _path_ahead(start, None, turn, vehicle, speed),
    )


def _path_ahead(
    start: StartState, before: Trajectory | None, turn: float, vehicle: Vehicle, speed: SpeedParameters
) -> FloatArray:
    """The previous plan's path from the start on, then an arc of its last curvature, on which the wheels are turned
    back by `turn` (rad) a metre; directions are those of travel. It is as long as a stop that begins with the vehicle's
    jerk and ends with `stop_jerk`.
    """
    gear = math.copysign(1.0, start.v)
    poses = [(start.pose.x, start.pose.y, start.pose.heading, start.curvature)]
    if before is not None:
        s, c = elementary.sin_cos(start.pose.heading)
        cos, sin = gear * c, gear * s
        ahead = (before.x - start.pose.x) * cos + (before.y - start.pose.y) * sin > 0.0
        for i in np.flatnonzero(ahead & (gear * before.v >= 0.0)):
            x, y = float(before.x[i]), float(before.y[i])
            if elementary.hypot(x - poses[-1][0], y - poses[-1][1]) >= _LEAST_STEP:
                poses.append((x, y, float(before.heading[i]), float(before.curvature[i])))
    bend = min(vehicle.max_curvature, max(-vehicle.max_curvature, poses[-1][3]))
    # While an acceleration is taken back the car goes on, and gets faster.
    easing = max(0.0, gear * start.a) / vehicle.max_jerk
    v = abs(start.v) + 0.5 * easing * max(0.0, gear * start.a)
    for _ in range(int(easing * v + _stopping_distance(v, vehicle, speed) + 5.0)):
        x, y, heading, _ = poses[-1]
        last, bend = bend, _turned_back(bend, turn, vehicle.wheelbase)
        turned = heading + gear * 0.5 * (last + bend)
        middle = 0.5 * (heading + turned)
        s, c = elementary.sin_cos(middle)
        poses.append((x + gear * c, y + gear * s, turned, bend))
    path = new_path(len(poses))
    path[:, PX], path[:, PY], heading, kappa = np.array(poses).T
    path[:, PHEADING] = heading + (math.pi if gear < 0.0 else 0.0)
    sine, cosine = elementwise.sin_cos(path[:, PHEADING])
    path[:, PCOS], path[:, PSIN], path[:, PKAPPA] = (
        cosine,
        sine,
        gear * kappa,
    )
    path[1:, PS] = np.cumsum(elementwise.hypot(np.diff(path[:, PX]), np.diff(path[:, PY])))
    return path


def _stopping_distance(v: float, vehicle: Vehicle, speed: SpeedParameters) -> float:
    """What a comfortable stop from a speed takes (m), where it reaches its deceleration, with what its ramps add."""
    decel, release = vehicle.comfort_decel, vehicle.comfort_decel / speed.stop_jerk
    return 0.5 * v * (v / decel + decel / vehicle.max_jerk) + decel * release * release / 24.0


def _turned_back(bend: float, turn: float, wheelbase: float) -> float:
    """The curvature after the wheels have been turned back by up to an angle (rad)."""
    if turn == 0.0:
        return bend
    steer = elementary.atan(wheelbase * bend)
    return elementary.tan(math.copysign(max(0.0, abs(steer) - turn), steer)) / wheelbase


def _boxes_near(scene: Scene, start: StartState) -> _Boxes:
    reach = 20.0 + start.v * start.v
    near = elementwise.hypot(scene.obstacles.x[:, 0] - start.pose.x, scene.obstacles.y[:, 0] - start.pose.y) < reach
    edges = boxes_of_segments(scene.static_segments)
    far = elementwise.hypot(edges[:, 0] - start.pose.x, edges[:, 1] - start.pose.y)
    return _Boxes(moving_boxes(scene.obstacles, np.flatnonzero(near)), edges[far < reach + edges[:, 4], None])


def _columns(trajectory: Trajectory) -> FloatArray:
    return np.stack((trajectory.t, trajectory.x, trajectory.y, trajectory.heading, trajectory.v))


@kernel
def _touches(rows: FloatArray, boxes: _Boxes, body: Footprint) -> bool:
    """Whether a motion (rows t, x, y, heading, v) meets a box that it does not touch at its start."""
    for i in range(len(boxes.objects)):
        if _meets(rows, boxes.objects[i], body):
            return True
    left, right, low, high = _bounds(rows)
    for i in range(len(boxes.edges)):
        box = boxes.edges[i, 0]
        far = _reach(body, box)
        near = left - far < box[0] < right + far and low - far < box[1] < high + far
        if near and _meets(rows, boxes.edges[i], body):
            return True
    return False


@kernel
def _meets(rows: FloatArray, track: FloatArray, body: Footprint) -> bool:
    """Whether a motion meets a box that is in these places (T, 6), and after them in the last; what it touches at its
    start, or as it stands, it does not meet.
    """
    last = len(track) - 1
    for k in range(rows.shape[1]):
        if _overlaps(rows, k, track[min(last, round(rows[0, k] / PREDICTION_STEP_S))], body):
            return bool(k > 0 and abs(rows[4, k]) > 0.0)
    return False


@kernel
def _bounds(rows: FloatArray) -> tuple[float, float, float, float]:
    """The least and the greatest x and y of a motion."""
    left, right, low, high = np.inf, -np.inf, np.inf, -np.inf
    for k in range(rows.shape[1]):
        left, right = min(left, rows[1, k]), max(right, rows[1, k])
        low, high = min(low, rows[2, k]), max(high, rows[2, k])
    return left, right, low, high


@kernel
def _reach(body: Footprint, box: FloatArray) -> float:
    """From the rear axle no farther than this can the middle of a box be that the body overlaps, m."""
    return elementary.hypot(max(body.front, body.rear), body.half_width) + elementary.hypot(box[4], box[5])


@kernel
def _overlaps(rows: FloatArray, k: int, box: FloatArray, body: Footprint) -> bool:
    x, y, heading, far = rows[1, k], rows[2, k], rows[3, k], _reach(body, box)
    dx, dy = box[0] - x, box[1] - y
    if dx * dx + dy * dy > far * far:
        return False
    sine, cosine = elementary.sin_cos(heading)
    return body_separation(x, y, cosine, sine, body, box) < 0.0
