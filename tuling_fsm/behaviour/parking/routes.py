"""Where to look next when a route has been driven without finding a slot (PRK-2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import Memory, report
from tuling_fsm.behaviour.parking.memory import SlotSearch
from tuling_fsm.behaviour.parking.slots import parking_end_of
from tuling_fsm.behaviour.routing import leads_on, open_question, pursue, use
from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.records import replace
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.parking import Aisle, ParkingArea, ParkingEnd, opposite
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import match_route, plan_route

DRIVEN_SHARE = 0.7
"""An aisle of which this much has been driven has been looked at."""
TURN_COST_M = 20.0
"""Metres of detour that it is worth not to turn round."""
END_M = 6.0
"""A goal at the end of an aisle lies this far before it."""
JOINTS = 8
"""Places of a preset route at which it may be joined."""
INSIDE_M = 1.0
"""The way back ends this far inside the area: at its very edge a junction may begin."""
MOST_GOALS = 12
"""Aisles that are looked at, nearest first."""

Key = tuple[str, int]


class RouteGoal(NamedTuple):
    """What the route server is asked for."""

    start: Pose
    goal: Pose


def look_elsewhere(view: BehaviourView, end: ParkingEnd) -> Memory:
    """The route has been driven: count the pass, and ask for another one; without the server where it cannot help."""
    memory = _passed(view, end.area)
    view = view.having(memory)
    way = next_way(view, end.area, memory.parking.round.driven)
    if way is None:
        view = view.having(_with(memory, replace(memory.parking.round, driven=_covered(view, end.area))))
        way = next_way(view, end.area, view.memory.parking.round.driven)
    if way is None:
        return without_server(view, end)
    memory = open_question(view, "search")
    return _with(memory, replace(view.memory.parking.round, asking=True, start=way.start, goal=way.goal))


def wait_for_route(view: BehaviourView, end: ParkingEnd) -> Memory:
    """Take the server's answer; when it has failed too often, go on without it."""
    memory = pursue(view, _accept)
    round_, question = memory.parking.round, memory.routing.question
    if question.answered:
        return _with(memory, replace(round_, asking=False))
    if question.failures >= view.context.parameters.parking.attempts:
        return without_server(view.having(memory), end)
    return memory


def without_server(view: BehaviourView, end: ParkingEnd) -> Memory:
    """A preset route, or the present one reversed."""
    route, preset = _next_preset(view)
    what = "a preset route"
    if route is None:
        route, what = reversed_route(view.context.road_map, end, view.memory.routing.route), "back the way it came"
    round_ = replace(view.memory.parking.round, asking=False, preset=preset)
    if route is None:
        line = "parking: no other way through the car park is known"
        return report(_with(view.memory, replace(round_, stuck=True)), line)
    memory = use(view, view.memory, route)
    back = opposite(view.context.road_map, view.world.ego.pose)
    round_ = replace(round_, start=back, goal=route.reference.at(route.length))
    return report(_with(memory, round_), f"parking: {what}")


def next_way(view: BehaviourView, area: ParkingArea, driven: tuple[Key, ...]) -> RouteGoal | None:
    """The way to the end of an aisle that has not been looked at: the one that shows most for its length."""
    road_map, pose = view.context.road_map, view.world.ego.pose
    ends = [aisle for aisle in area.aisles if _key(aisle.lane) not in driven and _is_plain(road_map, aisle.lane)]
    goals = [road_map.lanes[aisle.lane].center.at(max(aisle.end - END_M, aisle.start)) for aisle in ends]
    goals.sort(key=lambda goal: float(elementwise.hypot(goal.x - pose.x, goal.y - pose.y)))
    best: tuple[float, RouteGoal] | None = None
    for turned, start in enumerate((pose, opposite(road_map, pose))):
        for goal in goals[:MOST_GOALS] if start is not None else ():
            assert start is not None
            route = plan_route(road_map, start, goal).route
            if route is None or leads_on(view, route):
                continue
            fresh = math.fsum(length for key, length in _lengths(area, route).items() if key not in driven)
            cost = route.length + TURN_COST_M * turned - 2.0 * fresh
            if best is None or cost < best[0]:
                best = cost, RouteGoal(start, goal)
    return None if best is None else best[1]


