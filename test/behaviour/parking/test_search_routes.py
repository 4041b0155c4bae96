"""`parking/slot_search` at the end of its route: another one, turned round onto (PRK-2)."""

from __future__ import annotations

import math

import pytest
from garage import HALF_M, LANE_M, UPPER_Y

from behaviour.worlds import Drive, plan
from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.free_driving import NO_REVERSING
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.world import RouteMatch

from .drives import (
    LOWER_END,
    OUTSIDE,
    UPPER_END,
    Garage,
    car_park,
    entering,
    garage,
    probes,
    route_to,
    searching,
    seen_all,
)


def at_dead_end(road_map: RoadMap, **options: object) -> Drive:
    """A drive that stands at the end of its route without having found a slot."""
    drive = searching(road_map, **options)
    garage(drive).go_to(LOWER_END.x - 1.0, LOWER_END.y, 0.0)
    return drive


def refused(drive: Drive, seconds: float) -> None:
    """The route server refuses whatever it is asked for."""
    for _ in range(round(seconds / 0.05)):
        drive.answer(None)


@pytest.mark.clause("PRK-2")
def test_at_the_dead_end_the_server_is_asked_for_a_way_to_the_other_aisle(car_park_map: RoadMap) -> None:
    drive = at_dead_end(car_park_map)
    asked = [
        request for decision in drive.run(1.0) for request in decision.route_requests if request.purpose != "refresh"
    ]
    assert [request.purpose for request in asked] == ["search"]
    assert asked[0].goal.y == pytest.approx(UPPER_Y - 0.5 * LANE_M, abs=0.1)
    assert asked[0].start == pytest.approx((LOWER_END.x - 1.0, 0.5 * LANE_M, math.pi), abs=0.1)
    assert isinstance(drive.last.request, Hold)
    assert drive.last.request.reason is Reason.NO_ROUTE


@pytest.mark.clause("PRK-2")
def test_the_car_turns_round_onto_the_new_route_and_drives_on(car_park_map: RoadMap) -> None:
    drive = at_dead_end(car_park_map)
    drive.run(1.0)
    back = Pose(LOWER_END.x - 1.0, 0.5 * LANE_M, math.pi)
    drive.answer(route_to(car_park_map, UPPER_END, back))
    drive.run(0.5)
    request = drive.last.request
    assert drive.last.state == states.SLOT_SEARCH
    assert isinstance(request, FreeSpace)
    assert request.allow_reverse
    assert request.goal.y == pytest.approx(0.5 * LANE_M, abs=0.05)
    assert abs(request.goal.heading) == pytest.approx(math.pi, abs=0.05)
    garage(drive).go_to(back.x - 2.0, back.y, 0.6 * math.pi)
    drive.run(0.5)
    assert isinstance(drive.last.request, FreeSpace)
    garage(drive).go_to(*request.goal)
    drive.run(0.5)
    ahead = drive.last.request
    assert isinstance(ahead, FreeSpace), "it stands with its wheels turned"
    assert ahead.goal.x < request.goal.x - 2.0
    garage(drive).go_to(*ahead.goal)
    garage(drive).v = 0.5
    drive.tick()
    drive.tick()
    assert isinstance(drive.last.request, FollowLanes)
    assert drive.last.state == states.SLOT_SEARCH


@pytest.mark.clause("PRK-2", "RRF-1")
@pytest.mark.parametrize("answered", [True, False])
def test_without_a_mission_a_route_pushed_out_of_the_car_park_is_kept(car_park_map: RoadMap, answered: bool) -> None:
    drive = Drive(Garage(car_park_map, *OUTSIDE, slots=seen_all()))
    drive.tick(RouteMatch(-1, route_to(car_park_map, LOWER_END)))
    drive.until(states.NORMAL)
    garage(drive).go_to(LOWER_END.x - 1.0, LOWER_END.y, 0.0)
    drive.until(states.SLOT_SEARCH)
    while not drive.tick().route_requests:
        assert drive.last.time_in_state_s < 2.0
    assert drive.last.route_requests[0].goal.y == pytest.approx(UPPER_Y - 0.5 * LANE_M, abs=0.1)
    here, outside = Pose(40.0, 0.5 * LANE_M, math.pi), Pose(-0.5 * LANE_M, -60.0, -0.5 * math.pi)
    garage(drive).go_to(*here)
    if answered:
        drive.answer(route_to(car_park_map, UPPER_END, here))
    out, drive.probe = route_to(car_park_map, outside, here), plan()
    drive.tick(RouteMatch(-1, out))
    drive.until(states.NORMAL)
    asked = [request.goal[:2] for decision in drive.run(12.0) for request in decision.route_requests]
    assert drive.route is out
    assert asked == [pytest.approx(outside[:2], abs=0.1)]


@pytest.mark.clause("PRK-2", "USE-2")
def test_a_car_that_does_not_get_turned_round_leaves_the_search(car_park_map: RoadMap) -> None:
    drive = at_dead_end(car_park_map)
    drive.run(1.0)
    drive.answer(route_to(car_park_map, UPPER_END, Pose(LOWER_END.x - 1.0, 0.5 * LANE_M, math.pi)))
    drive.run(0.5)
    drive.result = plan(False)
    event = drive.until(states.REGRESSION, 5.0).transition
    assert event is not None
    assert event.guard == "cannot_turn"


