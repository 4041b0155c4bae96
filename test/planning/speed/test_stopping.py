"""`Hold`, and the ladder of stops when there is no plan."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.request import Hold, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.check import check
from tuling_fsm.planning.safety.fallback import FallbackLadder, FallbackRung, accept, fall_back

from ..scenes import TICK_S, Thing, follow, regulations_for, road, scene, wall_across

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
PLANNER = Planner(VEHICLE, PARAMETERS)
BENT = road(pieces=((25.0, 0.0), (60.0, 0.05), (60.0, 0.0)))


def planned(v: float = 7.0) -> tuple[PlanResult, Scene]:
    """A plan into a bend, and the scene 0.5 s later with the car on it."""
    result = PLANNER.plan(follow(BENT), scene(v=v), None)
    assert result.trajectory is not None
    pose, curvature, speed, a = result.trajectory.sample(0.5)
    return result, scene(*pose, v=speed, a=a, curvature=curvature, stamp=0.5)


@pytest.mark.clause("SAF-1")
def test_a_hold_is_a_comfortable_stop_on_the_previous_path() -> None:
    before, now = planned()
    result = PLANNER.plan(Hold(Reason.NO_ROUTE), now, before)
    plan = result.trajectory
    assert plan is not None and before.trajectory is not None
    assert result.limit.reason is Reason.NO_ROUTE
    assert plan.v[-1] == 0.0
    assert plan.a.min() >= -VEHICLE.comfort_decel - 1e-9
    assert plan.t[-1] == pytest.approx(PARAMETERS.speed.horizon)
    path = np.column_stack((before.trajectory.x, before.trajectory.y))
    ends = np.array((plan.x[-1], plan.y[-1]))
    assert np.hypot(*(path - ends).T).min() < 0.6
    distance = np.hypot(np.diff(plan.x), np.diff(plan.y)).sum()
    assert distance == pytest.approx(plan.v[0] ** 2 / (2.0 * VEHICLE.comfort_decel), rel=0.6)


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("v", [-1.2, 2.0, 8.0])
def test_an_emergency_hold_brakes_fully_from_the_next_row_on(v: float) -> None:
    result = PLANNER.plan(Hold(Reason.EMERGENCY_STOP, emergency=True), scene(v=v), None)
    plan = result.trajectory
    assert plan is not None
    moving = np.abs(plan.v) > 0.0
    np.testing.assert_allclose(np.abs(np.diff(plan.v[moving])), 0.6, atol=1e-9)
    assert abs(plan.v[1]) == pytest.approx(max(0.0, abs(v) - 0.6))
    assert plan.v[-1] == 0.0
    assert np.hypot(plan.x[-1] - plan.x[0], plan.y[-1] - plan.y[0]) == pytest.approx(v * v / 12.0, abs=0.3)
    assert np.sign(plan.x[-1] - plan.x[0]) == np.sign(v)


def test_a_standing_car_is_held_where_it_is() -> None:
    plan = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(), None).trajectory
    assert plan is not None and plan.stands
    assert plan.pose(0) == Pose(20.0, 0.0, 0.0)


def test_a_hold_brakes_harder_for_what_is_in_the_way() -> None:
    free = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(v=7.0), None).trajectory
    blocked = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(v=7.0, things=(Thing(1, 37.0, 0.0),)), None).trajectory
    assert free is not None and blocked is not None
    assert free.x[-1] + VEHICLE.front > 37.0 - 2.25
    assert blocked.x[-1] + VEHICLE.front < 37.0 - 2.25


@pytest.mark.parametrize(("x", "y"), [(300.0, 0.0), (-300.0, 0.0), (0.0, 300.0), (0.0, -300.0)])
def test_a_hold_looks_around_wherever_the_car_is(x: float, y: float) -> None:
    things = (Thing(1, x + 17.0, y),)
    blocked = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(x, y, v=7.0, things=things), None).trajectory
    assert blocked is not None and blocked.x[-1] + VEHICLE.front < x + 17.0 - 2.25


def test_a_hold_brakes_in_steps_as_hard_as_it_takes() -> None:
    """Comfortably, 1.8 and 2.6 times as hard, and at last fully."""
    hardest = []
    for away in np.arange(6.0, 24.0, 0.5):
        thing = Thing(1, 20.0 + VEHICLE.front + 2.25 + float(away), 0.0)
        plan = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(v=7.0, things=(thing,)), None).trajectory
        assert plan is not None
        hardest.append(round(float(plan.a.min()), 2))
    decel = VEHICLE.comfort_decel
    steps = [-VEHICLE.emergency_decel, -round(2.6 * decel, 2), -round(1.8 * decel, 2), -decel]
    assert hardest == sorted(hardest) and sorted(set(hardest)) == steps


def test_a_hold_never_overruns_a_previous_plan_that_stands_earlier() -> None:
    things = (Thing(1, 41.0, 0.0, moving=True),)
    before = PLANNER.plan(follow(road()), scene(v=7.0, things=things), None)
    assert before.trajectory is not None
    pose, _, v, a = before.trajectory.sample(1.0)
    plan = PLANNER.plan(Hold(Reason.NO_ROUTE), scene(*pose, v=v, a=a, stamp=1.0), before).trajectory
    assert plan is not None
    assert plan.x[-1] <= before.trajectory.x[-1] + 0.5


def follow_ladder(things: tuple[Thing, ...] = (), seconds: float = 8.0) -> list[tuple[FallbackRung, float, Trajectory]]:
    """What the ladder gives tick by tick to a car that follows it."""
    before, now = planned()
    ladder, log = FallbackLadder(before.trajectory), []
    for tick in range(round(seconds / TICK_S)):
        assert ladder.last is not None
        stamp = 0.5 + tick * TICK_S
        pose, curvature, v, a = ladder.last.sample(stamp)
        now = scene(*pose, v=v, a=a, curvature=curvature, stamp=stamp, things=things)
        plan, ladder = fall_back(ladder, now, Regulations(), VEHICLE, PARAMETERS)
        assert plan.stamp == stamp
        log.append((ladder.rung, v, plan))
    return log


@pytest.mark.clause("SAF-1", "USE-11")
def test_the_ladder_goes_down_rung_by_rung_and_ends_standing() -> None:
    log = follow_ladder()
    rungs = [rung for rung, _, _ in log]
    assert rungs == sorted(rungs)
    assert rungs[0] is FallbackRung.REST
    assert FallbackRung.COMFORT in rungs
    assert log[-1][1] == pytest.approx(0.0, abs=1e-3)
    rest = sum(rung is FallbackRung.REST for rung in rungs) * TICK_S
    assert rest == pytest.approx(PARAMETERS.fallback.rest, abs=2 * TICK_S)


@pytest.mark.clause("USE-11")
def test_something_in_the_way_escalates_at_once() -> None:
    before, now = planned()
    assert before.trajectory is not None
    pose, _, _, _ = before.trajectory.sample(1.9)
    wall = (pose.x, pose.y - 3.0, pose.x, pose.y + 3.0)
    blocked = Scene(now.stamp, now.ego, now.obstacles, np.array([wall]))
    plan, ladder = fall_back(FallbackLadder(before.trajectory), blocked, Regulations(), VEHICLE, PARAMETERS)
    assert ladder.rung > FallbackRung.REST
    assert plan.a.min() < -VEHICLE.comfort_decel


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize("v", [2.0, 8.3, 10.0, 13.9, 20.0])
@pytest.mark.parametrize("a", [-2.0, 0.0, 3.8])
def test_at_any_speed_a_stop_ends_standing_and_is_no_harder_than_that_asks_for(v: float, a: float) -> None:
    plan = PLANNER.plan(Hold(Reason.NOT_LOCALIZED), scene(v=v, a=a), None).trajectory
    assert plan is not None and plan.v[-1] == 0.0
    stands = float(plan.t[np.flatnonzero(plan.v == 0.0)[0]])
    hardest = -float(plan.a[1:].min())
    assert hardest == pytest.approx(VEHICLE.comfort_decel) or stands > 0.85 * PARAMETERS.speed.horizon


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize("emergency", [True, False])
def test_a_car_with_weak_brakes_gets_a_stop_that_is_long_enough(emergency: bool) -> None:
    planner = Planner(replace(VEHICLE, emergency_decel=1.0), PARAMETERS)
    plan = planner.plan(Hold(Reason.EMERGENCY_STOP, emergency=emergency), scene(v=8.3), None).trajectory
    assert plan is not None and plan.v[-1] == 0.0


@pytest.mark.clause("USE-11")
@settings(max_examples=12)
@given(st.lists(st.booleans(), min_size=10, max_size=60))
def test_a_rung_is_left_upwards_when_the_car_stands_or_plans_have_been_valid_for_a_while(late: list[bool]) -> None:
    before, _ = planned()
    assert before.trajectory is not None
    ladder, since = FallbackLadder(before.trajectory), math.inf
    for tick, missing in enumerate(late):
        assert ladder.last is not None
        stamp = 0.5 + tick * TICK_S
        pose, curvature, v, a = ladder.last.sample(stamp)
        now = scene(*pose, v=v, a=a, curvature=curvature, stamp=stamp)
        good = PLANNER.plan(follow(BENT), now, None).trajectory
        assert good is not None
        is_sent, after = accept(ladder, None if missing else good, now, PARAMETERS.fallback)
        since = math.inf if missing else min(since, stamp)
        if is_sent:
            assert ladder.rung < FallbackRung.COMFORT or abs(v) <= 0.02 or stamp - since > 0.499
        else:
            _, after = fall_back(after, now, Regulations(), VEHICLE, PARAMETERS)
            assert after.rung >= ladder.rung
            assert missing or stamp - since < 0.499
        ladder = after


@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize("emergency", [False, True])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_stop_out_of_a_bend_does_not_turn_into_what_stands_beside_the_road(emergency: bool, side: float) -> None:
    bus = Thing(1, 36.0, side * 3.4, length=12.4, width=2.7)
    now = scene(v=10.7, curvature=side * 0.03, things=(bus,))
    hold = Hold(Reason.NO_ROUTE, emergency)
    plan = PLANNER.plan(hold, now, None).trajectory
    assert plan is not None and plan.v[-1] == 0.0
    assert check(plan, now, Regulations(), VEHICLE, PARAMETERS, as_stop=True) is None
    free = PLANNER.plan(hold, scene(v=10.7, curvature=side * 0.03), None).trajectory
    assert free is not None
    np.testing.assert_allclose(free.curvature, side * 0.03)
    assert check(free, now, Regulations(), VEHICLE, PARAMETERS, as_stop=True) is not None, (
        "the way round the bend would be free as well"
    )


@pytest.mark.clause("SAF-2", "USE-11")
def test_at_a_red_light_no_older_plan_is_driven_on() -> None:
    before, now = planned()
    assert before.trajectory is not None
    x = now.ego.pose.x + VEHICLE.front + 6.0
    red = Regulations(closed_lines=(ClosedLine(x, 5.0, x, -5.0, 0.0, VEHICLE.emergency_decel),))
    _, other = fall_back(FallbackLadder(before.trajectory), now, Regulations(), VEHICLE, PARAMETERS)
    plan, ladder = fall_back(FallbackLadder(before.trajectory), now, red, VEHICLE, PARAMETERS)
    assert other.rung is FallbackRung.REST
    assert ladder.rung is FallbackRung.EMERGENCY
    assert plan.length < 0.5 * now.ego.v**2 / VEHICLE.emergency_decel + 0.5


@pytest.mark.clause("SAF-2", "USE-11")
@pytest.mark.parametrize(("room", "rung"), [(2.5, FallbackRung.COMFORT), (3.5, FallbackRung.EMERGENCY)])
def test_a_stop_before_a_light_that_has_just_changed_is_as_hard_as_it_takes(room: float, rung: FallbackRung) -> None:
    now = scene(v=6.0)
    x = now.ego.pose.x + VEHICLE.front + room
    red = Regulations(closed_lines=(ClosedLine(x, 5.0, x, -5.0, 0.0, 3.5, "signal 1 red"),))
    plan, ladder = fall_back(FallbackLadder(), now, red, VEHICLE, PARAMETERS)
    assert ladder.rung is rung
    assert (float(plan.x[-1]) + VEHICLE.front <= x) is (rung is FallbackRung.EMERGENCY)


def test_without_any_plan_the_car_stops_where_it_goes() -> None:
    plan, ladder = fall_back(FallbackLadder(), scene(v=6.0, curvature=0.05), Regulations(), VEHICLE, PARAMETERS)
    assert ladder.rung is FallbackRung.COMFORT
    assert plan.v[-1] == 0.0
    assert plan.y[-1] > 0.1


@pytest.mark.parametrize("gap", [0.05, 0.1, 0.15])
def test_a_start_that_is_called_off_at_once_is_no_jerk(gap: float) -> None:
    now = scene(v=0.15, a=1.2)
    wall = wall_across(20.0 + VEHICLE.front + gap, reason=Reason.JUNCTION_OCCUPIED)
    plan = PLANNER.plan(follow(road(), wall), now, None).trajectory
    assert plan is not None and not plan.stands
    assert check(plan, now, regulations_for(follow(road(), wall)), VEHICLE, PARAMETERS) is None
