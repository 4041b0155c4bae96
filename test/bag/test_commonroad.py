"""Recorded human traffic becomes a map and a bag that replays."""

from __future__ import annotations

import numpy as np
import pytest
from lxml import etree

from bag.commonroad_text import ROADS, car, lanelet, problem, rectangle, scenario, with_sets
from tuling_fsm.bag.commonroad.convert import convert
from tuling_fsm.bag.commonroad.lanelet_rows import rows_of
from tuling_fsm.bag.commonroad.obstacles import object_rows
from tuling_fsm.bag.commonroad.problem import read_problems
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.replay import agent_of, replay, transitions
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.lanes import LaneId, MarkKind
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.world.inputs import Kind

NGSIM = "USA_Peach-2_1_T-1.xml"


def lane_ids(recording):
    """The lane of the map that each lanelet becomes."""
    rows = rows_of(recording.lanelets)
    return {each.id: LaneId(str(row.id), 0, -i - 1) for row in rows for i, each in enumerate(row.lanelets)}


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
    assert lanes[road_map.project(60.0, 1.75, 0.0).lane].limit == pytest.approx(12.5)


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


@pytest.mark.medium
def test_a_drive_becomes_ticks_of_the_rear_axle_among_the_others(tmp_path):
    file = scenario(
        tmp_path, ROADS + car(7, 5.0, -1.75, 6.0, 60) + car(8, 25.0, 1.75, 3.0, 30) + car(9, 70.0, 1.75, 0, 1)
    )
    done = convert(file, tmp_path / "out")
    assert (done.ego, done.lanes) == ("7", 4)
    ticks = list(read_inputs(BagSource(tmp_path / "out")))
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
    assert replay(BagSource(tmp_path / "out")) == []
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
    assert replay(BagSource(tmp_path)) == []
    run, inputs = read_run_record(BagSource(tmp_path)), list(read_inputs(BagSource(tmp_path)))
    logs = [list(transitions(agent_of(run, "bag"), inputs)) for _ in range(2)]
    assert logs[0] == logs[1] and len(logs[0]) >= done.transitions


@pytest.mark.parametrize("name", ["DEU_Moelln-4_4_T-1", "ESP_Almansa-2_2_T-1", "ZAM_Tjunction-1_42_T-1"])
@pytest.mark.medium
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


def obstacle_at(tmp_path, text: str, t: float):
    """The rows of `objects` at a time, of a scenario with these obstacles."""
    recording = read_recording(scenario(tmp_path, ROADS + text))
    return object_rows(recording.obstacles, t), recording


def test_a_drive_that_repeats_its_first_state_is_read(tmp_path):
    rows, _ = obstacle_at(tmp_path, car(7, 5.0, -1.75, 6.0, 20, first=0), 1.0)
    assert rows["x"].tolist() == pytest.approx([11.0])


def test_a_polygon_is_the_box_around_it_and_said_to_be(tmp_path):
    corners = "".join(f"<point><x>{x}</x><y>{y}</y></point>" for x, y in ((-2, -1), (4, -1), (4, 1), (1, 1)))
    rows, recording = obstacle_at(tmp_path, car(7, 20.0, 0.0, 0.0, 1, shape=f"<polygon>{corners}</polygon>"), 3.0)
    assert (rows["length"][0], rows["width"][0]) == (6.0, 2.0)
    assert (rows["x"][0], rows["y"][0]) == (21.0, 0.0)
    assert recording.lost == ("obstacle 7 is no box: taken for the smallest box around it",)


def test_one_without_a_drive_is_there_at_its_time_only(tmp_path):
    gone = car(7, 5.0, 0.0, 18.0, 1).replace("staticObstacle", "dynamicObstacle")
    assert [len(obstacle_at(tmp_path, gone, t)[0]) for t in (0.0, 0.1)] == [1, 0]
    assert [len(obstacle_at(tmp_path, car(7, 5.0, 0.0, 0.0, 1), t)[0]) for t in (0.0, 9.0)] == [1, 1]


