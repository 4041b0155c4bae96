"""Whole plans in free space, judged from outside: drivable, clear of what is there, and to the goal."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Reason, StopWall
from tuling_fsm.planning.free_space import FreeSpaceParameters
from tuling_fsm.planning.free_space.obstacles import box_outlines

from .judge import box_of, cusps, first_touch, lines_of, placed, rows_of
from .places import BESIDE, CAR, GOAL, LANE, plan, scene, slot_across, slot_along, with_object
from .verdicts import assert_drivable, assert_ends_at, driven


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("start", [BESIDE, Pose(9.0, 12.0, -1.4), Pose(14.0, -3.0, 3.0)])
def test_a_slot_between_cars_is_entered(start: Pose) -> None:
    result = plan(scene(start, slot_across()))
    assert_drivable(result, slot_across())
    assert_ends_at(result, GOAL)


@pytest.mark.clause("PRK-3")
@pytest.mark.parametrize("start", [BESIDE, Pose(12.0, 9.0, -1.4), Pose(-9.0, 3.0, 0.0)])
def test_a_slot_is_entered_in_reverse(start: Pose) -> None:
    goal = Pose(2.9, 0.0, math.pi)
    result = plan(scene(start, slot_across()), FreeSpace(goal))
    assert_drivable(result, slot_across())
    assert_ends_at(result, goal)
    assert result.uses_reverse
    assert driven(result).v[np.abs(driven(result).v) > 0.01][-1] < 0.0


@pytest.mark.parametrize("gap", [1.6, 0.9, 0.6])
def test_a_slot_along_the_kerb_is_entered(gap: float) -> None:
    result = plan(scene(LANE, slot_along(gap)), FreeSpace(GOAL, goal_tolerance=0.0, goal_heading_tolerance=0.0))
    assert_drivable(result, slot_along(gap))
    assert_ends_at(result, GOAL)


def test_a_hemmed_in_car_gets_out() -> None:
    result = plan(scene(GOAL, slot_along(0.7)), FreeSpace(Pose(9.0, 3.2, 0.0)))
    assert_drivable(result, slot_along(0.7))
    assert_ends_at(result, Pose(9.0, 3.2, 0.0))


@pytest.mark.clause("SLF-1")
def test_clearance_is_kept_where_there_is_room() -> None:
    parameters = FreeSpaceParameters(clearance=0.3)
    segments = slot_across()
    trajectory = driven(plan(scene(BESIDE, segments), parameters=parameters))
    box, lines = box_of(CAR), lines_of(segments)
    cars = [placed(box, *trajectory.pose(i)) for i in range(0, len(trajectory), 10)]
    assert min(car.distance(line) for car in cars for line in lines) > 0.25


@pytest.mark.clause("SLF-1")
def test_bends_are_gentle_where_there_is_room() -> None:
    request = FreeSpace(Pose(25.0, 3.0, 0.0))
    gentle = driven(plan(scene(GOAL), request))
    sharp = driven(plan(scene(GOAL), request, FreeSpaceParameters(curve_cost=0.0)))
    assert np.abs(gentle.curvature).max() < 0.5 * np.abs(sharp.curvature).max()
    assert gentle.t[-1] < sharp.t[-1]


def test_standing_at_every_change_of_gear_with_the_wheel_turned_there() -> None:
    result = plan(scene(LANE, slot_along(0.7)), FreeSpace(GOAL))
    rows = rows_of(driven(result), CAR)
    assert cusps(rows) >= 1
    standing = (np.abs(rows[:-1, 4]) < 1e-9) & (np.abs(rows[1:, 4]) < 1e-9)
    assert np.all(np.hypot(*np.diff(rows[:, 1:3], axis=0)[standing].T) < 1e-9)
    assert np.abs(np.diff(rows[:, 5])[standing]).max() > 1e-3


def test_a_car_that_rolls_goes_on_from_its_speed_and_steering() -> None:
    result = plan(scene(BESIDE, slot_across(), v=2.0, curvature=0.05))
    trajectory = driven(result)
    assert trajectory.v[0] == pytest.approx(2.0)
    assert trajectory.curvature[0] == pytest.approx(0.05)
    assert_drivable(result, slot_across(), v0=2.0)
    assert_ends_at(result, GOAL)


def test_a_car_that_rolls_back_stops_before_it_goes_ahead() -> None:
    result = plan(scene(Pose(-12.0, 0.0, 0.0), v=-1.0, curvature=-0.1), FreeSpace(Pose(8.0, 0.0, 0.0)))
    trajectory = driven(result)
    assert trajectory.v[0] == pytest.approx(-1.0)
    assert_drivable(result, np.zeros((0, 4)), v0=1.0)
    assert_ends_at(result, Pose(8.0, 0.0, 0.0))


def test_a_car_that_cannot_stop_before_a_wall_has_no_plan() -> None:
    wall = np.array(((4.5, -5.0, 4.5, 5.0),))
    assert plan(scene(GOAL, wall, v=3.0), FreeSpace(Pose(-8.0, 0.0, 0.0))).reason is Reason.NO_PATH
    assert plan(scene(GOAL, wall, v=0.3), FreeSpace(Pose(-8.0, 0.0, 0.0))).feasible


def test_speed_limit() -> None:
    trajectory = driven(plan(scene(Pose(-25.0, 0.0, 0.0)), FreeSpace(GOAL, speed_limit=5.0 / 3.6)))
    assert trajectory.v.max() == pytest.approx(5.0 / 3.6, abs=0.02)


def test_jerk() -> None:
    trajectory = driven(plan(scene(BESIDE, slot_across())))
    assert np.abs(np.diff(trajectory.a) / np.diff(trajectory.t)).max() < 1.02 * CAR.max_jerk


@pytest.mark.clause("REG-2")
def test_lines_are_walls() -> None:
    line = np.array(((6.0, -30.0, 6.0, -2.0), (6.0, -2.0, 6.0, 3.0)))
    free = rows_of(plan(scene(BESIDE)), CAR)
    assert first_touch(free, CAR, lines_of(line)) >= 0
    result = plan(scene(BESIDE), FreeSpace(GOAL, lines=line))
    assert_drivable(result, line)
    assert_ends_at(result, GOAL)


@pytest.mark.clause("REG-2")
def test_a_line_that_cannot_be_gone_round_leaves_no_path() -> None:
    line = np.array(((6.0, -60.0, 6.0, 60.0),))
    assert plan(scene(BESIDE), FreeSpace(GOAL, lines=line)).reason is Reason.NO_PATH
    assert plan(scene(BESIDE), FreeSpace(GOAL)).feasible


@pytest.mark.clause("REG-2")
def test_a_line_under_the_car_may_be_left_but_holds_farther_away() -> None:
    line = np.array([(x, 0.5, x + 4.0, 0.5) for x in np.arange(-40.0, 40.0, 4.0)])
    start, goal = Pose(0.0, 0.0, 0.0), Pose(14.0, -3.0, 0.0)
    result = plan(scene(start), FreeSpace(goal, lines=line))
    assert_ends_at(result, goal)
    far = [s for s in line if min(abs(s[0] - 1.4), abs(s[2] - 1.4)) > 8.0]
    assert first_touch(rows_of(result, CAR), CAR, lines_of(np.array(far))) == -1


def test_without_reverse_the_car_goes_ahead_only() -> None:
    result = plan(scene(Pose(6.0, 0.0, 0.0)), FreeSpace(GOAL, allow_reverse=False))
    assert driven(result).v.min() >= 0.0
    assert not result.uses_reverse
    assert_ends_at(result, GOAL)
    assert plan(scene(Pose(6.0, 0.0, 0.0))).uses_reverse


def test_what_stands_is_an_obstacle_and_what_moves_is_none() -> None:
    way = Pose(-9.0, 0.0, 0.0)
    for moving, speed, blocks in ((False, 0.0, True), (True, 0.0, True), (True, 3.0, False)):
        where = with_object(scene(Pose(-22.0, 0.0, 0.0)), way, moving, speed)
        rows = rows_of(plan(where), CAR)
        o = where.obstacles
        outline = box_outlines(o.x[:, 0], o.y[:, 0], o.heading[:, 0], o.length, o.width)
        assert (first_touch(rows, CAR, lines_of(outline)) == -1) == blocks


def test_a_stop_wall_ends_the_motion_before_it() -> None:
    wall = StopWall(-20.0, 0.0, 20.0, 0.0, Reason.RED_LIGHT, "signal 4", 4)
    behind = StopWall(-20.0, -8.0, 20.0, -8.0, Reason.STOP_SIGN)
    request = FreeSpace(Pose(9.0, 12.0, math.pi / 2.0), walls=(behind, wall))
    result = plan(scene(BESIDE), request)
    trajectory = driven(result)
    assert trajectory.v[-1] == 0.0
    assert 0.0 < -(trajectory.y[-1] + CAR.front) < 0.5
    assert (result.limit.reason, result.limit.detail, result.limit.blocker) == (Reason.RED_LIGHT, "signal 4", 4)
    at_wall = Pose(9.0, -CAR.front - 0.3, math.pi / 2.0)
    assert driven(plan(scene(at_wall), request)).stands


def test_a_rolling_car_stops_as_soon_as_it_can_before_a_wall_that_is_too_near() -> None:
    wall = StopWall(-20.0, -3.0, 20.0, -3.0, Reason.RED_LIGHT)
    result = plan(scene(BESIDE, v=2.0), FreeSpace(Pose(9.0, 12.0, math.pi / 2.0), walls=(wall,)))
    assert_drivable(result, np.zeros((0, 4)), v0=2.0)
    assert result.limit.reason is Reason.RED_LIGHT
    assert driven(result).y[-1] - BESIDE.y == pytest.approx(2.0**2 / 2.0 + 2.0 * 0.8 / 2.0 + 0.3, abs=0.05)


def test_every_column_of_a_trajectory_lies_in_one_piece() -> None:
    """For others the kernels that look at it would have to be compiled, in the midst of a drive."""
    trajectory = driven(plan(scene(LANE, slot_along(0.6))))
    columns = [getattr(trajectory, field.name) for field in fields(trajectory)]
    assert all(column.flags.c_contiguous for column in columns if isinstance(column, np.ndarray))
