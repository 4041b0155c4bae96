"""The independent check: every kind of bad plan is named, and good ones pass (SAF-2)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString, Polygon

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Hold, PlanningRequest, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import ViolationKind, check
from tuling_fsm.planning.safety.collision import FootprintOutline, first_segment_met

from ..scenes import Thing, follow, regulations_for, road, scene, wall_across

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()


def motion(v: float = 5.0, kappa: float = 0.0, rows: int = 61, step: float = 0.1, x: float = 20.0) -> Trajectory:
    """At constant speed (negative in reverse) along an arc."""
    t = step * np.arange(rows)
    s = v * t
    heading = kappa * s
    along = s if kappa == 0.0 else np.sin(heading) / kappa
    across = np.zeros(rows) if kappa == 0.0 else (1.0 - np.cos(heading)) / kappa
    return Trajectory(0.0, t, x + along, across, heading, np.full(rows, kappa), np.full(rows, v), np.zeros(rows))


def stopping(v: float, decel: float, rows: int = 81) -> Trajectory:
    t = 0.1 * np.arange(rows)
    speed = np.maximum(0.0, v - decel * t)
    x = 20.0 + np.concatenate((np.zeros(1), np.cumsum(0.05 * (speed[1:] + speed[:-1]))))
    zero = np.zeros(rows)
    return Trajectory(0.0, t, x, zero, zero, zero, speed, np.where(speed > 0.0, -decel, 0.0))


def verdict(plan: Trajectory, now: Scene | None = None, request: PlanningRequest | None = None) -> ViolationKind | None:
    wanted = request or follow(road())
    stop = isinstance(wanted, Hold)
    found = check(plan, now or scene(v=5.0), regulations_for(wanted), VEHICLE, PARAMETERS, stop)
    return None if found is None else found.breach


def test_plain_motions_pass() -> None:
    assert verdict(motion()) is None
    assert verdict(motion(3.0, 0.1)) is None
    assert verdict(stopping(5.0, 1.8)) is None
    assert verdict(Trajectory.standing(0.0, Pose(20.0, 0.0, 0.0))) is None


def with_row(name: str, value: float, row: int = 20) -> Trajectory:
    plan = motion()
    column = getattr(plan, name).copy()
    column[row] = value
    return replace(plan, **{name: column})


def sharper() -> Trajectory:
    return motion(1.0, 0.4)


def steered_fast() -> Trajectory:
    plan = motion(1.0)
    kappa = np.where(plan.t > 2.0, 0.12, 0.0)
    heading = np.concatenate((np.zeros(1), np.cumsum(0.1 * 0.5 * (kappa[1:] + kappa[:-1]))))
    middle = 0.5 * (heading[1:] + heading[:-1])
    x = 20.0 + np.concatenate((np.zeros(1), np.cumsum(0.1 * np.cos(middle))))
    y = np.concatenate((np.zeros(1), np.cumsum(0.1 * np.sin(middle))))
    return replace(plan, curvature=kappa, heading=heading, x=x, y=y)


def accelerated(a: float) -> Trajectory:
    plan = motion(1.0)
    speed = 1.0 + a * plan.t
    x = 20.0 + np.concatenate((np.zeros(1), np.cumsum(0.05 * (speed[1:] + speed[:-1]))))
    return replace(plan, v=speed, a=np.full(len(speed), a), x=x)


def jerky() -> Trajectory:
    plan = motion(3.0)
    a = np.where((plan.t * 10).round() % 2 == 0, 1.0, -1.0)
    return replace(plan, a=a)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize(
    ("plan", "breach"),
    [
        (lambda: with_row("x", math.nan), ViolationKind.BROKEN),
        (lambda: with_row("t", 0.5), ViolationKind.BROKEN),
        (lambda: with_row("y", 0.6), ViolationKind.BROKEN),
        (sharper, ViolationKind.CURVATURE),
        (steered_fast, ViolationKind.CURVATURE_RATE),
        (lambda: accelerated(2.4), ViolationKind.ACCELERATION),
        (lambda: stopping(8.0, 9.0), ViolationKind.ACCELERATION),
        (lambda: motion(8.0, 0.08), ViolationKind.ACCELERATION),
        (lambda: motion(8.0, -0.08), ViolationKind.ACCELERATION),
        (lambda: motion(8.0, rows=11), ViolationKind.BROKEN),
        (lambda: motion(8.0, rows=1), ViolationKind.BROKEN),
        (jerky, ViolationKind.JERK),
        (lambda: motion(9.5), ViolationKind.SPEED_LIMIT),
    ],
)
def test_seeded_faults_are_named(plan: Callable[[], Trajectory], breach: ViolationKind) -> None:
    assert verdict(plan()) is breach


@pytest.mark.clause("SAF-2")
def test_a_stop_may_be_uncomfortable_to_the_side_but_not_more_than_the_tires_hold() -> None:
    hold = Hold(Reason.NOT_LOCALIZED)
    for kappa, found in ((0.05, None), (0.14, ViolationKind.ACCELERATION)):
        plan = stopping(8.0, 4.0)
        way = np.concatenate((np.zeros(1), np.cumsum(np.hypot(np.diff(plan.x), np.diff(plan.y)))))
        heading = kappa * way
        x, y = 20.0 + np.sin(heading) / kappa, (1.0 - np.cos(heading)) / kappa
        bent = replace(plan, x=x, y=y, heading=heading, curvature=np.full(len(way), kappa))
        assert verdict(bent, scene(v=8.0, curvature=kappa), hold) is found


@pytest.mark.clause("SAF-2")
def test_the_limit_of_the_lane_counts_unless_the_plan_brakes_for_it() -> None:
    slow = follow(road(limit=4.0))
    assert verdict(motion(6.0), request=slow) is ViolationKind.SPEED_LIMIT
    assert verdict(stopping(6.0, 1.8), request=slow) is None
    backward = FreeSpace(Pose(0.0, 0.0, 0.0))
    assert verdict(motion(-1.2), request=backward) is None
    assert verdict(motion(-2.2), request=backward) is ViolationKind.SPEED_LIMIT


@pytest.mark.clause("SAF-2")
def test_a_red_stop_line_is_not_crossed_where_one_could_stop() -> None:
    wall = wall_across(40.0)
    assert verdict(motion(), request=follow(road(), wall)) is ViolationKind.RED_LIGHT
    assert verdict(stopping(5.0, 1.8), request=follow(road(), wall)) is None
    assert verdict(motion(), request=follow(road(), wall_across(22.0))) is None
    assert verdict(motion(8.0), request=follow(road(), wall_across(20.0 + VEHICLE.front + 3.0))) is None
    other = replace(wall, reason=Reason.PEDESTRIAN)
    assert verdict(motion(), request=follow(road(), other)) is None


@pytest.mark.clause("SAF-2")
def test_static_things_are_hit_but_what_touches_may_be_left() -> None:
    assert verdict(motion(), scene(things=(Thing(1, 40.0, 1.0),))) is ViolationKind.COLLISION
    assert verdict(motion(), scene(segments=(35.0, 0.0, 35.0, 5.0))) is ViolationKind.COLLISION
    assert verdict(motion(), scene(things=(Thing(1, 40.0, 2.2),))) is None
    behind = Thing(1, 20.0 - VEHICLE.rear_overhang - 2.2, 0.0)
    ahead = Thing(1, 20.0 + VEHICLE.front + 2.2, 0.0)
    assert verdict(motion(), scene(things=(behind,))) is None
    assert verdict(motion(), scene(things=(ahead,))) is ViolationKind.COLLISION


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("deep", [0.1, 0.3, 0.7])
def test_what_is_deep_in_the_bumper_may_be_left_and_is_not_driven_through(deep: float) -> None:
    bumper = 20.0 + VEHICLE.front - deep
    car, person = Thing(1, bumper + 2.25, 0.0), Thing(1, bumper + 0.25, 0.0, length=0.5, width=0.5, moving=True)
    for now in (scene(things=(car,)), scene(things=(person,)), scene(segments=(bumper, -3.0, bumper, 3.0))):
        assert verdict(motion(1.0), now) in (ViolationKind.COLLISION, ViolationKind.PREDICTED_COLLISION)
        assert verdict(motion(-1.0), now) is None


@pytest.mark.clause("SAF-2")
def test_one_whom_a_plan_creeps_up_to_is_not_driven_over_afterwards() -> None:
    t = 0.1 * np.arange(61)
    v = np.clip(0.09 + 0.5 * (t - 1.0), 0.09, 1.0)
    x = 20.0 + np.concatenate((np.zeros(1), np.cumsum(0.05 * (v[1:] + v[:-1]))))
    plan = replace(motion(), x=x, v=v, a=np.gradient(v, t))
    person = Thing(1, 20.0 + VEHICLE.front + 0.3, 0.0, length=0.5, width=0.5, moving=True)
    assert verdict(plan, scene(v=0.09)) is None
    assert verdict(plan, scene(v=0.09, things=(person,))) is ViolationKind.PREDICTED_COLLISION


@pytest.mark.clause("SAF-2")
def test_predicted_collisions_count_where_the_car_is_at_fault() -> None:
    crossing = Thing(1, 32.0, -8.0, heading=0.5 * math.pi, v=5.0)
    assert verdict(motion(), scene(things=(crossing,))) is ViolationKind.PREDICTED_COLLISION
    assert verdict(motion(), scene(things=(replace(crossing, y=-20.0),))) is None
    late = replace(crossing, x=44.0, y=-22.0)
    assert verdict(motion(), scene(things=(late,))) is None
    from_behind = Thing(1, 5.0, 0.2, v=12.0)
    assert verdict(motion(), scene(things=(from_behind,))) is None
    standing = Trajectory.standing(0.0, Pose(20.0, 0.0, 0.0))
    assert verdict(standing, scene(things=(replace(crossing, x=22.0),))) is None


@pytest.mark.clause("SAF-2")
def test_one_that_is_predicted_to_gather_speed_is_met_where_that_leads_to() -> None:
    """At its present speed it would be far away."""
    slow = scene(v=5.0, things=(Thing(1, 34.5, -23.0, heading=0.5 * math.pi, v=1.0),))
    steps = 0.2 * np.arange(slow.obstacles.y.shape[1])
    gathers = replace(slow.obstacles, y=slow.obstacles.y + 2.5 * steps**2)
    assert verdict(motion(), slow) is None
    assert verdict(motion(), replace(slow, obstacles=gathers)) is ViolationKind.PREDICTED_COLLISION


@pytest.mark.clause("SAF-2")
def test_cutting_in_before_a_faster_car_is_a_fault() -> None:
    t = 0.1 * np.arange(61)
    u = np.clip(t / 3.0, 0.0, 1.0)
    y = 3.5 * u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    heading = np.arctan2(np.gradient(y, t), 6.0)
    v = np.hypot(6.0, np.gradient(y, t))
    plan = replace(motion(6.0), y=y, heading=heading, curvature=np.gradient(heading, t) / v, v=v, a=np.gradient(v, t))
    lanes = follow(road(2, 0))
    behind = Thing(1, 10.0, 3.5, v=12.0)
    assert verdict(plan, scene(v=6.0), lanes) is None
    assert verdict(plan, scene(v=6.0, things=(behind,)), lanes) is ViolationKind.PREDICTED_COLLISION


@pytest.mark.clause("SAF-2")
def test_stops_are_exempt_from_comfort_but_not_from_collision() -> None:
    hard = stopping(8.0, 6.0)
    assert verdict(hard, request=Hold(Reason.EMERGENCY_STOP, True)) is None
    blocked = scene(things=(Thing(1, 28.0, 0.0),))
    assert verdict(hard, blocked, Hold(Reason.EMERGENCY_STOP, True)) is ViolationKind.COLLISION


@settings(max_examples=60)
@given(
    st.floats(-0.25, 0.25), st.floats(-10.0, 30.0), st.floats(-12.0, 12.0), st.floats(-8.0, 8.0), st.floats(-8.0, 8.0)
)
def test_the_first_contact_is_that_of_a_polygon_library(kappa: float, x: float, y: float, dx: float, dy: float) -> None:
    plan = motion(5.0, kappa, rows=30, x=0.0)
    poses = np.column_stack((plan.x, plan.y, plan.heading))
    segment = np.array([(x, y, x + dx, y + dy)])
    outline = FootprintOutline(-VEHICLE.rear_overhang, VEHICLE.front, 0.5 * VEHICLE.width, 0.0)
    row, _ = first_segment_met(poses, segment, outline)
    line = LineString([(x, y), (x + dx, y + dy)])
    met = [i for i in range(len(poses)) if Polygon(VEHICLE.footprint(plan.pose(i))).distance(line) < 1e-9]
    if met and met[0] == 0:
        return
    assert row == (met[0] if met else -1)
