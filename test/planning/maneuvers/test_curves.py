"""To a goal ahead in one curve, where there is room for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.maneuvers import curves
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PSIN
from tuling_fsm.planning.start_state import StartState

from ..scenes import Log, scene
from .closed_loop import drive_checked

DERIVED = DerivedParameters.of(Vehicle(), PlanningParameters())
BESIDE = FreeSpace(Pose(20.0, 3.0, 0.0))
"""A lane beside the car, as from a bay at the roadside."""


def seconds(log: Log) -> float:
    """Until the car stands at the goal."""
    return next(stamp for stamp, _, result in log if result.limit.reason is Reason.ARRIVED)


@pytest.mark.clause("REG-2", "USE-8")
@pytest.mark.medium
def test_the_lane_beside_is_reached_without_a_standstill() -> None:
    log = drive_checked(BESIDE, scene(0.0), 16.0)
    assert seconds(log) < 13.0
    assert Reason.STEERING not in {result.limit.reason for _, _, result in log}
    speeds = np.array([now.ego.v for _, now, _ in log])
    assert speeds.min() >= 0.0


@pytest.mark.clause("REG-2")
def test_where_the_bay_ends_the_curve_is_over_before_its_end() -> None:
    end = np.array(((11.0, -1.2, 11.0, 1.3),))
    log = drive_checked(FreeSpace(BESIDE.goal, lines=end), scene(0.0), 18.0)
    assert not any(result.uses_reverse for _, _, result in log)
    beside = next(now.ego.pose for _, now, _ in log if now.ego.pose.x > 8.0)
    assert beside.y > 1.5


@pytest.mark.clause("SLF-1")
def test_no_curve_comes_nearer_to_anything_than_a_search_wishes() -> None:
    wall = np.array(((11.0, -3.0, 11.0, 1.3),))
    log = drive_checked(BESIDE, scene(0.0, segments=wall), 20.0)
    corners = [(3.76, -0.971), (-0.929, -0.971)]
    for _, now, _ in log:
        c, s = np.cos(now.ego.pose.heading), np.sin(now.ego.pose.heading)
        for ahead, left in corners:
            x, y = now.ego.pose.x + c * ahead - s * left, now.ego.pose.y + s * ahead + c * left
            assert y > 1.3 or x < 11.0 - 0.1 or x > 11.0 + 0.1


@pytest.mark.clause("USE-8", "SAF-2")
@pytest.mark.parametrize("start", [-math.pi, math.pi - 1e-9, -math.pi + 0.05, math.pi - 0.05])
@pytest.mark.parametrize("goal", [-math.pi + 1e-9, math.pi])
def test_where_headings_wrap_a_curve_and_the_straight_behind_it_are_one_motion(start: float, goal: float) -> None:
    begin = StartState(Pose(0.0, 0.0, start), 0.0, 0.0, 0.0, planned=False)
    shapes = list(curves._shapes(begin, Pose(-20.0, -3.0, goal)))
    assert len(shapes) > 1
    for path in shapes:
        assert np.abs(np.diff(path[:, PHEADING])).max() < 0.3
        assert np.cos(path[:, PHEADING]) == pytest.approx(path[:, PCOS], abs=1e-9)
        assert np.sin(path[:, PHEADING]) == pytest.approx(path[:, PSIN], abs=1e-9)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("far", [DERIVED.parameters.free_space.max_distance, 1e6, 1e8])
def test_no_curve_leads_to_a_goal_that_is_off_the_map(far: float) -> None:
    start, empty = StartState(Pose(0.0, 0.0, 0.0), 0.0, 0.0, 0.0, planned=False), scene(0.0)
    near, off = Pose(0.5 * DERIVED.parameters.free_space.max_distance, 3.0, 0.0), Pose(far, 3.0, 0.0)
    assert curves.curve_to_goal(FreeSpace(near), empty, start, DERIVED) is not None
    assert curves.curve_to_goal(FreeSpace(off), empty, start, DERIVED) is None
    assert len(list(curves.free_curves(near, empty, start, DERIVED))) > 0
    assert list(curves.free_curves(off, empty, start, DERIVED)) == []
