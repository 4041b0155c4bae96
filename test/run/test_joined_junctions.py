"""Several junctions without room for the car between them are driven as one, in the closed loop (INT-7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import HALF_M, double_crossing
from map.roundabout import ARM_FROM_M, roundabout
from scenario_text import along_lanes

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason

from .drives import drive

pytestmark = pytest.mark.slow

FROM_EAST_TO_SOUTH = """    traffic: traffic_source
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "1", s: 25m)
    goal: odr_point = map.create_odr_point(road_id: "4", lane_id: "-1", s: 50m)
"""
FROM_WEST_TO_EAST = """    a: vehicle
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "1", s: 70m)
    goal: odr_point = map.create_odr_point(road_id: "2", lane_id: "-1", s: 50m)
    exit: odr_point = map.create_odr_point(road_id: "2", lane_id: "-1", s: 5m)
    away: odr_point = map.create_odr_point(road_id: "2", lane_id: "-1", s: 110m)
"""
STANDS_FOR_A_WHILE = """
        serial:
            a.assign_position(exit)
            wait elapsed(20s)
            a.drive() with:
                along(map.create_route([away]))
            a.remove()
"""
ONE_JUNCTION = [states.NORMAL, states.SAFE_DRIVING, states.NORMAL]


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(("vehicles", "seed"), [(0, 1), (4, 2), (6, 3)])
def test_a_roundabout_of_joined_junctions_is_driven_through_without_standing_in_it(
    tmp_path: Path, vehicles: int, seed: int
) -> None:
    """From the east by the third way out to the south, past what circles."""
    roundabout(tmp_path, 2.0)
    others = f"\n        traffic.populate(vehicles: {vehicles})\n" if vehicles else ""
    text = along_lanes(FROM_EAST_TO_SOUTH, others, seconds=90)
    driven = drive(tmp_path / "small.xodr", text, tmp_path, seed)
    assert (driven.end, driven.faults) == ("goal", [])
    assert driven.states()[2:-1] == ONE_JUNCTION
    stood = driven.standing()
    assert bool(stood) is (vehicles > 0)
    assert {tick.limit.reason for tick in stood} <= {Reason.JUNCTION_OCCUPIED, Reason.NONE}
    assert all(tick.world.ego.pose.x > ARM_FROM_M for tick in stood)


@pytest.mark.clause("INT-7", "INT-6")
def test_before_two_joined_junctions_with_a_full_exit_the_car_waits(tmp_path: Path) -> None:
    double_crossing(tmp_path, 2.0)
    text = along_lanes(FROM_WEST_TO_EAST, STANDS_FOR_A_WHILE, seconds=90)
    driven = drive(tmp_path / "double.xodr", text, tmp_path)
    assert (driven.end, driven.faults) == ("goal", [])
    assert driven.states()[2:-1] == ONE_JUNCTION
    stood = driven.standing()
    assert Reason.JUNCTION_EXIT_BLOCKED in {tick.limit.reason for tick in stood}
    assert all(tick.world.ego.pose.x < -HALF_M for tick in stood)
