"""The car-following model on, above and below the curves that it keeps to, and with limits of many cars."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.rss import following_distance, safe_speed
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.speed.car_following import (
    LongitudinalLimits,
    _stop_speed,
    follow_accel,
    ramp_of,
    stop_accel,
    stopping_distance,
)

LIMITS = LongitudinalLimits.of(Vehicle(), PlanningParameters())
RAMP = ramp_of(LIMITS)
ENOUGH = 50.0
"""Slack with which nothing is ever braked for hard."""


def kept(gap: float, v: float, leader_v: float) -> float:
    """What the safe distance asks for at least."""
    safe, slope = safe_speed(gap, leader_v, LIMITS.rss)
    return max(-LIMITS.rss.brake, LIMITS.gain * (safe - v) - slope * max(0.0, v - leader_v))


@pytest.mark.parametrize("room", [0.003, 0.005, 0.05, 0.3, 0.5, 3.0, 8.0])
def test_a_car_whose_speed_just_stops_in_its_room_brakes_as_the_curve_of_that_stop_does(room: float) -> None:
    """By so much as the curve falls with the way."""
    v, decel = _stop_speed(room, RAMP, LIMITS)
    if v < 0.05:
        decel *= v / 0.05
    assert stop_accel(room, ENOUGH, v, 0.0, RAMP, LIMITS) == pytest.approx(-decel)
    assert follow_accel(room + LIMITS.standstill_gap, v, 0.0, RAMP, LIMITS)[0] == pytest.approx(-decel)


@pytest.mark.parametrize("room", [0.3, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("share", [0.5, 0.9, 1.1])
def test_a_car_beside_the_curve_of_its_stop_is_led_back_to_it(room: float, share: float) -> None:
    """By its gain; a slower one brakes less in proportion, a faster one no harder than the curve."""
    allowed, decel = _stop_speed(room, RAMP, LIMITS)
    v = share * allowed
    expected = LIMITS.gain * (allowed - v) - decel * min(1.0, share)
    assert stop_accel(room, ENOUGH, v, 0.0, RAMP, LIMITS) == pytest.approx(max(expected, -1.3 * LIMITS.decel))
    behind = follow_accel(room + LIMITS.standstill_gap, v, 0.0, RAMP, LIMITS)[0]
    assert behind == pytest.approx(max(expected, -LIMITS.decel))


@pytest.mark.parametrize("v", [0.35, 0.45, 2.0])
@pytest.mark.parametrize("room", [0.021, 0.03, 0.06])
def test_so_near_to_its_place_a_car_that_still_rolls_brakes_for_what_is_left(v: float, room: float) -> None:
    energy = 0.5 * v * v
    if energy > LIMITS.decel * room:
        expected = -min(LIMITS.emergency, 1.15 * energy / room)
        assert stop_accel(room, 0.0, v, 0.0, RAMP, LIMITS) == pytest.approx(expected)
    slow = stop_accel(room, 0.0, 0.29, 0.0, RAMP, LIMITS)
    assert slow >= -1.3 * LIMITS.decel, "one that creeps does not"


@pytest.mark.parametrize("v", [0.0, 0.2, 0.8])
def test_beyond_the_place_to_stand_a_car_brakes_firmly_and_with_slack_no_harder(v: float) -> None:
    for room in (0.0, -0.2, -3.0):
        assert stop_accel(room, ENOUGH, v, 0.5, RAMP, LIMITS) == pytest.approx(-1.3 * LIMITS.decel)
    assert stop_accel(1e-6, ENOUGH, 0.0, 0.0, RAMP, LIMITS) > -0.1


@given(
    decel=st.floats(0.3, 6.0), accel=st.floats(0.2, 5.0), stop_jerk=st.floats(0.3, 10.0), gain=st.floats(0.3, 4.0),
    v=st.floats(0.0, 12.0), room=st.floats(0.01, 80.0),
)  # fmt: skip
def test_a_stop_asks_for_nothing_only_where_it_allows_much_more_speed(
    decel: float, accel: float, stop_jerk: float, gain: float, v: float, room: float
) -> None:
    """More by what full acceleration and full braking make together; for whatever car."""
    d = LIMITS._replace(decel=decel, accel=accel, stop_jerk=stop_jerk, gain=gain)
    ramp = ramp_of(d)
    allowed, _ = _stop_speed(room, ramp, d)
    assert stopping_distance(allowed, ramp, d) == pytest.approx(room, rel=1e-6)
    margin = allowed - v - (accel + decel) / gain
    asked = stop_accel(room, ENOUGH, v, 0.0, ramp, d)
    if margin < -1e-6 or room < ramp.s:
        assert math.isfinite(asked)
    elif margin > 1e-6:
        assert math.isinf(asked)
    if math.isinf(asked):
        assert gain * (allowed - v) - decel >= accel - 1e-6, "the car may accelerate fully"


@pytest.mark.parametrize("leader_v", [2.0, 3.0, 6.0])
@pytest.mark.parametrize("times", [0.5, 0.9, 1.2, 3.0, 6.0])
def test_a_gap_is_closed_in_its_time_and_from_afar_so_that_less_than_comfort_ends_it(
    leader_v: float, times: float
) -> None:
    """Near, the faster the farther; beyond some gap, braking with 0.7 of comfort."""
    decel, time = 0.7 * LIMITS.decel, LIMITS.gap_time
    knee = decel * time * time
    room = times * knee
    closing = room / time if times < 1.0 else decel * time * math.sqrt(2.0 * times - 1.0)
    gap = LIMITS.standstill_gap + LIMITS.headway * leader_v + room
    for faster in (0.0, 0.8):
        v = leader_v + faster
        slope = 1.0 / time if times < 1.0 else decel / closing
        accel, left = follow_accel(gap, v, leader_v, RAMP, LIMITS)
        assert left == pytest.approx(room)
        expected = LIMITS.gain * (closing - faster) - slope * faster
        assert accel == pytest.approx(min(expected, kept(gap, v, leader_v)))
    on = leader_v + closing
    assert follow_accel(gap, on, leader_v, RAMP, LIMITS)[0] == pytest.approx(-min(decel, closing / time))


@pytest.mark.parametrize("leader_v", [0.4, 1.0, 1.6])
@pytest.mark.parametrize("room", [2.0, 8.0])
def test_behind_one_that_hardly_moves_it_is_partly_as_behind_one_that_stands(leader_v: float, room: float) -> None:
    """At 1 m/s by half: so fast that it could stop there, and so fast as it may close up."""
    share = leader_v / 2.0
    knee = 0.7 * LIMITS.decel * LIMITS.gap_time**2
    closing = room / LIMITS.gap_time if room < knee else math.sqrt(0.7 * LIMITS.decel * (2.0 * room - knee))
    slope = 1.0 / LIMITS.gap_time if room < knee else 0.7 * LIMITS.decel / closing
    stop, decel = _stop_speed(room, RAMP, LIMITS)
    wanted = leader_v + share * closing + (1.0 - share) * stop
    gap = LIMITS.standstill_gap + LIMITS.headway * leader_v + room
    for v in (0.5 * wanted, leader_v + 0.1):
        ahead = slope * share * max(0.0, v - leader_v) + (1.0 - share) * decel * min(1.0, v / stop)
        expected = LIMITS.gain * (wanted - v) - ahead
        assert follow_accel(gap, v, leader_v, RAMP, LIMITS)[0] == pytest.approx(expected)


@pytest.mark.parametrize("ratio", [0.92, 0.95, 1.4, 2.5])
@pytest.mark.parametrize("leader_v", [0.0, 2.0])
def test_one_that_is_much_slower_is_braked_for_so_that_its_speed_is_reached_before_it(
    ratio: float, leader_v: float
) -> None:
    """As soon as comfort hardly suffices; what is left of the gap by then is 0.6 of what is kept to one that stands."""
    v = leader_v + 6.5
    energy = 0.5 * 6.5 * 6.5
    gap = energy / (ratio * LIMITS.decel) + 0.6 * LIMITS.standstill_gap
    expected = min(-1.1 * ratio * LIMITS.decel, kept(gap, v, leader_v))
    assert follow_accel(gap, v, leader_v, RAMP, LIMITS)[0] == pytest.approx(expected)
    assert ratio > 1.0 or leader_v > 0.0 or kept(gap, v, leader_v) > -0.5


def test_nearer_than_that_gap_it_brakes_as_if_a_little_were_left_but_not_when_it_creeps() -> None:
    near = 0.6 * LIMITS.standstill_gap - 0.2
    assert follow_accel(near, 0.4, 0.0, RAMP, LIMITS)[0] == pytest.approx(-1.1 * 0.5 * 0.4**2 / 0.05)
    weak = LIMITS._replace(decel=0.5)
    assert follow_accel(near, 0.29, 0.0, ramp_of(weak), weak)[0] >= -0.5 - 1e-9
    assert follow_accel(near, 0.31, 0.0, ramp_of(weak), weak)[0] == pytest.approx(-1.1 * 0.5 * 0.31**2 / 0.05)


@pytest.mark.parametrize("share", [0.45, 0.6])
@pytest.mark.parametrize("leader_v", [4.0, 7.0])
def test_nearer_than_is_safe_a_faster_car_goes_back_to_the_safe_speed_as_fast_as_that_falls(
    leader_v: float, share: float
) -> None:
    """By its gain, and by what the safe speed loses as the gap shrinks."""
    v = leader_v + 1.2
    gap = share * following_distance(v, leader_v, LIMITS.rss)
    safe, later = (safe_speed(left, leader_v, LIMITS.rss)[0] for left in (gap, gap - 1.2e-4))
    expected = LIMITS.gain * (safe - v) + (later - safe) / 1e-4
    assert -LIMITS.rss.brake < expected < -LIMITS.decel
    assert follow_accel(gap, v, leader_v, RAMP, LIMITS)[0] == pytest.approx(expected, rel=1e-3)


def test_a_gap_that_is_too_small_is_opened_slowly_by_a_car_that_is_no_faster() -> None:
    v = leader_v = 8.0
    wanted = LIMITS.standstill_gap + LIMITS.headway * leader_v
    for missing in (0.5, 1.0, 1.39, 1.41, 2.5):
        accel = follow_accel(wanted - missing, v, leader_v, RAMP, LIMITS)[0]
        assert accel == pytest.approx(-LIMITS.gain * min(0.7, missing / LIMITS.gap_time))
