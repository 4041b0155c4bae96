"""The real behaviour in every state and every kind of world: light, place, speed, plan, localization, remote."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from crossroads import HALF_M
from traffic_drive import route_between

from tuling_fsm.agent import Agent
from tuling_fsm.behaviour import states, table
from tuling_fsm.behaviour.behaviour import Behaviour, BehaviourRecord
from tuling_fsm.behaviour.decision import Decision
from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.behaviour.parameters import BehaviourParameters
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Hold, PlanResult, Reason
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import (
    OBJECTS,
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Light,
    Odometry,
    RouteAnswer,
    StampedRows,
)
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World

from ..worlds import plan
from .holding import HOLDING

pytestmark = pytest.mark.exhaustive

TICK = 0.05
ENABLED = [path for path, leaf in table().leaves.items() if leaf.enabled]
GAP_M = 1.0
"""From the front bumper to the stop line."""
LINE_S = 110.0 - HALF_M - 1.0
CLOSED = (Light.RED, Light.RED_YELLOW, Light.UNKNOWN, Light.DARK, None)
SIGNAL = 4
SOUTH, NORTH = Pose(1.75, -110.0, 0.5 * math.pi), Pose(1.75, 110.0, 0.5 * math.pi)
VEHICLE = Vehicle()


@dataclass(frozen=True)
class Case:
    """What the world is like."""

    light: Light | None
    place: str
    v: float
    localized: bool

    def pose(self, route: Route) -> Pose:
        here = route.reference.at(LINE_S - GAP_M - VEHICLE.front)
        if self.place == "askew":
            return here._replace(heading=here.heading + 1.2)
        return here._replace(x=here.x + 12.0) if self.place == "off the road" else here


CASES = [
    Case(*values)
    for values in itertools.product(
        (*CLOSED, Light.GREEN), ("on its lane", "askew", "off the road"), (0.0, 1.0), (True, False)
    )
]
RESULTS: dict[str, PlanResult] = {
    "plan": plan(),
    "no plan": plan(False),
    "reversing": plan(reverse=True),
    "at red": plan(True, 0.0, Reason.RED_LIGHT),
}


@pytest.fixture(scope="module")
def route(lit: RoadMap) -> Route:
    return route_between(lit, SOUTH, NORTH)


def _inputs(stamp: float, pose: Pose, case: Case, stop: bool = False, **more: Any) -> Inputs:
    lights = [] if case.light is None else [(SIGNAL, int(case.light), 1.0)]
    return Inputs(
        stamp,
        Odometry(stamp, pose, case.v, 0.0, position_std=0.0 if case.localized else 9.0),
        objects=StampedRows(stamp, np.zeros(0, OBJECTS)),
        traffic_lights=StampedRows(stamp, np.array(lights, dtype=TRAFFIC_LIGHTS)),
        emergency_stop=BoolMessage(stamp, stop),
        mission={"goal": NORTH._asdict()},
        **more,
    )


class _Scene:
    """A behaviour that has come to know a case, and can be put into any state of it."""

    def __init__(self, road_map: RoadMap, route: Route, case: Case) -> None:
        self.case, self.route = case, route
        self.builder = WorldBuilder(road_map, VEHICLE, WorldParameters())
        self.behaviour = Behaviour(road_map, VEHICLE, BehaviourParameters())
        self.world: World | None = None
        self.stamp = 100.0
        known = replace(case, localized=True, place="on its lane", v=0.0)
        for _ in range(15):
            self._tick(known)
        self.base: BehaviourRecord = self.behaviour.record
        self.worlds = {stop: self._build(self.case, stop) for stop in (False, True)}

    def _build(self, case: Case, stop: bool = False, **more: Any) -> World:
        inputs = _inputs(self.stamp + TICK, case.pose(self.route), case, stop, **more)
        routing = self.behaviour.record.machine.memory.routing
        return self.builder.build(inputs, self.world, routing.route)

    def _tick(self, case: Case) -> None:
        pushed = () if self.world is None else (RouteAnswer(self.stamp, -1, self.route.poses()),)
        known = self.behaviour.record.machine.memory.routing.route is not None
        self.world = self._build(case, route_answers=() if known else pushed)
        self.stamp += TICK
        self.behaviour.step(self.world, plan(), None)

    def decide(self, path: str, result: PlanResult, stop: bool = False) -> Decision:
        """One tick in a state that is just being entered."""
        machine = self.base.machine
        memory = replace(machine.memory, entered=False, plan=PlanOutcome(), probe=PlanOutcome())
        machine = replace(machine, path=path, memory=memory, entered_at=machine.clock, true_since=())
        self.behaviour.restore(replace(self.base, machine=machine))
        return self.behaviour.step(self.worlds[stop], result)


@pytest.fixture(scope="module")
def scenes(lit: RoadMap, route: Route) -> list[_Scene]:
    return [_Scene(lit, route, case) for case in CASES]


def _closing(decision: Decision, route: Route) -> Iterator[Any]:
    """Walls for a light between the car and the junction."""
    for wall in getattr(decision.request, "walls", ()):
        beside = route.reference.project((wall.x0 + wall.x1) / 2.0, (wall.y0 + wall.y1) / 2.0)
        if wall.reason is Reason.RED_LIGHT and beside.s <= LINE_S + 0.1:
            yield wall


@pytest.mark.clause("INT-2")
@pytest.mark.parametrize("path", ENABLED)
def test_a_light_that_is_not_open_never_gives_go(scenes: list[_Scene], path: str, route: Route) -> None:
    for scene in scenes:
        case = scene.case
        if not (case.localized and case.place == "on its lane"):
            continue
        for name, result in RESULTS.items():
            decision = scene.decide(path, result)
            if isinstance(decision.request, Hold):
                continue
            by_hand = path == states.JUNCTION_NO_LINE_FREE and case.light not in (Light.RED, Light.RED_YELLOW)
            expected = case.light in CLOSED and not by_hand
            assert any(_closing(decision, route)) == expected, (case, name)


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("path", ENABLED)
def test_a_commanded_stop_brakes_whatever_else_holds(scenes: list[_Scene], path: str) -> None:
    for scene, result in zip(scenes, itertools.cycle(RESULTS.values())):
        decision = scene.decide(path, result, stop=True)
        request = decision.request
        assert isinstance(request, Hold)
        assert (request.emergency, request.reason) == (True, Reason.EMERGENCY_STOP)
        assert (decision.state, decision.transition, decision.probe) == (path, None, None)
        assert decision.route_requests == ()
        record = decision.record.machine
        assert (record.clock, record.entered_at) == (scene.base.machine.clock, scene.base.machine.clock)


@pytest.mark.clause("SAF-1", "SAF-4")
@pytest.mark.parametrize("path", ENABLED)
def test_every_decision_is_whole_and_a_standstill_says_why(scenes: list[_Scene], path: str) -> None:
    some = [scene for scene in scenes if scene.case.light in (Light.RED, Light.GREEN)]
    for scene, result in itertools.product(some, RESULTS.values()):
        decision = scene.decide(path, result)
        request = decision.request
        assert decision.state in ENABLED
        if isinstance(request, Hold):
            assert request.reason is not Reason.NONE or request.detail
            assert not request.emergency
        else:
            assert scene.case.localized, "nobody sees a lane line here"
            assert decision.state not in HOLDING, "it is said to do nothing but stand"
            assert 0.0 <= request.speed_limit < 50.0


@pytest.mark.clause("INT-2", "SAF-2")
@pytest.mark.parametrize(("path", "light"), list(zip(ENABLED, itertools.cycle((Light.RED, None)))))
def test_standing_at_a_closed_light_the_car_does_not_pass_the_line(
    lit: RoadMap, route: Route, path: str, light: Light | None
) -> None:
    """With the planner, for 2 s: in every state, but where somebody directs the traffic by hand (INT-5)."""
    if path == states.JUNCTION_NO_LINE_FREE and light is None:
        return
    case = Case(light, "on its lane", 0.0, True)
    agent, pose, v = Agent(lit), case.pose(route), 0.0
    for tick in range(50):
        stamp = 100.0 + tick * TICK
        answers = (RouteAnswer(stamp, -1, route.poses()),) if tick == 1 else ()
        now = agent.step(_inputs(stamp, pose, replace(case, v=v), route_answers=answers))
        if tick == 15:
            record = agent.record
            memory = replace(record.machine.memory, entered=False, plan=PlanOutcome())
            agent.restore(replace(record, machine=replace(record.machine, path=path, memory=memory)))
        pose, _, v, _ = now.trajectory.sample(stamp + TICK)
        assert route.reference.project(pose.x, pose.y).s + VEHICLE.front <= LINE_S + 0.3
