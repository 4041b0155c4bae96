"""A person who stands in the lane is crept up to, waited for, and gone round in the end (NOR-7, USE-5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import drive

pytestmark = pytest.mark.slow

SCENARIO = """
import osc.standard

scenario stands:
    map.set_map_file("MAP")
    ego: vehicle
    start: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 215m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 60m)
    there: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 236m)
    walker: person

    do parallel(duration: 110s):
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        walker.assign_position(there)
"""


@pytest.mark.clause("NOR-7", "USE-5", "USE-2")
def test_one_that_stands_on_a_crosswalk_is_crept_up_to_and_waited_for_and_no_dead_end(tmp_path: Path) -> None:
    run = drive(Path(share_file("config", "course", "course.xodr")), SCENARIO, tmp_path)
    assert run.faults == []
    stops = [tick for tick in run.ticks if tick.limit.reason is Reason.PEDESTRIAN and tick.world.ego.v < 0.02]
    assert {tick.state for tick in stops} == {states.NORMAL}
    assert 58.0 < stops[-1].stamp - stops[0].stamp < 66.0
    crept = stops[-1].world.route_s - stops[0].world.route_s
    assert crept > 0.5
    assert run.ticks[-1].world.route_s > stops[-1].world.route_s + 15.0, "gone round in the end"
