"""What a condition measures: speeds, distances and times between actors as the simulation shows them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.kernels import kernel
from tuling_fsm.core.standing import AT_REST
from tuling_fsm.sim.scenario.conditions import (
    Acceleration,
    CommonQuantity,
    Direction,
    DistanceMode,
    ObjectDistance,
    PointDistance,
    Speed,
    TimeHeadway,
    TimeToCollision,
)
from tuling_fsm.sim.scenario.model import ActorState, SimulationView


@kernel
def _parted(outline: FloatArray, other: FloatArray) -> bool:
    """Whether all points of another outline lie beyond one edge of a counter-clockwise one."""
    for i in range(len(outline)):
        x, y = outline[i - 1]
        ex, ey = outline[i, 0] - x, outline[i, 1] - y
        beyond = True
        for k in range(len(other)):
            beyond = beyond and ex * (other[k, 1] - y) - ey * (other[k, 0] - x) < 0.0
        if beyond:
            return True
    return False


@kernel
def _nearest(outline: FloatArray, other: FloatArray) -> float:
    """Least distance of the points of another outline from the edges of one, m."""
    least = np.inf
    for i in range(len(outline)):
        x, y = outline[i - 1]
        ex, ey = outline[i, 0] - x, outline[i, 1] - y
        length2 = ex * ex + ey * ey
        for k in range(len(other)):
            px, py = other[k, 0] - x, other[k, 1] - y
            share = min(max((px * ex + py * ey) / length2, 0.0), 1.0) if length2 > 0.0 else 0.0
            least = min(least, elementary.hypot(px - share * ex, py - share * ey))
    return least


@kernel
def gap(a: FloatArray, b: FloatArray) -> float:
    """Distance of two convex outlines (N, 2) and (M, 2), counter-clockwise, m; 0 where they overlap.

    One of them may be a single point. What does not overlap has an edge with all of the other one beyond it.
    """
    if not _parted(a, b) and not _parted(b, a):
        return 0.0
    return min(_nearest(a, b), _nearest(b, a))


Point = tuple[float, float]


def measure(quantity: CommonQuantity, view: SimulationView) -> float | None:
    """The quantity in its SI unit; None while one of its actors is not in the world or its point not on the map."""
    actor = view.actor(quantity.actor)
    if actor is None:
        return None
    match quantity:
        case Speed():
            return abs(actor.speed) if quantity.total else actor.speed
        case Acceleration():
            return actor.acceleration
        case PointDistance():
            point = view.pose_of(quantity.point)
            return None if point is None else point_distance(actor, point, quantity.direction, quantity.mode)
        case TimeHeadway():
            return time_headway(actor.speed, view.road_distance(quantity.actor, quantity.reference))
        case ObjectDistance():
            other = view.actor(quantity.reference)
            return None if other is None else object_distance(actor, other, quantity.direction, quantity.mode)
        case TimeToCollision():
            other = view.actor(quantity.reference)
            return None if other is None else time_to_collision(actor, other)
        case _:
            assert_never(quantity)


def object_distance(actor: ActorState, reference: ActorState, direction: Direction, mode: DistanceMode) -> float:
    """Distance between reference points, or the gap between the bodies (0 where they overlap), m."""
    if mode is DistanceMode.REFERENCE_POINTS:
        return _between(actor.pose, [reference.pose[:2]], [actor.pose[:2]], direction)
    return _between(actor.pose, corners(reference), corners(actor), direction)


def body_gap(actor: ActorState, other: ActorState) -> float:
    """Straight distance of two bodies, m; 0 where they overlap."""
    return object_distance(actor, other, Direction.EUCLIDEAN, DistanceMode.BOUNDING_BOXES)


def point_distance(actor: ActorState, point: Pose, direction: Direction, mode: DistanceMode) -> float:
    """Distance from the reference point or the body of the actor to a point, m."""
    own = [actor.pose[:2]] if mode is DistanceMode.REFERENCE_POINTS else corners(actor)
    return _between(actor.pose, [point[:2]], own, direction)


def time_headway(speed: float, distance: float | None) -> float | None:
    """Time to cover the distance at this speed, s; infinite when standing or when the reference is behind."""
    if distance is None:
        return None
    return math.inf if distance < 0.0 or speed < AT_REST else distance / speed


def time_to_collision(actor: ActorState, reference: ActorState) -> float:
    """Time until two bodies touch at constant velocities, s (0 when they touch now, infinite when they never do).

    Two convex outlines overlap while their shadows overlap on every face normal; with a constant relative
    velocity each pair of shadows does so for one interval of time (separating axes of moving boxes).
    """
    a, b = corners(actor), corners(reference)
    velocity = [own - other for own, other in zip(_velocity(actor), _velocity(reference), strict=True)]
    enter, leave = 0.0, math.inf
    for axis in (*_axes(actor.pose), *_axes(reference.pose)):
        gap_ahead = _span(b, axis)[0] - _span(a, axis)[1]
        gap_behind = _span(a, axis)[0] - _span(b, axis)[1]
        closing = velocity[0] * axis[0] + velocity[1] * axis[1]
        if abs(closing) < 1e-9:
            if max(gap_ahead, gap_behind) > 0.0:
                return math.inf
            continue
        touch, part = sorted((gap_ahead / closing, -gap_behind / closing))
        enter, leave = max(enter, touch), min(leave, part)
    return enter if enter <= leave else math.inf


def corners(actor: ActorState) -> list[Point]:
    """The four corners of the body, counter-clockwise."""
    x, y, heading = actor.pose
    s, c = elementary.sin_cos(heading)
    lengthwise = (actor.center_ahead + actor.length / 2.0, actor.center_ahead - actor.length / 2.0)
    half = actor.width / 2.0
    local = [(lengthwise[0], half), (lengthwise[1], half), (lengthwise[1], -half), (lengthwise[0], -half)]
    return [(x + c * u - s * v, y + s * u + c * v) for u, v in local]


def _between(frame: Pose, theirs: Sequence[Point], own: Sequence[Point], direction: Direction) -> float:
    if direction is Direction.EUCLIDEAN:
        return _outline_distance(own, theirs)
    axis = _axes(frame)[0 if direction is Direction.LONGITUDINAL else 1]
    (low, high), (their_low, their_high) = _span(own, axis), _span(theirs, axis)
    return max(0.0, their_low - high, low - their_high)


def _outline_distance(a: Sequence[Point], b: Sequence[Point]) -> float:
    """Distance of two convex outlines (one point, or four corners): 0 when they overlap."""
    return distance(a[0], b[0]) if len(a) == len(b) == 1 else gap(np.array(a), np.array(b))


def _axes(pose: Pose) -> tuple[Point, Point]:
    s, c = elementary.sin_cos(pose.heading)
    return (c, s), (-s, c)


def _span(points: Sequence[Point], axis: Point) -> Point:
    shadow = [x * axis[0] + y * axis[1] for x, y in points]
    return min(shadow), max(shadow)


def _velocity(actor: ActorState) -> Point:
    sine, cosine = elementary.sin_cos(actor.pose.heading)
    return actor.speed * cosine, actor.speed * sine
