"""Where the reference point of an actor is put, or where a route leads, and the pose of that on a map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.path_constraints import PathConstraints
from tuling_fsm.sim.scenario.path_places import beside, draw_place
from tuling_fsm.sim.scenario.road_places import (
    ALONG,
    Facing,
    LaneRelative,
    OffsetFrom,
    OnRoad,
    OnRoadLane,
    RoadRelative,
    along_line,
    along_route,
    mean_pose,
    on_road,
    on_road_lane,
    related,
    to_global_pose,
)


@dataclass(frozen=True)
class OnLane:
    """On a lane (OpenDRIVE road, lane number, road s in m), facing its travel; offset m, + left of it."""

    road: str
    lane: int
    s: float
    offset: float = 0.0


@dataclass(frozen=True)
class AtPose:
    """At a pose in `map` (m, rad); without a heading, that of the lane there (0 off the road)."""

    x: float
    y: float
    heading: float | None = None


@dataclass(frozen=True)
class InSlot:
    """The body centred in a parking space (OpenDRIVE object id), facing its heading or, `backed_in`, away."""

    slot: str
    backed_in: bool = False


@dataclass(frozen=True)
class RelativeTo:
    """`ahead` m (negative: behind) along the lane of another actor, `lanes` to its left (negative: right)."""

    actor: str
    ahead: float
    lanes: int = 0


@dataclass(frozen=True)
class Anywhere:
    """On a driving lane (a person: beside the road), drawn by the simulation's seed."""


@dataclass(frozen=True)
class OnPath:
    """On a road that fulfils the constraints, drawn by the seed: in its lane of this number from the left among those
    of one direction, from 1 (0: in any). `room_for` are places beside it that are on the map too: m ahead, lanes to the
    left.
    """

    lane: int
    path: PathConstraints
    room_for: tuple[tuple[float, int], ...] = ()


@dataclass(frozen=True)
class FromPlace:
    """At a pose (m, rad) in the frame of another place, as points of a curve that begins there are."""

    place: Placement
    pose: Pose


@dataclass(frozen=True)
class AlongRoute:
    """So far along the way over places, m: `offset` to the left of the way, or of the middle of a lane of the road."""

    waypoints: tuple[Placement, ...]
    s: float
    lane: int | None = None
    offset: float = 0.0
    facing: Facing = ALONG


@dataclass(frozen=True)
class OnTrajectory:
    """So far along the straight lines from place to place (m), `offset` to the left of them."""

    points: tuple[Placement, ...]
    s: float
    offset: float = 0.0
    facing: Facing = ALONG


OnMap = OnLane | AtPose | InSlot | OnRoadLane | OnRoad
"""Where these are the map alone decides."""
Relation = RelativeTo | LaneRelative | RoadRelative | OffsetFrom
"""Where these are is a matter of where an actor is."""


@dataclass(frozen=True)
class Between:
    """The weighted mean of places, as points of a curve between its control points are; weights add up to 1."""

    places: tuple[Placement, ...]
    weights: tuple[float, ...]


Derived = FromPlace | AlongRoute | OnTrajectory | Between
"""Where these are follows from other places."""
Placement = OnMap | Relation | Derived | Anywhere | OnPath


WALKABLE = ("sidewalk", "walking", "shoulder", "border", "curb", "median")
"""Lane types on which a person may be drawn."""
END_MARGIN = 5.0
"""A drawn place keeps this far from the ends of its lane where the lane is long enough, m."""


def place(
    placement: Placement,
    road_map: RoadMap,
    rng: np.random.Generator,
    actors: Mapping[str, Pose],
    kind: ActorKind = ActorKind.VEHICLE,
    center_ahead: float = 0.0,
) -> Pose | None:
    """The pose of the reference point; None when the map has no such place.

    `actors` are the poses that a relative placement may refer to; `center_ahead` (m) is how far the centre of the
    body lies ahead of the reference point; `rng` is drawn from for `Anywhere` alone.
    """
    match placement:
        case OnLane(road, lane, s, offset):
            found = lane_at(road_map, road, lane, s)
            return None if found is None else _beside(road_map.lanes[found[0]], found[1], offset)
        case AtPose(x, y, heading):
            return Pose(x, y, _heading(road_map, x, y) if heading is None else heading)
        case InSlot(slot, backed_in):
            return _in_slot(road_map, slot, backed_in, center_ahead)
        case RelativeTo(actor, ahead, lanes):
            return _relative(road_map, actors[actor], ahead, lanes) if actor in actors else None
        case Anywhere():
            return _anywhere(road_map, rng, kind)
        case OnPath(lane, path, room_for):
            return draw_place(road_map, path, lane, room_for, rng)
        case OnRoadLane():
            return on_road_lane(road_map, placement)
        case OnRoad():
            return on_road(road_map, placement)
        case LaneRelative() | RoadRelative() | OffsetFrom():
            known = actors.get(placement.actor)
            return None if known is None else related(road_map, placement, known)
        case FromPlace() | Between() | AlongRoute() | OnTrajectory():
            return _derived(placement, road_map, rng, actors)
        case _:
            assert_never(placement)


