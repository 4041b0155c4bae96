"""`parking/slot_search`: into the car park, watching for slots, and out of the search (NOR-8, PRK-1)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from garage import HALF_M, LANE_M, SLOT_LENGTH, SLOT_WIDTH, slot_pose

from behaviour.worlds import Thing, plan
from tuling_fsm.behaviour import states
from tuling_fsm.behaviour.parking.parameters import ParkingParameters
from tuling_fsm.behaviour.places import crosses
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, FreeSpace, Hold, Reason
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint, MissionSlot, Task
from tuling_fsm.world.perceived import PerceivedSlot
from tuling_fsm.world.world import RouteMatch

from .drives import (
    LOWER_END,
    OUTSIDE,
    UPPER_END,
    car_park,
    garage,
    outside,
    probes,
    route_to,
    searching,
    seen_all,
)

CAR_MIDDLE_M = 0.5 * (3.76 - 0.929)


def is_into(request: FreeSpace, row: int, place: int) -> bool:
    """Whether a request leads backwards into a slot, with the outline in its middle."""
    pose, goal = slot_pose(row, place), request.goal
    middle = (goal.x + CAR_MIDDLE_M * math.cos(goal.heading), goal.y + CAR_MIDDLE_M * math.sin(goal.heading))
    turned = abs(math.remainder(goal.heading - pose.heading, 2.0 * math.pi))
    return math.dist(middle, pose[:2]) < 0.01 and turned < 0.01 and request.allow_reverse


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
    task = Task("1", MissionPoint("", 0.5 * LANE_M, 20.0, 0.5 * math.pi), MissionPoint("", 30.0, UPPER_END.y, 0.0))
    garage(drive).mission = Mission(1.0, (task,), car_park=car_park(UPPER_END).car_park)
    drive.run(1.0)
    garage(drive).go_to(HALF_M + 2.0, -0.5 * LANE_M, 0.0)
    drive.run(1.0)
    assert drive.states()[-1] == states.NORMAL
    assert drive.behaviour.record.machine.memory.mission.goal.is_stop
    assert states.SLOT_SEARCH not in drive.states()


@pytest.mark.clause("NOR-8", "NOR-10")
def test_a_goal_in_a_car_park_is_driven_to_and_no_slot_looked_for(car_park_map: RoadMap) -> None:
    goal = MissionPoint("", LOWER_END.x, LOWER_END.y, LOWER_END.heading)
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
    assert request.speed_limit == ParkingParameters().speed
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
    garage(drive).mission = car_park(slots=[MissionSlot(Pose(x, y, 0.5 * math.pi), SLOT_LENGTH, SLOT_WIDTH)])
    assert {round(p.goal.x, 2) for p in probes(drive)} == {x}


@pytest.mark.clause("NOR-8", "PRK-1")
def test_the_slots_of_a_mission_are_a_car_park_where_the_map_has_none(no_slots_map: RoadMap) -> None:
    x, y = HALF_M + 20.0, -(LANE_M + 0.4 + 0.5 * SLOT_LENGTH)
    bays = [MissionSlot(Pose(x, side * y, 0.5 * math.pi), SLOT_LENGTH, SLOT_WIDTH) for side in (1.0, -1.0)]
    drive = outside(no_slots_map, mission=car_park(slots=bays))
    garage(drive).slots = ()
    garage(drive).go_to(26.0, -0.5 * LANE_M, 0.0)
    drive.until(states.SLOT_SEARCH, 1.0)
    (first, *_) = probes(drive)
    assert (first.goal.x, math.sin(first.goal.heading)) == pytest.approx((x, 1.0))
    for side in (1.0, -1.0):
        assert not crosses(x, side * y, x, 0.5 * side * y, first.lines), "the bays are open to the aisle"
        assert crosses(x + 4.0, side * y, x + 4.0, 0.5 * side * y, first.lines)
    garage(drive).mission = car_park(stamp=drive.stamp)
    drive.until(states.NORMAL, 1.0)


@pytest.mark.clause("NOR-8", "NOR-10")
def test_a_car_park_in_which_the_car_cannot_park_is_told(no_slots_map: RoadMap) -> None:
    x, y = HALF_M + 20.0, -(LANE_M + 0.1 + 0.5 * SLOT_WIDTH)
    along = MissionSlot(Pose(x, y, 0.0), SLOT_LENGTH, SLOT_WIDTH)
    drive = outside(no_slots_map, mission=car_park(slots=[along]))
    garage(drive).go_to(*LOWER_END)
    drive.until(states.PLAN_ONCE)
    words = (
        "the car park has no slot across a lane, on the map or in the mission: the car stands at the end of the route"
    )
    drive.run(12.0)
    assert drive.last.request == Hold(Reason.ARRIVED, detail=words)
    said = [line for decision in drive.decisions for line in decision.reports]
    assert said.count(f"parking: {words}") == 1


@pytest.mark.clause("NOR-8", "NOR-10")
def test_a_car_that_fits_into_no_slot_of_the_car_park_stands_and_says_so(no_slots_map: RoadMap) -> None:
    """It does not drive round and round for a slot that it could not be in."""
    x, y = HALF_M + 20.0, -(LANE_M + 0.4 + 0.5 * SLOT_LENGTH)
    small = MissionSlot(Pose(x, y, 0.5 * math.pi), 4.75, SLOT_WIDTH)
    drive = outside(no_slots_map, mission=car_park(slots=[small]))
    garage(drive).go_to(*LOWER_END)
    drive.until(states.PLAN_ONCE)
    drive.run(12.0)
    assert states.SLOT_SEARCH not in {decision.state for decision in drive.decisions}
    words = "the car park has no slot that the car fits into, 4.79 by 2.04 m at least"
    words += ": the car stands at the end of the route"
    assert drive.last.request == Hold(Reason.ARRIVED, detail=words)
    said = [line for decision in drive.decisions for line in decision.reports]
    assert said.count(f"parking: {words}") == 1


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize("gap", [0.4, 2.0])
@pytest.mark.parametrize("off", [0.9, 5.0])
def test_a_slot_that_only_perception_knows_or_that_is_seen_elsewhere_is_open_to_its_aisle(
    car_park_map: RoadMap, gap: float, off: float
) -> None:
    pose = slot_pose(0, 7)
    x, y = pose.x + off, -(LANE_M + gap + 0.5 * SLOT_LENGTH)
    drive = searching(car_park_map, x=30.0)
    garage(drive).slots = (
        *(slot for slot in seen_all() if math.hypot(slot.x - x, slot.y - y) > 1.0),
        PerceivedSlot(900, False, x, y, pose.heading, SLOT_LENGTH, SLOT_WIDTH),
    )
    (first, *_) = probes(drive)
    assert first.goal.x == pytest.approx(x)
    for across in (-1.3, 0.0, 1.3):
        assert not crosses(x + across, y, x + across, -1.0, first.lines)
    assert crosses(x + 2.2, y, x + 2.2, -1.0, first.lines)


@pytest.mark.clause("PRK-1")
def test_a_slot_too_small_for_the_car_is_none(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    garage(drive).slots = tuple(replace(slot, width=2.0) for slot in seen_all((0, 4)))
    assert probes(drive) == []


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


@pytest.mark.clause("PRK-3", "NOR-7")
def test_a_car_too_askew_to_follow_its_lane_comes_back_to_it_by_a_maneuver(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    drive.run(1.0)
    garage(drive).go_to(20.0, -0.5 * LANE_M, math.radians(45.0))
    drive.run(1.0)
    assert isinstance(drive.last.request, FollowLanes), "which will do as long as there is a plan"
    drive.result = plan(False)
    drive.run(0.5)
    assert drive.last.state == states.SLOT_SEARCH
    request = drive.last.request
    assert isinstance(request, FreeSpace)
    assert request.goal.x > 20.0
    assert request.goal.y == pytest.approx(-0.5 * LANE_M, abs=0.1)


@pytest.mark.clause("USE-2")
def test_without_localization_it_stands_and_then_explores(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    garage(drive).localized = False
    drive.run(5.0)
    assert drive.last.state == states.SLOT_SEARCH
    assert drive.last.request == Hold(Reason.NOT_LOCALIZED)
    drive.until(states.EXPLORE, 6.0)


@pytest.mark.clause("USE-1", "USE-2")
@pytest.mark.medium
@pytest.mark.parametrize("turning", [True, False])
def test_a_moment_without_localization_does_not_end_the_search(car_park_map: RoadMap, turning: bool) -> None:
    drive = searching(car_park_map)
    if turning:
        garage(drive).go_to(20.0, -0.5 * LANE_M, 1.7)
    drive.run(13.0 if turning else 5.0)
    assert (drive.behaviour.record.machine.memory.parking.turning_since is not None) is turning
    for seconds in (0.5, 6.0):
        garage(drive).localized = False
        drive.run(seconds)
        garage(drive).localized = True
        drive.run(0.5)
        assert drive.last.state == states.SLOT_SEARCH
    if not turning:
        drive.until(states.SOLID_LINE_FREE, 4.5)


@pytest.mark.clause("PRK-1", "RRF-2")
def test_a_route_that_leads_elsewhere_ends_the_search(car_park_map: RoadMap) -> None:
    drive = searching(car_park_map)
    out = Pose(-0.5 * LANE_M, -40.0, -0.5 * math.pi)
    garage(drive).mission = car_park(out, stamp=drive.stamp)
    garage(drive).go_to(30.0, 0.5 * LANE_M, math.pi)
    drive.probe = plan()
    drive.tick(RouteMatch(-1, route_to(car_park_map, out, Pose(30.0, 0.5 * LANE_M, math.pi))))
    drive.until(states.NORMAL, 2.0)


def test_outside_is_outside(car_park_map: RoadMap) -> None:
    assert route_to(car_park_map, LOWER_END).reference.at(0.0) == pytest.approx(OUTSIDE, abs=0.01)
