"""Where the search for a slot goes next, from any place and with any aisles driven."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from garage import UPPER_Y

from behaviour.views import CLOCK, at, view_of
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import RouteQuestion, RoutingMemory
from tuling_fsm.behaviour.parking.memory import ParkingMemory, SlotSearch, TargetSlot
from tuling_fsm.behaviour.parking.routes import look_elsewhere, next_way, reversed_route, wait_for_route, without_server
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.parking import ParkingEnd, parking_areas, parking_end
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.mission import Mission
from tuling_fsm.world.world import RouteMatch

from .drives import LOWER_END, OUTSIDE, UPPER_END, Garage, car_park, route_to, to_park

LOWER, SPINE, UPPER = ("2", 0), ("3", 0), ("4", 0)
EAST, NORTH, WEST, SOUTH = 0.0, 0.5 * math.pi, math.pi, 1.5 * math.pi
IN_LOWER, BACK_IN_LOWER, LAST_OF_LOWER = Pose(15.0, -1.75, EAST), Pose(42.0, 1.75, WEST), Pose(42.0, -1.75, EAST)
IN_SPINE, IN_UPPER = Pose(1.75, 20.0, NORTH), Pose(30.0, UPPER_Y - 1.75, EAST)
END_OF_LOWER, BEGIN_OF_LOWER = (40.0, -1.75), (18.0, 1.75)
END_OF_UPPER, UP_THE_SPINE, DOWN_THE_SPINE = (40.0, UPPER_Y - 1.75), (1.75, 22.0), (-1.75, 18.0)


def searching(road_map: RoadMap, pose: Pose, route: Route | None = None, **memory: Any) -> BehaviourView:
    """The view of a car in the search, with the round's and the question's memory."""
    mission: Mission = memory.pop("mission", car_park())
    answers, question = memory.pop("answers", ()), memory.pop("question", RouteQuestion())
    view = view_of(Garage(road_map, *pose, mission=mission), route)
    routing = RoutingMemory(route=route, number=5, question=question)
    parking = ParkingMemory(SlotSearch(area=0, mission_stamp=0.0, **memory))
    view = at(view, routing=routing, parking=parking, mission=to_park(mission))
    return replace(view, answers=answers)


def driven_to(road_map: RoadMap, goal: Pose = LOWER_END) -> tuple[Route, ParkingEnd]:
    route = route_to(road_map, goal)
    end = parking_end(road_map, route)
    assert end is not None
    return route, end


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("pose", "driven", "goal", "turns"),
    [
        (IN_LOWER, (), END_OF_UPPER, True),
        (IN_LOWER, (UPPER,), END_OF_LOWER, False),
        (IN_LOWER, (LOWER, UPPER), UP_THE_SPINE, True),
        (IN_LOWER, (SPINE, UPPER), END_OF_LOWER, False),
        (IN_LOWER, (LOWER, SPINE), END_OF_UPPER, True),
        (IN_LOWER, (LOWER, SPINE, UPPER), None, False),
        (LAST_OF_LOWER, (LOWER,), END_OF_UPPER, True),
        (LAST_OF_LOWER, (UPPER,), UP_THE_SPINE, True),
        (LAST_OF_LOWER, (SPINE, UPPER), BEGIN_OF_LOWER, True),
        (BACK_IN_LOWER, (LOWER,), END_OF_UPPER, False),
        (BACK_IN_LOWER, (SPINE, UPPER), BEGIN_OF_LOWER, False),
        (IN_SPINE, (LOWER,), END_OF_UPPER, False),
        (IN_SPINE, (UPPER,), END_OF_LOWER, True),
        (IN_SPINE, (LOWER, UPPER), None, False),
        (IN_UPPER, (LOWER,), DOWN_THE_SPINE, True),
        (IN_UPPER, (LOWER, SPINE), END_OF_UPPER, False),
        (IN_UPPER, (SPINE, UPPER), END_OF_LOWER, True),
    ],
)
def test_the_next_way_shows_most_for_its_length(
    car_park_map: RoadMap,
    pose: Pose,
    driven: tuple[tuple[str, int], ...],
    goal: tuple[float, float] | None,
    turns: bool,
) -> None:
    (area,) = parking_areas(car_park_map)
    way = next_way(searching(car_park_map, pose), area, driven)
    if goal is None:
        assert way is None
        return
    assert way is not None
    assert way.goal[:2] == pytest.approx(goal, abs=0.01)
    assert (way.start != pose) is turns
    assert math.dist(way.start[:2], pose[:2]) == pytest.approx(3.5 * turns, abs=0.01)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("goal", "begin", "end"),
    [
        (LOWER_END, (LOWER_END.x, 1.75, WEST), (13.0, 1.75, WEST)),
        (UPPER_END, (UPPER_END.x, UPPER_Y + 1.75, WEST), (-1.75, 13.0, SOUTH)),
    ],
)
def test_a_route_is_driven_back_as_far_as_it_runs_inside(
    car_park_map: RoadMap, goal: Pose, begin: tuple[float, ...], end: tuple[float, ...]
) -> None:
    route, where = driven_to(car_park_map, goal)
    back = reversed_route(car_park_map, where, route)
    assert back is not None
    assert back.reference.at(0.0) == pytest.approx(begin, abs=0.01)
    assert back.reference.at(back.length) == pytest.approx(end, abs=0.01)
    assert reversed_route(car_park_map, where, None) is None


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("passes", "driven", "after", "lines"),
    [
        (0, (), (LOWER,), ()),
        (0, (SPINE,), (SPINE, LOWER), ()),
        (0, (UPPER, SPINE), (LOWER,), ()),
        (1, (), (LOWER,), ("parking: no free slot after 2 routes, circling on",)),
        (2, (LOWER,), (LOWER,), ("parking: no free slot after 3 routes, circling on",)),
    ],
)
def test_a_pass_is_counted_and_another_way_asked_for(
    car_park_map: RoadMap, passes: int, driven: tuple[Any, ...], after: tuple[Any, ...], lines: tuple[str, ...]
) -> None:
    route, end = driven_to(car_park_map)
    barred = (TargetSlot("b", LOWER_END, 5.0, 2.5),)
    view = searching(car_park_map, LAST_OF_LOWER, route, passes=passes, driven=driven, barred=barred)
    memory = look_elsewhere(view, end)
    round_, question = memory.parking.round, memory.routing.question
    assert (round_.passes, round_.driven, round_.asking, memory.reports) == (passes + 1, after, True, lines)
    assert round_.barred == (() if lines else barred)
    assert (question.purpose, question.first, question.due_at, question.answered) == ("search", 6, CLOCK, False)
    assert round_.start == pytest.approx((LAST_OF_LOWER.x, 1.75, WEST), abs=0.01)
    assert round_.goal is not None
    assert round_.goal[:2] == pytest.approx(END_OF_UPPER, abs=0.01)


def test_an_aisle_counts_as_seen_from_seven_tenths_of_it_on(car_park_map: RoadMap) -> None:
    for length, seen in ((23.9, True), (23.7, False)):
        route, end = driven_to(car_park_map, LOWER_END._replace(x=12.0 + length))
        memory = look_elsewhere(searching(car_park_map, LOWER_END, route), end)
        assert memory.parking.round.driven == ((LOWER,) if seen else ())


def asked(failures: int = 0, **more: Any) -> RouteQuestion:
    return RouteQuestion("search", first=5, failures=failures, asked_at=CLOCK - 0.5, **more)


@pytest.mark.clause("PRK-2")
def test_the_answer_is_taken_if_it_ends_in_the_car_park_and_leads_on(car_park_map: RoadMap) -> None:
    route, end = driven_to(car_park_map)
    back = Pose(LOWER_END.x, 1.75, WEST)
    good, out = route_to(car_park_map, UPPER_END, back), route_to(car_park_map, Pose(-1.75, -40.0, SOUTH), back)
    here = route_to(car_park_map, LOWER_END)
    for answer, objection in ((good, ""), (out, "it does not end in the car park"), (here, "it ends where the car is")):
        view = searching(
            car_park_map, LOWER_END, route, asking=True, question=asked(), answers=(RouteMatch(5, answer),)
        )
        memory = wait_for_route(view, end)
        assert memory.parking.round.asking is bool(objection)
        assert (memory.routing.route is answer) is not bool(objection)
        assert any(objection in line for line in memory.reports) is bool(objection)
    elsewhere = searching(car_park_map, LOWER_END, route, asking=True, question=asked(), answers=(RouteMatch(5, good),))
    elsewhere = at(elsewhere, parking=ParkingMemory(SlotSearch(area=1, mission_stamp=0.0, asking=True)))
    assert wait_for_route(elsewhere, end).routing.route is route


@pytest.mark.clause("PRK-2")
def test_after_two_refusals_it_goes_back_without_the_server(car_park_map: RoadMap) -> None:
    route, end = driven_to(car_park_map)
    for failures, alone in ((0, False), (1, True)):
        view = searching(
            car_park_map, LOWER_END, route, asking=True, question=asked(failures), answers=(RouteMatch(5, None),)
        )
        memory = wait_for_route(view, end)
        assert memory.parking.round.asking is not alone
        assert any("back the way it came" in line for line in memory.reports) is alone


@pytest.mark.clause("PRK-2")
def test_without_any_other_route_the_search_is_stuck_and_says_so(car_park_map: RoadMap) -> None:
    _, end = driven_to(car_park_map)
    memory = without_server(searching(car_park_map, LOWER_END, asking=True), end)
    assert (memory.parking.round.stuck, memory.parking.round.asking) == (True, False)
    assert memory.reports == ("parking: no other way through the car park is known",)


@pytest.mark.parametrize("mission", [None, Mission(0.0)])
def test_without_a_car_park_in_the_mission_there_are_no_preset_routes(
    car_park_map: RoadMap, mission: Mission | None
) -> None:
    route, end = driven_to(car_park_map)
    assert without_server(searching(car_park_map, LOWER_END, route, mission=mission), end).reports == (
        "parking: back the way it came",
    )


def poses(route: Route) -> tuple[Pose, ...]:
    return tuple(Pose(*row) for row in route.poses().tolist())


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("used", "goal", "after"), [(0, UPPER_END, 2), (1, UPPER_END, 2), (2, UPPER_END, 4), (3, UPPER_END, 4)]
)
def test_preset_routes_are_driven_in_turn_but_those_that_lead_nowhere(
    car_park_map: RoadMap, used: int, goal: Pose, after: int
) -> None:
    out = route_to(car_park_map, Pose(-1.75, -40.0, SOUTH), Pose(30.0, UPPER_Y + 1.75, WEST))
    for first in (route_to(car_park_map, LOWER_END), out):
        _check_preset(car_park_map, (first, route_to(car_park_map, UPPER_END)), used, goal, after)


def _check_preset(road_map: RoadMap, given: tuple[Route, ...], used: int, goal: Pose, after: int) -> None:
    route, end = driven_to(road_map)
    presets = tuple(poses(preset) for preset in given)
    view = searching(road_map, LOWER_END, route, asking=True, preset=used, mission=car_park(routes=presets))
    memory = without_server(view, end)
    round_, taken = memory.parking.round, memory.routing.route
    assert memory.reports == ("parking: a preset route",)
    assert (round_.asking, round_.preset, round_.stuck) == (False, after, False)
    assert taken is not None
    assert taken is not route
    assert taken.reference.at(taken.length)[:2] == pytest.approx(goal[:2], abs=0.3)
    assert round_.goal == taken.reference.at(taken.length)
    assert round_.start == pytest.approx((LOWER_END.x, 1.75, WEST), abs=0.01)
    assert taken.reference.at(0.0) == pytest.approx(round_.start, abs=0.1), "round, and back to where it is joined"
    assert taken.length == pytest.approx(106.2 - 2.0 + 2.0, abs=3.0)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("pose", "length", "turns"),
    [(OUTSIDE, None, False), (Pose(20.0, -1.75, EAST), 22.0, False), (Pose(20.0, 1.75, WEST), 22.0, True)],
)
def test_a_preset_route_is_joined_where_that_is_shortest(
    car_park_map: RoadMap, pose: Pose, length: float | None, turns: bool
) -> None:
    route, end = driven_to(car_park_map, UPPER_END)
    preset = route_to(car_park_map, LOWER_END)
    view = searching(car_park_map, pose, route, mission=car_park(routes=(poses(preset),)))
    taken = without_server(view, end).routing.route
    assert taken is not None
    assert taken.length == pytest.approx(preset.length if length is None else length, abs=0.3)
    beside = 3.5 if turns else 0.0
    assert math.dist(taken.reference.at(0.0)[:2], pose[:2]) == pytest.approx(beside, abs=0.2)
