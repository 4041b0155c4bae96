"""`temporary_stop/pickup_decision`: stands until the next errand is chosen (PUD-1, PUD-2).

The lengths are found and the choice is made by the mission's bookkeeping, which does so whatever the state.
"""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.mission.memory import Status
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _request(view: View) -> PlanningRequest:
    many = len(view.memory.book.numbers(Status.OPEN))
    return Hold(Reason.NO_ROUTE, detail=f"adding up route lengths, {many} tasks are open")


PICKUP_DECISION = Conduct(_request, defers_route=True, asks_itself=True)
