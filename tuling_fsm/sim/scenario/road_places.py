"""Places by road, lane and route, absolute or relative to an actor, as OpenSCENARIO XML states them (ASAM, 1.3, 6.3.8).

Stations and offsets are of the road here: `s` along its reference line, offsets + to the left of that, whichever way
the lane is driven. An angle that is relative is to the travel of the lane where a place is one of a lane, to the way of
growing stations where it is one of a road. All in m and rad, `map` frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Polyline, Pose, wrap_angle
from tuling_fsm.map.lanes import Lane, LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.routing import plan_route

STATION_TOLERANCE_M = 1.0
"""A station this far beyond the end of its road is taken as that end: lengths in files are rounded."""
NEAR_ROAD_M = 10.0
"""An actor this near to a lane has a road that others can be placed relative to."""


class Facing(NamedTuple):
    """An angle about the vertical, rad: from the way of the lane or road there, or of the map frame (`absolute`)."""

    angle: float = 0.0
    absolute: bool = False

    def of(self, travel: float) -> float:
        """The heading where the lane or the road goes that way."""
        return self.angle if self.absolute else travel + self.angle


ALONG = Facing()


@dataclass(frozen=True)
class OnRoadLane:
    """At a station of a lane of a road; `offset` from the middle of the lane."""

    road: str
    lane: int
    s: float
    offset: float = 0.0
    facing: Facing = ALONG


@dataclass(frozen=True)
class OnRoad:
    """At a station of a road, `t` from its reference line, wherever its lanes are (OpenDRIVE's track coordinates)."""

    road: str
    s: float
    t: float
    facing: Facing = ALONG


@dataclass(frozen=True)
class LaneRelative:
    """`ahead` along the road of an actor (`along_lane`: along the lane as the actor faces), `lanes` towards + ones."""

    actor: str
    lanes: int
    ahead: float
    offset: float = 0.0
    along_lane: bool = False
    facing: Facing = ALONG


@dataclass(frozen=True)
class RoadRelative:
    """`ahead` along the road from an actor, and `left` of where it is."""

    actor: str
    ahead: float
    left: float
    facing: Facing = ALONG


@dataclass(frozen=True)
class OffsetFrom:
    """`dx`, `dy` from an actor in its own frame or (`in_map`) the map's; angles are relative to its heading."""

    actor: str
    dx: float
    dy: float
    in_map: bool = False
    facing: Facing = ALONG


RoadRelation = LaneRelative | RoadRelative | OffsetFrom
"""Relative to an actor."""


def lane_of_road(road_map: RoadMap, road: str, number: int, s: float) -> tuple[Lane, float] | None:
    """The lane of a road at a station, and the arc length along that lane's centre; the nearest end where the station
    is a little beyond it.
    """
    length = road_map.road_lengths.get(road)
    if length is None or not -STATION_TOLERANCE_M <= s <= length + STATION_TOLERANCE_M:
        return None
    best: tuple[float, Lane] | None = None
    for lane_id, lane in road_map.lanes.items():
        if (lane_id.road, lane_id.lane) == (road, number):
            low, high = float(lane.road_s.min()), float(lane.road_s.max())
            beyond = max(low - s, s - high, 0.0)
            if beyond <= STATION_TOLERANCE_M and (best is None or beyond < best[0]):
                best = beyond, lane
    return None if best is None else (best[1], arc_length(best[1], s))


def arc_length(lane: Lane, s: float) -> float:
    """Where along its centre a lane passes a station of its road."""
    stations = lane.road_s
    forward = stations[-1] >= stations[0]
    order = stations if forward else stations[::-1]
    return float(np.interp(s, order, lane.center.s if forward else lane.center.s[::-1]))


def along_road(lane: Lane) -> float:
    """1 where a lane is driven with growing stations of its road, -1 otherwise."""
    return 1.0 if lane.road_s[-1] >= lane.road_s[0] else -1.0


def beside(pose: Pose, left: float, heading: float | None = None) -> Pose:
    """A pose to the left of another one; with another heading if one is given."""
    s, c = elementary.sin_cos(pose.heading)
    return Pose(pose.x - left * s, pose.y + left * c, pose.heading if heading is None else heading)


def on_road_lane(road_map: RoadMap, where: OnRoadLane) -> Pose | None:
    """The pose; None where the road has no such lane."""
    if where.lane == 0:
        return _across(road_map, OnRoad(where.road, where.s, where.offset, where.facing), from_middle=True)
    found = lane_of_road(road_map, where.road, where.lane, where.s)
    if found is None:
        return None
    lane, s = found
    pose = lane.center.at(s)
    return beside(pose, where.offset * along_road(lane), where.facing.of(pose.heading))


def on_road(road_map: RoadMap, where: OnRoad) -> Pose | None:
    """The pose; None where there is no such road."""
    return _across(road_map, where, from_middle=False)


def _across(road_map: RoadMap, where: OnRoad, from_middle: bool) -> Pose | None:
    """A pose beside a lane that is next to the middle of a road; its `t` may be from there (`from_middle`)."""
    sides = (-1, 1) if where.t <= 0.0 else (1, -1)
    for number in sides:
        found = lane_of_road(road_map, where.road, number, where.s)
        if found is None:
            continue
        lane, s = found
        along = along_road(lane)
        pose = lane.center.at(s)
        inner = float(np.interp(s, lane.center.s, lane.left if (number < 0) == (along > 0.0) else lane.right))
        middle = inner if number < 0 else -inner
        origin = middle if from_middle else -float(np.interp(s, lane.center.s, lane.road_t))
        return beside(pose, (origin + where.t) * along, where.facing.of(_station_heading(lane, pose)))
    return None


def related(road_map: RoadMap, where: RoadRelation, reference: Pose) -> Pose | None:
    """The pose of a place relative to an actor's reference point; None where no road is."""
    if isinstance(where, OffsetFrom):
        s, c = (0.0, 1.0) if where.in_map else elementary.sin_cos(reference.heading)
        x, y = reference.x + c * where.dx - s * where.dy, reference.y + s * where.dx + c * where.dy
        return Pose(x, y, where.facing.of(reference.heading))
    found = locate(road_map, reference)
    if found is None:
        return None
    lane = road_map.lanes[found.lane]
    if isinstance(where, RoadRelative):
        target = walk(road_map, lane.id, found.s, where.ahead * along_road(lane))
        pose = target[0].center.at(target[1])
        left = found.offset + where.left * along_road(lane)
        return beside(pose, left, where.facing.of(_station_heading(target[0], pose)))
    number = stepped(lane.id.lane, where.lanes)
    beside_it = road_map.lanes.get(LaneId(lane.id.road, lane.id.section, number))
    if beside_it is None:
        return None
    station = float(np.interp(found.s, lane.center.s, lane.road_s))
    sign = along_road(beside_it)
    if where.along_lane and elementary.cos(reference.heading - found.heading) * along_road(lane) < 0.0:
        sign = -sign
    goal, s = walk(road_map, beside_it.id, arc_length(beside_it, station), where.ahead * sign)
    pose = goal.center.at(s)
    return beside(pose, where.offset * along_road(goal), where.facing.of(pose.heading))


def _station_heading(lane: Lane, pose: Pose) -> float:
    """Where stations of its road grow at a pose on the centre of a lane, rad."""
    return wrap_angle(pose.heading if along_road(lane) > 0.0 else pose.heading + math.pi)


def stepped(number: int, lanes: int) -> int:
    """The number of the lane that many lanes towards + lanes; there is no lane 0 to stop on."""
    goal = number + lanes
    crossed = (number < 0) != (goal < 0) or goal == 0
    return goal + (1 if lanes > 0 else -1) if crossed and lanes != 0 else goal


def locate(road_map: RoadMap, pose: Pose, radius: float = NEAR_ROAD_M, z: float | None = None) -> LanePosition | None:
    """The lane of any type that a pose lies on, or the nearest one; a driving lane before any other, one on the level
    `z` (m) before one above or below it.
    """
    types = road_map.lane_types
    on = road_map.project(pose.x, pose.y, pose.heading, z)
    on = on or road_map.project(pose.x, pose.y, pose.heading, z, types)
    return on or road_map.project(pose.x, pose.y, pose.heading, z, types, radius)


def walk(road_map: RoadMap, lane: LaneId, s: float, ahead: float) -> tuple[Lane, float]:
    """So far on along the lanes (negative: back), straight on where they fork; at most to the end of the last one."""
    here, s = road_map.lanes[lane], s + ahead
    for _ in range(len(road_map.lanes)):
        if 0.0 <= s <= here.length:
            break
        following = straightest(road_map, here, back=s < 0.0)
        if following is None:
            break
        s, here = (s + following.length, following) if s < 0.0 else (s - here.length, following)
    return here, min(max(s, 0.0), here.length)


def straightest(road_map: RoadMap, lane: Lane, back: bool = False) -> Lane | None:
    """Of the lanes that follow (or lead to) a lane the one that turns least; None where there is none."""
    links = lane.predecessors if back else lane.successors
    leaving = lane.center.at(0.0 if back else lane.length).heading

    def turn(other: Lane) -> float:
        heading = other.center.at(0.0 if back else other.length).heading
        return -elementary.cos(heading - leaving)

    return min((road_map.lanes[link] for link in links), key=turn, default=None)


def to_global_pose(frame: Pose, pose: Pose) -> Pose:
    """A pose that is given in the frame of another one."""
    s, c = elementary.sin_cos(frame.heading)
    return Pose(
        frame.x + c * pose.x - s * pose.y, frame.y + s * pose.x + c * pose.y, wrap_angle(frame.heading + pose.heading)
    )


def along_route(
    road_map: RoadMap, poses: Sequence[Pose], s: float, lane: int | None, offset: float, facing: Facing
) -> Pose | None:
    """The pose `s` m along the way over lanes through poses; None where lanes do not join them or the road has no such
    lane.
    """
    if len(poses) < 2:
        return None
    free = [Pose(pose.x, pose.y, math.nan) for pose in poses]
    route = plan_route(road_map, free[0], free[-1], via=free[1:-1]).route
    if route is None:
        return along_line(poses, s, offset, facing)
    there = route.reference.at(s)
    if lane is None:
        return beside(there, offset, facing.of(there.heading))
    on = next((each for each in route.lanes if each.s_to >= s), route.lanes[-1])
    here = road_map.lanes[on.lane]
    station = float(np.interp(here.center.project(there.x, there.y).s, here.center.s, here.road_s))
    found = lane_of_road(road_map, here.id.road, lane, station)
    if found is None:
        return None
    pose = found[0].center.at(found[1])
    return beside(pose, offset * along_road(found[0]), facing.of(pose.heading))


def along_line(poses: Sequence[Pose], s: float, offset: float, facing: Facing) -> Pose | None:
    """The pose `s` m along the straight lines from pose to pose; None where these are no line."""
    points = [pose[:2] for pose in poses]
    if len(points) < 2 or all(point == points[0] for point in points):
        return None
    there = Polyline.of(points).at(s)
    return beside(there, offset, facing.of(there.heading))


def mean_pose(poses: Sequence[Pose], weights: Sequence[float]) -> Pose | None:
    """Where the weighted mean of poses is, heading as the first; None without poses."""
    if not poses:
        return None
    x = math.fsum(weight * pose.x for pose, weight in zip(poses, weights, strict=True))
    y = math.fsum(weight * pose.y for pose, weight in zip(poses, weights, strict=True))
    return Pose(x, y, poses[0].heading)
