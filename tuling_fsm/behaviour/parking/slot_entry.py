"""`parking/slot_entry`: in reverse into the slot that was found (PRK-3, PRK-4)."""

from __future__ import annotations

from tuling_fsm.behaviour.free_driving import NO_REVERSING
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parking.guards import entry_overdue, no_way_in, slot_taken
from tuling_fsm.behaviour.parking.slot_search import into_slot
from tuling_fsm.behaviour.parking.slots import stands_in
from tuling_fsm.behaviour.permissions import FREE_SPACE, Indication
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _enter(view: BehaviourView) -> Memory:
    """Freeze the slot."""
    parking = view.memory.parking
    return replace(view.memory, parking=replace(parking, entry=parking.found, found=None, trying=None, entry_fault=""))


def _update(view: BehaviourView) -> Memory:
    """Remember what is wrong, for the report."""
    fault = ""
    if slot_taken(view):
        fault = "it is taken"
    elif no_way_in(view):
        fault = f"no way in ({view.memory.plan.reason.value})"
    elif entry_overdue(view):
        fault = "not reached in time"
    return replace(view.memory, parking=replace(view.memory.parking, entry_fault=fault))


def _request(view: BehaviourView) -> PlanningRequest:
    target_slot = view.memory.parking.entry
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if target_slot is None:
        return Hold(Reason.NO_PATH, detail="no slot to enter")
    if not (view.world.looks_back or stands_in(view, target_slot)):
        return NO_REVERSING
    return into_slot(
        view, target_slot, view.context.parameters.parking.entry_speed, view.context.parameters.free.expansions
    )


SLOT_ENTRY = LeafBehaviour(
    _request, _enter, _update, may=FREE_SPACE._replace(indication=Indication.HAZARD), defers_route=True
)
