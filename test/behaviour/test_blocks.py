"""The part of a route that is blocked, and routes that do without it (RPL-1, RPL-2)."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.behaviour.on_road.memory import RouteBlock
from tuling_fsm.behaviour.on_road.replan import avoids, block_ahead
from tuling_fsm.map.road_map import RoadMap

from .views import view_of
from .worlds import FAR_LANE, FAR_Y, NEAR_LANE, NEAR_Y, ONCOMING_Y, VEHICLE, Place, Thing, route_along


@pytest.mark.clause("RPL-2")
@pytest.mark.parametrize(
    ("low", "high", "begin", "end", "avoided"),
    [
        (60.0, 80.0, 0.0, 400.0, False),
        (60.0, 80.0, 79.1, 400.0, True),
        (60.0, 80.0, 78.9, 400.0, False),
        (60.0, 80.0, 0.0, 60.9, True),
        (60.0, 80.0, 0.0, 61.1, False),
        (60.0, 80.0, 100.0, 400.0, True),
        (60.0, 80.0, 0.0, 40.0, True),
        # Of a short block half is enough.
        (60.0, 61.0, 60.4, 400.0, False),
        (60.0, 61.0, 60.6, 400.0, True),
    ],
)
def test_a_route_avoids_a_block_if_it_shares_next_to_nothing_with_it(
    road: RoadMap, low: float, high: float, begin: float, end: float, avoided: bool
) -> None:
    block = RouteBlock(np.zeros((0, 3)), ((FAR_LANE, 0.0, 400.0), (NEAR_LANE, low, high)))
    assert avoids(RouteBlock(block.poses, block.stretches[1:]), route_along(road, begin=begin, end=end)) is avoided
    assert not avoids(block, route_along(road, FAR_LANE, begin, end))
    assert avoids(None, route_along(road))
    assert avoids(RouteBlock(block.poses, ((FAR_LANE, low, high),)), route_along(road, begin=begin, end=end))


@pytest.mark.clause("RPL-1")
@pytest.mark.parametrize(("begin", "end"), [(0.0, 400.0), (10.0, 400.0), (0.0, 62.0), (0.0, 52.0)])
def test_the_block_is_what_lies_before_the_bumper(road: RoadMap, begin: float, end: float) -> None:
    route = route_along(road, begin=begin, end=end)
    block = block_ahead(view_of(Place(road), route))
    assert block is not None
    first = min(50.0 + VEHICLE.front, end)
    last = min(first + 20.0, end)
    assert block.poses[0, 0] == pytest.approx(first)
    assert block.poses[-1, 0] == pytest.approx(last)
    assert np.diff(block.poses[:, 0]) == pytest.approx(np.full(len(block.poses) - 1, 1.0), abs=0.5 if end > 60 else 1.0)
    assert len(block.poses) == max(2, round(last - first) + 1)
    if last > first:
        ((lane, low, high),) = block.stretches
        assert (lane, low, high) == (NEAR_LANE, pytest.approx(first), pytest.approx(last))
    else:
        assert block.stretches == ()
    assert block_ahead(view_of(Place(road, localized=False), route)) is None
    assert block_ahead(view_of(Place(road))) is None


@pytest.mark.clause("RPL-1", "RPL-2")
@pytest.mark.parametrize(("x", "y", "walled"), [(65.0, FAR_Y, True), (85.0, FAR_Y, False), (65.0, ONCOMING_Y, False)])
def test_the_lane_beside_is_blocked_where_the_wall_stands_across_it_too(
    road: RoadMap, x: float, y: float, walled: bool
) -> None:
    block = block_ahead(view_of(Place(road, things=(Thing(65.0, NEAR_Y), Thing(x, y))), route_along(road)))
    assert block is not None
    assert [lane for lane, _, _ in block.stretches] == [NEAR_LANE, FAR_LANE][: 1 + walled]
    assert np.isclose(block.poses[:, 1], FAR_Y).any() is np.bool_(walled)
    assert avoids(block, route_along(road, FAR_LANE)) is not walled
