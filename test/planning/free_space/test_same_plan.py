"""The same case gives the same plan: again, mirrored, moved and turned, and with more to spend no worse a one."""

from __future__ import annotations

import math
from dataclasses import fields

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.planning.free_space import FreeSpaceParameters

from .judge import cusps, rows_of
from .places import BESIDE, CAR, GOAL, LANE, plan, scene, slot_across, slot_along
from .verdicts import assert_ends_at, driven


def assert_same(one: Trajectory, other: Trajectory) -> None:
    for field in fields(one):
        assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name


def test_the_same_request_gives_the_same_plan_whatever_came_before() -> None:
    where = scene(LANE, slot_along(0.6))
    first = driven(plan(where))
    plan(scene(BESIDE, slot_across()))
    assert_same(driven(plan(where)), first)


def test_the_mirrored_case_gives_the_mirrored_plan() -> None:
    segments = slot_along(0.6)
    mirrored = segments * np.array((1.0, -1.0, 1.0, -1.0))
    one = driven(plan(scene(LANE, segments)))
    other = driven(plan(scene(Pose(LANE.x, -LANE.y, -LANE.heading), mirrored[::-1])))
    assert np.array_equal(one.t, other.t)
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(one.y, -other.y)
    assert np.array_equal(one.heading, -other.heading)


def test_the_moved_and_turned_case_gives_the_same_motion() -> None:
    segments = slot_across()
    turn, shift = 1.1, np.array((4000.0, -7000.0))
    c, s = math.cos(turn), math.sin(turn)
    rotation = np.array(((c, s), (-s, c)))

    def moved(pose: Pose) -> Pose:
        x, y = np.array(pose[:2]) @ rotation + shift
        return Pose(float(x), float(y), pose.heading + turn)

    away = (segments.reshape(-1, 2) @ rotation + shift).reshape(-1, 4)
    one = driven(plan(scene(BESIDE, segments)))
    other = driven(plan(scene(moved(BESIDE), away), FreeSpace(moved(GOAL))))
    assert one.t[-1] == pytest.approx(other.t[-1], abs=0.1)
    assert_ends_at(plan(scene(moved(BESIDE), away), FreeSpace(moved(GOAL))), moved(GOAL))


def test_a_larger_budget_gives_no_worse_path() -> None:
    where = scene(LANE, slot_along(0.7))
    lengths = []
    for spent in (0, 300, 2000):
        trajectory = driven(plan(where, parameters=FreeSpaceParameters(improve_expansions=spent, curve_cost=0.0)))
        rows = rows_of(trajectory, CAR)
        lengths.append(float(np.hypot(*np.diff(rows[:, 1:3], axis=0).T).sum()) + 2.0 * cusps(rows))
    assert lengths[0] >= lengths[1] - 0.05
    assert lengths[1] >= lengths[2] - 0.05
