"""Lower speeds beside the car-following model: polynomials in time, and what they are good for."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.request import PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check
from tuling_fsm.planning.speed.candidates import SpeedPolynomial, arrive, distance_at, keep_speed, sample_polynomial

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


@given(**MOTION)
@pytest.mark.medium
def test_rows_are_the_course_and_then_its_speed(v: float, a: float, speed: float, until: float) -> None:
    course, rows = keep_speed(v, a, speed, until), np.empty((71, 3))
    sample_polynomial(course, rows)
    for i, row in enumerate(rows):
        t = i * STEP_S
        assert row[0] == pytest.approx(distance_at(course, t))
        expected = at(course, t)[1:] if t < until else (speed, 0.0)
        assert row[1:] == pytest.approx(expected, abs=1e-9)


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
    for _ in range(20):
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