def test_sets_of_occupancy_move(tmp_path):
    sets = [(k, k, rectangle(5.0 + 2.0 * k, 1.0, 5.0, 2.0)) for k in range(1, 11)]
    rows, _ = obstacle_at(tmp_path, with_sets(car(7, 5.0, 1.0, 20.0, 1), *sets), 0.5)
    assert rows["x"].tolist() == pytest.approx([15.0]) and rows["vx"].tolist() == pytest.approx([20.0])


def box_at(tmp_path, text: str, t: float) -> list[float]:
    rows, _ = obstacle_at(tmp_path, text, t)
    return [float(row[name]) for row in rows for name in ("x", "y", "heading", "length", "width")]


def test_a_set_of_occupancy_is_as_large_as_it_is_said_to_be(tmp_path):
    sets = [(k, k, rectangle(20.0, 1.0, 4.5 + 0.4 * k, 1.8 + 0.1 * k)) for k in range(1, 41)]
    text = with_sets(car(7, 20.0, 1.0, 0.0, 1), *sets)
    assert box_at(tmp_path, text, 0.0) == pytest.approx([20.0, 1.0, 0.0, 4.5, 1.8])
    assert box_at(tmp_path, text, 2.0) == pytest.approx([20.0, 1.0, 0.0, 12.5, 3.8])
    assert box_at(tmp_path, text, 3.95) == pytest.approx([20.0, 1.0, 0.0, 20.3, 5.75])
    crosswise = with_sets(car(7, 20.0, 1.0, 0.0, 1), (1, 1, rectangle(21.0, 2.0, 9.0, 3.0, 1.5)))
    rows, _ = obstacle_at(tmp_path, crosswise, 0.1)
    assert box_at(tmp_path, crosswise, 0.1) == pytest.approx([21.0, 2.0, 1.5 - 0.5 * np.pi, 3.0, 9.0], abs=1e-5)
    assert (rows["vx"][0], rows["vy"][0]) == pytest.approx((10.0, 10.0))


def test_a_set_of_occupancy_is_there_for_as_long_as_its_time(tmp_path):
    after = (10, 20, rectangle(30.0, 1.0, 9.0, 3.0))
    text = with_sets(car(7, 20.0, 1.0, 0.0, 1), (1, 10, rectangle(20.0, 1.0, 6.0, 2.0)), after)
    for t, box in ((0.1, [20.0, 6.0]), (0.6, [20.0, 6.0]), (1.0, [20.0, 6.0]), (1.1, [30.0, 9.0]), (2.0, [30.0, 9.0])):
        x, _, _, length, _ = box_at(tmp_path, text, t)
        assert [x, length] == pytest.approx(box), t
    assert box_at(tmp_path, text, 2.1) == []
    assert obstacle_at(tmp_path, text, 1.5)[0]["vx"].tolist() == pytest.approx([10.0 / 0.95])


def test_a_set_that_is_no_box_is_the_box_around_it_and_said_to_be(tmp_path):
    parts = rectangle(20.0, 1.0, 4.0, 2.0) + rectangle(26.0, 2.0, 4.0, 2.0)
    text = with_sets(car(7, 20.0, 1.0, 0.0, 1), (1, 5, parts))
    assert box_at(tmp_path, text, 0.3) == pytest.approx([23.0, 1.5, 0.0, 10.0, 3.0])
    said = "sets of obstacle 7 are no boxes: taken for the smallest boxes around them"
    assert obstacle_at(tmp_path, text, 0.3)[1].lost == (said,)


def test_a_sidewalk_is_no_lane_to_drive_on(tmp_path):
    walk = lanelet(9, 0.0, -20.0, "<laneletType>sidewalk</laneletType>")
    recording = read_recording(scenario(tmp_path, ROADS + walk))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    assert len(road_map.driving_lanes()) == 4
    assert [lane.type for lane in road_map.lanes.values()].count("sidewalk") == 1


