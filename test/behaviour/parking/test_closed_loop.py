"""The whole story in the closed loop: a dead end, a turn, a slot that is taken on the way, and another (PRK-1 to 5)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from garage import HALF_M, LANE_M, SLOT_LENGTH, SLOT_WIDTH, UPPER_Y, slot_pose

from tuling_fsm.behaviour import states
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.map.road_map import RoadMap

from .loop import DT, EVERY_SLOT, Loop, Place

LOWER_END = Pose(HALF_M + 30.0, -0.5 * LANE_M, 0.0)
FIRST, SECOND = (3, 2), (2, 5)


def in_box(loop: Loop, place: Place) -> tuple[float, float]:
    """How far the car's outline stays inside a slot (m, least over its corners), and its heading against it (rad)."""
    x, y, heading = slot_pose(*place)
    c, s = math.cos(heading), math.sin(heading)
    corners = (loop.vehicle.footprint(loop.car.pose) - (x, y)) @ np.array(((c, -s), (s, c)))
    room = np.array((0.5 * SLOT_LENGTH, 0.5 * SLOT_WIDTH)) - np.abs(corners)
    return float(room.min()), float(abs(wrap_angle(loop.car.pose.heading - heading)))


def least_gap(loop: Loop) -> float:
    """The least distance of the car's outline from the middle of a car that was parked there (m)."""
    corners = np.array([loop.vehicle.footprint(Pose(*pose)) for pose in loop.poses().tolist()])
    middles = np.array([slot_pose(*place)[:2] for place in loop.taken])
    return float(np.hypot(*(corners[:, :, None] - middles).transpose(3, 0, 1, 2)).min())


@pytest.mark.slow
@pytest.mark.clause("NOR-8", "PRK-1", "PRK-2", "PRK-3", "PRK-4", "PRK-5")
def test_from_the_street_past_a_dead_end_and_a_taken_slot_into_another(car_park_map: RoadMap) -> None:
    loop = Loop(car_park_map, LOWER_END, set(EVERY_SLOT) - {FIRST, SECOND})
    loop.until(states.SLOT_SEARCH, 30.0)
    loop.until(states.SLOT_ENTRY, 90.0)
    poses = loop.poses()
    assert poses[:, 0].max() > HALF_M + 24.0, "it has been to the end of the lower aisle"
    entry = loop.ticks[-1].decision.record.machine.memory.parking.entry
    assert entry is not None
    assert entry.is_at(*slot_pose(*FIRST)[:2])
    for _ in range(round(3.0 / DT)):
        loop.tick()
    loop.taken.add(FIRST)
    loop.until(states.SLOT_SEARCH, 1.0)
    assert any("is barred: it is taken" in line for line in loop.reports())
    loop.until(states.PARKED, 90.0)
    room, turned = in_box(loop, SECOND)
    assert room > 0.0
    assert turned < math.radians(5.0)
    for _ in range(round(2.0 / DT)):
        tick = loop.tick()
        assert tick.state == states.PARKED
        assert tick.trajectory.stands
    assert abs(loop.car.v) < 0.01
    assert loop.car.pose.y > UPPER_Y - 12.0
    assert set(loop.states()) <= {
        states.PLAN_ONCE, states.REGRESSION, states.NORMAL, states.SAFE_DRIVING, states.SLOT_SEARCH, states.SLOT_ENTRY,
        states.PARKED,
    }  # fmt: skip
    assert least_gap(loop) > 0.9
    assert loop.ticks[-1].decision.flaps == 0


@pytest.mark.slow
@pytest.mark.clause("PRK-1", "PRK-3", "PRK-4")
def test_a_slot_of_the_mission_is_reversed_into_where_the_map_has_none(no_slots_map: RoadMap) -> None:
    x, y, heading = slot_pose(0, 3)
    bay = {"x": x, "y": y, "heading": heading, "length": SLOT_LENGTH, "width": SLOT_WIDTH}
    loop = Loop(no_slots_map, LOWER_END, set(EVERY_SLOT) - {(0, 3)}, more={"slots": [bay]})
    loop.until(states.PARKED, 60.0)
    assert in_box(loop, (0, 3))[0] > 0.0


@pytest.mark.slow
@pytest.mark.clause("PRK-1", "PRK-3", "PRK-4")
@pytest.mark.parametrize("place", [(0, 3), (1, 6)])
def test_a_slot_on_either_side_is_reversed_into(car_park_map: RoadMap, place: Place) -> None:
    loop = Loop(car_park_map, LOWER_END, set(EVERY_SLOT) - {place})
    loop.until(states.PARKED, 90.0)
    room, turned = in_box(loop, place)
    assert room > 0.0
    assert turned < math.radians(5.0)
    assert min(tick.world.ego.v for tick in loop.ticks[-200:]) < -0.2
