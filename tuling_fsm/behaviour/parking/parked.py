"""`parking/parked`: the car stands for good, in its slot or where exploring has led to nothing (PRK-5, EXP-4)."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.on_road.memory import OnRoadMemory
from tuling_fsm.behaviour.parking.memory import ParkingMemory
from tuling_fsm.behaviour.permissions import FREE_SPACE
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _enter(view: BehaviourView) -> Memory:
    """Searching and exploring are over, and begin anew after a reset, as does what is blocked; only why the car is here
    is remembered.
    """
    exploring, target_slot = view.memory.on_road.exploring, view.memory.parking.entry
    if exploring.timed_out:
        rest = Hold(Reason.TIMEOUT, detail=f"no way on after exploring {exploring.timeouts} times")
    else:
        rest = Hold(Reason.ARRIVED, detail="parked" if target_slot is None else f"parked in {target_slot.name}")
    return replace(view.memory, parking=ParkingMemory(rest=rest), on_road=OnRoadMemory())


def _request(view: BehaviourView) -> PlanningRequest:
    return view.memory.parking.rest or Hold(Reason.ARRIVED, detail="parked")


PARKED = LeafBehaviour(_request, _enter, may=FREE_SPACE._replace(stand=True), defers_route=True)
