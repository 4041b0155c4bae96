"""A moment without any way on: the previous plan is gone on with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.request import LaneLine, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.safety.check import check

from ..lane_drives import PARAMETERS, PLANNER, VEHICLE
from ..scenes import TICK_S, Log, drive, follow, lane_line, regulations_for, road, scene

FIRST = 20
REST = round(PARAMETERS.fallback.rest / TICK_S)


def across(x: float) -> tuple[LaneLine, ...]:
    """A lane at right angles to the car's, which it cannot join."""
    y = np.arange(-10.0, 50.0, 0.25)
    return (lane_line(np.column_stack((np.full(len(y), x), y, np.full(len(y), 0.5 * math.pi)))),)


def driven(missing: range) -> Log:
    """A drive along a straight road that is not to be seen on some ticks."""

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        x = now.ego.pose.x
        request = follow(across(x) if round(stamp / TICK_S) in missing else road(at=x))
        result = PLANNER.plan(request, now, previous)
        if result.feasible:
            assert result.trajectory is not None
            assert check(result.trajectory, now, regulations_for(request), VEHICLE, PARAMETERS) is None, stamp
        return result

    return drive(plan, scene(v=6.0), 2.5)


@pytest.mark.clause("SAF-1")
def test_a_moment_without_a_lane_to_join_is_driven_on_through() -> None:
    whole, torn = driven(range(0)), driven(range(FIRST, FIRST + REST))
    assert all(result.feasible and result.reason is Reason.NONE for _, _, result in torn)
    for (_, one, _), (_, other, _) in zip(whole, torn, strict=True):
        assert other.ego.v == pytest.approx(one.ego.v, abs=0.05)
        assert other.ego.pose == pytest.approx(one.ego.pose, abs=0.05)


@pytest.mark.clause("SAF-1", "NOR-7")
def test_where_it_lasts_the_car_stops() -> None:
    log = driven(range(FIRST, 50))
    feasible = [result.feasible for _, _, result in log]
    assert feasible == [True] * (FIRST + REST) + [False] * (50 - FIRST - REST)
    assert log[-1][2].reason is Reason.NO_PATH
    assert log[-1][1].ego.a < -1.0
