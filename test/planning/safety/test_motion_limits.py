"""Rules of the rows of a motion, found once more with whole arrays, and at both sides of each limit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.safety import motion_limits as ml
from tuling_fsm.planning.safety.motion_limits import CURVATURE, HEADING, A, T, V, X, Y
from tuling_fsm.planning.safety.recovery import Recovery, move_path

WHEELBASE = 2.7
SEEDS = range(6)


def wild(seed: int, rows: int = 30) -> FloatArray:
    """A motion that keeps to nothing."""
    draw, m = np.random.default_rng(seed), np.zeros((7, rows))
    m[T] = np.cumsum(draw.uniform(0.05, 0.2, rows))
    m[V] = draw.choice((-1.0, 1.0)) * draw.uniform(0.0, 9.0, rows)
    m[A], m[CURVATURE] = draw.uniform(-5.0, 3.0, rows), draw.uniform(-0.2, 0.2, rows)
    m[HEADING] = np.cumsum(draw.uniform(-0.1, 0.1, rows))
    m[X], m[Y] = np.cumsum(draw.uniform(-1.0, 1.0, rows)), np.cumsum(draw.uniform(-1.0, 1.0, rows))
    return m


def first(broken: FloatArray) -> int:
    """The first row of which it is true, -1 for none."""
    return int(np.argmax(broken)) if broken.any() else -1


def at_each_rank(values: FloatArray) -> list[float]:
    """Limits of which all, some and none of these sizes are more."""
    ordered = np.sort(np.abs(values))
    return [0.5 * ordered[0], *(0.5 * (ordered[i] + ordered[i + 1]) for i in (0, len(ordered) // 2, len(ordered) - 2)),
            1.1 * ordered[-1]]  # fmt: skip


def forward(m: FloatArray) -> FloatArray:
    return np.where(m[V] < 0.0, -m[A], m[A])


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_are_too_bent_or_steered_or_accelerated_too_much(seed: int) -> None:
    m = wild(seed)
    for most in at_each_rank(m[CURVATURE]):
        row, kappa = ml.too_bent(m, most)
        assert row == first(np.abs(m[CURVATURE]) > most)
        assert kappa == (m[CURVATURE, row] if row >= 0 else 0.0)
    rates = np.diff(np.arctan(WHEELBASE * m[CURVATURE])) / np.diff(m[T])
    for most in at_each_rank(rates):
        for rolls in (0.0, 4.0):
            row, rate = ml.steered_too_fast(m, WHEELBASE, most, rolls)
            assert row == first((np.abs(rates) > most) & (np.abs(m[V, 1:]) > rolls))
            assert rate == pytest.approx(rates[row] if row >= 0 else 0.0)
    for most in at_each_rank(m[A]):
        for least in (-1.0, -most, -9.0):
            row, accel = ml.accelerated_too_hard(m, most, least)
            assert row == first((forward(m) > most) | (forward(m) < least))
            assert accel == (forward(m)[row] if row >= 0 else 0.0)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", SEEDS)
def test_jerk_has_another_limit_near_hard_braking_and_near_standing(seed: int) -> None:
    m = wild(seed)
    jerks = np.abs(np.diff(m[A])) / np.diff(m[T])
    for ordinary in at_each_rank(jerks):
        for braking, hard, onset, stands in ((ordinary + 9.0, 4.5, 0.25, 0.5), (ordinary - 3.0, 4.0, 0.3, 2.0),
                                             (1e3, 99.0, 0.5, 1.0), (1e3, 4.8, 0.15, 0.0)):  # fmt: skip
            near = np.array([
                np.any((np.abs(m[T] - when) <= onset) & (forward(m) < -hard)) for when in m[T, :-1]
            ])  # fmt: skip
            settles = np.minimum(np.abs(m[V, 1:]), np.abs(m[V, :-1])) < stands
            limit = np.where(near | settles, braking, ordinary)
            row, jerk, most = ml.jerked(m, ml.JerkLimits(ordinary, braking, hard, onset, stands))
            assert row == first(jerks > limit)
            if row >= 0:
                assert (jerk, most) == (pytest.approx(jerks[row]), limit[row])


@pytest.mark.clause("SAF-2")
def test_what_is_not_finite_or_not_in_order_is_found_wherever_it_is() -> None:
    m = wild(1)
    assert (ml.not_a_number(m), ml.out_of_order(m)) == (-1, -1)
    for row in (0, 7, m.shape[1] - 1):
        for column in range(7):
            for value in (math.nan, math.inf):
                bad = m.copy()
                bad[column, row] = value
                assert ml.not_a_number(bad) == row
    for row in (0, 11, m.shape[1] - 2):
        for later in (0.0, -0.1):
            bad = m.copy()
            bad[T, row + 1] = bad[T, row] + later
            assert ml.out_of_order(bad) == row


def arc(v: FloatArray, kappa: float = 0.05) -> FloatArray:
    """An exact motion: speed goes evenly from row to row, the heading with the way."""
    m = np.zeros((7, len(v)))
    m[T], m[V], m[CURVATURE] = 0.1 * np.arange(len(v)), v, kappa
    way = np.concatenate(([0.0], np.cumsum(0.05 * (v[1:] + v[:-1]))))
    m[HEADING] = 0.3 + kappa * way
    m[X], m[Y] = (np.sin(m[HEADING]) - np.sin(0.3)) / kappa, (np.cos(0.3) - np.cos(m[HEADING])) / kappa
    return m


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_motion_is_led_by_the_mean_of_two_rows_speeds_and_headings(seed: int) -> None:
    m = wild(seed)
    m[HEADING] *= 8.0
    way, heading = 0.5 * (m[V, 1:] + m[V, :-1]) * np.diff(m[T]), 0.5 * (m[HEADING, 1:] + m[HEADING, :-1])
    off = np.hypot(np.diff(m[X]) - way * np.cos(heading), np.diff(m[Y]) - way * np.sin(heading))
    for most in at_each_rank(off):
        row, far = ml.off_its_speed(m, most)
        assert row == first(off > most)
        assert far == pytest.approx(off[row] if row >= 0 else 0.0)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_motion_turns_and_gains_speed_by_the_mean_of_two_rows_curvatures_and_accelerations(seed: int) -> None:
    m = wild(seed)
    dt = np.diff(m[T])
    way = 0.5 * (m[V, 1:] + m[V, :-1]) * dt
    turned = (np.diff(m[HEADING]) + np.pi) % (2.0 * np.pi) - np.pi - 0.5 * (m[CURVATURE, 1:] + m[CURVATURE, :-1]) * way
    gained = (np.diff(m[V]) - 0.5 * (m[A, 1:] + m[A, :-1]) * dt) / np.maximum(dt, STEP_S)
    for rule, off in ((ml.bent_otherwise, turned), (ml.sped_otherwise, gained)):
        for most in at_each_rank(np.abs(off)):
            row, by = rule(m, most)
            assert row == first(np.abs(off) > most)
            assert by == pytest.approx(off[row] if row >= 0 else 0.0)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("left", [0.001, 0.02, 0.05, 0.099])
def test_a_plan_that_is_cut_in_its_last_step_of_full_braking_gains_no_speed_otherwise(left: float) -> None:
    m = np.zeros((7, 3))
    m[T], m[V], m[A] = (0.0, left, left + 0.1), (6.0 * left, 0.0, 0.0), (-60.0 * left, 0.0, 0.0)
    assert ml.sped_otherwise(m, 4.5) == (-1, 0.0)
    m[V, 0] += 0.5
    assert ml.sped_otherwise(m, 4.5)[0] == 0


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("speed", [6.0, -3.0])
def test_a_motion_that_is_not_where_its_speed_leads_is_found_by_how_far_it_is(speed: float) -> None:
    m = arc(np.linspace(speed, 0.2 * speed, 40))
    assert ml.off_its_speed(m, 0.01) == (-1, 0.0)
    for row in (0, 17, 38):
        for dx, dy in ((0.3, 0.4), (-0.4, 0.3), (0.5, 0.0), (0.0, -0.5)):
            off = m.copy()
            off[X, row + 1 :] += dx
            off[Y, row + 1 :] += dy
            assert ml.off_its_speed(off, 0.515)[0] == -1
            found, error = ml.off_its_speed(off, 0.485)
            assert found == row and error == pytest.approx(0.5, abs=0.01)


@pytest.mark.clause("SAF-2")
def test_a_motion_only_stops_if_it_never_gets_faster_nor_turns_back_and_ends_standing() -> None:
    for sign in (1.0, -1.0):
        stops = sign * np.array((3.0, 2.0, 2.0, 1.0, 0.0, 0.0))
        assert ml.only_stops(arc(stops))
        assert ml.only_stops(arc(stops + sign * np.array((0.0, 0.0, 0.0009, 0.0, 0.0, 0.0))))
        for row, other in ((1, 3.1), (3, 2.1), (4, -0.1), (5, -0.1), (5, 0.002), (4, 1.5), (2, 2.0012), (5, -0.0005),
                           (4, -0.0005)):  # fmt: skip
            bad = stops.copy()
            bad[row] = sign * other
            assert not ml.only_stops(arc(bad)), (row, other)
        assert not ml.only_stops(arc(stops[:4]))


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_limit_at_a_row_is_that_of_the_nearest_lane(seed: int) -> None:
    draw, m = np.random.default_rng(seed), wild(seed)
    lanes = [(draw.uniform(-5.0, 5.0, (23, 2)), draw.uniform(3.0, 15.0, 23)) for _ in range(3)]
    nearest, most = np.full(m.shape[1], np.inf), np.full(m.shape[1], np.inf)
    for xy, limit in lanes:
        ml.keep_to_lane_limit(m, xy, limit, 4, nearest, most)
    for i in range(m.shape[1]):
        points = [
            (float(np.hypot(m[X, i] - xy[k, 0], m[Y, i] - xy[k, 1])), float(limit[k]))
            for xy, limit in lanes for k in range(0, len(xy), 4)
        ]  # fmt: skip
        assert most[i] == min(points)[1]
        assert nearest[i] == pytest.approx(min(points)[0] ** 2)


def speeds(v: Callable[[FloatArray], FloatArray], a: float, rows: int = 40) -> FloatArray:
    m = arc(v(0.1 * np.arange(rows)))
    m[A] = a
    return m


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_a_speed_over_the_limit_is_wrong_unless_the_car_brakes_or_could_not_be_slower_yet(gear: float) -> None:
    keeps = speeds(lambda t: gear * (8.0 + 0.0 * t), 0.0)
    assert ml.too_fast(keeps, np.full(40, 7.9), 0.2, 2.0, 1.5)[0] == -1
    # It brakes with jerk 2 up to 1.5 m/s^2: after 0.75 s with that, 7.44 m/s then.
    for limit in (7.7, 7.0, 5.0):
        soonest = np.array([
            8.0 - (1.0 * t * t if t < 0.75 else 0.5625 + 1.5 * (t - 0.75)) for t in keeps[T]
        ])  # fmt: skip
        row, v, most = ml.too_fast(keeps, np.full(40, limit), 0.2, 2.0, 1.5)
        due = first(np.maximum(limit, soonest) + 0.2 < 8.0)
        assert abs(row - due) <= 1 and (v, most) == (8.0, limit)
    late = np.full(40, 9.0)
    late[25:] = 6.0
    assert ml.too_fast(keeps, late, 0.2, 2.0, 1.5)[0] == 25
    for decel, braking, wrong in ((3.0, -0.53, True), (3.0, -0.55, False), (0.6, -0.17, True), (0.6, -0.19, False)):
        brakes = speeds(lambda t: gear * (8.0 - 0.4 * t), gear * braking)
        assert (ml.too_fast(brakes, np.full(40, 5.0), 0.2, 2.0, decel)[0] >= 0) is wrong
    already = speeds(lambda t: gear * (8.0 + 0.0 * t), 0.0)
    already[A, 0] = -gear * 1.5
    earlier = ml.too_fast(already, np.full(40, 7.0), 0.2, 2.0, 1.5)[0]
    assert 1 <= earlier < ml.too_fast(keeps, np.full(40, 7.0), 0.2, 2.0, 1.5)[0], "it brakes already"


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize("a", [-2.5, -1.2, 0.0, 0.9])
def test_a_limit_that_has_just_fallen_is_met_no_sooner_than_by_braking_from_now_on(gear: float, a: float) -> None:
    """From the acceleration that the car has, with jerk 2 up to 1.5 m/s^2, in tiny steps; rows are uneven."""
    rows, draw = 120, np.random.default_rng(7)
    m = arc(gear * np.full(rows, 8.0))
    m[T] = np.concatenate(([0.0], np.cumsum(draw.uniform(0.01, 0.06, rows - 1))))
    m[A], m[A, 0] = 0.0, gear * a
    fine = np.linspace(0.0, float(m[T, -1]), 40001)
    slowed = 8.0 + np.concatenate(([0.0], np.cumsum(np.maximum(a - 2.0 * fine, -1.5)[1:] * np.diff(fine))))
    soonest = np.interp(m[T], fine, slowed)
    for limit in (7.5, 6.6, 5.5):
        row, v, most = ml.too_fast(m, np.full(rows, limit), 0.2, 2.0, 1.5)
        sure, maybe = (first(np.maximum(limit, soonest) + 0.2 + spare < 8.0) for spare in (0.01, -0.01))
        assert maybe <= row <= sure and (v, most) == (8.0, limit)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize(
    ("along", "aside", "turn"), [(0.0, 0.4, 0.0), (0.3, 0.0, 0.0), (0.0, 0.0, 0.1), (-0.2, -0.3, 0.1)]
)
def test_a_car_beside_its_plan_comes_back_to_it(gear: float, along: float, aside: float, turn: float) -> None:
    """Its first pose is its own; then the distance falls, however the plan bends; on it, it stays."""
    m, back = arc(gear * np.full(120, 3.0), 0.02), Recovery(1.5, 0.5, 0.19)
    cos, sin = math.cos(m[HEADING, 0]), math.sin(m[HEADING, 0])
    car = Pose(m[X, 0] + along * cos - aside * sin, m[Y, 0] + along * sin + aside * cos, m[HEADING, 0] + turn)
    poses = np.empty((120, 3))
    ml.as_driven(m, car, back, poses)
    np.testing.assert_allclose(poses[0], car, atol=1e-9)
    apart = np.hypot(poses[:, 0] - m[X], poses[:, 1] - m[Y])
    assert apart[60] < 0.12 and apart[-1] < 0.02
    assert abs(poses[-1, 2] - m[HEADING, -1]) < 0.01
    steps = np.hypot(np.diff(poses[:, 0]), np.diff(poses[:, 1]))
    if along == 0.0:
        assert np.all(np.abs(steps - 0.3) < 0.03)
    turned = np.diff(poses[:, 2])
    assert np.all(np.abs(turned) <= 0.3 * (0.19 + 0.02) + 1e-9), "no sharper than the wheels turn"
    ml.as_driven(m, Pose(m[X, 0], m[Y, 0], m[HEADING, 0]), back, poses)
    np.testing.assert_allclose(poses[:, 0], m[X], atol=1e-9)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize(("along", "aside", "turn"), [(0.3, 0.0, 0.0), (-0.2, 0.4, 0.1), (0.2, -0.3, -0.15)])
def test_a_path_is_moved_to_where_a_car_that_is_beside_it_comes_by(along: float, aside: float, turn: float) -> None:
    m, back, path = arc(np.full(120, 3.0), 0.02), Recovery(1.5, 0.5, 0.19), new_path(120)
    path[:, PX], path[:, PY], path[:, PHEADING], path[:, PKAPPA] = m[X], m[Y], m[HEADING], m[CURVATURE]
    path[:, PCOS], path[:, PSIN], path[:, PS] = np.cos(m[HEADING]), np.sin(m[HEADING]), 0.3 * np.arange(120)
    cos, sin = path[0, PCOS], path[0, PSIN]
    car = Pose(m[X, 0] + along * cos - aside * sin, m[Y, 0] + along * sin + aside * cos, m[HEADING, 0] + turn)
    move_path(path, np.full(120, 3.0), car, back)
    poses = np.empty((120, 3))
    ml.as_driven(m, car, back, poses)
    np.testing.assert_allclose(path[:, [PX, PY, PHEADING]], poses, atol=0.01)
    np.testing.assert_allclose(path[0, [PX, PY, PHEADING]], car, atol=1e-9)
    np.testing.assert_allclose(path[:, PCOS], np.cos(path[:, PHEADING]), atol=1e-12)
    np.testing.assert_allclose(path[:, PSIN], np.sin(path[:, PHEADING]), atol=1e-12)
