"""Stops of a car that drives aslant past things, after a plan that stands or drives on, forwards and in reverse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Hold, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.trajectory import STEP_S, Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import SpeedParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY
from tuling_fsm.planning.speed import stopping as sp
from tuling_fsm.planning.start_state import StartState

from ..scenes import Thing, gap_to, obstacles

pytestmark = pytest.mark.clause("SAF-1")

VEHICLE, SPEED = Vehicle(), SpeedParameters()
HEADING = 2.2
"""Nothing lies along an axis."""


def placed(ahead: float, left: float = 0.0, turn: float = 0.0) -> Pose:
    """A pose as seen from where the car is, at -400, 700."""
    c, s = math.cos(HEADING), math.sin(HEADING)
    return Pose(-400.0 + ahead * c - left * s, 700.0 + ahead * s + left * c, HEADING + turn)


def start(v: float, a: float = 0.0, curvature: float = 0.0, planned: bool = True) -> StartState:
    return StartState(placed(0.0), curvature, v, a, planned)


def around(*things: Thing, edges: FloatArray | None = None, stamp: float = 0.0, v: float = 5.0) -> Scene:
    return Scene(stamp, Ego(placed(0.0), v, 0.0, 0.0), obstacles(things), np.zeros((0, 4)) if edges is None else edges)


def thing(ahead: float, left: float = 0.0, turn: float = 0.0, length: float = 4.5, width: float = 1.9) -> Thing:
    x, y, heading = placed(ahead, left, turn)
    return Thing(1, x, y, heading, length=length, width=width)


def edge(one: tuple[float, float], other: tuple[float, float]) -> FloatArray:
    return np.array([(*placed(*one)[:2], *placed(*other)[:2])])


def driven(plan: Trajectory) -> float:
    return float(np.hypot(np.diff(plan.x), np.diff(plan.y)).sum())


def before(v: float, seconds: float, stands: bool, stamp: float = 0.0, past: float = 0.0) -> Trajectory:
    """The last plan: at constant speed along the heading, or braking evenly to a stand at its end."""
    t = STEP_S * np.arange(round(seconds / STEP_S) + 1)
    speed = v * (1.0 - t / t[-1]) if stands else np.full(len(t), v)
    s = np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (speed[1:] + speed[:-1])))) - past
    zero, (c, n) = np.zeros(len(t)), (math.cos(HEADING), math.sin(HEADING))
    return Trajectory(stamp, t, -400.0 + s * c, 700.0 + s * n, zero + HEADING, zero, speed, zero)


def comfortable(now: Scene, at: StartState, last: Trajectory | None = None) -> Trajectory:
    return sp.comfortable_stop(now, at, last, VEHICLE, SPEED)


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_a_stop_of_a_car_that_gathers_speed_in_a_bend_stays_in_it_to_its_end(gear: float) -> None:
    plan = comfortable(around(), start(gear * 8.0, gear * 1.5, curvature=0.04))
    way = np.concatenate(([0.0], np.cumsum(0.5 * (plan.v[1:] + plan.v[:-1]) * np.diff(plan.t))))
    np.testing.assert_allclose(plan.heading - plan.heading[0], 0.04 * way, atol=0.01)


@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize("v", [3.0, 8.0])
def test_a_free_stop_is_as_hard_as_comfort_allows_and_goes_the_way_of_the_car(gear: float, v: float) -> None:
    plan = comfortable(around(), start(gear * v, gear * 0.5))
    assert plan.stamp == 0.0 and plan.t[-1] == pytest.approx(SPEED.horizon)
    assert (plan.v[0], plan.a[0]) == (gear * v, gear * 0.5)
    assert -(gear * plan.a).min() == pytest.approx(VEHICLE.comfort_decel, abs=1e-9)
    along = (plan.x + 400.0) * math.cos(HEADING) + (plan.y - 700.0) * math.sin(HEADING)
    assert np.all(np.diff(gear * along) >= -1e-9) and plan.v[-1] == 0.0
    np.testing.assert_allclose(plan.heading, HEADING, atol=1e-9)


def test_a_car_that_stands_or_nearly_so_is_held() -> None:
    for v, held in ((0.019, True), (0.021, False), (-0.019, True), (-0.021, False)):
        for plan in (comfortable(around(), start(v, curvature=0.1)),
                     sp.emergency_stop(around(), start(v, curvature=0.1), None, VEHICLE, SPEED)):  # fmt: skip
            assert plan.stands is held or not held
            assert (len(plan) == 1) is held
            assert plan.pose(0) == pytest.approx(placed(0.0)) and plan.curvature[0] == pytest.approx(0.1)


@pytest.mark.parametrize("seconds", [1.5, 2.5, 4.0])
def test_a_plan_that_stands_earlier_is_not_overrun_and_one_that_drives_on_says_nothing(seconds: float) -> None:
    """What it still drives may be short only because it ends."""
    v = 6.0
    earlier = before(v, seconds, stands=True)
    plan = comfortable(around(), start(v), earlier)
    needed = 0.5 * v * v / driven(earlier)
    expected = max(VEHICLE.comfort_decel, needed)
    assert -plan.a.min() == pytest.approx(expected, rel=0.02)
    assert driven(plan) <= driven(earlier) + 1.6 or needed < VEHICLE.comfort_decel
    goes_on = comfortable(around(), start(v), before(v, 0.5, stands=False))
    assert -goes_on.a.min() == pytest.approx(VEHICLE.comfort_decel, rel=1e-6)


def test_only_what_the_last_plan_still_has_ahead_counts_as_its_length() -> None:
    v, last = 6.0, before(12.0, 4.0, stands=True, stamp=3.0)
    gone = Scene(5.0, Ego(placed(0.0), v, 0.0, 0.0))
    left = driven(last.after(5.0))
    assert sp._length_left(last, 5.0) == pytest.approx(left, abs=0.01)
    assert sp._length_left(last, 3.0) == pytest.approx(driven(last)) and sp._length_left(last, 7.5) == 0.0
    plan = comfortable(gone, start(v), replace(last, x=last.x - 18.0 * math.cos(HEADING)))
    assert -plan.a.min() == pytest.approx(0.5 * v * v / left, rel=0.05)


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("left", [0.0, 0.8, -0.8])
def test_a_stop_is_harder_in_steps_until_it_is_free_of_what_is_in_the_way(left: float) -> None:
    v, decels = 7.0, []
    for bumper in (18.5, 13.0, 8.0, 5.5, 4.6):
        post = thing(VEHICLE.front + bumper + 0.5, left, length=1.0, width=1.0)
        plan = comfortable(around(post), start(v))
        assert plan.v[-1] == 0.0
        assert gap_to(post, plan.pose(len(plan) - 1), VEHICLE) > 0.0 or bumper == 4.6
        decels.append(round(-float(plan.a[1:].min()) / VEHICLE.comfort_decel, 2))
    assert decels[:-1] == sorted(decels[:-1])
    steps = {1.0, 1.8, 2.6, round(VEHICLE.emergency_decel / VEHICLE.comfort_decel, 2)}
    assert set(decels) <= steps and {1.0, 1.8, 2.6} <= set(decels)


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_walls_count_wherever_their_middle_is(gear: float) -> None:
    """One begins 12 m ahead of the car, right before it, and ends 400 m away."""
    v, bumper = gear * 7.0, VEHICLE.front if gear > 0.0 else VEHICLE.rear_overhang
    near = gear * (bumper + 12.0)
    for far in ((near + 300.0, 260.0), (near + 300.0, -260.0)):
        aside = -0.5 if far[1] > 0.0 else 0.5
        wall = edge((near, aside), (gear * far[0], far[1]))
        plan = comfortable(around(edges=wall), start(v))
        assert driven(plan) < 12.0, "a free one would take longer"
        assert driven(comfortable(around(edges=wall[:, [2, 3, 0, 1]]), start(v))) == pytest.approx(driven(plan))
    assert driven(comfortable(around(), start(v))) > 13.0
    aside = edge((near, 1.5), (near + 300.0, 80.0))
    assert driven(comfortable(around(edges=aside), start(v))) > 13.0, "it leads away"


def test_what_is_met_far_ahead_of_a_fast_car_is_seen() -> None:
    v = 18.0
    free = driven(comfortable(around(), start(v)))
    assert free > 55.0
    for obstacle in (thing(VEHICLE.front + free - 5.0), thing(VEHICLE.front + free - 5.0, 2.5, 1.2, length=9.0)):
        assert driven(comfortable(around(obstacle), start(v))) < free - 5.0
    wall = edge((VEHICLE.front + free - 5.0, -0.5), (VEHICLE.front + free - 5.0, 0.5))
    assert driven(comfortable(around(edges=wall), start(v))) < free - 5.0


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_of_the_arc_and_the_way_with_straight_wheels_the_one_that_is_free_is_taken(side: float) -> None:
    """Whatever the arc leads into, even an emergency stop keeps to it unless the other way is free."""
    v, kappa = 9.0, side * 0.05
    arc = sp.emergency_stop(around(), start(v, curvature=kappa), None, VEHICLE, SPEED)
    end = arc.pose(len(arc) - 1)
    assert arc.curvature[-1] == pytest.approx(kappa)
    heading = end.heading
    front = (end.x + VEHICLE.front * math.cos(heading), end.y + VEHICLE.front * math.sin(heading))
    corner = 0.5 * VEHICLE.width
    x, y = front[0] - side * corner * math.sin(heading), front[1] + side * corner * math.cos(heading)
    post = Thing(1, x, y, heading, length=0.3, width=0.3)
    other = sp.emergency_stop(around(post), start(v, curvature=kappa), None, VEHICLE, SPEED)
    assert abs(other.curvature[-1]) < 0.6 * abs(kappa)
    assert gap_to(post, other.pose(len(other) - 1), VEHICLE) > 0.0
    across = edge((3.0 + VEHICLE.front, -30.0), (3.0 + VEHICLE.front, 30.0))
    neither = sp.emergency_stop(around(edges=across), start(v, curvature=kappa), None, VEHICLE, SPEED)
    np.testing.assert_allclose(neither.curvature, arc.curvature)


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("way", [7.5, 8.5, 9.5])
def test_the_bend_of_the_last_plan_is_not_left_for_a_gentler_stop(way: float) -> None:
    """A post at the inner edge of the bend, so far that only an emergency stop is free of it."""
    v, kappa = 9.0, 0.05
    now = start(v, curvature=kappa)
    last, turn = comfortable(around(), now), kappa * way
    rear = placed(math.sin(turn) / kappa, (1.0 - math.cos(turn)) / kappa)
    c, s, half = math.cos(HEADING + turn), math.sin(HEADING + turn), 0.5 * VEHICLE.width
    x, y = rear.x + VEHICLE.front * c - half * s, rear.y + VEHICLE.front * s + half * c
    post = Thing(1, x, y, HEADING + turn, length=0.3, width=0.3)
    plan = comfortable(around(post), now, last)
    np.testing.assert_allclose(plan.curvature, kappa)
    assert plan.a.min() == -VEHICLE.emergency_decel and gap_to(post, plan.pose(len(plan) - 1), VEHICLE) > 0.0
    guessed = comfortable(around(post), now)
    assert guessed.a.min() > -2.0 and abs(guessed.curvature[-1]) < 1e-9, "without a plan the bend may be over"


@pytest.mark.parametrize("v", [0.4, 4.0, -2.0])
def test_wheels_are_turned_straight_as_fast_as_they_can_at_that_speed(v: float) -> None:
    kappa = 0.2
    on, straight = sp._ways_on(start(v, curvature=kappa), None, VEHICLE, SPEED)
    np.testing.assert_allclose(np.abs(on[:, PKAPPA]), kappa, atol=1e-12)
    angle = np.arctan(VEHICLE.wheelbase * np.abs(straight[:, PKAPPA]))
    per_metre = SPEED.steer_share * VEHICLE.max_steer_rate / max(1.0, abs(v))
    expected = np.maximum(0.0, angle[0] - per_metre * np.arange(len(angle)))
    np.testing.assert_allclose(angle, expected, atol=1e-9)
    assert np.all(np.sign(straight[:, PKAPPA]) == np.sign(v)) or angle.min() < 1e-9


@pytest.mark.parametrize("heading", [0.3, 1.9, -2.5, -0.8])
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_the_way_of_the_last_plan_is_that_part_of_it_that_is_ahead(gear: float, heading: float) -> None:
    """A plan along an arc, of a car that is in the midst of it, a little beside it."""
    t, kappa = 0.1 * np.arange(60), 0.04
    s = gear * 3.0 * t
    turned = heading + kappa * s
    x, y = 5.0 + (np.sin(turned) - math.sin(heading)) / kappa, 8.0 - (np.cos(turned) - math.cos(heading)) / kappa
    plan = Trajectory(0.0, t, x, y, turned, np.full(60, kappa), np.full(60, gear * 3.0), np.zeros(60))
    at = plan.pose(20)
    c, n = math.cos(at.heading), math.sin(at.heading)
    pose = Pose(at.x + gear * 0.1 * c - 0.1 * n, at.y + gear * 0.1 * n + 0.1 * c, at.heading)
    path = sp._path_ahead(StartState(pose, 0.02, gear * 3.0, 0.0, True), plan, 0.0, VEHICLE, SPEED)
    ahead = np.arange(21, 60)
    assert (path[0, PX], path[0, PY], path[0, PKAPPA]) == pytest.approx((pose.x, pose.y, gear * 0.02))
    np.testing.assert_allclose(path[1:40, PX], plan.x[ahead])
    np.testing.assert_allclose(path[1:40, PY], plan.y[ahead])
    back = math.pi if gear < 0.0 else 0.0
    np.testing.assert_allclose(path[1:40, PHEADING], plan.heading[ahead] + back)
    np.testing.assert_allclose(path[1:, PKAPPA], gear * kappa, atol=1e-9)
    np.testing.assert_allclose(path[:, PCOS], np.cos(path[:, PHEADING]), atol=1e-9)
    np.testing.assert_allclose(path[:, PSIN], np.sin(path[:, PHEADING]), atol=1e-9)
    np.testing.assert_allclose(np.diff(path[:, PS]), np.hypot(np.diff(path[:, PX]), np.diff(path[:, PY])))
    assert path[0, PS] == 0.0
    # Beyond it, the arc goes on: all of its points lie on the same circle.
    center = (5.0 - math.sin(heading) / kappa, 8.0 + math.cos(heading) / kappa)
    np.testing.assert_allclose(np.hypot(path[1:, PX] - center[0], path[1:, PY] - center[1]), 1.0 / kappa, atol=0.01)
    assert path[-1, PS] - path[39, PS] > 4.0


def test_rows_of_the_last_plan_that_change_gear_or_hardly_move_on_are_left_out() -> None:
    v = np.array((2.0, 2.0, 0.2, 0.2, 0.2, -1.0, -1.0))
    s = np.array((0.0, 0.2, 0.22, 0.24, 0.27, 0.35, 0.6))
    zero, (c, n) = np.zeros(7), (math.cos(HEADING), math.sin(HEADING))
    plan = Trajectory(0.0, 0.1 * np.arange(7), -400.0 + s * c, 700.0 + s * n, zero + HEADING, zero, v, zero)
    path = sp._path_ahead(start(2.0), plan, 0.0, VEHICLE, SPEED)
    np.testing.assert_allclose(path[:4, PS], (0.0, 0.2, 0.27, 1.27), atol=1e-9)


def test_a_sharper_bend_than_the_car_can_drive_is_driven_at_full_lock() -> None:
    for kappa in (0.9, -0.9):
        path = sp._path_ahead(start(3.0, curvature=kappa), None, 0.0, VEHICLE, SPEED)
        np.testing.assert_allclose(path[1:, PKAPPA], math.copysign(VEHICLE.max_curvature, kappa))


def test_a_hold_goes_on_from_the_last_plan_only_if_the_car_is_on_it() -> None:
    """And keeps the lane of the last plan and the reason of the request."""
    v, last = 5.0, before(5.0, 2.0, stands=True)
    result = PlanResult(True, last, Limit(Reason.SPEED_LIMIT), shift=2)
    request = Hold(Reason.NO_ROUTE, detail="no way")
    on = sp.stop_result(request, around(), start(v), result, VEHICLE, SPEED)
    off = sp.stop_result(request, around(), start(v, planned=False), result, VEHICLE, SPEED)
    none = sp.stop_result(request, around(), start(v), None, VEHICLE, SPEED)
    assert on.trajectory is not None and off.trajectory is not None and none.trajectory is not None
    assert -on.trajectory.a.min() == pytest.approx(0.5 * v * v / driven(last), rel=0.02)
    for plan in (off.trajectory, none.trajectory):
        assert -plan.a.min() == pytest.approx(VEHICLE.comfort_decel)
    assert (on.shift, off.shift, none.shift) == (2, 2, 0)
    assert on.feasible and on.limit.reason is Reason.NO_ROUTE and on.limit.detail == "no way"
    hard = sp.stop_result(Hold(Reason.EMERGENCY_STOP, emergency=True), around(), start(v), None, VEHICLE, SPEED)
    assert hard.trajectory is not None and hard.trajectory.a.min() == -VEHICLE.emergency_decel


@pytest.mark.parametrize(
    ("v", "a"), [(13.0, 0.0), (13.0, 1.5), (13.0, 0.4), (5.0, 1.5), (16.0, 2.5), (22.0, 0.0), (40.0, 0.0)]
)
def test_what_it_takes_to_stand_at_the_horizon_is_what_a_stop_with_ramps_takes(v: float, a: float) -> None:
    """Time runs in tiny steps: jerk up, hold, and ease off so that braking and speed end together."""
    onset, decel = sp._to_stand(v, a, VEHICLE, SPEED)
    t, speed, accel, step = 0.0, v, a, 1e-3
    while speed > 1e-3 and t < 20.0:
        eased = math.sqrt(2.0 * SPEED.stop_jerk * speed)
        accel = max(-min(decel, eased), accel - onset * step)
        speed, t = max(0.0, speed + accel * step), t + step
    if v == 40.0:
        assert (onset, decel) == (SPEED.hard_jerk, VEHICLE.emergency_decel), "it cannot"
    else:
        assert decel >= VEHICLE.comfort_decel and t <= SPEED.horizon + 0.01
        assert decel == VEHICLE.comfort_decel or t > SPEED.horizon - 0.06, "no harder than that"
    assert sp._to_stand(v, -1.0, VEHICLE, SPEED) == sp._to_stand(v, 0.0, VEHICLE, SPEED), "it may be less"


@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize("a", [-1.0, 0.4, 1.5])
def test_a_fast_car_that_still_accelerates_brakes_so_hard_that_it_stands_in_the_end(gear: float, a: float) -> None:
    plan = comfortable(around(), start(gear * 13.0, gear * a))
    _, decel = sp._to_stand(13.0, a, VEHICLE, SPEED)
    assert -float((gear * plan.a).min()) == pytest.approx(decel) and decel > VEHICLE.comfort_decel
    assert plan.v[-1] == pytest.approx(0.0, abs=0.3)


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_an_emergency_stop_brakes_fully_from_its_first_row_whatever_the_car_does(gear: float) -> None:
    plan = sp.emergency_stop(around(), start(gear * 6.0, gear * 1.5), None, VEHICLE, SPEED)
    np.testing.assert_allclose(plan.a[:10], -gear * VEHICLE.emergency_decel)
    np.testing.assert_allclose(plan.v[:10], gear * (6.0 - VEHICLE.emergency_decel * plan.t[:10]))
    assert plan.t[-1] == pytest.approx(SPEED.horizon) and plan.a[-1] == 0.0


def slow_motion(v: float, rows: int) -> FloatArray:
    """Along x at a low speed."""
    t, zero = STEP_S * np.arange(rows), np.zeros(rows)
    return np.stack((t, v * t, zero, zero, zero + v))


@pytest.mark.clause("USE-11")
def test_what_is_touched_slowly_or_after_the_predictions_end_is_met_too() -> None:
    footprint, none = Footprint.of(VEHICLE), np.empty((0, 1, 6))
    rows = slow_motion(0.5, 71)
    ahead = np.array([[[VEHICLE.front + 1.0 + 0.5, 0.0, 1.0, 0.0, 0.5, 0.5]]])
    assert sp._touches(rows, sp._Boxes(np.empty((0, 3, 6)), ahead), footprint)
    track = np.tile(ahead, (1, 3, 1))
    track[0, :2, 1] = 30.0
    assert sp._touches(rows, sp._Boxes(track, none), footprint), "it comes at the last step, and stays"
    track[0, :, 1] = (0.0, 0.0, 30.0)
    assert not sp._touches(rows, sp._Boxes(track, none), footprint), "it has left"
