"""Wheels that are turned where the car stands: as after a reverse out of a bay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Maneuver, PlanResult, Reason
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.planning.safety.check import check
from tuling_fsm.planning.start_state import state_at

from ..lane_drives import PARAMETERS, PLANNER, VEHICLE, run, straight
from ..scenes import TICK_S, follow, regulations_for, road, scene, wall_across


@pytest.mark.parametrize("curvature", [0.3, 0.2, -0.3])
@pytest.mark.parametrize(("lanes", "own"), [(1, 0), (3, 1)])
@pytest.mark.medium
def test_they_are_turned_to_the_lane_before_the_car_goes_so_that_it_stays_in_it(
    curvature: float, lanes: int, own: int
) -> None:
    log = run(straight(lanes, own), scene(curvature=curvature), 8.0)
    assert max(abs(now.ego.pose.y) for _, now, _ in log) < 0.2
    assert log[0][2].limit.reason is Reason.STEERING
    waited = next(stamp for stamp, now, _ in log if now.ego.v > 0.1)
    assert waited < abs(np.arctan(VEHICLE.wheelbase * curvature)) / VEHICLE.max_steer_rate + 0.6
    assert log[-1][1].ego.v > 5.0


def test_they_stay_turned_while_the_car_waits() -> None:
    wall = wall_across(20.0 + VEHICLE.front + 0.3)
    plan = PLANNER.plan(follow(road(), wall), scene(curvature=0.3), None).trajectory
    assert plan is not None and plan.stands
    np.testing.assert_allclose(plan.curvature, 0.3)


def test_in_a_bend_they_are_as_its_lane_wants_them() -> None:
    bend = road(pieces=((80.0, 0.12),), at=0.0)
    result = PLANNER.plan(follow(bend), scene(x=0.0, curvature=0.12), None)
    assert result.limit.reason is not Reason.STEERING
    assert result.trajectory is not None
    assert result.trajectory.v[3] > 0.0


@pytest.mark.parametrize("curvature", [0.26, -0.3])
@pytest.mark.medium
def test_a_car_that_comes_out_of_a_maneuver_with_turned_wheels_does_not_swing_out(curvature: float) -> None:
    """At walking pace they would take metres to turn back."""
    whole = PLANNER.plan(follow(road()), scene(v=0.8), None).trajectory
    assert whole is not None
    turned = curvature * np.concatenate(([0.0], np.cumsum(0.5 * (whole.v[1:] + whole.v[:-1]) * np.diff(whole.t))))
    x, y = whole.x[0] + np.sin(turned) / curvature, whole.y[0] + (1.0 - np.cos(turned)) / curvature
    whole = replace(whole, x=x, y=y, heading=turned, curvature=np.full(len(whole), curvature))
    previous: PlanResult | None = PlanResult(
        True, whole, Limit(Reason.NONE), maneuver=Maneuver(Pose(30.0, 0.0, 0.0), whole)
    )
    now, aside, reasons = scene(v=0.8, curvature=curvature), 0.0, []
    for _ in range(200):
        request = follow(straight(3, 1)(now.ego.pose.x))
        previous = PLANNER.plan(request, now, previous)
        plan = previous.trajectory
        assert plan is not None
        assert check(plan, now, regulations_for(request), VEHICLE, PARAMETERS) is None, now.stamp
        reasons.append(previous.limit.reason)
        state = state_at(plan, now.stamp + TICK_S)
        now = Scene(now.stamp + TICK_S, Ego(state.pose, state.v, state.a, state.curvature))
        aside = max(aside, abs(now.ego.pose.y))
    assert reasons[0] is Reason.STEERING
    assert aside < 0.75
    assert now.ego.v > 5.0


@pytest.mark.medium
@pytest.mark.clause("NOR-4", "NOR-5")
@pytest.mark.parametrize(("own", "side"), [(0, 1.0), (1, -1.0)])
def test_a_car_that_rolls_out_of_a_tight_turn_stays_nearer_to_its_line_than_to_the_next(own: int, side: float) -> None:
    """It is too fast to stop and turn its wheels, and as slow as it takes to turn them on the way."""
    log = run(straight(2, own), scene(y=1.03 * side, heading=-0.29 * side, v=1.72, curvature=0.224 * side), 8.0)
    assert min(now.ego.v for _, now, _ in log) > 1.0
    assert max(side * now.ego.pose.y for _, now, _ in log) < 1.5
    assert log[-1][1].ego.pose.y == pytest.approx(0.0, abs=0.4)
    assert log[-1][1].ego.v > 6.0
