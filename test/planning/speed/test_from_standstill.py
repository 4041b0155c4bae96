"""Wheels that are turned before a standing car moves off."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.speed.trajectory import from_standstill

VEHICLE = Vehicle()
LIMIT = Limit(Reason.CURVATURE, 4.0)


def plan(curvature: float, v: float = 1.0) -> Trajectory:
    """A plan of 2 s of a car that stands at first."""
    t = STEP_S * np.arange(21)
    zero = np.zeros(21)
    return Trajectory(5.0, t, 3.0 + 0.5 * v * t * t, zero, zero, np.full(21, curvature), v * t, np.full(21, v))


@pytest.mark.parametrize(("now", "needed"), [(0.0, 0.15), (0.1, -0.1), (-0.12, 0.03)])
def test_the_wheels_are_turned_as_fast_as_they_can_and_then_the_plan_is_driven(now: float, needed: float) -> None:
    given = plan(needed)
    turned, limit = from_standstill(given, LIMIT, now, VEHICLE)
    angles = [math.atan(VEHICLE.wheelbase * each) for each in (now, needed)]
    lasts = abs(angles[1] - angles[0]) / VEHICLE.max_steer_rate
    rows = len(turned) - len(given)
    assert limit == Limit(Reason.STEERING)
    assert lasts <= rows * STEP_S < lasts + STEP_S
    assert turned.stamp == given.stamp
    np.testing.assert_allclose(turned.t, STEP_S * np.arange(len(turned)))
    assert set(turned.x[:rows]) == {given.x[0]} and not turned.v[:rows].any() and not turned.a[:rows].any()
    for column in ("x", "y", "heading", "curvature", "v", "a"):
        np.testing.assert_array_equal(getattr(turned, column)[rows:], getattr(given, column))
    steps = np.diff(np.arctan(VEHICLE.wheelbase * turned.curvature[: rows + 1]))
    np.testing.assert_allclose(steps, (angles[1] - angles[0]) / rows, atol=1e-9)


@pytest.mark.parametrize("apart", [0.019, 0.021])
def test_wheels_that_nearly_stand_right_need_no_time(apart: float) -> None:
    given = plan(0.0)
    turned, limit = from_standstill(given, LIMIT, math.tan(apart) / VEHICLE.wheelbase, VEHICLE)
    assert (turned is given) == (limit is LIMIT) == (apart < 0.02)


def test_a_car_that_goes_nowhere_leaves_its_wheels_as_they_are() -> None:
    turned, limit = from_standstill(plan(0.1, v=0.0), LIMIT, -0.07, VEHICLE)
    assert turned.stands and limit is LIMIT
    assert set(turned.curvature) == {-0.07}
