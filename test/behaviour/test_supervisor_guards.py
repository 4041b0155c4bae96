"""Guards and questions of the supervisors over one view."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.behaviour import Behaviour
from tuling_fsm.behaviour.conduct import Conduct, View
from tuling_fsm.behaviour.flaps import Flaps
from tuling_fsm.behaviour.memory import Question, Routing
from tuling_fsm.behaviour.mission.memory import Aim, Book, Errand
from tuling_fsm.behaviour.on_road.memory import Block, OnRoad
from tuling_fsm.behaviour.parameters import BehaviourParameters, EmergencyParameters, RadarParameters, RouteParameters
from tuling_fsm.behaviour.parking.memory import Parking, Round
from tuling_fsm.behaviour.routing import (
    PUSHED,
    arrival_distance,
    backoff_s,
    destination,
    joined,
    leads_on,
    pursue,
    send,
)
from tuling_fsm.behaviour.supervisors import guards
from tuling_fsm.behaviour.supervisors.rain_fog import CLEAR, RADAR_AND_HISTORY, restricted
from tuling_fsm.behaviour.supervisors.route_refresh import (
    ASKING,
    IDLE,
    can_turn_round,
    consider,
    same_course,
    same_direction,
)
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.request import FreeSpace, Hold, Reason
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.mission import Mission, Point
from tuling_fsm.world.world import EmergencyInput, RouteMatch

from .views import CLOCK, at, view_of
from .worlds import (
    FAR_LANE,
    FAR_Y,
    NEAR_LANE,
    NEAR_Y,
    ONCOMING_LANE,
    ONCOMING_Y,
    VEHICLE,
    Drive,
    Place,
    mission,
    route_along,
    write_road,
)

STANDS = Conduct(lambda _: Hold(Reason.NONE))


@pytest.mark.clause("EST-1", "EST-2", "EST-3")
@pytest.mark.parametrize(
    ("value", "age", "commanded", "released", "up", "silent"),
    [
        (True, 0.0, True, False, True, False),
        (True, 9.0, True, False, True, True),
        (False, 0.5, False, True, True, False),
        (False, 0.51, False, False, True, True),
        (None, math.inf, False, False, False, True),
    ],
)
def test_the_link_to_the_remote(
    road: RoadMap, value: bool | None, age: float, commanded: bool, released: bool, up: bool, silent: bool
) -> None:
    for clear in (False, True):
        view = view_of(Place(road, emergency=EmergencyInput(value, age, clear)))
        assert guards.stop_commanded(view) is commanded
        assert guards.stop_released(view) is released
        assert guards.link_up(view) is up
        assert guards.link_silent(view) is silent
        assert guards.stop_cleared(view) is (released and clear)


@pytest.mark.clause("EST-3")
@pytest.mark.parametrize(
    ("required", "seconds", "missing"), [(True, 0.5, True), (True, 0.45, False), (False, 9.0, False)]
)
def test_a_link_that_is_required_is_missed(road: RoadMap, required: bool, seconds: float, missing: bool) -> None:
    for value in (None, False):
        view = view_of(Place(road, emergency=EmergencyInput(value, 0.0)), in_state_s=seconds)
        parameters = replace(view.site.parameters, estop=EmergencyParameters(required=required))
        view = replace(view, site=replace(view.site, parameters=parameters))
        assert guards.link_missing(view) is (missing and value is None)


@pytest.mark.clause("RFG-1")
def test_rain_is_what_is_reported(road: RoadMap) -> None:
    for reported in (None, False, True):
        view = view_of(Place(road), rain_fog=reported)
        assert guards.rain_or_fog(view) is (reported is True)
        assert guards.clear_sky(view) is (reported is not True)


@pytest.mark.clause("RRF-1", "RRF-3")
@pytest.mark.parametrize(
    ("elapsed", "ticket", "changes", "due"),
    [
        (10.0, 2, {}, True),
        (9.95, 2, {}, False),
        (0.0, 3, {}, True),
        (10.0, 2, {"localized": False}, False),
        (10.0, 2, {"route": None}, False),
        (10.0, 2, {"over": True}, False),
    ],
)
def test_when_the_route_is_asked_for_again(
    road: RoadMap, elapsed: float, ticket: int, changes: dict[str, Any], due: bool
) -> None:
    route = changes.get("route", route_along(road))
    view = view_of(Place(road, localized=changes.get("localized", True)), route)
    book = Book(ticket=ticket)
    if changes.get("over"):
        book = Book(Mission(0.0, match_time_s=5.0), errand=Errand(Aim.GOAL, Point("", 9.0, 9.0, 0.0)), ticket=ticket)
        book = replace(book, elapsed_s=5.0)
    routing = Routing(route=route, refreshed_at=CLOCK - elapsed, ticket=2)
    assert guards.refresh_due(at(view, routing=routing, book=book)) is due


def test_when_the_question_is_over(road: RoadMap) -> None:
    for number, closed in ((-1, True), (0, False), (4, False)):
        assert guards.refresh_closed(at(view_of(Place(road)), routing=Routing(refresh=number))) is closed
    for seconds, late in ((2.0, False), (2.05, True)):
        assert guards.refresh_late(view_of(Place(road), in_state_s=seconds)) is late


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(("failures", "pause"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (99, 5.0)])
def test_pauses_grow(failures: int, pause: float) -> None:
    assert backoff_s(RouteParameters(), failures) == pause
    assert backoff_s(replace(RouteParameters(), backoff_max=1e300), 99) == 2.0**30


def asking(road: RoadMap, question: Question, *answers: RouteMatch, **more: Any) -> View:
    """A view with a question open, on a route to x = 300."""
    route = route_along(road, end=300.0)
    view = view_of(Place(road, localized=more.pop("localized", True)), route)
    view = at(view, routing=Routing(route=route, number=5, question=question, **more))
    return replace(view, answers=answers)


ASKED = Question("q", first=4, failures=1, asked_at=CLOCK - 1.0)


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(
    ("question", "localized", "asks"),
    [
        (Question("q", first=6, due_at=CLOCK), True, True),
        (Question("q", first=6, due_at=CLOCK + 0.05), True, False),
        (Question("q", first=6, due_at=CLOCK), False, False),
        (Question("q", first=6, due_at=CLOCK, answered=True), True, False),
        (replace(ASKED, asked_at=CLOCK - 2.0), True, False),
    ],
)
def test_when_it_is_asked(road: RoadMap, question: Question, localized: bool, asks: bool) -> None:
    memory = pursue(asking(road, question, localized=localized), leads_on)
    assert bool(memory.routing.outbox) is asks
    assert memory.routing.number == 5 + asks
    if asks:
        (request,) = memory.routing.outbox
        assert (request.number, request.purpose) == (6, "q")
        assert request.start == Pose(50.0, NEAR_Y, 0.0)
        assert request.goal == pytest.approx((300.0, NEAR_Y, 0.0))
        assert memory.routing.question.asked_at == CLOCK
    else:
        assert memory.routing.question == question


@pytest.mark.clause("DEP-2")
def test_an_answer_that_is_late_is_a_failure_and_asked_for_again(road: RoadMap) -> None:
    late = replace(ASKED, asked_at=CLOCK - 2.05)
    memory = pursue(asking(road, late), leads_on)
    question = memory.routing.question
    assert (question.failures, question.asked_at, question.due_at) == (2, None, CLOCK + 2.0)
    assert memory.reports == ("route request 5 (q): no answer within 2 s; asked again in 2 s",)
    arrived = pursue(asking(road, late, arrived=True), leads_on)
    assert arrived.routing.question.due_at == CLOCK + 10.0
    due = replace(late, asked_at=None, due_at=CLOCK)
    assert pursue(asking(road, due), leads_on).routing.question.failures == 1


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(
    ("number", "good", "outcome"),
    [
        (5, True, "used"),
        (4, True, "used"),
        (PUSHED, True, "used"),
        (3, True, "ignored"),
        (5, False, "failed"),
        (4, False, "reported"),
        (PUSHED, False, "reported"),
    ],
)
def test_which_answers_count(road: RoadMap, number: int, good: bool, outcome: str) -> None:
    answer = route_along(road, end=350.0)
    view = asking(road, ASKED, RouteMatch(number, answer if good else None), ticket=8, kept=answer)
    memory = pursue(view, leads_on)
    routing = memory.routing
    assert routing.question.answered is (outcome == "used")
    assert (routing.route is answer) is (outcome == "used")
    assert routing.question.failures == 1 + (outcome == "failed")
    assert len(memory.reports) == (outcome in ("failed", "reported"))
    if outcome == "used":
        assert (routing.kept, routing.arrived, routing.refreshed_at, routing.serves) == (None, False, CLOCK, 8)
    if outcome == "reported":
        assert memory.reports == (f"route {number}: refused, empty or on no lanes",)
    waiting = replace(view, answers=(RouteMatch(5, None),))
    waiting = at(waiting, routing=replace(waiting.memory.routing, question=replace(ASKED, asked_at=None, due_at=9e9)))
    assert pursue(waiting, leads_on).routing.question.failures == 1, "it has failed already"
    twice = replace(view, answers=(RouteMatch(5, answer), RouteMatch(5, route_along(road, end=360.0))))
    assert pursue(twice, leads_on).routing.route is answer


@pytest.mark.clause("DEP-2", "NOR-10")
@pytest.mark.parametrize(
    ("y", "end", "arrived", "objection"),
    [
        (NEAR_Y, 52.1, False, ""),
        (NEAR_Y, 51.9, False, "it ends where the car is"),
        (NEAR_Y, 52.0 + VEHICLE.front + 0.1, True, ""),
        (NEAR_Y, 52.0 + VEHICLE.front - 0.1, True, "it ends where the car is"),
        (NEAR_Y + 79.9, 300.0, False, ""),
        (NEAR_Y - 79.9, 300.0, False, ""),
        (NEAR_Y + 80.6, 300.0, False, "it runs 81 m from the car"),
        (NEAR_Y - 80.6, 300.0, False, "it runs 81 m from the car"),
    ],
)
def test_which_routes_lead_on(road: RoadMap, y: float, end: float, arrived: bool, objection: str) -> None:
    view = view_of(Place(road, y=y))
    assert leads_on(at(view, routing=Routing(arrived=arrived)), route_along(road, end=end)) == objection
    assert (arrival_distance(view, False), arrival_distance(view, True)) == (2.0, 2.0 + VEHICLE.front)


@pytest.mark.clause("PRK-2", "MAT-1")
def test_where_the_car_is_bound(road: RoadMap) -> None:
    route, spot, slot = route_along(road, end=300.0), Point("", 200.0, FAR_Y, 0.0), Pose(70.0, 8.0, 1.0)
    wanted = Mission(7.0, goal=spot)
    going = Book(wanted, errand=Errand(Aim.GOAL, spot))
    none = view_of(Place(road))
    assert destination(none) is None
    view = at(view_of(Place(road), route, mission=wanted), routing=Routing(route=route))
    assert destination(view) == pytest.approx((300.0, NEAR_Y, 0.0)), "without a mission the route is all there is"
    assert destination(at(view, book=going)) == (200.0, FAR_Y, 0.0)
    assert destination(at(view, book=replace(going, errand=Errand()))) is None
    late = replace(going, mission=replace(wanted, match_time_s=5.0), elapsed_s=5.0)
    assert destination(at(view, book=late)) is None
    searched = Parking(Round(mission_stamp=7.0, goal=slot, start=Pose(52.0, NEAR_Y + 3.5, 3.0)))
    assert destination(at(view, book=going, parking=searched)) == slot
    assert destination(at(view, book=late, parking=searched)) is None
    other = Parking(replace(searched.round, mission_stamp=6.0))
    assert destination(at(view, book=going, parking=other)) == (200.0, FAR_Y, 0.0)
    (request,) = send(
        at(view, book=going, parking=searched), at(view, book=going, parking=searched).memory, "p"
    ).routing.outbox
    assert request.start == searched.round.start
    for apart, start in ((7.9, True), (8.1, False)):
        beside = Pose(50.0 + apart, NEAR_Y, 3.0)
        parking = Parking(replace(searched.round, start=beside))
        assert parking.search_start(Pose(50.0, NEAR_Y, 0.0)) == (beside if start else (50.0, NEAR_Y, 0.0))
    round_again = at(view, book=replace(going, around=Pose(210.0, FAR_Y, 0.0), ticket=6))
    memory = send(round_again, round_again.memory, "p")
    assert memory.routing.outbox[0].start == (210.0, FAR_Y, 0.0)
    assert (memory.routing.ticket, memory.routing.number) == (6, 1)


@pytest.mark.clause("TMP-3")
@pytest.mark.parametrize(
    ("begin", "around", "joins"),
    [
        (120.0, 121.0, True),
        (120.0, 129.9, True),
        (120.0, 130.1, False),
        (120.0, None, False),
        (52.1, 55.0, True),
        (51.9, 55.0, False),
        (149.0, 150.0, True),
        (151.0, 150.0, False),
    ],
)
def test_the_way_to_a_route_s_begin_is_put_before_it(
    road: RoadMap, begin: float, around: float | None, joins: bool
) -> None:
    route = route_along(road, begin=begin, end=300.0)
    book = Book(around=None if around is None else Pose(around, NEAR_Y, 0.0))
    found = joined(at(view_of(Place(road)), book=book), route)
    assert (found is not route) is joins
    assert found.length == pytest.approx(250.0 if joins else 300.0 - begin, abs=0.1)


def two_routes(road: RoadMap, present: Route, x: float = 50.0, y: float = NEAR_Y, heading: float = 0.0) -> View:
    return at(view_of(Place(road, x, y, heading), present), routing=Routing(route=present))


@pytest.mark.clause("RRF-2")
def test_routes_are_compared_from_the_car_on(road: RoadMap) -> None:
    present = route_along(road, end=300.0)
    view = two_routes(road, present)
    for other, same in (
        (route_along(road, begin=20.0, end=300.0), True),
        (route_along(road, end=301.9), True),
        (route_along(road, end=302.1), False),
        (route_along(road, end=298.1), True),
        (route_along(road, end=297.9), False),
        (route_along(road, FAR_LANE, end=300.0), False),
    ):
        assert same_course(view, present, other) is same
    for beside, same in ((0.7, True), (0.8, False), (-0.8, False)):
        line = present.reference
        shifted = replace(present, reference=Polyline.of(line.xy + np.array((0.0, beside))))
        assert same_course(view, present, shifted) is same
    back = route_along(road, ONCOMING_LANE)
    assert same_direction(view, present, route_along(road, FAR_LANE))
    assert not same_direction(view, present, back)


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize("direction", [0.6, 1.2, -1.2])
def test_directions_are_compared_wherever_the_road_leads(tmp_path: Path, direction: float) -> None:
    file = write_road(tmp_path)
    file.write_text(file.read_text().replace('hdg="0"', f'hdg="{direction}"'))
    turned = read_map(file)
    x, y = route_along(turned).reference.at(50.0)[:2]
    view = two_routes(turned, route_along(turned), x, y, direction)
    assert same_direction(view, route_along(turned), route_along(turned, FAR_LANE))
    assert not same_direction(view, route_along(turned), route_along(turned, ONCOMING_LANE))


@pytest.mark.clause("RFG-1")
@pytest.mark.parametrize(
    ("reverse", "covers", "v", "allowed"),
    [(True, True, 0.0, True), (False, True, 0.0, False), (True, False, 0.0, False), (True, False, -0.01, False),
     (True, False, -0.03, None), (True, True, -0.03, True)],
)  # fmt: skip
def test_in_rain_reversing_is_for_a_radar_that_looks_back(
    road: RoadMap, reverse: bool, covers: bool, v: float, allowed: bool | None
) -> None:
    record = replace(Behaviour(road, VEHICLE, BehaviourParameters()).record.rain_fog, path=RADAR_AND_HISTORY)
    request = FreeSpace(Pose(60.0, NEAR_Y, 0.0), np.zeros((0, 4)), (), 9.0, allow_reverse=reverse)
    parameters = RadarParameters(covers_rear=covers)
    world = Place(road, v=v).world(0.0, None)
    found = restricted(request, world, record, parameters)
    if allowed is None:
        assert found == Hold(Reason.GEAR_CHANGE, detail="the radar does not look back")
        return
    assert isinstance(found, FreeSpace)
    assert (found.allow_reverse, found.speed_limit) == (allowed, parameters.speed)
    slow = restricted(replace(request, speed_limit=0.5), world, record, parameters)
    assert isinstance(slow, FreeSpace)
    assert slow.speed_limit == 0.5
    assert restricted(request, world, replace(record, path=CLEAR), parameters) is request
    assert restricted(request, replace(world, objects_fresh=False), record, parameters) == Hold(
        Reason.RADAR_STALE, detail="nothing from it in rain or fog"
    )


@pytest.mark.clause("RRF-1", "RRF-3")
def test_while_a_state_asks_itself_nothing_is_asked_beside_but_an_open_question_ends(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick()
    record = drive.behaviour.record
    memory = record.machine.memory
    due = replace(memory, routing=replace(memory.routing, route=route_along(road), refreshed_at=-99.0))
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=due)))
    assert not any(request.purpose == "refresh" for _ in range(3) for request in drive.tick().route_requests)
    record = drive.behaviour.record
    memory = record.machine.memory
    waits = replace(memory, routing=replace(memory.routing, refresh=9))
    asking = replace(record.route_refresh, path=ASKING, entered_at=record.route_refresh.clock)
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=waits), route_refresh=asking))
    assert dict(drive.tick().supervisors)["route_refresh"] == ASKING
    drive.run(2.1)
    assert dict(drive.last.supervisors)["route_refresh"] == IDLE
    assert "route request 9 (refresh): no answer" in [line for each in drive.decisions for line in each.reports]


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(
    ("centre", "y", "wall", "turns"),
    [
        ("open", NEAR_Y, None, True),
        ("solid", NEAR_Y, None, False),
        ("open", NEAR_Y, 0.0, False),
        ("solid", 0.5, None, True),
        ("open", ONCOMING_Y - 14.9, None, False),
        ("open", ONCOMING_Y + 4.0, None, True),
        ("open", ONCOMING_Y + 15.1, None, False),
    ],
)
def test_the_car_can_turn_to_what_is_near_with_nothing_between(
    road: RoadMap, open_road: RoadMap, centre: str, y: float, wall: float | None, turns: bool
) -> None:
    road_map = open_road if centre == "open" else road
    view = two_routes(road_map, route_along(road_map), y=y)
    if wall is not None:
        segments = np.array([(40.0, wall, 60.0, wall)])
        view = replace(view, world=replace(view.world, scene=replace(view.world.scene, static_segments=segments)))
    assert can_turn_round(view, route_along(road_map, ONCOMING_LANE)) is turns


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(
    ("number", "conduct", "taken", "open_after"),
    [
        (9, {}, True, -1),
        (8, {}, False, 9),
        (PUSHED, {}, True, 9),
        (PUSHED, {"asks_itself": True}, False, 9),
        (9, {"asks_itself": True}, True, -1),
        (9, {"defers_route": True}, None, -1),
    ],
)
def test_which_answers_are_taken_beside(
    road: RoadMap, number: int, conduct: dict[str, bool], taken: bool | None, open_after: int
) -> None:
    present, other = route_along(road), route_along(road, FAR_LANE)
    view = two_routes(road, present)
    view = at(view, routing=replace(view.memory.routing, refresh=9, number=9))
    memory = consider(replace(view, answers=(RouteMatch(number, other),)), replace(STANDS, **conduct))
    assert (memory.routing.route is other) is bool(taken)
    assert memory.routing.switched is bool(taken)
    assert (memory.routing.kept is other) is (taken is None)
    assert memory.routing.refresh == open_after
    assert memory.reports == (("switched to another route",) if taken else ())
    refused = consider(replace(view, answers=(RouteMatch(9, None),)), STANDS)
    assert refused.reports == ("route 9: refused, empty or on no lanes",)


@pytest.mark.clause("RRF-2", "RPL-2")
def test_what_is_kept_back_and_what_is_refused(road: RoadMap, open_road: RoadMap) -> None:
    present = route_along(road, end=300.0)
    view = two_routes(road, present)

    def told(route: Route, **memory: Any) -> Any:
        looked = at(view, **memory)
        looked = at(looked, routing=replace(looked.memory.routing, refresh=9, ticket=4))
        return consider(replace(looked, answers=(RouteMatch(9, route),)), STANDS)

    same = told(route_along(road, end=300.0))
    assert same.routing.route is present
    assert (same.routing.kept, same.routing.serves, same.routing.switched) == (None, 4, False)
    back = route_along(road, ONCOMING_LANE)
    assert told(back).routing.kept is back, "no place to turn round"
    assert told(back).routing.route is present
    blocked = {"on_road": OnRoad(Block(np.zeros((0, 3)), ((FAR_LANE, 90.0, 110.0),)))}
    assert told(route_along(road, FAR_LANE), **blocked).reports == ("route 9: it leads through the reported block",)
    own = {"on_road": OnRoad(Block(np.zeros((0, 3)), ((NEAR_LANE, 90.0, 110.0),)))}
    assert told(route_along(road, end=300.0), **own).reports == (), "it is the present one"
    assert told(route_along(road, FAR_LANE, end=51.0)).reports == ("route 9: it ends where the car is",)
    lost = replace(view, world=replace(view.world, localized=False), answers=(RouteMatch(PUSHED, back),))
    assert consider(lost, STANDS).routing.route is present
    first = view_of(Place(road))
    taken = consider(replace(first, answers=(RouteMatch(PUSHED, present),)), STANDS)
    assert taken.routing.route is present


@pytest.mark.clause("USE-1")
def test_flapping_is_a_second_return_within_3_s() -> None:
    flaps = Flaps()
    for path, clock, count in (
        ("a", 0.0, 0),
        ("b", 1.0, 0),
        ("a", 2.0, 0),
        ("b", 3.0, 0),
        ("a", 5.0, 1),
        ("b", 6.1, 1),
        ("a", 7.9, 2),
        ("a", 10.95, 2),
    ):
        flaps = flaps.entered(path, clock, 3.0)
        assert flaps.count == count
