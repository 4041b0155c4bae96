"""The speed along a path that is given by its points alone."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.speed.speed_profile import speed_profile

VEHICLE = Vehicle()
HEADING = 0.7
ORIGIN = np.array((12.0, -5.0))


def line(length: float = 100.0, points: int = 60, seed: int = 0) -> FloatArray:
    """Unevenly spaced points of a straight line, aslant."""
    s = np.sort(np.random.default_rng(seed).uniform(0.0, length, points))
    s[0], s[-1] = 0.0, length
    return ORIGIN + np.column_stack((s * math.cos(HEADING), s * math.sin(HEADING)))


def arc(kappa: float, length: float = 60.0, spacing: float = 0.3) -> FloatArray:
    s = np.arange(0.0, length, spacing)
    x, y = np.sin(kappa * s) / kappa, (1.0 - np.cos(kappa * s)) / kappa
    c, n = math.cos(HEADING), math.sin(HEADING)
    return ORIGIN + np.column_stack((c * x - n * y, n * x + c * y))


def way(plan: Trajectory) -> FloatArray:
    """How far each row is from the first, straight (m)."""
    return np.asarray(np.hypot(plan.x - plan.x[0], plan.y - plan.y[0]))


def test_a_straight_line_is_driven_along_it_at_the_top_speed_of_the_car() -> None:
    plan = speed_profile(line(), 3.0, 0.5)
    assert plan.stamp == 0.0 and len(plan) == 71
    np.testing.assert_allclose(plan.t, STEP_S * np.arange(71))
    assert (plan.x[0], plan.y[0]) == pytest.approx(tuple(ORIGIN)) and (plan.v[0], plan.a[0]) == (3.0, 0.5)
    across = (plan.y - ORIGIN[1]) * math.cos(HEADING) - (plan.x - ORIGIN[0]) * math.sin(HEADING)
    np.testing.assert_allclose(across, 0.0, atol=1e-9)
    np.testing.assert_allclose(plan.heading, HEADING, atol=1e-9)
    np.testing.assert_allclose(plan.curvature, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.diff(way(plan)), 0.5 * STEP_S * (plan.v[1:] + plan.v[:-1]), atol=1e-6)
    assert plan.v.max() == pytest.approx(VEHICLE.max_speed, abs=0.05)
    standing = speed_profile(line())
    assert (standing.v[0], standing.a[0]) == (0.0, 0.0) and standing.v[-1] > 6.0


@pytest.mark.parametrize("duration", [2.0, 7.04, 11.0])
def test_it_lasts_as_long_as_is_asked_for(duration: float) -> None:
    plan = speed_profile(line(), 3.0, duration=duration)
    assert plan.t[-1] == pytest.approx(duration, abs=0.051) and len(plan) == round(duration / STEP_S) + 1


@pytest.mark.parametrize("limit", [2.0, 5.0, 30.0])
def test_a_limit_holds_all_along_up_to_what_the_car_can_do(limit: float) -> None:
    plan = speed_profile(line(200.0), 1.0, limit=limit, duration=12.0)
    assert plan.v[-1] == pytest.approx(min(limit, VEHICLE.max_speed), abs=0.05)
    assert plan.v.max() <= min(limit, VEHICLE.max_speed) + 0.02
    slow = speed_profile(line(200.0), 1.0, limit=limit, duration=12.0, vehicle=replace(VEHICLE, max_speed=3.0))
    assert slow.v[-1] == pytest.approx(min(limit, 3.0), abs=0.05)


def test_a_row_of_limits_holds_at_each_point() -> None:
    points = line(100.0, 201, seed=3)
    s = np.hypot(*(points - points[0]).T)
    limit = np.where(s < 30.0, 6.0, np.where(s < 60.0, 3.0, 7.0))
    plan = speed_profile(points, 6.0, limit=limit, duration=25.0)
    gone = way(plan)
    inside = (gone > 31.5) & (gone < 59.0)
    assert np.sum(inside) > 20 and plan.v[inside].max() <= 3.1
    assert plan.v[(gone > 5.0) & (gone < 18.0)].min() > 5.9
    assert plan.v[(gone > 60.0) & (gone < 85.0)].max() > 5.0
    with pytest.raises(ValueError):
        speed_profile(points, 6.0, limit=limit[:-1])


def test_the_car_stands_at_the_end_or_where_it_is_told_to() -> None:
    for at, where in ((None, 30.0), (20.0, 20.0), (99.0, 30.0)):
        plan = speed_profile(line(30.0), 4.0, stop_at=at, duration=15.0)
        assert plan.v[-1] == 0.0 and way(plan)[-1] == pytest.approx(where, abs=0.3)
        assert way(plan).max() <= where + 0.02
    assert speed_profile(line(30.0), 0.0, stop_at=0.0).stands


def test_where_the_room_is_short_the_car_brakes_as_hard_as_it_takes_and_has_no_slack() -> None:
    plan = speed_profile(line(60.0), 7.0, stop_at=9.0)
    assert plan.v[-1] == 0.0 and way(plan)[-1] <= 9.1
    assert -VEHICLE.emergency_decel - 1e-9 <= plan.a.min() < -0.5 * 49.0 / 9.0


@pytest.mark.parametrize("kappa", [0.05, -0.12])
def test_bends_are_driven_on_the_arc_and_with_the_lateral_acceleration_of_the_car(kappa: float) -> None:
    plan = speed_profile(arc(kappa), 1.0, stop_at=59.0, duration=10.0)
    inside = slice(10, 80)
    np.testing.assert_allclose(plan.curvature[inside], kappa, atol=abs(kappa) * 0.02)
    center = ORIGIN + np.array((-math.sin(HEADING), math.cos(HEADING))) / kappa
    np.testing.assert_allclose(np.hypot(plan.x - center[0], plan.y - center[1]), 1.0 / abs(kappa), atol=0.01)
    gone = np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (plan.v[1:] + plan.v[:-1]))))
    np.testing.assert_allclose(plan.heading[inside], HEADING + kappa * gone[inside], atol=0.02)
    fastest = math.sqrt(VEHICLE.max_lateral_accel / abs(kappa))
    assert plan.v.max() == pytest.approx(fastest, rel=0.03)
    gentle = speed_profile(arc(kappa), 1.0, duration=10.0, vehicle=replace(VEHICLE, max_lateral_accel=0.5))
    assert gentle.v.max() == pytest.approx(math.sqrt(0.5 / abs(kappa)), rel=0.03)


def test_how_hard_it_is_driven_is_a_parameter() -> None:
    parameters = PlanningParameters()
    lazy = replace(parameters, speed=replace(parameters.speed, gain=0.4))
    usual, other = (speed_profile(line(), 0.0, limit=4.0, parameters=p) for p in (parameters, lazy))
    assert usual.v[40] > other.v[40] + 0.2
    np.testing.assert_array_equal(usual.v, speed_profile(line(), 0.0, limit=4.0).v)


def test_a_path_of_one_place_is_none() -> None:
    for points in (((0.0, 0.0),), ((0.0, 0.0), (0.0, 0.0)), ((0.0, 0.0), (1.0, 0.0), (1.0, 0.0), (2.0, 0.0))):
        with pytest.raises(ValueError):
            speed_profile(points)
    plan = speed_profile(((0.0, 0.0), (30.0, 0.0)), 3.0)
    assert plan.x[-1] > 20.0


@settings(max_examples=25, deadline=None)
@given(v=st.floats(0.0, 8.0), a=st.floats(-1.0, 1.0), limit=st.floats(1.0, 9.0), stop=st.floats(5.0, 60.0))
def test_whatever_is_asked_for_is_kept(v: float, a: float, limit: float, stop: float) -> None:
    """The stop, the direction of travel, and the car's own hardest braking and acceleration."""
    plan = speed_profile(line(80.0), v, a, limit=limit, stop_at=stop, duration=7.0)
    assert np.all(plan.v >= 0.0) and np.all(plan.a[1:] <= max(a, VEHICLE.max_accel) + 1e-9)
    assert np.all(plan.a[1:] >= -VEHICLE.emergency_decel - 1e-9)
    comfortable = v * v / (2.0 * VEHICLE.comfort_decel) + 1.5 * v
    if stop > comfortable:
        assert way(plan).max() <= stop + 0.05
    assert plan.v[-1] <= max(limit, 0.0) + 0.3


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize(("decel", "jerk"), [(1.8, 2.5), (1.0, 1.0), (0.8, 0.6), (3.0, 0.8), (3.0, 5.0)])
@pytest.mark.parametrize(
    ("top", "slow", "at", "v"), [(8.0, 2.0, 60.0, 0.0), (8.0, 2.0, 60.0, 8.0), (3.0, 0.5, 10.0, 0.0)]
)
def test_gentle_braking_has_set_in_in_time_for_a_lower_limit_ahead(
    decel: float, jerk: float, top: float, slow: float, at: float, v: float
) -> None:
    vehicle, s = replace(VEHICLE, comfort_decel=decel, max_jerk=jerk), np.arange(0.0, 150.0, 0.5)
    limit = np.where(s < at, top, slow)
    plan = speed_profile(np.column_stack((s, 0.0 * s)), v, limit=limit, duration=25.0, vehicle=vehicle)
    assert plan.x[-1] > at + 5.0
    assert np.all(plan.v[plan.x > at] <= slow + 0.3)
    assert np.abs(np.diff(plan.a)).max() <= 1.01 * jerk * STEP_S


@pytest.mark.parametrize(("decel", "jerk"), [(3.0, 0.8), (1.8, 1.0)])
def test_what_is_braked_for_at_once_is_hard_braking_to_the_check_too(decel: float, jerk: float) -> None:
    """A stop that comes up too near for comfort: the jerk is the car's, or that of hard braking."""
    vehicle, parameters = replace(VEHICLE, comfort_decel=decel, max_jerk=jerk), PlanningParameters()
    for room in np.arange(12.0, 40.0, 1.0):
        plan = speed_profile(line(), 8.0, stop_at=float(room), vehicle=vehicle)
        sudden = np.flatnonzero(np.abs(np.diff(plan.a)) > parameters.check.jerk * jerk * STEP_S)
        near = [np.abs(plan.t - plan.t[i]) <= 0.5 for i in sudden if plan.v[i] > 0.35]
        assert all(plan.a[rows].min() < -1.2 * decel for rows in near), room
