"""Changing out of a lane that ends, among vehicles that drive in the lane beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.request import LaneEnd, LaneLine, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD
from tuling_fsm.world.inputs import Kind

from ..lane_drives import PARAMETERS, PLANNER, VEHICLE, run
from ..scenes import LANE, Log, Thing, drive, follow, lane_line, scene

END_X = 100.0


def lanes(x: float) -> tuple[LaneLine, ...]:
    """The lane of a car at `x`, along y = 0, ends; the route's, to its left, goes on."""
    return _lanes(x, END_X)


def _lanes(x: float, end_x: float) -> tuple[LaneLine, ...]:
    xs = np.arange(max(0.0, x - 10.0), x + 80.0, 0.25)
    points = np.column_stack((xs, np.zeros_like(xs), np.zeros_like(xs)))
    left = lane_line(points, LANE, route_s0=float(xs[0]))
    right_edge = np.where(xs <= end_x, 1.5 * LANE, 0.5 * LANE)
    left = replace(left, right_free=right_edge, right_road=right_edge)
    own = points[xs <= end_x]
    if len(own) < 8:
        return (left,)
    end = LaneEnd.LANE_END if len(own) < len(points) else LaneEnd.HORIZON
    return left, lane_line(own, shift=-1, end=end, free=(1.5 * LANE, 0.5 * LANE), route_s0=float(xs[0]))


def platoon(first: float, last: float, net: float, v: float) -> tuple[Thing, ...]:
    """Cars in the left lane from x = `first` back to `last`, with so much room between them (m)."""
    return tuple(Thing(n, float(x), LANE, v=v) for n, x in enumerate(np.arange(first, last, -(4.5 + net))))


def edge_beyond(log: Log, x: float) -> float:
    """The least y of the body where it is beyond `x`."""
    corners = [corner for _, now, _ in log for corner in VEHICLE.footprint(now.ego.pose) if corner[0] > x]
    return float(min(y for _, y in corners))


@pytest.mark.medium
@pytest.mark.clause("NOR-3", "NOR-6")
def test_a_car_that_is_let_in_nowhere_waits_where_it_can_still_change_lanes() -> None:
    def plan(_: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return PLANNER.plan(follow(lanes(now.ego.pose.x)), now, previous)

    log = drive(plan, scene(v=8.0), 38.0, platoon(70.0, -90.0, 6.0, 6.0))
    assert all(result.feasible for _, _, result in log)
    stands = next(now.ego.pose.x for _, now, _ in log if now.ego.v < HELD)
    assert END_X - stands - VEHICLE.front > PARAMETERS.speed.merge_gap - 1.0
    assert min(now.ego.v for _, now, _ in log) >= 0.0
    assert log[-1][1].ego.pose.y == pytest.approx(LANE, abs=0.2)
    assert edge_beyond(log, END_X) > 0.5 * LANE - PARAMETERS.lateral.bound_slack


@pytest.mark.clause("NOR-4")
def test_a_car_comes_in_behind_one_that_is_ahead_in_the_next_lane_at_once() -> None:
    """It is followed as it drives, and not as if it stood where the path comes into its lane."""
    log = run(lanes, scene(x=50.0, v=6.0), 6.0, (Thing(1, 61.0, LANE, v=5.5),))
    over = next(now.ego for _, now, _ in log if now.ego.pose.y > 0.5 * LANE)
    assert over.pose.x < END_X - 25.0
    assert min(now.ego.v for _, now, _ in log) > 4.0


SOLID_X = 110.0


def lanes_to_a_turn(x: float) -> tuple[LaneLine, ...]:
    """The route's lane along y = 0; the one to its left leads elsewhere, and the line between is solid before that."""
    xs = np.arange(max(0.0, x - 10.0), x + 90.0, 0.25)
    points, end_x = np.column_stack((xs, np.zeros_like(xs), np.zeros_like(xs))), SOLID_X + 20.0
    over = np.where(xs < SOLID_X, 1.5 * LANE, 0.5 * LANE)
    own = replace(lane_line(points, route_s0=float(xs[0])), left_free=over)
    beside = xs <= end_x
    if np.count_nonzero(beside) < 8:
        return (own,)
    end = LaneEnd.HORIZON if beside.all() else LaneEnd.LANE_END
    left = lane_line(points[beside], LANE, shift=1, end=end, route_s0=float(xs[0]))
    return own, replace(left, right_free=over[beside])


@pytest.mark.medium
@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("v", [2.0, 3.0])
def test_a_cyclist_is_not_passed_where_the_line_is_solid_before_the_car_is_back(v: float) -> None:
    bicycle = Thing(1, 75.0, -0.8, v=v, length=1.8, width=0.6, kind=int(Kind.BICYCLE))
    log = run(lanes_to_a_turn, scene(x=40.0, v=7.0), 14.0, (bicycle,))
    assert max(now.ego.pose.y for _, now, _ in log) < 0.5 * LANE
    assert all(result.feasible for _, _, result in log)


@pytest.mark.medium
@pytest.mark.clause("NOR-3", "NOR-6")
def test_a_car_that_is_let_in_nowhere_waits_before_the_line_becomes_solid() -> None:
    def plan(_: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return PLANNER.plan(follow(lanes_to_a_turn(now.ego.pose.x)), now, previous)

    others = tuple(replace(thing, y=0.0) for thing in platoon(80.0, -90.0, 6.0, 6.0))
    log = drive(plan, scene(x=20.0, y=LANE, v=8.0), 45.0, others)
    stands = next(now.ego.pose.x for _, now, _ in log if now.ego.v < HELD)
    assert SOLID_X - stands - VEHICLE.front > 2.0 * PARAMETERS.speed.merge_gap - 1.0
    assert log[-1][1].ego.pose.y == pytest.approx(0.0, abs=0.2)
    assert max(now.ego.pose.y for _, now, _ in log if now.ego.pose.x > SOLID_X) < 0.5


@pytest.mark.medium
@pytest.mark.clause("NOR-6")
def test_a_car_that_is_past_its_last_place_to_change_lanes_drives_on_to_the_end_of_its_lane() -> None:
    log = run(lanes_to_a_turn, scene(x=SOLID_X - 2.0, y=LANE, v=5.0), 8.0)
    front = max(now.ego.pose.x for _, now, _ in log) + VEHICLE.front
    assert SOLID_X + 15.0 < front < SOLID_X + 20.0
    assert min(now.ego.pose.y for _, now, _ in log) > 0.9 * LANE


@pytest.mark.medium
@pytest.mark.clause("EXPL-1")
def test_one_that_is_past_its_last_place_to_change_lanes_stands_at_the_end_of_its_route_and_says_so() -> None:
    log = run(lanes_to_a_turn, scene(x=SOLID_X - 2.0, y=LANE, v=5.0), 8.0, goal_s=SOLID_X + 8.0)
    assert log[-1][1].ego.v < HELD
    assert log[-1][1].ego.pose.x == pytest.approx(SOLID_X + 8.0, abs=0.5)
    assert {result.limit.reason for _, _, result in log} == {Reason.ROUTE_END}
