"""A person who stands in the lane is crept up to, waited for, and gone round in the end (NOR-7, USE-5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_text import along_lanes

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import drive

pytestmark = pytest.mark.slow

DECLARED = """    start: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 215m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 60m)
    there: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 236m)
    walker: person
"""


@pytest.mark.clause("NOR-7", "USE-5", "USE-2")
def test_one_that_stands_on_a_crosswalk_is_crept_up_to_and_waited_for_and_no_dead_end(tmp_path: Path) -> None:
    text = along_lanes(DECLARED, "        walker.assign_position(there)\n", seconds=110)
    run = drive(Path(share_file("config", "course", "course.xodr")), text, tmp_path)
    assert run.faults == []
    stops = [tick for tick in run.ticks if tick.limit.reason is Reason.PEDESTRIAN and tick.world.ego.v < 0.02]
    assert {tick.state for tick in stops} == {states.NORMAL}
    assert 58.0 < stops[-1].stamp - stops[0].stamp < 66.0
    crept = stops[-1].world.route_s - stops[0].world.route_s
    assert crept > 0.5
    assert run.ticks[-1].world.route_s > stops[-1].world.route_s + 15.0, "gone round in the end"


BARS_THE_WAY = """
import osc.standard

scenario bars:
    map.set_map_file("MAP")
    ego: vehicle
    rain: environment
    start: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 220m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 60m)
    left: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 236m, t: 1m)
    right: odr_point = map.create_odr_point(road_id: "6", lane_id: "-1", s: 236m, t: -1m)
    one: person
    other: person

    do parallel(duration: 120s):
        serial:
            ego.assign_position(start)
            ego.drive() with:
                along(map.create_route([goal]))
        one.assign_position(left)
        other.assign_position(right)
        rain.rain(intensity: 10mmph)
"""


@pytest.mark.clause("USE-2", "SAF-4")
def test_two_who_bar_the_way_in_rain_are_no_dead_end_in_free_space(tmp_path: Path) -> None:
    """The new route begins behind them, and the car may not reverse."""
    run = drive(Path(share_file("config", "course", "course.xodr")), BARS_THE_WAY, tmp_path)
    assert run.faults == []
    regression = [tick for tick in run.ticks if tick.state == states.REGRESSION and tick.stamp > 60.0]
    assert any(tick.limit.reason is Reason.PEDESTRIAN for tick in regression)
    assert regression[-1].stamp - regression[0].stamp < 20.0
    assert run.ticks[-1].state == states.EXPLORE, "all attempts have failed"
