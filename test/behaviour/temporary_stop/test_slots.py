"""Which slots a point has, on the embedded course (TMP-1)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tuling_fsm.behaviour.leaf import BehaviourContext, BehaviourView
from tuling_fsm.behaviour.memory import Memory
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.behaviour.temporary_stop.slots import is_usable, roadside_slots
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint
from tuling_fsm.world.perceived import PerceivedSlot

from ..worlds import FAR_Y, VEHICLE, Place, Thing

BAYS = {(120.5 - 7.0 * i, 164.75) for i in range(8)}
"""Middles of the bays of the west road, which is driven westwards here."""


def _view(road_map: RoadMap, *things: Thing, x: float = 150.0, seen: tuple[PerceivedSlot, ...] = ()) -> BehaviourView:
    world = Place(road_map, x=x, y=161.75, heading=math.pi, things=things).world(0.0, None, slots=seen)
    return BehaviourView(BehaviourContext(road_map, VEHICLE, BehaviourParameters()), world, Memory(), 0.0, 0.0, 0.0, ())


@pytest.mark.clause("TMP-1")
def test_spaces_of_the_map_beside_the_lane_are_the_slots_of_a_point(course: RoadMap) -> None:
    found = roadside_slots(_view(course), MissionPoint("", 96.2, 161.75, None))
    middles = [(round(b.slot.pose.x, 2), round(b.slot.pose.y, 2)) for b in found]
    assert set(middles) <= BAYS
    assert middles[:2] == [(99.5, 164.75), (92.5, 164.75)], "the nearest first"
    assert len(middles) == 8
    assert len(roadside_slots(_view(course), MissionPoint("", 120.0, 161.75, None))) == 4, "those within reach"
    for roadside_slot in found:
        assert abs(math.remainder(roadside_slot.goal.heading - math.pi, 2.0 * math.pi)) < 1e-6, (
            "in the lane's direction"
        )
        assert roadside_slot.goal.x - roadside_slot.slot.pose.x == pytest.approx(
            0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
        )


@pytest.mark.clause("TMP-1")
def test_spaces_across_the_road_are_no_slots(course: RoadMap) -> None:
    (own,) = roadside_slots(_view(course), MissionPoint("", 96.0, 158.25, 0.0))
    assert own.slot.pose.y < 158.25, "one of its own, at the edge of its own lane"
    assert own.goal.heading == pytest.approx(0.0, abs=1e-6)


@pytest.mark.clause("TMP-1")
def test_spaces_across_the_aisle_are_not_pulled_into(course: RoadMap) -> None:
    """The car park's spaces stand square to its lane."""
    (own,) = roadside_slots(_view(course), MissionPoint("", 250.0, -71.75, 0.0))
    assert own.slot.pose.heading == pytest.approx(0.0, abs=1e-6)


@pytest.mark.clause("TMP-1")
def test_the_mission_s_own_slots_come_before_the_map_s(course: RoadMap) -> None:
    given = roadside_slots(_view(course), MissionPoint("", 96.2, 161.75, None))[2].slot
    point = MissionPoint("", 96.0, 161.75, None, (replace(given, pose=given.pose._replace(heading=0.0)),))
    (only,) = roadside_slots(_view(course), point)
    assert only.slot.pose.x == given.pose.x
    assert abs(math.remainder(only.goal.heading - math.pi, 2.0 * math.pi)) < 1e-6, "turned into the lane's direction"


@pytest.mark.clause("TMP-1")
def test_without_any_there_is_one_at_the_lane_s_edge_on_either_side_of_the_road(road: RoadMap) -> None:
    for left_hand, edge in ((False, FAR_Y - 1.75), (True, 0.0)):
        (own,) = roadside_slots(_view(replace(road, left_hand=left_hand)), MissionPoint("", 200.0, FAR_Y, 0.0))
        nearest = abs(own.slot.pose.y - edge) - 0.5 * VEHICLE.width
        assert nearest == pytest.approx(0.25)


@pytest.mark.clause("TMP-1")
def test_small_things_and_parked_cars_take_a_slot_and_passing_cars_do_not(course: RoadMap) -> None:
    (first, *_) = roadside_slots(_view(course), MissionPoint("", 120.0, 161.75, None))
    x, y = first.slot.pose.x, first.slot.pose.y
    assert is_usable(_view(course), first)
    assert not is_usable(_view(course, Thing(x, y, math.pi)), first)
    assert not is_usable(_view(course, Thing(x + 2.7, y, length=0.3, width=0.3)), first)
    assert is_usable(_view(course, Thing(x, y, math.pi, speed=3.0, moving=True)), first)
    assert is_usable(_view(course, Thing(x + 7.0, y, math.pi)), first), "in the next slot"


@pytest.mark.clause("TMP-1")
def test_a_slot_that_the_car_itself_occupies_is_not_taken(course: RoadMap) -> None:
    (first, *_) = roadside_slots(_view(course), MissionPoint("", 120.0, 161.75, None))
    slot = first.slot
    seen = (PerceivedSlot(401, True, slot.pose.x, slot.pose.y, slot.pose.heading, slot.length, slot.width),)
    assert not is_usable(_view(course, seen=seen), first)
    assert is_usable(_view(course, x=first.goal.x + 1.0, seen=seen), first)
