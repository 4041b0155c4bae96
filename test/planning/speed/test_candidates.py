"""Lower speeds beside the car-following model: polynomials in time, and what they are good for."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.request import PlanResult, Reason
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Scene
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PS, FrenetPath, new_path
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check
from tuling_fsm.planning.speed import candidates as ca
from tuling_fsm.planning.speed.candidates import SpeedPolynomial, arrive, distance_at, keep_speed, sample_polynomial
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, ramp_of, stopping_distance
from tuling_fsm.planning.speed.roll_out import (
    FOLLOWING,
    FREE,
    STOPPING,
    YIELDING,
    AccelerationDemand,
    StartMotion,
    StBoundaries,
    new_envelope,
    no_traffic,
)

from ..lane_drives import straight
from ..scenes import CAR, PEDESTRIAN, TICK_S, Log, Thing, drive, follow, regulations_for, scene

VEHICLE, LOWER = Vehicle(), PlanningParameters()
FOLLOWING_ALONE = replace(LOWER, choice=replace(LOWER.choice, speeds=0))
V = 8.0
MOTION = {
    "v": st.floats(0.5, 9.0),
    "a": st.floats(-1.5, 1.5),
    "speed": st.floats(0.5, 9.0),
    "until": st.floats(1.0, 6.0),
}


def at(course: SpeedPolynomial, t: float) -> tuple[float, float, float]:
    """Arc length, speed and acceleration by numpy's polynomials."""
    s = np.polynomial.Polynomial((0.0, course.c1, course.c2, course.c3, course.c4, course.c5))
    return float(s(t)), float(s.deriv(1)(t)), float(s.deriv(2)(t))


@given(**MOTION)
def test_a_speed_is_settled_at(v: float, a: float, speed: float, until: float) -> None:
    course = keep_speed(v, a, speed, until)
    assert at(course, 0.0) == pytest.approx((0.0, v, a))
    assert at(course, until)[1:] == pytest.approx((speed, 0.0), abs=1e-9)


@given(**MOTION, share=st.floats(0.1, 0.8))
def test_the_rest_of_a_course_is_the_course_from_there(
    v: float, a: float, speed: float, until: float, share: float
) -> None:
    course, gone = keep_speed(v, a, speed, until), share * until
    s, v_there, a_there = at(course, gone)
    rest = keep_speed(v_there, a_there, speed, until - gone)
    assert at(rest, until - gone)[0] + s == pytest.approx(at(course, until)[0], abs=1e-6)


@given(**MOTION, s=st.floats(0.0, 60.0))
def test_a_place_is_arrived_at(v: float, a: float, speed: float, until: float, s: float) -> None:
    course = arrive(v, a, s, speed, until)
    assert at(course, 0.0) == pytest.approx((0.0, v, a))
    assert at(course, until) == pytest.approx((s, speed, 0.0), abs=1e-6)


@settings(max_examples=15)
@given(**MOTION)
def test_rows_are_the_course_and_then_its_speed(v: float, a: float, speed: float, until: float) -> None:
    for course in (keep_speed(v, a, speed, until), arrive(v, a, 0.6 * until * (v + speed), speed, until)):
        rows = np.empty((71, 3))
        sample_polynomial(course, rows)
        for i, row in enumerate(rows):
            t = i * STEP_S
            assert row[0] == pytest.approx(distance_at(course, t))
            expected = at(course, t)[1:] if t < until else (speed, 0.0)
            assert row[1:] == pytest.approx(expected, abs=1e-6)


def drives(parameters: PlanningParameters, seconds: float, *things: Thing) -> Log:
    """A drive along a single lane, no plan of which the check rejects."""
    planner, lanes = Planner(VEHICLE, parameters), straight()

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        request = follow(lanes(now.ego.pose.x))
        result = planner.plan(request, now, previous)
        assert result.trajectory is not None
        assert check(result.trajectory, now, regulations_for(request), VEHICLE, parameters) is None, stamp
        return result

    return drive(plan, scene(v=V), seconds, things)


def braking(log: Log) -> float:
    """Braking, squared, over time (m^2/s^3)."""
    return sum(min(0.0, now.ego.a) ** 2 for _, now, _ in log) * TICK_S


def jerk(log: Log) -> float:
    """The hardest (m/s^3) from one tick to the next."""
    return max(abs(then.ego.a - now.ego.a) for (_, now, _), (_, then, _) in itertools.pairwise(log)) / TICK_S


def crossing_car(y: float) -> Thing:
    return Thing(7, 70.0, y, math.pi / 2.0, 4.0)


def walker(y: float) -> Thing:
    return Thing(7, 70.0, y, math.pi / 2.0, 1.4, length=0.6, width=0.6, kind=PEDESTRIAN)


@pytest.mark.clause("NOR-5")
@pytest.mark.parametrize("thing", [crossing_car(-12.0), walker(-5.0), walker(-7.0)], ids=["car", "walker", "later"])
@pytest.mark.medium
def test_a_car_that_slows_early_for_a_crossing_agent_brakes_less_and_is_no_later(thing: Thing) -> None:
    early, late = drives(LOWER, 16.0, thing), drives(FOLLOWING_ALONE, 16.0, thing)
    assert braking(early) < 0.8 * braking(late)
    assert early[-1][1].ego.pose.x > late[-1][1].ego.pose.x - 0.1
    assert min(now.ego.v for _, now, _ in early) > min(now.ego.v for _, now, _ in late)


