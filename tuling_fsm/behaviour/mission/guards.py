"""Predicates of the rows that the mission puts into every composite."""

from __future__ import annotations

import math

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.vehicle import Vehicle

_EASED_M = 0.1
"""By so much a stop is longer because the brakes are eased at its end."""


def match_over(view: BehaviourView) -> bool:
    """The match time is over, and the car can come to a stop outside junctions (MAT-1)."""
    world, vehicle = view.world, view.context.vehicle
    if not view.memory.mission.over:
        return False
    rear, front = world.route_s - vehicle.rear_overhang, world.route_s + vehicle.front
    stop = front + _way_to_stand(abs(world.ego.v), math.copysign(1.0, world.ego.v) * world.ego.a, vehicle)
    return not world.localized or all(j.s_to < rear or j.s_from > stop for j in world.junctions)


def _way_to_stand(v: float, a: float, vehicle: Vehicle) -> float:
    """How far a comfortable stop leads (m) from a speed and an acceleration: braking is built up with comfortable jerk,
    and a car that speeds up is faster before it is slower.
    """
    if v < VEHICLE_STANDS:
        return 0.0
    decel, jerk = vehicle.comfort_decel, vehicle.max_jerk
    t = max(a + decel, 0.0) / jerk
    builds_up = v * t + 0.5 * a * t * t - jerk * t * t * t / 6.0
    left = max(v + a * t - 0.5 * jerk * t * t, 0.0)
    return builds_up + 0.5 * left * left / decel + _EASED_M
