"""Closed loops along lanes, with perfect tracking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tuling_fsm.core.request import LaneLine, PlanResult, StopWall
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check

from .scenes import (
    Log,
    Thing,
    drive,
    follow,
    regulations_for,
    road,
)

LONG = ((400.0, 0.0),)


PARAMETERS = PlanningParameters()


VEHICLE = Vehicle()


PLANNER = Planner(VEHICLE, PARAMETERS)


def straight(lanes: int = 1, own: int = 0, **more: Any) -> Callable[[float], tuple[LaneLine, ...]]:
    return lambda x: road(lanes, own, pieces=LONG, at=x, **more)


def run(
    lanes: Callable[[float], tuple[LaneLine, ...]],
    start: Scene,
    seconds: float,
    things: tuple[Thing, ...] = (),
    walls: tuple[StopWall, ...] = (),
    noise: float = 0.0,
    **more: object,
) -> Log:
    """A closed loop in which no plan is rejected by the independent check; `noise` (m) is that of the objects' places,
    which themselves are exact.
    """

    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        request = follow(lanes(now.ego.pose.x), *walls, **more)
        now = replace(now, position_noise=noise)
        result = PLANNER.plan(request, now, previous)
        assert result.trajectory is not None
        assert check(result.trajectory, now, regulations_for(request), VEHICLE, PARAMETERS) is None, stamp
        return result

    return drive(plan, start, seconds, things)
