"""How a run begins: where the ego starts, which route it is asked to take, and which agents are around it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError, assert_never
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import route_through
from tuling_fsm.sim.actors.scripted import ON_MAP, ScriptedActors
from tuling_fsm.sim.environment.route_server import route_from
from tuling_fsm.sim.parameters import TrafficManagerParameters
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.model import EGO, ActorState, RandomRoute, RouteTo, RouteVia, Scenario, ScriptedRoute
from tuling_fsm.sim.scenario.placements import Anywhere, Placement, Relation, in_words, place
from tuling_fsm.sim.scenario.road_places import straightest
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT
from tuling_fsm.sim.seeds import SeedStreams, generator
from tuling_fsm.sim.traffic.lane_graph import build_lane_graph
from tuling_fsm.sim.traffic.manager import TrafficManager

WALKS = 100
END_MARGIN_M = 10.0
START_REACH_M = 3.0
OFF_ROAD_REACH_M = 60.0
"""An ego that a script puts off the road begins its route on the nearest lane within this."""
PASSED_M = 3.0
"""A place of a script this near to the start is where the ego begins, not where it goes."""


class EgoSetting(NamedTuple):
    """The ego's start (rear axle) and its route; None where a mission leads it."""

    start: Pose
    route: Route | None
    made_up: bool = False
    """Whether nobody has asked for this route: the script says no more than that the ego drives."""


def ego_setting(
    road_map: RoadMap, scenario: Scenario, random: np.random.Generator, center_ahead: float = 0.0
) -> EgoSetting:
    """Draw or resolve start and route. `center_ahead` is from the ego's rear axle to the middle of its body, m.

    Raises:
        InputError: no such place on the map, or no route between the places.
    """
    wanted_route = scenario.route
    if isinstance(wanted_route, RandomRoute) and isinstance(scenario.ego, Anywhere):
        route = random_route(road_map, random, wanted_route.length_m)
        return EgoSetting(route.reference.at(0.0), route)
    start = place(scenario.ego, road_map, random, _known(road_map, scenario, random), center_ahead=center_ahead)
    if start is None:
        raise _nowhere(scenario, EGO, f"no {in_words(scenario.ego)} on this map")
    match wanted_route:
        case RandomRoute(length):
            return EgoSetting(start, _random_route_from(road_map, scenario, start, length, random))
        case ScriptedRoute(placements, length):
            stated = _stated_route(road_map, start, placements, random)
            if stated is not None:
                return EgoSetting(start, stated)
            return EgoSetting(start, _straight_route(road_map, scenario, start, length), made_up=True)
        case RouteTo(goal):
            return EgoSetting(start, _route_over(road_map, scenario, start, (goal,), random))
        case RouteVia(placements):
            return EgoSetting(start, _route_over(road_map, scenario, start, placements, random))
        case None:
            if scenario.mission_file is None:
                raise InputError(scenario.file, "the ego has neither a route nor a mission", "one of them")
            return EgoSetting(start, None)
        case _:
            assert_never(wanted_route)


def _known(road_map: RoadMap, scenario: Scenario, random: np.random.Generator) -> dict[str, Pose]:
    """Where the actors begin that the ego's start is relative to, one after the other."""
    poses: dict[str, Pose] = {}
    placements = {actor.name: actor.placement for actor in scenario.actors}

    def look_up(where: Placement) -> None:
        other = placements.pop(where.actor, None) if isinstance(where, Relation) else None
        if other is None or not isinstance(where, Relation):
            return
        look_up(other)
        pose = place(other, road_map, random, poses)
        if pose is not None:
            poses[where.actor] = pose

    look_up(scenario.ego)
    return poses


