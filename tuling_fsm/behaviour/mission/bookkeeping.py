"""One tick of the mission's bookkeeping: new missions, the operator's calls, points passed, time, and the next errand.

It runs in every state, beside what the state does; what needs another route counts the book's ticket up.
"""

from __future__ import annotations

import math

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.guards import TOLERANCE_S, stands_at_end
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.mission.budget import choose, is_measured, last_point, measure, needed_s
from tuling_fsm.behaviour.mission.memory import Aim, Book, Entry, Errand, Status
from tuling_fsm.behaviour.mission.points import is_past, just_past, legal_point, pose_of, stop_ahead
from tuling_fsm.core.geometry import distance
from tuling_fsm.core.records import replace
from tuling_fsm.world.mission import Mission, Task
from tuling_fsm.world.world import World

_FORGET_AROUND_M = 100.0
_OWN_MATTER = ("departure", "temporary_stop", "parking")
"""Composites in which a point is not passed by accident."""


def run_clock(book: Book, world: World, max_gap: float) -> Book:
    """Let the match time go on by the stamps of the input; a jump of time does not count (DWELL-3, DWELL-5)."""
    step = 0.0 if book.stamp is None else world.stamp - book.stamp
    elapsed = book.elapsed_s + (step if 0.0 <= step <= max_gap else 0.0)
    return replace(book, stamp=world.stamp, elapsed_s=elapsed, skip=book.skip or world.skip_task)


def keep_books(view: View, state: str) -> Memory:
    """All of it, in the state of this path."""
    view = view.having(_take_mission(view))
    view = view.having(_skip(view))
    view = view.having(_watch_point(view, state))
    view = view.having(_watch_time(view, state))
    return _choose(view)


def fail_attempt(view: View, why: str) -> Memory:
    """Another attempt at the present stop has failed: a route round and back, and in the end no further one (TMP-3)."""
    book, limit = view.memory.book, view.site.parameters.stop.attempts
    attempts = book.attempts + 1
    line = f"{_name(book)}: attempt {attempts} of {limit} failed, {why}"
    if attempts >= limit:
        return give_up(view.having(report(view.memory, line)))
    point = book.errand.point
    past = None if point is None else just_past(view.site.road_map, point)
    around = None if past is None or is_past(view.world.ego.pose, past, 0.0) else past
    book = replace(book, attempts=attempts, around=around, near=False, ticket=book.ticket + 1)
    return report(replace(view.memory, book=book), f"{line}; a route back is asked for")


def give_up(view: View) -> Memory:
    """Drop a waiting pick-up; with a passenger aboard the next legal place, else the end of the mission (TMP-3)."""
    book, errand = view.memory.book, view.memory.book.errand
    name = _name(book)
    if errand.aim is Aim.PICKUP:
        book = book.marked(errand.entry, Status.DROPPED).bound_for(Errand(Aim.UNDECIDED))
        return report(replace(view.memory, book=book), f"{name} is dropped")
    own = book.entries[errand.entry].task.dropoff
    instead = legal_point(view, own) if errand.point == own else None
    if instead is not None:
        book = book.bound_for(replace(errand, point=instead))
        where = f"({instead.x:.1f}, {instead.y:.1f}) instead"
        return report(replace(view.memory, book=book), f"{name} is given up: the passenger gets off at {where}")
    end = _end(book)
    book = book.marked(errand.entry, Status.DROPPED).bound_for(end)
    return report(replace(view.memory, book=book), f"{name} is dropped: the passenger stays aboard ({end.aim.value})")


def served(view: View) -> Memory:
    """The present stop is over: the passenger is aboard, or has got off (STP-1, USE-10)."""
    book, errand = view.memory.book, view.memory.book.errand
    name = _name(book)
    if errand.aim is Aim.PICKUP:
        dropoff = book.entries[errand.entry].task.dropoff
        book = book.marked(errand.entry, Status.ABOARD).bound_for(Errand(Aim.DROPOFF, dropoff, errand.entry))
        return report(replace(view.memory, book=book), f"{name} is served")
    here = errand.point == book.entries[errand.entry].task.dropoff
    status, line = (Status.SERVED, f"{name} is served") if here else (Status.DROPPED, f"{name}: got off elsewhere")
    book = book.marked(errand.entry, status).bound_for(Errand(Aim.UNDECIDED))
    return report(replace(view.memory, book=book), line)


def _take_mission(view: View) -> Memory:
    """A new mission: tasks keep how far they have come under their names, and nobody aboard is forgotten."""
    mission, book = view.world.mission, view.memory.book
    if mission is None or _is_known(mission, book.mission):
        return view.memory
    entries, aboard = _carried_over(book.entries, mission.tasks)
    book = replace(book, mission=mission, entries=entries, legs={}, measured=False, elapsed_s=0.0)
    if aboard is not None:
        kept = book.errand.point if book.errand.aim is Aim.DROPOFF else None
        known = aboard < len(mission.tasks)
        point = entries[aboard].task.dropoff if known or kept is None else kept
        return replace(view.memory, book=book.bound_for(Errand(Aim.DROPOFF, point, aboard)))
    return replace(view.memory, book=book.bound_for(Errand(Aim.UNDECIDED) if mission.tasks else _end(book)))


