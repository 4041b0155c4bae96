"""Which slots there are, which are free, and how the car is in one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from garage import HALF_M, SLOT_LENGTH, SLOT_WIDTH, slot_pose

from behaviour.views import CLOCK, at, view_of
from behaviour.worlds import VEHICLE, Thing
from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.memory import Ladder, Outcome, Routing
from tuling_fsm.behaviour.parking.memory import Bay, Parking, Round
from tuling_fsm.behaviour.parking.slot_search import SLOT_SEARCH, TURN_FROM_M
from tuling_fsm.behaviour.parking.slots import free_bays, is_taken, parked_pose, stands_in
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.parking import parking_areas
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, Point, Slot
from tuling_fsm.world.perceived import PerceivedSlot

from .drives import LOWER_END, Garage, car_park, route_to, seen, seen_all

BEHIND = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
IN_LOWER = Pose(20.0, -1.75, 0.0)
BAY = Bay("bay", Pose(30.0, -6.55, 0.5 * math.pi), SLOT_LENGTH, SLOT_WIDTH)


def look(road_map: RoadMap, pose: Pose = IN_LOWER, **more: Any) -> View:
    """In the lower aisle, on the route to its end."""
    things, slots = more.pop("things", ()), more.pop("slots", ())
    place = Garage(road_map, *pose, slots=slots, things=things, mission=more.pop("mission", car_park()))
    place.v, place.localized = more.pop("v", 0.0), more.pop("localized", True)
    return view_of(place, more.pop("route", None), mission=place.mission, **more)


def names(view: View) -> list[str]:
    (area,) = parking_areas(view.site.road_map)
    return [bay.name for bay in free_bays(view, area)]


def test_the_car_stands_in_the_middle_facing_out() -> None:
    for heading in (0.5 * math.pi, 0.3, -2.0):
        pose = parked_pose(BAY._replace(pose=Pose(30.0, -6.55, heading)), VEHICLE)
        assert pose.heading == heading
        middle = VEHICLE.footprint(pose).mean(axis=0)
        assert middle == pytest.approx((30.0, -6.55))
        assert math.cos(math.atan2(-6.55 - pose.y, 30.0 - pose.x) - heading) == pytest.approx(1.0)


@pytest.mark.clause("PRK-1")
def test_free_slots_within_reach_the_nearest_first(car_park_map: RoadMap) -> None:
    everything = names(look(car_park_map))
    (area,) = parking_areas(car_park_map)
    poses = {f"slot {slot.id}": slot.pose for slot in area.slots}
    apart = [math.hypot(poses[name].x - 20.0, poses[name].y + 1.75) for name in everything]
    assert apart == sorted(apart)
    assert max(apart) <= 20.0
    assert len(everything) == sum(math.hypot(pose.x - 20.0, pose.y + 1.75) <= 20.0 for pose in poses.values())


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("length", "width", "fits"),
    [
        (VEHICLE.length + 0.11, SLOT_WIDTH, True),
        (VEHICLE.length + 0.09, SLOT_WIDTH, False),
        (SLOT_LENGTH, VEHICLE.width + 0.11, True),
        (SLOT_LENGTH, VEHICLE.width + 0.09, False),
    ],
)
def test_a_slot_has_room_for_the_car(car_park_map: RoadMap, length: float, width: float, fits: bool) -> None:
    small = replace(seen(0, 4), length=length, width=width)
    others = tuple(slot for slot in seen_all() if slot.number != small.number)
    assert len(names(look(car_park_map, slots=(*others, small)))) == fits


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("off", "occupied", "same"), [(0.9, False, True), (0.9, True, True), (1.1, False, False), (-0.9, False, True)]
)
def test_a_slot_that_is_seen_near_one_of_the_map_is_that_one_as_it_is_seen(
    car_park_map: RoadMap, off: float, occupied: bool, same: bool
) -> None:
    pose = slot_pose(0, 4)
    (area,) = parking_areas(car_park_map)
    for heading in (pose.heading + 0.1, pose.heading + 0.1 + math.pi):
        mine = PerceivedSlot(77, occupied, pose.x + off, pose.y, heading, 5.2, 2.5)
        bays = list(free_bays(look(car_park_map, slots=(*(s for s in seen_all() if s.number != 4), mine)), area))
        if same:
            assert len(bays) == (not occupied)
        for bay in bays:
            if same:
                assert bay.name.startswith("slot 2")
                assert (bay.pose.x, bay.length, bay.width) == (pose.x + off, 5.2, 2.5)
                assert math.cos(bay.pose.heading - pose.heading - 0.1) == pytest.approx(1.0), "the map's way out"
        assert (f"seen slot {77}" in [bay.name for bay in bays]) is (not same and not occupied)


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(("gap", "opens"), [(2.9, True), (3.1, False)])
def test_a_slot_that_only_perception_or_the_mission_knows_opens_to_an_aisle(
    car_park_map: RoadMap, gap: float, opens: bool
) -> None:
    # The aisle is 3.5 m wide on this side, beyond the row of the map.
    x, y = HALF_M + 30.5, -(3.5 + gap + 0.5 * SLOT_LENGTH)
    for turned in (0.0, math.pi):
        heading = 0.5 * math.pi + turned
        new = PerceivedSlot(900, False, x, y, heading, SLOT_LENGTH, SLOT_WIDTH)
        view = look(car_park_map, Pose(30.0, -1.75, 0.0), slots=(*seen_all(), new))
        assert names(view) == ["seen slot 900"] * opens
        (area,) = parking_areas(car_park_map)
        for bay in free_bays(view, area):
            assert math.sin(bay.pose.heading) == pytest.approx(1.0)
        box = Slot(Pose(x, y, heading), SLOT_LENGTH, SLOT_WIDTH)
        goal = Point("", 40.0, -1.75, 0.0, (box,))
        for wanted in (car_park(slots=[box]), Mission(0.0, goal=goal), replace(car_park(), goal=goal)):
            view = look(car_park_map, Pose(30.0, -1.75, 0.0), slots=seen_all(), mission=wanted)
            assert names(view) == ["slot 1 of the mission"] * opens


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(("gap", "opens"), [(2.9, True), (3.1, False)])
def test_beside_an_aisle_that_leads_north_slots_open_to_the_west(
    car_park_map: RoadMap, gap: float, opens: bool
) -> None:
    for heading in (0.0, math.pi):
        new = PerceivedSlot(900, False, 3.5 + gap + 0.5 * SLOT_LENGTH, 20.0, heading, SLOT_LENGTH, SLOT_WIDTH)
        view = look(car_park_map, Pose(1.75, 16.0, 0.5 * math.pi), slots=(*seen_all(), new))
        assert names(view) == ["seen slot 900"] * opens


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize(
    ("pose", "taken"),
    [
        (Pose(20.0, -1.75, 0.0), True),
        (Pose(30.0, -6.55 + 0.5 * SLOT_LENGTH + VEHICLE.rear_overhang + 0.05, 0.5 * math.pi), True),
        (Pose(30.0, -6.55 + 0.5 * SLOT_LENGTH + VEHICLE.rear_overhang - 0.05, 0.5 * math.pi), False),
        (Pose(30.0, -6.55 - BEHIND, 0.5 * math.pi), False),
        (Pose(30.0 + 0.5 * (SLOT_WIDTH + VEHICLE.width) - 0.05, -6.55 - BEHIND, 0.5 * math.pi), False),
        (Pose(30.0 + 0.5 * (SLOT_WIDTH + VEHICLE.width) + 0.05, -6.55 - BEHIND, 0.5 * math.pi), True),
        (Pose(30.0 - BEHIND, -6.55, 0.0), False),
    ],
)
def test_what_is_seen_of_a_slot_does_not_count_while_the_car_is_in_it(
    car_park_map: RoadMap, pose: Pose, taken: bool
) -> None:
    seen_so = PerceivedSlot(1, True, 30.0, -6.0, -0.5 * math.pi, SLOT_LENGTH, SLOT_WIDTH)
    assert is_taken(look(car_park_map, pose, slots=(seen_so,)), BAY) is taken
    assert not is_taken(look(car_park_map, pose, slots=(replace(seen_so, occupied=False),)), BAY)
    assert not is_taken(look(car_park_map, pose, slots=(replace(seen_so, y=-5.5),)), BAY)
    stone = (Thing(30.0, -6.55, length=0.5, width=0.5),)
    assert is_taken(look(car_park_map, pose, things=stone), BAY)


@pytest.mark.clause("PRK-4")
@pytest.mark.parametrize(
    ("dx", "dy", "turned", "inside"),
    [
        (0.0, 0.0, 0.0, True),
        (0.29, 0.0, 0.0, True),
        (0.31, 0.0, 0.0, False),
        (0.0, 0.29, 0.0, True),
        (0.0, -0.29, 0.0, True),
        (0.0, 0.31, 0.0, False),
        (0.0, 0.0, math.radians(4.9), True),
        (0.0, 0.0, -math.radians(5.1), False),
        (0.25, 0.0, -math.radians(4.9), False),
        (-0.25, 0.0, math.radians(4.9), False),
    ],
)
def test_parked_as_it_should_be(car_park_map: RoadMap, dx: float, dy: float, turned: float, inside: bool) -> None:
    heading = 0.5 * math.pi + turned
    goal = parked_pose(BAY, VEHICLE)
    view = look(car_park_map, Pose(goal.x + dx, goal.y + dy, heading))
    assert stands_in(view, BAY) is inside
    assert not stands_in(look(car_park_map, Pose(goal.x, goal.y, heading + math.pi)), BAY)


def searching(road_map: RoadMap, parking: Parking, **more: Any) -> View:
    """In the search, on its route."""
    route = route_to(road_map, LOWER_END)
    memory = {key: more.pop(key) for key in ("probe", "probed_at", "plan") if key in more}
    view = look(road_map, route=route, **more)
    return at(view, routing=Routing(route=route), parking=parking, **memory)


ROUND = Round(area=0, mission_stamp=0.0)
OTHER = Bay("other", slot_pose(0, 6), SLOT_LENGTH, SLOT_WIDTH)


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("probe", "probed_at", "found", "failed"),
    [
        (Outcome(True), CLOCK - 0.05, True, False),
        (Outcome(True, False), CLOCK - 0.05, False, True),
        (Outcome(), CLOCK - 0.05, False, False),
        (Outcome(True), CLOCK - 0.1, False, False),
    ],
)
def test_what_comes_of_a_try(
    car_park_map: RoadMap, probe: Outcome, probed_at: float, found: bool, failed: bool
) -> None:
    parking = Parking(ROUND, trying=OTHER, tried_at=CLOCK - 0.05)
    view = searching(car_park_map, parking, slots=seen_all((0, 6)), probe=probe, probed_at=probed_at)
    after = SLOT_SEARCH.update(view).parking
    assert after.found == (OTHER if found else None)
    assert after.failed == (((OTHER, CLOCK),) if failed else ())
    assert after.trying == (None if found or failed else OTHER)
    lost = SLOT_SEARCH.update(replace(view, world=replace(view.world, localized=False)))
    assert lost.parking == parking
    full = searching(car_park_map, parking, slots=seen_all(), probe=probe, probed_at=probed_at)
    assert SLOT_SEARCH.update(full).parking.found is None


@pytest.mark.clause("PRK-1")
@pytest.mark.parametrize(
    ("parking", "tried"),
    [
        (Parking(ROUND, tried_at=CLOCK - 0.2), True),
        (Parking(ROUND, tried_at=CLOCK - 0.15), False),
        (Parking(ROUND, tried_at=CLOCK - 9.0, found=OTHER), False),
        (Parking(ROUND, failed=((OTHER, CLOCK - 1.95),)), False),
        (Parking(ROUND, failed=((OTHER, CLOCK - 2.0),)), True),
        (Parking(replace(ROUND, barred=(OTHER,))), False),
    ],
)
def test_which_slot_is_tried_next(car_park_map: RoadMap, parking: Parking, tried: bool) -> None:
    after = SLOT_SEARCH.update(searching(car_park_map, parking, slots=seen_all((0, 6)))).parking
    assert (after.trying is not None) is tried
    if tried:
        assert after.tried_at == CLOCK
        assert after.failed == ()
        assert after.trying is not None
        assert after.trying.is_at(OTHER.pose.x, OTHER.pose.y)


def test_a_bay_is_at_its_middle_within_a_metre() -> None:
    for x, y, there in (
        (0.7, 0.7, True),
        (0.72, 0.72, False),
        (-0.99, 0.0, True),
        (0.0, -1.01, False),
        (-0.7, 0.7, True),
    ):
        assert BAY.is_at(30.0 + x, -6.55 + y) is there


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(("since", "turns"), [(None, False), (CLOCK - 0.25, False), (CLOCK - 0.3, True)])
def test_a_car_that_is_astray_begins_to_turn(car_park_map: RoadMap, since: float | None, turns: bool) -> None:
    parking = Parking(replace(ROUND, start=LOWER_END), astray_since=since)
    view = searching(car_park_map, parking, pose=Pose(20.0, -1.75, 1.6), slots=seen_all())
    after = SLOT_SEARCH.update(view)
    assert after.parking.turning_since == (CLOCK if turns else None)
    assert after.parking.astray_since == (None if turns else CLOCK if since is None else since)
    if turns:
        first = after.ladder.goals[0]
        assert first.x == pytest.approx(20.0 + TURN_FROM_M, abs=0.05)
    along = SLOT_SEARCH.update(searching(car_park_map, parking, slots=seen_all())).parking
    assert (along.astray_since, along.round.start) == (None, None)


@pytest.mark.clause("PRK-1", "PRK-3")
@pytest.mark.parametrize(
    ("area", "stamp", "same"), [(0, 0.0, True), (1, 0.0, False), (0, 1.0, False), (-1, None, False)]
)
def test_a_search_goes_on_in_its_own_area_and_mission(
    car_park_map: RoadMap, area: int, stamp: float | None, same: bool
) -> None:
    before = Round(area, stamp, passes=1, driven=(("2", 0),), asking=True, stuck=True, start=LOWER_END)
    memory = SLOT_SEARCH.enter(searching(car_park_map, Parking(before, entry=OTHER)))
    kept = replace(before, asking=False, stuck=False, start=None) if same else ROUND
    assert memory.parking == Parking(replace(kept, barred=(OTHER,)))
    assert memory.reports == ("other is barred: not reached in time",)


@pytest.mark.clause("PRK-2")
@pytest.mark.parametrize(
    ("x", "v", "reverse", "turning"),
    [(24.0, 0.2, False, False), (20.0, 0.2, False, True), (24.0, 0.05, False, True), (24.0, 0.2, True, True)],
)
def test_turning_ends_at_its_goal_and_on_the_move(
    car_park_map: RoadMap, x: float, v: float, reverse: bool, turning: bool
) -> None:
    parking = Parking(replace(ROUND, start=LOWER_END), turning_since=CLOCK - 3.0)
    plan = Outcome(True, uses_reverse=reverse, travel=5.0)
    view = searching(car_park_map, parking, pose=Pose(x, -1.75, 0.0), v=v, slots=seen_all(), plan=plan)
    view = at(view, ladder=Ladder((Pose(24.0, -1.75, 0.0),), route=view.world.route))
    after = SLOT_SEARCH.update(view)
    assert after.parking.turning_since == (CLOCK - 3.0 if turning else None)
    assert (after.progress.at == CLOCK) is not turning
    anew = SLOT_SEARCH.update(at(view, ladder=replace(view.memory.ladder, route=None)))
    assert (anew.ladder.route is view.world.route) is turning


@pytest.mark.clause("PRK-2")
def test_the_car_turns_to_a_place_within_24_m(car_park_map: RoadMap) -> None:
    parking = Parking(ROUND, astray_since=CLOCK - 1.0)
    for length, many in ((0.0, 4), (12.0, 2), (27.0, 0)):
        blocked = (Thing(16.0 + 0.5 * length, -1.75, length=length, width=2.0),) if length else ()
        view = searching(car_park_map, parking, pose=Pose(14.0, -1.75, 1.6), slots=seen_all(), things=blocked)
        goals = SLOT_SEARCH.update(view).ladder.goals
        assert len(goals) >= many if many else goals == ()
        assert all(14.0 + TURN_FROM_M - 0.1 <= goal.x <= 14.0 + 22.1 for goal in goals)
