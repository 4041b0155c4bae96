"""Out in one go: straight back, then forward along one word."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.core.scene import Ego, Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.planner import plan_free_space
from tuling_fsm.planning.free_space.problem import body_of, build_problem
from tuling_fsm.planning.free_space.pull_out import pull_out
from tuling_fsm.planning.parameters import FreeSpaceParameters

VEHICLE, PARAMETERS = Vehicle(), FreeSpaceParameters()
START, GOAL = Pose(0.0, 0.0, 0.0), Pose(20.0, 3.0, 0.0)


def parked(gap: float) -> FloatArray:
    """Edges (M, 4) of the cars `gap` (m) before and behind the car."""
    edges = []
    for near, far in ((VEHICLE.front + gap, VEHICLE.front + gap + 4.6), (-0.929 - gap, -5.529 - gap)):
        corners = ((near, -0.95), (far, -0.95), (far, 0.95), (near, 0.95))
        edges += [(*corners[i], *corners[(i + 1) % 4]) for i in range(4)]
    return np.array(edges)


@pytest.mark.clause("REG-2", "USE-8")
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_between_parked_cars_it_is_back_once_and_out(mirror: float) -> None:
    goal = GOAL._replace(y=mirror * GOAL.y)
    scene = Scene(0.0, Ego(START, 0.0, 0.0, 0.0), static_segments=parked(1.0))
    trajectory = plan_free_space(FreeSpace(goal), scene, VEHICLE).trajectory
    assert trajectory is not None
    gears = np.sign(trajectory.v[np.abs(trajectory.v) > 1e-3])
    assert gears[0] == -1.0
    assert np.count_nonzero(np.diff(gears)) == 1
    assert float(trajectory.t[-1]) < 24.0


FRONT_M = VEHICLE.front + 1.1
"""Where the bay ends."""
BAY = np.array(
    [
        (-16.0, -1.25, FRONT_M, -1.25),
        (FRONT_M, -1.25, FRONT_M, 1.1),
        (FRONT_M, 1.25, 22.0, 1.25),
        (FRONT_M, 5.25, 22.0, 5.25),
    ]
)
"""Its kerb, and the lane beside it."""


@pytest.mark.clause("REG-2", "USE-8")
@pytest.mark.parametrize("mirror", [1.0, -1.0])
@pytest.mark.parametrize("bend", [0.04, -0.04])
def test_out_of_the_end_of_a_bay_it_is_back_once_and_out_too_where_the_road_bends(bend: float, mirror: float) -> None:
    """Straight back from the goal, on the road beyond the bend, the way would lead over the edges of the lane."""
    goal = Pose(25.0, mirror * (3.0 + bend), mirror * bend)
    scene = Scene(0.0, Ego(START, 0.0, 0.0, 0.0), static_segments=BAY * (1.0, mirror, 1.0, mirror))
    trajectory = plan_free_space(FreeSpace(goal), scene, VEHICLE).trajectory
    assert trajectory is not None
    gears = np.sign(trajectory.v[np.abs(trajectory.v) > 1e-3])
    assert np.count_nonzero(np.diff(gears)) == 1
    assert float(trajectory.t[-1]) < 26.0
    stands = np.abs(trajectory.v) < 1e-3
    assert np.count_nonzero(np.diff(stands.astype(int)) == 1) <= 2, "where the gear changes, and at the end"


@pytest.mark.clause("SLF-1")
def test_without_room_to_get_out_in_one_go_there_is_no_such_path() -> None:
    problem = build_problem(START, [GOAL], parked(0.3), VEHICLE, PARAMETERS)
    assert pull_out(problem, body_of(VEHICLE, 0.05), PARAMETERS.gear_cost, PARAMETERS.curve_cost) == []


@pytest.mark.clause("SLF-1")
def test_without_reverse_and_where_it_is_not_needed_no_path_backs_up() -> None:
    body = body_of(VEHICLE, 0.05)
    for gap, reverse in ((1.0, False), (6.0, True)):
        problem = build_problem(START, [GOAL], parked(gap), VEHICLE, PARAMETERS, reverse=reverse)
        assert pull_out(problem, body, PARAMETERS.gear_cost, PARAMETERS.curve_cost) == []
    problem = build_problem(START, [GOAL], parked(1.0), VEHICLE, PARAMETERS)
    assert pull_out(problem, body, PARAMETERS.gear_cost, PARAMETERS.curve_cost)


@pytest.mark.clause("SLF-1")
def test_a_goal_behind_is_left_to_the_search() -> None:
    problem = build_problem(START, [Pose(-6.0, 0.0, 0.0)], parked(12.0), VEHICLE, PARAMETERS)
    assert pull_out(problem, body_of(VEHICLE, 0.15), PARAMETERS.gear_cost, PARAMETERS.curve_cost) == []
