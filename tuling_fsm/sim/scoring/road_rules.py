"""What the rules of the road say of a footprint: on the road, over a line, too fast, the wrong way, on
the lanes of its route.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from shapely import MultiPolygon, STRtree, points
from shapely.geometry import Polygon

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance, shifted, wrap_angle
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import DRIVING, SURFACE, Lane, LaneId, LaneMark, LanePosition, MarkKind, ParkingSlot
from tuling_fsm.map.parking import SIDE_M, mouth_depths, slot_front
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.agent_tracks import GRADE
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M
from tuling_fsm.sim.scoring.lane_walk import lanes_before, lanes_onward

ON_SURFACE = tuple(sorted(SURFACE))
WRONG_WAY = math.radians(120.0)
ALONG_CONNECTING = math.radians(30.0)
"""In a junction a car turned by no more than this from a lane, or from its opposite, drives on it, and not across."""
PARKING = "parking"
FOR_OTHERS = tuple(sorted(SURFACE - {DRIVING, PARKING}))
"""Lanes that belong to a road as its driving lanes do: the direction of its traffic holds on them, and its limit, which
holds on its parking strips too.
"""
REVERSING = 2.0
"""Reversing faster than this is driving against the traffic: nuPlan's 2 m within a second, m/s."""

CORNER_M, CORNER_BESIDE_M = 15.0, 1.5
"""A corner is no farther along the lane from the middle of the car, and is looked for so far beside a lane, m."""
JUMP_M = 10.0
"""A car that is farther from where it was a frame before was put there, m."""


class LineCrossing(NamedTuple):
    """A marking that may not be crossed, and how far the footprint is over it (m)."""

    kind: MarkKind
    depth: float


