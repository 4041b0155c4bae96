"""The car-following model by what it does: cars that obey it stop where they should, and keep their gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest

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
STEP_S = 0.01


def test_the_last_part_of_a_stop_has_constant_jerk() -> None:
    """From comfortable braking down to none at `stop_jerk`: v = b^2 / 2j, s = b^3 / 6j^2."""
    b, j = LIMITS.decel, LIMITS.stop_jerk
    assert pytest.approx((b * b / (2.0 * j), b**3 / (6.0 * j * j))) == RAMP


@pytest.mark.parametrize("room", [0.01, 0.1, 0.4, 0.999 * RAMP.s, 1.001 * RAMP.s, 2.0, 10.0, 60.0])
def test_a_speed_stops_within_the_room_that_it_was_made_for(room: float) -> None:
    v, decel = _stop_speed(room, RAMP, LIMITS)
    assert stopping_distance(v, RAMP, LIMITS) == pytest.approx(room)
    # Braking is how the energy falls with the way.
    more, less = (_stop_speed(room * (1.0 + h), RAMP, LIMITS)[0] for h in (1e-4, -1e-4))
    assert decel == pytest.approx((more * more - less * less) / (4e-4 * room), rel=1e-3)
    assert decel <= LIMITS.decel


def test_without_room_there_is_no_speed() -> None:
    assert _stop_speed(0.0, RAMP, LIMITS) == (0.0, 0.0) == _stop_speed(-1.0, RAMP, LIMITS)
    assert stopping_distance(0.0, RAMP, LIMITS) == 0.0
    assert stopping_distance(RAMP.v, RAMP, LIMITS) == pytest.approx(RAMP.s)


def stop(v: float, room: float, slack: float = 0.0) -> tuple[float, float]:
    """Where a car stands that does what a stop asks for, and how hard it braked at most."""
    s, hardest = 0.0, 0.0
    for _ in range(6000):
        a = min(LIMITS.accel, stop_accel(room - s, slack, v, 0.0, RAMP, LIMITS))
        hardest = max(hardest, -a)
        s, v = s + STEP_S * max(v, 0.0), max(0.0, v + STEP_S * a)
        if v == 0.0:
            break
    return s, hardest


@pytest.mark.parametrize("v", [2.0, 5.0, 8.3, 12.0])
def test_a_car_that_has_room_stops_before_its_place_and_brakes_gently(v: float) -> None:
    for spare in (0.0, 5.0, 30.0):
        room = stopping_distance(v, RAMP, LIMITS) + v / LIMITS.gain * 0.3 + spare
        s, hardest = stop(v, room)
        assert room - 0.15 <= s <= room + 0.02
        assert hardest <= 1.3 * LIMITS.decel + 1e-9
    away = stopping_distance(v, RAMP, LIMITS) + 2.0 * v + 20.0
    assert math.isinf(stop_accel(away, 0.0, v, 0.0, RAMP, LIMITS))


@pytest.mark.parametrize("v", [3.0, 8.3])
def test_where_room_is_short_it_brakes_as_hard_as_it_takes_and_no_harder_than_it_can(v: float) -> None:
    room = 0.5 * v * v / (2.0 * LIMITS.decel)
    s, hardest = stop(v, room)
    assert s <= room + 0.1 and 1.9 * LIMITS.decel < hardest < 2.6 * LIMITS.decel
    assert stop_accel(0.05, 0.0, v, 0.0, RAMP, LIMITS) == -LIMITS.emergency
    assert stop_accel(room, 0.0, v, 0.0, RAMP, LIMITS) == pytest.approx(-1.15 * 0.5 * v * v / room)
    assert stop_accel(room, room, v, 0.0, RAMP, LIMITS) >= -1.3 * LIMITS.decel, "there is slack"
    assert stop(v, room, slack=0.6 * room)[0] > room
    assert stop_accel(0.01, 0.0, 0.29, 0.0, RAMP, LIMITS) >= -1.3 * LIMITS.decel, "it hardly moves"
    assert stop_accel(-0.1, 0.0, 0.1, 0.0, RAMP, LIMITS) == pytest.approx(-1.3 * LIMITS.decel)


@pytest.mark.parametrize("v", [4.0, 8.0])
def test_far_from_its_place_a_stop_asks_for_nothing_and_an_accelerating_car_counts_the_way_that_it_takes(
    v: float,
) -> None:
    """Full acceleration is allowed where the speed that can stop is more than (accel + decel) / gain above."""
    bound = v + (LIMITS.accel + LIMITS.decel) / LIMITS.gain
    edge = stopping_distance(bound, RAMP, LIMITS)
    for a in (0.0, 1.0):
        lost = 0.5 * v * a / LIMITS.jerk
        assert math.isinf(stop_accel(edge + lost + 0.01, 0.0, v, a, RAMP, LIMITS))
        before = stop_accel(edge + lost - 0.01, 0.0, v, a, RAMP, LIMITS)
        eased = LIMITS.decel * (1.0 - v / bound)
        assert before == pytest.approx(LIMITS.accel + eased, abs=0.02)
    assert stop_accel(edge, 0.0, v, -1.0, RAMP, LIMITS) == stop_accel(edge, 0.0, v, 0.0, RAMP, LIMITS)


def test_following_a_leader_the_gap_becomes_the_one_that_is_wanted() -> None:
    for leader_v, gap, v in ((5.0, 40.0, 8.0), (5.0, 12.0, 5.0), (8.0, 30.0, 2.0), (3.0, 60.0, 3.0)):
        wanted, moved, least = LIMITS.standstill_gap + LIMITS.headway * leader_v, 0.0, gap
        hardest = 0.0
        for _ in range(8000):
            accel, _ = follow_accel(gap, v, leader_v, RAMP, LIMITS)
            accel = min(LIMITS.accel, accel)
            hardest = max(hardest, -accel)
            gap, v, moved = gap + STEP_S * (leader_v - v), max(0.0, v + STEP_S * accel), moved + STEP_S * v
            least = min(least, gap)
        assert v == pytest.approx(leader_v, abs=0.05)
        assert gap == pytest.approx(max(wanted, following_distance(v, leader_v, LIMITS.rss)), abs=0.2)
        assert least >= min(gap, 12.0) - 0.3 and hardest <= LIMITS.decel + 1e-9


def test_behind_one_that_stands_it_stops_at_the_gap() -> None:
    gap, v = 50.0, 8.0
    for _ in range(4000):
        accel, room = follow_accel(gap, v, 0.0, RAMP, LIMITS)
        assert room == pytest.approx(gap - LIMITS.standstill_gap)
        gap, v = gap - STEP_S * v, max(0.0, v + STEP_S * min(LIMITS.accel, accel))
    assert v < 0.01 and gap == pytest.approx(LIMITS.standstill_gap, abs=0.15)


@pytest.mark.parametrize("leader_v", [0.5, 1.0, 1.9, 2.0, 4.0, 9.0])
def test_from_standing_to_moving_leaders_there_is_no_step(leader_v: float) -> None:
    for gap in (1.0, 3.0, 6.0, 11.0, 25.0, 80.0):
        for v in (0.2, leader_v, leader_v + 2.0):
            here, room = follow_accel(gap, v, leader_v, RAMP, LIMITS)
            assert room == pytest.approx(gap - LIMITS.standstill_gap - LIMITS.headway * leader_v)
            for more_gap, more_v in ((0.0, 1e-6), (1e-6, 0.0)):
                beside = follow_accel(gap + more_gap, v, leader_v + more_v, RAMP, LIMITS)
                assert beside[0] == pytest.approx(here, abs=1e-3)
            nearer = follow_accel(gap - 0.5, v, leader_v, RAMP, LIMITS)[0]
            assert nearer <= here + 1e-9
            assert -LIMITS.emergency <= here


@pytest.mark.parametrize("leader_v", [3.0, 8.0])
def test_closing_up_goes_over_from_square_root_to_straight_line_without_a_step(leader_v: float) -> None:
    knee = 0.7 * LIMITS.decel * LIMITS.gap_time**2
    gap = LIMITS.standstill_gap + LIMITS.headway * leader_v + knee
    before, after = (follow_accel(gap + off, leader_v + 1.0, leader_v, RAMP, LIMITS)[0] for off in (-1e-7, 1e-7))
    assert before == pytest.approx(after, abs=1e-5)
    closing = 0.7 * LIMITS.decel * LIMITS.gap_time
    assert before == pytest.approx(LIMITS.gain * (closing - 1.0) - 1.0 / LIMITS.gap_time, abs=1e-5)


def test_a_leader_that_is_much_slower_is_braked_for_as_its_gap_asks() -> None:
    energy, left = 0.5 * 6.0**2, 12.0 - 0.6 * LIMITS.standstill_gap
    assert energy > 0.8 * LIMITS.decel * left
    assert -LIMITS.rss.brake <= follow_accel(12.0, 8.0, 2.0, RAMP, LIMITS)[0] <= -1.1 * energy / left


def test_a_gap_below_the_safe_one_is_opened_as_hard_as_is_taken_for_granted() -> None:
    v = leader_v = 8.0
    safe = following_distance(v, leader_v, LIMITS.rss)
    assert follow_accel(0.3 * safe, v, leader_v, RAMP, LIMITS)[0] >= -LIMITS.rss.brake
    tight = [follow_accel(share * safe, v, leader_v, RAMP, LIMITS)[0] for share in (0.3, 0.6, 0.9)]
    assert tight == sorted(tight) and tight[0] < -1.0
    allowed, slope = safe_speed(0.9 * safe, leader_v, LIMITS.rss)
    assert tight[2] <= LIMITS.gain * (allowed - v) + 1e-9 and slope > 0.0
    fast = follow_accel(6.0, 12.0, 2.0, RAMP, LIMITS)[0]
    energy = 0.5 * 10.0**2 / (6.0 - 0.6 * LIMITS.standstill_gap)
    assert fast == pytest.approx(-min(LIMITS.emergency, 1.1 * energy))
    assert follow_accel(0.01, 0.29, 0.0, RAMP, LIMITS)[0] >= -LIMITS.rss.brake, "it hardly moves"


def test_a_safe_gap_that_is_smaller_than_wanted_is_opened_no_faster_than_others_like() -> None:
    v = leader_v = 8.0
    safe = following_distance(v, leader_v, LIMITS.rss)
    wanted = LIMITS.standstill_gap + LIMITS.headway * leader_v
    assert safe < 0.8 * wanted
    accel, _ = follow_accel(0.5 * (0.8 * wanted + safe), v, leader_v, RAMP, LIMITS)
    assert accel >= -0.7 * LIMITS.gain - 1e-9


def test_limits_are_those_of_the_vehicle_and_the_parameters() -> None:
    vehicle, p = Vehicle(), PlanningParameters()
    assert (LIMITS.max_speed, LIMITS.accel, LIMITS.decel, LIMITS.emergency, LIMITS.jerk) == (
        vehicle.max_speed, vehicle.max_accel, vehicle.comfort_decel, vehicle.emergency_decel, vehicle.max_jerk,
    )  # fmt: skip
    assert LIMITS.crossing_slack == 0.5 * p.speed.crossing_gap
    assert LIMITS.steer_rate == vehicle.max_steer_rate * p.speed.steer_share
    assert np.isfinite([*LIMITS[:-1], *LIMITS.rss]).all()
