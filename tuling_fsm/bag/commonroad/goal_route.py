"""From a planning problem to a route on the converted map: through a place in the goal, and on along the lanes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from shapely.geometry import LineString, Polygon
from shapely.ops import nearest_points

from tuling_fsm.bag.commonroad.lanelets import Lanelet
from tuling_fsm.bag.commonroad.problem import GoalState, PlanningProblem
from tuling_fsm.bag.commonroad.scenario import Recording
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline, Pose, wrap_angle
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.polygon import inside
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route

BEYOND_M = 120.0
"""The route goes on so far behind the goal: nothing says that the car has to stop in it."""
ON_LANE_M = 4.0
USUAL_SPEED = 8.0
"""What a car drives that has no reason to go slower, m/s."""
STOPS_BEFORE_M = 3.0
"""The middle of a car that stops in a long goal stands so far before its end, and in a short one in its middle."""
WELL_INSIDE_M = 0.3
"""A goal is passed so far from its edges."""
ASIDE_M = 2.0
"""A place farther than this beside the lane's centre is none of this lane."""
AXLE_GAP_M = 0.5
"""From where the rear axle comes to rest to the end of a route."""


class GoalRoute(NamedTuple):
    """A route, the stretch of it (arc lengths, m) on which the car is in the goal, which is all of the scenario's road
    for one without a place, whether the route ends there, and how far (m) to the left of it the goal is passed.
    """

    route: Route
    stretch: tuple[float, float] | None
    goal: GoalState
    stops: bool = False
    offset: float = 0.0


def goal_route(
    road_map: RoadMap, recording: Recording, problem: PlanningProblem, start: Pose, vehicle: Vehicle
) -> GoalRoute:
    """The shortest route from the car (rear axle) through one of the goals; straight on where none leads to any.

    Where the car would be past the goal before its time, and may stand there, the route ends in the goal.

    Raises:
        InputError: the start is on no lane that leads on.
    """
    found = [
        each
        for goal in problem.goals
        for target in _targets(road_map, recording, problem, goal, start)
        if (each := _through(road_map, recording, start, target, goal, center_ahead(vehicle))) is not None
    ]
    if not found:
        ahead = list(_straight_on(road_map, start, BEYOND_M))
        straight = plan_route(road_map, start, ahead[0]).route if ahead else None
        if straight is None:
            raise InputError(recording.name, f"problem {problem.id} begins on no lane", "a start on a lane")
        return GoalRoute(straight, None, problem.goals[0])
    best = min(found, key=lambda each: (each.stretch is None, (each.stretch or (0.0, 0.0))[0]))
    stop_s = _stop(best, recording.step, problem, vehicle)
    if stop_s is None:
        return best
    cut = plan_route(road_map, start, best.route.reference.at(stop_s)).route
    return best if cut is None else best._replace(route=cut, stops=True)


def _stop(way: GoalRoute, step: float, problem: PlanningProblem, vehicle: Vehicle) -> float | None:
    """Where on a route that passes the goal before its time the route has to end, m; None where it may go on."""
    if way.stretch is None or (way.goal.speed is not None and way.goal.speed.low > 0.0):
        return None
    begin, end = way.stretch
    early_s = step * (way.goal.time.low - problem.start.step)
    if end / max(problem.start.v, USUAL_SPEED) > early_s:
        return None
    centre = max(0.5 * (begin + end), end - STOPS_BEFORE_M)
    return min(centre - center_ahead(vehicle) + AXLE_GAP_M, way.route.length)


def _targets(
    road_map: RoadMap, recording: Recording, problem: PlanningProblem, goal: GoalState, start: Pose
) -> Iterator[Pose]:
    """Poses in the goal; a goal that is only a time is wherever the lanes lead straight on."""
    if goal.position is None:
        time_s = recording.step * (goal.time.high - problem.start.step)
        yield from _straight_on(road_map, start, BEYOND_M + time_s * max(problem.start.v, 5.0))
    for lanelet in goal.lanelets:
        yield _on_lane(road_map, _near_end(recording.lanelets[lanelet]))
    for shape in goal.shapes:
        centre = Polygon(shape).centroid
        heading = math.nan if goal.heading is None else 0.5 * (goal.heading.low + goal.heading.high)
        yield _on_lane(road_map, Pose(centre.x, centre.y, heading))


