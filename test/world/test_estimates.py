"""What is estimated of objects where perception is noisy, and that a table without noise is taken as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.world import estimates as es
from tuling_fsm.world import objects as ob
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.objects import Detections
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.tracks import GAINS, MOVED, NO_TRACKS, STILL, Tracks, associate, follow, remember

P = WorldParameters()
DT = 0.05
Motion = Callable[[float], tuple[float, float]]
"""Place along x (m) and speed (m/s) at a time (s)."""


class Sight(NamedTuple):
    """What there was and what came of it (N,), at one time."""

    stamp: float
    truth: FloatArray
    reported: FloatArray
    body: FloatArray
    tracks: Tracks


def detections(numbers: list[int], bodies: FloatArray, kind: Kind = Kind.CAR) -> Detections:
    n = len(numbers)
    ids = np.array(numbers, dtype=np.uint32)
    order = np.argsort(ids, kind="stable")
    return Detections(ids, np.full(n, kind, np.uint8), np.zeros(n, np.uint8), bodies.copy(), order, n)


def one_table(tracks: Tracks, found: Detections, stamp: float) -> Tracks:
    association = associate(tracks, found, stamp)
    now = follow(tracks, association, found, stamp, P)
    return remember(tracks, association.taken, now, found.order, stamp, P.track_memory)


def watch(motion: Motion, noise: float, seconds: float, count: int = 40, kind: Kind = Kind.CAR) -> list[Sight]:
    """So many alike, far beside one another, seen with this noise (m, and m/s), one of five rows missing."""
    draw, tracks, seen = np.random.default_rng(5), NO_TRACKS, []
    for k in range(round(seconds / DT)):
        x, v = motion(k * DT)
        truth = np.zeros((count, ob.BODY))
        truth[:, ob.X], truth[:, ob.Y], truth[:, ob.VX], truth[:, ob.SPEED] = x, 50.0 * np.arange(count), v, v
        truth[:, ob.LENGTH], truth[:, ob.WIDTH] = 4.5, 1.8
        reported = truth.copy()
        reported[:, [ob.X, ob.Y, ob.VX, ob.VY]] += draw.normal(0.0, noise, (count, 4))
        reported[:, ob.SPEED] = np.hypot(reported[:, ob.VX], reported[:, ob.VY])
        there = np.flatnonzero(draw.random(count) >= 0.2)
        found = detections([int(i) for i in there], reported[there], kind)
        tracks = one_table(tracks, found, k * DT)
        seen.append(Sight(k * DT, truth[there], reported[there], found.body, tracks))
    return seen


def stands(_: float) -> tuple[float, float]:
    return 3.0, 0.0


def brakes(t: float) -> tuple[float, float]:
    """8 m/s for 6 s, then braking by 3.5 m/s^2 to a stand."""
    since = min(max(t - 6.0, 0.0), 8.0 / 3.5)
    return 8.0 * min(t, 6.0) + 8.0 * since - 1.75 * since * since, 8.0 - 3.5 * since


def drives_slowly(t: float) -> tuple[float, float]:
    return 2.0 * t, 2.0


def sets_off(t: float) -> tuple[float, float]:
    since = max(t - 4.0, 0.0)
    return 0.75 * since * since, 1.5 * since


def off(sights: list[Sight], columns: list[int], name: str) -> float:
    """Root of the mean square of what is wrong in these columns."""
    wrong = np.concatenate([(getattr(sight, name) - sight.truth)[:, columns].ravel() for sight in sights])
    return float(np.sqrt(np.mean(wrong**2)))


@pytest.mark.clause("SAF-3")
@settings(max_examples=20)
@given(
    speed=st.floats(0.0, 15.0), turn=st.floats(-0.6, 0.6), accel=st.floats(-6.0, 3.0), start=st.floats(-1000.0, 1000.0)
)
def test_a_table_without_noise_is_taken_as_it_is(speed: float, turn: float, accel: float, start: float) -> None:
    tracks, x, y = NO_TRACKS, start, 0.0
    for k in range(60):
        v, heading = max(speed + accel * k * DT, 0.0), turn * k * DT
        x, y = x + DT * v * np.cos(heading), y + DT * v * np.sin(heading)
        body = np.array([[x, y, heading, v * np.cos(heading), v * np.sin(heading), v, 4.5, 1.8]], dtype=np.float32)
        found = detections([7], body.astype(np.float64))
        tracks = one_table(tracks, found, k * DT)
        np.testing.assert_array_equal(found.body, body)
    assert tracks.noise.position < es.EXACT_M and tracks.noise.beyond_exact == 0.0


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("motion", [stands, brakes])
def test_noise_is_measured_whatever_the_objects_do(motion: Motion, noise: float) -> None:
    last = watch(motion, noise, 6.0)[-1].tracks
    assert last.noise.beyond_exact == last.noise.position == pytest.approx(noise, rel=0.15)
    assert last.noise.velocity == pytest.approx(noise, rel=0.15)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3, 0.5])
def test_noise_is_taken_for_no_gathering_of_speed_and_hides_little_of_one(noise: float) -> None:
    for motion in (stands, drives_slowly, brakes):
        for sight in watch(motion, noise, 8.0)[60:]:
            assert np.mean(sight.tracks.past[:, GAINS] > 0.3) < 0.03
    gains = watch(sets_off, noise, 6.0)[-1].tracks.past[:, GAINS]
    assert 0.5 < np.median(gains) < 1.5 and np.mean(gains > 0.3) > 0.8


@pytest.mark.parametrize("places", [(5.0, 7.0), (5.0, 25.0, -5.0, 40.0, 80.0, 0.0, 10.0, 20.0)])
def test_an_object_that_leaps_makes_no_noise(places: tuple[float, ...]) -> None:
    tracks = NO_TRACKS
    for k in range(100):
        x = places[min(max(k - 50, 0), len(places) - 1)]
        found = detections([7], np.array([[x, 0.0, 0.0, 0.0, 0.0, 0.0, 4.5, 1.8]]))
        tracks = one_table(tracks, found, k * DT)
        assert found.body[0, ob.X] == x
        assert tracks.noise.position < es.EXACT_M


def test_an_object_that_leaps_is_another_one_also_where_there_is_noise() -> None:
    sights = watch(stands, 0.3, 5.0)
    tracks, number = sights[-1].tracks, int(sights[-1].tracks.id[0])
    found = detections([number], np.array([[30.0, 0.0, 0.0, 2.0, 0.0, 2.0, 4.5, 1.8]]))
    one_table(tracks, found, 5.0)
    assert found.body[0, ob.X] == 30.0 and found.body[0, ob.VX] == 2.0


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(("apart", "noise"), [(3.5, 0.1), (2.8, 0.1), (4.5, 0.3)])
def test_ids_that_are_exchanged_stay_no_longer_where_the_other_one_was(apart: float, noise: float) -> None:
    """Of neighbours side by side, by a tracker that has mixed them up."""
    tracks, truth, draw = NO_TRACKS, np.zeros((40, ob.BODY)), np.random.default_rng(3)
    truth[:, ob.X], truth[:, ob.Y] = 50.0 * (np.arange(40) // 2), apart * (np.arange(40) % 2)
    truth[:, ob.LENGTH], truth[:, ob.WIDTH] = 4.5, 1.8
    numbers = list(range(40))
    for k in range(100):
        bodies = truth.copy()
        bodies[:, [ob.X, ob.Y, ob.VX, ob.VY]] += draw.normal(0.0, noise, (40, 4))
        if k == 60:
            numbers = [number ^ 1 for number in numbers]
        found = detections(numbers, bodies)
        tracks = one_table(tracks, found, k * DT)
        if k >= 60:
            off = np.hypot(found.body[:, ob.X] - truth[:, ob.X], found.body[:, ob.Y] - truth[:, ob.Y])
            assert off.max() < 5.0 * noise


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("numbers", [[5, 5, 9], [0, 0, 0]])
def test_objects_with_one_id_are_each_where_they_are_told_to_be(noise: float, numbers: list[int]) -> None:
    truth, draw, tracks = np.zeros((3, ob.BODY)), np.random.default_rng(4), NO_TRACKS
    truth[:, ob.Y], truth[:, ob.LENGTH], truth[:, ob.WIDTH] = (0.0, 2.8, 9.0), 0.5, 0.5
    for k in range(100):
        bodies = truth.copy()
        bodies[:, [ob.X, ob.Y, ob.VX, ob.VY]] += draw.normal(0.0, noise, (3, 4))
        order = draw.permutation(3)
        found = detections([numbers[i] for i in order], bodies[order])
        tracks = one_table(tracks, found, k * DT)
        off = np.hypot(found.body[:, ob.X], found.body[:, ob.Y] - truth[order, ob.Y])
        assert off.max() <= 5.0 * noise
    assert tracks.noise.beyond_exact == pytest.approx(noise, abs=0.05)


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize(("unsteady", "bound"), [(0.0, 0.03), (0.05, 0.039)])
@pytest.mark.parametrize("rate", [-0.35, 0.3])
def test_the_velocity_of_one_in_a_bend_points_where_it_goes(rate: float, unsteady: float, bound: float) -> None:
    """At 7 m/s, seen with 0.3 m of noise, its heading told exactly or not: straight on first, then round."""
    draw, tracks, count, v, wrong = np.random.default_rng(7), NO_TRACKS, 30, 7.0, []
    x, y, heading = np.zeros(count), 50.0 * np.arange(count), 0.0
    for k in range(160):
        heading += DT * rate * (60 <= k < 140)
        x, y = x + DT * v * np.cos(heading), y + DT * v * np.sin(heading)
        body = np.zeros((count, ob.BODY))
        body[:, ob.X], body[:, ob.Y], body[:, ob.SPEED] = x, y, v
        body[:, ob.VX], body[:, ob.VY] = v * np.cos(heading), v * np.sin(heading)
        body[:, [ob.X, ob.Y, ob.VX, ob.VY]] += draw.normal(0.0, 0.3, (count, 4))
        body[:, ob.HEADING] = (heading + draw.normal(0.0, unsteady, count)) % (2.0 * np.pi)
        body[:, ob.LENGTH], body[:, ob.WIDTH] = 4.5, 1.8
        found = detections(list(range(count)), body)
        tracks = one_table(tracks, found, k * DT)
        if k >= 60:
            wrong.append(np.arctan2(found.body[:, ob.VY], found.body[:, ob.VX]) - heading)
    aside = (np.concatenate(wrong) + np.pi) % (2.0 * np.pi) - np.pi
    assert np.sqrt(np.mean(aside**2)) < bound


@pytest.mark.clause("USE-6", "USE-9")
@pytest.mark.parametrize("noise", [0.15, 0.3, 0.5])
@pytest.mark.parametrize("kind", [Kind.CAR, Kind.PEDESTRIAN])
def test_one_that_stands_is_seen_to_stand(noise: float, kind: Kind) -> None:
    sights = watch(stands, noise, 12.0, kind=kind)[60:]
    moves = np.concatenate([sight.body[:, ob.SPEED] > 0.25 for sight in sights])
    reported = np.concatenate([sight.reported[:, ob.SPEED] > 0.25 for sight in sights])
    assert moves.mean() < 0.01 and reported.mean() > 0.1
    assert off(sights, [ob.X, ob.Y], "body") < 0.4 * noise
    larger = np.concatenate([sight.body[:, [ob.LENGTH, ob.WIDTH]] - (4.5, 1.8) for sight in sights])
    assert np.all((larger > 0.0) & (larger <= 0.4)), "by what is not known of its place"
    still = sights[-1].stamp - sights[-1].tracks.past[:, STILL]
    assert np.median(still) > 8.0


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("noise", [0.15, 0.3, 0.5])
def test_one_that_stands_for_minutes_has_not_moved_for_all_that_it_jitters(noise: float) -> None:
    sight = watch(stands, noise, 300.0, count=20)[-1]
    assert np.all(sight.stamp - sight.tracks.past[:, [STILL, MOVED]] > 280.0)


@pytest.mark.clause("NOR-11")
@pytest.mark.parametrize("noise", [0.15, 0.3, 0.5])
def test_one_that_sets_off_has_moved_at_once_also_where_there_is_noise(noise: float) -> None:
    """After 5 s of 1.5 m/s^2."""
    sight = watch(sets_off, noise, 9.0)[-1]
    assert np.all(sight.stamp - sight.tracks.past[:, [STILL, MOVED]] < 1.0)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("noise", [0.15, 0.3, 0.5])
def test_one_that_brakes_is_followed_and_better_known_than_reported(noise: float) -> None:
    sights = watch(brakes, noise, 12.0)
    steady = [sight for sight in sights if 4.0 < sight.stamp < 6.0]
    braking = [sight for sight in sights if 6.0 < sight.stamp < 8.3]
    for columns in ([ob.X, ob.Y], [ob.VX, ob.VY]):
        assert off(steady, columns, "body") < 0.45 * noise
    assert off(braking, [ob.X, ob.Y], "body") < 0.75 * noise
    behind = max(float(np.mean(sight.body[:, ob.VX] - sight.truth[:, ob.VX])) for sight in braking)
    assert behind < 1.2, "seen to go on for no longer than a driver takes to see it"


@pytest.mark.clause("USE-6")
@pytest.mark.parametrize("kind", [Kind.CAR, Kind.PEDESTRIAN])
def test_one_that_sets_off_is_seen_to(kind: Kind) -> None:
    sights = watch(sets_off, 0.5, 6.0, kind=kind)
    assert all((sight.body[:, ob.SPEED] > 0.3).mean() > 0.9 for sight in sights if sight.stamp > 4.9)


def reference(measured: FloatArray, noise: float) -> FloatArray:
    """A filter of one object in the textbook's matrices: places and velocities (K, 2), one for each measurement."""
    state, covariance = measured[0].copy(), np.diag([noise**2, noise**2])
    move, unit, out = np.array([[1.0, DT], [0.0, 1.0]]), np.eye(2), [state]
    spread = es._STEADY * np.array([[DT**3 / 3.0, DT**2 / 2.0], [DT**2 / 2.0, DT]])
    for seen in measured[1:]:
        state, covariance = move @ state, move @ covariance @ move.T + spread
        gain = covariance @ np.linalg.inv(covariance + noise**2 * unit)
        state = state + gain @ (seen - state)
        covariance = (unit - gain) @ covariance
        out.append(state)
    return np.array(out)


