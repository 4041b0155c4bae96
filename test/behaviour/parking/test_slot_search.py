"""`parking/slot_search`: into the car park, watching for slots, and on from route to route (NOR-8, PRK-1, PRK-2)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from garage import HALF_M, LANE_M, SLOT_LENGTH, SLOT_WIDTH, UPPER_Y, slot_pose

from behaviour.worlds import Drive, Thing, plan
from tuling_fsm.behaviour import states
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.mission import Mission, Point, Slot, Task
from tuling_fsm.world.perceived import PerceivedSlot
from tuling_fsm.world.world import RouteMatch

from .drives import LOWER_END, OUTSIDE, UPPER_END, car_park, entering, garage, outside, route_to, searching, seen_all

CAR_MIDDLE_M = 0.5 * (3.76 - 0.929)


def probes(drive: Drive, seconds: float = 1.0) -> list[FreeSpace]:
    """What is tried within some time."""
    found = [decision.probe for decision in drive.run(seconds)]
    return [probe for probe in found if isinstance(probe, FreeSpace)]


def is_into(request: FreeSpace, row: int, place: int) -> bool:
    """Whether a request leads backwards into a slot, with the outline in its middle."""
    pose, goal = slot_pose(row, place), request.goal
    middle = (goal.x + CAR_MIDDLE_M * math.cos(goal.heading), goal.y + CAR_MIDDLE_M * math.sin(goal.heading))
    turned = abs(math.remainder(goal.heading - pose.heading, 2.0 * math.pi))
    return math.dist(middle, pose[:2]) < 0.01 and turned < 0.01 and request.allow_reverse


def at_dead_end(road_map: RoadMap, **options: object) -> Drive:
    """A drive that stands at the end of its route without having found a slot."""
    drive = searching(road_map, **options)
    garage(drive).go_to(LOWER_END.x - 1.0, LOWER_END.y, 0.0)
    return drive


def refused(drive: Drive, seconds: float) -> None:
    """The route server refuses whatever it is asked for."""
    for _ in range(round(seconds / 0.05)):
        drive.answer(None)


@pytest.mark.clause("NOR-8")
def test_the_search_begins_where_the_car_enters_the_parking_area_in_which_its_route_ends(car_park_map: RoadMap) -> None:
    drive = outside(car_park_map)
    garage(drive).go_to(0.5 * LANE_M, -20.0, 0.5 * math.pi)
    drive.run(1.0)
    assert drive.last.state == states.NORMAL
    garage(drive).go_to(HALF_M, -0.5 * LANE_M, 0.0)
    event = drive.until(states.SLOT_SEARCH, 1.0).transition
    assert event is not None
    assert (event.source, event.clause) == (states.NORMAL, "NOR-8")


@pytest.mark.clause("NOR-8", "NOR-10")
def test_a_route_that_ends_before_the_area_or_where_there_is_none_ends_as_any_other(
    car_park_map: RoadMap, no_slots_map: RoadMap
) -> None:
    for road_map, goal in ((car_park_map, Pose(0.5 * LANE_M, -20.0, 0.5 * math.pi)), (no_slots_map, LOWER_END)):
        drive = outside(road_map, goal)
        garage(drive).go_to(goal.x, goal.y, goal.heading)
        drive.until(states.PLAN_ONCE, 1.0)
        assert states.SLOT_SEARCH not in drive.states()


@pytest.mark.clause("NOR-8")
def test_on_the_way_to_a_passenger_no_slot_is_looked_for(car_park_map: RoadMap) -> None:
    drive = outside(car_park_map)
    task = Task("1", Point("", 0.5 * LANE_M, 20.0, 0.5 * math.pi), Point("", 30.0, UPPER_END.y, 0.0))
    garage(drive).mission = Mission(1.0, (task,), car_park=car_park(UPPER_END).car_park)
    drive.run(1.0)
    garage(drive).go_to(HALF_M + 2.0, -0.5 * LANE_M, 0.0)
    drive.run(1.0)
    assert drive.states()[-1] == states.NORMAL
    assert drive.behaviour.record.machine.memory.book.errand.is_stop
    assert states.SLOT_SEARCH not in drive.states()


@pytest.mark.clause("NOR-8", "NOR-10")
def test_a_goal_in_a_car_park_is_driven_to_and_no_slot_looked_for(car_park_map: RoadMap) -> None:
    goal = Point("", LOWER_END.x, LOWER_END.y, LOWER_END.heading)
    drive = outside(car_park_map, mission=Mission(0.0, goal=goal))
    garage(drive).go_to(HALF_M + 2.0, -0.5 * LANE_M, 0.0)
    drive.run(1.0)
    assert drive.states()[-1] == states.NORMAL
    garage(drive).go_to(LOWER_END.x, LOWER_END.y, LOWER_END.heading)
    drive.until(states.PLAN_ONCE, 1.0)
    assert states.SLOT_SEARCH not in drive.states()


@pytest.mark.clause("PRK-1")
def test_it_drives_the_route_slowly_along_its_lanes(car_park_map: RoadMap) -> None:
    request = searching(car_park_map).last.request
    assert isinstance(request, FollowLanes)
    assert request.speed_limit == 2.5
    assert request.goal_s is not None


@pytest.mark.clause("PRK-1")
def test_a_free_slot_that_can_be_reached_is_entered(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    assert probes(drive) == []
    garage(drive).slots = seen_all((0, 4))
    tried = probes(drive)
    assert tried
    assert all(is_into(probe, 0, 4) for probe in tried)
    assert drive.last.state == states.SLOT_SEARCH
    drive.probe = plan()
    drive.until(states.SLOT_ENTRY, 1.0)
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert is_into(request, 0, 4)


@pytest.mark.clause("PRK-1")
def test_a_slot_without_a_path_is_left_for_the_next_nearest(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map, x=20.0)
    garage(drive).slots = seen_all((1, 7), (0, 2), (0, 5))
    drive.probe = plan(False)
    tried = probes(drive, 1.5)
    order = [(row, place) for probe in tried for row, place in ((0, 2), (0, 5), (1, 7)) if is_into(probe, row, place)]
    assert order[:2] == [(0, 2), (0, 5)]
    assert drive.last.state == states.SLOT_SEARCH
    assert len(tried) <= 1.5 / 0.2 + 1


@pytest.mark.clause("PRK-1")
def test_no_slot_is_tried_that_is_taken_or_in_which_something_stands(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    middle = slot_pose(0, 4)
    garage(drive).slots = seen_all((0, 4))
    garage(drive).things = (Thing(middle.x + 1.0, middle.y, length=0.4, width=0.4),)
    assert probes(drive) == []
    garage(drive).things = ()
    assert len(probes(drive)) > 0


@pytest.mark.clause("PRK-1")
def test_a_slot_that_is_not_perceived_is_free_when_nothing_stands_in_it(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    garage(drive).slots = ()
    (first, *_) = probes(drive)
    assert any(is_into(first, row, place) for row in (0, 1) for place in range(8))


@pytest.mark.clause("PRK-1")
def test_slots_that_only_perception_or_the_mission_know_count_too_where_they_open_to_an_aisle(
    car_park_map: RoadMap,
) -> None:
    x, y = HALF_M + 30.5, -(LANE_M + 0.4 + 0.5 * SLOT_LENGTH)
    new = PerceivedSlot(900, False, x, y, -0.5 * math.pi, SLOT_LENGTH, SLOT_WIDTH)
    far = replace(new, y=y - 20.0)
    drive = searching(car_park_map, x=30.0)
    garage(drive).slots = (*seen_all(), far)
    assert probes(drive) == []
    garage(drive).slots = (*seen_all(), far, new)
    assert {(round(p.goal.x, 2), round(p.goal.heading, 3)) for p in probes(drive)} == {(x, round(0.5 * math.pi, 3))}
    garage(drive).slots = seen_all()
    garage(drive).mission = car_park(slots=[Slot(Pose(x, y, 0.5 * math.pi), SLOT_LENGTH, SLOT_WIDTH)])
    assert {round(p.goal.x, 2) for p in probes(drive)} == {x}


@pytest.mark.clause("PRK-1")
def test_a_slot_too_small_for_the_car_is_none(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    garage(drive).slots = tuple(replace(slot, width=2.0) for slot in seen_all((0, 4)))
    assert probes(drive) == []


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


@pytest.mark.clause("USE-2")
def test_a_search_that_does_not_come_on_is_left_after_ten_seconds(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    drive.result = plan(reach=0.0)
    drive.run(9.0)
    assert drive.last.state == states.SLOT_SEARCH
    drive.until(states.SOLID_LINE_FREE, 2.0)


@pytest.mark.clause("NOR-7")
def test_a_blocked_aisle_is_driven_round(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    drive.result = plan(False)
    drive.until(states.SOLID_LINE_FREE, 2.0)


@pytest.mark.clause("USE-2")
def test_without_localization_it_stands_and_then_explores(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    garage(drive).localized = False
    drive.run(5.0)
    assert drive.last.state == states.SLOT_SEARCH
    assert drive.last.request == Hold(Reason.NOT_LOCALIZED)
    drive.until(states.EXPLORE, 6.0)


@pytest.mark.clause("PRK-1", "RRF-2")
def test_a_route_that_leads_elsewhere_ends_the_search(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    out = Pose(-0.5 * LANE_M, -40.0, -0.5 * math.pi)
    garage(drive).mission = car_park(out, stamp=drive.stamp)
    garage(drive).go_to(30.0, 0.5 * LANE_M, math.pi)
    drive.tick(RouteMatch(-1, route_to(car_park_map, out, Pose(30.0, 0.5 * LANE_M, math.pi))))
    drive.until(states.NORMAL, 2.0)


def test_outside_is_outside(car_park_map: RoadMap) -> None:
    assert route_to(car_park_map, LOWER_END).reference.at(0.0) == pytest.approx(OUTSIDE, abs=0.01)