@pytest.mark.clause("RFG-1", "PRK-2", "USE-2")
@pytest.mark.medium
def test_in_rain_a_car_that_would_have_to_reverse_waits_and_tries_again(car_park_map: RoadMap) -> None:
    drive = at_dead_end(car_park_map)
    drive.run(1.0)
    drive.answer(route_to(car_park_map, UPPER_END, Pose(LOWER_END.x - 1.0, 0.5 * LANE_M, math.pi)))
    drive.run(0.5, rain_fog=True)
    drive.result = plan(False)
    waits = [decision.request for decision in drive.run(90.0, rain_fog=True)]
    assert drive.last.state == states.SLOT_SEARCH
    first = waits.index(NO_REVERSING)
    again = next(k for k in range(first, len(waits)) if waits[k] != NO_REVERSING)
    assert (again - first) * 0.05 == pytest.approx(60.0, abs=0.1)
    assert drive.last.request == NO_REVERSING
    drive.result = None
    request = drive.run(6.0, rain_fog=False)[-1].request
    assert drive.last.state == states.SLOT_SEARCH
    assert isinstance(request, FreeSpace)
    assert request.allow_reverse


@pytest.mark.clause("PRK-2")
def test_without_the_server_a_preset_route_is_driven(car_park_map: RoadMap) -> None:
    presets = [route_to(car_park_map, goal) for goal in (LOWER_END, UPPER_END)]
    poses = tuple(tuple(Pose(*row) for row in preset.poses().tolist()) for preset in presets)
    drive = at_dead_end(car_park_map, mission=car_park(routes=poses))
    refused(drive, 4.0)
    assert any("a preset route" in line for decision in drive.decisions for line in decision.reports)
    assert drive.route is not None
    begin, end = (drive.route.reference.at(s) for s in (0.0, drive.route.length))
    assert math.dist(end[:2], UPPER_END[:2]) < 1.0, "the first one ends where the car is"
    assert math.dist(begin[:2], (LOWER_END.x - 1.0, 0.5 * LANE_M)) < 1.0, "it is joined from where the car is"


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize("answers", [True, False])
def test_without_a_preset_route_either_it_goes_back_the_way_it_came(car_park_map: RoadMap, answers: bool) -> None:
    drive = at_dead_end(car_park_map)
    if answers:
        refused(drive, 4.0)
    else:
        drive.run(8.0)
    assert any("back the way it came" in line for decision in drive.decisions for line in decision.reports)
    assert drive.route is not None
    begin, end = (drive.route.reference.at(s) for s in (0.0, drive.route.length))
    assert begin == pytest.approx((LOWER_END.x, 0.5 * LANE_M, math.pi), abs=0.1)
    assert end.y == pytest.approx(0.5 * LANE_M, abs=0.3)
    assert end.x < HALF_M + 8.0
    assert states.SOLID_LINE_FREE not in drive.states()


@pytest.mark.clause("PRK-2")
def test_after_two_routes_it_is_reported_and_the_car_circles_on(car_park_map: RoadMap) -> None:
    drive = entering(car_park_map, 0, 4)
    drive.result, drive.probe = plan(False), None
    drive.until(states.SLOT_SEARCH, 2.0)
    drive.result = plan()
    assert probes(drive) == []
    at = LOWER_END
    for nth in range(4):
        before = drive.route
        garage(drive).go_to(at.x - 0.5 * math.cos(at.heading), at.y, at.heading)
        asked: list[RouteRequest] = []
        while not asked and drive.route is before:
            asked = [request for request in drive.tick().route_requests if request.purpose == "search"]
        lines = [line for decision in drive.decisions for line in decision.reports if "circling on" in line]
        assert len(lines) == nth
        if asked:
            drive.answer(route_to(car_park_map, asked[0].goal, asked[0].start))
        assert drive.route is not None
        assert drive.route is not before
        at = drive.route.reference.at(drive.route.length)
    garage(drive).go_to(20.0, -0.5 * LANE_M, 0.0)
    assert len(probes(drive)) > 0
    assert drive.last.state == states.SLOT_SEARCH


@pytest.mark.clause("PRK-2", "RRF-1")
@pytest.mark.medium
def test_the_refreshed_route_is_that_of_the_search(car_park_map: RoadMap) -> None:
    drive = at_dead_end(car_park_map)
    drive.run(1.0)
    back = Pose(LOWER_END.x - 1.0, 0.5 * LANE_M, math.pi)
    route = route_to(car_park_map, UPPER_END, back)
    drive.answer(route)
    garage(drive).go_to(back.x - 12.0, back.y, back.heading)
    asked = [request for decision in drive.run(11.0) for request in decision.route_requests]
    assert asked
    assert all(request.goal.y == pytest.approx(UPPER_END.y, abs=0.1) for request in asked)
