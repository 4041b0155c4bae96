"""Keeping the lane that perception sees, while the car does not know where it is (EXP-1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline, Pose
from tuling_fsm.core.request import FollowLanes, Hold, LaneEnd, LaneLine, PlanningRequest, Reason
from tuling_fsm.world.perceived import PerceivedLine

LANE_WIDTH_M = 3.5
"""Of a lane of which only one line is seen."""
MIN_LANE_WIDTH_M = 2.2
MAX_LANE_WIDTH_M = 5.0
"""Lines that are farther apart have a lane of somebody else between them."""
BEHIND_M = 3.0
MIN_SIGHT_M = 5.0
MAX_SIGHT_M = 40.0
STEP_M = 0.5
_IN_LANE_M, _ALIGNED = 1.0, math.radians(30.0)
"""The car is reckoned to be on a lane of the route: its rear axle no farther from the middle, turned by no more."""


def keep_perceived_lane(view: BehaviourView, speed: float) -> PlanningRequest:
    """Follow the lines on both sides of the car as far as the rules of the road allow at the place that is reckoned,
    in a junction those that lead on along the route; without any lines, stand and wait.
    """
    if not view.world.odometry_fresh:
        return Hold(Reason.NO_ODOMETRY)
    lane = perceived_lane(view.world.perceived_lines, view.world.ego.pose, speed)
    if lane is None:
        return Hold(Reason.NOT_LOCALIZED, detail="no lane lines in sight")
    lane, rules = _lane_of_route(view, lane) or lane, view.memory.rules
    return FollowLanes((lane,), rules.walls, min(speed, rules.speed_limit), keep_lane=True, creeps_up=rules.creeps_up)


def _lane_of_route(view: BehaviourView, seen: LaneLine) -> LaneLine | None:
    """The lane of the route that the car is reckoned to be in, where the one that is seen leads off it in a junction:
    lines of another way through it are seen there.
    """
    world = view.world
    pose, route_lanes = world.ego.pose, world.lanes if world.junctions else ()
    beside = [(lane.center.project(pose.x, pose.y), lane) for lane in route_lanes]
    here, lane = min(beside, key=lambda each: abs(each[0].offset), default=(None, None))
    if here is None or lane is None or abs(here.offset) > _IN_LANE_M or abs(world.heading_error) > _ALIGNED:
        return None
    for x, y in seen.center.xy[seen.center.s > BEHIND_M].tolist():
        place = lane.center.project(x, y, here.s)
        if abs(place.offset) > LANE_WIDTH_M / 2.0:
            at = lane.route_s0 + place.s
            return lane if any(junction.s_from <= at <= junction.s_to for junction in world.junctions) else None
    return None


def perceived_lane(lines: Sequence[PerceivedLine], pose: Pose, limit: float) -> LaneLine | None:
    """The lane between the nearest line on either side, or along the nearer one where only that is of the car's lane,
    in `map` by the pose; None where no line reaches ahead, or the car is in no such lane.
    """
    sides = [_by_x(line.points) for line in lines if line.points[:, 0].max() >= MIN_SIGHT_M]
    left = min((side for side in sides if side[0, 1] > 0.0), key=lambda side: side[0, 1], default=None)
    right = max((side for side in sides if side[0, 1] <= 0.0), key=lambda side: side[0, 1], default=None)
    if left is not None and right is not None and left[0, 1] - right[0, 1] > MAX_LANE_WIDTH_M:
        left, right = (left, None) if left[0, 1] < -right[0, 1] else (None, right)
    if left is None:
        if right is None:
            return None
        left = right + np.array((0.0, LANE_WIDTH_M))
    elif right is None:
        right = left - np.array((0.0, LANE_WIDTH_M))
    x = np.arange(-BEHIND_M, min(MAX_SIGHT_M, left[-1, 0], right[-1, 0]) + 1e-9, STEP_M)
    y_left, y_right = np.interp(x, left[:, 0], left[:, 1]), np.interp(x, right[:, 0], right[:, 1])
    half = (y_left - y_right) / 2.0
    here = int(np.searchsorted(x, 0.0))
    if half.min() < MIN_LANE_WIDTH_M / 2.0 or y_left[here] < 0.0 or y_right[here] > 0.0:
        return None
    return LaneLine(
        center=_in_map(x, (y_left + y_right) / 2.0, pose),
        left=half,
        right=half,
        left_free=half,
        right_free=half,
        limit=np.full(len(x), limit),
        left_road=half,
        right_road=half,
        shift=0,
        end=LaneEnd.HORIZON,
        route_s0=0.0,
    )


def _by_x(points: FloatArray) -> FloatArray:
    """Points ahead of the rear axle in the order of x, with the side taken where the line is nearest."""
    ordered = points[np.argsort(points[:, 0], kind="stable")]
    ahead = ordered[ordered[:, 0] >= 0.0]
    return ahead if len(ahead) else ordered[-1:]


def _in_map(x: FloatArray, y: FloatArray, pose: Pose) -> Polyline:
    s, c = elementary.sin_cos(pose.heading)
    return Polyline.of(np.column_stack((pose.x + c * x - s * y, pose.y + s * x + c * y)))
