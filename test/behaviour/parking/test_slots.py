"""Which slots there are, which are free, and how the car is in one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from garage import HALF_M, SLOT_LENGTH, SLOT_WIDTH, slot_pose

from behaviour.worlds import VEHICLE, Thing
from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.parking.memory import TargetSlot
from tuling_fsm.behaviour.parking.slots import free_slots, is_taken, parked_pose, parking_tolerance, stands_in
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.parking import parking_areas
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import Mission, MissionPoint, MissionSlot
from tuling_fsm.world.perceived import PerceivedSlot

from .drives import car_park, look, seen, seen_all

BEHIND = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
BAY = TargetSlot("bay", Pose(30.0, -6.55, 0.5 * math.pi), SLOT_LENGTH, SLOT_WIDTH)


def names(view: BehaviourView) -> list[str]:
    (area,) = parking_areas(view.context.road_map)
    return [target_slot.name for target_slot in free_slots(view, area)]


def test_the_car_stands_in_the_middle_facing_out() -> None:
    for heading in (0.5 * math.pi, 0.3, -2.0):
        pose = parked_pose(BAY._replace(pose=Pose(30.0, -6.55, heading)), VEHICLE)
        assert pose.heading == heading
        middle = VEHICLE.footprint(pose).mean(axis=0)
        assert middle == pytest.approx((30.0, -6.55))
        assert math.cos(math.atan2(-6.55 - pose.y, 30.0 - pose.x) - heading) == pytest.approx(1.0)


@pytest.mark.clause("PRK-4")
@pytest.mark.parametrize(("length", "width"), [(SLOT_LENGTH, SLOT_WIDTH), (5.0, 2.6), (5.2, 2.3), (9.0, 4.0)])
def test_a_car_that_is_placed_as_well_as_is_asked_for_is_inside_its_slot(length: float, width: float) -> None:
    place, turn = parking_tolerance(BAY._replace(length=length, width=width), VEHICLE)
    for toward in np.linspace(-math.pi, math.pi, 16):
        for heading in (-turn, 0.0, turn):
            middle = Pose(place * math.cos(toward), place * math.sin(toward), 0.0)
            axle = Pose(middle.x - BEHIND * math.cos(heading), middle.y - BEHIND * math.sin(heading), heading)
            assert bool((np.abs(VEHICLE.footprint(axle)) <= (0.5 * length, 0.5 * width)).all())


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
        target_slots = list(
            free_slots(look(car_park_map, slots=(*(s for s in seen_all() if s.number != 4), mine)), area)
        )
        if same:
            assert len(target_slots) == (not occupied)
        for target_slot in target_slots:
            if same:
                assert target_slot.name.startswith("slot 2")
                assert (target_slot.pose.x, target_slot.length, target_slot.width) == (pose.x + off, 5.2, 2.5)
                assert math.cos(target_slot.pose.heading - pose.heading - 0.1) == pytest.approx(1.0), (
                    "the map's way out"
                )
        assert (f"seen slot {77}" in [target_slot.name for target_slot in target_slots]) is (not same and not occupied)


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
        for target_slot in free_slots(view, area):
            assert math.sin(target_slot.pose.heading) == pytest.approx(1.0)
        box = MissionSlot(Pose(x, y, heading), SLOT_LENGTH, SLOT_WIDTH)
        goal = MissionPoint("", 40.0, -1.75, 0.0, (box,))
        for wanted in (car_park(slots=[box]), Mission(0.0, goal=goal), replace(car_park(), goal=goal)):
            view = look(car_park_map, Pose(30.0, -1.75, 0.0), slots=seen_all(), mission=wanted)
            assert names(view) == ["slot 1 of the mission"] * opens


@pytest.mark.clause("PRK-1")
def test_a_slot_that_the_map_keeps_for_others_is_tried_only_where_the_mission_names_it(car_park_map: RoadMap) -> None:
    kept = replace(car_park_map, slots=tuple(replace(slot, reserved="residents") for slot in car_park_map.slots))
    here = Pose(30.0, -1.75, 0.0)
    for slots in ((), tuple(seen(row, place) for row in range(2) for place in range(8))):
        assert names(look(car_park_map, here, slots=slots)) != []
        assert names(look(kept, here, slots=slots)) == []
    wanted = car_park(slots=[MissionSlot(slot_pose(0, 3), SLOT_LENGTH, SLOT_WIDTH)])
    assert names(look(kept, here, mission=wanted)) == ["slot 1 of the mission"]


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


def test_a_bay_is_at_its_middle_within_a_metre() -> None:
    for x, y, there in (
        (0.7, 0.7, True),
        (0.72, 0.72, False),
        (-0.99, 0.0, True),
        (0.0, -1.01, False),
        (-0.7, 0.7, True),
    ):
        assert BAY.is_at(30.0 + x, -6.55 + y) is there
