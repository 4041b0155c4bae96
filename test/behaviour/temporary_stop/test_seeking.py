"""Seeking a slot and waiting for one, tick by tick with memories made by hand (TMP-1, TMP-3)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.memory import Outcome
from tuling_fsm.behaviour.mission.memory import Aim, Entry, Errand
from tuling_fsm.behaviour.temporary_stop import guards
from tuling_fsm.behaviour.temporary_stop.approach import APPROACH
from tuling_fsm.behaviour.temporary_stop.memory import Stop
from tuling_fsm.behaviour.temporary_stop.slots import at_edge, berths, distance_to, is_in, is_usable
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, PullOver, Reason
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction, ParkingSlot
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Point, Slot
from tuling_fsm.world.perceived import PerceivedSlot

from ..mission.tasks import FRONT, SLOT_Y, mission, slot, task
from ..views import CLOCK, at, view_of
from ..worlds import FAR_LANE, FAR_Y, NEAR_Y, ONCOMING_Y, VEHICLE, Place, Thing, route_along

AT_X = 150.0
FAILED, DRIVES = Outcome(True, False, Reason.NO_PATH), Outcome(True, travel=20.0)
POINT = Point("p", AT_X, FAR_Y, 0.0, (slot(AT_X), slot(AT_X + 7.0, FAR_Y)))
"""One slot beyond the road's edge, and one on the road."""


def look(road: RoadMap, stop: Stop | None = None, x: float = 130.0, point: Point = POINT, **more: Any) -> View:
    """On the way to the point."""
    place = {key: more.pop(key) for key in ("v", "localized", "things", "y", "heading") if key in more}
    errand = Errand(Aim.PICKUP, point, 0)
    plan = more.pop("plan", DRIVES)
    view = view_of(Place(road, x, place.pop("y", FAR_Y), **place), route_along(road, FAR_LANE), **more)
    book = replace(view.memory.book, mission=mission(), entries=(Entry(task("one")),), errand=errand)
    view = replace(at(view, book=book, plan=plan), step_s=0.05)
    if stop is None:
        return at(view, stop=APPROACH.enter(view).stop)
    return at(view, stop=replace(stop, errand=errand))


def stopped(view: View, **more: Any) -> Stop:
    return replace(view.memory.stop, **more)


@pytest.mark.clause("TMP-1", "USE-9")
@pytest.mark.parametrize(
    ("plan", "since", "edges", "after"),
    [
        (DRIVES, CLOCK - 9.0, True, {"failing_since": None, "edges": True, "waiting": False}),
        (FAILED, None, True, {"failing_since": CLOCK, "edges": True, "waiting": False}),
        (FAILED, CLOCK - 0.25, True, {"failing_since": CLOCK - 0.25, "edges": True, "waiting": False}),
        (FAILED, CLOCK - 0.3, True, {"failing_since": None, "edges": False, "waiting": False}),
        (FAILED, CLOCK - 0.3, False, {"failing_since": None, "edges": False, "waiting": True, "usable": (0, 1)}),
    ],
)
def test_without_a_plan_the_road_s_edge_is_lifted_and_then_the_car_waits(
    road: RoadMap, plan: Outcome, since: float | None, edges: bool, after: dict[str, Any]
) -> None:
    view = look(road, plan=plan)
    stop = APPROACH.update(at(view, stop=stopped(view, failing_since=since, edges=edges))).stop
    assert {name: getattr(stop, name) for name in after} == after
    assert not stop.failed


