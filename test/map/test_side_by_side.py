"""Which ways through a junction are side by side, and the lane lines that they give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from map.ways import BEGIN_M, END_M, LANE_M, middle, route_in, way, ways
from tuling_fsm.core.request import LaneEnd
from tuling_fsm.map.ahead import junctions_ahead, stop_lines_ahead
from tuling_fsm.map.corridor import lane_lines, way_beside
from tuling_fsm.map.cross_section import across_road
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.reference import route_through
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.side_by_side import lanes_abreast


def connecting(road: str) -> LaneId:
    return LaneId(road, 0, -1)


def test_on_the_course_both_lanes_that_lead_straight_on_are_side_by_side(course: RoadMap) -> None:
    """From left to right, in either direction; ways that turn off from the same lanes are not."""
    for roads in (("10101", "10102"), ("10105", "10106"), ("10201", "10202"), ("10203", "10204")):
        for road in roads:
            assert lanes_abreast(course, connecting(road)) == tuple(connecting(each) for each in roads)
    for road in ("10103", "10104", "10109", "10301", "10401"):
        assert lanes_abreast(course, connecting(road)) == (connecting(road),)
    approach = LaneId("1", 2, -1)
    assert lanes_abreast(course, approach) == course.same_direction(approach)


@pytest.mark.parametrize(
    ("through", "lanes", "beside"),
    [
        ([(1, 1), (2, 2)], (2, 2), [(1, 1), (2, 2)]),
        ([(1, 1), (2, 2), (3, 3)], (3, 3), [(1, 1), (2, 2), (3, 3)]),
        ([(2, 1), (3, 2)], (3, 2), [(2, 1), (3, 2)]),
        ([(1, 1), (2, 2), (2, 3)], (2, 3), [(1, 1), (2, 2)]),
        ([(1, 1), (3, 2)], (3, 2), [(1, 1)]),
        ([(1, 1), (2, 1)], (2, 1), [(1, 1)]),
        ([(1, 1), (1, 2)], (1, 2), [(1, 1)]),
        ([(1, 2), (2, 1)], (2, 2), [(1, 2)]),
        ([(1, 1)], (2, 2), [(1, 1)]),
    ],
    ids=["two", "three", "shifted", "nearest", "lane between", "merge", "split", "crossing", "alone"],
)
def test_side_by_side_are_ways_between_the_same_roads_in_the_same_order(
    tmp_path: Path, through: list[tuple[int, int]], lanes: tuple[int, int], beside: list[tuple[int, int]]
) -> None:
    road_map = ways(tmp_path, *through, lanes=lanes)
    for each in beside:
        assert lanes_abreast(road_map, way(*each)) == tuple(way(*other) for other in beside)


@pytest.mark.parametrize(("aside", "together"), [(2.5, True), (3.5, False)])
def test_a_slip_lane_behind_an_island_is_not_side_by_side(tmp_path: Path, aside: float, together: bool) -> None:
    """3 m apart."""
    road_map = ways(tmp_path, (1, 1), (2, 2), aside={(2, 2): aside})
    assert (len(lanes_abreast(road_map, way(1, 1))) == 2) is together
    assert (len(lanes_abreast(road_map, way(2, 2))) == 2) is together


@pytest.mark.clause("NOR-3", "NOR-6")
@pytest.mark.parametrize("own", [1, 2])
def test_a_lane_that_leads_through_a_junction_beside_the_route_goes_on(tmp_path: Path, own: int) -> None:
    road_map = ways(tmp_path, (1, 1), (2, 2))
    route = route_in(road_map, own, own)
    for x in np.arange(40.0, 150.0, 7.0):
        lines = lane_lines(road_map, route, x - 10.0)
        assert [line.shift for line in lines] == [own - 1, own - 2]
        for lane, line in enumerate(lines, start=1):
            assert line.end in (LaneEnd.HORIZON, LaneEnd.ROUTE_END)
            assert np.allclose(line.center.xy[:, 1], middle(lane), atol=0.01)
            assert np.allclose(line.route_s0 + line.center.s + 10.0, line.center.xy[:, 0], atol=0.1)
            inside = (line.center.xy[:, 0] > BEGIN_M + 1.0) & (line.center.xy[:, 0] < END_M - 1.0)
            assert np.allclose(line.left_free[inside], 0.5 * LANE_M), "no change of lanes within the junction"
            assert np.allclose(line.right_free[inside], 0.5 * LANE_M)


@pytest.mark.parametrize(
    ("through", "lanes"),
    [([(1, 1)], (2, 2)), ([(1, 1), (2, 1)], (2, 1)), ([(1, 2), (2, 1)], (2, 2))],
    ids=["no way on", "merge", "crossing"],
)
def test_a_lane_that_does_not_lead_through_beside_the_route_ends(
    tmp_path: Path, through: list[tuple[int, int]], lanes: tuple[int, int]
) -> None:
    road_map = ways(tmp_path, *through, lanes=lanes)
    route = route_in(road_map, *through[0])
    own, beside = lane_lines(road_map, route, 60.0)
    assert (own.end, beside.end) == (LaneEnd.HORIZON, LaneEnd.LANE_END)
    assert beside.center.xy[-1, 0] == pytest.approx(BEGIN_M, abs=0.1)
    assert way_beside(road_map, route, 60.0, -1) is None


@pytest.mark.clause("INT-2", "INT-7")
def test_the_way_beside_meets_what_its_own_lanes_meet(tmp_path: Path) -> None:
    """It has the route's reference, and a car that is past the junction's beginning still has its line behind it."""
    road_map = ways(tmp_path, (1, 1), (2, 2))
    route = route_in(road_map, 1, 1)
    for s in (60.0, 95.0, 112.0):
        found = way_beside(road_map, route, s, -1)
        assert found is not None
        assert found.reference is route.reference
        assert [stretch.lane for stretch in found.lanes] == [LaneId("1", 0, -2), way(2, 2), LaneId("2", 0, -2)]
        assert [stretch[3:5] for stretch in found.lanes] == [stretch[3:5] for stretch in route.lanes]
        (line,) = stop_lines_ahead(road_map, found, 50.0)
        assert (line.line.signal, line.s) == (2, pytest.approx(89.0))
        (junction,) = junctions_ahead(road_map, found, 50.0)
        assert (junction.s_from, junction.s_to) == (pytest.approx(90.0), pytest.approx(114.0))
    assert way_beside(road_map, route, 60.0, 0) is None
    assert way_beside(road_map, route, 60.0, 1) is None
    assert way_beside(road_map, route, 60.0, -2) is None


def test_a_car_that_has_stayed_in_the_lane_that_the_route_has_left_takes_it_through(tmp_path: Path) -> None:
    road_map = ways(tmp_path, (1, 1), (2, 2))
    before, after = LaneId("1", 0, -1), LaneId("1", 0, -2)
    route = route_through(road_map, [before, after, way(2, 2), LaneId("2", 0, -2)], 10.0, 90.0)
    assert [stretch.change for stretch in route.lanes] == [-1, 0, 0, 0]
    found = way_beside(road_map, route, 80.0, 1)
    assert found is not None
    assert [stretch.lane for stretch in found.lanes] == [before, way(1, 1), LaneId("2", 0, -1)]
    first = found.lanes[0]
    assert (first.lane_from, first.lane_to, first.change) == (pytest.approx(10.0), pytest.approx(100.0), 0)
    assert (first.s_from, first.s_to) == (0.0, route.lanes[1].s_to)


@pytest.mark.clause("INT-3")
def test_a_wall_in_the_junction_stands_across_all_ways_side_by_side(tmp_path: Path) -> None:
    road_map = ways(tmp_path, (1, 1), (2, 2))
    for own in (1, 2):
        x0, y0, x1, y1 = across_road(road_map, way(own, own), 10.0)
        assert (x0, y0, x1, y1) == pytest.approx((BEGIN_M + 10.0, 0.0, BEGIN_M + 10.0, -2.0 * LANE_M))
