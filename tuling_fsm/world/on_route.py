"""Where the car is along its route, and whether it is on the reference road."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.request import LaneLine
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.side_by_side import lanes_abreast

_BACK_M = 5.0
_AHEAD_M = 10.0
_FAR_OFF_M = 8.0
"""This far beside the route the window opens: the car may come back to another place of it."""
_FAR_BACK_M = 20.0
_FAR_AHEAD_M = 60.0
_HEADING_WEIGHT_M = 3.0
_SAME_PLACE_M = 0.5
_IN_LANE_M = 1.0
"""This near to the route's reference the car is in the route's own lane."""


class OnRoute(NamedTuple):
    """Arc length on the route's reference (m), offset from it (m, + left), heading of the car minus that of the
    reference (rad).
    """

    s: float
    offset: float
    heading_error: float


def track(route: Route, pose: Pose, last_s: float | None, moved: float, near: float = 0.0) -> OnRoute:
    """Project the car on its route near where it was, so that a crossing or a second lap is not jumped on.

    `last_s` is the arc length of the previous tick on this very route, None on its first; `moved` how far the car can
    have come. Without it the car is looked for on the whole route, and on which lap it is `near` tells.
    """
    if last_s is None:
        last_s = _found(route, pose, near)
    found = route.reference.project(pose.x, pose.y, last_s - _BACK_M - moved, last_s + _AHEAD_M + moved)
    if abs(found.offset) > _FAR_OFF_M:
        found = route.reference.project(pose.x, pose.y, last_s - _FAR_BACK_M, last_s + _FAR_AHEAD_M)
    return OnRoute(found.s, found.offset, wrap_angle(pose.heading - found.heading))


def _found(route: Route, pose: Pose, near: float) -> float:
    """Of the places that fit the pose about as well as the best one, the nearest to an arc length (m)."""
    line = route.reference
    distance = elementwise.hypot(line.xy[:, 0] - pose.x, line.xy[:, 1] - pose.y)
    cost = distance + _HEADING_WEIGHT_M * (1.0 - elementwise.cos(line.heading - pose.heading))
    places = line.s[cost <= cost.min() + _SAME_PLACE_M]
    return float(places[np.argmin(np.abs(places - near))])


def shift_of(lanes: tuple[LaneLine, ...], place: OnRoute, pose: Pose) -> int:
    """`LaneLine.shift` of the lane that the rear axle is in; 0 where it is in none."""
    if abs(place.offset) <= _IN_LANE_M:
        return 0
    found = [(abs(offset), lane.shift) for lane in lanes if (offset := _offset_in(lane, pose)) is not None]
    return min(found)[1] if found else 0


def _offset_in(lane: LaneLine, pose: Pose) -> float | None:
    """The offset (m) from the centre of a lane of a pose that is in it."""
    found = lane.center.project(pose.x, pose.y)
    row = min(int(lane.center.s.searchsorted(found.s)), len(lane.left) - 1)
    return found.offset if -lane.right[row] <= found.offset <= lane.left[row] else None


def carriageway(road_map: RoadMap, route: Route, s: float, around: float = 3.0) -> tuple[LaneId, ...]:
    """All same-direction lanes of the road that the route runs on at `s`, and a little before and after it; in a
    junction those side by side with its own, whichever road they are.
    """
    places = (min(max(at, 0.0), route.length) for at in (s, s - around, s + around))
    own = dict.fromkeys(route.lanes[route.index_at(at)].lane for at in places)
    return tuple(dict.fromkeys(lane for one in own for lane in lanes_abreast(road_map, one)))


def on_reference_road(road_map: RoadMap, route: Route, place: OnRoute, pose: Pose, margin: float) -> bool:
    """Whether the rear axle is on a same-direction lane of the route's carriageway, or at most `margin` (m) beside."""
    if not math.isfinite(place.offset):
        return False
    return road_map.is_on(carriageway(road_map, route, place.s), pose.x, pose.y, margin)
