"""Safe distances against a simulated worst case: the distance just suffices, and 1 % less does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tuling_fsm.core.parameters import load
from tuling_fsm.planning.obstacles.rss import Rss, following_distance, lateral_distance, oncoming_distance
from tuling_fsm.planning.parameters import RssParameters

STEP_S = 0.002
SETTLED = 1e-9
ACCURACY = 1e-6
"""Rows are exact within a step of constant acceleration; only rounding is left."""

speeds = st.floats(0.0, 30.0)
drifts = st.floats(-1.5, 1.5)
numbers = st.builds(
    RssParameters,
    response=st.floats(0.1, 1.5),
    accel=st.floats(0.0, 4.0),
    brake=st.floats(2.0, 8.0),
    brake_hardest=st.floats(2.0, 10.0),
    lateral_accel=st.floats(0.0, 1.0),
    lateral_brake=st.floats(0.5, 4.0),
    lateral_margin=st.floats(0.0, 0.5),
)


def way(v: float, accel: float, response: float, brake: float) -> Iterator[float]:
    """Places of a vehicle that accelerates for the response time, then brakes to a standstill; each step is exact."""
    x, t = 0.0, 0.0
    while True:
        yield x
        rest = STEP_S
        if t < response:
            part = min(rest, response - t)
            x, v, rest = x + v * part + 0.5 * accel * part * part, v + accel * part, rest - part
        part = min(rest, abs(v) / brake)
        toward = -brake if v > 0.0 else brake
        x, v = x + v * part + 0.5 * toward * part * part, v + toward * part
        v = 0.0 if abs(v) < SETTLED else v
        t += STEP_S


def closest(approach: Iterator[float], retreat: Iterator[float], longest: float) -> float:
    """The most that one gains on the other at any time."""
    return max(a - b for a, b, _ in zip(approach, retreat, range(round(longest / STEP_S) + 2), strict=False))


def following(v: float, ahead: float, p: RssParameters) -> float:
    """What a follower gains on a vehicle that brakes at once, as hard as is assumed."""
    end = max(p.response + (v + p.response * p.accel) / p.brake, ahead / p.brake_hardest)
    return closest(way(v, p.accel, p.response, p.brake), way(ahead, 0.0, 0.0, p.brake_hardest), end)


@given(speeds, speeds, numbers)
@pytest.mark.medium
def test_a_follower_at_the_safe_distance_never_touches(v: float, ahead: float, p: RssParameters) -> None:
    assert following(v, ahead, p) <= following_distance(v, ahead, Rss.of(p)) + ACCURACY


@given(speeds, speeds, numbers)
@pytest.mark.medium
def test_a_follower_one_percent_nearer_touches(v: float, ahead: float, p: RssParameters) -> None:
    p = replace(p, brake=min(p.brake, p.brake_hardest))
    safe = following_distance(v, ahead, Rss.of(p))
    assume(safe > 0.01)
    assert following(v, ahead, p) > 0.99 * safe


@given(speeds, speeds, st.floats(2.0, 8.0), numbers)
@pytest.mark.medium
def test_two_vehicles_that_meet_at_the_safe_distance_just_stop_before_each_other(
    v: float, other: float, brake: float, p: RssParameters
) -> None:
    safe = oncoming_distance(v, other, brake, Rss.of(p))
    assume(safe > 0.01)
    own, against = way(v, p.accel, p.response, brake), way(other, p.accel, p.response, p.brake)
    end = p.response + (max(v, other) + p.response * p.accel) / min(p.brake, brake)
    met = closest(own, (-x for x in against), end)
    assert 0.99 * safe < met <= safe + ACCURACY


def drifting(left: float, right: float, p: RssParameters) -> float:
    """How much nearer two vehicles come that drift towards each other (positive to the left) and brake that."""
    a, b = p.lateral_accel, p.lateral_brake
    end = p.response + (max(abs(left), abs(right)) + p.response * a) / b
    return closest(way(-left, a, p.response, b), (-x for x in way(right, a, p.response, b)), end)


@given(drifts, drifts, numbers)
@pytest.mark.medium
def test_two_side_by_side_at_the_safe_distance_never_touch(left: float, right: float, p: RssParameters) -> None:
    assert drifting(left, right, p) <= lateral_distance(left, right, Rss.of(p)) - p.lateral_margin + ACCURACY


@given(st.floats(0.0, 1.5), st.floats(0.0, 1.5), numbers)
@pytest.mark.medium
def test_two_side_by_side_one_percent_nearer_touch(left: float, right: float, p: RssParameters) -> None:
    p = replace(p, lateral_margin=0.0)
    safe = lateral_distance(-left, right, Rss.of(p))
    assume(safe > 0.01)
    assert drifting(-left, right, p) > 0.99 * safe


@given(speeds, speeds, st.floats(0.0, 5.0), numbers)
def test_a_faster_follower_needs_more_and_a_faster_leader_less(
    v: float, ahead: float, more: float, p: RssParameters
) -> None:
    rss = Rss.of(p)
    assert following_distance(v + more, ahead, rss) >= following_distance(v, ahead, rss)
    assert following_distance(v, ahead + more, rss) <= following_distance(v, ahead, rss)


def test_distances_of_an_example_by_hand() -> None:
    rss = Rss.of(load(RssParameters, {"response": 1.0, "accel": 2.0, "brake": 4.0, "brake_hardest": 8.0}))
    assert following_distance(10.0, 10.0, rss) == pytest.approx(10.0 + 1.0 + 144.0 / 8.0 - 100.0 / 16.0)
    assert following_distance(0.0, 30.0, rss) == 0.0
    assert oncoming_distance(10.0, 5.0, 3.0, rss) == pytest.approx(11.0 + 144.0 / 6.0 + 6.0 + 49.0 / 8.0)
    still = rss._replace(lateral_accel=0.0)
    assert lateral_distance(0.0, 0.0, still) == pytest.approx(0.1)
    assert lateral_distance(-1.0, 0.0, still) == pytest.approx(0.1 + 1.0 + 0.5 / 0.8)
