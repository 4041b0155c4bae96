"""Whatever the planners say: what leaves the agent has been checked by the world, and begins where the car is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crossroads import LIGHT, crossroads

from tuling_fsm.agent import Agent, Tick
from tuling_fsm.behaviour.memory import PlanOutcome
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FollowLanes, Hold, PlanningRequest, PlanResult, Reason
from tuling_fsm.core.scene import Scene
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.safety.fallback import FallbackRung
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, BoolMessage, Kind, Light, Odometry, StampedRows

from .drives import STEP_S, drive

VEHICLE, LIMITS = Vehicle(), PlanningParameters().check
Plan = Callable[[PlanningRequest, Scene, PlanResult | None], PlanResult]
Change = Callable[[Plan, PlanningRequest, Scene, PlanResult | None], PlanResult]


@pytest.fixture(scope="module")
def route(course: RoadMap) -> Route:
    return random_route(course, np.random.default_rng(3), 150.0)


def spoil(agent: Agent, change: Change) -> None:
    """From now on the agent's planner plans what `change` makes of it."""
    planner: Any = agent._planner
    plan: Plan = planner.plan
    planner.plan = lambda request, scene, previous: change(plan, request, scene, previous)


def moved(result: PlanResult, rows: slice, by: float) -> PlanResult:
    """The same with rows of its trajectory moved along x."""
    assert result.trajectory is not None
    x = result.trajectory.x.copy()
    x[rows] += by
    return replace(result, trajectory=replace(result.trajectory, x=x))


def off(tick: Tick) -> tuple[float, float]:
    """How far along and across of the measured car the trajectory begins, m."""
    pose, begin = tick.world.ego.pose, tick.trajectory.pose(0)
    dx, dy = begin.x - pose.x, begin.y - pose.y
    c, s = math.cos(pose.heading), math.sin(pose.heading)
    return abs(c * dx + s * dy), abs(c * dy - s * dx)


def is_at_the_car(tick: Tick) -> bool:
    along, across = off(tick)
    return max(along, across) <= LIMITS.start + tick.decision.regulations.moved