def _derived(
    placement: Derived, road_map: RoadMap, rng: np.random.Generator, actors: Mapping[str, Pose]
) -> Pose | None:
    match placement:
        case FromPlace(base, pose):
            start = place(base, road_map, rng, actors)
            return None if start is None else to_global_pose(start, pose)
        case Between(places, weights):
            return mean_pose(_poses(places, road_map, rng, actors), weights)
        case AlongRoute(waypoints, s, lane, offset, facing):
            poses = _poses(waypoints, road_map, rng, actors)
            return along_route(road_map, poses, s, lane, offset, facing)
        case OnTrajectory(points, s, offset, facing):
            return along_line(_poses(points, road_map, rng, actors), s, offset, facing)
        case _:
            assert_never(placement)


def _poses(
    places: Sequence[Placement], road_map: RoadMap, rng: np.random.Generator, actors: Mapping[str, Pose]
) -> list[Pose]:
    """Of all the places; none at all where one is not on the map."""
    poses = [place(each, road_map, rng, actors) for each in places]
    known = [pose for pose in poses if pose is not None]
    return known if len(known) == len(poses) else []


def lane_at(road_map: RoadMap, road: str, lane: int, s: float) -> tuple[LaneId, float] | None:
    """The lane of a road at the road's station `s` (m), and the arc length along that lane's centre."""
    for lane_id, candidate in road_map.lanes.items():
        if (lane_id.road, lane_id.lane) != (road, lane):
            continue
        stations = candidate.road_s
        if stations.min() - 1e-6 <= s <= stations.max() + 1e-6:
            order = np.argsort(stations, kind="stable")
            return lane_id, float(np.interp(s, stations[order], candidate.center.s[order]))
    return None


def _beside(lane: Lane, s: float, offset: float) -> Pose:
    pose = lane.center.at(s)
    sine, cosine = elementary.sin_cos(pose.heading)
    return Pose(pose.x - offset * sine, pose.y + offset * cosine, pose.heading)


def _heading(road_map: RoadMap, x: float, y: float) -> float:
    found = road_map.project(x, y)
    return 0.0 if found is None else found.heading


def _in_slot(road_map: RoadMap, slot: str, backed_in: bool, center_ahead: float) -> Pose | None:
    found = next((candidate for candidate in road_map.slots if candidate.id == slot), None)
    if found is None:
        return None
    heading = found.pose.heading + (math.pi if backed_in else 0.0)
    sine, cosine = elementary.sin_cos(heading)
    x, y = found.pose.x - center_ahead * cosine, found.pose.y - center_ahead * sine
    return Pose(x, y, heading)


def _relative(road_map: RoadMap, other: Pose, ahead: float, lanes: int) -> Pose | None:
    found = road_map.project(other.x, other.y, other.heading)
    if found is None:
        return None
    target = beside(road_map, found.lane, found.s, ahead, lanes)
    return None if target is None else road_map.lanes[target[0]].center.at(target[1])


def _anywhere(road_map: RoadMap, rng: np.random.Generator, kind: ActorKind) -> Pose | None:
    lanes: Sequence[Lane] = [
        lane
        for lane in road_map.lanes.values()
        if kind is ActorKind.PERSON and lane.type in WALKABLE and lane.junction is None
    ] or [road_map.lanes[lane_id] for lane_id in road_map.driving_lanes() if road_map.lanes[lane_id].junction is None]
    if not lanes:
        return None
    ends = np.cumsum([lane.length for lane in lanes])
    lane = lanes[min(int(np.searchsorted(ends, rng.uniform(0.0, ends[-1]))), len(lanes) - 1)]
    margin = min(END_MARGIN, lane.length / 2.0)
    return lane.center.at(rng.uniform(margin, max(margin, lane.length - margin)))


def in_words(where: Placement) -> str:
    """What a map has to have for a placement, in words after `no`."""
    match where:
        case OnLane(road, lane, s) | OnRoadLane(road, lane, s):
            return f"lane {lane} of road {road!r} at {s:g} m"
        case OnRoad(road, s):
            return f"road {road!r} at {s:g} m"
        case InSlot(slot):
            return f"parking space {slot!r}"
        case AtPose(x, y) | OffsetFrom(_, x, y):
            return f"point ({x:g}, {y:g})"
        case RelativeTo(actor, ahead, lanes):
            return f"place {ahead:g} m ahead of {actor!r}, {lanes} lanes to its left"
        case LaneRelative(actor, lanes, ahead):
            return f"place {ahead:g} m along the road from {actor!r}, {lanes} lanes beside it"
        case RoadRelative(actor, ahead):
            return f"place {ahead:g} m along the road from {actor!r}"
        case FromPlace(base):
            return in_words(base)
        case AlongRoute(_, s):
            return f"place {s:g} m along that route"
        case OnTrajectory(_, s):
            return f"place {s:g} m along that trajectory"
        case Between() | OnPath() | Anywhere():
            return "such place"
        case _:
            assert_never(where)
