"""The course of the 90-minute match: the town with all its numbers, and the country; a sound map of 11 to 14 km."""

import json
import math
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from lxml import etree

from course.other_reader import same_lanes
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import LaneId, MarkKind
from tuling_fsm.map.query import at
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route
from tuling_fsm.share import share_file

FILE = share_file("config", "course", "match.xodr")
BENT = ("4", "16")
"""Of the town's roads only the east bend is another: the gate lies in it."""
COUNTRY = ("17", "18", "19", "20", "21", "22", "23", "24", "25")


@pytest.mark.medium
def test_the_file_is_what_the_script_writes(tmp_path):
    target = tmp_path / "match.xodr"
    script = FILE.with_name("make_match.py")
    subprocess.run([sys.executable, "-B", str(script), str(target)], check=True, capture_output=True)
    assert target.read_bytes() == FILE.read_bytes()


def test_it_is_as_long_as_the_course_of_the_match():
    roads = list(etree.parse(FILE).getroot().iter("road"))
    assert 11_000.0 < sum(float(road.get("length")) for road in roads) < 14_000.0
    assert sum(float(road.get("length")) for road in roads if road.get("junction") == "-1") > 9_500.0


@pytest.mark.medium
def test_the_reader_has_nothing_to_complain_about(whole_course: RoadMap):
    assert whole_course.warnings == ()


def test_the_town_is_as_on_the_map_of_the_town(course: RoadMap, whole_course: RoadMap):
    for name, lane in course.lanes.items():
        if name.road not in BENT:
            again = whole_course.lanes[name]
            assert np.allclose(lane.center.xy, again.center.xy, atol=1e-9)
            assert (lane.left_marks, lane.right_marks) == (again.left_marks, again.right_marks)
    spaces = {slot.id: slot.pose for slot in whole_course.slots}
    assert {slot.id: slot.pose for slot in course.slots}.items() <= spaces.items()


def test_lanes_meet_without_gap_or_kink(whole_course: RoadMap):
    for lane_id in whole_course.driving_lanes():
        lane = whole_course.lanes[lane_id]
        for successor in lane.successors:
            after = whole_course.lanes[successor]
            end, begin = lane.center.at(lane.length), after.center.at(0.0)
            assert math.dist(end[:2], begin[:2]) < 0.02, (lane_id, successor)
            assert math.cos(end.heading - begin.heading) > 0.999, (lane_id, successor)
            assert lane.z[-1] == pytest.approx(after.z[0], abs=0.01), (lane_id, successor)


def test_nothing_in_the_country_begins_or_ends_blind_and_every_bend_can_be_driven(whole_course: RoadMap):
    for lane_id in whole_course.driving_lanes():
        lane = whole_course.lanes[lane_id]
        if lane_id.road in (*BENT, *COUNTRY):
            assert lane.successors and lane.predecessors, lane_id
            assert float(np.abs(lane.center.curvature()).max()) < 1.0 / 8.0
            assert float(np.abs(np.diff(lane.z) / np.diff(lane.center.s)).max()) < 0.06


def test_there_is_a_way_from_everywhere_to_everywhere(whole_course: RoadMap):
    rng = random.Random(1)
    lanes = [lane for name, lane in whole_course.lanes.items() if name.road in COUNTRY and lane.type == "driving"]
    town = whole_course.lanes[LaneId("6", 0, -1)].center
    for lane in rng.sample(lanes, 8):
        assert plan_route(whole_course, town.at(10.0), lane.center.at(lane.length / 2.0)).status == "ok"
        assert plan_route(whole_course, lane.center.at(lane.length / 2.0), town.at(10.0)).status == "ok"


def test_junctions_lights_and_signs_are_where_they_belong(whole_course: RoadMap):
    junctions = whole_course.junctions
    assert [name for name, junction in junctions.items() if junction.has_lights] == ["101", "107"]
    lanes = {name: len(junction.lanes) for name, junction in junctions.items() if int(name) > 105}
    assert lanes == {"106": 6, "107": 12, "108": 6, "109": 6, "110": 6}
    kinds = Counter(line.kind for line in whole_course.stop_lines)
    assert kinds == {"light": 10, "yield": 7, "stop": 2}
    assert whole_course.controllers == {"1": (1, 2), "2": (3, 4), "3": (11, 12), "4": (13, 14)}


def test_the_match_has_six_stop_points_with_bays(whole_course: RoadMap):
    mission = json.loads(share_file("config", "scenarios", "full_match.json").read_text(encoding="utf-8"))
    points = [task[name] for task in mission["tasks"] for name in ("pickup", "dropoff")]
    target_slots = {slot.pose[:2]: slot.road for slot in whole_course.slots}
    near = {
        min(
            target_slots,
            key=lambda place, point=point: math.dist(place, (point["slots"][0]["x"], point["slots"][0]["y"])),
        )
        for point in points
    }
    assert {target_slots[place] for place in near} == {"6", "9", "15", "17", "23", "25"}
    assert len(mission["tasks"]) == 6
    assert mission["match_time_s"] == 5400


def test_the_centre_line_may_be_crossed_beside_the_bus_stop_and_not_at_the_parade(whole_course: RoadMap):
    def left_of(lane: LaneId, s: float) -> MarkKind:
        return next(mark.kind for mark in whole_course.lanes[lane].left_marks if mark.s_from <= s <= mark.s_to)

    stop = at(whole_course, 878.0, 78.25)
    assert left_of(LaneId("17", 2, -1), stop["s"] - 196.0) is MarkKind.BROKEN
    parade = whole_course.positions(1440.0, -698.25)[0]
    assert left_of(parade.lane, parade.s) is MarkKind.SOLID
    (pavement,) = [
        whole_course.lanes[place.lane] for place in whole_course.positions(1440.0, -694.5, types=("sidewalk",))
    ]
    assert float(np.min(pavement.left + pavement.right)) == pytest.approx(4.0, abs=0.01)


def test_a_closed_street_can_be_driven_round(whole_course: RoadMap):
    """Both closures of the match leave another way."""
    north = plan_route(whole_course, Pose(1000.0, 78.25, 0.0), Pose(1158.25 + 3.5, 700.0, math.pi / 2.0))
    assert north.route is not None
    closed = tuple(stretch.lane for stretch in north.route.lanes if stretch.lane.road == "18")
    assert closed
    around = plan_route(whole_course, Pose(1000.0, 78.25, 0.0), Pose(1161.75, 700.0, math.pi / 2.0), blocked=closed)
    assert around.route is not None
    assert {"20", "21"} <= {stretch.lane.road for stretch in around.route.lanes}


def test_another_reader_sees_the_same_lanes(whole_course: RoadMap):
    assert same_lanes(whole_course, FILE, 10.0) > 1000