def _route_over(
    road_map: RoadMap, scenario: Scenario, start: Pose, stops: tuple[Placement, ...], random: np.random.Generator
) -> Route:
    """The route from the start through all stops to the last one."""
    poses = [place(each, road_map, random, {"ego": start}) for each in stops]
    known = [pose for pose in poses if pose is not None]
    if len(known) < len(poses):
        raise InputError(scenario.file, "a place of the ego's route is not on the map", "places on the map")
    result = route_from(road_map, start, known[-1], via=known[:-1])
    if result.route is None:
        raise InputError(scenario.file, f"no route for the ego: {result.status}", "places that lanes join")
    return result.route


def _random_route_from(
    road_map: RoadMap, scenario: Scenario, start: Pose, length: float, random: np.random.Generator
) -> Route:
    """The best of many random walks over lanes from a pose on."""
    found = road_map.project(start.x, start.y, start.heading, radius=START_REACH_M)
    if found is None or found.lane not in road_map.graph:
        raise InputError(
            scenario.file, f"no lane at the ego's start ({start.x:.1f}, {start.y:.1f})", "a start on a driving lane"
        )
    best: tuple[float, list[LaneId], float] = (-1.0, [], 0.0)
    for _ in range(WALKS):
        driven, lanes, end = _walk(road_map, found.lane, found.s, length, random)
        if driven > best[0]:
            best = (driven, lanes, end)
        if best[0] >= length - 1e-6:
            break
    if not best[1]:
        raise InputError(scenario.file, "the ego's start leads nowhere", "a start with some metres of lane ahead")
    return route_through(road_map, best[1], found.s, best[2])


def _stated_route(
    road_map: RoadMap, start: Pose, stops: tuple[Placement, ...], random: np.random.Generator
) -> Route | None:
    """The way that a script states, whichever way its places face; None where it states none or no lanes lead there."""
    poses = [pose for pose in (place(each, road_map, random, {"ego": start}) for each in stops) if pose is not None]
    ahead = [Pose(pose.x, pose.y, math.nan) for pose in poses if distance(pose[:2], start[:2]) > PASSED_M]
    for via in (ahead[:-1], []) if ahead else ():
        found = route_from(road_map, start, ahead[-1], via=via).route
        if found is not None:
            return found
    return None


def _straight_route(road_map: RoadMap, scenario: Scenario, start: Pose, length: float) -> Route:
    """So far on from a pose over driving lanes, straight on where they fork."""
    found = road_map.project(start.x, start.y, start.heading, radius=START_REACH_M)
    found = found or road_map.project(start.x, start.y, start.heading, radius=OFF_ROAD_REACH_M)
    if found is None or found.lane not in road_map.graph:
        at = f"({start.x:.1f}, {start.y:.1f})"
        raise InputError(scenario.file, f"no lane near the ego's start {at}", "a start beside a driving lane")
    lanes, lane = [found.lane], road_map.lanes[found.lane]
    left = length - (lane.length - found.s)
    while left > 0.0:
        following = straightest(road_map, lane)
        if following is None or following.id in lanes or following.id not in road_map.graph:
            break
        lanes.append(following.id)
        lane, left = following, left - following.length
    first = found.s if len(lanes) == 1 else 0.0
    end = lane.length + min(left, 0.0) if left <= 0.0 else _last_place(lane, first)
    return route_through(road_map, lanes, found.s, max(end, 0.0))


def _last_place(lane: Lane, first: float) -> float:
    """Arc length (m) at which a car that begins at `first` stands with all of its body before the end of a lane."""
    return lane.length - min(END_MARGIN_M, 0.5 * (lane.length - first))


def _walk(
    road_map: RoadMap, lane_id: LaneId, s: float, length: float, random: np.random.Generator
) -> tuple[float, list[LaneId], float]:
    """A random walk: its length to the last good end, the lanes, and where on the last lane it ends."""
    lanes, driven = [lane_id], -s
    best: tuple[float, list[LaneId], float] = (-1.0, [], 0.0)
    seen = {lane_id}
    while True:
        lane = road_map.lanes[lanes[-1]]
        first = s if len(lanes) == 1 else 0.0
        end = min(_last_place(lane, first), length - driven)
        if lane.junction is None and end > first + 1.0:
            best = (driven + end, list(lanes), end)
        driven += lane.length
        onward = [n for n in road_map.graph.successors[lane.id] if n not in seen and not road_map.graph.tight(n)]
        if driven >= length or not onward:
            return best
        following = onward[int(random.integers(len(onward)))]
        lanes.append(following)
        seen.add(following)


