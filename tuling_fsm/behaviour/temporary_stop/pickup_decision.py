"""`temporary_stop/pickup_decision`: stands until the next mission goal is chosen (PUD-1, PUD-2).

The lengths are found and the choice is made by the mission's bookkeeping, which does so whatever the state.
"""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.mission.memory import TaskStatus
from tuling_fsm.behaviour.permissions import ROADSIDE
from tuling_fsm.core.request import Hold, PlanningRequest, Reason


def _request(view: BehaviourView) -> PlanningRequest:
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    many = len(view.memory.mission.numbers(TaskStatus.OPEN))
    return Hold(Reason.NO_ROUTE, detail=f"adding up route lengths, {many} tasks are open")


PICKUP_DECISION = LeafBehaviour(_request, may=ROADSIDE, defers_route=True, asks_itself=True)
