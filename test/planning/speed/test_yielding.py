"""Vehicles that cross or come in, met where the car can no longer stop before them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.request import PlanResult, Reason
from tuling_fsm.core.scene import PREDICTION_STEP_S, PREDICTION_STEPS, Scene

from ..lane_drives import PLANNER, VEHICLE, run, straight
from ..scenes import PEDESTRIAN, Thing, bent, follow, gap_to, road, scene

SPEED = 4.0
FRONT = 20.0 + VEHICLE.front
HARD_STOP = 0.5 * SPEED * SPEED / VEHICLE.emergency_decel


def coming(beyond: float, time: float, v: float = 6.0) -> Thing:
    """A car from the right that is on the path after so long (s), so far (m) beyond the front bumper."""
    away = v * time + 0.5 * VEHICLE.width + 0.5 * 4.5
    return Thing(7, FRONT + beyond + 0.95, -away, heading=0.5 * math.pi, v=v)


def plan(thing: Thing) -> PlanResult:
    request = follow(straight()(20.0), speed_limit=SPEED)
    return PLANNER.plan(request, scene(v=SPEED, things=(thing,)), None)


def least_speed(result: PlanResult) -> float:
    assert result.trajectory is not None
    return float(result.trajectory.v.min())


@pytest.mark.clause("INT-7")
def test_where_every_stop_ends_in_the_way_of_a_vehicle_that_can_stop_the_car_gets_out_of_it() -> None:
    inside = coming(0.5 * HARD_STOP, 1.8)
    assert least_speed(plan(inside)) > 0.95 * SPEED


@pytest.mark.clause("INT-7")
def test_it_brakes_for_a_vehicle_that_cannot_stop_and_for_people_and_where_it_can_stop_itself() -> None:
    can_stop, late, walker = coming(4.0, 1.8), coming(0.5 * HARD_STOP, 1.0), coming(0.5 * HARD_STOP, 1.8, v=1.5)
    walker = replace(walker, kind=PEDESTRIAN, length=0.6, width=0.6)
    for thing in (can_stop, late, walker):
        result = plan(thing)
        assert least_speed(result) < 0.1, thing
        assert result.limit.reason in (Reason.CROSSING, Reason.PEDESTRIAN), thing


BEND = ((30.0, 0.0), (25.0, 0.1), (80.0, 0.0))
"""A road that the car slows down for."""


def from_a_side_road(meets: float, away: float, v: float) -> Scene:
    """The car drives up to the bend; another comes from the right, turns in at `meets` (m, x) after so long a way (m)
    and goes on along the road, whatever the car does.
    """
    now, middle = scene(v=7.5, things=(Thing(7, 0.0, 0.0, heading=1.3, v=v),)), bent(*BEND)[:, :2]
    before = (meets - 40.0 * math.cos(1.3), -40.0 * math.sin(1.3))
    line = np.vstack((before, middle[np.searchsorted(middle[:, 0], meets) :]))
    step = np.diff(line, axis=0)
    s = np.concatenate(((0.0,), np.cumsum(np.hypot(*step.T))))
    way = 40.0 - away + v * PREDICTION_STEP_S * np.arange(PREDICTION_STEPS)
    now.obstacles.x[0], now.obstacles.y[0] = np.interp(way, s, line[:, 0]), np.interp(way, s, line[:, 1])
    now.obstacles.heading[0] = np.arctan2(*step.T[::-1])[np.searchsorted(s, way, side="right") - 1]
    return now


@pytest.mark.clause("INT-7")
@pytest.mark.parametrize(("meets", "away"), [(6.0, 20.0), (12.0, 20.0), (16.0, 25.0), (16.0, 30.0)])
def test_one_that_comes_in_behind_the_car_is_not_braked_for(meets: float, away: float) -> None:
    """To stand before it would be to be run into."""
    result = PLANNER.plan(follow(road(pieces=BEND)), from_a_side_road(meets, away, 10.0), None)
    assert result.trajectory is not None
    assert result.limit.reason is not Reason.CROSSING
    assert result.trajectory.a.min() > -2.5


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_vehicle_that_comes_in_from_the_next_lane_is_followed_and_not_stopped_for(side: float) -> None:
    """It goes nearly as fast as the car: the place where it comes in is no wall."""
    v, turn = 8.0, 0.12
    thing = Thing(7, FRONT + 11.0, 3.2 * side, heading=-turn * side, v=0.85 * v)
    log = run(straight(), scene(v=v), 2.0, (thing,))
    assert min(now.ego.a for _, now, _ in log) > -2.0 * VEHICLE.comfort_decel
    assert min(now.ego.v for _, now, _ in log) > 0.6 * v
    assert all(gap_to(thing.at(stamp), now.ego.pose, VEHICLE) > 2.0 for stamp, now, _ in log)
