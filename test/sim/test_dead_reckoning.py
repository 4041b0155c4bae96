"""Shifts between the frame `map` and that of the car's belief."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.sim.parameters import SensorParameters
from tuling_fsm.sim.sensors.localization import NOWHERE, DeadReckoning, shift_from
from tuling_fsm.world.inputs import OBJECTS

POSES = st.builds(Pose, *(st.floats(-500.0, 500.0) for _ in range(2)), st.floats(-3.1, 3.1))


@given(POSES, POSES, POSES)
def test_a_shift_takes_one_pose_to_the_other_and_keeps_what_lies_around_it(one: Pose, other: Pose, thing: Pose) -> None:
    there, back = shift_from(one, other), shift_from(other, one)
    assert there.pose(one)[:2] == pytest.approx(other[:2], abs=1e-6)
    moved = there.pose(thing)
    assert math.dist(moved[:2], other[:2]) == pytest.approx(math.dist(thing[:2], one[:2]), abs=1e-6)
    assert back.pose(moved)[:2] == pytest.approx(thing[:2], abs=1e-6)
    assert math.cos(back.pose(moved).heading - thing.heading) == pytest.approx(1.0)


@given(POSES, POSES)
def test_tables_boxes_and_plans_move_as_poses_do(one: Pose, other: Pose) -> None:
    shift, thing = shift_from(one, other), Pose(3.0, -7.0, 0.5)
    expected = shift.pose(thing)
    rows = np.zeros(1, OBJECTS)
    rows["x"], rows["y"], rows["heading"], rows["vx"] = *thing, 2.0
    table = shift.table(rows)[0]
    boxes = shift.boxes(np.array([(thing.x, thing.y, 1.5, thing.heading, 4.0, 2.0, 0.0)]))[0]
    plan = shift.trajectory(Trajectory.standing(0.0, thing))
    for x, y, heading in ((table["x"], table["y"], table["heading"]), boxes[[0, 1, 3]], plan.pose(0)):
        assert (float(x), float(y)) == pytest.approx(expected[:2], abs=1e-2)
        assert math.cos(float(heading) - expected.heading) == pytest.approx(1.0, abs=1e-4)
    assert math.hypot(table["vx"], table["vy"]) == pytest.approx(2.0, abs=1e-5)
    assert boxes[2] == 1.5


def test_the_belief_is_the_truth_while_the_car_is_localized_and_whenever_it_stands() -> None:
    reckoning = DeadReckoning(SensorParameters())
    pose = Pose(5.0, 2.0, 0.3)
    assert reckoning.update(0.0, pose, 8.0, 0.1, True) == pose
    assert reckoning.to_map is NOWHERE
    for frame in range(1, 200):
        believed = reckoning.update(0.05 * frame, pose, 0.0, 0.0, False)
    assert believed == pytest.approx(pose)
    assert reckoning.update(10.0, Pose(6.0, 2.0, 0.3), 1.0, 0.0, True) == Pose(6.0, 2.0, 0.3)
    assert reckoning.from_map is NOWHERE
