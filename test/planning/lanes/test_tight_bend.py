"""In a tight bend a standing car gets on where its plan has it a little beside, or by turning its wheels first."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import LaneLine, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory

from ..lane_drives import PLANNER
from ..scenes import bent, follow, lane_line, scene

STRAIGHT_M = 30.0


def bend(radius: float, width: float) -> LaneLine:
    """A quarter of a circle between two straights, with a solid line on either side."""
    points = bent((STRAIGHT_M, 0.0), (0.5 * math.pi * radius, 1.0 / radius), (STRAIGHT_M, 0.0))
    return lane_line(points, width=width)


def standing(lane: LaneLine, s: float, offset: float, turned: float, curvature: float) -> Scene:
    """The car at an arc length (m), so far to the left of the centre (m) and turned from it (rad)."""
    x, y, heading = lane.center.at(s)
    pose = Pose(x - offset * math.sin(heading), y + offset * math.cos(heading), heading + turned)
    where = scene()
    return replace(where, ego=where.ego._replace(pose=pose, curvature=curvature))


@pytest.mark.clause("NOR-7", "USE-9")
@pytest.mark.parametrize("radius", [5.0, 6.0])
@pytest.mark.parametrize("width", [2.6, 2.8, 3.0])
def test_beside_the_plan_that_it_stands_on_it_finds_the_way_that_there_is(radius: float, width: float) -> None:
    """A stop is seldom to the decimetre where it was planned; what is no way from there may be one from here."""
    draw, lane, ways = np.random.default_rng(2), bend(radius, width), 0
    for _ in range(40):
        s, curvature = STRAIGHT_M + draw.uniform(-2.0, 5.0), draw.uniform(-0.1, 0.2)
        now = standing(lane, s, draw.uniform(-0.4, 0.4), draw.uniform(-0.25, 0.25), curvature)
        if not PLANNER.plan(follow((lane,)), now, None).feasible:
            continue
        dx, dy, turned = draw.uniform(-0.1, 0.1, 3) * (1.5, 1.0, 0.3)
        x, y, heading = now.ego.pose
        plan = Trajectory.standing(now.stamp - 0.05, Pose(x + dx, y + dy, heading + turned), curvature)
        before = PlanResult(False, plan, Limit(Reason.NO_PATH), Reason.NO_PATH)
        assert PLANNER.plan(follow((lane,)), now, before).feasible
        ways += 1
    assert ways > 10


@pytest.mark.parametrize(
    ("width", "s", "offset", "turned", "curvature"),
    [(3.0, 28.5, 0.12, 0.03, 0.122), (3.0, 31.2, 0.11, 0.16, 0.093), (2.8, 28.6, -0.33, -0.07, 0.033)],
)
def test_wheels_that_are_nearly_right_are_turned_first_where_there_is_no_other_way(
    width: float, s: float, offset: float, turned: float, curvature: float
) -> None:
    lane = bend(5.0, width)
    result = PLANNER.plan(follow((lane,)), standing(lane, s, offset, turned, curvature), None)
    assert result.feasible and result.limit.reason is Reason.STEERING
    assert result.trajectory is not None and result.trajectory.length > 2.0
