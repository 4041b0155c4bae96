"""Predicates of the composite `temporary_stop`."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.memory import GoalKind
from tuling_fsm.behaviour.temporary_stop.slots import is_in
from tuling_fsm.core.standing import VEHICLE_STANDS


def task_dropped(view: BehaviourView) -> bool:
    """The task that the stop was made for is no more the present one: given up, skipped, or of an old mission. Where
    nothing else is left to do the car comes to stand in the slot all the same, and not across the lane.
    """
    stop, goal = view.memory.stop, view.memory.mission.goal
    if stop.done:
        return False
    if goal.kind is GoalKind.NOTHING and not stop.failed:
        return stop.stood_s > 0.0 or stands_in_slot(view)
    return goal.kind is GoalKind.UNDECIDED or (goal != stop.goal and not stop.failed)


def attempt_failed(view: BehaviourView) -> bool:
    """No slot was to be had in time (TMP-3)."""
    return view.memory.stop.failed


def stands_in_slot(view: BehaviourView) -> bool:
    """The car stands in a slot, and the last segment of its way has been driven (TMP-2, USE-10)."""
    world, plan, stop = view.world, view.memory.plan, view.memory.stop
    stands = world.localized and abs(world.ego.v) < VEHICLE_STANDS
    driven = plan.known and plan.feasible and plan.travel <= view.context.parameters.stop.position
    return (
        stands
        and driven
        and not stop.waiting
        and any(is_in(view, roadside_slot) for roadside_slot in stop.roadside_slots)
    )


def boarded(view: BehaviourView) -> bool:
    """The passenger has got on (STP-1)."""
    stop = view.memory.stop
    return stop.done and stop.goal.kind is GoalKind.PICKUP


def alighted(view: BehaviourView) -> bool:
    """The passenger has got off (STP-1)."""
    stop = view.memory.stop
    return stop.done and stop.goal.kind is GoalKind.DROPOFF


def mission_goal_chosen(view: BehaviourView) -> bool:
    """It is known where to go next (PUD-1)."""
    return view.memory.mission.goal.kind not in (GoalKind.UNDECIDED, GoalKind.NOTHING)


def nothing_left(view: BehaviourView) -> bool:
    """There is nowhere to go any more (NOR-10)."""
    return view.memory.mission.goal.kind is GoalKind.NOTHING