@pytest.mark.clause("SAF-2", "SAF-5")
@pytest.mark.parametrize("rows", [slice(3, None), slice(0, None)], ids=["a jump", "another place"])
@pytest.mark.parametrize("hold", [False, True], ids=["infeasible", "a stop that is asked for"])
@pytest.mark.medium
def test_a_stop_is_checked_too(course: RoadMap, route: Route, rows: slice, hold: bool) -> None:
    """A plan that says itself that it is infeasible, and one that answers a `Hold`, jump by 30 m at 8 m/s."""
    agent = Agent(course)

    def jump(plan: Plan, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        result = plan(request, scene, previous)
        if scene.stamp < 6.0 or (isinstance(request, Hold) != hold):
            return result
        return moved(replace(result, feasible=hold), rows, 30.0)

    spoil(agent, jump)

    def around(stamp: float) -> dict[str, Any]:
        return {"emergency_stop": BoolMessage(stamp, hold and stamp > 6.0)}

    ticks = list(drive(agent, route, 180, around))
    assert ticks[119].world.ego.v > 3.0
    for tick in ticks:
        way = np.hypot(np.diff(tick.trajectory.x), np.diff(tick.trajectory.y))
        assert is_at_the_car(tick) and (len(way) == 0 or way.max() < 3.0), tick.stamp
    assert ticks[-1].world.ego.v == 0.0
    assert not hold or ticks[-1].limit.reason is Reason.EMERGENCY_STOP, "whatever stops it, it tells why it stands"


@pytest.mark.clause("SAF-2", "SAF-3")
@pytest.mark.parametrize("numbers", [(5, 6), (5, 5), (0, 0)])
@pytest.mark.medium
def test_a_pedestrian_in_the_lane_is_stopped_for_whatever_id_is_told(
    course: RoadMap, route: Route, numbers: tuple[int, int]
) -> None:
    """Beside another one that stands off the lane, both told without noise."""
    place = route.reference.at(60.0)
    c, s = math.cos(place.heading), math.sin(place.heading)
    rows = np.zeros(2, OBJECTS)
    rows["id"], rows["kind"], rows["source"], rows["existence"] = numbers, Kind.PEDESTRIAN, 7, 1.0
    rows["x"], rows["y"] = place.x + np.array((2.8, 0.0)) * s, place.y - np.array((2.8, 0.0)) * c
    rows["length"] = rows["width"] = 0.5
    ticks = list(drive(Agent(course), route, 500, lambda stamp: {"objects": StampedRows(stamp, rows)}))
    stands = next(i for i, tick in enumerate(ticks) if tick.stamp > 5.0 and tick.world.ego.v == 0.0)
    pose = ticks[stands].world.ego.pose
    assert c * (place.x - pose.x) + s * (place.y - pose.y) > VEHICLE.front + 1.0
    waits = ticks[stands : stands + 80]
    assert {(tick.world.ego.v, tick.limit.reason) for tick in waits} == {(0.0, Reason.PEDESTRIAN)}


@pytest.mark.clause("USE-11")
@pytest.mark.parametrize("between", ["infeasible", "hold"])
@pytest.mark.medium
def test_a_stop_that_has_begun_is_not_let_go_by_a_tick_of_another_kind(
    course: RoadMap, route: Route, between: str
) -> None:
    agent = Agent(course)

    def broken(plan: Plan, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        tick = round((scene.stamp - 6.0) / 0.05)
        if tick > 20 and tick % 8 == 0:
            held = plan(Hold(Reason.NO_PATH), scene, previous)
            return replace(held, feasible=between == "hold")
        result = plan(request, scene, previous)
        return moved(result, slice(3, None), 30.0) if 0 <= tick < 20 or (tick > 0 and tick % 8 < 4) else result

    spoil(agent, broken)
    ticks = list(drive(agent, route, 240))
    fast = ticks[119].world.ego.v
    stopping = [tick for tick in ticks if tick.stamp > 6.6]
    stood = next(i for i, tick in enumerate(stopping) if tick.world.ego.v < 0.03)
    assert fast > 3.0 and stood > 20
    speeds = [tick.world.ego.v for tick in stopping[: stood + 1]]
    assert all(after <= before for before, after in pairwise(speeds)), "it only escalates"


@pytest.mark.clause("USE-11")
@pytest.mark.medium
def test_a_stop_that_is_no_longer_needed_is_let_go(course: RoadMap, route: Route) -> None:
    """Plans fail for a second, and are valid from then on: the car brakes for no longer than it takes to be sure."""
    agent = Agent(course)

    def broken(plan: Plan, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        result = plan(request, scene, previous)
        return moved(result, slice(3, None), 30.0) if 6.0 <= scene.stamp < 7.0 else result

    spoil(agent, broken)
    ticks = list(drive(agent, route, 240))
    release = agent.parameters.planning.fallback.release
    braking = [tick.stamp for tick in ticks if tick.limit.reason is Reason.PLAN_REJECTED]
    assert braking[0] == pytest.approx(6.0) and braking[-1] == pytest.approx(7.0 + release - 0.05)
    outcomes = [(tick.stamp < 7.0 - 1e-6, PlanOutcome.of(tick.result)) for tick in ticks if tick.stamp in braking]
    assert all(outcome.failed is broke for broke, outcome in outcomes), "there is a path again, and no state is left"
    speeds = {round(tick.stamp, 2): tick.world.ego.v for tick in ticks}
    assert min(speeds[t] for t in (7.5, 8.0, 8.5, 9.0)) > 1.0, "and goes on"


def without_walls(plan: Plan, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
    """What comes of a request in which somebody has forgotten the lights."""
    return plan(replace(request, walls=()) if isinstance(request, FollowLanes) else request, scene, previous)


@pytest.mark.clause("SAF-2", "INT-2")
@pytest.mark.parametrize("shown", [Light.RED, Light.RED_YELLOW, Light.DARK, None])
@pytest.mark.medium
def test_a_light_closes_its_line_though_the_request_does_not_say_so(tmp_path: Path, shown: Light | None) -> None:
    town = crossroads(tmp_path, "lit", dict.fromkeys("ENWS", LIGHT))
    north = 0.5 * math.pi
    route = plan_route(town, Pose(1.75, -70.0, north), Pose(1.75, 60.0, north)).route
    assert route is not None
    (signal,) = {ahead.signal for stretch in route.lanes for ahead in town.stop_lines_of(stretch.lane)}
    agent = Agent(town)
    spoil(agent, without_walls)

    def around(stamp: float) -> dict[str, Any]:
        rows = [] if shown is None else [(signal, int(shown), 1.0)]
        return {"traffic_lights": StampedRows(stamp, np.array(rows, dtype=TRAFFIC_LIGHTS))}

    ticks = list(drive(agent, route, 400, around))
    assert max(tick.world.ego.v for tick in ticks) > 3.0
    line = next(ahead for stretch in route.lanes for ahead in town.stop_lines_of(stretch.lane))
    front = max(tick.world.ego.pose.y + VEHICLE.front for tick in ticks)
    assert front < line.y0 + 0.01
    assert any(tick.limit.detail.startswith("RED_LIGHT: signal") for tick in ticks)


@pytest.mark.clause("INT-2", "USE-3")
@pytest.mark.parametrize(("before", "over"), [(8.8, 0.9), (10.0, 2.4)])
@pytest.mark.medium
def test_a_car_that_slides_over_the_line_at_red_stands_there_until_green(
    tmp_path: Path, before: float, over: float
) -> None:
    """Its brakes reach no more than a part of what is asked of them; red comes `before` the line (m)."""
    town = crossroads(tmp_path, "lit", dict.fromkeys("ENWS", LIGHT))
    north = 0.5 * math.pi
    route = plan_route(town, Pose(1.75, -70.0, north), Pose(1.75, 60.0, north)).route
    assert route is not None
    line = next(ahead for stretch in route.lanes for ahead in town.stop_lines_of(stretch.lane))
    brakes = 4.0 if before < 9.0 else 3.0
    pose, v, red_from = route.reference.at(0.0), 0.0, math.inf

    def around(stamp: float) -> dict[str, Any]:
        nonlocal red_from
        red_from = min(red_from, stamp if line.y0 - pose.y - VEHICLE.front <= before else math.inf)
        state = Light.RED if red_from <= stamp < red_from + 10.0 else Light.GREEN
        rows = np.array([(line.signal, int(state), 1.0)], dtype=TRAFFIC_LIGHTS)
        return {"odometry": Odometry(stamp, pose, v, 0.0), "traffic_lights": StampedRows(stamp, rows)}

    fronts = list[tuple[float, float]]()
    for tick in drive(Agent(town), route, 800, around):
        asked = float(tick.trajectory.sample(tick.stamp + STEP_S)[2])
        slid = max(asked, v - brakes * STEP_S)
        pose, v = pose._replace(y=pose.y + 0.5 * (v + slid) * STEP_S), slid
        fronts.append((tick.stamp - red_from, pose.y + VEHICLE.front - line.y0))
    at_red = [front for since, front in fronts if 5.0 < since < 10.0]
    assert max(at_red) - min(at_red) < 1e-3
    assert at_red[0] == pytest.approx(over, abs=0.3)
    assert fronts[-1][1] > 20.0


def jumping(agent: Agent, route: Route, jump: Callable[[float, Pose], Pose], ticks: int) -> Iterator[Tick]:
    """A car that follows its plans, and that somebody puts elsewhere."""
    pose, v = route.reference.at(0.0), 0.0

    def around(stamp: float) -> dict[str, Any]:
        return {"odometry": Odometry(stamp, pose, v, 0.0)}

    for tick in drive(agent, route, ticks, around):
        yield tick
        here, _, v, _ = tick.trajectory.sample(tick.stamp + STEP_S)
        pose = jump(tick.stamp + STEP_S, here)


@pytest.mark.clause("SAF-5")
@pytest.mark.parametrize("by", [171.0, 20.0, 3.0, -3.0, -40.0])
@pytest.mark.parametrize("at", [2.0, 6.0], ids=["in regression", "in normal"])
@pytest.mark.medium
def test_a_car_that_is_elsewhere_goes_on_from_there(course: RoadMap, by: float, at: float) -> None:
    """Along its own path, across which nothing tells a jump."""
    far = random_route(course, np.random.default_rng(3), 320.0)

    def jump(stamp: float, here: Pose) -> Pose:
        if abs(stamp - at) > 0.01:
            return here
        place = far.reference.project(here.x, here.y)
        return far.reference.at(min(max(place.s + by, 0.0), far.length - 20.0))

    ticks = list(jumping(Agent(course), far, jump, 200))
    assert not [(tick.stamp, *off(tick)) for tick in ticks if not is_at_the_car(tick)]
    assert all(tick.world.localized for tick in ticks)
    assert ticks[-1].result.feasible and max(tick.world.ego.v for tick in ticks[-60:]) > 0.5


@pytest.mark.clause("SAF-5")
def test_the_rest_of_a_plan_that_is_elsewhere_is_not_driven(course: RoadMap, route: Route) -> None:
    agent = Agent(course)
    *_, last = drive(agent, route, 120)
    away = last.world.ego.pose._replace(x=last.world.ego.pose.x + 79.0)

    def none(plan: Plan, request: PlanningRequest, scene: Scene, previous: PlanResult | None) -> PlanResult:
        return replace(plan(request, scene, previous), trajectory=None)

    spoil(agent, none)
    stamp = last.stamp + STEP_S
    given = {"odometry": Odometry(stamp, away, last.world.ego.v, 0.0)}
    tick = agent.step(replace(last_inputs(agent), stamp=stamp, **given))
    assert agent._memory.ladder.rung >= FallbackRung.COMFORT
    assert is_at_the_car(tick) and isinstance(tick.trajectory, Trajectory)


def last_inputs(agent: Agent) -> Any:
    assert agent._last is not None
    return agent._last[1]
