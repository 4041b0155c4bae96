"""Shapes of lanes: widths, borders, offsets, sections, direction of travel, sampling, speed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from map import xodr
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.opendrive.speed import DEFAULT_LIMIT, NO_LIMIT


def test_right_lanes_run_along_s_and_left_lanes_against_it(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1), xodr.lane(-1), xodr.lane(-2)])]))
    right, outer, left = (road_map.lanes[LaneId("1", 0, n)] for n in (-1, -2, 1))
    assert np.allclose(right.center.xy[[0, -1]], [(0.0, -1.75), (100.0, -1.75)])
    assert np.allclose(left.center.xy[[0, -1]], [(100.0, 1.75), (0.0, 1.75)])
    assert np.allclose(np.cos(left.center.heading), -1.0)
    assert right.right_neighbour == outer.id
    assert outer.left_neighbour == right.id
    assert right.left_neighbour is None
    assert left.left_neighbour is None
    assert road_map.same_direction(right.id) == (right.id, outer.id)


def test_left_hand_traffic_turns_everything_round(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(2), xodr.lane(1), xodr.lane(-1)])], rule="LHT"))
    assert road_map.left_hand
    inner, outer, against = (road_map.lanes[LaneId("1", 0, n)] for n in (1, 2, -1))
    assert np.allclose(inner.center.xy[0], (0.0, 1.75))
    assert np.allclose(against.center.xy[0], (100.0, -1.75))
    assert inner.left_neighbour == outer.id
    assert road_map.same_direction(inner.id) == (outer.id, inner.id)


@pytest.mark.parametrize(
    ("left", "right", "left_hand"), [(100.0, 30.0, True), (30.0, 100.0, False), (50.0, 50.0, False)]
)
def test_a_map_keeps_to_the_side_that_most_of_its_roads_do(
    tmp_path: Path, left: float, right: float, left_hand: bool
) -> None:
    lanes = [xodr.section([xodr.lane(1), xodr.lane(-1)])]
    there = xodr.road(lanes, "2", xodr.geometry(0.0, 0.0, 50.0, 0.0, right), length=right)
    road_map = xodr.read(tmp_path, xodr.road(lanes, length=left, rule="LHT"), there)
    assert road_map.left_hand is left_hand
    assert [len(road_map.warnings), "on a map that is mostly" in road_map.warnings[0]] == [1, True]
    starts = [road_map.lanes[LaneId(road, 0, -1)].center.xy[0][0] for road in ("1", "2")]
    assert starts == pytest.approx([left, 0.0])


def test_a_lane_may_say_that_it_runs_the_other_way(tmp_path: Path) -> None:
    lanes = [xodr.lane(-1), xodr.lane(-2, attributes='direction="reversed"')]
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)]))
    assert np.allclose(road_map.lanes[LaneId("1", 0, -2)].center.xy[0], (100.0, -5.25))
    assert road_map.same_direction(LaneId("1", 0, -1)) == (LaneId("1", 0, -1),)


def test_width_records_and_lane_offset(tmp_path: Path) -> None:
    width = '<width sOffset="0" a="3" b="0" c="0" d="0"/><width sOffset="40" a="3" b="0.1" c="0" d="0"/>'
    offset = '<laneOffset s="0" a="0" b="0.02" c="0" d="0"/>'
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1, width)])], lanes=offset))
    (lane,) = road_map.lanes.values()
    at = np.array([0.0, 30.0, 50.0, 100.0])
    width_at = np.interp(at, lane.road_s, lane.left + lane.right)
    assert np.allclose(width_at, (3.0, 3.0, 4.0, 9.0))
    y = np.interp(at, lane.road_s, lane.center.xy[:, 1])
    assert np.allclose(y, 0.02 * at - 0.5 * width_at, atol=1e-9)
    assert lane.center.heading[10] == pytest.approx(np.arctan(0.02), abs=1e-9)


def test_borders_instead_of_widths(tmp_path: Path) -> None:
    inner = '<border sOffset="0" a="-3" b="0" c="0" d="0"/>'
    outer = '<border sOffset="0" a="-6" b="-0.01" c="0" d="0"/>'
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1, inner), xodr.lane(-2, outer)])]))
    first, second = (road_map.lanes[LaneId("1", 0, n)] for n in (-1, -2))
    assert np.allclose(first.left + first.right, 3.0)
    assert second.left[-1] + second.right[-1] == pytest.approx(4.0)
    assert second.center.xy[-1, 1] == pytest.approx(-5.0)


def test_a_jump_of_the_lane_offset_belongs_to_the_next_section(tmp_path: Path) -> None:
    offset = '<laneOffset s="0" a="0" b="0" c="0" d="0"/><laneOffset s="50" a="3.5" b="0" c="0" d="0"/>'
    first = xodr.section([xodr.lane(-1, links=((), (-2,)))])
    second = xodr.section([xodr.lane(-1), xodr.lane(-2, links=((-1,), ()))], s=50.0)
    road_map = xodr.read(tmp_path, xodr.road([first, second], lanes=offset))
    before, after = road_map.lanes[LaneId("1", 0, -1)], road_map.lanes[LaneId("1", 1, -2)]
    assert np.allclose(before.center.xy[:, 1], -1.75)
    assert np.allclose(after.center.xy[:, 1], -1.75)
    assert before.successors == (after.id,)


@given(st.floats(0.01, 0.25), st.booleans())
@pytest.mark.medium
def test_samples_are_dense_enough_in_bends(tmp_path_factory: pytest.TempPathFactory, bend: float, left: bool) -> None:
    length = min(60.0, 2.0 / bend)
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, length, f'<arc curvature="{bend if left else -bend}"/>')
    lanes = [xodr.lane(1), xodr.lane(-1)]
    road_map = xodr.read(
        tmp_path_factory.mktemp("bend"), xodr.road([xodr.section(lanes)], geometries=plan, length=length)
    )
    for lane in road_map.lanes.values():
        step = np.diff(lane.center.s)
        assert step.max() <= 0.5
        radius = abs((1.0 / bend if left else -1.0 / bend) - (1.75 if lane.id.lane > 0 else -1.75))
        assert np.max(step**2 / (8.0 * radius)) < 0.005
        assert lane.length == pytest.approx(length * bend * radius, rel=1e-3)


def test_elevation_and_heights(tmp_path: Path) -> None:
    profile = '<elevationProfile><elevation s="0" a="5" b="0.1" c="0" d="0"/></elevationProfile>'
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(1)])], inside=profile))
    (lane,) = road_map.lanes.values()
    assert (lane.z[0], lane.z[-1]) == pytest.approx((15.0, 5.0))


@pytest.mark.parametrize(
    ("kind", "own", "expected"),
    [
        ("", "", DEFAULT_LIMIT),
        ('<type s="0" type="town"/>', "", DEFAULT_LIMIT),
        ('<type s="0" type="town"><speed max="25" unit="mph"/></type>', "", 25.0 * 0.44704),
        ('<type s="0" type="town"><speed max="36" unit="km/h"/></type>', "", 10.0),
        ('<type s="0" type="town"><speed max="12"/></type>', "", 12.0),
        ('<type s="0" type="motorway"><speed max="no limit"/></type>', "", NO_LIMIT),
        ('<type s="0" type="town"><speed max="-1" unit="km/h"/></type>', "", DEFAULT_LIMIT),
        ('<type s="0" type="town"><speed max="12"/></type>', '<speed sOffset="0" max="7" unit="m/s"/>', 7.0),
    ],
)
def test_speed_limits(tmp_path: Path, kind: str, own: str, expected: float) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1, inside=own)])], kind=kind))
    (lane,) = road_map.lanes.values()
    assert lane.limit == pytest.approx(expected)


def test_ramps_are_driving_lanes_and_others_keep_their_type(tmp_path: Path) -> None:
    lanes = [xodr.lane(-1, kind="onRamp"), xodr.lane(-2, kind="parking"), xodr.lane(-3, kind="sidewalk")]
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)]))
    assert [lane.type for lane in road_map.lanes.values()] == ["driving", "parking", "sidewalk"]
    assert road_map.driving_lanes() == (LaneId("1", 0, -1),)


@pytest.mark.parametrize(
    ("lane", "told"),
    [
        (xodr.lane(-2, attributes='direction="both"'), True),
        (xodr.lane(-2, kind="bidirectional"), True),
        (xodr.lane(-2, attributes='direction="reversed"'), False),
        (xodr.lane(-2, kind="sidewalk", attributes='direction="both"'), False),
    ],
)
def test_a_lane_that_is_driven_both_ways_is_told_of(tmp_path: Path, lane: str, told: bool) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1), lane])]))
    assert [warning.partition(">: ")[2] for warning in road_map.warnings] == [
        "lanes that are driven both ways: 1 (lane -2 of road 1); read as one-way"
    ] * told
