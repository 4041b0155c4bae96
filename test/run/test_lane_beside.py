"""Past something before a crossing with lights, and through it in the lane beside the route's, in the closed loop; not
where that lane does not lead on along the route.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import Drive, drive

pytestmark = pytest.mark.slow

LINE_X, END_X, OUTER_Y = 183.0, 216.0, (-7.0, -3.5)
DECLARED = """    lights: traffic_lights
    van: vehicle
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 90m)
    goal: odr_point = map.create_odr_point(road_id: "2", lane_id: "-1", s: 60m)
    broken_down: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 135m)
"""
VAN = "        van.assign_position(broken_down)\n"
THROUGH = [states.NORMAL, states.SAFE_DRIVING, states.NORMAL]


def _drive(folder: Path, *lines: str) -> Drive:
    driven = drive(Path(share_file("config", "course", "course.xodr")), along_lanes(DECLARED, VAN, *lines), folder)
    assert driven.faults == []
    assert driven.end == "goal"
    assert driven.states()[-4:-1] == THROUGH
    inside = [tick.world.ego.pose for tick in driven.ticks if LINE_X < tick.world.ego.pose.x < END_X]
    assert all(OUTER_Y[0] < pose.y < OUTER_Y[1] for pose in inside), "no change of lanes within the junction"
    return driven


@pytest.mark.clause("INT-1", "INT-6", "NOR-7")
def test_one_that_has_passed_a_van_before_a_green_light_drives_on_in_its_lane(tmp_path: Path) -> None:
    driven = _drive(tmp_path, "        lights.set_all(green)\n")
    assert not driven.standing()


@pytest.mark.clause("INT-1", "INT-2")
def test_one_that_has_passed_a_van_waits_for_the_red_light_and_drives_on_in_its_lane(tmp_path: Path) -> None:
    lines = ("serial:", "    lights.set_all(red, duration: 25s)", "    lights.set_all(green)")
    driven = _drive(tmp_path, *(f"        {line}\n" for line in lines))
    assert {tick.limit.reason for tick in driven.standing()[:-20]} == {Reason.RED_LIGHT}


BICYCLE = """    lights: traffic_lights
    bicycle: vehicle with:
        keep(it.length == 1.8m)
        keep(it.width == 0.6m)
        keep(it.vehicle_category == vehicle_category!bicycle)
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 95m)
    goal: odr_point = map.create_odr_point(road_id: "8", lane_id: "-1", s: 50m)
    there: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 120m, t: -1.0m)
    further: odr_point = map.create_odr_point(road_id: "1", lane_id: "-2", s: 170m, t: -1.0m)
    over: odr_point = map.create_odr_point(road_id: "2", lane_id: "-2", s: 20m, t: -1.0m)
"""
RIDES = """        lights.set_all(green)
        serial:
            bicycle.assign_position(there)
            bicycle.drive() with:
                along(map.create_path([further, over]))
                speed(3mps)
"""


@pytest.mark.clause("NOR-5", "NOR-6")
def test_a_cyclist_before_the_cars_turn_is_not_passed_where_the_line_becomes_solid_too_soon(tmp_path: Path) -> None:
    driven = drive(Path(share_file("config", "course", "course.xodr")), along_lanes(BICYCLE, RIDES), tmp_path)
    assert driven.faults == []
    assert driven.end == "goal"
    assert driven.states()[-4:-1] == THROUGH
    assert not driven.standing()
