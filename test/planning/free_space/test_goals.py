"""Goals and starts that cannot be as they are asked for, and the reason that is given (USE-7, EXP-1)."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Reason

from .places import BESIDE, CAR, GOAL, boxes, plan, scene, slot_across, slot_along, with_object
from .verdicts import assert_drivable, assert_ends_at, driven


@pytest.mark.clause("USE-7")
def test_reasons() -> None:
    segments = slot_across()
    inside, apart = Pose(1.0, 2.5, 0.3), Pose(200.0, 0.0, 0.0)
    closed = boxes((1.4, 0.0, 0.0, 9.0, 4.0))
    assert plan(scene(inside, segments)).reason is Reason.START_OCCUPIED
    assert plan(scene(BESIDE, segments), FreeSpace(inside)).reason is Reason.GOAL_OCCUPIED
    assert plan(scene(BESIDE, closed)).reason is Reason.NO_PATH
    assert plan(scene(BESIDE, slot_along(0.5)), FreeSpace(GOAL, max_expansions=4)).reason is Reason.TIMEOUT
    assert plan(scene(BESIDE), FreeSpace(apart)).reason is Reason.OUTSIDE_MAP
    assert plan(scene(BESIDE), FreeSpace(Pose(math.nan, 0.0, 0.0))).reason is Reason.OUTSIDE_MAP
    for result in (plan(scene(inside, segments)), plan(scene(BESIDE), FreeSpace(apart))):
        assert not result.feasible
        assert result.trajectory is None
        assert result.limit.reason is result.reason


@pytest.mark.clause("USE-7")
def test_a_footprint_inside_a_larger_box_is_occupied() -> None:
    hall = with_object(scene(BESIDE), Pose(1.4, 0.0, 0.0), False, 0.0)
    objects = replace(hall.obstacles, length=np.array((12.0,)), width=np.array((5.0,)))
    assert plan(replace(hall, obstacles=objects)).reason is Reason.GOAL_OCCUPIED


@pytest.mark.clause("USE-7")
def test_the_nearest_usable_goal_within_tolerance_is_taken() -> None:
    segments = slot_across()
    wanted = Pose(0.0, 0.6, 0.0)
    exact = FreeSpace(wanted, goal_tolerance=0.0, goal_heading_tolerance=0.0)
    assert plan(scene(BESIDE, segments), exact).reason is Reason.GOAL_OCCUPIED
    result = plan(scene(BESIDE, segments), replace(exact, goal_tolerance=0.3))
    end = driven(result).pose(-1)
    assert 0.05 < math.hypot(end.x - wanted.x, end.y - wanted.y) <= 0.3 + 1e-6
    assert_drivable(result, segments)


@pytest.mark.clause("USE-7")
def test_a_thing_on_the_goal_itself_leaves_the_goals_about_it() -> None:
    wanted, cone = FreeSpace(Pose(15.0, 0.0, 0.0), goal_tolerance=2.0), Pose(15.0, 0.0, 0.0)
    now = with_object(scene(Pose(0.0, 0.0, 0.0)), cone, False, 0.0)
    small = replace(now.obstacles, length=np.array((0.3,)), width=np.array((0.3,)))
    end = driven(plan(replace(now, obstacles=small), wanted)).pose(-1)
    assert 0.5 < math.hypot(end.x - cone.x, end.y - cone.y) <= 2.0 + 1e-6


@pytest.mark.clause("USE-7")
def test_a_goal_beside_a_large_box_is_not_moved_into_it() -> None:
    """Inside, the body is clear of all its edges."""
    now = with_object(scene(Pose(0.0, 0.0, 0.0)), Pose(21.0, 0.0, 0.0), False, 0.0)
    hall = replace(now.obstacles, length=np.array((14.0,)), width=np.array((9.0,)))
    wanted = FreeSpace(Pose(13.9, 0.0, 0.0), goal_tolerance=4.0, allow_reverse=False)
    end = driven(plan(replace(now, obstacles=hall), wanted)).pose(-1)
    assert end.x + CAR.front < 14.0


@pytest.mark.clause("EXP-1")
def test_a_free_heading_takes_one_that_fits() -> None:
    corridor = np.array(((-4.0, 5.0, 14.0, 5.0), (-4.0, 8.5, 14.0, 8.5)))
    goal = Pose(6.0, 6.75, 1.2)
    start = Pose(-12.0, 6.0, 0.0)
    assert plan(scene(start, corridor), FreeSpace(goal)).reason is Reason.GOAL_OCCUPIED
    result = plan(scene(start, corridor), FreeSpace(goal, free_heading=True, speed_limit=5.0 / 3.6))
    end = driven(result).pose(-1)
    assert math.hypot(end.x - goal.x, end.y - goal.y) <= 0.3 + 1e-6
    assert_drivable(result, corridor, top=5.0 / 3.6)


@pytest.mark.clause("USE-6")
def test_a_car_that_something_seems_to_touch_may_leave() -> None:
    pushed = boxes((1.4, CAR.width / 2.0 + 0.95, 0.0, 5.0, 2.0))
    deep = boxes((1.4, CAR.width / 2.0 + 0.6, 0.0, 5.0, 2.0))
    result = plan(scene(GOAL, pushed), FreeSpace(Pose(15.0, -3.0, 0.0)))
    assert_ends_at(result, Pose(15.0, -3.0, 0.0))
    assert plan(scene(GOAL, deep), FreeSpace(Pose(15.0, -3.0, 0.0))).reason is Reason.START_OCCUPIED


def test_a_car_within_tolerance_has_arrived() -> None:
    near = Pose(0.1, -0.1, 0.05)
    result = plan(scene(near))
    assert result.limit.reason is Reason.ARRIVED
    assert driven(result).stands
    assert driven(plan(scene(near), FreeSpace(GOAL, goal_tolerance=0.0))).t[-1] > 0.0
