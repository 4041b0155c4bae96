"""Predicates of the rows that the mission puts into every composite."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView


def match_over(view: BehaviourView) -> bool:
    """The match time is over, and the car can come to a stop outside junctions (MAT-1)."""
    world, vehicle = view.world, view.context.vehicle
    if not view.memory.mission.over:
        return False
    rear, front = world.route_s - vehicle.rear_overhang, world.route_s + vehicle.front
    stop = front + 0.5 * world.ego.v * world.ego.v / vehicle.comfort_decel
    return not world.localized or all(j.s_to < rear or j.s_from > stop for j in world.junctions)
