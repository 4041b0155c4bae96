"""On which level what follows no lanes is, where roads cross above one another: that of the lane under it."""

from __future__ import annotations

import math

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.road_map import SAME_LEVEL_M, RoadMap
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.placements import InSlot, OnLane, Placement
from tuling_fsm.sim.scenario.road_places import NEAR_ROAD_M, OnRoad, OnRoadLane

ALONG = 0.5
"""A vehicle heads along a lane, one way or the other, if the cosine of the angle between them is above this."""


def level_at(
    road_map: RoadMap, pose: Pose, z: float = math.nan, road: str | None = None, kind: ActorKind | None = None
) -> float:
    """Height of the lane of any type under a pose, or of the nearest one, m.

    Args:
        road_map: the map.
        pose: of what is there.
        z: the level that it was on (NaN: not known): of several lanes the nearest to it counts, and `z` off all roads.
        road: that it belongs to, if it has one here.
        kind: a vehicle is on that of several levels along whose lane it heads.

    Returns:
        NaN (any level) where nothing tells whether it is on a bridge or below.
    """
    found = road_map.positions(pose.x, pose.y, types=road_map.lane_types)
    found = found or road_map.positions(pose.x, pose.y, NEAR_ROAD_M, road_map.lane_types)
    found = [each for each in found if each.lane.road == road] or found
    heights = [road_map.lanes[each.lane].height(each.s) for each in found]
    if not heights:
        return z
    if not math.isnan(z):
        return min(heights, key=lambda height: abs(height - z))
    if kind is ActorKind.VEHICLE:
        along = [abs(elementary.cos(each.heading - pose.heading)) > ALONG for each in found]
        heights = [height for height, fits in zip(heights, along, strict=True) if fits] or heights
    return heights[0] if max(heights) - min(heights) <= SAME_LEVEL_M else math.nan


def road_of(road_map: RoadMap, placement: Placement) -> str | None:
    """The road that a placement is on by what it says; None where it does not say it."""
    match placement:
        case OnLane(road=road) | OnRoadLane(road=road) | OnRoad(road=road):
            return road
        case InSlot(slot):
            return next((each.road for each in road_map.slots if each.id == slot), None)
        case _:
            return None