@pytest.mark.clause("EXPL-1")
def test_what_the_car_slows_early_for_is_said() -> None:
    slowing = [result for _, now, result in drives(LOWER, 4.0, walker(-7.0)) if now.ego.a < -0.3]
    assert len(slowing) > 10
    assert {result.limit.reason for result in slowing[:10]} == {Reason.PEDESTRIAN}
    assert {result.limit.blocker for result in slowing[:10]} == {7}


@pytest.mark.parametrize(
    "thing", [Thing(7, 75.0, 0.0, moving=True), Thing(7, 55.0, 0.0, v=4.0)], ids=["standing", "a leader"]
)
@pytest.mark.medium
def test_no_lower_speed_saves_anything_before_what_does_not_go_away(thing: Thing) -> None:
    both = zip(drives(LOWER, 10.0, thing), drives(FOLLOWING_ALONE, 10.0, thing), strict=True)
    assert all(one.ego == other.ego for (_, one, _), (_, other, _) in both)


@pytest.mark.slow
def test_on_the_whole_crossings_cost_less_braking_and_no_time() -> None:
    """Cars and walkers from both sides, wherever they meet the car, also where it passes before them anyway."""
    rng, early, late, farther = np.random.default_rng(5), 0.0, 0.0, []
    for _ in range(12):
        y, v, x, side = rng.uniform(-14.0, -2.0), rng.uniform(0.8, 5.0), rng.uniform(40.0, 80.0), rng.choice((1, -1))
        kind, length, width = ((CAR, 4.5, 1.9), (PEDESTRIAN, 0.6, 0.6))[rng.integers(2)]
        thing = Thing(7, x, side * y, side * math.pi / 2.0, v, length=length, width=width, kind=kind)
        with_lower, with_following = drives(LOWER, 12.0, thing), drives(FOLLOWING_ALONE, 12.0, thing)
        early, late = early + braking(with_lower), late + braking(with_following)
        farther.append(with_lower[-1][1].ego.pose.x - with_following[-1][1].ego.pose.x)
    print(f"braking {early:.1f}, car-following alone {late:.1f}")
    print(f"farther {np.mean(farther):.2f} m, {min(farther):.2f} at least")
    assert early < 0.9 * late
    assert np.mean(farther) > 0.0
    assert min(farther) > -0.5


@settings(deadline=None, max_examples=6)
@given(y=st.floats(-14.0, -2.0), v=st.floats(0.8, 5.0), x=st.floats(45.0, 80.0))
@pytest.mark.medium
def test_an_agent_that_crosses_is_neither_met_nor_braked_for_more(y: float, v: float, x: float) -> None:
    """`drives` lets nothing pass that the check rejects."""
    thing = Thing(7, x, y, math.pi / 2.0, v, length=1.8, width=0.7, kind=PEDESTRIAN)
    early, late = drives(LOWER, 8.0, thing), drives(FOLLOWING_ALONE, 8.0, thing)
    assert braking(early) < braking(late) + 1.0
    assert jerk(early) < max(jerk(late), VEHICLE.max_jerk) + 0.1


D = LongitudinalLimits.of(VEHICLE, LOWER)
RAMP = ramp_of(D)


def rows_of(v: FloatArray, a: FloatArray | float = 0.0) -> FloatArray:
    """A motion whose way is that of its speeds."""
    s = np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (v[1:] + v[:-1]))))
    return np.column_stack((s, v, np.zeros(len(v)) + a))


def test_a_motion_is_smooth_within_comfort() -> None:
    even = np.full(40, 5.0)
    assert ca._is_smooth(rows_of(even), D)
    for row in (1, 20, 39):
        hardest = ((D.accel - 0.01, True), (D.accel + 0.01, False), (0.01 - D.decel, True), (-D.decel - 0.01, False))
        for a, smooth in hardest:
            rows = rows_of(even, a)
            assert bool(ca._is_smooth(rows, D)) is smooth
        for change, smooth in ((0.99, True), (1.01, False), (-1.01, False)):
            rows = rows_of(even)
            rows[row:, 2] = change * D.jerk * STEP_S
            assert bool(ca._is_smooth(rows, D)) is smooth
        rows = rows_of(even)
        rows[row, 1] = -0.01
        assert not ca._is_smooth(rows, D), "backwards"


