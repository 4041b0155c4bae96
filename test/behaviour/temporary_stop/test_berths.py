"""Which slots a point has, which of them can be used, and how the car is in one (TMP-1, TMP-2)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tuling_fsm.behaviour.temporary_stop import guards
from tuling_fsm.behaviour.temporary_stop.slots import at_edge, distance_to, is_in, is_usable, roadside_slots
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import ParkingSlot
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint, MissionSlot
from tuling_fsm.world.perceived import PerceivedSlot

from ..mission.tasks import FRONT, SLOT_Y
from ..views import at, view_of
from ..worlds import FAR_LANE, FAR_Y, NEAR_Y, ONCOMING_Y, VEHICLE, Place, Thing, route_along
from .looks import AT_X, DRIVES, FAILED, look, roadside_slot_of, stopped


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("what", "usable"),
    [
        (Thing(AT_X, SLOT_Y, length=0.5, width=0.5), False),
        (Thing(AT_X + 3.0 + 2.0 - 0.21, SLOT_Y, length=4.0), False),
        (Thing(AT_X + 3.0 + 2.0 - 0.19, SLOT_Y, length=4.0), True),
        (Thing(AT_X, SLOT_Y - 1.2 - 0.5 + 0.21, width=1.0), False),
        (Thing(AT_X, SLOT_Y - 1.2 - 0.5 + 0.1, width=1.0), True),
        (Thing(AT_X, SLOT_Y, speed=0.6), True),
    ],
)
def test_what_takes_a_slot(road: RoadMap, what: Thing, usable: bool) -> None:
    view = look(road, things=(what,))
    assert is_usable(view, roadside_slot_of(view)) is usable


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("x", "off", "occupied", "usable"),
    [
        (130.0, 0.9, True, False),
        (130.0, 1.1, True, True),
        (130.0, 0.9, False, True),
        (AT_X - FRONT - 2.9, 0.0, True, True),
        (AT_X - FRONT - 3.1, 0.0, True, False),
    ],
)
def test_a_slot_that_is_seen_as_taken_is_unless_the_car_is_half_in(
    road: RoadMap, x: float, off: float, occupied: bool, usable: bool
) -> None:
    far = PerceivedSlot(1, True, AT_X + 40.0, SLOT_Y, 0.0, 6.0, 2.4)
    seen = PerceivedSlot(2, occupied, AT_X + off, SLOT_Y, 0.0, 6.0, 2.4)
    view = look(road, x=x, y=SLOT_Y, slots=(far, seen))
    assert is_usable(view, roadside_slot_of(view)) is usable


@pytest.mark.clause("TMP-2", "USE-10")
@pytest.mark.parametrize(
    ("dx", "dy", "degrees", "changes", "inside"),
    [
        (0.0, 0.0, 0.0, {}, True),
        (0.29, 0.0, 0.0, {}, True),
        (-0.31, 0.0, 0.0, {}, False),
        (0.0, 0.31, 0.0, {}, False),
        (0.0, 0.0, 4.9, {}, True),
        (0.0, 0.0, -5.1, {}, False),
        (0.0, 0.0, 0.0, {"v": 0.11}, False),
        (0.0, 0.0, 0.0, {"v": -0.09}, True),
        (0.0, 0.0, 0.0, {"localized": False}, False),
        (0.0, 0.0, 0.0, {"plan": replace(DRIVES, travel=0.31)}, False),
        (0.0, 0.0, 0.0, {"plan": replace(DRIVES, known=False, travel=0.0)}, False),
        (0.0, 0.0, 0.0, {"plan": replace(FAILED, travel=0.0)}, False),
    ],
)
def test_standing_in_a_slot(
    road: RoadMap, dx: float, dy: float, degrees: float, changes: dict[str, Any], inside: bool
) -> None:
    options = {"plan": replace(DRIVES, travel=0.29), **changes}
    view = look(road, x=AT_X - FRONT + dx, y=SLOT_Y + dy, heading=math.radians(degrees), **options)
    assert guards.stands_in_slot(view) is inside
    assert not guards.stands_in_slot(at(view, stop=stopped(view, waiting=True)))
    if not changes:
        assert is_in(view, roadside_slot_of(view)) is inside


def test_how_far_a_slot_is_ahead(road: RoadMap) -> None:
    for x, ahead in ((130.0, AT_X - FRONT - 130.0), (AT_X, 0.0)):
        view = look(road, x=x)
        assert distance_to(view, roadside_slot_of(view)) == pytest.approx(ahead, abs=0.01)
        off = replace(view, world=replace(view.world, route=None))
        assert distance_to(off, roadside_slot_of(view)) == pytest.approx(AT_X - FRONT - x, abs=0.01)


def space(x: float, y: float, degrees: float = 0.0) -> ParkingSlot:
    pose = Pose(x, y, math.radians(degrees))
    return ParkingSlot(1, "s", "1", pose, 6.0, 2.4, np.zeros((0, 2)))


@pytest.mark.clause("TMP-1")
@pytest.mark.parametrize(
    ("x", "y", "degrees", "counts"),
    [
        (155.0, SLOT_Y, 0.0, True),
        (155.0, SLOT_Y, 19.0, True),
        (155.0, SLOT_Y, -19.0, True),
        (155.0, SLOT_Y, 21.0, False),
        (155.0, SLOT_Y, 199.0, True),
        (155.0, SLOT_Y, 201.0, False),
        (155.0, SLOT_Y, 90.0, False),
        (155.0, FAR_Y + 0.1, 0.0, False),
        (155.0, -SLOT_Y, 0.0, False),
        (174.0, SLOT_Y, 0.0, True),
        (175.5, SLOT_Y, 0.0, False),
    ],
)
def test_which_spaces_of_the_map_are_a_point_s_slots(
    road: RoadMap, x: float, y: float, degrees: float, counts: bool
) -> None:
    spaced = replace(road, slots=(space(x, y, degrees),))
    view = view_of(Place(spaced, 130.0, FAR_Y), route_along(spaced, FAR_LANE))
    for heading in (0.0, 1.0, -1.0):
        (found,) = roadside_slots(view, MissionPoint("", AT_X, FAR_Y, heading))
        assert (found.slot.pose[:2] == (x, y)) is counts
        if counts:
            assert math.cos(found.goal.heading) > 0.9, "in the lane's direction"


@pytest.mark.clause("TMP-1")
def test_a_space_that_the_map_keeps_for_others_is_no_slot_of_a_point(road: RoadMap) -> None:
    kept = replace(road, slots=(replace(space(155.0, SLOT_Y), reserved="bus"),))
    view = view_of(Place(kept, 130.0, FAR_Y), route_along(kept, FAR_LANE))
    (found,) = roadside_slots(view, MissionPoint("", AT_X, FAR_Y, 0.0))
    assert found.slot.pose[0] == pytest.approx(AT_X)


@pytest.mark.clause("TMP-1")
def test_a_slot_of_our_own_is_at_the_kerb(road: RoadMap) -> None:
    for y, heading in ((FAR_Y, 0.0), (NEAR_Y, 0.0), (ONCOMING_Y, math.pi)):
        made = at_edge(road, VEHICLE, Pose(AT_X, y, heading))
        assert (made.length, made.width) == (VEHICLE.length + 1.0, VEHICLE.width + 0.3)
        assert made.pose.x == pytest.approx(AT_X)
        side = -1.0 if heading == 0.0 else 1.0
        inner = abs(made.pose.y) + 0.5 * made.width
        assert made.pose.y * side > 0.0
        assert 6.5 < inner <= 7.0
    lost = at_edge(road, VEHICLE, Pose(AT_X, 60.0, 0.0))
    assert lost == MissionSlot(Pose(AT_X, 60.0, 0.0), VEHICLE.length + 1.0, VEHICLE.width + 0.3)