def test_it_is_the_textbooks_filter() -> None:
    noise, draw = 0.4, np.random.default_rng(2)
    measured = np.column_stack([2.0 * DT * np.arange(40), np.full(40, 2.0)]) + 0.05 * draw.normal(0.0, 1.0, (40, 2))
    known = es.MeasuredNoise(noise, noise)
    before, rows = np.zeros((1, es.ESTIMATE)), np.array([-1])
    for k, expected in enumerate(reference(measured, noise)):
        x, v = measured[k]
        found = detections([7], np.array([[x, 0.0, 0.0, v, 0.0, v, 4.5, 1.8]]))
        es._filter(
            before, np.zeros(1), rows, found.body, k * DT, exact=False, position=known.position**2,
            velocity=known.velocity**2, out=(now := np.zeros((1, es.ESTIMATE))),
        )  # fmt: skip
        before, rows = now, np.array([0])
        np.testing.assert_allclose(now[0, [es.EST_X, es.EST_VX]], expected, rtol=1e-9)


def test_the_same_table_once_more_changes_nothing() -> None:
    sights = watch(brakes, 0.5, 3.0)
    tracks = sights[-1].tracks
    numbers = [int(i) for i in tracks.id[tracks.estimates[:, es.SEEN] == sights[-1].stamp]]
    found = detections(numbers, sights[-1].reported)
    again = one_table(tracks, found, sights[-1].stamp)
    np.testing.assert_array_equal(again.estimates, tracks.estimates)
    np.testing.assert_array_equal(found.body, sights[-1].body)