def _is_known(mission: Mission, known: Mission | None) -> bool:
    """Whether a mission is the present one, perhaps sent again."""
    return mission is known or (known is not None and replace(mission, stamp=known.stamp) == known)


def _carried_over(before: tuple[Entry, ...], tasks: tuple[Task, ...]) -> tuple[tuple[Entry, ...], int | None]:
    """Entries for new tasks, and the number of that of the passenger aboard; a dropped task is open again."""
    known = [entry for entry in before if entry.status in (Status.ABOARD, Status.SERVED)]
    entries = []
    for task in tasks:
        old = next((entry for entry in known if entry.task.name == task.name), None)
        entries.append(Entry(task, Status.OPEN if old is None else old.status))
        if old is not None:
            known.remove(old)
    entries += [entry for entry in known if entry.status is Status.ABOARD]
    aboard = next((i for i, entry in enumerate(entries) if entry.status is Status.ABOARD), None)
    return tuple(entries), aboard


def _skip(view: View) -> Memory:
    """An operator drops the present task."""
    book = view.memory.book
    if not book.skip:
        return view.memory
    memory = replace(view.memory, book=replace(book, skip=False))
    if not book.errand.is_stop:
        return report(memory, "there is no task to skip")
    return give_up(view.having(report(memory, f"{_name(book)}: skipped by the operator")))


def _watch_point(view: View, state: str) -> Memory:
    """A point that is passed in a state that does not stop for it is a failed attempt (NOR-1)."""
    book, world = view.memory.book, view.world
    point = book.errand.point
    if not book.errand.is_stop or point is None or not world.localized:
        return view.memory
    pose = pose_of(view.site.road_map, point)
    if book.around is not None:
        far = distance(world.ego.pose[:2], book.around[:2]) > _FORGET_AROUND_M
        if far or is_past(world.ego.pose, book.around, 0.0):
            return replace(view.memory, book=replace(book, around=None))
        return view.memory
    if state.partition("/")[0] in _OWN_MATTER:
        return view.memory
    ahead = stop_ahead(view)
    if book.near and is_past(world.ego.pose, pose, view.site.parameters.stop.passed):
        return fail_attempt(view, f"passed in {state}")
    if stands_at_end(view, taken=True) and not ahead and view.memory.routing.serves == book.ticket:
        return fail_attempt(view, f"no way to approach it from {state}")
    return view.memory if not ahead else replace(view.memory, book=replace(book, near=True))


def _watch_time(view: View, state: str) -> Memory:
    """On the way to a pick-up the sum of PUD-1 is made again and again; short for long, it is left (MAT-1).

    Not any more when the passenger gets on.
    """
    book, parameters = view.memory.book, view.site.parameters.mission
    due = view.clock - book.summed_at >= parameters.sum_period - TOLERANCE_S
    known = math.isfinite(book.left_s) and view.memory.routing.serves == book.ticket and view.world.localized
    if book.errand.aim is not Aim.PICKUP or state == states.STOPPED or not due or not known:
        return view.memory
    short = needed_s(view) - book.left_s
    if not short > 0.0:
        return replace(view.memory, book=replace(book, summed_at=view.clock, short_since=None))
    since = view.clock if book.short_since is None else book.short_since
    if view.clock - since < parameters.short_for - TOLERANCE_S:
        return replace(view.memory, book=replace(book, summed_at=view.clock, short_since=since))
    end = _end(book)
    line = f"{_name(book)}: {short:.0f} s short of time, {book.left_s:.0f} s left; {_onward(end)}"
    return report(replace(view.memory, book=book.bound_for(end)), line)


def _choose(view: View) -> Memory:
    """Find the lengths, then the next errand (PUD-1, PUD-2)."""
    if view.memory.book.measured:
        return view.memory
    book = measure(view)
    if book.errand.aim is not Aim.UNDECIDED:
        return replace(view.memory, book=replace(book, measured=book is view.memory.book))
    view = view.having(replace(view.memory, book=book))
    if not is_measured(view):
        return view.memory
    tour = choose(view)
    if tour is None:
        errand = _end(book)
        many = len(book.numbers(Status.OPEN))
        why = f"none of {many} open tasks can be served in time" if many else "no task is left"
        line = f"{why}: {_onward(errand)}"
    else:
        errand = Errand(Aim.PICKUP, book.entries[tour.order[0]].task.pickup, tour.order[0])
        names = ", ".join(book.entries[i].task.name for i in tour.order)
        line = f"tasks to serve: {names}, {tour.total:.0f} s needed of {book.left_s:.0f} s"
    return report(replace(view.memory, book=book.bound_for(errand)), line)


def _end(book: Book) -> Errand:
    """The last errand of the mission."""
    mission: Mission | None = book.mission
    point = None if mission is None else last_point(mission)
    if mission is None or point is None:
        return Errand(Aim.NOTHING)
    return Errand(Aim.CAR_PARK if point is mission.car_park else Aim.GOAL, point)


def _onward(errand: Errand) -> str:
    return "there is nowhere else to go" if errand.point is None else f"on to the {errand.aim.value}"


def _name(book: Book) -> str:
    errand = book.errand
    return f"{errand.aim.value} of task {book.entries[errand.entry].task.name}"
