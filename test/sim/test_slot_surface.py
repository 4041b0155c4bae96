"""Where wheels may be beside the lanes: in parking slots, and between them and their aisles."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.placements import AtPose
from tuling_fsm.sim.scoring.completion import car_park_slots, final_slots
from tuling_fsm.sim.scoring.road_rules import RoadRules

from .scenes import simulation


def bay_beside_road(folder: Path, heading: float = 0.5 * math.pi) -> RoadMap:
    """A straight road of a lane each way along x, and a bay on its right, 2 m beyond its edge at y = -3.5."""
    bay = f'<object id="1" type="parkingSpace" s="50" t="-8.15" hdg="{heading}" length="5.3" width="2.6"/>'
    lanes = [xodr.lane(1), xodr.lane(-1)]
    return xodr.read(folder, xodr.road([xodr.section(lanes)], inside=f"<objects>{bay}</objects>"))


@pytest.mark.parametrize(
    ("x", "y", "off"),
    [
        (50.0, -8.0, False),
        (50.0, -4.5, False),
        (48.5, -4.5, False),
        (51.5, -4.5, False),
        (48.0, -4.5, True),
        (52.0, -4.5, True),
        (50.0, -11.2, True),
    ],
)
def test_the_ground_between_a_bay_and_its_aisle_is_surface(tmp_path: Path, x: float, y: float, off: bool) -> None:
    rules = RoadRules(bay_beside_road(tmp_path), Vehicle())
    assert rules.off_road(np.full((4, 2), (x, y)), 0.1) is off
    assert rules.outside_route(Pose(x, y, 0.5 * math.pi), None, frozenset()) is off


@pytest.mark.clause("PRK-4")
@pytest.mark.parametrize("turned", [0.0, math.pi])
def test_a_slot_of_a_mission_s_car_park_is_one_as_the_map_s_are(tmp_path: Path, turned: float) -> None:
    road_map = bay_beside_road(tmp_path)
    box = {"x": 70.0, "y": -8.15, "heading": 0.5 * math.pi + turned, "length": 5.3, "width": 2.6}
    own = {**box, "x": 50.5}
    mission = {"car_park": {"x": 80.0, "y": -1.75, "slots": [box, own]}}
    (given,) = car_park_slots(road_map, mission)
    assert given.pose == pytest.approx((70.0, -8.15, 0.5 * math.pi))
    assert [slot.pose.x for slot in final_slots(road_map, mission)] == [50.0, 70.0]
    rules = RoadRules(road_map, Vehicle(), (given,))
    for y, off in ((-8.0, False), (-4.5, False), (-11.2, True)):
        assert rules.off_road(np.full((4, 2), (70.0, y)), 0.1) is off
    assert rules.in_slot(Pose(70.0, -8.0, 0.0))


@pytest.mark.clause("PRK-4")
def test_a_run_ends_in_a_slot_of_the_mission_s_car_park(tmp_path: Path) -> None:
    box = {"x": 70.0, "y": -8.15, "heading": 0.5 * math.pi, "length": 5.3, "width": 2.6}
    file = tmp_path / "mission.json"
    file.write_text(json.dumps({"car_park": {"x": 80.0, "y": -1.75, "slots": [box]}}))
    sim = simulation(bay_beside_road(tmp_path), ego=AtPose(20.0, -1.75, 0.0), mission_file=str(file))
    sim.advance(None, "on_road/normal")
    sim.ego.place(shifted(Pose(70.0, -8.15, 0.5 * math.pi), -center_ahead(Vehicle())), 0.0)
    while not sim.finished and sim.stamp < 10.0:
        sim.advance(None, "parking/parked")
    assert sim.end == "parked"
    assert sim.referee.infractions == []


def test_no_ground_before_a_bay_along_the_kerb_is(tmp_path: Path) -> None:
    rules = RoadRules(bay_beside_road(tmp_path, 0.0), Vehicle())
    assert not rules.off_road(np.full((4, 2), (50.0, -8.0)), 0.1)
    assert rules.off_road(np.full((4, 2), (50.0, -4.5)), 0.1)