def test_a_motion_keeps_below_the_envelope_all_along() -> None:
    n = 101
    path = new_path(n)
    path[:, PS] = 0.5 * np.arange(n)
    frenet, envelope = FrenetPath(path, n, 0, np.zeros((2, 16)), 0), new_envelope(n)
    envelope.speed[:], envelope.level[:] = 6.0, np.inf
    for v, slow in ((6.04, True), (6.06, False)):
        assert bool(ca._is_slow_enough(rows_of(np.full(60, v)), frenet, envelope)) is slow
        once = rows_of(np.where(np.arange(60) == 30, v, 5.0))
        assert bool(ca._is_slow_enough(once, frenet, envelope)) is slow
    envelope.speed[:] = np.interp(path[:, PS], (10.0, 20.0), (6.0, 4.0))
    envelope.level[:] = np.where(path[:, PS] < 10.0, 9.5, 0.0)
    s = rows_of(np.full(60, 5.0))[:, 0]
    for more, slow in ((0.03, True), (0.08, False)):
        rows = np.column_stack((s, np.interp(s, (10.0, 20.0), (6.0, 4.0)) + more, np.zeros(60)))
        assert bool(ca._is_slow_enough(rows, frenet, envelope)) is slow
    far = rows_of(np.full(400, 3.0))
    assert far[-1, 0] > 50.0 and not ca._is_slow_enough(far, frenet, envelope), "beyond the end of the path"


def test_braking_and_speed_that_is_missing_cost() -> None:
    e = ca.SpeedSampling(4, 2.0, 3.0, 0.25, 0.0)
    rows = rows_of(np.full(40, 5.0))
    assert ca.speed_cost(rows, 39, 5.0, e) == 0.0 == ca.speed_cost(rows, 39, 4.0, e)
    assert ca.speed_cost(rows, 39, 7.0, e) == pytest.approx(3.0 * 2.0**2)
    rows[:10, 2], rows[10:20, 2] = -1.5, 1.5
    assert ca.speed_cost(rows, 39, 5.0, e) == pytest.approx(2.0 * 10 * 1.5**2 * STEP_S)
    assert ca.speed_cost(rows, 5, 5.0, e) == pytest.approx(2.0 * 5 * 1.5**2 * STEP_S)


def walls(s: float, first: int, last: int, leader: float = math.inf) -> StBoundaries:
    traffic = no_traffic()
    traffic.wall_s[first : last + 1], traffic.wall_id[first : last + 1] = s, 9
    traffic.leader_s[:], traffic.leader_id[:] = leader, 7 if leader < math.inf else -1
    return traffic


def test_only_for_what_leaves_or_goes_ahead_is_a_lower_speed_tried() -> None:
    last = PREDICTION_STEPS - 1
    assert ca.yields_for_a_while(walls(20.0, 3, 9))
    assert ca.yields_for_a_while(walls(20.0, 3, last - 1))
    assert not ca.yields_for_a_while(walls(20.0, 3, last)), "it stays"
    assert not ca.yields_for_a_while(no_traffic())
    assert not ca.yields_for_a_while(walls(20.0, 3, 9, leader=29.0)), "it leads where the car would have stopped"
    assert ca.yields_for_a_while(walls(20.0, 3, 9, leader=31.0))


def test_the_one_that_the_car_would_brake_for_is_named() -> None:
    free = AccelerationDemand(1.0, FREE, -1, 0.0, math.inf)
    for reason in (FOLLOWING, YIELDING, STOPPING):
        binds = AccelerationDemand(-1.0, reason, 3, 5.0, 4.0)
        assert ca.demand_ahead(binds, walls(20.0, 3, 9)) == binds
    assert ca.demand_ahead(free, no_traffic()) == free
    told = ca.demand_ahead(free, walls(20.0, 3, 9, leader=15.0))
    assert (told.accel, told.reason, told.blame, told.distance) == (1.0, YIELDING, 9, 20.0)
    nearer = walls(20.0, 3, 9)
    nearer.wall_s[6], nearer.wall_id[6] = 12.0, 4
    assert ca.demand_ahead(free, nearer)[1:4] == (YIELDING, 4, 12.0)
    told = ca.demand_ahead(free, walls(20.0, 3, 2, leader=15.0))
    assert told[1:4] == (FOLLOWING, 7, 15.0)


def test_the_lower_speed_is_reached_where_the_car_can_still_stop_when_the_last_has_left() -> None:
    """Else at the next whole multiple of 2.5 s that leaves the time for it."""
    start, speed = StartMotion(8.0, 0.0), 4.0
    until = 13 * PREDICTION_STEP_S
    course = ca.slow_down(start, speed, 100.0, walls(30.0, 2, 12), RAMP, D)
    place = 30.0 - stopping_distance(speed + D.decel / D.gain, RAMP, D)
    assert (course.until, course.speed) == (pytest.approx(until), speed)
    assert distance_at(course, until) == pytest.approx(place)
    soon = ca.slow_down(start, speed, 100.0, walls(30.0, 0, 4), RAMP, D)
    least = max(1.5, 4.0 / 3.0 * 4.0 / D.decel)
    assert soon.until == pytest.approx(102.5 + 2.5 * math.floor((least - 2.5) / 2.5 + 1.0) - 100.0)
    assert soon.until > least and (100.0 + soon.until) % 2.5 == pytest.approx(0.0)
    near = ca.slow_down(start, speed, 101.3, walls(5.0, 2, 12), RAMP, D)
    assert (101.3 + near.until) % 2.5 == pytest.approx(0.0) and 101.3 + near.until > 101.3 + least
