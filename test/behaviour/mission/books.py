"""Books made by hand, and the view of a car that keeps them."""

from __future__ import annotations

from typing import Any

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.memory import Routing
from tuling_fsm.behaviour.mission.bookkeeping import keep_books
from tuling_fsm.behaviour.mission.memory import CAR, PARK, Aim, Book, Entry, Errand, Node
from tuling_fsm.map.road_map import RoadMap

from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, Place, route_along
from .tasks import mission, task

ONE = Entry(task("one"))
PICKUP = Errand(Aim.PICKUP, ONE.task.pickup, 0)
DROPOFF = Errand(Aim.DROPOFF, ONE.task.dropoff, 0)
LEGS = {
    (CAR, Node(Aim.PICKUP, 0)): 100.0,
    (Node(Aim.PICKUP, 0), Node(Aim.DROPOFF, 0)): 110.0,
    (Node(Aim.DROPOFF, 0), PARK): 130.0,
}


def booked(errand: Errand = PICKUP, *entries: Entry, **more: Any) -> Book:
    """A book in the middle of the mission."""
    known = {"mission": mission(), "ticket": 3, **more}
    return Book(entries=entries or (ONE,), errand=errand, **known)


def looking(road: RoadMap, book: Book, x: float = 50.0, **changes: Any) -> View:
    """The view of a car on the far lane, whose route serves the present errand and ends at its point."""
    where = changes.pop("end", None if book.errand.point is None else book.errand.point.x)
    place = Place(road, x=x, y=FAR_Y, v=changes.pop("v", 0.0), localized=changes.pop("localized", True))
    route = route_along(road, FAR_LANE, end=where or 390.0)
    changes.setdefault("mission", book.mission)
    view = view_of(place, route, **changes)
    return at(view, book=book, routing=Routing(route=route, serves=changes.get("serves", book.ticket)))


def kept(view: View, state: str = states.NORMAL) -> tuple[Book, tuple[str, ...]]:
    """The book after a tick, and what is reported."""
    memory = keep_books(view, state)
    return memory.book, memory.reports
