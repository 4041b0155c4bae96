"""Quantities that conditions of OpenSCENARIO XML compare; those of both languages are in `measurements`."""

from __future__ import annotations

import math

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.standing import AT_REST
from tuling_fsm.sim.scenario.conditions import (
    Direction,
    DistanceMode,
    Headway,
    Quantity,
    RelativeSpeed,
    RoadGap,
    TimeToMeet,
    TimeToPoint,
    TraveledDistance,
)
from tuling_fsm.sim.scenario.measurements import measure, object_distance
from tuling_fsm.sim.scenario.model import ActorState, SimulationView


def measured(quantity: Quantity, view: SimulationView) -> float | None:
    """The quantity in its SI unit; None while one of its actors is not in the world or its place not on the map."""
    match quantity:
        case RelativeSpeed(name, reference):
            actor, other = view.actor(name), view.actor(reference)
            return None if actor is None or other is None else actor.speed - other.speed
        case TraveledDistance(name):
            return None if view.actor(name) is None else view.traveled(name)
        case RoadGap(name, reference, mode):
            return road_gap(view, name, reference, mode)
        case Headway(name, reference, mode, direction):
            actor, other = view.actor(name), view.actor(reference)
            if actor is None or other is None:
                return None
            if direction is None:
                gap = road_gap(view, name, reference, mode)
            else:
                gap = object_distance(actor, other, direction, mode)
            return None if gap is None else gap / actor.speed if actor.speed > AT_REST else math.inf
        case TimeToMeet(name, reference):
            actor, other = view.actor(name), view.actor(reference)
            return None if actor is None or other is None else _time_to(actor, other.pose, other.speed)
        case TimeToPoint(name, point):
            actor, pose = view.actor(name), view.pose_of(point)
            return None if actor is None or pose is None else _time_to(actor, pose)
        case _:
            return measure(quantity, view)


def road_gap(view: SimulationView, name: str, reference: str, mode: DistanceMode) -> float | None:
    """How far apart two actors are along the road, m, from body to body if that is asked for."""
    actor, other = view.actor(name), view.actor(reference)
    if actor is None or other is None:
        return None
    ahead = view.road_distance(name, reference)
    if ahead is None:
        return object_distance(actor, other, Direction.LONGITUDINAL, mode)
    if mode is DistanceMode.REFERENCE_POINTS:
        return abs(ahead)
    between_centres = abs(ahead + other.center_ahead - actor.center_ahead)
    return max(between_centres - 0.5 * (actor.length + other.length), 0.0)


def _time_to(actor: ActorState, point: Pose, speed: float = 0.0) -> float:
    """Time to a point that moves at a speed (m/s) the way that it faces, s."""
    far = distance(actor.pose[:2], point[:2])
    if far < 1e-6:
        return 0.0
    (s, c), (other_s, other_c) = (elementary.sin_cos(pose.heading) for pose in (actor.pose, point))
    vx, vy = actor.speed * c - speed * other_c, actor.speed * s - speed * other_s
    closing = (vx * (point.x - actor.pose.x) + vy * (point.y - actor.pose.y)) / far
    return far / closing if closing > AT_REST else math.inf
