"""Junctions in the closed loop: lights, pedestrians, a junction directed by hand, one that is lost in."""

from __future__ import annotations

from pathlib import Path

import pytest
from crossroads import HALF_M, LIGHT, STOP_SIGN, crossroads
from scenario_text import along_lanes

from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.share import share_file

from .drives import Drive, drive

pytestmark = pytest.mark.slow

LINE_X = -HALF_M - 1.0
THROUGH = [states.NORMAL, states.SAFE_DRIVING, states.NORMAL]
DECLARED = """    lights: traffic_lights
    works: road_works
    walker: person
    start: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 60m)
    goal: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 50m)
    line: xyz_point = map.create_xyz_point(x: -13m, y: -1.75m)
    before_line: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 4.5m)
    behind_line: odr_point = map.create_odr_point(road_id: "3", lane_id: "1", s: 0.5m)
    kerb: xyz_point = map.create_xyz_point(x: 17m, y: -7m)
    beside: xyz_point = map.create_xyz_point(x: 17m, y: -4.5m)
    far_kerb: xyz_point = map.create_xyz_point(x: 17m, y: 7m)
"""
AHEAD = "wait ego.point_distance(reference: line, direction: euclidean, mode: reference_points)"


@pytest.fixture(scope="module")
def lit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crossing with lights on all arms."""
    folder = tmp_path_factory.mktemp("maps")
    crossroads(folder, "lit", dict.fromkeys("ENWS", LIGHT))
    return folder / "lit.xodr"


def _drive(map_file: Path, folder: Path, *lines: str) -> Drive:
    """What happens beside the car's own way, line by line; the car comes from the west and goes on to the east."""
    story = "".join(f"            {line}\n" for line in lines)
    driven = drive(map_file, along_lanes(DECLARED, "        serial:\n", story, seconds=100), folder)
    assert driven.faults == []
    assert driven.end == "goal"
    return driven


def _front_x(driven: Drive) -> list[float]:
    return [tick.world.ego.pose.x + Vehicle().front for tick in driven.standing()]


@pytest.mark.clause("INT-2", "NOR-2", "INT-6")
def test_at_a_red_light_it_stops_before_the_line_and_goes_at_green(lit: Path, tmp_path: Path) -> None:
    driven = _drive(lit, tmp_path, "lights.set_all(red, duration: 18s)", "lights.set_all(green)")
    assert driven.states()[-4:-1] == THROUGH
    stood = driven.standing()
    assert all(LINE_X - 1.5 < x <= LINE_X + 0.1 for x in _front_x(driven))
    assert {tick.state for tick in stood} == {states.SAFE_DRIVING}
    assert {tick.limit.reason for tick in stood[:-20]} == {Reason.RED_LIGHT}
    assert 18.0 < stood[-1].stamp - driven.ticks[0].stamp < 20.0


@pytest.mark.clause("INT-2", "INT-5", "NOR-7")
@pytest.mark.parametrize("place", ["before_line", "behind_line"])
def test_a_closed_lane_at_a_red_light_is_gone_round_at_green(lit: Path, tmp_path: Path, place: str) -> None:
    """Not at red, by the oncoming lane beside the end of the stop line."""
    driven = _drive(
        lit, tmp_path, f"works.close_lane({place})", "lights.set_all(red, duration: 30s)", "lights.set_all(green)"
    )
    red = [tick for tick in driven.ticks if tick.stamp - driven.ticks[0].stamp < 29.0]
    assert max(tick.world.ego.pose.x + Vehicle().front for tick in red) < LINE_X
    assert {tick.limit.reason for tick in red[-100:]} == {Reason.RED_LIGHT}
    assert states.JUNCTION_NO_LINE_FREE in driven.states()


@pytest.mark.clause("INT-2", "USE-4")
@pytest.mark.parametrize(("gap", "stops"), [(40, True), (12, False)])
def test_at_yellow_it_stops_where_it_can_do_so_in_comfort(lit: Path, tmp_path: Path, gap: int, stops: bool) -> None:
    driven = _drive(
        lit, tmp_path, "lights.set_all(green)", f"{AHEAD} < {gap}m",
        "lights.set_all(yellow, duration: 3s)", "lights.set_all(red, duration: 6s)", "lights.set_all(green)",
    )  # fmt: skip
    assert bool(driven.standing()) is stops
    assert all(x <= LINE_X + 0.1 for x in _front_x(driven))
    assert driven.states()[-4:-1] == THROUGH


@pytest.mark.slow
@pytest.mark.clause("INT-2", "INT-4", "INT-5")
def test_a_light_that_stays_dark_is_stopped_for_and_after_a_minute_driven_over(lit: Path, tmp_path: Path) -> None:
    driven = _drive(lit, tmp_path, "lights.set_all(dark)")
    assert "INT-4" in driven.clauses()
    stood = [tick for tick in driven.standing() if tick.state == states.SAFE_DRIVING]
    assert 58.0 < stood[-1].stamp - stood[0].stamp < 61.0
    assert driven.states()[-5:-1] == [states.SAFE_DRIVING, states.JUNCTION_NO_LINE_FREE, *THROUGH[1:]]


