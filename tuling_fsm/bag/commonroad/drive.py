"""A CommonRoad scenario in closed loop: the planner at 20 Hz drives our car, the others replay what was recorded, or
are moved by somebody else.

The car is CommonRoad's BMW 320i. The planner sees the others as objects and predicts them itself. As in nuPlan
([caesar2021][]) it is given a short history: for `RUN_IN_S` before the beginning all go on the straight lines that the
first states lie on, and the car is not the planner's yet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.bag.commonroad.goal_route import GoalRoute, goal_route
from tuling_fsm.bag.commonroad.lanelets import led_on
from tuling_fsm.bag.commonroad.obstacles import Obstacle, object_rows
from tuling_fsm.bag.commonroad.problem import PlanningProblem, ProblemState, start_pose
from tuling_fsm.bag.commonroad.roads import to_opendrive
from tuling_fsm.bag.commonroad.scenario import Recording
from tuling_fsm.bag.replay import map_record
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose, shifted
from tuling_fsm.core.parameters import flatten
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.progress import Report, StampProgress
from tuling_fsm.sim.ego.dynamics import EgoCar
from tuling_fsm.sim.environment.route_server import RouteServer
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.world.inputs import (
    TRAFFIC_LIGHTS,
    BoolMessage,
    Inputs,
    Odometry,
    RouteAnswer,
    StampedRows,
)

TICK_S = 0.05
RUN_IN_S = 2.0
BEGIN_S = 100.0
"""Stamp of step 0 of the scenario: 0 means never to a recorder."""
BEYOND_MAP_M = 80.0
"""Maps are cut out of towns: roads that end there go on straight for so long, and nobody brakes for their end."""
BEFORE_MAP_M = 60.0
"""Roads that begin at the edge of a map have come straight for so long."""
BEHIND_M = 1.0
"""No route is led up to over less than this, nor with a detour of more."""
GOAL_MARGIN_M = 1.0
"""So far inside of a goal, m, the car counts on being in it."""
GOAL_END_M = 3.0
"""So far before the end of a goal, m, the car means to be when the goal's time begins: its plans are not kept to the
metre."""
LONGEST_WINDOW_M = 1000.0
"""What a mission takes."""
MAP_NAME = "map.xodr"
BMW_320I = Vehicle(
    wheelbase=2.5789,
    front_overhang=1.0977,
    rear_overhang=0.8312,
    width=1.610,
    max_steer=1.066,
    max_steer_rate=0.4,
    max_speed=20.0,
    max_accel=2.4,
    comfort_decel=2.0,
    emergency_decel=10.0,
    max_jerk=4.0,
    max_lateral_accel=3.0,
)
"""CommonRoad's vehicle 2 ([althoff2017][]), 4.508 m long: the middle of its
body is `b` = 1.4227 m before the rear axle. It plans no faster than 20 m/s, and within nuPlan's limits of comfort
([caesar2021][]): 2.4 m/s^2, 4.13 m/s^3, 4.89 m/s^2 to the side; in an emergency it brakes as hard as its tyres nearly
allow (11.5 m/s^2).
"""
HEADWAY_S = 1.0
SMOOTHING_M = 2.2
"""Lanelets are drawn by hand, and bend in their corners: people turn in over more than that, and the BMW turns its
wheels more slowly than the car that the planner is made for."""
AHEAD_M = 220.0
"""The car looks as far ahead as it comes in the 6 s of the predictions at its highest speed, and in a stop in comfort
after them: it would brake for the end of what it looks at."""
BRAKE = 6.0
"""Recorded people follow each other more closely than a competition car does. One that brakes no harder than that
one (m/s^2) would take the gap between any two of them for unsafe."""


@dataclass(frozen=True, eq=False)
class ScenarioDrive:
    """What came of it: the car's centre at every step of the scenario, when a goal was reached, and what the others
    did.
    """

    problem: PlanningProblem
    states: tuple[ProblemState, ...]
    reached_step: int | None
    obstacles: tuple[Obstacle, ...]


Planner = Callable[[Inputs], Trajectory | None]
"""Answers each tick with what the car is to follow."""


class Loop(NamedTuple):
    """A scenario made ready to be driven."""

    recording: Recording
    problem: PlanningProblem
    road_map: RoadMap
    way: GoalRoute
    vehicle: Vehicle
    mission: dict[str, object]
    """The message: one and the same on every tick. A goal that is to be passed is its window."""

    @property
    def duration_s(self) -> float:
        """What is driven at the most, and what leads up to it, s."""
        return RUN_IN_S + (int(self.problem.last_step) - self.problem.start.step) * self.recording.step

    @property
    def server(self) -> RouteServer:
        """A route server that knows the route."""
        return RouteServer(self.road_map, self.way.route)


def parameters_for_scenarios() -> Parameters:
    """The planner's parameters with CommonRoad's vehicle in place of its own car, among people who drive."""
    given = Parameters()
    planning = replace(
        given.planning,
        speed=replace(given.planning.speed, headway=HEADWAY_S),
        rss=replace(given.planning.rss, brake=BRAKE),
        lateral=replace(given.planning.lateral, bound_slack=0.0, smoothing=SMOOTHING_M),
        check=replace(
            given.planning.check,
            brake_jerk=given.planning.check.brake_jerk * BMW_320I.emergency_decel / given.vehicle.emergency_decel,
        ),
    )
    return replace(given, vehicle=BMW_320I, planning=planning, world=replace(given.world, ahead=AHEAD_M))


def prepare(recording: Recording, out: Path, problem_id: str | None = None) -> Loop:
    """Write the map of a scenario into a folder, and find the way to its goal.

    Raises:
        InputError: there is no such planning problem, its step is no multiple of a tick, or no lanes lead to its goal.
    """
    problems = [each for each in recording.problems if problem_id in (None, each.id)]
    if not problems:
        known = ", ".join(each.id for each in recording.problems) or "a scenario with a planning problem"
        raise InputError(recording.name, f"no planning problem {problem_id or ''}".rstrip(), known)
    if abs(recording.step / TICK_S - round(recording.step / TICK_S)) > 1e-6 or recording.step < 0.5 * TICK_S:
        raise InputError(recording.name, f"steps of {recording.step:g} s", f"a multiple of {TICK_S:g} s")
    out.mkdir(parents=True, exist_ok=True)
    lanelets = led_on(recording.lanelets, BEYOND_MAP_M, BEFORE_MAP_M)
    (out / MAP_NAME).write_bytes(to_opendrive(recording.name, lanelets, recording.origin))
    road_map = read_map(out / MAP_NAME)
    start = start_pose(problems[0], center_ahead(BMW_320I))
    way = goal_route(road_map, recording, problems[0], start, BMW_320I)
    mission: dict[str, object] = {"goal": dict(zip(("x", "y", "heading"), way.route.poses()[-1].tolist(), strict=True))}
    if way.stretch is not None and not way.stops:
        mission["window"] = _window(recording.step, problems[0], way, way.stretch)
    return Loop(recording, problems[0], road_map, way, BMW_320I, mission)


def _window(step: float, problem: PlanningProblem, way: GoalRoute, stretch: tuple[float, float]) -> dict[str, object]:
    """The window of the mission: a place in the goal, how far the goal goes on behind it, and its intervals of time,
    speed and, where the route has it, heading.
    """
    low, high = (step * max(each - problem.start.step, 0) for each in way.goal.time)
    place = min(max(stretch[0] + GOAL_MARGIN_M, 0.5 * (low + high) * problem.start.v), 0.5 * sum(stretch))
    pose = way.route.reference.at(max(place, stretch[0]) - center_ahead(BMW_320I))
    window: dict[str, object] = {
        "x": pose.x,
        "y": pose.y,
        "time_s": [low + RUN_IN_S, high + RUN_IN_S],
        "length": min(max(stretch[1] - GOAL_END_M - place, 0.0), LONGEST_WINDOW_M),
        "offset": way.offset,
    }
    if way.goal.speed is not None:
        window["speed"] = [max(way.goal.speed.low, 0.0), max(way.goal.speed.high, 0.0)]
    if way.goal.heading is not None and way.goal.faces(pose.heading):
        window["heading"] = [way.goal.heading.low, way.goal.heading.high]
    return window


def drive_agent(
    loop: Loop,
    out: Path,
    progress: Report | None = None,
    traffic: Traffic | None = None,
) -> ScenarioDrive:
    """Our planner drives; a bag of all that went in and came out lies in the folder.

    Args:
        loop: the scenario.
        out: the folder.
        progress: told in a line how far it is, once a second of the scenario.
        traffic: what moves the others; without it they replay.
    """
    told = StampProgress(progress, loop.duration_s)
    parameters = parameters_for_scenarios()
    agent, outputs = Agent(loop.road_map, parameters), Outputs(loop.road_map.left_hand)
    server = loop.server
    answers: list[RouteAnswer] = []
    run = {
        **map_record(out / MAP_NAME),
        "parameters": flatten(parameters),
        "source": loop.recording.name,
    }
    with BagWriter(out, run) as bag:

        def plan(inputs: Inputs) -> Trajectory:
            told.tell(inputs.stamp)
            given = replace(inputs, route_answers=(*inputs.route_answers, *answers))
            answers.clear()
            tick, ns = agent.step(given), nanoseconds(inputs.stamp)
            bag.write_tick(given, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])
            answers.extend(
                replace(server.answer(each, inputs.stamp), stamp=inputs.stamp + TICK_S)
                for each in tick.decision.route_requests
            )
            return tick.trajectory

        return (traffic or drive)(loop, plan)


class EgoDrive:
    """The car on its way through a scenario, step by step of it.

    Args:
        loop: the scenario.
        plan: what drives; it is led up to the beginning.
    """

    def __init__(self, loop: Loop, plan: Planner) -> None:
        self._loop, self._plan = loop, plan
        self._ahead, p = center_ahead(loop.vehicle), SimParameters()
        problem = loop.problem
        start = start_pose(problem, self._ahead)
        self._car = EgoCar(start, problem.start.v, loop.vehicle, p.dynamics, p.tracker)
        self._substeps = p.stepping.substeps(TICK_S)
        for inputs in _run_in(loop):
            plan(inputs)
        self._states = [_state(problem.start.step, self._car, self._ahead)]
        self.reached_step: int | None = None
        """The first at which the car was in a goal."""

    @property
    def state(self) -> ProblemState:
        """Where the car is."""
        return self._states[-1]

    @property
    def over(self) -> bool:
        """Whether a goal is reached, or none can be any more."""
        return self.reached_step is not None or self.state.step >= self._loop.problem.last_step

    def step(self, obstacles: Sequence[Obstacle]) -> ProblemState:
        """Drive to the next step of the scenario, among others that have states for the time until then."""
        per_step, before = round(self._loop.recording.step / TICK_S), self.state.step
        for tick in range(before * per_step, (before + 1) * per_step):
            t, car = tick * TICK_S, self._car
            inputs = _inputs(self._loop, t, car.pose, car.v, car.yaw_rate, object_rows(obstacles, t))
            car.drive(self._plan(inputs), BEGIN_S + t, TICK_S / self._substeps, self._substeps)
        self._states.append(_state(before + 1, self._car, self._ahead))
        if self._loop.problem.reached(self.state):
            self.reached_step = self.state.step
        return self.state

    def result(self, obstacles: tuple[Obstacle, ...]) -> ScenarioDrive:
        """What came of it, among others that did this."""
        return ScenarioDrive(self._loop.problem, tuple(self._states), self.reached_step, obstacles)


Traffic = Callable[[Loop, Planner], ScenarioDrive]
"""Drives a scenario among others that it moves."""


def drive(loop: Loop, plan: Planner) -> ScenarioDrive:
    """Step by step until a goal is reached, or none can be any more; the others replay."""
    ego, obstacles = EgoDrive(loop, plan), loop.recording.obstacles
    while not ego.over:
        ego.step(obstacles)
    return ego.result(obstacles)


def _state(step: int, car: EgoCar, ahead: float) -> ProblemState:
    centre = shifted(car.pose, ahead)
    return ProblemState(step, centre.x, centre.y, centre.heading, car.v, float(car.state[5]))


def _run_in(loop: Loop) -> Iterator[Inputs]:
    """What leads up to the beginning: all come straight, as fast as they are in their first states."""
    problem = loop.problem
    begin = problem.start.step * loop.recording.step
    ticks = round(RUN_IN_S / TICK_S)
    pose = start_pose(problem, center_ahead(loop.vehicle))
    there = [each for each in loop.recording.obstacles if each.there(begin)]
    for k in range(ticks, 0, -1):
        back = k * TICK_S
        rows = object_rows(there, begin)
        rows["x"] -= back * rows["vx"]
        rows["y"] -= back * rows["vy"]
        inputs = _inputs(loop, begin - back, shifted(pose, -back * problem.start.v), problem.start.v, 0.0, rows)
        route = RouteAnswer(inputs.stamp, -1, _led_up_to(loop, pose, ticks * TICK_S * problem.start.v).poses())
        yield replace(inputs, route_answers=(route,)) if k == ticks else inputs


def _led_up_to(loop: Loop, start: Pose, way: float) -> Route:
    """The route from `way` m before the start on, where the lanes lead straight there; else the route itself: who comes
    along before its beginning is off it.
    """
    route = loop.way.route
    if way < BEHIND_M:
        return route
    led = plan_route(loop.road_map, shifted(start, -way), Pose(*route.poses()[-1].tolist()), via=(start,)).route
    return led if led is not None and abs(led.length - way - route.length) < BEHIND_M else route


def _inputs(
    loop: Loop, t: float, pose: Pose, v: float, yaw_rate: float, rows: np.ndarray[tuple[int], np.dtype[np.void]]
) -> Inputs:
    stamp = BEGIN_S + t
    return Inputs(
        stamp,
        Odometry(stamp, pose, v, yaw_rate),
        StampedRows(stamp, rows),
        traffic_lights=StampedRows(stamp, np.zeros(0, TRAFFIC_LIGHTS)),
        rain_fog=BoolMessage(BEGIN_S - RUN_IN_S, False),
        mission=loop.mission,
    )
