"""Which slots there are, which of them are free, and how the car stands in one (PRK-1, PRK-4)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from operator import itemgetter

import numpy as np

from tuling_fsm.behaviour.conduct import View
from tuling_fsm.behaviour.parking.memory import SAME_BAY_M, Bay
from tuling_fsm.behaviour.places import is_free
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose, to_local, wrap_angle
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.parking import MOUTH_M, ParkingArea
from tuling_fsm.world.mission import Slot
from tuling_fsm.world.perceived import PerceivedSlot

LEAST_ROOM_M = 0.1
"""A slot is this much longer and wider than the car, or none."""


def parked_pose(bay: Bay, vehicle: Vehicle) -> Pose:
    """The rear axle's pose with the car's outline in the middle of a slot, facing out."""
    behind = 0.5 * (vehicle.front - vehicle.rear_overhang)
    heading = bay.pose.heading
    return Pose(bay.pose.x - behind * elementary.cos(heading), bay.pose.y - behind * elementary.sin(heading), heading)


def free_bays(view: View, area: ParkingArea) -> Iterator[Bay]:
    """Free slots of an area within reach of the car, nearest first."""
    reach = view.site.parameters.parking.reach
    known = [(_distance(view, bay.pose), bay) for bay in _bays(view, area)]
    known = sorted((item for item in known if item[0] <= reach), key=itemgetter(0))
    return (bay for _, bay in known if _fits(bay, view.site.vehicle) and not is_taken(view, bay))


def _distance(view: View, place: Pose) -> float:
    """From the car's rear axle, m."""
    pose = view.world.ego.pose
    return elementary.hypot(place.x - pose.x, place.y - pose.y)


def is_taken(view: View, bay: Bay) -> bool:
    """Whether a slot is seen occupied, or something stands where the car would.

    What perception says of the slot does not count while the car itself is in it.
    """
    seen = next((slot for slot in view.world.slots if bay.is_at(slot.x, slot.y)), None)
    if seen is not None and seen.occupied and not _touches(view, bay):
        return True
    return not is_free(parked_pose(bay, view.site.vehicle), view.world.scene, view.site.vehicle, 0.0)


def stands_in(view: View, bay: Bay) -> bool:
    """Whether the car is in a slot as PRK-4 wants it: its outline inside, its middle and its heading true."""
    limits, vehicle, pose = view.site.parameters.parking, view.site.vehicle, view.world.ego.pose
    goal = parked_pose(bay, vehicle)
    near = elementary.hypot(pose.x - goal.x, pose.y - goal.y) <= limits.position
    aligned = abs(wrap_angle(pose.heading - goal.heading)) <= limits.heading
    corners = np.abs(to_local(vehicle.footprint(pose), bay.pose))
    return near and aligned and bool((corners <= (0.5 * bay.length, 0.5 * bay.width)).all())


def _bays(view: View, area: ParkingArea) -> Iterator[Bay]:
    """The slots of the map, those of the mission, and those that only perception knows, as far as they may be within
    reach; measured poses go first.
    """
    seen, reach = view.world.slots, view.site.parameters.parking.reach + SAME_BAY_M
    places = np.array([(slot.x, slot.y) for slot in seen]).reshape(-1, 2)
    met = set[int]()
    for known in area.slots:
        if _distance(view, known.pose) > reach:
            continue
        bay = Bay(f"slot {known.id}", known.pose, known.length, known.width)
        apart = elementwise.hypot(places[:, 0] - known.pose.x, places[:, 1] - known.pose.y)
        nearest = int(np.argmin(apart)) if len(apart) else -1
        if nearest >= 0 and apart[nearest] < SAME_BAY_M:
            met.add(nearest)
            bay = _measured(bay, seen[nearest])
        yield bay
    for i, slot in enumerate(seen):
        if i not in met and _distance(view, _pose(slot)) <= reach:
            found = _facing_aisle(view, area, Bay(f"seen slot {slot.number}", _pose(slot), slot.length, slot.width))
            yield from () if found is None else (found,)
    for i, box in enumerate(_of_mission(view)):
        given = Bay(f"slot {i + 1} of the mission", box.pose, box.length, box.width)
        if not any(given.is_at(slot.pose.x, slot.pose.y) for slot in area.slots):
            found = _facing_aisle(view, area, given)
            yield from () if found is None else (found,)


def _of_mission(view: View) -> tuple[Slot, ...]:
    mission = view.world.mission
    points = () if mission is None else (mission.car_park, mission.goal)
    return tuple(slot for point in points if point is not None for slot in point.slots)


def _measured(bay: Bay, slot: PerceivedSlot) -> Bay:
    """A slot of the map as it is seen; which way it opens is the map's to say."""
    turned = abs(wrap_angle(slot.heading - bay.pose.heading)) > 0.5 * math.pi
    heading = float(wrap_angle(slot.heading + math.pi)) if turned else slot.heading
    return Bay(bay.name, Pose(slot.x, slot.y, heading), slot.length, slot.width)


def _facing_aisle(view: View, area: ParkingArea, bay: Bay) -> Bay | None:
    """A slot turned so that it opens to an aisle of the area; None where it does not."""
    for turn in (0.0, math.pi):
        heading = float(wrap_angle(bay.pose.heading + turn))
        x = bay.pose.x + 0.5 * bay.length * elementary.cos(heading)
        y = bay.pose.y + 0.5 * bay.length * elementary.sin(heading)
        for position in view.site.road_map.positions(x, y, radius=MOUTH_M):
            if area.aisle_at(position.lane, position.s) is not None:
                return bay._replace(pose=bay.pose._replace(heading=heading))
    return None


def _pose(slot: PerceivedSlot) -> Pose:
    return Pose(slot.x, slot.y, slot.heading)


def _fits(bay: Bay, vehicle: Vehicle) -> bool:
    return bay.length >= vehicle.length + LEAST_ROOM_M and bay.width >= vehicle.width + LEAST_ROOM_M


def _touches(view: View, bay: Bay) -> bool:
    """Whether a part of the car is in a slot."""
    vehicle = view.site.vehicle
    farthest = elementary.hypot(vehicle.front, 0.5 * vehicle.width) + 0.5 * elementary.hypot(bay.length, bay.width)
    if _distance(view, bay.pose) > farthest:
        return False
    outline = to_local(_filled(vehicle, view.world.ego.pose), bay.pose)
    return bool((np.abs(outline) < (0.5 * bay.length, 0.5 * bay.width)).all(axis=1).any())


def _filled(vehicle: Vehicle, pose: Pose) -> FloatArray:
    """Points (N, 2) all over the car's outline, closer together than a slot is wide."""
    front_left, rear_left, rear_right, _ = vehicle.footprint(pose)
    along, across = np.linspace(0.0, 1.0, 7)[:, None, None], np.linspace(0.0, 1.0, 3)[None, :, None]
    grid = rear_left + along * (front_left - rear_left) + across * (rear_right - rear_left)
    return np.asarray(grid.reshape(-1, 2), dtype=np.float64)
