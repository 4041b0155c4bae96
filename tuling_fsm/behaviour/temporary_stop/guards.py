"""Predicates of the composite `temporary_stop`."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.guards import STANDING_SPEED
from tuling_fsm.behaviour.mission.memory import Aim
from tuling_fsm.behaviour.temporary_stop.slots import is_in


def task_dropped(view: View) -> bool:
    """The task that the stop was made for is no more the present one: given up, skipped, or of an old mission."""
    stop, errand = view.memory.stop, view.memory.book.errand
    if stop.done:
        return False
    return errand.aim is Aim.UNDECIDED or (errand != stop.errand and not stop.failed)


def attempt_failed(view: View) -> bool:
    """No slot was to be had in time (TMP-3)."""
    return view.memory.stop.failed


def stands_in_slot(view: View) -> bool:
    """The car stands in a slot, and the last segment of its way has been driven (TMP-2, USE-10)."""
    world, plan, stop = view.world, view.memory.plan, view.memory.stop
    stands = world.localized and abs(world.ego.v) < STANDING_SPEED
    driven = plan.known and plan.feasible and plan.travel <= view.site.parameters.stop.position
    return stands and driven and not stop.waiting and any(is_in(view, berth) for berth in stop.berths)


def boarded(view: View) -> bool:
    """The passenger has got on (STP-1)."""
    stop = view.memory.stop
    return stop.done and stop.errand.aim is Aim.PICKUP


def alighted(view: View) -> bool:
    """The passenger has got off (STP-1)."""
    stop = view.memory.stop
    return stop.done and stop.errand.aim is Aim.DROPOFF


def errand_chosen(view: View) -> bool:
    """It is known where to go next (PUD-1)."""
    return view.memory.book.errand.aim not in (Aim.UNDECIDED, Aim.NOTHING)


def nothing_left(view: View) -> bool:
    """There is nowhere to go any more (NOR-10)."""
    return view.memory.book.errand.aim is Aim.NOTHING
