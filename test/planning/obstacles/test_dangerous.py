"""Dangerous situations of RSS with a vehicle ahead: nearer than is safe both along and across."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.planning.obstacles.moving import is_dangerous_ahead
from tuling_fsm.planning.obstacles.rss import Rss
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint

from ..lane_drives import VEHICLE

BODY, RSS = Footprint.of(VEHICLE), Rss.of(PlanningParameters().rss)
POSE = (30.0, -20.0, 0.7, 0.0)


def dangerous(gap: float, side: float, turn: float, v: float, own_v: float = 8.0) -> bool:
    """With a car `gap` (m) ahead of the front, `side` (m) beside, whose heading is turned by `turn` (rad)."""
    along, heading = BODY.front + gap + 2.25, POSE[2] + turn
    x = POSE[0] + along * math.cos(POSE[2]) - side * math.sin(POSE[2])
    y = POSE[1] + along * math.sin(POSE[2]) + side * math.cos(POSE[2])
    box = [x, y, math.cos(heading), math.sin(heading), 2.25, 0.9]
    return bool(is_dangerous_ahead(np.array([[box]]), np.array([v]), POSE, own_v, BODY, RSS))


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("hand", [1.0, -1.0])
@pytest.mark.parametrize(
    ("gap", "side", "turn", "v", "expected"),
    [
        (2.0, 0.0, 0.0, 8.0, True), (9.0, 0.0, 0.0, 8.0, False), (2.0, 0.0, 0.0, 14.0, False),
        (2.0, 0.0, math.pi, 8.0, False), (2.0, 0.0, 0.0, 0.0, False), (2.0, 3.5, 0.0, 8.0, False),
        (2.0, 3.0, -0.12, 8.0, True), (2.0, 3.0, 0.12, 8.0, False), (-2.0, 3.0, -0.12, 8.0, True),
        (-2.5, 3.0, -0.12, 8.0, False),
    ],
)  # fmt: skip
def test_one_ahead_is_dangerous_where_it_is_too_near_along_and_across(
    hand: float, gap: float, side: float, turn: float, v: float, expected: bool
) -> None:
    assert dangerous(gap, hand * side, hand * turn, v) == expected


def test_behind_a_faster_one_a_slow_car_is_safe_at_a_gap_that_endangers_a_fast_one() -> None:
    assert dangerous(4.0, 0.0, 0.0, 8.0, own_v=12.0)
    assert not dangerous(4.0, 0.0, 0.0, 8.0, own_v=6.0)
