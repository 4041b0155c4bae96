"""To be at a place between two times, at a speed between two speeds."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.behaviour.free_driving import follow_lanes
from tuling_fsm.behaviour.mission.goal_window import LEAST, paced, window_speed
from tuling_fsm.behaviour.mission.memory import MissionProgress
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import GoalWindow, Mission

from ..worlds import FAR_Y
from .missions import looking

TICK = 0.05


def driven(left_m: float, window: GoalWindow, v: float, accel: float, decel: float) -> tuple[float, float]:
    """When and how fast a car is there that keeps on every tick to what it is told."""
    t = 0.0
    while left_m > 0.0:
        low, high = window.speed
        left_s = 0.5 * sum(window.time_s) - t
        limit = paced(left_m, left_s, min(max(v, low), high), accel, decel) if left_s > 0.0 else math.inf
        v += min(max(limit - v, -decel * TICK), accel * TICK)
        left_m, t = left_m - v * TICK, t + TICK
    return t, v


@given(left_m=st.floats(60.0, 150.0), mean=st.floats(4.0, 10.0), faster=st.floats(-2.0, 2.0))
def test_one_that_keeps_to_the_speed_is_there_in_time_and_as_fast_as_asked(
    left_m: float, mean: float, faster: float
) -> None:
    there, passing = left_m / mean, mean + faster
    window = GoalWindow(0.0, 0.0, (there - 0.5, there + 0.5), (passing - 0.5, passing + 0.5))
    t, v = driven(left_m, window, mean, accel=2.0, decel=2.0)
    assert t == pytest.approx(there, abs=1.0)
    assert window.speed[0] - 1.0 <= v <= window.speed[1] + 1.0


def _speed(road: RoadMap, x: float, elapsed_s: float, window: GoalWindow, v: float = 8.0) -> float:
    progress = MissionProgress(mission=Mission(0.0, window=window), elapsed_s=elapsed_s)
    return window_speed(looking(road, progress, x=x, v=v))


def test_a_window_holds_the_car_back_until_its_place(road: RoadMap) -> None:
    window = GoalWindow(130.0, FAR_Y, (9.0, 11.0))
    assert _speed(road, 50.0, 0.0, window) == pytest.approx(8.0, abs=0.1), "80 m in 10 s"
    assert _speed(road, 50.0, 0.0, GoalWindow(130.0, FAR_Y, (38.0, 42.0))) < 3.0
    assert _speed(road, 50.0, 0.0, GoalWindow(130.0, FAR_Y, (900.0, 1000.0))) >= LEAST, "it does not stand"
    for x, elapsed_s, place in (
        (140.0, 0.0, window),
        (50.0, 10.0, window),
        (50.0, 0.0, GoalWindow(130.0, 40.0, (9.0, 11.0))),
    ):
        assert _speed(road, x, elapsed_s, place) == math.inf, "past it, too late, or not on the way"


def test_the_request_is_for_the_speed_of_the_window(road: RoadMap) -> None:
    progress = MissionProgress(mission=Mission(0.0, window=GoalWindow(130.0, FAR_Y, (18.0, 22.0))))
    view = looking(road, progress, v=4.0)
    assert follow_lanes(view).speed_limit == pytest.approx(4.0, abs=0.1)
    assert follow_lanes(looking(road, MissionProgress())).speed_limit > 8.0


def test_the_request_is_for_the_lane_of_the_place_until_its_time_is_over(road: RoadMap) -> None:
    mission = Mission(0.0, window=GoalWindow(130.0, FAR_Y, (18.0, 22.0)))
    ahead = follow_lanes(looking(road, MissionProgress(mission=mission), x=50.0)).window
    near = follow_lanes(looking(road, MissionProgress(mission=mission, elapsed_s=21.0), x=100.0)).window
    assert ahead is not None and near == pytest.approx(ahead, abs=0.1), "a place on the route, wherever the car is"
    late = MissionProgress(mission=mission, elapsed_s=22.5)
    for progress, x in ((late, 100.0), (MissionProgress(mission=mission), 140.0), (MissionProgress(), 50.0)):
        assert follow_lanes(looking(road, progress, x=x)).window is None


def test_a_window_that_goes_on_holds_back_only_from_its_end(road: RoadMap) -> None:
    point = GoalWindow(90.0, FAR_Y, (10.0, 10.0))
    longer = GoalWindow(90.0, FAR_Y, (10.0, 10.0), length=40.0)
    assert _speed(road, 50.0, 0.0, point, v=4.0) == pytest.approx(4.0, abs=0.1), "40 m in 10 s"
    assert _speed(road, 50.0, 0.0, longer) == pytest.approx(8.0, abs=0.1), "80 m in 10 s"
    assert _speed(road, 100.0, 5.0, longer) < 8.0, "within it, but not out of it before its time"
    assert _speed(road, 140.0, 5.0, longer) == math.inf, "past all of it"
    slow = GoalWindow(90.0, FAR_Y, (10.0, 12.0), (0.0, 5.0), length=40.0)
    assert _speed(road, 100.0, 11.0, slow) == pytest.approx(4.5), "no faster than asked for while its time lasts"


def test_a_window_with_a_heading_is_where_the_route_has_it(road: RoadMap) -> None:
    """The road heads east all along."""
    along = GoalWindow(90.0, FAR_Y, (10.0, 10.0), length=40.0)
    for low, high, held in ((-0.1, 0.1, True), (-6.0, -5.0, False), (1.5, 1.7, False), (2 * math.pi - 0.1, 7.0, True)):
        window = replace(along, heading=(low, high))
        progress = MissionProgress(mission=Mission(0.0, window=window))
        assert (_speed(road, 50.0, 0.0, window) == _speed(road, 50.0, 0.0, along)) is held
        assert (follow_lanes(looking(road, progress, x=50.0)).window is not None) is held
    assert _speed(road, 50.0, 0.0, replace(along, heading=(1.5, 1.7))) == math.inf


def test_a_car_is_as_slow_as_asked_for_before_the_time_of_the_window_begins(road: RoadMap) -> None:
    slow = GoalWindow(90.0, FAR_Y, (10.0, 12.0), (0.0, 5.0), length=40.0)
    assert _speed(road, 100.0, 9.5, slow) == pytest.approx(4.5), "half a second before it"
    limits = [_speed(road, 60.0, elapsed_s, slow, v=12.0) for elapsed_s in (7.5, 8.5, 9.5)]
    falls = [before - after for before, after in pairwise(limits)]
    assert all(0.0 < fall < 1.8 for fall in falls), "more gently than it can brake in comfort"
