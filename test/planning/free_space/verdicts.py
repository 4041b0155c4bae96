"""What a test says of a whole plan."""

from __future__ import annotations

import math

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import PlanResult
from tuling_fsm.core.trajectory import Trajectory

from .judge import lines_of, problems, rows_of
from .places import CAR


def driven(result: PlanResult) -> Trajectory:
    """The trajectory of a plan that there is."""
    assert result.feasible, result.reason
    assert result.trajectory is not None
    return result.trajectory


def assert_drivable(result: PlanResult, segments: FloatArray, top: float = 2.5, v0: float = 0.0) -> None:
    """Nothing is wrong with it, and it touches none of the segments."""
    rows = rows_of(driven(result), CAR)
    assert problems(rows, CAR, lines_of(segments), top, v0) == []


def assert_ends_at(result: PlanResult, goal: Pose, within: float = 1e-3) -> None:
    """It ends at a pose, to `within` m and rad."""
    end = driven(result).pose(-1)
    assert math.hypot(end.x - goal.x, end.y - goal.y) < within
    assert abs(math.remainder(end.heading - goal.heading, 2.0 * math.pi)) < within
