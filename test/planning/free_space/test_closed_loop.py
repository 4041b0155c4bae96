"""Free-space plans driven to their end, tick by tick, under the independent check."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check

from ..scenes import drive, regulations_for
from .judge import cusps, rows_of
from .places import CAR, GOAL, boxes, plan, scene, slot_across, slot_along

PARAMETERS = PlanningParameters()
PLANNER = Planner(CAR, PARAMETERS)


def street(width: float) -> FloatArray:
    """Two streets of one width (m) that meet at a right angle at the origin: from the west, to the north."""
    half = 0.5 * width
    return np.array(
        ((-25.0, -half, half, -half), (half, -half, half, 25.0), (-25.0, half, -half, half), (-half, half, -half, 25.0))
    )


def dead_end(width: float) -> FloatArray:
    """A street along x that is closed at x = 12."""
    half = 0.5 * width
    return np.array(((-25.0, -half, 12.0, -half), (-25.0, half, 12.0, half), (12.0, -half, 12.0, half)))


def arrives(request: FreeSpace, start: Scene, seconds: float) -> int:
    """How many plans were rejected on the way; the car is at its goal in the end, by one motion."""
    rejected = 0

    def plan_now(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        nonlocal rejected
        result = PLANNER.plan(request, now, previous)
        assert result.trajectory is not None
        rejected += check(result.trajectory, now, regulations_for(request), CAR, PARAMETERS) is not None
        return result

    log = drive(plan_now, start, seconds)
    assert log[-1][2].limit.reason is Reason.ARRIVED
    end = log[-1][1].ego.pose
    assert math.hypot(end.x - request.goal.x, end.y - request.goal.y) <= request.goal_tolerance
    assert len({id(result.maneuver.whole) for _, _, result in log if result.maneuver is not None}) == 1
    return rejected


@pytest.mark.clause("SAF-2", "USE-8")
@pytest.mark.parametrize(
    ("where", "goal", "seconds"),
    [
        (scene(Pose(9.0, -8.0, 1.5), slot_across(), curvature=-0.1), GOAL, 70.0),
        (scene(Pose(9.0, -8.0, 1.5), slot_across(), curvature=0.1), Pose(2.9, 0.0, math.pi), 70.0),
        (scene(Pose(8.0, 3.2, 0.0), slot_along(0.8), curvature=0.08), GOAL, 70.0),
        (scene(GOAL, slot_along(0.8), curvature=-0.1), Pose(12.0, 3.2, 0.0), 70.0),
        (scene(GOAL, slot_along(0.65)), Pose(12.0, 3.2, 0.0), 70.0),
        (scene(Pose(-15.0, 0.0, 0.0), street(6.0)), Pose(0.0, 15.0, math.pi / 2.0), 50.0),
        (scene(Pose(4.0, 0.0, 0.0), dead_end(6.0)), Pose(-12.0, 0.0, math.pi), 90.0),
    ],
)
@pytest.mark.medium
def test_no_plan_is_rejected_on_the_way(where: Scene, goal: Pose, seconds: float) -> None:
    assert arrives(FreeSpace(goal), where, seconds) == 0


@pytest.mark.parametrize("width", [3.7, 3.5])
def test_a_right_angle_tighter_than_the_car_can_turn_takes_a_few_moves(width: float) -> None:
    result = plan(scene(Pose(-15.0, 0.0, 0.0), street(width)), FreeSpace(Pose(0.0, 15.0, math.pi / 2.0)))
    assert result.feasible, result.reason
    assert cusps(rows_of(result, CAR)) <= 8


@pytest.mark.clause("SLF-1")
@pytest.mark.parametrize("gap", [0.9, 0.8, 0.7])
def test_a_little_clearance_is_given_up_for_far_fewer_moves(gap: float) -> None:
    result = plan(scene(GOAL, slot_along(gap)), FreeSpace(Pose(12.0, 3.2, 0.0)))
    rows = rows_of(result, CAR)
    moving = np.abs(rows[:-1, 4]) > 1e-3
    gear = np.sign(rows[:-1, 4])[moving]
    way = np.hypot(*np.diff(rows[:, 1:3], axis=0).T)[moving]
    moves = [float(part.sum()) for part in np.split(way, np.flatnonzero(np.diff(gear)) + 1)]
    assert len(moves) <= 5
    assert min(moves) > 0.12


def test_wheels_turned_elsewhere_are_turned_before_the_car_moves() -> None:
    result = plan(scene(Pose(9.0, -8.0, 1.5), boxes((30.0, 30.0, 0.0, 1.0, 1.0)), curvature=0.25))
    rows = rows_of(result, CAR)
    first = int(np.argmax(np.abs(rows[:, 4]) > 1e-6))
    assert rows[0, 5] == pytest.approx(math.atan(0.25 * CAR.wheelbase))
    assert np.all(np.abs(np.diff(rows[: first + 1, 5]) / np.diff(rows[: first + 1, 0])) <= CAR.max_steer_rate)
    assert abs(rows[first + 1, 5] - rows[first - 1, 5]) < 0.05