class RoadRules:
    """Questions about one car on one map, with parking slots (`more_slots`) that the map does not have."""

    def __init__(self, road_map: RoadMap, vehicle: Vehicle, more_slots: Sequence[ParkingSlot] = ()) -> None:
        self._map = road_map
        self._vehicle = vehicle
        self.slots = (*road_map.slots, *more_slots)
        slots = [Polygon(slot.outline) for slot in self.slots]
        self._slots = STRtree([slot if slot.is_valid else MultiPolygon() for slot in slots]) if slots else None
        self._mouths = STRtree([_mouth(road_map, slot) for slot in self.slots])

    def lane(self, pose: Pose, z: float = math.nan, types: tuple[str, ...] = (DRIVING,)) -> LanePosition | None:
        """The lane of these types under the middle of the car, the one it follows where several overlap, at its height
        `z` (m, NaN: unknown) if there is one.
        """
        centre = shifted(pose, center_ahead(self._vehicle))
        return self._map.project(centre.x, centre.y, centre.heading, None if math.isnan(z) else z, types)

    def lane_beside(self, pose: Pose, z: float, types: tuple[str, ...] = FOR_OTHERS) -> LanePosition | None:
        """The driving lane next to a lane of these types (a bus lane, a shoulder) that the middle of the car is on at
        its height `z` (m, NaN: unknown): of its direction, or else of its road.
        """
        at = self.lane(pose, z, types)
        if at is None or abs(self._map.lanes[at.lane].height(at.s) - z) > SAME_LEVEL_M:
            return None
        side = math.copysign(1, at.lane.lane)
        section = [lane.id for lane in self._map.lanes_beside(at.lane) if lane.type == DRIVING]
        if not section:
            return None
        nearest = min(section, key=lambda lane: (side * lane.lane < 0.0, abs(lane.lane - at.lane.lane)))
        lane, middle = self._map.lanes[nearest], shifted(pose, center_ahead(self._vehicle))
        place = lane.center.project(middle.x, middle.y)
        width = float(np.interp(place.s, lane.center.s, lane.left + lane.right))
        return LanePosition(nearest, place.s, place.offset, width, wrap_angle(place.heading))

    def off_road(self, corners: FloatArray, margin: float) -> bool:
        """Whether a corner (4, 2) lies more than `margin` m outside every surface that wheels may touch."""
        for x, y in corners.tolist():
            if not (self._map.positions(x, y, margin, ON_SURFACE) or self._at_slot(x, y, margin)):
                return True
        return False

    def _at_slot(self, x: float, y: float, margin: float) -> bool:
        """Whether a place lies in a slot or between one and its aisle, or within `margin` m of that."""
        return self._in_slot(x, y, margin) or len(self._mouths.query(points(x, y), "dwithin", margin)) > 0

    def _in_slot(self, x: float, y: float, margin: float) -> bool:
        return self._slots is not None and len(self._slots.query(points(x, y), "dwithin", margin)) > 0

    def in_slot(self, middle: Pose) -> bool:
        """Whether the middle of the car is in a parking slot."""
        return self._in_slot(middle.x, middle.y, 0.0)

    def inside_one_lane(self, corners: FloatArray) -> bool:
        """Whether some lane, with what follows it, holds all corners (4, 2)."""
        return inside_one_lane(self._map, corners)

    def outside_route(self, middle: Pose, position: LanePosition | None, route_lanes: frozenset[LaneId]) -> bool:
        """Whether the middle of the car is on neither a driving nor a parking lane, or on one that is neither of its
        route, if it has one, nor beside such a one or right before or after it; ways through junctions are not looked
        at.
        """
        if position is None:
            return not self._map.positions(middle.x, middle.y, 0.0, (PARKING,)) and not self._at_slot(
                middle.x, middle.y, 0.0
            )
        if not route_lanes or self._map.lanes[position.lane].junction is not None:
            return False
        beside = self._map.same_direction(position.lane)
        joined = (
            n for lane in beside for n in (*self._map.lanes[lane].successors, *self._map.lanes[lane].predecessors)
        )
        return route_lanes.isdisjoint((*beside, *joined))

    def lanes_touched(self, corners: FloatArray) -> set[LaneId]:
        """Driving lanes under the corners (4, 2)."""
        return {p.lane for x, y in corners.tolist() for p in self._map.positions(x, y)}

    def overrun(self, corners: FloatArray, position: LanePosition, heading: float) -> LineCrossing | None:
        """The line beside the lane at `position` that the footprint, turned to `heading` (rad), is over the most; None
        in a junction or inside the lane.
        """
        lane = self._map.lanes[position.lane]
        if lane.junction is not None or self._well_inside(lane, position, heading):
            return None
        over: list[LineCrossing] = []
        for x, y in corners.tolist():
            found = lane.center.project(x, y, position.s - CORNER_M, position.s + CORNER_M)
            if 0.0 < found.s < lane.length:
                over += _over(lane, found.s, found.offset)
            else:
                # Where the road forks a corner is on the way that it is over the least.
                places = [
                    (self._map.lanes[each.lane], each)
                    for each in self._map.positions(x, y, CORNER_BESIDE_M)
                    if each.lane in self._joined(position)
                ]
                options = [_over(each, place.s, place.offset) for each, place in places if each.junction is None]
                over += min(options, key=lambda one: max((each.depth for each in one), default=0.0), default=[])
        return max(over, key=lambda each: each.depth, default=None)

    def _joined(self, position: LanePosition) -> set[LaneId]:
        """Lanes that lead to or on from the one at a position, as far as corners reach."""
        before = lanes_before(self._map, position.lane, CORNER_M - position.s)
        return {*before, *lanes_onward(self._map, position.lane, position.s, CORNER_M)}

    def _well_inside(self, lane: Lane, position: LanePosition, heading: float) -> bool:
        """Whether the footprint is inside the lane for sure, so that nothing has to be measured."""
        turned = abs(wrap_angle(heading - position.heading))
        sine, cosine = elementary.sin_cos(turned)
        half = 0.5 * self._vehicle.width * cosine + 0.5 * self._vehicle.length * sine
        i = min(int(np.searchsorted(lane.center.s, position.s)), len(lane.center.s) - 1)
        room = min(lane.left[i] - position.offset, lane.right[i] + position.offset)
        return turned < 0.3 and bool(half + 0.2 < room)

    def before_junction(self, position: LanePosition, ahead: float) -> bool:
        """Whether a junction begins within `ahead` m along the lane."""
        lane = self._map.lanes[position.lane]
        onward = lanes_onward(self._map, position.lane, position.s, ahead)
        return lane.junction is None and any(self._map.lanes[each].junction is not None for each in onward)

    def limit(self, position: LanePosition) -> float:
        """Speed limit of a lane, m/s."""
        return self._map.lanes[position.lane].limit

    def goes_against(self, position: LanePosition, heading: float, v: float) -> bool:
        """Whether a car with a heading (rad) that moves at `v` (m/s) goes against the traffic of its lane; in reverse
        once it is faster than one that makes room. In a junction all lanes there along which it drives have to say so.
        """
        lane = self._map.lanes[position.lane]
        if lane.type != DRIVING or -REVERSING <= v < 0.0:
            return False
        way = heading if v >= 0.0 else heading + math.pi
        if lane.junction is None:
            return abs(wrap_angle(way - position.heading)) > WRONG_WAY
        middle = lane.center.at(position.s)
        x, y, _ = shifted(Pose(middle.x, middle.y, position.heading + 0.5 * math.pi), position.offset)
        turned = [abs(wrap_angle(way - each.heading)) for each in self._map.positions(x, y)]
        along = [each for each in turned if min(each, math.pi - each) < ALONG_CONNECTING]
        return bool(along) and min(along) > WRONG_WAY

    def may_overtake(self, position: LanePosition) -> bool:
        """Whether the lane is the one of the other direction, beyond a line that may be crossed."""
        lane = self._map.lanes[position.lane]
        inward = lane.right_neighbour if self._map.left_hand else lane.left_neighbour
        mark = _mark_at(lane.right_marks if self._map.left_hand else lane.left_marks, position.s)
        return inward is None and mark is not None and mark.crossable