@pytest.mark.clause("USE-9")
def test_a_new_id_where_one_was_lost_is_the_same_object() -> None:
    body = np.array([[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.5, 1.8], [30.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.5, 1.8]])
    tracks = NO_TRACKS
    for k in range(100):
        tracks = one_table(tracks, detections([7, 9], body), k * DT)
    renamed = one_table(tracks, detections([9, 70], body[::-1]), 5.0)
    assert renamed.id.tolist() == [9, 70] and renamed.past[1, STILL] == tracks.past[0, STILL]


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize(("x", "speed", "numbers"), [(4.0, 0.0, [7, 70]), (3.2, 1.5, [7, 70]), (3.0, 0.0, [7, 7, 70])])
def test_a_new_id_elsewhere_or_with_another_speed_or_beside_the_old_one_is_another_object(
    x: float, speed: float, numbers: list[int]
) -> None:
    body = np.array([[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.5, 1.8]])
    tracks = NO_TRACKS
    for k in range(20):
        tracks = one_table(tracks, detections([7], body), k * DT)
    other = np.array([[x, 0.0, 0.0, speed, 0.0, speed, 4.5, 1.8]])
    there = np.concatenate([body[: len(numbers) - 2], other])
    now = one_table(tracks, detections(numbers[1:], there), 1.0)
    assert now.id.tolist() == sorted(set(numbers))
    assert now.past[now.id == 70, STILL] == 1.0


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_an_object_without_a_velocity_has_that_at_which_it_is_seen_to_move(noise: float) -> None:
    """One beside 39 that have one: what it is foretold to do is as right, and perception is no noisier for it."""
    draw, tracks = np.random.default_rng(7), NO_TRACKS
    for k in range(80):
        x, v = brakes(3.0 + k * DT)
        body = np.zeros((40, ob.BODY))
        body[:, ob.X], body[:, ob.Y] = x, 50.0 * np.arange(40)
        body[:, ob.VX], body[:, ob.SPEED], body[:, ob.LENGTH : ob.WIDTH + 1] = v, v, (4.5, 1.8)
        body[:, [ob.X, ob.Y, ob.VX, ob.VY]] += draw.normal(0.0, noise, (40, 4))
        body[0, ob.VX : ob.SPEED + 1] = np.nan, np.nan, 0.0
        found = detections(list(range(40)), body)
        tracks = one_table(tracks, found, k * DT)
        if k >= (60 if noise else 1):
            assert abs(found.body[0, ob.SPEED] - v) < 1.5
            assert abs(found.body[0, ob.X] - x) < (0.6 if noise else 0.2)
    assert tracks.noise.position == pytest.approx(noise, rel=0.15, abs=0.01)
    assert tracks.noise.velocity == pytest.approx(noise, rel=0.15, abs=0.25)


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize("noise", [0.0, 0.1, 0.3])
def test_noise_is_measured_also_where_no_velocities_are_told(noise: float) -> None:
    draw, tracks = np.random.default_rng(8), NO_TRACKS
    for k in range(160):
        body = np.zeros((40, ob.BODY))
        body[:, ob.X], body[:, ob.Y], body[:, ob.LENGTH : ob.WIDTH + 1] = 6.0 * k * DT, 50.0 * np.arange(40), (4.5, 1.8)
        body[:, [ob.X, ob.Y]] += draw.normal(0.0, noise, (40, 2))
        body[:, ob.VX : ob.SPEED] = np.nan
        found = detections(list(range(40)), body)
        tracks = one_table(tracks, found, k * DT)
    assert tracks.noise.position == pytest.approx(noise, rel=0.25, abs=0.01)
    off = found.body[:, ob.SPEED] - 6.0
    assert float(np.sqrt(np.mean(off * off))) <= 0.05 + noise
