"""The composite `parking`: `parked` stands for good (PRK-5)."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.elements import Leaf, Region


def _request(view: View) -> PlanningRequest:
    exploring = view.memory.on_road.exploring
    if exploring.timed_out:
        return Hold(Reason.TIMEOUT, detail=f"no way on after exploring {exploring.timeouts} times")
    return Hold(Reason.ARRIVED, detail="parked")


def region() -> Region[Conduct]:
    """The composite with its leaves."""
    return Region("parking", "parked", (Leaf("parked", Conduct(_request, defers_route=True), terminal=True),))
