"""The sum of PUD-1: route lengths turned into time, with the stops, the search for a parking space and a reserve."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.mission.choice import Times, Tour, best_tour, next_best
from tuling_fsm.behaviour.mission.memory import CAR, PARK, Aim, Book, Leg, Node, Status
from tuling_fsm.behaviour.mission.points import pose_of
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.mission import Mission, Point


def last_point(mission: Mission) -> Point | None:
    """Where the mission ends: with tasks in the car park, without at the goal; else at the other one, if any."""
    if mission.tasks:
        return mission.car_park or mission.goal
    return mission.goal or mission.car_park


def measure(view: View) -> Book:
    """Add the next length that is missing, one a tick, so that no tick takes long.

    Those between fixed places are found along the way; those from the car when the next errand is to be chosen.
    """
    book = view.memory.book
    leg = next((leg for leg in _wanted(view, book) if leg not in book.legs), None)
    if leg is None or (CAR in leg and not view.world.localized):
        return book
    return replace(book, legs={**book.legs, leg: _length(view, leg)})


def choose(view: View) -> Tour | None:
    """What to serve next in the time left, None for nothing; all lengths have to be known (PUD-1, PUD-2)."""
    book, parameters = view.memory.book, view.site.parameters.mission
    tasks = book.numbers(Status.OPEN)
    times = Times(
        lambda before, task: _fetch(view, before, task),
        lambda task: _drive(view, (Node(Aim.PICKUP, task), Node(Aim.DROPOFF, task))) + _stop(view),
        lambda task: _home(view, task),
    )
    search = best_tour if len(tasks) <= parameters.exact else next_best
    return search(tasks, times, book.left_s - parameters.reserve)


def is_measured(view: View) -> bool:
    """Whether every length is known that the choice needs."""
    return all(leg in view.memory.book.legs for leg in _wanted(view, view.memory.book))


def needed_s(view: View) -> float:
    """The sum of PUD-1 for the present pick-up, with the rest of the route as its first length; NaN while a length is
    missing.
    """
    book, task = view.memory.book, view.memory.book.errand.entry
    carry = (Node(Aim.PICKUP, task), Node(Aim.DROPOFF, task))
    if carry not in book.legs or (_has_end(book) and (carry[1], PARK) not in book.legs):
        return math.nan
    speed = view.site.parameters.mission.average_speed
    fetch = view.world.route_remaining / speed + _stop(view)
    return fetch + _drive(view, carry) + _stop(view) + _home(view, task) + view.site.parameters.mission.reserve


def _wanted(view: View, book: Book) -> Iterator[Leg]:
    """Lengths that the choice needs, in the order in which they are found."""
    tasks = book.numbers(Status.OPEN)
    if book.errand.aim is Aim.UNDECIDED:
        yield from ((CAR, Node(Aim.PICKUP, task)) for task in tasks)
    for task in tasks:
        yield Node(Aim.PICKUP, task), Node(Aim.DROPOFF, task)
        if _has_end(book):
            yield Node(Aim.DROPOFF, task), PARK
    if len(tasks) <= view.site.parameters.mission.exact:
        yield from ((Node(Aim.DROPOFF, i), Node(Aim.PICKUP, j)) for i in tasks for j in tasks if i != j)


def _fetch(view: View, before: int | None, task: int) -> float:
    start = CAR if before is None else Node(Aim.DROPOFF, before)
    return _drive(view, (start, Node(Aim.PICKUP, task))) + _stop(view)


def _home(view: View, task: int) -> float:
    book = view.memory.book
    if not _has_end(book):
        return 0.0
    parked = book.mission is not None and book.mission.car_park is not None
    search = view.site.parameters.mission.slot_search if parked else 0.0
    return _drive(view, (Node(Aim.DROPOFF, task), PARK)) + search


def _drive(view: View, leg: Leg) -> float:
    return view.memory.book.legs[leg] / view.site.parameters.mission.average_speed


def _stop(view: View) -> float:
    return view.site.parameters.stop.duration + view.site.parameters.mission.stop_overhead


def _has_end(book: Book) -> bool:
    return book.mission is not None and last_point(book.mission) is not None


def _length(view: View, leg: Leg) -> float:
    start, goal = (_pose(view, node) for node in leg)
    route = plan_route(view.site.road_map, start, goal).route
    return math.inf if route is None else route.length


def _pose(view: View, node: Node) -> Pose:
    book = view.memory.book
    if node == CAR:
        return view.world.ego.pose
    if node == PARK:
        end = None if book.mission is None else last_point(book.mission)
        assert end is not None  # no length to nowhere is wanted
        return pose_of(view.site.road_map, end)
    task = book.entries[node.entry].task
    return pose_of(view.site.road_map, task.pickup if node.aim is Aim.PICKUP else task.dropoff)