def test_an_edge_that_no_slot_lies_beyond_is_not_lifted(road: RoadMap) -> None:
    view = look(road, plan=FAILED, point=replace(POINT, slots=POINT.slots[1:]))
    stop = APPROACH.update(at(view, stop=stopped(view, failing_since=CLOCK - 1.0))).stop
    assert (stop.edges, stop.waiting) == (True, True)


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("changes", "settled", "waited"),
    [
        ({}, False, 3.0),
        ({"x": 139.6}, True, 3.05),
        ({"x": 139.4}, False, 3.0),
        ({"x": 139.6, "v": 0.11}, False, 3.0),
        ({"x": 139.6, "v": -0.11}, False, 3.0),
        ({"places": ()}, True, 3.05),
        ({"places": (), "v": 1.0}, True, 3.0),
        ({"settled": True}, True, 3.05),
        ({"plan": FAILED, "failing_since": CLOCK - 0.3}, True, 3.05),
        ({"plan": FAILED, "failing_since": CLOCK - 0.25}, False, 3.0),
    ],
)
def test_the_wait_counts_while_the_car_stands_out_of_the_way(
    road: RoadMap, changes: dict[str, Any], settled: bool, waited: float
) -> None:
    changes = dict(changes)
    stop = {key: changes.pop(key) for key in ("places", "settled", "failing_since") if key in changes}
    view = look(road, **changes)
    memory = {"places": (Pose(140.0, FAR_Y, 0.0),), "waiting": True, "waited_s": 3.0, "usable": (0, 1), **stop}
    after = APPROACH.update(at(view, stop=stopped(view, **memory))).stop
    assert (after.settled, after.waited_s, after.waiting) == (settled, pytest.approx(waited), True)
    free = APPROACH.update(at(view, stop=stopped(view, **{**memory, "usable": (0,)}))).stop
    assert (free.waiting, free.failing_since) == (False, None), "a slot has become free"


@pytest.mark.clause("TMP-3", "USE-2")
@pytest.mark.parametrize(
    ("waited", "spent", "localized", "failed"),
    [
        (9.9, 0.0, True, False),
        (9.95, 0.0, True, True),
        (0.0, 60.0, True, True),
        (0.0, 59.9, True, False),
        (9.95, 0.0, False, False),
    ],
)
def test_an_attempt_ends(road: RoadMap, waited: float, spent: float, localized: bool, failed: bool) -> None:
    view = look(road, localized=localized)
    memory = stopped(view, waiting=True, places=(), waited_s=waited, usable=(0, 1))
    after = APPROACH.update(at(view, stop=memory, unexplained_s=spent))
    assert (after.stop.failed, after.book.attempts) == (failed, int(failed))
    assert any("there is no way into a slot" in line for line in after.reports) is failed
    done = replace(view.memory.book, errand=Errand())
    assert not APPROACH.update(at(view, stop=memory, unexplained_s=99.0, book=done)).stop.failed


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("v", "junction", "x"),
    [
        (0.0, None, [140.0, 145.0, 150.0]),
        (6.0, None, [150.0, 155.0, 160.0]),
        (0.0, (156.0, 170.0), [140.0, 145.0]),
        (0.0, (154.0, 170.0), [140.0]),
        (0.0, (149.0, 170.0), []),
        (0.0, (100.0, 139.0), [140.0, 145.0, 150.0]),
        (0.0, (100.0, 141.0), []),
    ],
)
def test_where_the_car_waits(road: RoadMap, v: float, junction: tuple[float, float] | None, x: list[float]) -> None:
    junctions = () if junction is None else (JunctionAhead(*junction, Junction("", (), {}, False), 0, 0, junction[0]),)
    view = look(road, v=v, plan=FAILED, junctions=junctions)
    after = APPROACH.update(at(view, stop=stopped(view, failing_since=CLOCK - 1.0, edges=False))).stop
    assert after.waiting
    assert [place.x for place in after.places] == pytest.approx(x, abs=0.01)
    for place in after.places:
        assert place.y == pytest.approx(-7.0 + 0.5 * (VEHICLE.width + 0.3) + 0.25, abs=0.26), "at the road's edge"


def berth_of(view: View, number: int = 0) -> Any:
    return view.memory.stop.berths[number]


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("what", "usable"),
    [
        (Thing(AT_X, SLOT_Y, length=0.5, width=0.5), False),
        (Thing(AT_X + 3.0 + 2.0 - 0.21, SLOT_Y, length=4.0), False),
        (Thing(AT_X + 3.0 + 2.0 - 0.19, SLOT_Y, length=4.0), True),
        (Thing(AT_X, SLOT_Y - 1.2 - 0.5 + 0.21, width=1.0), False),
        (Thing(AT_X, SLOT_Y - 1.2 - 0.5 + 0.1, width=1.0), True),
        (Thing(AT_X, SLOT_Y, speed=0.6), True),
    ],
)
def test_what_takes_a_slot(road: RoadMap, what: Thing, usable: bool) -> None:
    view = look(road, things=(what,))
    assert is_usable(view, berth_of(view)) is usable


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("x", "off", "occupied", "usable"),
    [
        (130.0, 0.9, True, False),
        (130.0, 1.1, True, True),
        (130.0, 0.9, False, True),
        (AT_X - FRONT - 2.9, 0.0, True, True),
        (AT_X - FRONT - 3.1, 0.0, True, False),
    ],
)
def test_a_slot_that_is_seen_as_taken_is_unless_the_car_is_half_in(
    road: RoadMap, x: float, off: float, occupied: bool, usable: bool
) -> None:
    far = PerceivedSlot(1, True, AT_X + 40.0, SLOT_Y, 0.0, 6.0, 2.4)
    seen = PerceivedSlot(2, occupied, AT_X + off, SLOT_Y, 0.0, 6.0, 2.4)
    view = look(road, x=x, y=SLOT_Y, slots=(far, seen))
    assert is_usable(view, berth_of(view)) is usable


