"""The embedded course: the file is what its script writes, and it is a sound map with everything on it."""

import math
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lxml import etree

from course.other_reader import same_lanes
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import Lane, LaneId, MarkKind
from tuling_fsm.map.parking import parking_areas
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route

COURSE = Path(__file__).resolve().parents[2] / "config" / "course"
TAPER_ENDS = {LaneId("1", 0, 2), LaneId("3", 1, -2)}
TAPER_BEGINS = {LaneId("1", 0, -2), LaneId("3", 1, 2)}
AISLES, STEM = ("12", "13"), "11"
"""Roads of the garage that end blind, and the one that leads to them."""
BLIND_ENDS = {LaneId("12", 2, -1), LaneId("13", 2, -1)}
BLIND_BEGINS = {LaneId("12", 2, 1), LaneId("13", 2, 1)}


def driving(course: RoadMap) -> list[Lane]:
    return [course.lanes[lane_id] for lane_id in course.driving_lanes()]


@pytest.mark.medium
def test_the_file_is_what_the_script_writes(tmp_path: Path) -> None:
    target = tmp_path / "course.xodr"
    subprocess.run([sys.executable, "-B", str(COURSE / "make_course.py"), str(target)], check=True, capture_output=True)
    assert target.read_bytes() == (COURSE / "course.xodr").read_bytes()


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["course", "match"])
@pytest.mark.medium
def test_the_file_does_not_hang_on_the_last_bit_of_a_sine(name: str, seed: int, tmp_path: Path) -> None:
    target, script = tmp_path / "nudged.xodr", COURSE / f"make_{name}.py"
    nudged = [sys.executable, "-B", "-m", "course.nudged", str(seed), str(script), str(target)]
    subprocess.run(nudged, check=True, capture_output=True, cwd=Path(__file__).parents[1])
    assert target.read_bytes() == (COURSE / f"{name}.xodr").read_bytes()


def test_an_angle_at_the_seam_has_one_sign(course: RoadMap) -> None:
    for name in ("course", "match"):
        for element in etree.parse(COURSE / f"{name}.xodr").getroot().iter():
            if "hdg" in element.attrib:
                assert -3.14159265 < float(element.get("hdg")) <= 3.14159265


def test_the_reader_has_nothing_to_complain_about(course: RoadMap) -> None:
    assert course.warnings == ()


def test_lanes_meet_without_gap_or_kink(course: RoadMap) -> None:
    for lane in driving(course):
        for successor in lane.successors:
            after = course.lanes[successor]
            end, begin = lane.center.at(lane.length), after.center.at(0.0)
            assert math.hypot(end.x - begin.x, end.y - begin.y) < 0.02, (lane.id, successor)
            assert math.cos(end.heading - begin.heading) > 0.999, (lane.id, successor)
            assert lane.z[-1] == pytest.approx(after.z[0], abs=0.01), (lane.id, successor)
            assert lane.id in after.predecessors


def test_only_tapers_and_blind_aisles_begin_or_end_a_lane(course: RoadMap) -> None:
    assert {lane.id for lane in driving(course) if not lane.successors} == TAPER_ENDS | BLIND_ENDS
    assert {lane.id for lane in driving(course) if not lane.predecessors} == TAPER_BEGINS | BLIND_BEGINS


def test_every_bend_can_be_driven(course: RoadMap) -> None:
    sharpest = max(float(np.abs(lane.center.curvature()).max()) for lane in driving(course))
    assert 5.0 < 1.0 / sharpest < 15.0
    steepest = max(float(np.abs(np.diff(lane.z) / np.diff(lane.center.s)).max()) for lane in driving(course))
    assert 0.01 < steepest < 0.06


def test_there_is_a_way_from_everywhere_to_everywhere(course: RoadMap) -> None:
    rng = random.Random(1)
    open_lanes = [lane for lane in driving(course) if lane.junction is None and lane.id.road not in (STEM, *AISLES)]
    lanes = [lane for lane in open_lanes if lane.id not in TAPER_ENDS | TAPER_BEGINS]
    for _ in range(25):
        source, target = rng.choice(lanes), rng.choice(lanes)
        found = plan_route(course, source.center.at(source.length / 3.0), target.center.at(target.length / 2.0))
        assert found.status == "ok", (source.id, target.id)


def test_once_round_is_a_good_kilometre(course: RoadMap) -> None:
    start = Pose(60.0, -1.75, 0.0)
    stops = [Pose(460.0 + 1.75, 80.0, math.pi / 2.0), Pose(60.0, 161.75, math.pi)]
    found = plan_route(course, start, Pose(50.0, -1.75, 0.0), via=stops)
    assert found.route is not None
    assert 1000.0 < found.route.length < 1500.0


def test_the_avenue_has_its_lines(course: RoadMap) -> None:
    def marks(lane: LaneId, s: float) -> tuple[MarkKind, MarkKind]:
        left, right = (
            next(mark for mark in side if mark.s_from <= s <= mark.s_to)
            for side in (course.lanes[lane].left_marks, course.lanes[lane].right_marks)
        )
        return left.kind, right.kind

    assert marks(LaneId("1", 1, -1), 60.0) == (MarkKind.SOLID_SOLID, MarkKind.BROKEN)
    assert marks(LaneId("1", 1, -2), 60.0) == (MarkKind.BROKEN, MarkKind.SOLID)
    assert marks(LaneId("1", 2, -1), 10.0) == (MarkKind.SOLID_SOLID, MarkKind.SOLID)
    kinds = {mark.kind for lane in driving(course) for mark in lane.left_marks}
    assert {MarkKind.SOLID, MarkKind.BROKEN, MarkKind.SOLID_SOLID} <= kinds
    assert kinds & {MarkKind.SOLID_BROKEN, MarkKind.BROKEN_SOLID}


