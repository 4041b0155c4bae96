"""`parking/slot_entry`: in reverse into the slot that was found (PRK-3, PRK-4)."""

from __future__ import annotations

from tuling_fsm.behaviour.free_driving import NO_LINES, NO_REVERSING
from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parking.guards import entry_overdue, no_way_in, slot_taken, waits_for_person
from tuling_fsm.behaviour.parking.slot_search import edges_before, into_slot
from tuling_fsm.behaviour.parking.slots import TAKEN, has_person, stands_in
from tuling_fsm.behaviour.permissions import FREE_SPACE, Indication
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

GONE_S = 1.0
"""Somebody who has not been seen for so long has left."""


def _enter(view: BehaviourView) -> Memory:
    """Freeze the slot, and the edges around: the mission that tells of a car park may be withdrawn."""
    found = view.memory.parking.found
    parking = replace(view.memory.parking, entry=found, found=None, trying=None, entry_fault="", person_since=None)
    parking = replace(parking, entry_edges=NO_LINES if found is None else edges_before(view, found))
    return replace(view.memory, parking=parking)


def _update(view: BehaviourView) -> Memory:
    """Remember since when somebody is in the slot, and what is wrong, for the report."""
    view = view.having(_look_for_person(view))
    fault = ""
    if slot_taken(view):
        fault = TAKEN
    elif no_way_in(view):
        fault = f"no way in ({view.memory.plan.reason.value})"
    elif entry_overdue(view):
        fault = "not reached in time"
    return replace(view.memory, parking=replace(view.memory.parking, entry_fault=fault))


def _look_for_person(view: BehaviourView) -> Memory:
    """Somebody who was seen a moment ago may still be there, and the slot be told as occupied for that long."""
    parking = view.memory.parking
    if parking.entry is not None and has_person(view, parking.entry):
        since = view.clock if parking.person_since is None else parking.person_since
        return replace(view.memory, parking=replace(parking, person_since=since, person_at=view.clock))
    if view.clock - parking.person_at < GONE_S:
        return view.memory
    return replace(view.memory, parking=replace(parking, person_since=None))


def _request(view: BehaviourView) -> PlanningRequest:
    target_slot = view.memory.parking.entry
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if target_slot is None:
        return Hold(Reason.NO_PATH, detail="no slot to enter")
    if not (view.world.looks_back or stands_in(view, target_slot)):
        return NO_REVERSING
    if waits_for_person(view) and not stands_in(view, target_slot):
        return Hold(Reason.PEDESTRIAN, detail=f"somebody is in {target_slot.name}")
    p = view.context.parameters
    edges = view.memory.parking.entry_edges
    return into_slot(view, target_slot, edges, p.parking.entry_speed, p.free.expansions)


SLOT_ENTRY = LeafBehaviour(
    _request, _enter, _update, may=FREE_SPACE._replace(indication=Indication.HAZARD), defers_route=True
)
