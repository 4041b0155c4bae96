"""Where the car is along a route that comes back to where it was, and when it is beside the road."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from map import xodr

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.records import replace
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.on_route import OnRoute, carriageway, on_reference_road, track
from tuling_fsm.world.outlines import grid_segments
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.solids import solid_segments

EAST = 0.0


def there_and_back(gap: float) -> Route:
    """100 m to the east, then 100 m back to the west, beside it."""
    out = [(float(x), 0.0) for x in range(101)]
    turn = [(100.0 + 0.5 * gap * math.sin(a), 0.5 * gap * (1.0 - math.cos(a))) for a in np.linspace(0.2, 2.9, 12)]
    back = [(100.0 - float(x), gap) for x in range(101)]
    return Route((), Polyline.of(out + turn + back))


def length_of_turn(route: Route) -> float:
    return route.length - 200.0


@pytest.mark.parametrize(
    ("last", "moved", "found"),
    [
        (30.0, 0.0, 35.0), (36.0, 0.0, 35.0), (25.5, 0.0, 35.0), (39.5, 0.0, 35.0), (24.0, 2.0, 35.0),
        (41.0, 2.0, 35.0),
    ],
)  # fmt: skip
def test_the_car_is_looked_for_near_where_it_was(last: float, moved: float, found: float) -> None:
    """5 m back to 10 m ahead, and as far as it can have come."""
    place = track(there_and_back(5.0), Pose(35.0, 0.4, 0.3), last, moved)
    assert place.s == pytest.approx(found) and place.offset == pytest.approx(0.4)
    assert place.heading_error == pytest.approx(0.3)


@pytest.mark.parametrize(("last", "moved", "found"), [(24.0, 0.0, 34.0), (41.0, 0.0, 36.0), (20.0, 3.0, 33.0),
                                                      (45.0, 3.0, 37.0)])  # fmt: skip
def test_it_does_not_jump_any_farther(last: float, moved: float, found: float) -> None:
    assert track(there_and_back(5.0), Pose(35.0, 0.4, 0.0), last, moved).s == pytest.approx(found)


def test_the_way_back_is_not_taken_for_the_way_out_though_it_is_nearer() -> None:
    route = there_and_back(5.0)
    assert track(route, Pose(50.0, 4.0, EAST), 49.0, 1.0).s == pytest.approx(50.0)
    on_way_back = 100.0 + length_of_turn(route) + 50.0
    place = track(route, Pose(50.0, 1.0, EAST), on_way_back - 1.0, 1.0)
    assert place.s == pytest.approx(on_way_back)
    assert place.offset == pytest.approx(4.0) and abs(place.heading_error) == pytest.approx(math.pi)


@pytest.mark.parametrize(
    ("aside", "last", "found"),
    [
        (-7.9, 30.0, 40.0), (-8.1, 10.0, 40.0), (-8.1, -10.0, 40.0), (-8.1, -25.0, 35.0), (-8.1, 59.0, 40.0),
        (-8.1, 61.0, 41.0), (-7.9, 46.0, 41.0), (-7.9, 48.0, 40.0), (0.0, 52.0, 47.0), (0.0, 54.0, 40.0),
    ],
)  # fmt: skip
def test_one_that_is_far_beside_its_route_may_come_back_to_another_place_of_it(
    aside: float, last: float, found: float
) -> None:
    """More than 8 m from the nearest place within reach: then within 20 m back and 60 m ahead."""
    assert track(there_and_back(30.0), Pose(40.0, aside, EAST), last, 0.0).s == pytest.approx(found)


def test_on_its_first_tick_it_is_at_the_first_place_that_fits_about_as_well_as_the_best() -> None:
    """A wrong direction counts as 3 m for each radian's worth of cosine."""
    route = there_and_back(5.0)
    back = 100.0 + length_of_turn(route) + 60.0
    for y, heading, s in (
        (0.0, EAST, 40.0), (2.4, EAST, 40.0), (2.6, math.pi, back), (4.9, EAST, 40.0), (0.0, math.pi, back),
        (5.0, math.pi, back),
    ):  # fmt: skip
        assert track(route, Pose(40.0, y, heading), None, 0.0).s == pytest.approx(s, abs=1.0), (y, heading)
    far = there_and_back(14.0)
    other = 100.0 + length_of_turn(far) + 60.0
    # The way out is 6 m worse for its direction: it is the better one up to 4 m from it.
    for y, s in ((3.9, 40.0), (4.4, other)):
        assert track(far, Pose(40.0, y, math.pi), None, 0.0).s == pytest.approx(s, abs=1.0), y


@pytest.mark.parametrize(("apart", "first"), [(0.45, True), (0.55, False)])
def test_of_two_laps_the_first_counts_where_it_is_near_enough_to_the_best(apart: float, first: bool) -> None:
    """Half a metre."""
    out = [(float(x), 0.0) for x in range(61)]
    around = [(90.0, 40.0), (60.0, 80.0), (0.0, 80.0), (-30.0, 40.0)]
    again = [(float(x), apart) for x in range(61)]
    place = track(Route((), Polyline.of(out + around + again)), Pose(30.0, apart, EAST), None, 0.0)
    assert (place.s < 60.0) == first and place.offset == pytest.approx(apart if first else 0.0)


