"""Which slots there are, which of them are free, and how the car stands in one (PRK-1, PRK-4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.parking.memory import TargetSlot
from tuling_fsm.behaviour.places import is_free
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, to_local, wrap_angle
from tuling_fsm.core.records import replace
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import ParkingSlot
from tuling_fsm.map.parking import MOUTH_M, SAME_BAY_M, GivenSlot, ParkingArea, ParkingEnd, parking_end
from tuling_fsm.map.route import Route
from tuling_fsm.world.mission import MissionSlot
from tuling_fsm.world.objects import is_vulnerable
from tuling_fsm.world.perceived import PerceivedSlot

LEAST_ROOM_M = 0.1
"""A slot is this much longer and wider than the car, or none."""
AROUND_M, BEFORE_M = 0.5, 2.0
"""Somebody this near to the sides and the back of a slot, and to its front, is in it or in the way to it."""
TAKEN = "it is taken"
"""Why a slot is barred that may become free again."""
LEAST_TURN = 0.02
"""The car is not placed in a slot more truly than this, rad."""


def parking_end_of(view: BehaviourView, route: Route) -> ParkingEnd | None:
    """The parking area in which a route ends, with the slots of the mission; None where it ends elsewhere, or no slot
    there is as large as the car needs, so that there is nothing to search for.
    """
    end = any_parking_end(view, route)
    if end is None or not any(_fits(slot, view.context.vehicle) for slot in end.area.slots if not slot.reserved):
        return None
    return end


def any_parking_end(view: BehaviourView, route: Route) -> ParkingEnd | None:
    """The same, however small the slots are."""
    given = tuple(GivenSlot(slot.pose, slot.length, slot.width) for slot in _of_mission(view))
    return parking_end(view.context.road_map, route, given)


def parked_pose(target_slot: TargetSlot, vehicle: Vehicle) -> Pose:
    """The rear axle's pose with the car's outline in the middle of a slot, facing out."""
    behind = 0.5 * (vehicle.front - vehicle.rear_overhang)
    heading = target_slot.pose.heading
    sine, cosine = elementary.sin_cos(heading)
    return Pose(
        target_slot.pose.x - behind * cosine,
        target_slot.pose.y - behind * sine,
        heading,
    )


def parking_tolerance(target_slot: TargetSlot, vehicle: Vehicle) -> tuple[float, float]:
    """How far (m) from the middle of a slot and how turned (rad) the car is still inside it, or as near to that as it
    drives.
    """
    spare = 0.5 * min(target_slot.length - vehicle.length, target_slot.width - vehicle.width)
    turn = max(0.5 * spare / (0.5 * vehicle.length), LEAST_TURN)
    return max(0.5 * spare, LEAST_ROOM_M / 2.0), turn


def free_slots(view: BehaviourView, area: ParkingArea) -> Iterator[TargetSlot]:
    """Free slots of an area within reach of the car, nearest first."""
    reach = view.context.parameters.parking.reach
    known = [(_distance(view, target_slot.pose), target_slot) for target_slot in _target_slots(view, area)]
    known = sorted((item for item in known if item[0] <= reach), key=itemgetter(0))
    return (
        target_slot
        for _, target_slot in known
        if _fits(target_slot, view.context.vehicle) and not is_taken(view, target_slot)
    )


def _distance(view: BehaviourView, place: Pose) -> float:
    """From the car's rear axle, m."""
    pose = view.world.ego.pose
    return elementary.hypot(place.x - pose.x, place.y - pose.y)


def is_taken(view: BehaviourView, target_slot: TargetSlot) -> bool:
    """Whether a slot is seen occupied, or something stands where the car would.

    What perception says of the slot does not count while the car itself is in it.
    """
    seen = next((slot for slot in view.world.slots if target_slot.is_at(slot.x, slot.y)), None)
    if seen is not None and seen.occupied and not _touches(view, target_slot):
        return True
    return not is_free(parked_pose(target_slot, view.context.vehicle), view.world.scene, view.context.vehicle, 0.0)


def is_seen_free(view: BehaviourView, target_slot: TargetSlot) -> bool:
    """Whether the car is near enough to a slot to look at it, and it is free."""
    near = _distance(view, target_slot.pose) <= view.context.parameters.parking.reach
    return near and not is_taken(view, target_slot)


def has_person(view: BehaviourView, target_slot: TargetSlot) -> bool:
    """Whether somebody is in a slot or before its mouth, and nothing else stands where the car would."""
    scene, vehicle = view.world.scene, view.context.vehicle
    people = is_vulnerable(scene.obstacles.kind)
    if not people.any():
        return False
    places = np.column_stack((scene.obstacles.x[people, 0], scene.obstacles.y[people, 0]))
    along, across = to_local(places, target_slot.pose).T
    length, width = 0.5 * target_slot.length, 0.5 * target_slot.width
    inside = (along >= -length - AROUND_M) & (along <= length + BEFORE_M) & (np.abs(across) <= width + AROUND_M)
    things = replace(scene.obstacles, speed=np.where(people, math.inf, scene.obstacles.speed))
    return bool(inside.any()) and is_free(
        parked_pose(target_slot, vehicle), replace(scene, obstacles=things), vehicle, 0.0
    )


