"""Into a slot at the roadside, with perfect tracking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.request import PullOver, Reason, StopWall
from tuling_fsm.planning.maneuvers.curve_shape import quintic_curve
from tuling_fsm.planning.paths.frenet_path import PHEADING, PKAPPA, PX, PY

from ..scenes import Log, Thing, scene
from .closed_loop import PLANNER, VEHICLE, drive_checked

BAYS = (Pose(30.0, -3.0, 0.0), Pose(42.0, -3.0, 0.0))


def parked(x: float) -> Thing:
    """A car in the bay whose goal is at `x`."""
    return Thing(int(x), x + VEHICLE.length / 2.0 - VEHICLE.rear_overhang, -3.0)


def stands_at(log: Log, goal: Pose) -> bool:
    ego = log[-1][1].ego
    near = math.hypot(ego.pose.x - goal.x, ego.pose.y - goal.y) < 0.1
    return near and abs(wrap_angle(ego.pose.heading - goal.heading)) < 0.03 and ego.v == 0.0


@pytest.mark.clause("TMP-1", "USE-8")
def test_the_first_free_bay_is_entered_in_one_forward_curve() -> None:
    log = drive_checked(PullOver(BAYS, speed_limit=5.0), scene(x=0.0, v=7.0), 20.0)
    assert stands_at(log, BAYS[0])
    assert not any(result.uses_reverse for _, _, result in log)
    assert len({id(result.maneuver.whole) for _, _, result in log if result.maneuver is not None}) == 1


@pytest.mark.clause("TMP-1", "TMP-2")
@pytest.mark.parametrize("v", [2.0, 2.9, 3.5])
def test_from_one_bay_into_another_beside_a_near_kerb_in_one_curve(v: float) -> None:
    """The car still turns away from the kerb as it comes out of the first."""
    kerb = np.array([[-20.0, -1.25, 24.3, -1.25], [24.3, -1.25, 24.3, 1.25], [24.3, 1.25, 40.0, 1.25]])
    bays = Pose(12.3, 0.0, 0.0), Pose(19.3, 0.0, 0.0)
    start = scene(0.0, 2.7, 0.15, v=v, curvature=-0.03)
    log = drive_checked(PullOver(bays, speed_limit=4.0, lines=kerb), start, 16.0)
    assert any(stands_at(log, bay) for bay in bays)
    assert not any(result.uses_reverse for _, _, result in log)
    assert all(now.ego.v > 0.1 for _, now, _ in log if now.ego.pose.x < 10.0), "without a stop on the way"


@pytest.mark.clause("TMP-1")
@pytest.mark.medium
def test_a_taken_bay_is_left_for_the_next_one() -> None:
    log = drive_checked(
        PullOver(BAYS, speed_limit=5.0), scene(x=0.0, v=7.0, things=(parked(30.0),)), 24.0, (parked(30.0),)
    )
    assert stands_at(log, BAYS[1])


@pytest.mark.clause("TMP-1")
@pytest.mark.medium
def test_a_gap_that_no_curve_leads_into_is_searched_for() -> None:
    things = (parked(23.0), parked(37.0))
    log = drive_checked(PullOver(BAYS[:1], speed_limit=2.5), scene(x=22.0, v=0.0, things=things), 60.0, things)
    assert stands_at(log, BAYS[0])
    assert any(result.uses_reverse for _, _, result in log)


@pytest.mark.clause("TMP-1")
def test_without_a_free_bay_there_is_a_reason_and_a_stop() -> None:
    things = (parked(30.0), parked(42.0))
    result = PLANNER.plan(PullOver(BAYS), scene(x=0.0, v=0.0, things=things), None)
    assert not result.feasible
    assert result.reason is Reason.GOAL_OCCUPIED
    assert result.trajectory is not None
    assert result.trajectory.v[-1] == 0.0


def test_a_wall_on_the_way_is_stopped_at() -> None:
    wall = StopWall(15.0, 4.0, 15.0, -4.0, Reason.PEDESTRIAN)
    log = drive_checked(PullOver(BAYS, (wall,), 5.0), scene(x=0.0, v=5.0), 10.0)
    assert log[-1][1].ego.v == 0.0
    assert 13.0 < log[-1][1].ego.pose.x + VEHICLE.front < 15.0
    assert log[-1][2].limit.reason is Reason.PEDESTRIAN


@settings(max_examples=60, deadline=None)
@given(
    st.floats(3.0, 40.0), st.floats(-4.0, 4.0), st.floats(-0.4, 0.4), st.floats(-0.1, 0.1),
    st.sampled_from(((0.8, 0.8), (1.3, 1.3), (0.85, 1.5))), st.integers(-1, 1),
)  # fmt: skip
def test_a_quintic_curve_meets_both_ends(
    x: float, y: float, turn: float, bend: float, stretches: tuple[float, float], turns: int
) -> None:
    start, goal = Pose(2.0, -1.0, 0.7 + 2.0 * math.pi * turns), Pose(2.0 + x, -1.0 + y, 0.7 + turn)
    path: FloatArray = quintic_curve(start, bend, goal, stretches, 0.1)
    for row, pose, curvature in ((0, start, bend), (-1, goal, 0.0)):
        assert np.allclose(path[row, [PX, PY]], pose[:2], atol=1e-9)
        assert abs(wrap_angle(path[row, PHEADING] - pose.heading)) < 1e-9
        assert path[row, PKAPPA] == pytest.approx(curvature, abs=1e-9)
    assert path[0, PHEADING] == pytest.approx(start.heading)
    assert np.abs(np.diff(path[:, PHEADING])).max() < 1.0
    assert np.hypot(*np.diff(path[:, [PX, PY]], axis=0).T).max() < 0.25
    middle = np.arctan2(np.diff(path[:, PY]), np.diff(path[:, PX]))
    assert np.abs(wrap_all(middle - 0.5 * (path[1:, PHEADING] + path[:-1, PHEADING]))).max() < 0.05


def wrap_all(angle: FloatArray) -> FloatArray:
    """Angles in [-pi, pi)."""
    return np.asarray((angle + math.pi) % (2.0 * math.pi) - math.pi)