def distance_to_goal(goal: Pose, pose: Pose) -> tuple[float, float]:
    """How far a pose is past the goal along the goal's heading (negative: before it), and beside it (+ left), m."""
    dx, dy = pose.x - goal.x, pose.y - goal.y
    s, c = elementary.sin_cos(goal.heading)
    return c * dx + s * dy, c * dy - s * dx


FIRST_TRAFFIC_ID = 1001
CLEAR_STEP_M = 5.0
"""Distance between the circles along the route in which no vehicle is spawned ..."""
CLEAR_MARGIN_M = 5.0
"""... and how much larger than the gap at standstill they are."""


class InitialAgents(NamedTuple):
    """Traffic, scripted actors, the index of each lane in the traffic's graph, and how many vehicles of the population
    found a place.
    """

    traffic: TrafficManager
    scripted_actors: ScriptedActors
    lanes: Mapping[LaneId, int]
    vehicles: int


def initial_agents(
    road_map: RoadMap,
    scenario: Scenario,
    setting: EgoSetting,
    ego: ActorState,
    signals: tuple[int, ...],
    seeds: SeedStreams,
    parameters: TrafficManagerParameters,
) -> InitialAgents:
    """Put all agents but pedestrians on the road: first the scripted actors, then the traffic.

    Args:
        road_map: the map.
        scenario: its actors, and how many vehicles the traffic has.
        setting: the ego's start and route, which are kept clear.
        ego: its body at the start.
        signals: numbers of the signals in the order of the lights' states.
        seeds: of the run.
        parameters: of the traffic.

    Raises:
        InputError: the map has no place that an actor is put to.
    """
    graph, lanes = build_lane_graph(road_map, signals)
    scripted = sum(actor.kind is ActorKind.VEHICLE for actor in scenario.actors)
    count = scripted + TrafficManager.fitting(graph, scenario.population.vehicles)
    own_seeds = np.asarray(seeds.traffic.generate_state(count, np.uint64), dtype=np.uint64)
    traffic = TrafficManager(graph, own_seeds, scripted, parameters, FIRST_TRAFFIC_ID)
    scripted_actors = ScriptedActors(road_map, scenario.actors, traffic, lanes, generator(seeds.scripted))
    try:
        scripted_actors.enter(scenario.actors, ego)
    except InputError as error:
        raise _nowhere(scenario, error.where, error.what) from error
    placed = traffic.populate(_clear_circles(setting, scripted_actors.poses(setting.start).values(), parameters))
    return InitialAgents(traffic, scripted_actors, lanes, placed)


def _nowhere(scenario: Scenario, actor: str, what: str) -> InputError:
    """What an actor lacks to begin, where the text says its place."""
    return InputError(scenario.where(scenario.places_at.get(actor, NO_TEXT)), f"{actor}: {what}", ON_MAP)


def _clear_circles(setting: EgoSetting, actors: Collection[Pose], p: TrafficManagerParameters) -> FloatArray:
    """Circles (K, 3) of x, y, radius (m) around the ego's start, the first stretch of its route and scripted actors:
    no vehicle is spawned there.
    """
    circles = [(setting.start.x, setting.start.y, p.start_clearance)]
    places = list(actors)
    if setting.route is not None:
        places += [setting.route.reference.at(s) for s in np.arange(0.0, p.route_clearance, CLEAR_STEP_M).tolist()]
    circles += [(pose.x, pose.y, p.standing_gap + CLEAR_MARGIN_M) for pose in places]
    return np.array(circles)
