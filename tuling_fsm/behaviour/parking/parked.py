"""`parking/parked`: the car stands for good, in its slot or where exploring has led to nothing (PRK-5, EXP-4)."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.on_road.memory import Exploring
from tuling_fsm.behaviour.parking.memory import Parking
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _enter(view: View) -> Memory:
    """Searching and exploring are over, and begin anew after a reset; only why the car is here is remembered."""
    exploring, bay = view.memory.on_road.exploring, view.memory.parking.entry
    if exploring.timed_out:
        rest = Hold(Reason.TIMEOUT, detail=f"no way on after exploring {exploring.timeouts} times")
    else:
        rest = Hold(Reason.ARRIVED, detail="parked" if bay is None else f"parked in {bay.name}")
    on_road = replace(view.memory.on_road, exploring=Exploring())
    return replace(view.memory, parking=Parking(rest=rest), on_road=on_road)


def _request(view: View) -> PlanningRequest:
    return view.memory.parking.rest or Hold(Reason.ARRIVED, detail="parked")


PARKED = Conduct(_request, _enter, defers_route=True)
