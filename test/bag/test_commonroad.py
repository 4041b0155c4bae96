"""Recorded human traffic becomes a map and a bag that replays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tuling_fsm.bag.commonroad.convert import convert
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.replay import agent_of, replay, transitions
from tuling_fsm.bag.ticks import read_inputs, read_run
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.world.inputs import Kind

NGSIM = "USA_Peach-2_1_T-1.xml"


def lanelet(number: int, x: float, y: float, more: str = "", length: float = 40.0) -> str:
    def bound(name: str, side: float) -> str:
        points = "".join(f"<point><x>{x + s}</x><y>{y + side}</y></point>" for s in (0.0, length))
        return f"<{name}>{points}</{name}>"

    return f'<lanelet id="{number}">{bound("leftBound", 1.75)}{bound("rightBound", -1.75)}{more}</lanelet>'


def car(number: int, x: float, y: float, v: float, ticks: int) -> str:
    def state(tag: str, k: int) -> str:
        return (
            f"<{tag}><position><point><x>{x + 0.1 * k * v}</x><y>{y}</y></point></position>"
            f"<orientation><exact>0.0</exact></orientation><time><exact>{k}</exact></time>"
            f"<velocity><exact>{v}</exact></velocity></{tag}>"
        )

    shape = "<shape><rectangle><length>4.5</length><width>1.8</width></rectangle></shape>"
    states = "".join(state("state", k) for k in range(1, ticks))
    drive = f"<trajectory>{states}</trajectory>" if ticks > 1 else ""
    return f'<dynamicObstacle id="{number}"><type>car</type>{shape}{state("initialState", 0)}{drive}</dynamicObstacle>'


ROADS = (
    lanelet(1, 0.0, 1.75, '<successor ref="3"/><adjacentRight ref="2" drivingDir="same"/>')
    + lanelet(2, 0.0, -1.75, '<successor ref="4"/><adjacentLeft ref="1" drivingDir="same"/>')
    + lanelet(3, 40.0, 1.75, '<adjacentRight ref="4" drivingDir="same"/><speedLimit>12.5</speedLimit>')
    + lanelet(4, 40.0, -1.75, '<adjacentLeft ref="3" drivingDir="same"/>')
)


def scenario(folder: Path, content: str) -> Path:
    file = folder / "scenario.xml"
    file.write_text(f'<commonRoad benchmarkID="made" timeStepSize="0.1">{content}</commonRoad>')
    return file


def test_lanelets_side_by_side_are_lanes_of_one_road_and_lead_on(tmp_path):
    recording = read_recording(scenario(tmp_path, ROADS))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    lanes = road_map.lanes
    assert len(lanes) == 4
    for y in (1.75, -1.75):
        here = road_map.project(10.0, y, 0.0)
        assert here is not None and here.offset == pytest.approx(0.0, abs=0.05) and here.width == pytest.approx(3.5)
        (after,) = lanes[here.lane].successors
        assert lanes[after].center.at(5.0)[:2] == pytest.approx((45.0, y), abs=0.1)
    left, right = (road_map.project(10.0, y, 0.0).lane for y in (1.75, -1.75))
    assert lanes[left].right_neighbour == right and lanes[right].left_neighbour == left
    assert road_map.project(60.0, 1.75, 0.0) is not None
    assert lanes[road_map.project(60.0, 1.75, 0.0).lane].limit == pytest.approx(13.9)


def test_a_fork_becomes_a_junction(tmp_path):
    fork = lanelet(1, 0.0, 0.0, '<successor ref="2"/><successor ref="3"/>') + lanelet(2, 40.0, 0.0)
    bend = lanelet(3, 40.0, 0.0).replace("<x>80.0</x><y>1.75</y>", "<x>70.0</x><y>31.75</y>")
    bend = bend.replace("<x>80.0</x><y>-1.75</y>", "<x>74.0</x><y>29.0</y>")
    recording = read_recording(scenario(tmp_path, fork + bend))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    first = road_map.project(10.0, 0.0, 0.0).lane
    assert len(road_map.lanes[first].successors) == 2
    assert all(road_map.lanes[each].junction is not None for each in road_map.lanes[first].successors)
    assert road_map.lanes[first].junction is None


def test_a_drive_becomes_ticks_of_the_rear_axle_among_the_others(tmp_path):
    file = scenario(
        tmp_path, ROADS + car(7, 5.0, -1.75, 6.0, 60) + car(8, 25.0, 1.75, 3.0, 30) + car(9, 70.0, 1.75, 0, 1)
    )
    done = convert(file, tmp_path / "out")
    assert (done.ego, done.lanes) == ("7", 4)
    ticks = list(read_inputs(tmp_path / "out"))
    assert len(ticks) == done.ticks == 119
    assert np.diff([tick.stamp for tick in ticks]) == pytest.approx(0.05)
    begin, later = ticks[0].odometry, ticks[100].odometry
    assert begin.v == later.v == 6.0
    assert later.pose.x - begin.pose.x == pytest.approx(30.0)
    assert begin.pose.x == pytest.approx(5.0 - 0.5 * (3.76 - 0.929))
    assert sorted(ticks[0].objects.rows["id"].tolist()) == [8, 9] and ticks[118].objects.rows["id"].tolist() == [9]
    assert set(ticks[0].objects.rows["kind"]) == {Kind.CAR}
    assert ticks[10].objects.rows["vx"][0] == 3.0
    assert len(ticks[0].route_answers) == 1 and ticks[1].route_answers == ()
    assert ticks[-1].mission["goal"]["x"] > 30.0
    assert replay(tmp_path / "out") == []
    assert convert(file, tmp_path / "other", ego="8").ego == "8"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no lanelets"),
        (ROADS, "no recorded drive"),
        ('<lanelet id="1"/>', "leftBound of 0 points"),
        ("<", "no CommonRoad"),
    ],
)
def test_what_cannot_be_converted_is_said_in_one_line(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        convert(scenario(tmp_path, content), tmp_path / "out")
    with pytest.raises(InputError, match="no recorded drive of a car 3"):
        convert(scenario(tmp_path, ROADS + car(7, 5.0, 0.0, 6.0, 9)), tmp_path / "out", ego="3")


@pytest.mark.slow
@pytest.mark.clause("DWELL-3")
def test_recorded_human_traffic_replays_to_the_same_transitions_every_time(shared_data, tmp_path):
    done = convert(shared_data / "commonroad" / NGSIM, tmp_path)
    assert done.lanes == 74 and done.route_m > 90.0 and done.transitions >= 3
    assert replay(tmp_path) == []
    run, inputs = read_run(tmp_path), list(read_inputs(tmp_path))
    logs = [list(transitions(agent_of(run, "bag"), inputs)) for _ in range(2)]
    assert logs[0] == logs[1] and len(logs[0]) >= done.transitions


@pytest.mark.parametrize("name", ["DEU_Moelln-4_4_T-1", "ESP_Almansa-2_2_T-1", "ZAM_Tjunction-1_42_T-1"])
def test_every_lanelet_of_a_real_network_is_a_lane_where_it_was(shared_data, tmp_path, name):
    recording = read_recording(shared_data / "commonroad" / f"{name}.xml")
    (tmp_path / "map.xodr").write_bytes(to_opendrive(name, recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    assert len(road_map.driving_lanes()) == len(recording.lanelets)
    missed = 0
    for each in recording.lanelets.values():
        ends = [Polyline.of([tuple(p) for p in line]) for line in (each.left, each.right)]
        x, y = np.mean([line.at(0.5 * line.length)[:2] for line in ends], axis=0).tolist()
        heading = ends[0].at(0.5 * ends[0].length).heading
        found = road_map.project(x, y, heading)
        missed += found is None or abs(found.offset) > 0.6
    assert missed <= 0.03 * len(recording.lanelets)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("<x>40.0</x>", "<x>nan</x>", "nan is out of range"),
        ("<x>40.0</x>", "<x>1e300</x>", "out of range"),
        ("<x>40.0</x>", "<x>1e7</x>", "m long"),
        ("<x>40.0</x>", "<x>0.0</x>", "0 m long"),
        ("<speedLimit>12.5", "<speedLimit>-1", "a speed limit of -1.0"),
        ('id="9"', 'id="car"', "the id 'car' is no number"),
        ("<width>1.8", "<width>0", "a box of 4.5 m x 0 m"),
        ("<time><exact>2", "<time><exact>1", "times that do not increase"),
        ('timeStepSize="0.1"', 'timeStepSize="-0.1"', "times that do not increase"),
        ('timeStepSize="0.1"', 'timeStepSize="1e7"', "out of range"),
        ("<commonRoad", "<uncommonRoad", "no CommonRoad scenario|its root"),
        ("</commonRoad>", "", "no CommonRoad scenario"),
    ],
)
def test_a_file_with_a_fault_is_refused_in_one_line(tmp_path, before, after, said):
    file = scenario(tmp_path, ROADS + car(9, 5.0, 1.75, 8.0, 20))
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after, 1))
    with pytest.raises(InputError, match=said) as error:
        read_recording(file)
    assert "\n" not in str(error.value)


def test_a_car_that_hardly_drives_is_no_ego(tmp_path):
    file = scenario(tmp_path, ROADS + car(9, 5.0, 1.75, 8.0, 20))
    file.write_text(file.read_text().replace('timeStepSize="0.1"', 'timeStepSize="0.001"'))
    with pytest.raises(InputError, match="no recorded drive of a car"):
        convert(file, tmp_path / "out")
