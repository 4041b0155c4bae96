"""Asking for the current route, and switching to another."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.world import RouteMatch

from .worlds import (
    FAR_LANE,
    FAR_Y,
    NEAR_Y,
    ONCOMING_LANE,
    ONCOMING_Y,
    VEHICLE,
    Drive,
    Place,
    Thing,
    departed,
    in_normal,
    mission,
    plan,
    route_along,
)


def _asked(drive: Drive) -> list[float]:
    return [d.stamp for d in drive.decisions for request in d.route_requests if request.purpose == "refresh"]


@pytest.mark.clause("RRF-1")
@pytest.mark.medium
def test_the_server_is_asked_every_10_seconds(road: RoadMap) -> None:
    drive = in_normal(Place(road, v=5.0), route_along(road))
    for _ in range(620):
        if drive.tick().route_requests:
            drive.answer(drive.route)
    stamps = _asked(drive)
    assert len(stamps) == 3
    assert np.diff(stamps) == pytest.approx([10.0, 10.0])


@pytest.mark.clause("RRF-1")
def test_a_new_mission_is_asked_for_at_once(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    drive.run(1.0)
    drive.place.mission = mission(x=200.0, stamp=drive.stamp)
    (request,) = drive.tick().route_requests
    assert (request.purpose, request.goal.x) == ("refresh", 200.0)
    assert not any(decision.route_requests for decision in drive.run(1.0))


@pytest.mark.clause("RRF-2")
def test_the_same_route_again_changes_nothing(road: RoadMap) -> None:
    route = route_along(road)
    drive = in_normal(Place(road, v=5.0), route)
    drive.run(10.0)
    drive.answer(route_along(road, begin=40.0))
    drive.run(1.0)
    assert drive.last.route is route


@pytest.mark.clause("RRF-2")
def test_a_new_route_of_the_same_direction_is_switched_to_at_once(road: RoadMap) -> None:
    drive = in_normal(Place(road, v=5.0), route_along(road))
    drive.run(10.0)
    other = route_along(road, FAR_LANE)
    decision = drive.answer(other)
    assert decision.route is other
    assert decision.state == states.NORMAL
    assert decision.transition is None


@pytest.mark.clause("RRF-2")
def test_a_pushed_route_counts_as_an_answer(road: RoadMap) -> None:
    drive = in_normal(Place(road), route_along(road))
    other = route_along(road, FAR_LANE)
    assert drive.tick(RouteMatch(-1, other)).route is other


@pytest.mark.clause("RRF-2")
def test_in_regression_the_switch_enters_regression_anew(road: RoadMap) -> None:
    drive = departed(Place(road, x=50.0, y=ONCOMING_Y), route_along(road))
    drive.run(2.0)
    drive.place.x = 90.0
    decision = drive.tick(RouteMatch(-1, route_along(road, FAR_LANE)))
    assert decision.transition is not None
    assert (decision.transition.source, decision.transition.dest) == (states.REGRESSION, states.REGRESSION)
    assert decision.transition.clause == "RRF-2"
    assert isinstance(decision.request, FreeSpace)
    assert decision.request.goal.x == pytest.approx(110.0)
    assert decision.time_in_state_s == 0.0


@pytest.mark.clause("RRF-2")
def test_an_opposite_route_is_kept_back_where_the_car_cannot_turn(road: RoadMap) -> None:
    route = route_along(road)
    drive = in_normal(Place(road), route)
    opposite = route_along(road, ONCOMING_LANE)
    drive.tick(RouteMatch(-1, opposite))
    drive.run(5.0)
    assert drive.last.route is route
    assert drive.behaviour.record.machine.memory.routing.kept is opposite


@pytest.mark.clause("RRF-2")
def test_an_opposite_route_is_switched_to_where_the_car_can_turn(open_road: RoadMap) -> None:
    drive = in_normal(Place(open_road), route_along(open_road))
    opposite = route_along(open_road, ONCOMING_LANE)
    drive.probe = plan()
    assert isinstance(drive.tick(RouteMatch(-1, opposite)).probe, FreeSpace)
    assert drive.tick().route is opposite
    drive.place.localized = True
    decision = drive.until(states.REGRESSION, 2.0)
    assert decision.transition is not None
    assert decision.transition.clause == "NOR-9"


@pytest.mark.clause("RRF-2")
def test_the_car_turns_round_only_where_the_planner_finds_a_way(open_road: RoadMap) -> None:
    """Nothing lies between it and the route, but there is no room; it goes on and asks again from time to time."""
    there, back = route_along(open_road), route_along(open_road, ONCOMING_LANE)
    drive = in_normal(Place(open_road), there)
    drive.probe = plan(feasible=False)
    drive.tick(RouteMatch(-1, back))
    asked = [decision.probe for decision in (drive.last, *drive.run(4.9)) if decision.probe is not None]
    assert len(asked) == 5 and drive.last.route is there and drive.last.state == states.NORMAL
    (goal,) = {request.goal for request in asked if isinstance(request, FreeSpace)}
    assert abs(goal.heading) == pytest.approx(math.pi) and goal.y == ONCOMING_Y
    drive.probe = plan()
    drive.run(1.1)
    assert drive.last.route is back


@pytest.mark.clause("RRF-2", "SAF-4")
@pytest.mark.medium
def test_a_server_that_changes_its_mind_every_ten_seconds_does_not_keep_the_car_in_one_state(road: RoadMap) -> None:
    """Each switch begins `regression` anew. They come ever more slowly, so that its deadline passes, as all do when a
    car can't move.
    """
    routes = route_along(road), route_along(road, FAR_LANE)
    drive = departed(Place(road, y=NEAR_Y + 5.0, heading=0.9), routes[0])
    for k in range(30):
        drive.tick(RouteMatch(-1, routes[(k + 1) % 2]))
        drive.run(10.0 - 0.05)
    fired = [each.transition for each in drive.decisions if each.transition is not None]
    switched = [each.stamp for each in fired if each.clause == "RRF-2"]
    waits = [round(after - before) for before, after in pairwise(switched)]
    assert waits == [10, 30, 50], "at once, at once, then after 20 s and 40 s at the next answer"
    assert drive.last.state == states.PARKED
    lines = [line for each in drive.decisions for line in each.reports]
    assert "the pushed route: kept back for 10 s, as the route has changed 2 times" in lines


@pytest.mark.clause("RRF-2", "USE-8")
@pytest.mark.parametrize(("turned", "goes_on"), [(0.5, False), (1.8, True), (3.0, True)])
def test_a_turn_that_is_half_made_is_finished(open_road: RoadMap, turned: float, goes_on: bool) -> None:
    """Whatever the server says meanwhile: only when the car is back on the road another way is considered."""
    there, back = route_along(open_road), route_along(open_road, ONCOMING_LANE)
    drive = in_normal(Place(open_road), there)
    drive.probe = plan()
    drive.tick(RouteMatch(-1, back))
    assert drive.tick().route is back
    drive.until(states.REGRESSION, 2.0)
    drive.place.heading = turned
    drive.tick(RouteMatch(-1, there))
    drive.run(1.0)
    assert drive.last.state == states.REGRESSION
    assert (drive.last.route is back) is goes_on
    if goes_on:
        drive.place.y, drive.place.heading = ONCOMING_Y, math.pi
        drive.until(states.NORMAL, 2.0)
        drive.run(0.1)
        assert drive.last.route is there


@pytest.mark.clause("RRF-2")
def test_a_kept_route_is_switched_to_once_it_runs_the_same_way(road: RoadMap) -> None:
    drive = departed(Place(road, y=ONCOMING_Y, heading=math.pi), route_along(road))
    drive.place.y, drive.place.heading = NEAR_Y, 0.0
    drive.until(states.NORMAL, 2.0)
    opposite = route_along(road, ONCOMING_LANE)
    drive.tick(RouteMatch(-1, opposite))
    newer = route_along(road, FAR_LANE)
    assert drive.tick(RouteMatch(-1, newer)).route is newer
    assert drive.behaviour.record.machine.memory.routing.kept is None


@pytest.mark.clause("RRF-2")
@pytest.mark.parametrize(("end", "switched"), [(60.0, True), (30.0, False)])
def test_a_kept_route_that_the_car_has_left_behind_is_not_switched_to(
    road: RoadMap, end: float, switched: bool
) -> None:
    """It came while the state deferred it, and turns off (here: ends) before the place that the car is at by then."""
    drive = in_normal(Place(road, x=50.0), route_along(road))
    other = route_along(road, FAR_LANE, begin=10.0, end=end)
    record = drive.behaviour.record
    routing = record.machine.memory.routing
    routing = replace(routing, kept=other, kept_ticket=routing.ticket)
    memory = replace(record.machine.memory, routing=routing)
    drive.behaviour.restore(replace(record, machine=replace(record.machine, memory=memory)))
    assert (drive.tick().route is other) is switched


def _asking(road: RoadMap) -> Drive:
    drive = in_normal(Place(road, v=5.0), route_along(road))
    while not drive.tick().route_requests:
        pass
    return drive


@pytest.mark.clause("RRF-2")
def test_replan_defers_the_switch_and_explore_makes_it(road: RoadMap) -> None:
    drive = _asking(road)
    number, route = drive.number, drive.last.route
    drive.place.v, drive.result = 0.0, plan(False)
    # At the edge of the far lane: too near for a target, and no wall across it.
    edge = FAR_Y - 0.9 - 0.5 * VEHICLE.width - 0.1
    drive.place.things = tuple(Thing(float(x), y) for x in range(0, 400, 3) for y in (NEAR_Y, edge))
    drive.until(states.REPLAN, 1.9)
    other = route_along(road, FAR_LANE)
    drive.tick(RouteMatch(number, other))
    for decision in drive.run(1.0):
        assert decision.state == states.REPLAN
        assert decision.route is route
    while drive.last.state == states.REPLAN:
        drive.answer(None)
    assert drive.last.state == states.EXPLORE
    decision = drive.tick()
    assert decision.route is other
    assert decision.transition is not None
    assert (decision.transition.source, decision.transition.clause) == (states.EXPLORE, "RRF-2")


@pytest.mark.clause("RPL-2")
@pytest.mark.medium
def test_a_refreshed_route_through_the_reported_block_is_not_switched_to(road: RoadMap) -> None:
    drive = departed(Place(road, y=9.0), route_along(road, FAR_LANE))
    drive.result = drive.probe = plan(False)
    drive.until(states.REPLAN, 40.0)
    while drive.last.state == states.REPLAN:
        drive.answer(None)
    route = drive.last.route
    decision = drive.tick(RouteMatch(-1, route_along(road, FAR_LANE, begin=20.0, end=390.0)))
    assert decision.route is route
    assert "through the reported block" in decision.reports[0]


@pytest.mark.clause("RRF-3")
def test_a_server_that_is_away_costs_a_warning_and_nothing_else(road: RoadMap) -> None:
    drive = in_normal(Place(road, v=5.0), route_along(road))
    decisions = drive.run(35.0)
    assert {decision.state for decision in decisions} == {states.NORMAL}
    warnings = [line for decision in decisions for line in decision.reports]
    assert len(warnings) == 3
    assert all("no answer" in line for line in warnings)


@pytest.mark.clause("RRF-3")
def test_a_refused_refresh_is_reported_and_the_route_kept(road: RoadMap) -> None:
    route = route_along(road)
    drive = in_normal(Place(road, v=5.0), route)
    while not drive.tick().route_requests:
        pass
    decision = drive.answer(None)
    assert decision.route is route
    assert "refused" in decision.reports[0]
