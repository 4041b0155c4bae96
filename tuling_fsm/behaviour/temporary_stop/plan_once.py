"""`temporary_stop/plan_once`: stands until there is a route for the next mission goal (TPO-1, DEP-2)."""

from __future__ import annotations

from tuling_fsm.behaviour.leaf import BehaviourView, LeafBehaviour
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import MissionProgress
from tuling_fsm.behaviour.mission.points import just_past
from tuling_fsm.behaviour.permissions import ROADSIDE
from tuling_fsm.behaviour.routing import asking, leads_on, open_question, pursue
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

PURPOSE = "next"


def _enter(view: BehaviourView) -> Memory:
    return open_question(view, PURPOSE)


def _update(view: BehaviourView) -> Memory:
    routing = view.memory.routing
    if routing.question.asked_at is not None and routing.ticket != view.memory.mission.ticket:
        view = view.having(open_question(view, PURPOSE))
    before = view.memory.routing.question.failures
    memory = pursue(view, leads_on)
    if memory.routing.question.failures > before:
        return replace(memory, mission=_other_way(view, memory.mission))
    return memory


def _other_way(view: BehaviourView, progress: MissionProgress) -> MissionProgress:
    """After a failure the route is asked for from past the point where it was not, and the other way round."""
    if progress.around is not None or progress.goal.point is None or not progress.goal.is_stop:
        return replace(progress, around=None)
    return replace(progress, around=just_past(view.context.road_map, progress.goal.point))


def _request(view: BehaviourView) -> PlanningRequest:
    question = view.memory.routing.question
    if question.answered:
        return Hold(Reason.NONE, detail="setting off")
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    kind = view.memory.mission.goal.kind.value
    return Hold(Reason.NO_ROUTE, detail=asking(f"for the way to the {kind}", question))


PLAN_ONCE = LeafBehaviour(_request, _enter, _update, may=ROADSIDE, defers_route=True, asks_itself=True)
