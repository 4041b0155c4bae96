"""`temporary_stop/plan_once`: stands until there is a route for the next errand (TPO-1, DEP-2)."""

from __future__ import annotations

from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.mission.memory import Book
from tuling_fsm.behaviour.mission.points import just_past
from tuling_fsm.behaviour.routing import asking, leads_on, open_question, pursue
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, PlanningRequest, Reason

PURPOSE = "next"


def _enter(view: View) -> Memory:
    return open_question(view, PURPOSE)


def _update(view: View) -> Memory:
    routing = view.memory.routing
    if routing.question.asked_at is not None and routing.ticket != view.memory.book.ticket:
        view = view.having(open_question(view, PURPOSE))
    before = view.memory.routing.question.failures
    memory = pursue(view, leads_on)
    if memory.routing.question.failures > before:
        return replace(memory, book=_other_way(view, memory.book))
    return memory


def _other_way(view: View, book: Book) -> Book:
    """After a failure the route is asked for from past the point where it was not, and the other way round."""
    if book.around is not None or book.errand.point is None or not book.errand.is_stop:
        return replace(book, around=None)
    return replace(book, around=just_past(view.site.road_map, book.errand.point))


def _request(view: View) -> PlanningRequest:
    question = view.memory.routing.question
    if question.answered:
        return Hold(Reason.NONE, detail="setting off")
    if not view.world.localized:
        return Hold(Reason.NOT_LOCALIZED)
    aim = view.memory.book.errand.aim.value
    return Hold(Reason.NO_ROUTE, detail=asking(f"for the way to the {aim}", question))


PLAN_ONCE = Conduct(_request, _enter, _update, defers_route=True, asks_itself=True)
