"""Lane lines beside a route, and what the route meets ahead."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from map import towns, xodr
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import LaneEnd, LaneLine
from tuling_fsm.map.ahead import crosswalks_ahead, junctions_ahead, stop_lines_ahead
from tuling_fsm.map.corridor import lane_lines
from tuling_fsm.map.lane_graph import MIN_WIDTH_M
from tuling_fsm.map.road_map import BESIDE_M, RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route


def route_of(road_map: RoadMap, start: Pose, goal: Pose) -> Route:
    route = plan_route(road_map, start, goal).route
    assert route is not None
    return route


def check(line: LaneLine) -> None:
    rows = len(line.center.s)
    for column in (line.left, line.right, line.left_free, line.right_free, line.limit, line.left_road, line.right_road):
        assert column.shape == (rows,)
    assert line.center.s[0] == 0.0
    assert np.diff(line.center.s).max() <= 1.0
    assert np.all(np.diff(line.center.s) > 0.0)
    assert np.abs(np.diff(line.center.heading)).max() < 0.2
    assert np.all(line.left_free >= line.left - 1e-9)
    assert np.all(line.right_free >= line.right - 1e-9)


def test_every_lane_of_the_carriageway_from_behind_to_the_horizon(tmp_path: Path) -> None:
    road_map = towns.straight(tmp_path, lanes=3, length=400.0)
    route = route_of(road_map, Pose(20.0, -5.25, 0.0), Pose(350.0, -5.25, 0.0))
    lines = lane_lines(road_map, route, 100.0)
    assert [line.shift for line in lines] == [1, 0, -1]
    for line, y in zip(lines, (-1.75, -5.25, -8.75), strict=True):
        check(line)
        assert np.allclose(line.center.xy[:, 1], y)
        assert line.center.xy[0, 0] == pytest.approx(110.0, abs=0.6)
        assert line.center.xy[-1, 0] == pytest.approx(200.0, abs=0.6)
        assert line.route_s0 == pytest.approx(90.0, abs=0.6)
        assert line.end is LaneEnd.HORIZON
        assert np.allclose(line.left_free, -y)
        assert np.allclose(line.right_free, 10.5 + y)


def test_the_road_goes_on_beside_a_lane_until_its_surface_ends_whatever_direction_that_is_of(tmp_path: Path) -> None:
    lanes = [xodr.lane(1), xodr.lane(-1, mark="solid"), xodr.lane(-2, kind="sidewalk", width=2.0)]
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, 100.0)
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)], geometries=plan, length=100.0))
    route = route_of(road_map, Pose(20.0, -1.75, 0.0), Pose(80.0, -1.75, 0.0))
    for line in lane_lines(road_map, route, 30.0):
        assert np.allclose(line.left_free, 1.75)
        assert np.allclose(line.left_road, 1.75 + BESIDE_M, atol=0.01)
        assert np.allclose(line.right_road, 1.75, atol=0.01)


def test_lines_begin_before_the_route_and_end_with_it(tmp_path: Path) -> None:
    road_map = towns.straight(tmp_path, lanes=2)
    route = route_of(road_map, Pose(20.0, -1.75, 0.0), Pose(120.0, -1.75, 0.0))
    first = lane_lines(road_map, route, 0.0)[0]
    assert first.route_s0 == pytest.approx(-10.0, abs=0.6)
    for line in lane_lines(road_map, route, 60.0):
        assert line.end is LaneEnd.ROUTE_END
        assert line.center.xy[-1, 0] == pytest.approx(120.0, abs=0.01)


def test_a_lane_that_closes_ends(tmp_path: Path) -> None:
    """Three lanes become two after 100 m, the route runs in the middle one."""
    first = xodr.section([xodr.lane(-n, mark="broken", links=((), (-n,) if n < 3 else ())) for n in (1, 2, 3)])
    second = xodr.section([xodr.lane(-n, mark="broken") for n in (1, 2)], s=100.0)
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, 300.0)
    road_map = xodr.read(tmp_path, xodr.road([first, second], geometries=plan, length=300.0))
    route = route_of(road_map, Pose(10.0, -5.25, 0.0), Pose(290.0, -5.25, 0.0))
    left, own, right = lane_lines(road_map, route, 40.0)
    assert (left.end, own.end, right.end) == (LaneEnd.HORIZON, LaneEnd.HORIZON, LaneEnd.LANE_END)
    assert right.center.xy[-1, 0] == pytest.approx(100.0, abs=0.1)
    assert own.center.xy[-1, 0] == pytest.approx(130.0, abs=0.6)
    assert len(lane_lines(road_map, route, 120.0)) == 2


def test_a_lane_beside_is_no_line_where_it_is_too_narrow_to_be_driven(tmp_path: Path) -> None:
    """It closes from 60 to 90 m and opens again from 130 to 160 m."""
    slope = 3.5 / 30.0
    records = ((0.0, 3.5, 0.0), (60.0, 3.5, -slope), (90.0, 0.0, 0.0), (130.0, 0.0, slope), (160.0, 3.5, 0.0))
    widths = "".join(f'<width sOffset="{s}" a="{a}" b="{b}" c="0" d="0"/>' for s, a, b in records)
    lanes = [xodr.lane(-1, mark="broken"), xodr.lane(-2, width=widths)]
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, 300.0)
    road_map = xodr.read(tmp_path, xodr.road([xodr.section(lanes)], geometries=plan, length=300.0))
    route = route_of(road_map, Pose(10.0, -1.75, 0.0), Pose(290.0, -1.75, 0.0))
    narrow = 30.0 * (1.0 - MIN_WIDTH_M / 3.5)
    own, beside = lane_lines(road_map, route, 20.0)
    check(beside)
    assert (own.end, beside.end) == (LaneEnd.HORIZON, LaneEnd.LANE_END)
    assert beside.center.xy[-1, 0] == pytest.approx(60.0 + narrow, abs=0.6)
    own, beside = lane_lines(road_map, route, 100.0)
    assert beside.end is LaneEnd.HORIZON
    assert beside.center.xy[0, 0] == pytest.approx(160.0 - narrow, abs=0.6)
    assert beside.route_s0 == pytest.approx(150.0 - narrow, abs=0.6)
    assert len(lane_lines(road_map, route, 65.0, ahead=50.0)) == 1


def test_through_a_crossing_the_line_follows_the_route(tmp_path: Path) -> None:
    road_map = towns.crossing(tmp_path)
    route = route_of(road_map, Pose(60.0, 1.75, math.pi), Pose(1.75, 60.0, math.pi / 2))
    for s in np.arange(0.0, route.length, 3.0):
        (line,) = lane_lines(road_map, route, float(s))
        check(line)
        assert line.shift == 0
        hit = line.center.project(*route.reference.at(float(s))[:2])
        assert abs(hit.offset) < 0.02
        assert line.route_s0 + hit.s == pytest.approx(s, abs=0.1)
        assert np.allclose(line.left_free, 1.75)
        assert np.allclose(line.right_free, 1.75)


def test_while_changing_lanes_the_shift_counts_from_the_lane_at_the_car(tmp_path: Path) -> None:
    road_map = towns.straight(tmp_path, lanes=2)
    route = route_of(road_map, Pose(20.0, -1.75, 0.0), Pose(350.0, -5.25, 0.0))
    change = route.lanes[0].s_to
    before, after = (lane_lines(road_map, route, s) for s in (change - 5.0, change + 5.0))
    assert [line.shift for line in before] == [0, -1]
    assert [line.shift for line in after] == [1, 0]
    for line in (*before, *after):
        assert np.allclose(np.unique(np.round(line.center.xy[:, 1], 6)), line.center.xy[0, 1])


def test_what_the_route_meets(tmp_path: Path) -> None:
    light = '<signals><signal id="7" s="1" t="4" orientation="-" dynamic="yes" type="1000001" subtype="-1"/></signals>'
    walk = '<objects><object id="1" type="crosswalk" s="20" t="0" hdg="0" length="4" width="8"/></objects>'
    road_map = towns.crossing(tmp_path, {1: light, 3: walk})
    route = route_of(road_map, Pose(60.0, 1.75, math.pi), Pose(-60.0, 1.75, math.pi))
    (stop,) = stop_lines_ahead(road_map, route, 0.0)
    assert stop.s == pytest.approx(47.0, abs=0.01)
    assert stop.line.signal == 7
    (junction,) = junctions_ahead(road_map, route, 0.0)
    assert (junction.s_from, junction.s_to) == pytest.approx((48.0, 72.0), abs=0.01)
    assert (junction.first, junction.last, junction.junction.id) == (1, 1, "9")
    (crosswalk,) = crosswalks_ahead(road_map, route, 20.0)
    assert (crosswalk.s_from, crosswalk.s_to) == pytest.approx((90.0, 94.0), abs=0.5)
    assert stop_lines_ahead(road_map, route, 50.0) == ()
    assert stop_lines_ahead(road_map, route, 0.0, ahead=40.0) == ()
    assert crosswalks_ahead(road_map, route, 0.0, ahead=80.0) == ()
    assert len(junctions_ahead(road_map, route, 60.0)) == 1
    assert junctions_ahead(road_map, route, 75.0) == ()


def test_kinks_are_drawn_as_bends_that_a_car_can_follow(tmp_path: Path) -> None:
    """Two straight lines that meet at 25 degrees."""
    turn = math.radians(25.0)
    plan = xodr.geometry(0.0, 0.0, 0.0, 0.0, 50.0) + xodr.geometry(50.0, 50.0, 0.0, turn, 50.0)
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1)])], geometries=plan))
    lane = next(iter(road_map.lanes.values()))
    route = route_of(road_map, lane.center.at(5.0), lane.center.at(lane.length - 5.0))
    (line,) = lane_lines(road_map, route, 40.0)
    for curve in (route.reference, line.center):
        assert np.abs(np.diff(curve.heading) / np.diff(curve.s)).max() < 0.3
    assert np.abs(line.left - line.right).max() < 2.0 * 0.6
