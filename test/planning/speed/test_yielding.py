"""Crossing vehicles, met where the car can no longer stop before them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tuling_fsm.core.request import PlanResult, Reason

from ..lane_drives import PLANNER, VEHICLE, run, straight
from ..scenes import PEDESTRIAN, Thing, follow, gap_to, scene

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


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_vehicle_that_comes_in_from_the_next_lane_is_followed_and_not_stopped_for(side: float) -> None:
    """It goes nearly as fast as the car: the place where it comes in is no wall."""
    v, turn = 8.0, 0.12
    thing = Thing(7, FRONT + 11.0, 3.2 * side, heading=-turn * side, v=0.85 * v)
    log = run(straight(), scene(v=v), 2.0, (thing,))
    assert min(now.ego.a for _, now, _ in log) > -2.0 * VEHICLE.comfort_decel
    assert min(now.ego.v for _, now, _ in log) > 0.6 * v
    assert all(gap_to(thing.at(stamp), now.ego.pose, VEHICLE) > 2.0 for stamp, now, _ in log)
