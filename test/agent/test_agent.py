"""The agent as a whole: what is sent when a plan is bad, and what new parameters do."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import load, nest
from tuling_fsm.core.request import PlanResult, Reason
from tuling_fsm.map import parking
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Odometry, RouteAnswer, StampedRows

from .drives import STEP_S, drive


@pytest.fixture(scope="module")
def route(course: RoadMap) -> Route:
    return random_route(course, np.random.default_rng(3), 150.0)


def test_it_gets_going(course: RoadMap, route: Route) -> None:
    ticks = list(drive(Agent(course), route, 120))
    assert ticks[-1].state == "on_road/normal"
    assert ticks[-1].world.ego.v > 3.0


@pytest.mark.clause("SAF-1")
@pytest.mark.medium
def test_without_odometry_the_plans_lead_to_a_stop(course: RoadMap, route: Route) -> None:
    agent = Agent(course)
    before = list(drive(agent, route, 120))[-1]
    silent = Odometry(before.stamp, before.world.ego.pose, before.world.ego.v, 0.0)
    lost: list[Tick] = []
    for k in range(120, 260):
        stamp = k * STEP_S
        none = StampedRows(stamp, np.zeros(0, OBJECTS)), StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS))
        lost.append(agent.step(Inputs(stamp, silent, objects=none[0], traffic_lights=none[1])))
    speeds = [abs(float(tick.trajectory.sample(tick.stamp)[2])) for tick in lost]
    assert before.world.ego.v > 3.0
    assert speeds[-1] == 0.0
    assert max(after - earlier for earlier, after in pairwise(speeds[6:])) < 0.02
    assert {tick.limit.reason for tick in lost[12:]} == {Reason.NO_ODOMETRY}
    starts = [(float(tick.trajectory.x[0]), float(tick.trajectory.y[0])) for tick in lost]
    apart = [np.hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(starts)]
    assert max(apart[6:]) < 1.1 * STEP_S * before.world.ego.v, "each goes on where the one before has led"


def test_the_same_inputs_give_the_same_ticks(course: RoadMap, route: Route) -> None:
    one, other = (list(drive(Agent(course), route, 60)) for _ in range(2))
    for a, b in zip(one, other, strict=True):
        assert a.state == b.state
        np.testing.assert_array_equal(a.trajectory.v, b.trajectory.v)
        np.testing.assert_array_equal(a.trajectory.x, b.trajectory.x)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("spoilt", ["x", "curvature", "v"])
@pytest.mark.medium
def test_a_plan_that_fails_its_check_is_not_sent(
    course: RoadMap, route: Route, spoilt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(course)
    ticks = list(drive(agent, route, 100))
    v = ticks[-1].world.ego.v
    assert v > 2.0
    plan = agent._planner.plan

    def broken(*arguments: object) -> PlanResult:
        result = plan(*arguments)
        column = getattr(result.trajectory, spoilt).copy()
        column[3:] += 30.0
        return replace(result, trajectory=replace(result.trajectory, **{spoilt: column}))

    monkeypatch.setattr(agent._planner, "plan", broken)
    last = ticks[-1]
    inputs = Inputs(
        stamp=last.stamp + STEP_S,
        odometry=Odometry(last.stamp + STEP_S, last.trajectory.sample(last.stamp + STEP_S)[0], v, 0.0),
        objects=StampedRows(last.stamp + STEP_S, np.zeros(0, OBJECTS)),
    )
    tick = agent.step(inputs)
    assert tick.result.reason is Reason.PLAN_REJECTED
    assert not tick.result.feasible
    assert np.abs(np.diff(getattr(tick.trajectory, spoilt))).max() < 5.0
    assert tick.result.trajectory is tick.trajectory


@pytest.mark.clause("USE-12")
@pytest.mark.parametrize(
    ("values", "line"),
    [
        (
            {"vehicle.emergency_decel": 1.3},
            "vehicle.comfort_decel: 1.8 m/s^2 is above vehicle.emergency_decel (expected at most 1.3 m/s^2)",
        ),
        (
            {"vehicle.emergency_decel": 2.0, "planning.speed.horizon": 4.0},
            "planning.speed.horizon: 4 s is below vehicle.max_speed / vehicle.emergency_decel "
            "(expected at least 4.165 s)",
        ),
        (
            {"behaviour.regression.target": 65},
            "behaviour.regression.target: 65 m is above target_max (expected at most 60 m)",
        ),
        (
            {"behaviour.free.target_max": 10},
            "behaviour.free.target_min: 15 m is above target_max (expected at most 10 m)",
        ),
    ],
)
def test_parameters_that_contradict_one_another_are_refused_in_one_line(values: dict[str, float], line: str) -> None:
    with pytest.raises(InputError) as refused:
        load(Parameters, nest(values), "my.yaml: ")
    assert str(refused.value) == f"my.yaml: {line}"


@pytest.mark.clause("USE-12")
def test_a_live_parameter_takes_effect_on_the_next_tick(course: RoadMap, route: Route) -> None:
    agent = Agent(course)
    fast = list(drive(agent, route, 60))[-1]
    assert fast.trajectory.v.max() > 3.0
    agent.reconfigure(load(Parameters, nest({"vehicle.max_speed": 1.0})))
    stamp = fast.stamp + STEP_S
    pose, _, v, _ = fast.trajectory.sample(stamp)
    slow = agent.step(
        Inputs(
            stamp=stamp,
            odometry=Odometry(stamp, pose, v, 0.0),
            objects=StampedRows(stamp, np.zeros(0, OBJECTS)),
            traffic_lights=StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS)),
        )
    )
    assert slow.state == fast.state
    assert slow.trajectory.v[-1] < 1.2


def test_what_is_remembered_is_the_world_that_was_planned_in(course: RoadMap, route: Route) -> None:
    agent = Agent(course)
    for tick in drive(agent, route, 5):
        assert agent._memory.world is tick.world is tick.decision.world
        assert agent._memory.route is tick.decision.route
        assert agent.record is tick.decision.record


@pytest.mark.medium
@pytest.mark.clause("DWELL-5", "EST-2")
def test_a_second_lap_is_gone_on_with_after_a_gap_and_in_another_agent(course: RoadMap) -> None:
    """A route around a block, the same 34 m at its end as at its beginning."""
    begin, end = Pose(273.8, -68.25, math.pi), Pose(240.0, -68.25, math.pi)
    lap = plan_route(course, begin, end, via=(end, begin)).route
    assert lap is not None and lap.length == pytest.approx(396.9, abs=0.1)

    def at(stamp: float, s: float) -> Inputs:
        answers = (RouteAnswer(stamp, -1, lap.poses()),) if stamp == 0.0 else ()
        empty = StampedRows(stamp, np.zeros(0, OBJECTS))
        return Inputs(stamp, Odometry(stamp, lap.reference.at(s), 16.0, 0.0), objects=empty, route_answers=answers)

    agent, other = Agent(course), Agent(course)
    for k in range(28):
        last = agent.step(at(0.85 * k, 13.6 * k)).world.route_s
    assert last == pytest.approx(367.2, abs=0.1), "the second time where it was at 4 m"
    other.restore(agent.record)
    assert other.step(at(30.0, 375.0)).world.route_s == pytest.approx(375.0, abs=0.1)
    assert agent.step(at(30.0, 375.0)).world.route_s == pytest.approx(375.0, abs=0.1)
    assert agent.step(at(40.0, 200.0)).world.route_s == pytest.approx(200.0, abs=0.1), "it was carried there"
    assert agent.step(at(50.0, 375.0)).world.route_s == pytest.approx(375.0, abs=0.1)
    assert agent.step(at(1.0, 375.0)).world.route_s < 13.0, "a bag that is looped"


@pytest.mark.clause("EST-2")
def test_what_is_restored_plans_anew_from_where_the_car_is(course: RoadMap, route: Route) -> None:
    agent = Agent(course)
    *_, last = drive(agent, route, 60)
    agent.restore(agent.record)
    pose, _, v, _ = last.trajectory.sample(last.stamp + STEP_S)
    beside = pose._replace(x=pose.x - 0.25 * math.sin(pose.heading), y=pose.y + 0.25 * math.cos(pose.heading))
    stamp = last.stamp + STEP_S
    objects = StampedRows(stamp, np.zeros(0, OBJECTS))
    tick = agent.step(Inputs(stamp, odometry=Odometry(stamp, beside, v, 0.0), objects=objects))
    assert tick.world.ego.v > 1.0
    assert tick.trajectory.pose(0)[:2] == pytest.approx(beside[:2], abs=0.02)


@pytest.mark.medium
def test_warming_up_leaves_the_agent_as_it_was(course: RoadMap, route: Route) -> None:
    cold, warm = Agent(course), Agent(course)
    warm.warm_up()
    for a, b in zip(drive(cold, route, 10), drive(warm, route, 10), strict=True):
        np.testing.assert_array_equal(a.trajectory.x, b.trajectory.x)


@pytest.mark.medium
def test_a_tick_that_is_repeated_leaves_the_agent_as_it_was(course: RoadMap, route: Route) -> None:
    agent, again = Agent(course), Agent(course)
    for a, b in zip(drive(agent, route, 100), drive(again, route, 100), strict=True):
        before = again._memory
        again.repeat()
        assert again._memory is before
        assert a.state == b.state
        np.testing.assert_array_equal(a.trajectory.x, b.trajectory.x)
        np.testing.assert_array_equal(a.trajectory.v, b.trajectory.v)
    assert a.world.ego.v > 3.0


def test_a_repeated_tick_is_the_last_one_and_none_that_failed(
    course: RoadMap, route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(course)
    agent.repeat()
    tick = list(drive(agent, route, 20))[-1]
    plans: list[PlanResult] = []
    plan = agent._planner.plan

    def noted(*arguments: object) -> PlanResult:
        plans.append(plan(*arguments))
        return plans[-1]

    monkeypatch.setattr(agent._planner, "plan", noted)
    agent.repeat()
    agent.reconfigure(agent.parameters)
    agent.repeat()
    (repeated,) = plans
    assert repeated.trajectory is not None
    np.testing.assert_array_equal(repeated.trajectory.x, tick.trajectory.x)
    before = agent._memory

    def fail(*_: object) -> PlanResult:
        raise ArithmeticError

    monkeypatch.setattr(agent._planner, "plan", fail)
    with pytest.raises(ArithmeticError):
        agent.step(Inputs(tick.stamp + STEP_S))
    assert agent._memory is before
    agent.repeat()
    assert len(plans) == 1


@pytest.mark.medium
def test_what_is_kept_of_the_map_is_gathered_before_the_first_tick(
    course: RoadMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(course)
    Agent(other).warm_up()
    monkeypatch.setattr(parking, "_build", None)
    assert len(parking.parking_areas(other)) > 0
