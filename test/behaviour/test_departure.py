"""Getting the first route, and the next one at a route's end."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.departure import region
from tuling_fsm.behaviour.mission.memory import MissionProgress
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.parking.memory import ParkingMemory
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.machine.elements import Leaf
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint, Task
from tuling_fsm.world.world import RouteMatch

from .views import at, view_of
from .worlds import (
    LENGTH,
    NEAR_Y,
    VEHICLE,
    Drive,
    Place,
    in_normal,
    mission,
    plan,
    route_along,
)


def _requests(drive: Drive) -> list[tuple[float, str]]:
    start = drive.decisions[0].stamp
    return [
        (round(decision.stamp - start, 3), request.purpose)
        for decision in drive.decisions
        for request in decision.route_requests
    ]


@pytest.mark.clause("DEP-1")
def test_it_asks_at_once_and_stands_until_there_is_a_route(road: RoadMap) -> None:
    drive = Drive(Place(road, x=30.0, mission=mission(x=300.0)))
    first = drive.tick()
    (request,) = first.route_requests
    assert (request.number, request.purpose) == (1, "initial")
    assert request.start[:2] == (30.0, NEAR_Y)
    assert request.goal[:2] == (300.0, NEAR_Y)
    for decision in [first, *drive.run(1.5)]:
        assert decision.state == states.PLAN_ONCE
        assert decision.request == Hold(Reason.NO_ROUTE, detail="asking the route server")


@pytest.mark.clause("DEP-2")
def test_a_valid_route_leads_to_regression(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.run(0.5)
    route = route_along(road)
    assert drive.answer(route).route is route
    decision = drive.until(states.REGRESSION, 0.5)
    assert decision.transition is not None
    assert (decision.transition.source, decision.transition.clause) == (states.PLAN_ONCE, "DEP-2")
    assert decision.transition.stamp - 100.0 == pytest.approx(0.8)


@pytest.mark.clause("DEP-2")
def test_a_refused_route_is_asked_for_again_after_1_2_4_5_5_seconds(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick()
    for _ in range(5):
        asked = drive.number
        refused = drive.answer(None)
        assert "refused, empty or on no lanes" in refused.reports[0]
        while drive.number == asked:
            drive.tick()
    times = [t for t, _ in _requests(drive)]
    pauses = [round(b - a - 0.05, 3) for a, b in itertools.pairwise(times)]
    assert pauses == [1.0, 2.0, 4.0, 5.0, 5.0]
    assert all(isinstance(decision.request, Hold) for decision in drive.decisions)


@pytest.mark.clause("USE-7", "DEP-2")
@pytest.mark.parametrize(
    ("place", "goal", "says"),
    [
        ((50.0, NEAR_Y), (300.0, NEAR_Y), Hold(Reason.NO_ROUTE, detail="asking the route server, 1 failure")),
        (
            (50.0, NEAR_Y),
            (9999.0, 9999.0),
            Hold(Reason.OUTSIDE_MAP, detail="the goal is on no lane; asking the route server, 1 failure"),
        ),
        (
            (50.0, -80.0),
            (300.0, NEAR_Y),
            Hold(Reason.OUTSIDE_MAP, detail="the car is on no lane; asking the route server, 1 failure"),
        ),
        (
            (50.0, NEAR_Y),
            (20.0, NEAR_Y),
            Hold(Reason.NO_PATH, detail="no lanes lead to the goal; asking the route server, 1 failure"),
        ),
    ],
)
def test_where_no_server_can_have_a_route_the_car_says_so(
    road: RoadMap, place: tuple[float, float], goal: tuple[float, float], says: Hold
) -> None:
    drive = Drive(Place(road, *place, mission=mission(*goal)))
    assert drive.tick().hold_reason is Reason.NO_ROUTE
    assert drive.answer(None).request == says
    drive.place.x, drive.place.y = 50.0, NEAR_Y
    drive.place.mission = mission(x=310.0, stamp=drive.stamp)
    drive.tick()
    assert drive.answer(None).hold_reason is Reason.NO_ROUTE, "another goal, which a server may know the way to"


@pytest.mark.clause("DEP-2")
def test_a_late_route_is_asked_for_again_and_still_taken(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.run(3.5)
    assert [t for t, _ in _requests(drive)] == [0.0, 3.05]
    assert any("no answer within 2 s" in line for decision in drive.decisions for line in decision.reports)
    drive.tick(RouteMatch(1, route_along(road)))
    drive.until(states.REGRESSION, 1.0)


@pytest.mark.clause("DEP-2")
@pytest.mark.parametrize(("begin", "end", "why"), [(0.0, 52.0, "ends where the car is"), (150.0, 400.0, "runs 100 m")])
def test_a_route_that_does_not_lead_on_is_no_answer(road: RoadMap, begin: float, end: float, why: str) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick()
    assert why in drive.answer(route_along(road, begin=begin, end=end)).reports[0]
    drive.run(0.9)
    assert drive.last.state == states.PLAN_ONCE
    assert drive.last.route is None


@pytest.mark.clause("DEP-2")
@pytest.mark.medium
def test_years_of_refusals_do_no_harm(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    drive.tick()
    memory = drive.behaviour.record.machine.memory
    for _ in range(40):
        drive.answer(None)
        while not drive.tick().route_requests:
            pass
    assert drive.number > memory.routing.number + 30


@pytest.mark.clause("DEP-1")
def test_without_a_mission_a_pushed_route_is_taken(road: RoadMap) -> None:
    drive = Drive(Place(road))
    assert not any(decision.route_requests for decision in drive.run(3.0))
    assert drive.last.hold_reason is Reason.NO_ROUTE
    drive.tick(RouteMatch(-1, route_along(road)))
    drive.until(states.REGRESSION, 1.0)


@pytest.mark.clause("DEP-1")
def test_not_localized_it_waits_and_asks_as_soon_as_it_is(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission(), localized=False))
    assert not any(decision.route_requests for decision in drive.run(1.0))
    assert drive.last.hold_reason is Reason.NOT_LOCALIZED
    drive.place.localized = True
    assert drive.tick().route_requests


@pytest.mark.clause("NOR-10")
@pytest.mark.medium
def test_at_the_end_of_its_route_the_car_stands_reports_and_asks(road: RoadMap) -> None:
    drive = in_normal(Place(road, x=300.0), route_along(road, end=LENGTH - 20.0))
    drive.place.x = LENGTH - 20.0 - 1.0
    drive.result = plan(reach=0.0, reason=Reason.ROUTE_END)
    arrived = drive.until(states.PLAN_ONCE, 1.0)
    assert arrived.transition is not None
    assert arrived.transition.clause == "NOR-10"
    assert arrived.hold_reason is Reason.ARRIVED
    before = drive.number
    drive.run(25.0)
    assert drive.last.hold_reason is Reason.ARRIVED
    assert drive.number >= before + 2
    drive.answer(route_along(road, end=LENGTH - 20.0))
    drive.place.mission = mission(x=LENGTH - 20.0, stamp=drive.stamp)
    assert {decision.hold_reason for decision in drive.run(12.0)} == {Reason.ARRIVED}, "it is the same place"
    drive.place.mission = mission(x=LENGTH - 1.0, stamp=drive.stamp)
    onward = drive.tick()
    assert [request.goal.x for request in onward.route_requests] == [LENGTH - 1.0]
    assert onward.request == Hold(Reason.NO_ROUTE, detail="asking the route server")
    drive.answer(None)
    drive.run(1.2)
    assert drive.number == onward.route_requests[0].number + 1, "the first pause is 1 s"
    drive.answer(route_along(road, end=LENGTH))
    drive.until(states.REGRESSION, 1.0)


@pytest.mark.clause("NOR-10", "USE-10")
def test_at_the_end_of_a_route_to_an_old_goal_the_car_has_not_arrived(road: RoadMap) -> None:
    drive = in_normal(Place(road, x=300.0), route_along(road, end=LENGTH - 20.0))
    drive.place.x = LENGTH - 20.0 - 1.0
    drive.result = plan(reach=0.0, reason=Reason.ROUTE_END)
    drive.place.mission = mission(x=LENGTH - 1.0, stamp=drive.stamp)
    assert drive.until(states.PLAN_ONCE, 1.0).hold_reason is Reason.NO_ROUTE
    assert {decision.hold_reason for decision in drive.run(5.0)} == {Reason.NO_ROUTE}


@pytest.mark.clause("NOR-10", "PRK-5")
@pytest.mark.parametrize(
    ("x", "serves", "rest", "arrived"),
    [
        (LENGTH - 1.0, 2, None, True),
        (LENGTH - 9.0, 2, None, False),
        (LENGTH - 1.0, 1, None, False),
        (LENGTH - 1.0, 2, Hold(Reason.ARRIVED, detail="parked"), False),
    ],
)
def test_where_the_car_has_arrived(road: RoadMap, x: float, serves: int, rest: Hold | None, arrived: bool) -> None:
    (leaf,) = region(BehaviourParameters()).children
    assert isinstance(leaf, Leaf)
    view = view_of(Place(road, x=x), route_along(road))
    routing = replace(view.memory.routing, serves=serves)
    view = at(view, routing=routing, mission=MissionProgress(ticket=2), parking=ParkingMemory(rest=rest))
    memory = leaf.body.enter(view)
    assert (memory.routing.arrived, memory.parking.rest) == (arrived, None)


@pytest.mark.clause("DEP-2")
def test_the_late_answer_for_an_old_goal_is_not_driven(road: RoadMap) -> None:
    drive = Drive(Place(road, mission=mission()))
    (old,) = drive.tick().route_requests
    drive.place.mission = mission(x=200.0, stamp=drive.stamp)
    (new,) = drive.tick().route_requests
    drive.tick(RouteMatch(old.number, route_along(road)))
    assert {decision.state for decision in drive.run(1.0)} == {states.PLAN_ONCE}
    route = route_along(road, end=200.0)
    assert drive.tick(RouteMatch(new.number, route)).route is route
    drive.until(states.REGRESSION, 1.0)


@pytest.mark.clause("NOR-10")
@pytest.mark.parametrize("changes", [{"v": 0.5}, {"x": LENGTH - 20.0 - 3.0}, {"heading": 0.6}, {"localized": False}])
def test_near_the_end_is_not_arrived(road: RoadMap, changes: dict[str, float]) -> None:
    drive = in_normal(Place(road, x=300.0), route_along(road, end=LENGTH - 20.0))
    drive.place.x = LENGTH - 20.0 - 1.0
    for name, value in changes.items():
        setattr(drive.place, name, value)
    drive.run(1.0)
    assert states.PLAN_ONCE not in [decision.state for decision in drive.decisions[-20:]]


@pytest.mark.clause("NOR-10")
@pytest.mark.parametrize(("before", "state"), [(1.5, states.PLAN_ONCE), (2.5, states.SOLID_LINE_FREE)])
def test_before_a_taken_end_the_bumper_need_only_reach_it(road: RoadMap, before: float, state: str) -> None:
    drive = in_normal(Place(road, x=300.0), route_along(road, end=LENGTH - 20.0))
    drive.place.x = LENGTH - 20.0 - VEHICLE.front - before
    drive.result = plan(False, reason=Reason.OBSTACLE)
    drive.until(state, 1.0)
    if state == states.PLAN_ONCE:
        drive.answer(route_along(road, end=LENGTH - 20.0))
        assert {decision.hold_reason for decision in drive.run(20.0)} == {Reason.ARRIVED}


@pytest.mark.clause("DEP-2", "TMP-3")
def test_a_car_that_stands_at_its_first_stop_asks_for_the_way_round_the_block(road: RoadMap) -> None:
    def starts(x: float) -> list[float]:
        stops = MissionPoint("", 100.0, NEAR_Y, 0.0), MissionPoint("", 300.0, NEAR_Y, 0.0)
        drive = Drive(Place(road, x=x, mission=Mission(0.0, tasks=(Task("", *stops),))))
        for _ in range(3):
            asked = drive.number
            for _ in range(400):
                if drive.number == asked:
                    drive.tick()
            drive.answer(None)
        return [round(request.start.x, 1) for each in drive.decisions for request in each.route_requests]

    assert starts(98.6) == [98.6, 105.0, 98.6]
    assert starts(50.0) == [50.0, 50.0, 50.0]
