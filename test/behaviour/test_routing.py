"""Questions to the route server, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tuling_fsm.behaviour.memory import RouteQuestion, RoutingMemory
from tuling_fsm.behaviour.mission.memory import GoalKind, MissionGoal, MissionProgress
from tuling_fsm.behaviour.parameters import RouteParameters
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch
from tuling_fsm.behaviour.routing import (
    PUSHED,
    arrival_distance,
    backoff_s,
    destination,
    joined,
    leads_on,
    pursue,
    pursue_stop,
    send,
)
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint
from tuling_fsm.world.world import RouteMatch

from .views import CLOCK, asking, at, view_of
from .worlds import (
    FAR_Y,
    NEAR_Y,
    VEHICLE,
    Place,
    route_along,
)


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(("failures", "pause"), [(1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (99, 5.0)])
def test_pauses_grow(failures: int, pause: float) -> None:
    assert backoff_s(RouteParameters(), failures) == pause
    assert backoff_s(replace(RouteParameters(), backoff_max=1e300), 99) == 2.0**30


ASKED = RouteQuestion("q", first=4, failures=1, asked_at=CLOCK - 1.0)


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(
    ("question", "localized", "asks"),
    [
        (RouteQuestion("q", first=6, due_at=CLOCK), True, True),
        (RouteQuestion("q", first=6, due_at=CLOCK + 0.05), True, False),
        (RouteQuestion("q", first=6, due_at=CLOCK), False, False),
        (RouteQuestion("q", first=6, due_at=CLOCK, answered=True), True, False),
        (replace(ASKED, asked_at=CLOCK - 2.0), True, False),
    ],
)
def test_when_it_is_asked(road: RoadMap, question: RouteQuestion, localized: bool, asks: bool) -> None:
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
        name = "the pushed route" if number == PUSHED else f"route {number}"
        assert memory.reports == (f"{name}: refused, empty or on no lanes",)
    waiting = replace(view, answers=(RouteMatch(5, None),))
    waiting = at(waiting, routing=replace(waiting.memory.routing, question=replace(ASKED, asked_at=None, due_at=9e9)))
    assert pursue(waiting, leads_on).routing.question.failures == 1, "it has failed already"
    twice = replace(view, answers=(RouteMatch(5, answer), RouteMatch(5, route_along(road, end=360.0))))
    assert pursue(twice, leads_on).routing.route is answer


@pytest.mark.clause("NOR-10", "USE-10")
@pytest.mark.parametrize(
    ("number", "end", "arrived", "taken"),
    [
        (5, 300.0, True, False),
        (5, 309.9, True, False),
        (5, 310.1, True, True),
        (5, 300.0, False, True),
        (PUSHED, 300.0, True, True),
    ],
)
def test_no_way_back_to_a_goal_that_is_reached_is_taken_unless_it_is_pushed(
    road: RoadMap, number: int, end: float, arrived: bool, taken: bool
) -> None:
    again = route_along(road, end=end)
    routing = pursue(asking(road, ASKED, RouteMatch(number, again), arrived=arrived), leads_on).routing
    assert (routing.route is again, routing.question.answered, routing.arrived) == (taken, taken, not taken)


@pytest.mark.clause("DEP-2", "USE-9")
@pytest.mark.parametrize("question", [ASKED, replace(ASKED, asked_at=None, due_at=CLOCK + 9.0)])
def test_another_goal_is_asked_for_at_once_and_answers_to_the_old_one_are_not_taken(
    road: RoadMap, question: RouteQuestion
) -> None:
    spot = MissionPoint("", 200.0, FAR_Y, 0.0)
    going = MissionProgress(Mission(7.0, goal=spot), goal=MissionGoal(GoalKind.GOAL, spot), ticket=1)
    view = asking(road, question, RouteMatch(5, route_along(road, end=350.0)), arrived=True)
    present = view.memory.routing.route
    routing = pursue(at(view, mission=going), leads_on).routing
    assert (routing.route is present, routing.arrived) == (True, False)
    assert routing.question == RouteQuestion("q", 6, asked_at=CLOCK, due_at=CLOCK, ticket=1)
    assert [request.goal for request in routing.outbox] == [(200.0, FAR_Y, 0.0)]
    pushed = route_along(road, end=360.0)
    come = replace(view, answers=(RouteMatch(PUSHED, pushed),))
    assert pursue(at(come, mission=going), leads_on).routing.route is pushed
    kept = at(view, mission=going, routing=replace(view.memory.routing, kept=pushed, kept_unasked=True))
    assert pursue_stop(kept).routing.route is pushed


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(
    ("unasked", "end", "localized", "answered", "taken"),
    [
        (True, 350.0, True, False, True),
        (False, 350.0, True, False, False),
        (True, 51.0, True, False, False),
        (True, 350.0, False, False, False),
        (True, 350.0, True, True, False),
    ],
)
def test_a_route_that_was_pushed_before_the_question_may_answer_it(
    road: RoadMap, unasked: bool, end: float, localized: bool, answered: bool, taken: bool
) -> None:
    kept = route_along(road, end=end)
    question = replace(ASKED, answered=answered)
    view = asking(road, question, kept=kept, kept_unasked=unasked, localized=localized)
    routing = pursue_stop(view).routing
    assert (routing.route is kept, routing.question.answered) == (taken, taken or answered)
    assert routing.kept is (None if taken else kept)
    newer = route_along(road, end=360.0)
    assert pursue_stop(replace(view, answers=(RouteMatch(PUSHED, newer),))).routing.route is newer
    assert pursue(view, leads_on).routing.kept is kept, "away from a stop it waits for a place to turn"


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
    assert leads_on(at(view, routing=RoutingMemory(arrived=arrived)), route_along(road, end=end)) == objection
    assert (arrival_distance(view, False), arrival_distance(view, True)) == (2.0, 2.0 + VEHICLE.front)


@pytest.mark.clause("PRK-2", "MAT-1")
def test_where_the_car_is_bound(road: RoadMap) -> None:
    route, spot, slot = route_along(road, end=300.0), MissionPoint("", 200.0, FAR_Y, 0.0), Pose(70.0, 8.0, 1.0)
    wanted = Mission(7.0, goal=spot)
    going = MissionProgress(wanted, goal=MissionGoal(GoalKind.GOAL, spot))
    none = view_of(Place(road))
    assert destination(none) is None
    view = at(view_of(Place(road), route, mission=wanted), routing=RoutingMemory(route=route))
    assert destination(view) == pytest.approx((300.0, NEAR_Y, 0.0)), "without a mission the route is all there is"
    assert destination(at(view, mission=going)) == (200.0, FAR_Y, 0.0)
    assert destination(at(view, mission=replace(going, goal=MissionGoal()))) is None
    late = replace(going, mission=replace(wanted, match_time_s=5.0), elapsed_s=5.0)
    assert destination(at(view, mission=late)) is None
    searched = ParkingMemory(SlotSearch(mission_stamp=7.0, goal=slot, start=Pose(52.0, NEAR_Y + 3.5, 3.0)))
    assert destination(at(view, mission=going, parking=searched)) == slot
    assert destination(at(view, mission=late, parking=searched)) is None
    other = ParkingMemory(replace(searched.round, mission_stamp=6.0))
    assert destination(at(view, mission=going, parking=other)) == (200.0, FAR_Y, 0.0)
    (request,) = send(
        at(view, mission=going, parking=searched),
        at(view, mission=going, parking=searched).memory,
        "p",
    ).routing.outbox
    assert request.start == searched.round.start
    for apart, start in ((7.9, True), (8.1, False)):
        beside = Pose(50.0 + apart, NEAR_Y, 3.0)
        parking = ParkingMemory(replace(searched.round, start=beside))
        assert parking.search_start(Pose(50.0, NEAR_Y, 0.0)) == (beside if start else (50.0, NEAR_Y, 0.0))
    round_again = at(view, mission=replace(going, around=Pose(210.0, FAR_Y, 0.0), ticket=6))
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
    progress = MissionProgress(around=None if around is None else Pose(around, NEAR_Y, 0.0))
    found = joined(at(view_of(Place(road)), mission=progress), route)
    assert (found is not route) is joins
    assert found.length == pytest.approx(250.0 if joins else 300.0 - begin, abs=0.1)