def reversed_route(road_map: RoadMap, end: ParkingEnd, route: Route | None) -> Route | None:
    """Back over the lanes of the other direction beside the part of a route that runs in the parking area."""
    if route is None:
        return None
    middles = [
        0.5 * (max(lane.s_from, end.s_from) + lane.s_to)
        for lane in reversed(route.lanes)
        if lane.s_to > end.s_from and _is_plain(road_map, lane.lane)
    ]
    back = [opposite(road_map, route.reference.at(s)) for s in (route.length, *middles, end.s_from + INSIDE_M)]
    poses = [pose for pose in back if pose is not None]
    if len(poses) < 2:
        return None
    return plan_route(road_map, poses[0], poses[-1], via=poses[1:-1]).route


def _passed(view: BehaviourView, area: ParkingArea) -> Memory:
    """One more pass; after the second it is reported, and slots that were barred may have become free."""
    round_, most = view.memory.parking.round, view.context.parameters.parking.passes
    driven = dict.fromkeys((*round_.driven, *_covered(view, area)))
    round_ = replace(round_, passes=round_.passes + 1, driven=tuple(driven))
    if round_.passes < most:
        return _with(view.memory, round_)
    memory = _with(view.memory, replace(round_, barred=(), taken=(), freed=()))
    return report(memory, f"parking: no free slot after {round_.passes} routes, circling on")


def _covered(view: BehaviourView, area: ParkingArea) -> tuple[Key, ...]:
    """The aisles that the route in use runs along."""
    route = view.memory.routing.route
    lengths = {} if route is None else _lengths(area, route)
    return tuple(dict.fromkeys(_key(aisle.lane) for aisle in area.aisles if _seen(aisle, lengths)))


def _seen(aisle: Aisle, lengths: dict[Key, float]) -> bool:
    return lengths.get(_key(aisle.lane), 0.0) >= DRIVEN_SHARE * (aisle.end - aisle.start)


def _lengths(area: ParkingArea, route: Route) -> dict[Key, float]:
    """How far a route runs along each aisle (m), whatever the direction."""
    found: dict[Key, float] = {}
    for stretch in route.lanes:
        for aisle in area.aisles:
            if aisle.lane == stretch.lane:
                shared = min(aisle.end, stretch.lane_to) - max(aisle.start, stretch.lane_from)
                key = _key(aisle.lane)
                found[key] = found.get(key, 0.0) + max(shared, 0.0)
    return found


def _accept(view: BehaviourView, route: Route) -> str:
    found = parking_end_of(view, route)
    if found is None or found.area.number != view.memory.parking.round.area:
        return "it does not end in the car park"
    return leads_on(view, route)


def _next_preset(view: BehaviourView) -> tuple[Route | None, int]:
    """The way onto the next preset route of the mission that leads on from here, and how many are used up then."""
    mission, used = view.memory.mission.mission, view.memory.parking.round.preset
    routes = () if mission is None or mission.car_park is None else mission.car_park.routes
    for _ in routes:
        preset = match_route(view.context.road_map, np.array(routes[used % len(routes)]))
        route = None if preset is None else _onto(view, preset)
        used += 1
        if route is not None and not _accept(view, route):
            return route, used
    return None, used


def _onto(view: BehaviourView, preset: Route) -> Route | None:
    """The shortest way onto a preset route and along the rest of it; ahead of the car, or round and back."""
    road_map, pose, line = view.context.road_map, view.world.ego.pose, preset.reference
    best: tuple[float, Pose, float] | None = None
    for turned, start in enumerate((pose, opposite(road_map, pose))):
        for s in np.linspace(0.0, line.length, JOINTS, endpoint=False) if start is not None else ():
            assert start is not None
            lead = plan_route(road_map, start, line.at(float(s))).route
            cost = float("inf") if lead is None else lead.length + TURN_COST_M * turned - float(s)
            if lead is not None and (best is None or cost < best[0]):
                best = cost, start, float(s)
    if best is None:
        return None
    _, start, s = best
    return plan_route(road_map, start, line.at(line.length), via=(line.at(s), line.at(0.5 * (s + line.length)))).route


def _with(memory: Memory, round_: SlotSearch) -> Memory:
    return replace(memory, parking=replace(memory.parking, round=round_))


def _key(lane: LaneId) -> Key:
    return lane.road, lane.section


def _is_plain(road_map: RoadMap, lane: LaneId) -> bool:
    return road_map.lanes[lane].junction is None
