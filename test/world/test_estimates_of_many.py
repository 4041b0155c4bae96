"""Many objects in one noisy table, estimated once more one by one with the matrices of a textbook."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.world import estimates as es
from tuling_fsm.world import objects as ob
from tuling_fsm.world.inputs import Kind
from tuling_fsm.world.objects import Detections

STATE = [es.EST_X, es.EST_Y, es.EST_VX, es.EST_VY]
SEEN_AT = [ob.X, ob.Y, ob.VX, ob.VY]
EXACT_M, LEAST_NOISE = 0.03, 0.01
MEMORY_S, NIS_S, LONGEST_S = 2.0, 0.15, 0.25
DEVIATIONS, FREE_M, LEAP_M = 6.0, 0.1, 3.0
JUMP_M, JUMP_ACCEL = 0.5, 8.0
STEADY, MANEUVER, HIGH_NIS = 0.02, 6.0, 1.7
SURE, CERTAIN_MPS, DOUBT_M = 3.0, 0.5, 0.2
UNKNOWN_MPS, KNOWN_MPS, UNTOLD_M = 10.0, 1.0, 0.05


@dataclass
class Known:
    """One object: what was reported of it last, x, y, vx, vy (NaN for none), and what is known of it then."""

    stamp: float
    reported: FloatArray
    state: FloatArray
    covariance: FloatArray
    nis: float = 1.0


def moved_on(known: Known, dt: float) -> FloatArray:
    return known.state + dt * np.array([*known.state[2:], 0.0, 0.0])


def fresh(stamp: float, reported: FloatArray, position: float, velocity: float) -> Known:
    floor = max(velocity, LEAST_NOISE)
    if np.isnan(reported[2]):
        position, floor = max(position, UNTOLD_M), UNKNOWN_MPS
    return Known(stamp, reported, np.nan_to_num(reported), np.diag([position**2, position**2, floor**2, floor**2]))


def measured(pairs: list[tuple[Known, FloatArray]], stamp: float, position: float, velocity: float) -> list[float]:
    """How noisy places and velocities are, from what both were and the sights of those seen a moment before."""
    places, speeds, longest = [], [], 0.0
    for known, reported in pairs:
        dt = stamp - known.stamp
        if not 0.0 < dt <= LONGEST_S:
            continue
        told, velocity_between = True, 0.5 * (reported[2:] + known.reported[2:])
        if np.any(np.isnan(velocity_between)):
            told, velocity_between = False, known.state[2:]
            if known.covariance[2, 2] > KNOWN_MPS**2:
                continue
        way = reported[:2] - known.reported[:2] - dt * velocity_between
        if np.linalg.norm(way) > DEVIATIONS * position + LEAP_M:
            continue
        places.append(min(np.linalg.norm(way), DEVIATIONS * position + FREE_M) ** 2)
        if told:
            change = np.linalg.norm(reported[2:] - known.reported[2:])
            speeds.append(min(change, DEVIATIONS * velocity + FREE_M) ** 2)
        longest = max(longest, dt)
    if not places:
        return [position, velocity]
    share = longest / (longest + MEMORY_S)
    found = (np.mean(places) / 4.0, np.mean(speeds) / 4.0 if speeds else velocity**2 + 0.0)
    return [
        math.sqrt((1.0 - share) * old**2 + share * new) for old, new in zip((position, velocity), found, strict=True)
    ]


def turned(velocity: FloatArray, angle: float) -> FloatArray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s], [s, c]]) @ velocity


def seen_again(
    known: Known, stamp: float, reported: FloatArray, position: float, velocity: float, yaw_rate: float
) -> Known:
    """One step of a Kalman filter of nearly constant velocity, which turns."""
    dt, one = stamp - known.stamp, fresh(stamp, reported, position, velocity)
    far = DEVIATIONS * position + JUMP_M + 0.5 * JUMP_ACCEL * dt**2
    if np.isnan(known.reported[2]):
        far += SURE * math.sqrt(known.covariance[2, 2]) * dt
    if np.linalg.norm((reported - moved_on(known, dt))[:2]) > far:
        return one
    if dt <= 0.0:
        return Known(stamp, reported, known.state, known.covariance, known.nis)
    density = MANEUVER if known.nis > HIGH_NIS else STEADY
    move = np.kron([[1.0, dt], [0.0, 1.0]], np.eye(2))
    way, after = (turned(known.state[2:], share * dt * yaw_rate) for share in (0.5, 1.0))
    spread = density * np.kron([[dt**3 / 3.0, dt**2 / 2.0], [dt**2 / 2.0, dt]], np.eye(2))
    foretold = np.concatenate((known.state[:2] + dt * way, after))
    covariance = move @ known.covariance @ move.T + spread
    measured_axes = np.flatnonzero(~np.isnan(reported))
    sight = np.eye(4)[measured_axes]
    innovation = (reported - foretold)[measured_axes]
    total = sight @ (covariance + one.covariance) @ sight.T
    gain = covariance @ sight.T @ np.linalg.inv(total)
    nis = float(innovation @ np.linalg.solve(total, innovation)) / len(measured_axes)
    smoothed = known.nis + dt / (dt + NIS_S) * (nis - known.nis)
    return Known(stamp, reported, foretold + gain @ innovation, (np.eye(4) - gain @ sight) @ covariance, smoothed)


def shown(known: Known, body: FloatArray) -> FloatArray:
    """A body as it is handed on: where it is estimated, standing if that may be, and larger by what is not known."""
    (x, y, vx, vy), (far, _, fast, _) = known.state, np.sqrt(np.diag(known.covariance))
    certain = math.inf if math.isnan(known.reported[2]) else CERTAIN_MPS
    if math.hypot(vx, vy) <= min(SURE * fast, certain):
        vx = vy = 0.0
    larger = 2.0 * min(far, DOUBT_M)
    out = body.copy()
    out[SEEN_AT], out[ob.SPEED] = (x, y, vx, vy), math.hypot(vx, vy)
    out[[ob.LENGTH, ob.WIDTH]] += larger
    return out


def reports(draw: np.random.Generator, truth: FloatArray, noise: float, untold: float) -> FloatArray:
    """Bodies (N, BODY) as perception reports them; now and then one of them is far off, or turned round; of this share
    no velocity is told.
    """
    bodies, n = np.zeros((len(truth), ob.BODY)), len(truth)
    off = draw.normal(0.0, noise, (n, 4)) * draw.choice([1.0, 1.0, 1.0, 4.0], (n, 1))
    off[:, 0] += draw.choice([0.0, 0.0, 0.0, 0.0, 0.4, 2.2, -9.0], n)
    off[:, 3] += draw.choice([0.0, 0.0, 0.0, 0.0, 1.5], n)
    bodies[:, SEEN_AT] = truth + off
    bodies[:, ob.HEADING] = draw.uniform(0.0, 6.0, n)
    bodies[:, ob.SPEED] = np.hypot(bodies[:, ob.VX], bodies[:, ob.VY])
    if untold > 0.0:
        bodies[draw.random(n) < untold, ob.VX : ob.SPEED + 1] = math.nan, math.nan, 0.0
    bodies[:, ob.LENGTH], bodies[:, ob.WIDTH] = draw.uniform(1.0, 9.0, n), draw.uniform(0.5, 2.5, n)
    return bodies


def detections(bodies: FloatArray, numbers: list[int] | None = None) -> Detections:
    n = len(bodies)
    ids = np.arange(n, dtype=np.uint32) if numbers is None else np.array(numbers, dtype=np.uint32)
    order = np.argsort(ids, kind="stable")
    return Detections(ids, np.full(n, Kind.CAR, np.uint8), np.zeros(n, np.uint8), bodies.copy(), order, n)


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize(
    ("noise", "guess", "velocity", "seed", "untold"),
    [(0.0, 0.0, 0.0, 0, 0.0), (0.02, 0.0, 0.0, 1, 0.0), (0.05, 0.02, 0.004, 2, 0.0), (0.2, 0.3, 0.1, 3, 0.0),
     (0.5, 0.1, 0.6, 4, 0.0), (0.04, 0.9, 0.02, 5, 0.0), (0.0, 0.0, 0.0, 6, 0.3), (0.0, 0.0, 0.0, 7, 1.0),
     (0.3, 0.2, 0.1, 8, 0.3), (0.3, 0.0, 0.0, 9, 1.0)],
)  # fmt: skip
def test_each_of_many_is_estimated_as_the_textbook_has_it(
    noise: float, guess: float, velocity: float, seed: int, untold: float
) -> None:
    """Seen at uneven times, some of them missed for long; `guess` and `velocity` are taken for the noise at first."""
    draw = np.random.default_rng(seed)
    truth = np.column_stack((100.0 * np.arange(7.0), np.zeros(7), draw.uniform(-0.9, 0.9, (7, 2)) * [1.0, 0.3]))
    truth[5:, 2:] *= 12.0
    estimates, row_of = np.zeros((0, es.ESTIMATE)), dict[int, int]()
    known, told, stamp, exact = dict[int, Known](), es.MeasuredNoise(guess, velocity), 3.0, 0
    for _ in range(60):
        dt = float(draw.choice([0.0, 0.04, 0.05, 0.11, 0.24, 0.27]))
        stamp += dt
        truth[:, :2] += dt * truth[:, 2:]
        truth[:, 2:] += dt * draw.normal(0.0, 0.4, (7, 2))
        there = draw.permutation(7)[: draw.integers(1, 8)]
        bodies = reports(draw, truth[there], noise, untold)
        rows = np.array([row_of.get(int(i), -1) for i in there])
        found = detections(bodies)
        yaw_rate = draw.uniform(-1.0, 1.0, len(estimates))
        now, after = es.estimate(estimates, yaw_rate, rows, found, stamp, told)
        pairs = [(known[int(i)], body[SEEN_AT]) for i, body in zip(there, bodies, strict=True) if int(i) in known]
        assert [after.position, after.velocity] == pytest.approx(measured(pairs, stamp, told.position, told.velocity))
        told = after
        for k, (i, body) in enumerate(zip(there.tolist(), bodies, strict=True)):
            one = fresh(stamp, body[SEEN_AT], told.position, told.velocity)
            expected = body
            if told.position > EXACT_M or np.isnan(body[ob.VX]):
                if i in known:
                    rate = float(yaw_rate[row_of[i]])
                    one = seen_again(known[i], stamp, body[SEEN_AT], told.position, told.velocity, rate)
                expected = shown(one, body)
            exact += told.position <= EXACT_M
            known[i] = one
            np.testing.assert_allclose(found.body[k], expected, rtol=1e-7, atol=1e-8)
            np.testing.assert_allclose(now[k, STATE], one.state, rtol=1e-7, atol=1e-8)
            assert now[k, es.SEEN] == stamp and now[k, es.NIS] == pytest.approx(one.nis, rel=1e-6)
            np.testing.assert_array_equal(now[k, [es.RAW_X, es.RAW_Y, es.RAW_VX, es.RAW_VY]], body[SEEN_AT])
            spread = [now[k, es.VAR_X], now[k, es.COV], now[k, es.VAR_V]]
            np.testing.assert_allclose(spread, one.covariance[[0, 0, 2], [0, 2, 2]], rtol=1e-4, atol=1e-9)
        # Rows of the ones seen come before those of the others, which stay as they were.
        others = [i for i in row_of if i not in there]
        estimates = np.concatenate((now, estimates[[row_of[i] for i in others]]))
        row_of = {i: k for k, i in enumerate([*there.tolist(), *others])}
    assert (exact > 0) == (min(guess, noise) <= EXACT_M)


def lost_one(known: list[int], before: FloatArray, taken: list[bool], body: FloatArray, stamp: float,
             noise: es.MeasuredNoise) -> int:  # fmt: skip
    """The nearest of the objects lost a moment ago that may be this one, -1 for none."""
    dt = stamp - before[:, es.SEEN]
    ahead = before[:, [es.EST_X, es.EST_Y]] + dt[:, None] * before[:, [es.EST_VX, es.EST_VY]]
    far = np.linalg.norm(body[[ob.X, ob.Y]] - ahead, axis=1)
    faster = np.linalg.norm(body[[ob.VX, ob.VY]] - before[:, [es.EST_VX, es.EST_VY]], axis=1)
    possible = (dt > 0.0) & (dt <= 0.5) & ~np.array(taken, dtype=np.bool_)
    possible &= (far < 0.5 + 3.0 * noise.position) & (faster < 1.0 + 3.0 * noise.velocity)
    return int(np.argmin(np.where(possible, far, np.inf))) if np.any(possible) else -1


@pytest.mark.clause("USE-9")
@pytest.mark.parametrize("noise", [(0.0, 0.0), (0.3, 0.1), (0.1, 0.5)])
def test_new_numbers_go_on_for_the_nearest_of_those_lost(noise: tuple[float, float]) -> None:
    draw, told, renamed = np.random.default_rng(int(10 * noise[0])), es.MeasuredNoise(*noise), 0
    for _ in range(200):
        known = sorted(draw.choice(30, 6, replace=False).tolist())
        before = np.zeros((6, es.ESTIMATE))
        before[:, es.SEEN] = 9.0 - draw.choice([0.0, 0.05, 0.2, 0.45, 0.55], 6)
        before[:, STATE] = draw.uniform(-1.5, 1.5, (6, 4)) * [1.0, 1.0, 0.8, 0.8]
        numbers = draw.choice(30, 5, replace=False).tolist()
        bodies = np.zeros((5, ob.BODY))
        bodies[:, SEEN_AT] = draw.uniform(-1.5, 1.5, (5, 4)) * [1.0, 1.0, 0.8, 0.8]
        found = detections(bodies, numbers)
        rows, taken = es.associated_rows(np.array(known, dtype=np.uint32), before, found, 9.0, told)
        expected = [known.index(number) if number in known else -1 for number in numbers]
        used = [k in expected for k in range(6)]
        for i in range(5):
            if expected[i] < 0:
                expected[i] = lost_one(known, before, used, bodies[i], 9.0, told)
                renamed += expected[i] >= 0
                if expected[i] >= 0:
                    used[expected[i]] = True
        assert rows.tolist() == expected and taken.tolist() == used
    assert renamed > 30


@settings(max_examples=60)
@given(ids=st.sets(st.integers(0, 40), max_size=12), number=st.integers(0, 41))
def test_a_number_is_found_in_its_row_or_not_at_all(ids: set[int], number: int) -> None:
    known = sorted(ids)
    found = es.row_of(np.array(known, dtype=np.uint32), np.uint32(number))
    assert found == (known.index(number) if number in ids else -1)