def _near_end(lanelet: Lanelet) -> Pose:
    line = Polyline.of(lanelet.centre)
    return line.at(0.95 * line.length)


def _on_lane(road_map: RoadMap, pose: Pose) -> Pose:
    """The pose on the lane's centre beside a place, or the place itself where there is no lane."""
    heading = None if math.isnan(pose.heading) else pose.heading
    lane = road_map.project(pose.x, pose.y, heading, radius=ON_LANE_M)
    return pose if lane is None else road_map.lanes[lane.lane].center.at(lane.s)


def _through(
    road_map: RoadMap, recording: Recording, start: Pose, target: Pose, goal: GoalState, ahead: float
) -> GoalRoute | None:
    """The route through a target and on behind it."""
    if plan_route(road_map, start, target).route is None:
        return None
    ends = list(_straight_on(road_map, target, BEYOND_M)) if goal.position is not None else []
    planned = plan_route(road_map, start, ends[0], via=(target,)).route if ends else None
    route = planned or plan_route(road_map, start, target).route
    if route is None:
        return None
    shapes = goal.position or tuple(each.outline for each in recording.lanelets.values())
    offset = _offset(route, goal)
    return GoalRoute(route, _stretch(route, shapes, goal, ahead, offset), goal, offset=offset)


def _offset(route: Route, goal: GoalState) -> float:
    """How far (m) to the left of a route its goal is passed: a small place beside the lane's centre is not missed."""
    if len(goal.shapes) != 1 or goal.lanelets:
        return 0.0
    shape = Polygon(goal.shapes[0])
    well_inside = shape.buffer(-WELL_INSIDE_M)
    wanted = shape.centroid if well_inside.is_empty else well_inside
    line = LineString(route.reference.xy)
    if line.intersects(wanted):
        return 0.0
    nearest = nearest_points(line, wanted)[1]
    offset = route.reference.project(nearest.x, nearest.y).offset
    return offset if abs(offset) <= ASIDE_M else 0.0


def _stretch(
    route: Route, shapes: Sequence[FloatArray], goal: GoalState, ahead: float, offset: float
) -> tuple[float, float] | None:
    """The arc lengths of the route's first stretch that has, `offset` (m) to the left of it, one of the shapes; where
    it has the heading that is asked for, if it has that anywhere in it.

    The heading is the lane's under the rear axle, `ahead` (m) behind the centre.
    """
    heading = route.reference.heading
    sine, cosine = elementwise.sin_cos(heading)
    left = np.column_stack((-sine, cosine))
    passed = route.reference.xy + offset * left
    within = np.logical_or.reduce([inside(shape, passed) for shape in shapes])
    rows = np.flatnonzero(within)
    if not len(rows):
        return None
    breaks = np.flatnonzero(np.diff(rows) > 1)
    last = rows[breaks[0]] if len(breaks) else rows[-1]
    begin, end = float(route.reference.s[rows[0]]), float(route.reference.s[last])
    asked = goal.heading
    found = asked and route.reference.heading_between((begin - ahead, end - ahead), (asked.low, asked.high))
    return (found[0] + ahead, found[1] + ahead) if found else (begin, end)


def _straight_on(road_map: RoadMap, pose: Pose, length: float) -> Iterator[Pose]:
    """The pose so far on along the lanes, straight on where they fork, or where they end."""
    found = road_map.project(pose.x, pose.y, pose.heading, radius=ON_LANE_M)
    if found is None:
        return
    lane, s, left = road_map.lanes[found.lane], found.s, length
    seen: set[LaneId] = set()
    while lane.id not in seen and lane.length - s < left:
        seen.add(lane.id)
        onward = [road_map.lanes[each] for each in lane.successors if each in road_map.graph]
        if not onward:
            left = lane.length - s
            break
        left, s = left - (lane.length - s), 0.0
        end = float(lane.center.heading[-1])
        lane = min(onward, key=lambda each: (abs(float(wrap_angle(float(each.center.heading[-1]) - end))), each.id))
    if s + left > found.s or lane.id != found.lane:
        yield lane.center.at(min(s + left, lane.length))