@pytest.mark.slow
@pytest.mark.clause("INT-4")
def test_a_long_red_is_waited_for(lit: Path, tmp_path: Path) -> None:
    driven = _drive(lit, tmp_path, "lights.set_all(red, duration: 70s)", "lights.set_all(green)")
    assert "INT-4" not in driven.clauses()
    assert driven.states()[-4:-1] == THROUGH


@pytest.mark.clause("INT-3")
def test_a_pedestrian_who_crosses_behind_the_junction_is_let_by(lit: Path, tmp_path: Path) -> None:
    driven = _drive(
        lit, tmp_path, "lights.set_all(green)", "walker.assign_position(kerb)", f"{AHEAD} < 14m",
        "walker.walk() with:", "    along(map.create_path([far_kerb]))", "    speed(1.2mps)",
    )  # fmt: skip
    assert Reason.PEDESTRIAN in {tick.limit.reason for tick in driven.ticks}
    assert driven.states()[-4:-1] == THROUGH


@pytest.mark.clause("INT-3")
def test_a_pedestrian_beside_the_carriageway_is_passed(lit: Path, tmp_path: Path) -> None:
    driven = _drive(lit, tmp_path, "lights.set_all(green)", "walker.assign_position(beside)")
    assert not driven.standing()
    assert Reason.PEDESTRIAN not in {tick.limit.reason for tick in driven.ticks}


@pytest.mark.clause("INT-5", "INT-6")
def test_a_car_that_gets_lost_in_a_junction_finds_its_way_through(lit: Path, tmp_path: Path) -> None:
    driven = _drive(lit, tmp_path, "lights.set_all(green)", f"{AHEAD} < 6m", "ego.lose_localization(duration: 4s)")
    at = driven.states().index(states.EXPLORE)
    assert driven.states()[at - 1] == states.SAFE_DRIVING
    assert driven.states()[at + 1] == states.REGRESSION
    assert driven.states()[-2] == states.NORMAL


@pytest.mark.clause("INT-2", "EXP-1")
def test_a_car_that_is_lost_before_a_red_light_says_that_it_waits_for_green(lit: Path, tmp_path: Path) -> None:
    driven = _drive(
        lit, tmp_path, "lights.set_all(red)", f"{AHEAD} < 20m", "ego.lose_localization()", "wait elapsed(20s)",
        "lights.set_all(green)", "wait elapsed(10s)", "ego.regain_localization()",
    )  # fmt: skip
    stood = [tick for tick in driven.standing() if tick.state == states.EXPLORE]
    assert all(LINE_X - 1.5 < x <= LINE_X + 0.1 for x in _front_x(driven))
    assert {tick.limit.reason for tick in stood[:-20]} == {Reason.RED_LIGHT}


@pytest.mark.clause("EXP-1")
@pytest.mark.parametrize("goal", [2, 7], ids=["straight on", "to the left"])
def test_a_car_that_is_lost_in_a_junction_takes_the_way_of_its_route(goal: int, tmp_path: Path) -> None:
    """Lines of other ways are seen there."""
    declared = f"""    lights: traffic_lights
    start: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 140m)
    goal: odr_point = map.create_odr_point(road_id: "{goal}", lane_id: "-1", s: 40m)
    line: odr_point = map.create_odr_point(road_id: "1", lane_id: "-1", s: 183m)
"""
    lines = ("serial:", f"    {AHEAD} < 15m", "    ego.lose_localization(duration: 40s)")
    light = "        lights.set_state(signal: 1, state: red, duration: 20s)\n"
    text = along_lanes(declared, light, *(f"        {line}\n" for line in lines), seconds=90)
    driven = drive(Path(share_file("config", "course", "course.xodr")), text, tmp_path)
    lost = [tick for tick in driven.ticks if tick.state == states.EXPLORE]
    assert lost[-1].stamp - lost[0].stamp > 35.0
    assert max(abs(tick.world.route_offset) for tick in lost) < 0.6
    assert driven.faults == []
    assert driven.end == "goal"


@pytest.mark.clause("USE-3", "EXP-1")
def test_a_car_that_is_lost_before_a_stop_sign_stops_there_and_goes_on(tmp_path: Path) -> None:
    crossroads(tmp_path, "signed", {"W": STOP_SIGN})
    driven = _drive(tmp_path / "signed.xodr", tmp_path, f"{AHEAD} < 20m", "ego.lose_localization(duration: 25s)")
    stood = [tick for tick in driven.standing() if tick.state == states.EXPLORE]
    assert {tick.limit.reason for tick in stood} >= {Reason.STOP_SIGN}
    assert stood[-1].stamp - stood[0].stamp < 5.0
