"""From a point to its lane and back."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from map import xodr
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap


@pytest.fixture(scope="module")
def bend(tmp_path_factory: pytest.TempPathFactory) -> RoadMap:
    """Two lanes each way over a line, a spiral and an arc."""
    plan = (
        xodr.geometry(0.0, 3.0, -4.0, 0.3, 30.0)
        + xodr.geometry(
            30.0, 3.0 + 30.0 * math.cos(0.3), -4.0 + 30.0 * math.sin(0.3), 0.3, 30.0,
            '<spiral curvStart="0" curvEnd="0.05"/>',
        )
    )  # fmt: skip
    lanes = [xodr.lane(2), xodr.lane(1), xodr.lane(-1), xodr.lane(-2)]
    return xodr.read(tmp_path_factory.mktemp("bend"), xodr.road([xodr.section(lanes)], geometries=plan, length=60.0))


@given(st.sampled_from([2, 1, -1, -2]), st.floats(0.01, 0.99), st.floats(-1.6, 1.6))
def test_a_point_on_a_lane_is_found_there(bend: RoadMap, number: int, share: float, offset: float) -> None:
    lane = bend.lanes[LaneId("1", 0, number)]
    pose = lane.center.at(share * lane.length)
    x, y = pose.x - offset * math.sin(pose.heading), pose.y + offset * math.cos(pose.heading)
    found = bend.project(x, y)
    assert found is not None
    assert found.lane == lane.id
    assert found.s == pytest.approx(share * lane.length, abs=0.03)
    assert found.offset == pytest.approx(offset, abs=0.01)
    assert math.cos(found.heading - pose.heading) > math.cos(0.01)
    assert found.width == pytest.approx(3.5)


@given(st.floats(-20.0, 20.0), st.floats(-20.0, 80.0))
def test_positions_agree_with_a_search_over_everything(bend: RoadMap, x: float, y: float) -> None:
    expected = set()
    for lane in bend.lanes.values():
        hit = lane.center.project(x, y)
        end = lane.center.at(hit.s)
        beyond = abs((x - end.x) * math.cos(end.heading) + (y - end.y) * math.sin(end.heading))
        if abs(hit.offset) < 1.75 and beyond < 0.02:
            expected.add(lane.id)
    assert expected <= {position.lane for position in bend.positions(x, y)}


def test_off_the_road_there_is_nothing_but_within_a_radius(bend: RoadMap) -> None:
    pose = bend.lanes[LaneId("1", 0, -2)].center.at(10.0)
    x, y = pose.x + 5.0 * math.sin(pose.heading), pose.y - 5.0 * math.cos(pose.heading)
    assert bend.project(x, y) is None
    assert bend.positions(x, y) == []
    near = bend.project(x, y, radius=4.0)
    assert near is not None
    assert near.lane == LaneId("1", 0, -2)
    assert near.offset == pytest.approx(-5.0, abs=0.01)
    assert bend.project(math.nan, 0.0) is None
    assert bend.project(1e9, -1e9, radius=50.0) is None


def test_before_the_first_and_after_the_last_sample_a_lane_is_over(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1)])]))
    assert road_map.project(-0.2, -1.75) is None
    assert road_map.project(100.2, -1.75) is None
    assert road_map.project(0.01, -1.75) is not None


def test_heading_and_height_tell_crossing_roads_apart(tmp_path: Path) -> None:
    """A bridge over a road at a right angle."""
    up = '<elevationProfile><elevation s="0" a="6" b="0" c="0" d="0"/></elevationProfile>'
    low = xodr.road([xodr.section([xodr.lane(-1)])])
    high = xodr.road(
        [xodr.section([xodr.lane(-1)])], number="2",
        geometries=xodr.geometry(0.0, 50.0, -50.0, math.pi / 2, 100.0), inside=up,
    )  # fmt: skip
    road_map = xodr.read(tmp_path, low, high)
    x, y = 51.75, -1.75
    assert {position.lane.road for position in road_map.positions(x, y)} == {"1", "2"}
    for z, heading, expected in ((0.3, None, "1"), (6.2, None, "2"), (None, 0.1, "1"), (None, 1.5, "2")):
        found = road_map.project(x, y, heading=heading, z=z)
        assert found is not None
        assert found.lane.road == expected


def test_other_types_are_found_only_when_asked_for(tmp_path: Path) -> None:
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1), xodr.lane(-2, kind="parking")])]))
    assert road_map.project(50.0, -5.0) is None
    found = road_map.project(50.0, -5.0, types=("parking", "shoulder"))
    assert found is not None
    assert found.lane == LaneId("1", 0, -2)


def test_bounds_hold_all_surfaces(bend: RoadMap) -> None:
    x0, y0, x1, y1 = bend.bounds
    for lane in bend.lanes.values():
        assert np.all(lane.center.xy >= (x0, y0))
        assert np.all(lane.center.xy <= (x1, y1))
