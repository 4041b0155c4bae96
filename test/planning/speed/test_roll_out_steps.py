"""A roll-out step by step: envelopes of uneven paths, what is seen ahead, and the first and the last of a motion."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.scene import PREDICTION_STEPS
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PKAPPA, PROOM, PS, FrenetPath, new_path
from tuling_fsm.planning.speed import roll_out as ro
from tuling_fsm.planning.speed.car_following import LongitudinalLimits, ramp_of
from tuling_fsm.planning.speed.roll_out import (
    AT_LIMIT,
    FREE,
    IN_BEND,
    PASSING,
    STOPPING,
    TIGHT,
    YIELDING,
    Progress,
    SpeedEnvelope,
    StartMotion,
    StopTarget,
)

from .test_roll_out import NOWHERE, bent, driven, envelope_of, led, straight, walled

D = LongitudinalLimits.of(Vehicle(), PlanningParameters())
RAMP = ramp_of(D)


def uneven(seed: int, points: int = 90) -> FrenetPath:
    """A straight path whose points are from 0.2 to 1.2 m apart."""
    path = new_path(points)
    path[1:, PS] = np.cumsum(np.random.default_rng(seed).uniform(0.2, 1.2, points - 1))
    path[:, PROOM] = 9.0
    return FrenetPath(path, points, 0, np.zeros((2, 16)), 0)


@pytest.mark.parametrize("seed", range(10))
def test_an_envelope_is_the_highest_that_can_be_braked_along_in_comfort(seed: int) -> None:
    """No braking is harder than comfort or sets in faster than its jerk; where it is below the limit, one of both is
    what holds it down.
    """
    draw, frenet = np.random.default_rng(seed), uneven(seed)
    n, s = frenet.points, frenet.path[:, PS]
    limit = draw.uniform(0.3, 8.0, n // 9)[np.minimum(np.arange(n) // 9, n // 9 - 1)]
    limit[-1], limit[0] = 0.6 * limit[-2], 8.0
    if seed % 2:
        limit[1] = 1.0
    v = envelope_of(frenet, limit).speed
    assert np.all(v <= limit)
    step = np.diff(s)
    braking = np.maximum(0.0, (v[:-1] ** 2 - v[1:] ** 2) / (2.0 * step))
    after = np.append(np.where(v[1:-1] < limit[1:-1], braking[1:], 0.0), 0.0)
    most = np.minimum(D.decel, after + D.jerk * step / np.maximum(D.creep, v[1:]))
    assert np.all(braking <= most + 1e-9)
    held = v[:-1] < limit[:-1]
    assert held.any() and held[0]
    np.testing.assert_allclose(braking[held], most[held], rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_how_far_a_speed_stays_what_it_is_and_what_it_is_braked_for_is_known_at_each_point(seed: int) -> None:
    draw, frenet = np.random.default_rng(seed), uneven(seed)
    n, s = frenet.points, frenet.path[:, PS]
    limit = draw.choice((3.0, 5.0, 8.0), n // 9)[np.minimum(np.arange(n) // 9, n // 9 - 1)]
    cause = PASSING + 1.0 + np.arange(n)
    made = envelope_of(frenet, limit, cause)
    for i in range(n):
        other = np.flatnonzero(made.speed[i:] != made.speed[i])
        assert made.level[i] == (s[i + other[0] - 1] if len(other) else math.inf)
        slower = np.flatnonzero(made.speed[i:] == limit[i:])
        assert made.bound[i] == cause[i + slower[0]], "the next place where a limit itself is reached"


@pytest.mark.parametrize("change", [0.02, 0.03, 0.045])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_from_one_bend_into_the_other_the_wheels_have_to_follow(change: float, sign: float) -> None:
    """Over 2 m; the bends themselves could be driven faster."""
    frenet = straight()
    s = frenet.path[:, PS]
    frenet.path[:, PKAPPA] = sign * change * np.interp(s, (50.0, 52.0), (-0.5, 0.5))
    made = envelope_of(frenet, D.max_speed)
    rate = D.wheelbase * change / 2.0
    fastest = min(D.max_speed, D.steer_rate / rate)
    assert made.speed.min() == pytest.approx(fastest, rel=0.01)
    assert math.sqrt(D.lateral / (0.5 * change)) > fastest
    assert bool(made.bound[101] == IN_BEND) is (fastest < D.max_speed)
    kink = straight()
    kink.path[120:, PKAPPA] = sign * change
    steep = D.steer_rate / (D.wheelbase * change / 0.5)
    assert envelope_of(kink, D.max_speed).speed.min() == pytest.approx(max(D.creep, steep), rel=0.01)


def test_of_a_bend_a_limit_and_a_narrow_place_the_slowest_counts_and_is_named() -> None:
    frenet = bent(0.1, 40.0, 20.0, 20.0)
    fastest = math.sqrt(D.lateral / 0.1)
    for limit, room, v, bound in ((fastest - 0.1, 9.0, fastest - 0.1, AT_LIMIT), (8.0, 9.0, fastest, IN_BEND),
                                  (8.0, 0.1, D.slow_speed + 0.1 * D.slow_slope, TIGHT)):  # fmt: skip
        frenet.path[:, PROOM] = room
        made = envelope_of(frenet, limit)
        assert made.speed[140] == pytest.approx(v) and made.bound[140] == bound


def root_curve(frenet: FrenetPath, at: float, v: float, decel: float) -> FloatArray:
    """Speeds from which even braking with `decel` leads to `v` at an arc length."""
    return np.sqrt(v * v + 2.0 * decel * np.maximum(0.0, at - frenet.path[:, PS]))


def fine(points: int = 801) -> FrenetPath:
    path = new_path(points)
    path[:, PS] = 0.05 * np.arange(points)
    return FrenetPath(path, points, 0, np.zeros((2, 16)), 0)


@pytest.mark.parametrize("s", [1.0, 7.93, 20.01])
def test_on_an_envelope_of_even_braking_the_car_brakes_evenly_wherever_it_is(s: float) -> None:
    frenet, decel = fine(), 1.2
    speed = root_curve(frenet, 30.0, 2.0, decel)
    here = math.sqrt(4.0 + 2.0 * decel * (30.0 - s))
    for at in (0, int(s / 0.05) - 3):
        asked = ro._envelope_accel(frenet, speed, at, s, here, D.gain)
        assert asked == pytest.approx(-decel, abs=0.02)
    slower = 0.5 * here
    asked = ro._envelope_accel(frenet, speed, 0, s, slower, D.gain)
    assert asked == pytest.approx(D.gain * (here - slower) - 0.5 * decel, abs=0.05)
    faster = here + 0.3
    asked = ro._envelope_accel(frenet, speed, 0, s, faster, D.gain)
    assert asked == pytest.approx(-D.gain * 0.3 - decel, abs=0.05), "no harder than the envelope and its gain"


@pytest.mark.parametrize(("tau", "seen"), [(0.3, True), (0.6, True), (0.75, False)])
def test_a_fall_of_the_envelope_is_seen_so_long_before(tau: float, seen: bool) -> None:
    frenet, v = fine(), 6.0
    speed = np.minimum(v, root_curve(frenet, 25.0, 2.0, 1.5))
    begins = 25.0 - (v * v - 4.0) / 3.0
    asked = ro._envelope_accel(frenet, speed, 0, begins - tau * v, v, D.gain)
    assert (asked < -0.05) is seen
    rows, _ = driven(frenet, level_of(frenet, speed), v)
    soon = np.flatnonzero(rows[:, 2] < -0.01)
    assert begins - 0.7 * v < rows[soon[0], 0] < begins - 0.4 * v


def level_of(frenet: FrenetPath, speed: FloatArray) -> SpeedEnvelope:
    made = ro.new_envelope(frenet.points)
    made.speed[:], made.bound[:] = speed, AT_LIMIT
    for i in range(frenet.points):
        other = np.flatnonzero(speed[i:] != speed[i])
        made.level[i] = frenet.path[i + other[0] - 1, PS] if len(other) else math.inf
    return made


def test_a_rising_envelope_is_taken_as_it_is_between_two_points() -> None:
    frenet = uneven(4, 30)
    s = frenet.path[:, PS]
    speed = 2.0 + 0.25 * s
    for at in (0.31, 3.7, 9.2):
        asked = ro._envelope_accel(frenet, speed, 0, at, 1.0, D.gain)
        assert asked == pytest.approx(D.gain * (2.0 + 0.25 * at - 1.0))


def test_at_the_end_of_a_path_its_last_speed_is_what_is_allowed() -> None:
    frenet = uneven(4, 30)
    end = float(frenet.path[-1, PS])
    speed = np.full(30, 5.0)
    speed[-1] = 3.0
    for s, v in ((end + 2.0, 4.0), (end, 2.0), (end + 5.0, 0.0)):
        assert ro._envelope_accel(frenet, speed, 28, s, v, D.gain) == pytest.approx(D.gain * (3.0 - v))
    assert ro._envelope_accel(frenet, np.full(30, 5.0), 28, end - 0.01, 4.0, D.gain) == pytest.approx(D.gain)
    asked = ro._envelope_accel(straight(21), np.append(np.full(20, 5.0), 3.0), 0, 9.0, 5.0, D.gain)
    assert asked == pytest.approx(D.gain * (3.0 - 5.0)), "and no less, however far beyond it a look goes"
    single = FrenetPath(new_path(1), 1, 0, np.zeros((2, 16)), 0)
    assert ro._envelope_accel(single, np.full(1, 3.0), 0, 0.0, 2.0, D.gain) == pytest.approx(D.gain)
    two = FrenetPath(np.asfortranarray(uneven(4, 30).path[:2]), 2, 0, np.zeros((2, 16)), 0)
    assert ro._envelope_accel(two, np.array((3.0, 1.0)), 0, 0.0, 0.0, D.gain) == pytest.approx(3.0 * D.gain)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_known_of_even_stretches_changes_nothing(seed: int) -> None:
    """They only spare a look."""
    draw, frenet = np.random.default_rng(seed), uneven(seed, 120)
    n = frenet.points
    limit = draw.uniform(2.0, 8.0, n // 12)[np.minimum(np.arange(n) // 12, n // 12 - 1)]
    known = envelope_of(frenet, limit)
    unknown = known._replace(level=np.zeros(n))
    for v in (0.0, 3.0, float(known.speed[0])):
        rows, told = driven(frenet, known, v, traffic=walled(25.0, 3, 14))
        other, tells = driven(frenet, unknown, v, traffic=walled(25.0, 3, 14))
        np.testing.assert_allclose(rows, other, atol=1e-9)
        assert told == pytest.approx(tells)


def test_what_binds_at_first_is_told_with_all_that_belongs_to_it() -> None:
    frenet = straight()
    _, told = driven(frenet, envelope_of(frenet, 8.0), 2.0)
    assert told == (D.accel, FREE, -1, 0.0, math.inf)
    _, told = driven(frenet, envelope_of(frenet, 5.0, PASSING + 3.0), 5.0)
    assert told == (pytest.approx(0.0, abs=1e-9), PASSING, 3, 0.0, math.inf)
    _, told = driven(frenet, envelope_of(frenet, 5.0, PASSING), 6.0)
    assert told[1:] == (PASSING, 0, 0.0, math.inf) and told.accel == pytest.approx(-D.gain)
    _, told = driven(frenet, envelope_of(frenet, 5.0), 7.0, stop=StopTarget(60.0, 0.0))
    assert told[1:] == (AT_LIMIT, -1, 0.0, 60.0)
    _, told = driven(frenet, envelope_of(frenet, 8.0), 8.0, traffic=walled(13.0, 0, 9))
    assert told[1:] == (YIELDING, 9, 13.0, 13.0) and told.accel < -D.decel
    _, told = driven(frenet, envelope_of(frenet, 8.0), 0.0, stop=StopTarget(0.3, 0.0))
    assert told.reason == STOPPING and told.distance == 0.3 == told.room


def test_a_standing_car_waits_for_a_leader_that_stands_and_is_told_so() -> None:
    frenet = straight()
    for gap, waits in ((D.standstill_gap + 0.3, True), (D.standstill_gap + 0.6, False)):
        rows, told = driven(frenet, envelope_of(frenet, 8.0), 0.0, traffic=led(gap, 0.0))
        assert bool(rows[-1, 0] == 0.0) is waits
        assert not waits or (told.blame == 7 and told.distance == gap)
    held, _ = driven(frenet, envelope_of(frenet, 8.0), 0.0, -0.8, stop=StopTarget(0.3, 0.0))
    assert np.all(held[1:] == 0.0)
    goes, _ = driven(frenet, envelope_of(frenet, 8.0), 0.0, -0.8)
    assert goes[1, 2] == pytest.approx(D.jerk * STEP_S), "what is left of braking is no way back"


@pytest.mark.parametrize(
    ("v", "room", "over"), [(0.1, 0.025, True), (0.1, 0.05, False), (0.14, 0.025, True), (0.2, 0.025, False)]
)
def test_with_next_to_no_room_a_slow_car_has_stopped(v: float, room: float, over: bool) -> None:
    frenet = straight()
    rows, _ = driven(frenet, envelope_of(frenet, 8.0), v, -0.1, stop=StopTarget(room, 0.0))
    assert bool(rows[1, 1] == 0.0) is over
    assert rows[-1, 1] == 0.0


@pytest.mark.parametrize(("first", "hard"), [(14, True), (17, False)])
def test_what_comes_after_three_seconds_is_not_braked_for_hard_yet(first: int, hard: bool) -> None:
    """A wall is there all at once, 4 m before the car."""
    frenet, v = straight(), 7.0
    s = v * 0.2 * first
    rows, _ = driven(frenet, envelope_of(frenet, v), v, traffic=walled(s + 4.0, first, PREDICTION_STEPS - 1))
    steps = np.diff(rows[:, 2])
    assert bool(steps.min() < -1.5 * D.jerk * STEP_S) is hard
    assert np.all(rows[: 2 * first - 2, 1] == pytest.approx(v))


@pytest.mark.parametrize(
    ("v", "a", "wanted", "soon", "after"),
    [
        (5.0, 1.0, -4.0, True, -1.3 * D.decel),
        (5.0, -4.0, -5.5, False, -4.0 - D.jerk * STEP_S),
        (5.0, -4.0, -1.0, False, -4.0 + D.hard_jerk * STEP_S),
        (5.0, -2.0, -1.0, True, -2.0 + D.jerk * STEP_S),
        (5.0, 0.0, -1.31 * D.decel, True, -1.31 * D.decel),
        (5.0, 0.0, -1.29 * D.decel, True, -D.jerk * STEP_S),
    ],
    ids=["from acceleration", "harder later", "less is let go at once", "out of comfort", "just hard", "not yet hard"],
)
def test_hard_braking_is_taken_up_at_once_and_only_where_it_is_due(
    v: float, a: float, wanted: float, soon: bool, after: float
) -> None:
    new_v, new_a = ro._next_speed(v, a, wanted, soon, False, D)
    assert new_a == pytest.approx(after) and new_v == pytest.approx(v + 0.5 * STEP_S * (a + after))


def test_a_car_sets_off_however_gently_and_never_rolls_back() -> None:
    new_v, new_a = ro._next_speed(0.0, 0.0, 1e-3, True, False, D)
    assert new_a == 1e-3 and new_v == pytest.approx(5e-5)
    assert ro._next_speed(1e-3, -0.2, 1.0, True, False, D) == (0.0, 0.0)
    assert ro._next_speed(0.05, -0.2, 1.0, True, False, D)[0] > 0.0
    assert ro._next_speed(0.5, 0.0, 0.0, True, False, D) == (0.5, 0.0)


def test_at_the_last_prediction_step_what_was_there_before_is_gone() -> None:
    last, now = PREDICTION_STEPS - 1, Progress(3.0, 5.0, 0.0)
    assert ro.traffic_demand(walled(10.0, 0, last - 1), NOWHERE, last, 0.0, now, RAMP, D).reason == FREE
    assert ro.traffic_demand(walled(10.0, 0, last - 1), NOWHERE, last - 1, 0.0, now, RAMP, D).blame == 9
    near = walled(10.0, 4, 9)
    near.wall_s[5], near.wall_id[5] = 8.0, 3
    for j, wall, blame in ((3, 10.0, 9), (4, 8.0, 3), (5, 8.0, 3), (6, 10.0, 9)):
        told = ro.traffic_demand(near, NOWHERE, j, 0.0, now, RAMP, D)
        assert (told.distance, told.blame) == (wall - 3.0, blame)


@pytest.mark.parametrize("j", [0, 9])
def test_the_gap_that_counts_is_that_to_where_the_leader_is_by_then(j: int) -> None:
    traffic = led(20.0, 0.3)
    traffic.leader_v[j], traffic.leader_id[j] = 0.45, 2
    told = ro.traffic_demand(traffic, NOWHERE, j, 0.1, Progress(1.0, 4.0, 0.0), RAMP, D)
    assert told.distance == pytest.approx(float(traffic.leader_s[j]) + 0.045 - 1.0) and told.blame == 2
    assert told.room == pytest.approx(told.distance - D.standstill_gap - D.headway * 0.45)
    traffic.leader_v[j] = 0.55
    assert ro.traffic_demand(traffic, NOWHERE, j, 0.1, Progress(1.0, 4.0, 0.0), RAMP, D).room == math.inf


def test_how_far_the_car_can_have_got_ends_with_its_motion() -> None:
    whole, short = np.empty(PREDICTION_STEPS), np.empty(PREDICTION_STEPS)
    start = StartMotion(3.0, 0.0)
    ro.fill_reachable(start, 71, D, whole)
    ro.fill_reachable(start, 21, D, short)
    np.testing.assert_allclose(short[:11], whole[:11])
    assert np.all(short[11:] == short[10])


@pytest.mark.parametrize("jerk", [0.8, 2.5])
def test_the_jerk_of_a_motion_is_that_of_the_car(jerk: float) -> None:
    d = LongitudinalLimits.of(replace(Vehicle(), max_jerk=jerk), PlanningParameters())
    frenet = straight()
    rows = np.empty((71, 3))
    ro.roll_out(frenet, envelope_of(frenet, 8.0), NOWHERE, ro.no_traffic(), StartMotion(2.0, -0.5), d, rows)
    assert np.abs(np.diff(rows[:, 2])).max() == pytest.approx(jerk * STEP_S)
