"""The sum of times to a pick-up and on, and the choice of the next errand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.memory import Routing
from tuling_fsm.behaviour.mission.bookkeeping import keep_books
from tuling_fsm.behaviour.mission.memory import CAR, PARK, Aim, Book, Entry, Errand, Node, Status
from tuling_fsm.map.road_map import RoadMap

from ..views import CLOCK, at, view_of
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


def summed(book: Book) -> Book:
    """With a sum of 100 m / 5 m/s to the pick-up, 22 s of driving on, 26 s to the end and 155 s beside: 223 s."""
    return replace(book, legs=LEGS)


@pytest.mark.clause("MAT-1", "PUD-1")
@pytest.mark.parametrize(
    ("left", "since", "outcome"),
    [
        (204.0, None, "enough"),
        (202.0, None, "short"),
        (202.0, CLOCK - 29.9, "still"),
        (202.0, CLOCK - 30.0, "over"),
        (204.0, CLOCK - 50.0, "enough"),
    ],
)
def test_the_sum_of_times_on_the_way_to_a_pick_up(
    road: RoadMap, left: float, since: float | None, outcome: str
) -> None:
    wanted = mission(match=500.0)
    book = summed(booked(mission=wanted, elapsed_s=500.0 - left, short_since=since))
    after, lines = kept(looking(road, book))
    if outcome == "over":
        assert after.errand == Errand(Aim.CAR_PARK, wanted.car_park)
        assert lines == ("pick-up of task one: 1 s short of time, 202 s left; on to the car park",)
        return
    assert after.errand == PICKUP
    assert after.summed_at == CLOCK
    assert after.short_since == {"enough": None, "short": CLOCK, "still": since}[outcome]


@pytest.mark.clause("MAT-1")
@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"summed_at": CLOCK - 9.9}, states.NORMAL),
        ({"errand": DROPOFF}, states.NORMAL),
        ({}, states.STOPPED),
        ({"localized": False}, states.NORMAL),
        ({"serves": 2}, states.NORMAL),
        ({"match": math.inf}, states.NORMAL),
    ],
)
def test_when_no_sum_is_made(road: RoadMap, changes: dict[str, Any], state: str) -> None:
    changes = dict(changes)
    wanted = mission(match=changes.pop("match", 30.0))
    serves, localized = changes.pop("serves", 3), changes.pop("localized", True)
    book = replace(summed(booked(mission=wanted)), **changes)
    view = looking(road, book, localized=localized)
    view = at(view, routing=replace(view.memory.routing, serves=serves))
    after, _ = kept(view, state)
    assert (after.summed_at, after.short_since) == (book.summed_at, None)
    due = replace(summed(booked(mission=mission(match=30.0))), summed_at=CLOCK - 10.0)
    assert kept(looking(road, due))[0].short_since == CLOCK


@pytest.mark.clause("PUD-1", "PUD-2")
def test_the_next_errand_is_chosen_when_all_lengths_are_known(road: RoadMap) -> None:
    undecided = booked(Errand(Aim.UNDECIDED), mission=mission(match=500.0))
    book = kept(looking(road, undecided))[0]
    assert (book.errand.aim, len(book.legs)) == (Aim.UNDECIDED, 1), "one length a tick"
    chosen, lines = kept(looking(road, replace(undecided, legs=LEGS)))
    assert (chosen.errand, chosen.ticket) == (PICKUP, 4)
    assert lines == ("tasks to serve: one, 183 s needed of 500 s",)
    late = replace(undecided, legs=LEGS, elapsed_s=400.0)
    chosen, lines = kept(looking(road, late))
    assert chosen.errand == Errand(Aim.CAR_PARK, mission().car_park)
    assert lines == ("no time for any of 1 open tasks: on to the car park",)
    none_left = replace(undecided, entries=(replace(ONE, status=Status.SERVED),))
    assert kept(looking(road, none_left))[1] == ("no task is left: on to the car park",)