def test_what_is_not_kept_is_said(tmp_path):
    yields = (
        "<trafficSign id='70'><trafficSignElement><trafficSignID>205</trafficSignID></trafficSignElement></trafficSign>"
    )
    lane = lanelet(9, 0.0, -20.0, "<trafficSignRef ref='70'/><stopLine/><adjacentLeft ref='1' drivingDir='opposite'/>")
    recording = read_recording(scenario(tmp_path, ROADS + lane + yields + "<trafficLight id='80'/>"))
    said = " | ".join(recording.lost)
    for word in ("traffic signs 70", "traffic lights", "stop lines", "the other way"):
        assert word in said
    assert read_recording(scenario(tmp_path, ROADS)).lost == ()


def test_lines_are_marked_as_the_scenario_marks_them(tmp_path):
    def marked(text: str, kind: str) -> str:
        return text.replace("</leftBound>", f"<lineMarking>{kind}</lineMarking></leftBound>")

    own = marked(lanelet(1, 0.0, 1.75, '<adjacentRight ref="2" drivingDir="same"/>'), "dashed")
    other = marked(lanelet(2, 0.0, -1.75, '<adjacentLeft ref="1" drivingDir="same"/>'), "solid")
    recording = read_recording(scenario(tmp_path, own + other))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    lane = road_map.lanes[road_map.project(10.0, -1.75, 0.0).lane]
    assert [(mark.kind, mark.crossable) for mark in lane.left_marks] == [(MarkKind.SOLID, False)]


def marks_of(tmp_path, kind: str) -> list[tuple[MarkKind, bool]]:
    """Of the line between two lanes: its kind and whether it may be crossed, from the left lane and from the right."""
    left = lanelet(1, 0.0, 1.75, '<adjacentRight ref="2" drivingDir="same"/>')
    left = left.replace("</rightBound>", f"<lineMarking>{kind}</lineMarking></rightBound>")
    right = lanelet(2, 0.0, -1.75, '<adjacentLeft ref="1" drivingDir="same"/>')
    recording = read_recording(scenario(tmp_path, left + right))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    first, second = (road_map.lanes[road_map.project(10.0, y, 0.0).lane] for y in (1.75, -1.75))
    return [(mark.kind, mark.crossable) for mark in (*first.right_marks, *second.left_marks)]


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize(
    ("kind", "from_left", "from_right"),
    [
        ("dashed_dashed", (MarkKind.BROKEN, True), (MarkKind.BROKEN, True)),
        ("solid_dashed", (MarkKind.SOLID_BROKEN, False), (MarkKind.BROKEN_SOLID, True)),
        ("dashed_solid", (MarkKind.BROKEN_SOLID, True), (MarkKind.SOLID_BROKEN, False)),
        ("solid_solid", (MarkKind.SOLID_SOLID, False), (MarkKind.SOLID_SOLID, False)),
        ("no_marking", (MarkKind.VIRTUAL, True), (MarkKind.VIRTUAL, True)),
        ("unknown", (MarkKind.SOLID, False), (MarkKind.SOLID, False)),
    ],
)
def test_a_double_line_is_crossed_from_the_side_of_its_dashes(tmp_path, kind, from_left, from_right):
    assert marks_of(tmp_path, kind) == [from_left, from_right]


def test_speed_limits_of_every_country_that_commonroad_knows_are_kept(tmp_path):
    signs = pytest.importorskip("commonroad.scenario.traffic_sign")
    names = {
        kind.value
        for country in signs.TrafficSignIDCountries.values()
        for kind in country
        if kind.name in ("MAX_SPEED", "MAX_SPEED_ZONE_START")
    }
    assert {"274", "274.1", "3.24", "B14"} <= names
    for name in names:
        said = f"<trafficSignElement><trafficSignID>{name}</trafficSignID><additionalValue>5.5</additionalValue>"
        sign = f"<trafficSign id='90'>{said}</trafficSignElement></trafficSign>"
        recording = read_recording(scenario(tmp_path, lanelet(1, 0.0, 0.0, "<trafficSignRef ref='90'/>") + sign))
        assert (recording.lanelets["1"].limit, recording.lost) == (5.5, ()), name