@pytest.mark.clause("TMP-2", "USE-10")
@pytest.mark.parametrize(
    ("dx", "dy", "degrees", "changes", "inside"),
    [
        (0.0, 0.0, 0.0, {}, True),
        (0.29, 0.0, 0.0, {}, True),
        (-0.31, 0.0, 0.0, {}, False),
        (0.0, 0.31, 0.0, {}, False),
        (0.0, 0.0, 4.9, {}, True),
        (0.0, 0.0, -5.1, {}, False),
        (0.0, 0.0, 0.0, {"v": 0.11}, False),
        (0.0, 0.0, 0.0, {"v": -0.09}, True),
        (0.0, 0.0, 0.0, {"localized": False}, False),
        (0.0, 0.0, 0.0, {"plan": replace(DRIVES, travel=0.31)}, False),
        (0.0, 0.0, 0.0, {"plan": replace(DRIVES, known=False, travel=0.0)}, False),
        (0.0, 0.0, 0.0, {"plan": replace(FAILED, travel=0.0)}, False),
    ],
)
def test_standing_in_a_slot(
    road: RoadMap, dx: float, dy: float, degrees: float, changes: dict[str, Any], inside: bool
) -> None:
    options = {"plan": replace(DRIVES, travel=0.29), **changes}
    view = look(road, x=AT_X - FRONT + dx, y=SLOT_Y + dy, heading=math.radians(degrees), **options)
    assert guards.stands_in_slot(view) is inside
    assert not guards.stands_in_slot(at(view, stop=stopped(view, waiting=True)))
    if not changes:
        assert is_in(view, berth_of(view)) is inside


@pytest.mark.parametrize(
    ("stop", "errand", "dropped"),
    [
        ({}, None, False),
        ({}, Errand(Aim.UNDECIDED), True),
        ({}, Errand(Aim.CAR_PARK), True),
        ({"failed": True}, Errand(Aim.CAR_PARK), False),
        ({"failed": True}, Errand(Aim.UNDECIDED), True),
        ({"done": True}, Errand(Aim.UNDECIDED), False),
    ],
)
def test_a_task_that_is_dropped(road: RoadMap, stop: dict[str, bool], errand: Errand | None, dropped: bool) -> None:
    view = look(road)
    book = view.memory.book if errand is None else replace(view.memory.book, errand=errand)
    view = at(view, stop=stopped(view, **stop), book=book)
    assert guards.task_dropped(view) is dropped
    assert guards.attempt_failed(view) is stop.get("failed", False)
    assert guards.errand_chosen(view) is (book.errand.aim is not Aim.UNDECIDED)
    assert not guards.nothing_left(view)
    assert guards.boarded(view) is stop.get("done", False)
    assert not guards.alighted(view)
    down = at(view, stop=stopped(view, errand=Errand(Aim.DROPOFF)))
    assert (guards.boarded(down), guards.alighted(down)) == (False, stop.get("done", False))
    idle = at(view, book=replace(book, errand=Errand()))
    assert (guards.nothing_left(idle), guards.errand_chosen(idle)) == (True, False)


