"""The lane between the lines that perception sees (EXP-1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.behaviour.on_road.lane_keeping import keep_perceived_lane, perceived_lane
from tuling_fsm.behaviour.traffic.rules import TrafficRuleMemory, TrafficRules
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, LaneEnd, Reason, StopWall
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import Junction
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.perceived import PerceivedLine

from .views import at, view_of
from .worlds import NEAR_Y, Place, route_along

HERE = Pose(30.0, 20.0, 0.6)


def line(y: float, x0: float = -5.0, x1: float = 30.0, slope: float = 0.0) -> PerceivedLine:
    x = np.unique((*np.linspace(x0, x1, 8), 0.0))
    return PerceivedLine(1, 0, np.column_stack((x, y + slope * x)))


@pytest.mark.clause("EXP-1")
@pytest.mark.parametrize(
    ("lines", "middle", "half"),
    [
        ((line(2.0), line(-1.5)), 0.25, 1.75),
        ((line(2.0),), 0.25, 1.75),
        ((line(-1.5),), 0.25, 1.75),
        ((line(0.0),), 1.75, 1.75),
        ((line(5.5), line(2.0), line(-1.5), line(-5.0)), 0.25, 1.75),
        ((line(5.5), line(-1.5)), 0.25, 1.75),
        ((line(1.5), line(-5.5)), -0.25, 1.75),
        ((line(3.4), line(-1.5)), 0.95, 2.45),
        ((line(9.0),), None, 0.0),
        ((line(-4.0),), None, 0.0),
        ((line(7.0), line(-4.0)), None, 0.0),
        ((line(1.15), line(-1.15)), 0.0, 1.15),
        ((line(1.05), line(-1.05)), None, 0.0),
        ((line(2.0, x1=4.9), line(-1.5)), 0.25, 1.75),
        ((line(2.0, x1=4.9), line(-1.5, x1=4.9)), None, 0.0),
        ((line(3.0, x1=5.1), line(-1.5)), 0.75, 2.25),
        ((), None, 0.0),
    ],
)
def test_the_nearest_line_on_either_side_bounds_the_lane_that_the_car_is_in(
    lines: tuple[PerceivedLine, ...], middle: float | None, half: float
) -> None:
    lane = perceived_lane(lines, HERE, 1.4)
    if middle is None:
        assert lane is None
        return
    assert lane is not None
    reach = min(line.points[:, 0].max() for line in lines if line.points[:, 0].max() >= 5.0)
    x = np.arange(-3.0, reach + 1e-9, 0.5)
    c, s = math.cos(0.6), math.sin(0.6)
    assert lane.center.xy == pytest.approx(np.column_stack((30.0 + c * x - s * middle, 20.0 + s * x + c * middle)))
    for row in (lane.left, lane.right, lane.left_free, lane.right_free):
        assert row == pytest.approx(np.full(len(x), half))
    assert np.all(lane.limit == 1.4)
    assert (lane.shift, lane.end, lane.route_s0) == (0, LaneEnd.HORIZON, 0.0)


def test_lines_are_followed_as_they_bend_and_no_farther_than_40_m() -> None:
    lane = perceived_lane((line(2.0, x1=60.0, slope=0.1), line(-1.5, x1=60.0, slope=0.1)), Pose(0.0, 0.0, 0.0), 1.4)
    assert lane is not None
    ahead = lane.center.xy[lane.center.xy[:, 0] >= 0.0]
    assert ahead[:, 1] == pytest.approx(0.25 + 0.1 * ahead[:, 0])
    assert ahead[-1, 0] == pytest.approx(40.0)
    crossing = perceived_lane((line(-2.0, x0=-30.0, slope=-0.2), line(-1.5)), Pose(0.0, 0.0, 0.0), 1.4)
    assert crossing is not None, "the side is taken where the line is nearest, ahead of the axle"
    assert crossing.center.xy[-1, 1] == pytest.approx(0.25)
    beginning = (line(0.3, slope=-0.1), line(-1.5))
    assert perceived_lane(beginning, Pose(0.0, 0.0, 0.0), 1.4) is None, "it is on the left at first"
    ending = (line(-0.3, slope=0.1), line(1.5))
    assert perceived_lane(ending, Pose(0.0, 0.0, 0.0), 1.4) is None, "and this one on the right"
    for lines in (
        (line(2.0, slope=1.0), line(3.0), line(-1.5)),
        (line(2.0), line(-1.5, slope=-1.0), line(-2.5)),
    ):
        spread = perceived_lane(lines, Pose(0.0, 0.0, 0.0), 1.4)
        assert spread is not None
        assert spread.center.xy[6] == pytest.approx((0.0, 0.25)), "the nearest beside the car"
    closing = perceived_lane((line(2.0, slope=-0.07), line(-1.5)), Pose(0.0, 0.0, 0.0), 1.4)
    assert closing is None, "it gets too narrow"


@pytest.mark.clause("EXP-1")
def test_what_is_asked_for_by_the_lines(road: RoadMap) -> None:
    lines = (line(2.0), line(-1.5))
    request = keep_perceived_lane(view_of(Place(road), perceived_lines=lines), 1.4)
    assert isinstance(request, FollowLanes)
    assert (len(request.lanes), request.speed_limit, request.keep_lane) == (1, 1.4, True)
    assert (request.walls, request.creeps_up) == ((), False)
    assert keep_perceived_lane(view_of(Place(road)), 1.4) == Hold(Reason.NOT_LOCALIZED, detail="no lane lines in sight")
    stale = view_of(Place(road), perceived_lines=lines, odometry_fresh=False)
    assert keep_perceived_lane(stale, 1.4) == Hold(Reason.NO_ODOMETRY)


@pytest.mark.clause("EXP-1", "INT-2", "USE-5")
def test_the_rules_of_the_road_hold_on_the_perceived_lane(road: RoadMap) -> None:
    wall = StopWall(60.0, 4.0, 60.0, -4.0, Reason.RED_LIGHT)
    view = view_of(Place(road), perceived_lines=(line(2.0), line(-1.5)))
    rules = TrafficRules((wall,), TrafficRuleMemory(), speed_limit=1.0, creeps_up=True)
    request = keep_perceived_lane(at(view, rules=rules), 1.4)
    assert isinstance(request, FollowLanes)
    assert (request.walls, request.speed_limit, request.creeps_up) == ((wall,), 1.0, True)


SEEN = ((line(2.0), line(-1.5)), (line(2.0, slope=0.3), line(-1.5, slope=0.3)))
"""Lines that lead straight on, and lines that lead to the left."""


@pytest.mark.clause("EXP-1")
@pytest.mark.parametrize(
    ("seen", "junction", "y", "heading", "by_route"),
    [
        (1, (54.0, 80.0), NEAR_Y, 0.0, True),
        (1, (45.0, 80.0), NEAR_Y + 0.9, 0.0, True),
        (0, (54.0, 80.0), NEAR_Y, 0.0, False),
        (1, (70.0, 80.0), NEAR_Y, 0.0, False),
        (1, (30.0, 52.0), NEAR_Y, 0.0, False),
        (1, None, NEAR_Y, 0.0, False),
        (1, (54.0, 80.0), NEAR_Y + 1.2, 0.0, False),
        (1, (54.0, 80.0), NEAR_Y, 0.6, False),
    ],
)
def test_where_lines_lead_off_the_route_in_a_junction_its_own_lane_is_kept(
    road: RoadMap, seen: int, junction: tuple[float, float] | None, y: float, heading: float, by_route: bool
) -> None:
    """As long as the car is reckoned to be in it; elsewhere what is seen counts."""
    ahead = (
        ()
        if junction is None
        else (JunctionAhead(*junction, Junction("1", (), {}, has_lights=True), 0, 0, junction[0]),)
    )
    lines = SEEN[seen]
    view = view_of(Place(road, 50.0, y, heading), route_along(road), perceived_lines=lines, junctions=ahead)
    request = keep_perceived_lane(view, 1.4)
    assert isinstance(request, FollowLanes)
    own = min(view.world.lanes, key=lambda lane: abs(lane.shift))
    assert (request.lanes == (own,)) is by_route
    assert len(request.lanes) == 1
