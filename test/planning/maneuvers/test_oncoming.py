"""A motion over the other side of the road begins when no vehicle comes until it is over."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace, PlanResult, Reason
from tuling_fsm.core.scene import PREDICTION_STEP_S, Scene

from ..scenes import Log, Thing, drive, gap_to, scene
from .closed_loop import PARAMETERS, PLANNER, VEHICLE, searched

OTHER_SIDE = 3.5
ROUND = FreeSpace(Pose(28.0, 0.0, 0.0), lines=np.array(((-20.0, 5.3, 60.0, 5.3), (-20.0, -1.8, 60.0, -1.8))))


def works() -> FloatArray:
    """Barriers across the own lane, from the one end of the works to the other."""
    return np.array([(x, -1.7, x, 1.3) for x in (8.0, 12.0, 16.0, 20.0)])


def comes(x: float, v: float = 7.0, y: float = OTHER_SIDE) -> Thing:
    """A vehicle in the other lane, on the way here."""
    return Thing(5, x, y, heading=math.pi, v=v)


def run(seconds: float, *things: Thing) -> Log:
    def plan(stamp: float, now: Scene, previous: PlanResult | None) -> PlanResult:
        return PLANNER.plan(ROUND, now, previous)

    return drive(plan, scene(0.0, segments=works()), seconds, things)


def first(*things: Thing, stamp: float = 0.0, begun: PlanResult | None = None) -> PlanResult:
    return searched(ROUND, scene(0.0, segments=works(), things=things, stamp=stamp), begun)


@pytest.mark.clause("SLF-1")
@pytest.mark.parametrize("x", [75.0, 110.0, 140.0])
def test_a_vehicle_that_comes_later_than_predictions_reach_is_let_pass_before_the_car_pulls_out(x: float) -> None:
    result = first(comes(x))
    assert result.trajectory is not None and result.trajectory.stands
    assert (result.limit.reason, result.limit.blocker) == (Reason.CROSSING, 5)


@pytest.mark.parametrize(
    "thing",
    [
        comes(600.0),
        comes(-12.0),
        comes(110.0, y=12.0),
        comes(110.0, v=0.8),
        Thing(5, 60.0, OTHER_SIDE, v=7.0),
        Thing(5, 110.0, 90.0, heading=-0.5 * math.pi, v=7.0),
    ],
)
def test_a_vehicle_that_is_not_met_does_not_keep_the_car(thing: Thing) -> None:
    result = first(thing)
    assert result.trajectory is not None and not result.trajectory.stands


@pytest.mark.clause("SLF-1")
@pytest.mark.parametrize(("now", "later"), [(1.3, 0.0), (0.3, 0.25), (1.3, 0.25)])
def test_a_vehicle_that_comes_out_of_a_bend_is_let_pass_too(now: float, later: float) -> None:
    """It is turned from the road by these angles (rad) now and when its prediction ends."""
    around = scene(0.0, segments=works(), things=(comes(110.0),))
    heading = math.pi - np.linspace(now, later, around.obstacles.x.shape[1])
    steps = 7.0 * PREDICTION_STEP_S * np.stack((np.cos(heading), np.sin(heading)))
    x, y = (end + np.cumsum(step) - step.sum() for end, step in zip((75.0, OTHER_SIDE), steps, strict=True))
    bent = replace(around.obstacles, x=x[None], y=y[None], heading=heading[None])
    result = searched(ROUND, replace(around, obstacles=bent))
    assert result.trajectory is not None and result.trajectory.stands
    assert (result.limit.reason, result.limit.blocker) == (Reason.CROSSING, 5)


def test_it_is_not_waited_for_without_end() -> None:
    """Nor until a clock that was set back has come to where it was."""
    begun = first(comes(110.0))
    patience = PARAMETERS.maneuver.patience
    for late, waits in ((patience - 0.1, True), (patience + 0.1, False), (-60.0, False)):
        result = first(comes(110.0), stamp=late, begun=begun)
        assert result.trajectory is not None and result.trajectory.stands is waits


def test_a_car_that_stands_in_the_others_way_already_goes_on() -> None:
    log = run(9.0)
    _, now, result = log[-1]
    assert now.ego.pose.y > 1.5, "it is over there by now"
    there = scene(*now.ego.pose, segments=works(), things=(comes(150.0),), stamp=9.0)
    onwards = PLANNER.plan(ROUND, there, result)
    assert onwards.limit.reason is not Reason.CROSSING
    assert onwards.trajectory is not None and not onwards.trajectory.stands


@pytest.mark.clause("SLF-1")
@pytest.mark.medium
def test_the_car_goes_when_they_are_past_and_meets_nobody() -> None:
    stream = tuple(Thing(number, x, OTHER_SIDE, heading=math.pi, v=7.0) for number, x in ((5, 60.0), (6, 110.0)))
    log = run(60.0, *stream)
    end = log[-1][1].ego.pose
    assert math.hypot(end.x - 28.0, end.y) < 0.4
    for thing in stream:
        moving = [(stamp, now) for stamp, now, _ in log if now.ego.v > 0.3]
        assert min(gap_to(thing.at(stamp), now.ego.pose, VEHICLE) for stamp, now in moving) > 0.6
