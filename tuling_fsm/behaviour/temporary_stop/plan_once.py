"""`temporary_stop/plan_once`: stands until there is a route for the next mission goal (TPO-1, DEP-2)."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.permissions import ROADSIDE
from tuling_fsm.behaviour.routing import asking, open_question, pursue_stop
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

PURPOSE = "next"


def _enter(view: BehaviourView) -> Memory:
    return open_question(view, PURPOSE)


def _request(view: BehaviourView) -> PlanningRequest:
    question = view.memory.routing.question
    if question.answered:
        return Hold(Reason.NONE, detail="setting off")
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    kind = view.memory.mission.goal.kind.value
    return asking(f"for the way to the {kind}", question)


PLAN_ONCE = LeafBehaviour(
    _request, _enter, pursue_stop, may=ROADSIDE, defers_route=True, asks_itself=True, takes_pushed=True
)
