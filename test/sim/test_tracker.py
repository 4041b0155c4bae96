"""The tracker with the car that it steers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters

from .plans import along, quintic, trapeze

FRAME_S = 0.05
RADIUS_M = 6.0


def car_at(pose: Pose, v: float = 0.0) -> EgoCar:
    return EgoCar(pose, v, Vehicle(), DynamicsParameters(), TrackerParameters())


def deviations(plan: Trajectory, car: EgoCar, seconds: float, replan: bool = False) -> list[float]:
    """Lateral deviation (m) of the car from the nearest row on every frame."""
    found = []
    for frame in range(round(seconds / FRAME_S)):
        stamp = frame * FRAME_S
        car.drive(plan.after(stamp) if replan and stamp < plan.end_stamp else plan, stamp, 0.01, 5)
        x, y, _ = car.pose
        i = int(np.argmin(np.hypot(plan.x - x, plan.y - y)))
        heading = plan.heading[i]
        found.append(float((y - plan.y[i]) * math.cos(heading) - (x - plan.x[i]) * math.sin(heading)))
    return found


def bends(s: float) -> float:
    """Left, then right, at the tightest radius; the steering rate allows the change at 1.5 m/s."""
    return float(np.interp(s, [2.0, 5.0, 11.0, 17.0, 23.0, 26.0], [0.0, 1.0, 1.0, -1.0, -1.0, 0.0])) / RADIUS_M


@pytest.mark.parametrize("length", [25.0, 30.0, 40.0])
def test_a_lane_change_at_8_m_per_s_is_followed_closely(length: float) -> None:
    plan = quintic(3.5, length, 8.0)
    assert np.abs(deviations(plan, car_at(plan.pose(0), 8.0), 6.0)).max() < 0.15


@pytest.mark.parametrize("top", [1.5, -1.5])
@pytest.mark.parametrize("replan", [False, True])
def test_tight_bends_are_followed_forward_and_in_reverse(top: float, replan: bool) -> None:
    plan = along(bends, trapeze(top, 30.0), 30.0)
    assert np.abs(deviations(plan, car_at(plan.pose(0)), plan.end_stamp + 2.0, replan)).max() < 0.1


@pytest.mark.parametrize("top", [1.5, 8.0, -1.5])
def test_the_car_stops_where_the_plan_does_and_stands(top: float) -> None:
    plan = along(lambda s: 0.0, trapeze(top, 40.0, 1.5), 40.0)
    car = car_at(plan.pose(0))
    deviations(plan, car, plan.end_stamp + 1.0)
    stopped = car.pose
    assert math.dist(stopped[:2], plan.pose(-1)[:2]) < 0.1
    car.drive(plan, plan.end_stamp + 60.0, 0.01, 500)
    assert car.v == 0.0
    assert car.pose == stopped


@pytest.mark.parametrize(("aside", "turned"), [(0.8, 0.0), (-0.8, 0.2), (0.0, -0.4)])
@pytest.mark.parametrize("v", [2.0, 8.0, -1.5])
def test_a_deviation_decays_without_swinging_over(aside: float, turned: float, v: float) -> None:
    t = np.arange(0.0, 40.0, 0.1)
    plan = Trajectory(0.0, t, v * t, 0.0 * t, 0.0 * t, 0.0 * t, v + 0.0 * t, 0.0 * t)
    off = np.array(deviations(plan, car_at(Pose(0.0, aside, turned), v), 20.0))
    assert abs(off[-1]) < 0.02
    decay = TrackerParameters().decay_length + TrackerParameters().decay_time * abs(v)
    assert np.abs(off).max() < max(abs(aside), 0.05) + decay * abs(math.sin(turned))


def test_position_lost_along_the_path_is_made_up() -> None:
    t = np.arange(0.0, 30.0, 0.1)
    plan = Trajectory(0.0, t, 5.0 * t, 0.0 * t, 0.0 * t, 0.0 * t, 5.0 + 0.0 * t, 0.0 * t)
    car = car_at(Pose(-1.0, 0.0, 0.0), 4.0)
    deviations(plan, car, 10.0)
    assert car.pose.x == pytest.approx(50.0, abs=0.1)


def test_a_plan_with_a_cusp_is_driven_in_both_gears() -> None:
    ahead = along(lambda s: 0.1, trapeze(1.5, 8.0), 8.0)
    back = along(lambda s: -0.1, trapeze(-1.5, 8.0), 8.0, ahead.pose(-1))
    later = ahead.end_stamp + 1.0
    rows = {
        f.name: np.concatenate((getattr(ahead, f.name), getattr(back, f.name))) for f in dataclasses.fields(ahead)[2:]
    }
    plan = Trajectory(0.0, np.concatenate((ahead.t, back.t + later)), **rows)
    car = car_at(plan.pose(0))
    deviations(plan, car, plan.end_stamp + 1.0)
    assert math.dist(car.pose[:2], plan.pose(-1)[:2]) < 0.1
    assert car.pose.heading == pytest.approx(plan.heading[-1], abs=0.03)


def test_curvature_that_the_wire_drops_at_standstill_is_not_missed() -> None:
    plan = along(lambda s: 1.0 / RADIUS_M, trapeze(1.5, 10.0), 10.0)
    blind = dataclasses.replace(plan, curvature=np.where(np.abs(plan.v) > 0.05, plan.curvature, 0.0))
    one, other = car_at(plan.pose(0)), car_at(plan.pose(0))
    deviations(plan, one, 5.0)
    deviations(blind, other, 5.0)
    assert math.dist(one.pose[:2], other.pose[:2]) < 1e-6


def test_the_wheels_turn_while_the_car_stands_before_a_plan_that_moves_on() -> None:
    ahead = along(lambda s: 0.3, trapeze(1.0, 5.0), 5.0)
    wait = np.arange(0.0, 2.0, 0.1)
    held = {f.name: np.full(len(wait), getattr(ahead, f.name)[0]) for f in dataclasses.fields(ahead)[2:]}
    held["v"], held["a"] = 0.0 * wait, 0.0 * wait
    rows = {name: np.concatenate((column, getattr(ahead, name))) for name, column in held.items()}
    plan = Trajectory(0.0, np.concatenate((wait, ahead.t + 2.0)), **rows)
    car = car_at(plan.pose(0))
    deviations(plan, car, 1.6)
    assert car.v == 0.0
    assert car.state[5] == pytest.approx(math.atan(Vehicle().wheelbase * 0.3), abs=0.05)
    deviations(Trajectory.standing(0.0, car.pose, 0.0), car, 1.0)
    assert car.state[5] == pytest.approx(math.atan(Vehicle().wheelbase * 0.3), abs=0.05), "not without need"
