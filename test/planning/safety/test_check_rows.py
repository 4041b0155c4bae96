"""The check at the first rows of a plan, at low speeds and at the edges of each rule."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.regulations import Regulations
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.check import Violation, ViolationKind

from .test_check_geometry import lanes_at
from .test_check_limits import C, S, around, breach, closed, driving, judged, speeds, thing

pytestmark = pytest.mark.clause("SAF-2")

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
LIMITS = PARAMETERS.check


@pytest.mark.parametrize("row", [0, 1, 60])
@pytest.mark.parametrize("column", ["t", "x", "heading", "curvature", "v", "a"])
def test_a_value_that_is_not_finite_is_found_in_any_row(row: int, column: str) -> None:
    plan = driving(5.0)
    values = getattr(plan, column).copy()
    values[row] = math.nan
    expected = Violation(ViolationKind.BROKEN, 0.0, "a value is not finite")
    assert judged(replace(plan, **{column: values})) == expected
    assert judged(replace(plan, stamp=math.inf)) == expected


@pytest.mark.parametrize("row", [0, 1, 59])
def test_time_that_stands_or_goes_back_is_found_in_any_row(row: int) -> None:
    plan = driving(5.0)
    for later in (0.0, -0.01):
        t = plan.t.copy()
        t[row + 1] = t[row] + later
        assert judged(replace(plan, t=t)) == Violation(ViolationKind.BROKEN, 0.0, "time does not increase")


@pytest.mark.parametrize("row", [0, 1, 59])
def test_a_jump_is_told_with_its_row_and_its_length(row: int) -> None:
    plan = driving(5.0)
    for jump, wrong in ((1.05, True), (0.95, False)):
        x = plan.x.copy()
        x[row + 1 :] += jump * LIMITS.position
        told = judged(replace(plan, x=x))
        assert (told is not None) is wrong
        assert told is None or (told.t == pytest.approx(float(plan.t[row])) and told.breach is ViolationKind.BROKEN)
    x = plan.x.copy()
    x[row + 1 :] += 0.3
    told = judged(replace(plan, x=x))
    assert told is not None and told.detail == "0.30 m off its own speed"


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("radius", [1.5, -4.0])
def test_a_curvature_that_is_not_that_of_the_motion_is_told(radius: float) -> None:
    plan = driving(1.0 if radius == 1.5 else 5.0)
    heading = np.cumsum(np.concatenate(([0.0], 0.5 * (plan.v[1:] + plan.v[:-1]) * np.diff(plan.t)))) / radius
    ahead, left = radius * elementwise.sin(heading), radius * (1.0 - elementwise.cos(heading))
    x, y = plan.x[0] + C * ahead - S * left, plan.y[0] + S * ahead + C * left
    round_ = replace(plan, x=x, y=y, heading=plan.heading + heading)
    told = judged(round_)
    assert told is not None and told.breach is ViolationKind.BROKEN and "off its own curvature" in told.detail
    told = judged(replace(round_, curvature=np.full(len(heading), 1.0 / radius)))
    assert told is not None and told.breach is not ViolationKind.BROKEN, "it is too bent, and says so"


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("by", [0.5, -0.5])
def test_an_acceleration_that_is_not_that_of_the_motion_is_told(by: float) -> None:
    plan = driving(5.0)
    v = plan.v.copy()
    v[20:] += by
    ahead = np.concatenate(([0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(plan.t))))
    told = judged(replace(plan, v=v, x=plan.x[0] + C * ahead, y=plan.y[0] + S * ahead))
    assert told is not None and told.t == pytest.approx(float(plan.t[19]))
    assert "off its own acceleration" in told.detail


@pytest.mark.parametrize("row", [1, 2, 30])
def test_only_the_first_row_of_a_stop_may_be_what_no_car_can_do(row: int) -> None:
    v = speeds(6.0, -6.0)
    stop = driving(v, a=np.where(v > 0.0, -6.0, 0.0))
    bend = replace(stop, curvature=np.where(np.arange(61) == row, 0.5, 0.0))
    hard = replace(stop, a=np.where(np.arange(61) == row, -12.0, stop.a))
    assert breach(bend, stop=True) is ViolationKind.CURVATURE
    assert breach(hard, stop=True) is ViolationKind.ACCELERATION


def jerky(v: float, least: float, steps: int) -> Trajectory:
    """At speed `v`: braking that sets in over so many rows down to `least`, and stays."""
    a = np.full(61, least)
    a[:20], a[20 : 20 + steps] = 0.0, least * (np.arange(steps) + 1.0) / steps
    return driving(v + np.concatenate(([0.0], np.cumsum(0.05 * (a[1:] + a[:-1])))), a=a)


@pytest.mark.parametrize(("share", "hard"), [(1.1, False), (1.19, False), (1.21, True), (1.5, True), (2.3, True)])
def test_a_jerk_to_braking_harder_than_comfort_is_hard_braking(share: float, hard: bool) -> None:
    """By a fifth; to less than that it is one that passengers feel."""
    plan = jerky(12.0, -share * VEHICLE.comfort_decel, 1)
    plan = replace(plan, a=plan.a[:40], **{name: getattr(plan, name)[:40] for name in ("t", "x", "y", "v")},
                   heading=plan.heading[:40], curvature=plan.curvature[:40])  # fmt: skip
    found = breach(plan, rules=Regulations(speed_limit=50.0))
    assert share * VEHICLE.comfort_decel / 0.1 > LIMITS.jerk * VEHICLE.max_jerk
    assert (found is ViolationKind.JERK) is not hard


@pytest.mark.parametrize(("apart", "belongs"), [(4, True), (5, True), (6, False), (9, False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_jerk_within_half_a_second_of_hard_braking_belongs_to_it(apart: int, belongs: bool, sign: int) -> None:
    """Hard braking is one row; the acceleration jumps some rows before or after it."""
    jump, a = 1.2 * LIMITS.jerk * VEHICLE.max_jerk * 0.1, np.zeros(61)
    if sign > 0:
        a[30 + apart + 1 :] = jump
    else:
        a[: 30 - apart + 1] = jump
    a[30] = -1.5 * VEHICLE.comfort_decel
    told = judged(driving(5.0 + np.concatenate(([0.0], np.cumsum(0.05 * (a[1:] + a[:-1])))), a=a))
    assert (told is None) is belongs
    if told is not None:
        assert told.breach is ViolationKind.JERK and told.t == pytest.approx(3.0 + sign * 0.1 * apart)


@pytest.mark.parametrize(("v", "stands"), [(0.3, True), (0.4, False)])
def test_the_last_moment_before_standing_is_no_jerk(v: float, stands: bool) -> None:
    a = np.zeros(61)
    a[20:] = np.where(np.arange(41) < 1, -1.2 * LIMITS.jerk * VEHICLE.max_jerk * 0.1, 0.0)
    plan = driving(v + np.concatenate(([0.0], np.cumsum(0.05 * (a[1:] + a[:-1])))), a=a)
    assert float(plan.v.min()) > 0.0
    if not stands:
        plan = replace(driving(v), a=a)
    assert (breach(plan) is ViolationKind.JERK) is not stands


def test_an_edge_is_found_on_either_side_of_the_axes() -> None:
    """Its ends lie to both sides of the origin, its middle far from the plan."""
    t, zero = 0.1 * np.arange(41), np.zeros(41)
    for x, y, turn in ((0.0, 9.0, 0.0), (0.0, -9.0, 0.0), (9.0, 0.0, 0.5 * math.pi), (-9.0, 0.0, 0.5 * math.pi)):
        c, s = math.cos(turn), math.sin(turn)
        plan = Trajectory(0.0, t, x + 4.0 * t * c, y + 4.0 * t * s, zero + turn, zero, zero + 4.0, zero)
        across = 12.0 * c
        along = 12.0 * s
        ends = (x * c * c + 12.0 * c - along, y * s * s + 12.0 * s - across)
        edge = np.array([(*ends, ends[0] + 2.0 * along, ends[1] + 2.0 * across)])
        for found in (edge, edge[:, [2, 3, 0, 1]]):
            told = judged(plan, around(edges=found, pose=Pose(x, y, turn)))
            assert told is not None and told.detail == "static edge"
            assert told.t == pytest.approx((12.0 - VEHICLE.front) / 4.0, abs=0.1)


def test_a_plan_that_brakes_is_excused_by_the_speed_that_it_begins_with() -> None:
    v = speeds(6.0, -6.0)
    plan = driving(np.maximum(v, 1.0), a=np.where(v > 1.0, -6.0, 0.0))
    line = 4.0
    for decel, wrong in ((0.5 * 36.0 / (line - 0.05), True), (0.5 * 36.0 / (line + 0.05), False)):
        found = breach(plan, rules=closed(line + VEHICLE.front, decel=decel))
        assert (found is ViolationKind.RED_LIGHT) is wrong


def test_a_line_is_crossed_slowly_too_and_at_the_first_row() -> None:
    assert breach(driving(0.3), rules=closed(VEHICLE.front + 0.9, decel=6.0)) is ViolationKind.RED_LIGHT
    told = judged(driving(5.0), rules=closed(VEHICLE.front + 0.2, decel=100.0))
    assert told is not None and told.t == pytest.approx(0.1)


@pytest.mark.parametrize("limits", [(1.0, 7.0), (7.0, 1.0)])
def test_a_lane_may_be_slower_than_reverse(limits: tuple[float, float]) -> None:
    near, far = limits
    lanes = lanes_at(0.0, 3.5).lanes
    rules = Regulations(lanes=tuple(replace(lane, limit=np.full_like(lane.limit, limit))
                                    for lane, limit in zip(lanes, limits, strict=True)))  # fmt: skip
    assert (breach(driving(1.7), rules=rules) is ViolationKind.SPEED_LIMIT) is (near == 1.0)
    assert breach(driving(1.3), rules=rules) is None
    assert far > near or breach(driving(7.3), rules=rules) is None


@pytest.mark.parametrize("gear", [1.0, -1.0])
def test_one_that_is_run_into_from_behind_by_the_car_is_not_at_fault(gear: float) -> None:
    """A slow one ahead, going the same way, that the car catches up with."""
    plan, turn = driving(gear * 1.4), 0.0 if gear > 0.0 else math.pi
    bumper = VEHICLE.front if gear > 0.0 else -VEHICLE.rear_overhang
    slow = thing(2, bumper + gear * (2.25 + 1.5), 0.0, turn, 0.5)
    assert breach(plan, around((slow,))) is ViolationKind.PREDICTED_COLLISION


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(("behind", "excused"), [(0.35, True), (-0.35, False)])
def test_a_small_one_that_runs_into_the_side_is_behind_if_it_is_behind_the_rear_axle(
    side: float, behind: float, excused: bool
) -> None:
    """It goes the same way, and comes in slowly."""
    plan, turn, v = driving(2.0), -side * 0.3, 2.0 / math.cos(0.3)
    left = side * (0.5 * VEHICLE.width + 0.25)
    start = (-behind, left + side * 1.5 * v * math.sin(0.3))
    small = thing(2, *start, turn, v, length=0.4)
    found = breach(plan, around((replace(small, width=0.4),)))
    assert (found is None) is excused


def test_of_two_that_are_run_into_the_first_one_named_is_the_first_in_the_scene() -> None:
    plan = driving(5.0)
    one, two = thing(6, 12.0, 0.0, 0.0, 0.5), thing(9, 20.0, 0.0, 0.0, 0.5)
    for things in ((one, two), (two, one)):
        told = judged(plan, around(things))
        assert told is not None and told.detail in (f"object {things[0].number}", "object 6")
    away = thing(4, 12.0, 8.0, 0.0, 5.0)
    told = judged(plan, around((away, one)))
    assert told is not None and told.detail == "object 6"