def test_junctions_lights_and_signs_are_where_they_belong(course: RoadMap) -> None:
    assert [name for name, junction in course.junctions.items() if junction.has_lights] == ["101"]
    lanes = {name: len(junction.lanes) for name, junction in course.junctions.items()}
    assert lanes == {"101": 14, "102": 14, "103": 12, "104": 6, "105": 6}
    assert all(course.junctions[name].conflicts for name in course.junctions)
    lines = Counter((line.kind, line.lane.road) for line in course.stop_lines)
    assert lines == {
        ("light", "1"): 2, ("light", "2"): 2, ("light", "7"): 1, ("light", "8"): 1, ("stop", "8"): 1, ("yield", "7"): 1,
        ("stop", "11"): 1, ("yield", "9"): 2,
    }  # fmt: skip
    assert course.controllers == {"1": (1, 2), "2": (3, 4)}


def test_bays_slots_and_crosswalks_are_there(course: RoadMap) -> None:
    roads = Counter(slot.road for slot in course.slots)
    assert roads == {"6": 8, "8": 28, "9": 3, "11": 10, "12": 24, "13": 24, "15": 4}
    assert [sorted({(lane.road, lane.lane) for lane, _, _ in walk.lanes}) for walk in course.crosswalks] == [
        [("6", -1), ("6", 1)], [("15", -1), ("15", 1)],
    ]  # fmt: skip
    for slot in course.slots:
        assert course.positions(slot.pose.x, slot.pose.y, types=("parking",)), slot.id
    assert {lane.type for lane in course.lanes.values()} == {"driving", "parking", "shoulder", "sidewalk"}


def test_the_garage_has_one_way_in_and_one_out_and_aisles_that_end_blind(course: RoadMap) -> None:
    avenue = Pose(250.0, -5.25, 0.0)
    for road in AISLES:
        into, out = (next(lane for lane in driving(course) if lane.id == LaneId(road, 1, side)) for side in (-1, 1))
        found = plan_route(course, avenue, into.center.at(10.0))
        assert found.route is not None
        assert STEM in {stretch.lane.road for stretch in found.route.lanes}
        assert plan_route(course, into.center.at(10.0), avenue).status == "no_path"
        assert plan_route(course, out.center.at(10.0), avenue).status == "ok"
    garage = [area for area in parking_areas(course) if any(slot.road in AISLES for slot in area.slots)]
    assert [len(area.slots) for area in garage] == [58]
    assert len({aisle.lane.road for aisle in garage[0].aisles} & {STEM, *AISLES}) == 3
    stems = {lane.id.road for lane in driving(course) for n in lane.successors if course.lanes[n].junction == "105"}
    assert stems == {STEM, *AISLES}


def test_the_verge_is_beside_a_line_that_is_broken_and_then_solid(course: RoadMap) -> None:
    (verge,) = [lane for lane in course.lanes.values() if lane.type == "shoulder"]
    assert float(np.min(verge.left + verge.right)) == pytest.approx(6.0, abs=0.01)
    lane = course.lanes[LaneId("14", 1, -1)]
    assert [mark.kind for mark in lane.right_marks] == [MarkKind.BROKEN, MarkKind.SOLID]
    one_sided = course.lanes[LaneId("14", 0, -1)].left_marks[0]
    other_side = course.lanes[LaneId("14", 0, 1)].left_marks[-1]
    assert {one_sided.kind, other_side.kind} == {MarkKind.BROKEN_SOLID, MarkKind.SOLID_BROKEN}
    assert not one_sided.crossable and other_side.crossable


def test_the_tunnel_is_in_the_file() -> None:
    root = etree.parse(COURSE / "course.xodr").getroot()
    (tunnel,) = root.iter("tunnel")
    road = tunnel.getparent().getparent()
    assert (road.get("name"), float(tunnel.get("length"))) == ("tunnel road", 80.0)
    assert float(tunnel.get("s")) + 80.0 < float(road.get("length"))


def test_another_reader_sees_the_same_lanes(course: RoadMap) -> None:
    assert same_lanes(course, COURSE / "course.xodr", 5.0) > 500


def test_bays_beside_the_road_are_closed_at_their_ends(course: RoadMap) -> None:
    """The three bays of the hill road lie in a pocket from (183.5, 200) to (186, 221)."""
    edges = course.boundary_segments(184.75, 210.5, 15.0)
    across = edges[np.abs(edges[:, 1] - edges[:, 3]) < 0.01]
    inside = across[(across[:, [0, 2]].min(axis=1) > 183.4) & (across[:, [0, 2]].max(axis=1) < 186.1)]
    assert sorted(inside[:, 1]) == pytest.approx([200.0, 221.0], abs=0.05)
    assert np.abs(inside[:, 2] - inside[:, 0]).min() > 2.2
