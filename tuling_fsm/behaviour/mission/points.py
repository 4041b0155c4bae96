"""Where the mission's points are: on their lanes, on the route, and where a passenger may get off instead."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.world.mission import MissionPoint

ON_LANE_M = 10.0
"""A point at the roadside is this near to its lane."""
BEYOND_M = 2.0
"""From a point to the place just past it from where a route back is asked for."""
_BESIDE_M = 15.0
_BACK_M, _AHEAD_M = 10.0, 80.0
_STEP_M = 5.0
_JOINT_M = 1.0
"""Where one section of a road ends, a place may be told to the next one."""


def pose_of(road_map: RoadMap, point: MissionPoint) -> Pose:
    """A point with its heading; an open one becomes that of the lane there."""
    if point.heading is not None:
        return Pose(point.x, point.y, point.heading)
    lane = road_map.project(point.x, point.y, radius=ON_LANE_M)
    return Pose(point.x, point.y, 0.0 if lane is None else lane.heading)


def along(pose: Pose, place: Pose) -> tuple[float, float]:
    """How far a pose is past a place in the place's direction, and beside it (+ left), m."""
    dx, dy = pose.x - place.x, pose.y - place.y
    s, c = elementary.sin_cos(place.heading)
    return c * dx + s * dy, c * dy - s * dx


def is_past(pose: Pose, place: Pose, by: float) -> bool:
    """Whether a pose is at least so far (m) past a place, on its road and pointing its way: on the other carriageway it
    has yet to turn.
    """
    past, beside = along(pose, place)
    return past > by and abs(beside) < _BESIDE_M and elementary.cos(pose.heading - place.heading) > 0.0


def distance_ahead(view: BehaviourView) -> float | None:
    """How far ahead on the route the present stop is (m, negative where it is behind); None where the route does not
    pass it, or goes round to it first.
    """
    world, progress = view.world, view.memory.mission
    point = progress.goal.point
    if world.route is None or point is None or not progress.goal.is_stop or progress.around is not None:
        return None
    pose, here = pose_of(view.context.road_map, point), world.route_s
    found = world.route.reference.project(pose.x, pose.y, here - _BACK_M, here + _AHEAD_M)
    if abs(found.offset) > ON_LANE_M or abs(wrap_angle(found.heading - pose.heading)) > 0.5 * math.pi:
        return None
    if not _beside_the_route(view.context.road_map, world.route, found.s, pose):
        return None
    # A route ends at the point, and the place of the car on it with it: what is behind is told by the pose.
    return -along(world.ego.pose, pose)[0] if is_past(world.ego.pose, pose, 0.0) else found.s - here


def _beside_the_route(road_map: RoadMap, route: Route, s: float, pose: Pose) -> bool:
    """Whether a place is at lanes that the route drives on about there: a service road is as near to a main road. Of
    roads above one another it is at the one that the route is on.
    """
    here = road_map.lanes[route.lanes[route.index_at(s)].lane]
    z = here.height(here.center.project(pose.x, pose.y).s)
    lane = road_map.project(pose.x, pose.y, pose.heading, z, radius=ON_LANE_M)
    if lane is None:
        return True
    driven = route.lanes[route.index_at(s - _JOINT_M) : route.index_at(s + _JOINT_M) + 1]
    return any(lane.lane in road_map.same_direction(stretch.lane) for stretch in driven)


def stop_ahead(view: BehaviourView) -> bool:
    """A point of the present task lies ahead at most as far as it is approached from, with no junction between
    (NOR-1).
    """
    distance, stop, here = distance_ahead(view), view.context.parameters.stop, view.world.route_s
    if distance is None or not view.world.localized or not -stop.passed <= distance <= stop.ahead:
        return False
    return not any(j.s_to > here and j.s_from < here + distance for j in view.world.junctions)


def just_past(road_map: RoadMap, point: MissionPoint) -> Pose | None:
    """A place on the point's lane, or on one that follows, from where no route leads straight to the point."""
    pose = pose_of(road_map, point)
    found = road_map.project(pose.x, pose.y, pose.heading, radius=ON_LANE_M)
    if found is None:
        return None
    return next(
        (lane.center.at(s) for lane, s, driven in _onward(road_map, found.lane, found.s) if driven > BEYOND_M), None
    )


def legal_point(view: BehaviourView, instead_of: MissionPoint) -> MissionPoint | None:
    """The next place past a point where a passenger may get off: at the kerb, outside junctions, and with some room
    to them, to stop lines and to crosswalks (TMP-3).
    """
    road_map, stop = view.context.road_map, view.context.parameters.stop
    pose = pose_of(road_map, instead_of)
    found = road_map.project(pose.x, pose.y, pose.heading, radius=ON_LANE_M)
    if found is None:
        return None
    for lane, s, driven in _onward(road_map, found.lane, found.s):
        if driven > stop.legal_to:
            return None
        if driven >= stop.legal_from and _may_stop(road_map, lane, s, stop.legal_margin):
            place = lane.center.at(s)
            return MissionPoint(f"next legal place after {instead_of.name}".rstrip(), place.x, place.y, place.heading)
    return None


def kerb_lane(road_map: RoadMap, lane_id: LaneId) -> LaneId:
    """The outermost driving lane in the direction of a lane."""
    lanes = road_map.same_direction(lane_id)
    return lanes[0] if road_map.left_hand else lanes[-1]


def _may_stop(road_map: RoadMap, lane: Lane, s: float, margin: float) -> bool:
    if lane.junction is not None or lane.id != kerb_lane(road_map, lane.id):
        return False
    starts_junction = not lane.successors or any(road_map.lanes[n].junction is not None for n in lane.successors)
    if starts_junction and lane.length - s < margin:
        return False
    if any(road_map.lanes[n].junction is not None for n in lane.predecessors) and s < margin:
        return False
    lines = [road_map.place_of(line)[1] for line in road_map.stop_lines_across(lane.id)]
    walks = [(low, high) for _, low, high in road_map.crosswalks_of(lane.id)]
    return all(abs(s - at) >= margin for at in lines) and all(
        not low - margin < s < high + margin for low, high in walks
    )


def _onward(road_map: RoadMap, lane_id: LaneId, s: float) -> Iterator[tuple[Lane, float, float]]:
    """Places along the kerb lane from one on, straight ahead at junctions: lane, arc length on it and length so far
    (m).
    """
    seen: set[LaneId] = set()
    driven, lane = 0.0, road_map.lanes[kerb_lane(road_map, lane_id)]
    while lane.id not in seen:
        seen.add(lane.id)
        for i in itertools.count():
            if s + _STEP_M * i >= lane.length:
                break
            yield lane, s + _STEP_M * i, driven + _STEP_M * i
        driven, s = driven + lane.length - s, 0.0
        onward = [n for n in lane.successors if n in road_map.graph]
        if not onward:
            return
        heading = float(lane.center.heading[-1])
        straight = min(onward, key=lambda n: (_turn(road_map.lanes[n], heading), n))
        lane = road_map.lanes[kerb_lane(road_map, straight) if road_map.lanes[straight].junction is None else straight]


def _turn(lane: Lane, heading: float) -> float:
    return abs(float(wrap_angle(float(lane.center.heading[-1]) - heading)))
