"""The car's own dynamics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.ego.dynamics import BodyLimits, EgoCar, move
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters

LIMITS = BodyLimits(2.8, 0.75, 0.5, 0.12, 0.15, 3.0, 9.0)
H = 0.01


def test_steering_keeps_its_rate_and_its_limit() -> None:
    state = np.zeros(6)
    angles = [0.0]
    for _ in range(300):
        move(state, 2.0, 0.0, 1.0, False, LIMITS, H)
        angles.append(float(state[5]))
    assert np.diff(angles).max() <= 0.5 * H + 1e-12
    assert angles[-1] == pytest.approx(0.75, abs=1e-3)


def test_acceleration_follows_its_command_with_the_lag() -> None:
    state = np.zeros(6)
    for _ in range(15):
        move(state, 0.0, 2.0, 1.0, False, LIMITS, H)
    assert state[4] == pytest.approx(2.0 * (1.0 - math.exp(-1.0)), rel=1e-6)
    for _ in range(200):
        move(state, 0.0, 50.0, 1.0, False, LIMITS, H)
    assert state[4] == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_braking_ends_in_a_stop_and_not_in_reverse(gear: float) -> None:
    state = np.array((0.0, 0.0, 0.0, gear * 3.0, 0.0, 0.0))
    for _ in range(300):
        move(state, 0.0, -4.0, gear, False, LIMITS, H)
    assert state[3] == 0.0
    assert 0.0 < gear * state[0] < 2.0


def test_constant_steering_drives_a_circle() -> None:
    steer = math.atan(2.8 / 10.0)
    state = np.array((0.0, 0.0, 0.0, 5.0, 0.0, steer))
    for _ in range(round(2.0 * math.pi * 10.0 / 5.0 / H)):
        move(state, steer, 0.0, 1.0, False, LIMITS, H)
    assert math.hypot(state[0], state[1]) < 0.05


def test_a_jump_of_the_plan_does_not_teleport_the_car() -> None:
    car = EgoCar(Pose(0.0, 0.0, 0.0), 5.0, Vehicle(), DynamicsParameters(), TrackerParameters())
    car.drive(Trajectory.standing(0.0, Pose(50.0, 20.0, 1.0)), 0.0, H, 5)
    assert math.dist(car.pose[:2], (0.25, 0.0)) < 0.02


def test_without_any_plan_the_car_brakes_and_stands() -> None:
    car = EgoCar(Pose(0.0, 0.0, 0.0), 5.0, Vehicle(), DynamicsParameters(), TrackerParameters())
    car.drive(None, 0.0, H, 500)
    assert car.v == 0.0
    assert 4.0 < car.pose.x < 9.0


@pytest.mark.parametrize(("target", "rate"), [(4.0, 2.0), (0.0, 0.3), (9.0, 1.0)])
def test_a_speed_that_is_asked_for_is_approached_at_its_rate_and_then_the_plan_counts_again(
    target: float, rate: float
) -> None:
    t = np.arange(0.0, 60.0, 0.1)
    plan = Trajectory(0.0, t, 6.0 * t, 0.0 * t, 0.0 * t, 0.0 * t, 0.0 * t + 6.0, 0.0 * t)
    car = EgoCar(Pose(0.0, 0.0, 0.0), 6.0, Vehicle(), DynamicsParameters(), TrackerParameters())
    car.change_speed(target, rate)
    speeds, needed = [6.0], abs(target - 6.0) / rate
    for frame in range(round((needed + 1.0) / 0.05)):
        car.drive(plan, 0.05 * frame, H, 5)
        speeds.append(car.v)
    there = next(frame for frame, v in enumerate(speeds) if abs(v - target) < 0.1)
    assert 0.05 * there == pytest.approx(needed, abs=0.4)
    assert np.abs(np.diff(speeds[:there])).max() <= rate * 0.05 + 1e-9
    for frame in range(len(speeds) - 1, len(speeds) + 100):
        car.drive(plan, 0.05 * frame, H, 5)
    assert car.v > 6.0 if target < 6.0 else car.v < 7.0


def test_a_speed_ahead_that_the_scenario_asks_for_is_reached_while_the_plan_is_in_reverse() -> None:
    t = np.arange(0.0, 60.0, 0.1)
    plan = Trajectory(0.0, t, -2.0 * t, 0.0 * t, 0.0 * t, 0.0 * t, 0.0 * t - 2.0, 0.0 * t)
    car = EgoCar(Pose(0.0, 0.0, 0.0), -2.0, Vehicle(), DynamicsParameters(), TrackerParameters())
    car.change_speed(4.0, 2.0)
    speeds = []
    for frame in range(80):
        car.drive(plan, 0.05 * frame, H, 5)
        speeds.append(car.v)
    assert max(speeds) == pytest.approx(4.0, abs=0.1)


def test_a_speed_that_is_to_be_there_at_once_turns_no_wheel() -> None:
    car = EgoCar(Pose(0.0, 0.0, 0.0), 5.0, Vehicle(), DynamicsParameters(), TrackerParameters())
    car.drive(Trajectory.standing(0.0, Pose(50.0, 20.0, 1.0)), 0.0, H, 20)
    steer = float(car.state[5])
    car.change_speed(2.0, math.inf)
    assert abs(steer) > 0.01
    assert (car.v, float(car.state[5])) == (2.0, steer)