def stands_in(view: BehaviourView, target_slot: TargetSlot) -> bool:
    """Whether the car is in a slot as PRK-4 wants it: its outline inside, its middle and its heading true."""
    limits, vehicle, pose = view.context.parameters.parking, view.context.vehicle, view.world.ego.pose
    goal = parked_pose(target_slot, vehicle)
    near = elementary.hypot(pose.x - goal.x, pose.y - goal.y) <= limits.position
    aligned = abs(wrap_angle(pose.heading - goal.heading)) <= limits.heading
    corners = np.abs(to_local(vehicle.footprint(pose), target_slot.pose))
    return near and aligned and bool((corners <= (0.5 * target_slot.length, 0.5 * target_slot.width)).all())


def _target_slots(view: BehaviourView, area: ParkingArea) -> Iterator[TargetSlot]:
    """The slots of the map, those of the mission, and those that only perception knows, as far as they may be within
    reach; measured poses go first. One that is reserved is none, unless the mission names it.
    """
    seen, reach = view.world.slots, view.context.parameters.parking.reach + SAME_BAY_M
    places = np.array([(slot.x, slot.y) for slot in seen]).reshape(-1, 2)
    met = set[int]()
    for known in area.slots:
        if _distance(view, known.pose) > reach:
            continue
        target_slot = TargetSlot(f"slot {known.id}", known.pose, known.length, known.width)
        apart = elementwise.hypot(places[:, 0] - known.pose.x, places[:, 1] - known.pose.y)
        nearest = int(np.argmin(apart)) if len(apart) else -1
        if nearest >= 0 and apart[nearest] < SAME_BAY_M:
            met.add(nearest)
            target_slot = _measured(target_slot, seen[nearest])
        if not known.reserved:
            yield target_slot
    for i, slot in enumerate(seen):
        if i not in met and _distance(view, _pose(slot)) <= reach:
            found = _facing_aisle(
                view, area, TargetSlot(f"seen slot {slot.number}", _pose(slot), slot.length, slot.width)
            )
            yield from () if found is None else (found,)
    for i, box in enumerate(_of_mission(view)):
        if _distance(view, box.pose) > reach:
            continue
        given = TargetSlot(f"slot {i + 1} of the mission", box.pose, box.length, box.width)
        if not any(given.is_at(slot.pose.x, slot.pose.y) for slot in area.slots if not slot.reserved):
            found = _facing_aisle(view, area, given)
            yield from () if found is None else (found,)


def _of_mission(view: BehaviourView) -> tuple[MissionSlot, ...]:
    mission = view.memory.mission.mission
    points = () if mission is None else (mission.car_park, mission.goal)
    return tuple(slot for point in points if point is not None for slot in point.slots)


def _measured(target_slot: TargetSlot, slot: PerceivedSlot) -> TargetSlot:
    """A slot of the map as it is seen; which way it opens is the map's to say."""
    turned = abs(wrap_angle(slot.heading - target_slot.pose.heading)) > 0.5 * math.pi
    heading = float(wrap_angle(slot.heading + math.pi)) if turned else slot.heading
    return TargetSlot(target_slot.name, Pose(slot.x, slot.y, heading), slot.length, slot.width)


def _facing_aisle(view: BehaviourView, area: ParkingArea, target_slot: TargetSlot) -> TargetSlot | None:
    """A slot turned so that it opens to an aisle of the area; None where it does not."""
    for turn in (0.0, math.pi):
        heading = float(wrap_angle(target_slot.pose.heading + turn))
        sine, cosine = elementary.sin_cos(heading)
        x = target_slot.pose.x + 0.5 * target_slot.length * cosine
        y = target_slot.pose.y + 0.5 * target_slot.length * sine
        for position in view.context.road_map.positions(x, y, radius=MOUTH_M):
            if area.aisle_at(position.lane, position.s) is not None:
                return target_slot._replace(pose=target_slot.pose._replace(heading=heading))
    return None


def _pose(slot: PerceivedSlot) -> Pose:
    return Pose(slot.x, slot.y, slot.heading)


def _fits(slot: TargetSlot | ParkingSlot, vehicle: Vehicle) -> bool:
    return slot.length >= vehicle.length + LEAST_ROOM_M and slot.width >= vehicle.width + LEAST_ROOM_M


def _touches(view: BehaviourView, target_slot: TargetSlot) -> bool:
    """Whether a part of the car is in a slot."""
    vehicle = view.context.vehicle
    farthest = elementary.hypot(vehicle.front, 0.5 * vehicle.width) + 0.5 * elementary.hypot(
        target_slot.length, target_slot.width
    )
    if _distance(view, target_slot.pose) > farthest:
        return False
    outline = to_local(_filled(vehicle, view.world.ego.pose), target_slot.pose)
    return bool((np.abs(outline) < (0.5 * target_slot.length, 0.5 * target_slot.width)).all(axis=1).any())


def _filled(vehicle: Vehicle, pose: Pose) -> FloatArray:
    """Points (N, 2) all over the car's outline, closer together than a slot is wide."""
    front_left, rear_left, rear_right, _ = vehicle.footprint(pose)
    along, across = np.linspace(0.0, 1.0, 7)[:, None, None], np.linspace(0.0, 1.0, 3)[None, :, None]
    grid = rear_left + along * (front_left - rear_left) + across * (rear_right - rear_left)
    return np.asarray(grid.reshape(-1, 2), dtype=np.float64)
