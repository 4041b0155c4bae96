"""The composite `departure`: `plan_once` stands until there is a route (DEP-1, DEP-2), also at its end (NOR-10)."""

from __future__ import annotations

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import BehaviourRow, Conduct, View
from tuling_fsm.behaviour.guards import route_found, stands_at_end
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import Aim
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.routing import asking, leads_on, open_question, pursue
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason
from tuling_fsm.machine.elements import Leaf, Priority, Region


def _enter(view: View) -> Memory:
    memory = open_question(view, "initial")
    return replace(memory, routing=replace(memory.routing, arrived=stands_at_end(view, taken=True)))


def _update(view: View) -> Memory:
    return pursue(view, leads_on)


def _request(view: View) -> PlanningRequest:
    routing, book = view.memory.routing, view.memory.book
    if book.over:
        return Hold(Reason.MATCH_OVER, detail="the run has ended")
    if routing.question.answered:
        return Hold(Reason.NONE, detail="setting off")
    if routing.arrived:
        return Hold(Reason.ARRIVED, detail="the route has ended")
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    if book.mission is not None and book.errand.aim is Aim.NOTHING:
        return Hold(Reason.ARRIVED, detail="nothing is left to do")
    if routing.question.asked_at is None and not routing.question.failures:
        choosing = book.errand.aim is Aim.UNDECIDED
        return Hold(
            Reason.NO_ROUTE, detail="choosing where to go" if choosing else "no mission and no route to ask for"
        )
    return Hold(Reason.NO_ROUTE, detail=asking("the route server", routing.question))


def region(parameters: BehaviourParameters) -> Region[Conduct]:
    """The composite with its leaf, which waits by itself: it asks again and again."""
    pause = max(parameters.route.backoff_max, parameters.route.refresh_period) + parameters.route.answer_timeout
    leaf = Leaf("plan_once", _PLAN_ONCE, parameters.switching.min_dwell, retry_s=pause)
    return Region("departure", "plan_once", (leaf,))


def rows(parameters: BehaviourParameters) -> tuple[BehaviourRow, ...]:
    """The row that leaves it."""
    dwell = parameters.switching.dwell
    return (BehaviourRow(states.PLAN_ONCE, states.REGRESSION, route_found, Priority.PROGRESS, 0, "DEP-2", dwell),)


_PLAN_ONCE = Conduct(_request, _enter, _update, defers_route=True, asks_itself=True)