@pytest.mark.parametrize(("near", "found"), [(0.0, 30.0), (150.0, 30.0), (160.0, 280.0), (999.0, 280.0)])
def test_on_which_lap_it_is_where_it_was_last_tells(near: float, found: float) -> None:
    """But only between places that fit about as well."""
    out = [(float(x), 0.0) for x in range(61)]
    around = [(60.0, 65.0), (0.0, 65.0)]
    route = Route((), Polyline.of(out + around + out))
    assert track(route, Pose(30.0, 0.2, EAST), None, 0.0, near).s == pytest.approx(found)
    assert track(route, Pose(30.0, 64.0, math.pi), None, 0.0, near).s == pytest.approx(155.0)


@pytest.fixture
def two_roads(tmp_path: Path) -> RoadMap:
    """Two lanes each way for 50 m, then one."""
    wide = xodr.section([xodr.lane(n, links=((), (n,)) if abs(n) == 1 else ((), ())) for n in (-2, -1, 1, 2)])
    narrow = xodr.section([xodr.lane(n, links=((n,), ())) for n in (-1, 1)], s=50.0)
    return xodr.read(tmp_path, xodr.road([wide, narrow]))


@pytest.mark.clause("NOR-9")
def test_the_reference_road_is_all_lanes_of_its_direction_a_little_around_the_car(two_roads: RoadMap) -> None:
    route = plan_route(two_roads, Pose(5.0, -1.75, EAST), Pose(95.0, -1.75, EAST)).route
    assert route is not None
    inner, outer, later = LaneId("1", 0, -1), LaneId("1", 0, -2), LaneId("1", 1, -1)
    for x, lanes in (
        (5.1, {inner, outer}), (46.9, {inner, outer}), (47.1, {inner, outer, later}), (52.9, {inner, outer, later}),
        (53.1, {later}), (94.9, {later}),
    ):  # fmt: skip
        assert set(carriageway(two_roads, route, x - 5.0)) == lanes, x
    assert set(carriageway(two_roads, route, -50.0)) == {inner, outer}
    assert set(carriageway(two_roads, route, 500.0)) == {later}
    assert set(carriageway(two_roads, route, 38.0, 8.0)) == {inner, outer, later}
    for x, y, on in (
        (20.0, -6.9, True), (20.0, -7.25, True), (20.0, -7.4, False), (20.0, 0.25, True), (20.0, 0.4, False),
        (80.0, -3.7, True), (80.0, -3.9, False),
    ):  # fmt: skip
        place = OnRoute(x - 5.0, y + 1.75, 0.0)
        assert on_reference_road(two_roads, route, place, Pose(x, y, EAST), 0.3) is on, (x, y)
        assert not on_reference_road(two_roads, route, OnRoute(x - 5.0, math.nan, 0.0), Pose(x, y, EAST), 0.3)


def test_solid_edges_are_those_around_the_cell_that_the_car_is_in(course: RoadMap) -> None:
    """Found anew where the car comes to another cell of 5 m, for another grid and for other parameters."""
    p = WorldParameters(static_radius=20.0, occupied=70)
    draw = np.random.default_rng(3)
    one, other = (
        Occupancy(1.0, 0.5, Pose(-40.0, 70.0, 0.2), np.where(draw.random((200, 200)) < 0.02, 75, 68).astype(np.int8))
        for _ in range(2)
    )

    def around(grid: Occupancy, x: float, y: float, limit: int = 3000, threshold: int = 70) -> FloatArray:
        edges = grid_segments(grid, x, y, 25.0, threshold, limit)
        return np.concatenate((course.static_segments(x, y, 25.0)[:limit], edges))

    expected = around(one, -7.5, 122.5)
    for x, y in ((-9.99, 120.01), (-5.01, 124.99), (-7.0, 122.0)):
        np.testing.assert_array_equal(solid_segments(course, one, Pose(x, y, 0.0), p), expected)
    np.testing.assert_array_equal(solid_segments(course, one, Pose(-4.99, 124.9, 0.0), p), around(one, -2.5, 122.5))
    np.testing.assert_array_equal(solid_segments(course, one, Pose(-5.01, 125.01, 0.0), p), around(one, -7.5, 127.5))
    np.testing.assert_array_equal(solid_segments(course, other, Pose(-7.0, 122.0, 0.0), p), around(other, -7.5, 122.5))
    np.testing.assert_array_equal(solid_segments(course, one, Pose(-7.0, 122.0, 0.0), p), expected)
    few = solid_segments(course, one, Pose(-7.0, 122.0, 0.0), replace(p, max_static_segments=30))
    np.testing.assert_array_equal(few, around(one, -7.5, 122.5, 30))
    thin = solid_segments(course, one, Pose(-7.0, 122.0, 0.0), replace(p, occupied=68))
    np.testing.assert_array_equal(thin, around(one, -7.5, 122.5, threshold=68))
    near = solid_segments(course, one, Pose(-7.0, 122.0, 0.0), replace(p, static_radius=10.0))
    assert 0 < len(near) < len(expected)
    assert len(solid_segments(course, None, Pose(-7.0, 122.0, 0.0), p)) == len(
        course.static_segments(-7.5, 122.5, 25.0)
    )
