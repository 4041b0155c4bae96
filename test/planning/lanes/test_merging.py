"""Changing out of a lane that ends, among vehicles that drive in the lane beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.request import LaneEnd, LaneLine, PlanResult
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.standing import HELD

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