@pytest.mark.clause("TMP-1")
def test_what_is_asked_for_on_the_way(road: RoadMap) -> None:
    near = look(road, x=AT_X - FRONT - 21.0)
    assert isinstance(APPROACH.request(near), PullOver)
    far = look(road, x=AT_X - FRONT - 23.0)
    request = APPROACH.request(far)
    assert isinstance(request, FollowLanes)
    assert (request.speed_limit, request.goal_s) == (4.0, None)
    assert isinstance(APPROACH.request(replace(far, world=replace(far.world, lanes=()))), PullOver)
    assert APPROACH.request(look(road, localized=False)) == Hold(Reason.NOT_LOCALIZED)
    over = at(near, stop=stopped(near, failed=True))
    assert APPROACH.request(over) == Hold(Reason.GOAL_OCCUPIED, detail="the next errand is being chosen")
    for usable, why in (((0,), "no way into a slot"), ((), "all slots are taken")):
        waits = at(near, stop=stopped(near, waiting=True, settled=True, waited_s=4.0, usable=usable))
        assert APPROACH.request(waits) == Hold(Reason.GOAL_OCCUPIED, detail=f"{why}, a way round in 6 s")
    places = (Pose(140.0, FAR_Y, 0.0),)
    drives = APPROACH.request(at(near, stop=stopped(near, waiting=True, places=places)))
    assert isinstance(drives, PullOver)
    assert (drives.goals, drives.allow_reverse) == (places, False)
    assert len(drives.lines) > 0
    for edges in (True, False):
        pulls = APPROACH.request(at(near, stop=stopped(near, edges=edges)))
        assert isinstance(pulls, PullOver)
        assert (len(pulls.lines) > 0) is edges
        assert (pulls.goal_tolerance, len(pulls.goals)) == (0.15, 2)


def test_how_far_a_slot_is_ahead(road: RoadMap) -> None:
    for x, ahead in ((130.0, AT_X - FRONT - 130.0), (AT_X, 0.0)):
        view = look(road, x=x)
        assert distance_to(view, berth_of(view)) == pytest.approx(ahead, abs=0.01)
        off = replace(view, world=replace(view.world, route=None))
        assert distance_to(off, berth_of(view)) == pytest.approx(AT_X - FRONT - x, abs=0.01)


def space(x: float, y: float, degrees: float = 0.0) -> ParkingSlot:
    pose = Pose(x, y, math.radians(degrees))
    return ParkingSlot(1, "s", "1", pose, 6.0, 2.4, np.zeros((0, 2)))


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("x", "y", "degrees", "counts"),
    [
        (155.0, SLOT_Y, 0.0, True),
        (155.0, SLOT_Y, 19.0, True),
        (155.0, SLOT_Y, -19.0, True),
        (155.0, SLOT_Y, 21.0, False),
        (155.0, SLOT_Y, 199.0, True),
        (155.0, SLOT_Y, 201.0, False),
        (155.0, SLOT_Y, 90.0, False),
        (155.0, FAR_Y + 0.1, 0.0, False),
        (155.0, -SLOT_Y, 0.0, False),
        (174.0, SLOT_Y, 0.0, True),
        (175.5, SLOT_Y, 0.0, False),
    ],
)
def test_which_spaces_of_the_map_are_a_point_s_slots(
    road: RoadMap, x: float, y: float, degrees: float, counts: bool
) -> None:
    spaced = replace(road, slots=(space(x, y, degrees),))
    view = view_of(Place(spaced, 130.0, FAR_Y), route_along(spaced, FAR_LANE))
    for heading in (0.0, 1.0, -1.0):
        (found,) = berths(view, Point("", AT_X, FAR_Y, heading))
        assert (found.slot.pose[:2] == (x, y)) is counts
        if counts:
            assert math.cos(found.goal.heading) > 0.9, "in the lane's direction"


@pytest.mark.clause("TMP-1")
def test_a_slot_of_our_own_is_at_the_kerb(road: RoadMap) -> None:
    for y, heading in ((FAR_Y, 0.0), (NEAR_Y, 0.0), (ONCOMING_Y, math.pi)):
        made = at_edge(road, VEHICLE, Pose(AT_X, y, heading))
        assert (made.length, made.width) == (VEHICLE.length + 1.0, VEHICLE.width + 0.3)
        assert made.pose.x == pytest.approx(AT_X)
        side = -1.0 if heading == 0.0 else 1.0
        inner = abs(made.pose.y) + 0.5 * made.width
        assert made.pose.y * side > 0.0
        assert 6.5 < inner <= 7.0
    lost = at_edge(road, VEHICLE, Pose(AT_X, 60.0, 0.0))
    assert lost == Slot(Pose(AT_X, 60.0, 0.0), VEHICLE.length + 1.0, VEHICLE.width + 0.3)