def _mouth(road_map: RoadMap, slot: ParkingSlot) -> Polygon:
    """The ground between a slot and its aisle."""
    left, right = mouth_depths(road_map, slot)
    far = slot_front(slot, SIDE_M, right)[1], slot_front(slot, SIDE_M, left)[0]
    return Polygon((*slot_front(slot, SIDE_M), *far)) if max(left, right) > 0.0 else Polygon()


def inside_one_lane(road_map: RoadMap, corners: FloatArray) -> bool:
    """Whether some lane, with what follows it, holds all corners (4, 2): nuPlan's opposite of several lanes."""
    under = [{p.lane for p in road_map.positions(x, y)} for x, y in corners.tolist()]
    reach = distance(*corners[[0, 2]].tolist())
    ways = (
        {lane, *lanes_onward(road_map, lane, road_map.lanes[lane].length, reach)}
        for lane in set[LaneId]().union(*under)
    )
    return any(all(lanes & way for lanes in under) for way in ways)


def _over(lane: Lane, s: float, offset: float) -> list[LineCrossing]:
    """The markings that may not be crossed beyond which a place beside the centre of a lane is (m)."""
    left, right = (float(np.interp(s, lane.center.s, edge)) for edge in (lane.left, lane.right))
    sides = ((offset - left, _mark_at(lane.left_marks, s)), (-offset - right, _mark_at(lane.right_marks, s)))
    return [
        LineCrossing(mark.kind, depth)
        for depth, mark in sides
        if depth > 0.0 and mark is not None and not mark.crossable and mark.kind is not MarkKind.VIRTUAL
    ]


def _mark_at(marks: tuple[LaneMark, ...], s: float) -> LaneMark | None:
    return next((mark for mark in marks if mark.s_from <= s <= mark.s_to), None)


class Ground(NamedTuple):
    """The driving lane under the middle of the car, None beside them; the height there (m), off all surfaces that of
    the last one, NaN where there was none; the junction lanes under the footprint; the pose of the rear axle, and how
    far the car has come since its height was known (m).
    """

    position: LanePosition | None
    z: float
    junction_lanes: tuple[LaneId, ...]
    pose: Pose
    since: float = 0.0


def ground_under(
    road_map: RoadMap, rules: RoadRules, vehicle: Vehicle, pose: Pose, before: Ground | None = None
) -> Ground:
    """What is below a car at a pose of its rear axle; what was below it `before` tells the levels of a bridge apart."""
    z, since = level_before(pose, before)
    for types in ((DRIVING,), ON_SURFACE):
        position = rules.lane(pose, z, types)
        height = z if position is None else road_map.lanes[position.lane].height(position.s)
        if position is None or abs(height - z) > SAME_LEVEL_M + GRADE * since:
            continue
        if types == ON_SURFACE:
            return Ground(None, height, (), pose)
        if road_map.lanes[position.lane].junction is None:
            return Ground(position, height, (), pose)
        touched = sorted(rules.lanes_touched(vehicle.footprint(pose)))
        inside = tuple(lane for lane in touched if road_map.lanes[lane].junction is not None)
        return Ground(position, height, inside, pose)
    return Ground(None, z, (), pose, since)


def level_before(pose: Pose, before: Ground | None) -> tuple[float, float]:
    """The height of a car that has come on from where it was (m, NaN: unknown), and how far since it was known (m)."""
    moved = math.inf if before is None else distance(before.pose[:2], pose[:2])
    return (math.nan, 0.0) if before is None or moved > JUMP_M else (before.z, before.since + moved)
