"""Round works across the own lane in the closed loop: over the other lane where that one is free (SLF-3, NLF-1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.behaviour import states
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.share import share_file

from .drives import drive

pytestmark = pytest.mark.slow

PLACES = """    works: road_works
    start: odr_point = map.create_odr_point(road_id: "14", lane_id: "-1", s: 195m)
    block: odr_point = map.create_odr_point(road_id: "14", lane_id: "-1", s: 255m)
    goal: odr_point = map.create_odr_point(road_id: "15", lane_id: "-1", s: 60m)
"""


@pytest.mark.clause("SLF-3", "NLF-1")
def test_the_pavement_is_left_alone_while_the_oncoming_lane_is_free(tmp_path: Path) -> None:
    course = Path(share_file("config", "course", "course.xodr"))
    text = along_lanes(PLACES, "        works.close_lane(block, material: cone)\n", seconds=150)
    run = drive(course, text, tmp_path)
    assert run.end == "goal"
    assert run.faults == []
    assert states.NO_LINE_FREE in run.states()
    road, vehicle = read_map(course), Vehicle()
    corners = [corner for tick in run.ticks for corner in vehicle.footprint(tick.world.ego.pose).tolist()]
    assert all(road.positions(x, y, 0.3) for x, y in corners), "no corner is more than 0.3 m beside the lanes"
