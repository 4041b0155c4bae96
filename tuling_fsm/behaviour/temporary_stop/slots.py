"""The slots of a point, and which of them are free (TMP-1)."""

from __future__ import annotations

import math

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.mission.points import ON_LANE_M, along, kerb_lane, pose_of
from tuling_fsm.behaviour.places import is_free, nothing_in
from tuling_fsm.behaviour.temporary_stop.memory import RoadsideSlot
from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose, distance, wrap_angle
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.mission import MissionPoint, MissionSlot

SAME_SLOT_M = 1.0
"""A perceived slot whose middle is this near is the same one."""
_INNER_M = 0.2
"""What reaches into a slot by less is not in it."""
_ROOM_M = (1.0, 0.3)
"""Length and width that a slot of our own has beyond the car's."""
_KERB_GAP_M = 0.25


def roadside_slots(view: BehaviourView, point: MissionPoint) -> tuple[RoadsideSlot, ...]:
    """Every slot of a point, the nearest to it first: the mission's, else those of the map beside the lane, else one
    at the lane's edge.
    """
    road_map, vehicle = view.context.road_map, view.context.vehicle
    pose = pose_of(road_map, point)
    slots = point.slots or _of_map(view, pose) or (at_edge(road_map, vehicle, pose),)
    ordered = sorted(slots, key=lambda slot: distance(slot.pose[:2], pose[:2]))
    return tuple(RoadsideSlot(slot, _goal(slot, _heading(road_map, slot, pose.heading), vehicle)) for slot in ordered)


def at_edge(road_map: RoadMap, vehicle: Vehicle, pose: Pose) -> MissionSlot:
    """A box as long as the car and a little more, pulled to the outer edge of the kerb lane beside a pose."""
    length, width = vehicle.length + _ROOM_M[0], vehicle.width + _ROOM_M[1]
    found = road_map.project(pose.x, pose.y, pose.heading, radius=ON_LANE_M)
    if found is None:
        return MissionSlot(pose, length, width)
    lane = road_map.lanes[kerb_lane(road_map, found.lane)]
    s = lane.center.project(pose.x, pose.y).s
    at, side = lane.center.at(s), 1.0 if road_map.left_hand else -1.0
    edge = float(np.interp(s, lane.center.s, lane.left if road_map.left_hand else lane.right))
    offset = side * max(0.0, edge - 0.5 * vehicle.width - _KERB_GAP_M)
    sine, cosine = elementary.sin_cos(at.heading)
    middle = Pose(at.x - offset * sine, at.y + offset * cosine, at.heading)
    return MissionSlot(middle, length, width)


def is_usable(view: BehaviourView, roadside_slot: RoadsideSlot) -> bool:
    """Whether nothing stands in the slot, nor is it seen as occupied; by the car itself it may be."""
    slot, scene = roadside_slot.slot, view.world.scene
    half_in = distance(scene.ego.pose[:2], roadside_slot.goal[:2]) < 0.5 * slot.length
    seen = (s for s in view.world.slots if distance((s.x, s.y), slot.pose[:2]) < SAME_SLOT_M)
    if not half_in and any(each.occupied for each in seen):
        return False
    half_length, half_width = 0.5 * slot.length - _INNER_M, 0.5 * slot.width - _INNER_M
    inside = (-half_length, half_length, -half_width, half_width)
    clearance = view.context.parameters.stop.clearance
    return nothing_in(slot.pose, inside, scene.obstacles) and is_free(
        roadside_slot.goal, scene, view.context.vehicle, clearance
    )


def is_in(view: BehaviourView, roadside_slot: RoadsideSlot) -> bool:
    """Whether the rear axle is where it has to be for the car to stand in the slot (TMP-2)."""
    pose, stop = view.world.ego.pose, view.context.parameters.stop
    turned = abs(wrap_angle(pose.heading - roadside_slot.goal.heading))
    return distance(pose[:2], roadside_slot.goal[:2]) <= stop.position and turned <= stop.heading


def _of_map(view: BehaviourView, pose: Pose) -> tuple[MissionSlot, ...]:
    stop, road_map = view.context.parameters.stop, view.context.road_map
    slots = (slot for slot in road_map.slots if not slot.reserved)
    near = (slot for slot in slots if distance(slot.pose[:2], pose[:2]) <= stop.slot_reach)
    return tuple(
        MissionSlot(s.pose, s.length, s.width) for s in near if _is_beside(road_map, s.pose, pose, stop.slot_turn)
    )


def _is_beside(road_map: RoadMap, slot: Pose, pose: Pose, turn: float) -> bool:
    """Whether a slot lies along the lane of a pose, on its outer side."""
    lane = _lane_of(road_map, slot, pose.heading)
    if lane is None or abs(wrap_angle(lane.heading - pose.heading)) > 0.5 * math.pi:
        return False
    outside = lane.offset > 0.0 if road_map.left_hand else lane.offset < 0.0
    turned = abs(wrap_angle(2.0 * (slot.heading - lane.heading))) / 2.0
    return outside and turned <= turn


def _lane_of(road_map: RoadMap, slot: Pose, heading: float) -> LanePosition | None:
    return road_map.project(slot.x, slot.y, heading, radius=ON_LANE_M)


def _heading(road_map: RoadMap, slot: MissionSlot, along_lane: float) -> float:
    """That of the slot, turned round where it is against the lane's direction."""
    lane = _lane_of(road_map, slot.pose, along_lane)
    direction = along_lane if lane is None else lane.heading
    against = abs(wrap_angle(slot.pose.heading - direction)) > 0.5 * math.pi
    return float(wrap_angle(slot.pose.heading + (math.pi if against else 0.0)))


def _goal(slot: MissionSlot, heading: float, vehicle: Vehicle) -> Pose:
    ahead = 0.5 * (vehicle.front - vehicle.rear_overhang)
    sine, cosine = elementary.sin_cos(heading)
    x, y = slot.pose.x - ahead * cosine, slot.pose.y - ahead * sine
    return Pose(x, y, heading)


def distance_to(view: BehaviourView, roadside_slot: RoadsideSlot) -> float:
    """How far ahead the slot is, along the route where that passes it (m)."""
    route, here, goal = view.world.route, view.world.route_s, roadside_slot.goal
    if route is not None:
        found = route.reference.project(goal.x, goal.y, here, here + view.context.parameters.stop.ahead)
        if abs(found.offset) <= ON_LANE_M:
            return found.s - here
    return -along(view.world.ego.pose, goal)[0]
