"""Which lower speeds are let in: those of a comfortable motion below the envelope and what traffic asks for."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PS, FrenetPath, new_path
from tuling_fsm.planning.speed import candidates as ca
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, follow_accel, ramp_of, stop_accel
from tuling_fsm.planning.speed.roll_out import (
    FOLLOWING,
    FREE,
    YIELDING,
    AccelerationDemand,
    SpeedEnvelope,
    StartMotion,
    StBoundaries,
    StopTarget,
    new_envelope,
    no_traffic,
)

from .test_candidates import MOTION, rows_of, walls

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
D = LongitudinalLimits.of(VEHICLE, PARAMETERS)
RAMP = ramp_of(D)
NOWHERE = StopTarget(math.inf, 0.0)
TOLERANCE = 0.05


def uneven(seed: int, length: float) -> FrenetPath:
    """A straight path whose points are from 0.2 to 1.5 m apart."""
    s = np.concatenate(([0.0], np.cumsum(np.random.default_rng(seed).uniform(0.2, 1.5, 200))))
    n = int(np.searchsorted(s, length))
    path = new_path(n)
    path[:, PS] = s[:n]
    return FrenetPath(path, n, 0, np.zeros((2, 16)), 0)


def envelope(frenet: FrenetPath, speed: FloatArray | float) -> SpeedEnvelope:
    """Speeds at the points, and how far each stays what it is."""
    made, n = new_envelope(frenet.points), frenet.points
    made.speed[:] = speed
    for i in range(n):
        other = np.flatnonzero(made.speed[i:] != made.speed[i])
        made.level[i] = frenet.path[i + other[0] - 1, PS] if len(other) else math.inf
    return made


@pytest.mark.parametrize("seed", range(12))
def test_below_the_envelope_is_below_it_at_every_row(seed: int) -> None:
    """The envelope is a line from point to point; a motion may be a little faster, and not go beyond the last point."""
    draw, frenet = np.random.default_rng(seed), uneven(seed, 60.0)
    s = frenet.path[:, PS]
    speed = np.interp(s, np.sort(draw.uniform(5.0, 55.0, 5)), draw.uniform(3.0, 8.0, 5))
    made, judged = envelope(frenet, speed), set()
    for _ in range(12):
        v = np.interp(STEP_S * np.arange(71), (0.0, 2.0, 4.0, 7.0), draw.uniform(0.5, 1.0, 4) * draw.uniform(2.0, 9.0))
        rows = rows_of(v)
        over = float(np.max(v - np.interp(rows[:, 0], s, speed)))
        if rows[-1, 0] < s[-1]:
            rows[:, 1] += TOLERANCE - over - 0.001
            assert ca._is_slow_enough(rows, frenet, made)
            rows[:, 1] += 0.002
            assert not ca._is_slow_enough(rows, frenet, made)
            judged.add(int(np.argmax(v - np.interp(rows[:, 0], s, speed))))
        else:
            assert not ca._is_slow_enough(rows, frenet, made)
    assert judged


@pytest.mark.parametrize("row", [0, 1, 35, 69, 70])
def test_on_the_level_first_stretch_the_fastest_row_counts(row: int) -> None:
    frenet = uneven(2, 60.0)
    made = envelope(frenet, np.where(frenet.path[:, PS] < 40.0, 6.0, 4.0))
    for more, slow in ((0.04, True), (0.06, False)):
        rows = rows_of(np.full(71, 4.0))
        rows[row, 1] = 6.0 + more
        assert rows[-1, 0] < made.level[0]
        assert bool(ca._is_slow_enough(rows, frenet, made)) is slow


def test_beyond_the_level_stretch_the_last_row_counts_as_well_and_slow_paths_are_level_too() -> None:
    frenet = uneven(2, 60.0)
    made = envelope(frenet, np.where(frenet.path[:, PS] < 28.0, 6.0, 3.0))
    edge = float(made.level[0])
    rows = rows_of(np.full(71, 4.0))
    rows[:, 1] = 5.9
    for short, slow in ((0.01, True), (-0.39, False)):
        rows[:, 0] += edge - short - rows[-1, 0]
        assert bool(ca._is_slow_enough(rows, frenet, made)) is slow
    creeping = envelope(frenet, 0.5)
    for v, slow in ((0.4, True), (0.54, True), (0.56, False)):
        assert bool(ca._is_slow_enough(rows_of(np.full(71, v)), frenet, creeping)) is slow


def test_slow_motions_and_changes_of_acceleration_step_by_step_are_smooth() -> None:
    assert ca._is_smooth(rows_of(np.full(40, 0.3)), D) and ca._is_smooth(rows_of(np.zeros(40)), D)
    for share, smooth in ((0.99, True), (1.01, False)):
        for begin in (1, 10):
            rows = rows_of(np.full(40, 5.0))
            rows[begin:, 2] = share * D.jerk * STEP_S * np.minimum(np.arange(40 - begin) + 1.0, 3.0)
            assert bool(ca._is_smooth(rows, D)) is smooth


def test_the_end_of_the_path_is_not_reached_and_its_last_stretch_counts() -> None:
    frenet = uneven(5, 30.0)
    end = float(frenet.path[-1, PS])
    made = envelope(frenet, np.linspace(7.0, 5.0, frenet.points))
    for short, slow in ((0.01, True), (-0.01, False)):
        rows = rows_of(np.full(71, (end - short) / 7.0))
        assert bool(ca._is_slow_enough(rows, frenet, made)) is slow
    rows = rows_of(np.full(71, (end - 0.01) / 7.0))
    for more, slow in ((0.04, True), (0.06, False)):
        rows[-1, 1] = float(np.interp(rows[-1, 0], frenet.path[:, PS], made.speed)) + more
        assert bool(ca._is_slow_enough(rows, frenet, made)) is slow


def admitted(
    rows: FloatArray, traffic: StBoundaries | None = None, stop: StopTarget = NOWHERE, top: float = 9.0
) -> bool:
    frenet = uneven(1, 120.0)
    there = traffic or no_traffic()
    return bool(ca.is_admissible(rows, frenet, envelope(frenet, top), stop, there, RAMP, D))


def test_a_motion_is_let_in_that_is_smooth_and_slow_enough_and_no_other() -> None:
    even = rows_of(np.full(71, 5.0))
    assert admitted(even) and admitted(even, top=4.96) and not admitted(even, top=4.94)
    jerky = even.copy()
    jerky[30:, 2] = 1.01 * D.jerk * STEP_S
    assert not admitted(jerky)


@pytest.mark.parametrize("step", [3, 10, PREDICTION_STEPS - 1])
def test_from_the_third_prediction_step_on_no_more_is_asked_for_than_the_model_allows(step: int) -> None:
    """A wall that is there at one step only: what a stop before it asks for is compared at that step."""
    v, a = 5.0, 0.3
    rows = rows_of(np.full(71, v))
    rows[:, 2] = a
    s = float(rows[round(step * PREDICTION_STEP_S / STEP_S), 0])
    rooms = np.linspace(0.5, 30.0, 6000)
    asked = np.array([stop_accel(room, D.crossing_slack, v, a, RAMP, D) for room in rooms])
    edge = float(rooms[np.argmax(asked >= a - TOLERANCE)])
    for beyond, let_in in ((0.02, True), (-0.02, False)):
        assert admitted(rows, walls(s + edge + beyond, step, step)) is let_in
    early = walls(float(rows[round(2 * PREDICTION_STEP_S / STEP_S), 0]) + edge - 1.0, 0, 2)
    assert admitted(rows, early), "what is over by then may be asked for by the start"


@pytest.mark.parametrize("leader_v", [2.0, 5.0])
def test_behind_a_leader_it_is_the_gap_at_each_step_that_counts(leader_v: float) -> None:
    v, step = 5.0, 12
    rows = rows_of(np.full(71, v))
    s = float(rows[round(step * PREDICTION_STEP_S / STEP_S), 0])
    gaps = np.linspace(1.0, 60.0, 12000)
    asked = np.array([follow_accel(gap, v, leader_v, RAMP, D)[0] for gap in gaps])
    edge = float(gaps[np.argmax(asked >= -TOLERANCE)])
    for beyond, let_in in ((0.02, True), (-0.02, False)):
        traffic = no_traffic()
        traffic.leader_s[step], traffic.leader_v[step], traffic.leader_id[step] = s + edge + beyond, leader_v, 4
        assert admitted(rows, traffic) is let_in


def test_a_motion_that_ends_before_the_predictions_is_compared_as_far_as_it_goes() -> None:
    short = rows_of(np.full(21, 5.0))
    assert admitted(short, walls(3.0, 12, PREDICTION_STEPS - 1))
    assert not admitted(short, walls(10.2, 10, 10)) and not admitted(rows_of(np.full(71, 5.0)), walls(25.0, 24, 24))


@pytest.mark.parametrize("rows", [20, 21, 22])
def test_the_last_row_of_a_short_motion_counts_if_a_prediction_is_made_for_it(rows: int) -> None:
    traffic = no_traffic()
    traffic.leader_s[10], traffic.leader_id[10] = 11.0, 4
    assert admitted(rows_of(np.full(rows, 5.0)), traffic) is (rows < 21)


def test_a_stop_on_the_path_counts_with_its_slack() -> None:
    rows = rows_of(np.full(71, 5.0))
    needs = 35.0 + 0.5 * 25.0 / D.decel
    assert admitted(rows, stop=StopTarget(needs + 6.0, 0.0))
    assert not admitted(rows, stop=StopTarget(needs - 2.0, 0.0))


@settings(max_examples=40)
@given(**MOTION)
def test_a_course_is_the_way_that_its_speeds_lead(v: float, a: float, speed: float, until: float) -> None:
    """Integrated in tiny steps."""
    for course in (ca.keep_speed(v, a, speed, until), ca.arrive(v, a, 0.6 * until * (v + speed), speed, until)):
        rows = np.empty((71, 3))
        ca.sample_polynomial(course, rows)
        for i in (9, 33, 70):
            t = np.linspace(0.0, i * STEP_S, 4001)
            inside = np.minimum(t, until)
            c = np.polynomial.Polynomial((0.0, course.c1, course.c2, course.c3, course.c4, course.c5))
            way = float(np.trapezoid(np.where(t < until, c.deriv()(inside), speed), t))
            assert rows[i, 0] == pytest.approx(way, abs=2e-3)
            assert ca.distance_at(course, i * STEP_S) == pytest.approx(way, abs=2e-3)


@pytest.mark.parametrize(
    ("stamp", "speed", "v"), [(100.0, 4.0, 8.0), (101.3, 4.0, 8.0), (3.9, 7.0, 8.0), (7.6, 2.0, 3.0), (12.0, 8.0, 6.5)]
)
def test_speeds_settle_at_the_next_multiple_of_two_and_a_half_seconds_that_leaves_time(
    stamp: float, speed: float, v: float
) -> None:
    """At least 1.5 s, and so long that no more than comfortable braking is needed on the way."""
    course = ca.slow_down(StartMotion(v, 0.0), speed, stamp, no_traffic(), RAMP, D)
    least = max(1.5, abs(v - speed) / (0.75 * D.decel))
    multiples = 2.5 * np.arange(100)
    expected = multiples[multiples > stamp + least + 1e-9][0]
    assert stamp + course.until == pytest.approx(expected)
    rows = np.empty((71, 3))
    ca.sample_polynomial(course, rows)
    assert rows[:, 2].min() >= -D.decel - 1e-6 and rows[-1, 1] == pytest.approx(speed)


@pytest.mark.parametrize(("last", "arrives"), [(6, False), (7, True), (12, True)])
def test_where_it_leads_is_told_by_the_nearest_wall_and_when_by_the_last(last: int, arrives: bool) -> None:
    """From 1.5 s on."""
    traffic, speed = walls(34.0, 2, last), 5.0
    traffic.wall_s[4] = 30.0
    course = ca.slow_down(StartMotion(8.0, 0.0), speed, 0.7, traffic, RAMP, D)
    until = (last + 1) * PREDICTION_STEP_S
    if not arrives:
        assert (0.7 + course.until) % 2.5 == pytest.approx(0.0, abs=1e-9)
        return
    assert course.until == pytest.approx(until)
    needs = speed + D.decel / D.gain
    stands = ca.distance_at(course, until) + needs * needs / (2.0 * D.decel)
    assert stands == pytest.approx(30.0, abs=0.5), "from there the car can stop before the nearest"


@pytest.mark.parametrize("gone", [9.9, 10.1])
def test_one_that_the_car_yields_to_has_gone_ahead_when_it_is_ten_metres_on(gone: float) -> None:
    traffic = walls(20.0, 3, 9, leader=20.0 + gone)
    traffic.wall_s[5] = 24.0
    assert bool(ca.yields_for_a_while(traffic)) is (gone > 10.0)
    traffic.leader_s[:-1] = 1.0
    assert bool(ca.yields_for_a_while(traffic)) is (gone > 10.0), "only where it is at last counts"


def test_the_nearest_of_all_that_is_ahead_is_what_a_lower_speed_is_kept_for() -> None:
    binds = AccelerationDemand(1.0, FREE, -1, 0.0, 3.0)
    traffic = walls(20.0, 0, 9)
    traffic.wall_s[0], traffic.wall_id[0] = 11.0, 3
    told = ca.demand_ahead(binds, traffic)
    assert told == AccelerationDemand(1.0, YIELDING, 3, 11.0, 3.0)
    traffic.wall_s[:], traffic.leader_s[0], traffic.leader_id[0] = math.inf, 15.0, 0
    traffic.leader_s[1], traffic.leader_id[1] = 14.0, 8
    assert ca.demand_ahead(binds, traffic) == AccelerationDemand(1.0, FOLLOWING, 0, 15.0, 3.0)
    traffic.leader_s[0] = math.inf
    assert ca.demand_ahead(binds, traffic) == binds, "one that comes in later is none yet"
    first = walls(20.0, 2, 4)
    first.wall_id[2], first.leader_s[0], first.leader_id[0] = 0, 15.0, 7
    assert ca.demand_ahead(binds, first)[1:4] == (YIELDING, 0, 20.0)


def test_what_is_saved_counts_by_the_parameters() -> None:
    choice = replace(PARAMETERS.choice, speeds=3, braking=2.5, regain=1.5, ease=0.4)
    e = ca.SpeedSampling.of(replace(VEHICLE, max_accel=1.2), choice)
    assert e == (3, 2.5, 1.5 / 2.4, 0.4, 0.0)
    rows = rows_of(np.full(40, 5.0))
    rows[3:6, 2], rows[30, 2] = (-1.0, -2.0, 3.0), -1.0
    assert ca.speed_cost(rows, 20, 7.0, e) == pytest.approx(2.5 * 5.0 * STEP_S + 1.5 / 2.4 * 4.0)
    assert ca.speed_cost(rows, 39, 4.0, e) == pytest.approx(2.5 * 6.0 * STEP_S)
    rows[20, 1] = 6.0
    assert ca.speed_cost(rows, 20, 7.0, e) == pytest.approx(2.5 * 5.0 * STEP_S + 1.5 / 2.4 * 1.0)
