"""A stop row by row: its braking, the way that it is driven on, and what it would meet."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from shapely.affinity import rotate, translate
from shapely.geometry import Polygon, box

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.scene import PREDICTION_STEP_S
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import SpeedParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PHEADING, PKAPPA, PS, PX, PY
from tuling_fsm.planning.speed import stopping as sp
from tuling_fsm.planning.start_state import StartState

VEHICLE, SPEED = Vehicle(), SpeedParameters()
ROWS = 141


def braked(v: float, a: float, decel: float, onset: float, release: float) -> FloatArray:
    rows = np.zeros((ROWS, 3))
    sp.brake(v, a, decel, onset, release, rows)
    return rows


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize(("v", "a"), [(8.0, 0.0), (5.0, 1.2), (6.0, -1.8), (1.0, 0.5)])
def test_a_comfortable_stop_sets_in_and_ends_with_the_jerk_that_it_may_have(v: float, a: float) -> None:
    rows = braked(v, a, 1.8, 2.5, 1.5)
    assert tuple(rows[0]) == (0.0, v, a) and rows[-1, 1] == 0.0 == rows[-1, 2]
    moving = rows[:-1, 1] > 0.3
    jerk = np.diff(rows[:, 2]) / STEP_S
    assert np.all(jerk[moving] >= -2.5 - 1e-9) and rows[:, 2].min() >= -1.8 - 1e-9
    assert np.all(jerk[moving] <= 1.5 * 1.6 + 1e-9), "it eases off"
    np.testing.assert_allclose(np.diff(rows[:, 0]), 0.5 * STEP_S * (rows[1:, 1] + rows[:-1, 1]), atol=1e-9)
    np.testing.assert_allclose(
        np.diff(rows[:, 1])[moving], 0.5 * STEP_S * (rows[1:, 2] + rows[:-1, 2])[moving], atol=1e-9
    )
    slow = (rows[:, 1] < 0.9) & (rows[:, 1] > 0.1) & (rows[:, 2] > -1.7) & (np.arange(ROWS) > 20)
    np.testing.assert_allclose(rows[slow, 2], -np.sqrt(2.0 * 1.5 * rows[slow, 1]), atol=0.25)


@pytest.mark.clause("EST-1")
def test_an_emergency_stop_brakes_fully_from_the_next_row_on() -> None:
    rows = braked(6.0, 1.0, 6.0, math.inf, math.inf)
    np.testing.assert_allclose(rows[:6, 1], 6.0 - 6.0 * STEP_S * np.arange(6))
    assert np.all(rows[1:6, 2] == -6.0)
    assert rows[-1, 0] == pytest.approx(3.0, abs=0.2)


@pytest.mark.parametrize("bend", [0.2, -0.2, 0.01])
def test_wheels_are_turned_straight_by_an_angle_and_not_beyond(bend: float) -> None:
    steer = math.atan(VEHICLE.wheelbase * bend)
    assert sp._turned_back(bend, 0.0, VEHICLE.wheelbase) == bend
    for turn in (0.1, 0.02, 1.0):
        left = math.copysign(max(0.0, abs(steer) - turn), steer)
        assert sp._turned_back(bend, turn, VEHICLE.wheelbase) == pytest.approx(math.tan(left) / VEHICLE.wheelbase)


def start_of(pose: Pose, v: float, curvature: float, planned: bool = True) -> StartState:
    return StartState(pose=pose, curvature=curvature, v=v, a=0.0, planned=planned)


@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize("kappa", [0.0, 0.1])
def test_without_a_plan_the_way_on_is_the_arc_that_the_car_drives(gear: float, kappa: float) -> None:
    pose, v = Pose(3.0, -2.0, 0.7), gear * 6.0
    path = sp._path_ahead(start_of(pose, v, kappa), None, 0.0, VEHICLE, SPEED)
    assert path[-1, PS] >= 0.5 * v * v / VEHICLE.comfort_decel + 3.5
    turned = kappa * gear * path[:, PS]
    if kappa == 0.0:
        x, y = gear * path[:, PS], np.zeros(len(path))
    else:
        x, y = np.sin(turned) / kappa, (1.0 - np.cos(turned)) / kappa
    c, s = math.cos(pose.heading), math.sin(pose.heading)
    np.testing.assert_allclose(path[:, PX], pose.x + c * x - s * y, atol=0.02)
    np.testing.assert_allclose(path[:, PY], pose.y + s * x + c * y, atol=0.02)
    back = math.pi if gear < 0.0 else 0.0
    np.testing.assert_allclose(path[:, PHEADING], pose.heading + back + turned, atol=0.01)
    np.testing.assert_allclose(path[:, PKAPPA], gear * kappa, atol=1e-9)
    straight = sp._path_ahead(start_of(pose, v, kappa), None, 0.2, VEHICLE, SPEED)
    assert np.all(np.diff(np.abs(straight[:, PKAPPA])) <= 1e-12) and abs(straight[-1, PKAPPA]) < 1e-9


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize("jerk", [0.3, 0.8, 2.5])
@pytest.mark.parametrize("decel", [0.5, 1.0, 4.0])
def test_the_way_on_is_as_long_as_a_car_takes_that_brakes_gently(decel: float, jerk: float) -> None:
    """And not much longer."""
    vehicle = replace(VEHICLE, comfort_decel=decel, max_jerk=jerk)
    path = sp._path_ahead(start_of(Pose(0.0, 0.0, 0.0), 8.0, 0.02), None, 0.0, vehicle, SPEED)
    rows = np.zeros((1200, 3))
    sp.brake(8.0, 0.0, decel, jerk, SPEED.stop_jerk, rows)
    # Where the jerk is so small that the deceleration is not reached, the way is longer than it need be.
    assert rows[-1, 1] == 0.0 and 0.0 < path[-1, PS] - rows[-1, 0] < 6.0 + 4.0 * decel / jerk


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_the_way_of_the_last_plan_is_kept_to_from_where_the_car_is(gear: float) -> None:
    t = 0.1 * np.arange(50)
    s, zero = gear * 4.0 * t, np.zeros(50)
    plan = Trajectory(0.0, t, 10.0 + s, 0.05 * s, zero, zero, np.full(50, gear * 4.0), zero)
    pose = Pose(10.0 + gear * 6.0, 0.0, 0.0)
    path = sp._path_ahead(start_of(pose, gear * 4.0, 0.0), plan, 0.0, VEHICLE, SPEED)
    assert tuple(path[0, [PX, PY]]) == (pose.x, 0.0)
    ahead = plan.x[gear * (plan.x - pose.x) > 0.0]
    np.testing.assert_allclose(path[1 : len(ahead) + 1, PX], ahead)
    np.testing.assert_allclose(path[1 : len(ahead) + 1, PY], 0.05 * (ahead - 10.0))
    assert path[-1, PS] > abs(ahead[-1] - pose.x) + 4.0


NOTHING = np.empty((0, 1, 6))


def body(x: float, y: float, heading: float, length: float, width: float, ahead: float = 0.0) -> Polygon:
    shape = box(ahead - 0.5 * length, -0.5 * width, ahead + 0.5 * length, 0.5 * width)
    return translate(rotate(shape, heading, (0.0, 0.0), use_radians=True), x, y)


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("seed", range(3))
def test_what_a_stop_would_meet_is_what_polygons_meet(seed: int) -> None:
    draw = np.random.default_rng(seed)
    t = 0.1 * np.arange(30)
    v = np.maximum(0.0, 5.0 - 2.0 * t)
    s = np.concatenate(([0.0], np.cumsum(0.05 * (v[1:] + v[:-1]))))
    heading = 0.4 + 0.08 * s
    x, y = np.cumsum(np.diff(s, prepend=0.0) * np.cos(heading)), np.cumsum(np.diff(s, prepend=0.0) * np.sin(heading))
    rows, times = np.stack((t, x, y, heading, v)), PREDICTION_STEP_S * np.arange(16)
    footprint, checked = Footprint.of(VEHICLE), 0
    middle = 0.5 * (VEHICLE.front - VEHICLE.rear_overhang)
    cars = [
        body(x[k], y[k], heading[k], VEHICLE.length, VEHICLE.width, middle) for k in range(len(t))
    ]  # fmt: skip
    for _ in range(30):
        px, py, turn, speed = (
            draw.uniform(-6, 14),
            draw.uniform(-8, 12),
            draw.uniform(-3, 3),
            draw.choice((0.0, 2.0, 4.0)),
        )
        length, width = draw.choice((0.5, 4.0, 20.0)), draw.choice((0.2, 2.0))
        xs, ys = px + speed * times * math.cos(turn), py + speed * times * math.sin(turn)
        shape = np.array((math.cos(turn), math.sin(turn), 0.5 * length, 0.5 * width))
        boxes = np.column_stack((xs, ys, np.tile(shape, (len(times), 1))))[None]
        gaps = []
        for k, car in enumerate(cars):
            j = min(15, round(t[k] / 0.2))
            other = body(xs[j], ys[j], turn, length, width)
            gaps.append(-car.intersection(other).area if car.intersects(other) else car.distance(other))
        if any(abs(gap) < 0.01 for gap in gaps):
            continue
        met = next((k for k, gap in enumerate(gaps) if gap < 0.0), -1)
        for near in (sp._Boxes(boxes, NOTHING), sp._Boxes(boxes[:0], boxes[:, :1].copy())):
            if speed == 0.0 or len(near.objects) > 0:
                assert sp._touches(rows, near, footprint) == (met > 0 and v[met] > 0.0)
        checked += met > 0
    assert checked > 0


@pytest.mark.clause("USE-11")
def test_one_that_drives_into_the_car_when_it_stands_hides_nothing_that_it_would_meet_before() -> None:
    t = 0.1 * np.arange(60)
    v = np.maximum(0.0, 4.0 - 2.0 * t)
    x = np.cumsum(0.1 * v)
    rows = np.stack((t, x, np.zeros(60), np.zeros(60), v))
    footprint, shape = Footprint.of(VEHICLE), np.array((1.0, 0.0, 0.5, 0.5))
    times = PREDICTION_STEP_S * np.arange(31)
    from_the_left = np.column_stack((np.full(31, 4.0), 20.0 - 4.0 * times, np.tile(shape, (31, 1))))
    assert not sp._touches(rows, sp._Boxes(from_the_left[None], NOTHING), footprint)
    ahead = np.array([[x[-1] + VEHICLE.front, 0.0, *shape]])
    assert sp._touches(rows, sp._Boxes(from_the_left[None], ahead[None]), footprint)
    ahead = np.tile(ahead, (31, 1))
    assert sp._touches(rows, sp._Boxes(np.stack((from_the_left, ahead)), NOTHING), footprint)