def bend(number: int, radius: float, width: float) -> str:
    """A quarter of a circle to the left around the origin, its bounds in points that do not lie abreast."""

    def bound(name: str, r: float, count: int) -> str:
        angles = 0.5 * np.pi * np.linspace(0.0, 1.0, count) ** 1.3
        points = "".join(f"<point><x>{r * np.sin(a)}</x><y>{-r * np.cos(a)}</y></point>" for a in angles)
        return f"<{name}>{points}</{name}>"

    inner, outer = bound("leftBound", radius - width, 23), bound("rightBound", radius, 31)
    return f'<lanelet id="{number}">{inner}{outer}</lanelet>'


def test_bounds_stay_within_5_cm_in_a_bend_whose_bounds_have_other_points(tmp_path):
    recording = read_recording(scenario(tmp_path, bend(1, 12.0, 4.0)))
    assert farthest_off(tmp_path, recording)[0] < 0.05


def farthest_off(tmp_path, recording) -> list[float]:
    """How far the bounds of each lanelet are from those of its lane at most, m, but for their last half metres."""
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map = read_map(tmp_path / "map.xodr")
    found = []
    lanes = lane_ids(recording)
    for each in recording.lanelets.values():
        lane = road_map.lanes[lanes[each.id]]
        normal = np.column_stack((-np.sin(lane.center.heading), np.cos(lane.center.heading)))
        sides = (lane.center.xy + lane.left[:, None] * normal, lane.center.xy - lane.right[:, None] * normal)
        for side, line in zip(sides, (each.left, each.right), strict=True):
            whole, away = Polyline.of(line), []
            for x, y in side:
                foot = whole.project(x, y)
                if 0.5 < foot.s < whole.length - 0.5:
                    away.append(abs(foot.offset))
            found.append(max(away, default=0.0))
    return found


def test_a_lane_leads_into_both_lanes_that_it_opens_to(tmp_path):
    opens = lanelet(1, 0.0, 1.75, '<successor ref="2"/><successor ref="3"/>')
    beside = lanelet(2, 40.0, 1.75, '<adjacentRight ref="3" drivingDir="same"/>') + lanelet(3, 40.0, -1.75)
    recording = read_recording(scenario(tmp_path, opens + beside))
    (tmp_path / "map.xodr").write_bytes(to_opendrive("made", recording.lanelets))
    road_map, lanes = read_map(tmp_path / "map.xodr"), lane_ids(recording)
    assert set(road_map.lanes[lanes["1"]].successors) == {lanes["2"], lanes["3"]}


def test_neighbours_that_fork_from_one_place_keep_their_own_bounds(tmp_path):
    aside = lanelet(3, 0.0, 0.0).replace("<x>40.0</x><y>1.75</y>", "<x>40.0</x><y>-4.0</y>")
    aside = aside.replace("<x>40.0</x><y>-1.75</y>", "<x>40.0</x><y>-7.5</y>")
    ahead = lanelet(2, 0.0, 0.0, '<adjacentRight ref="3" drivingDir="same"/>')
    recording = read_recording(scenario(tmp_path, ahead + aside))
    assert max(farthest_off(tmp_path, recording)) < 0.05
    assert "without a common bound" in " ".join(recording.lost)


@pytest.mark.parametrize("place", ["<point><x>500.0</x><y>500.0</y></point>", "<polygon/>", ""])
def test_a_goal_whose_place_is_not_understood_is_refused(place):
    goal = problem(0.0, 0.0, 5.0, f"<position>{place}</position>", (0, 100))
    root = etree.fromstring(f"<commonRoad>\n{goal}</commonRoad>")
    with pytest.raises(ValueError, match="line 2: a goal in no rectangle, circle, polygon or lanelet"):
        read_problems(root, {})
