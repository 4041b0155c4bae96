"""Parking areas: rows of slots across the lanes beside them, and the aisles along and between the rows (NOR-8).

Bays along the kerb, parallel to their lane, are no parking area.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, distance, to_global, to_local, wrap_angle
from tuling_fsm.core.rectangles import clip, outside
from tuling_fsm.map.lanes import Lane, LaneId, LanePosition, ParkingSlot
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.segments import edge_line

MOUTH_M = 3.0
"""A slot opens to a lane whose surface is this near to the middle of its front."""

AISLE_M = 8.0
"""Lanes of that road this near to it belong to the aisle too."""

PARALLEL = math.radians(20.0)
"""A slot turned less than this against its lane lies along it."""

SIDE_M = 0.3
"""The mouth of a slot is this much wider than the slot, to either side."""

LEAST_OPEN_M = 1.0
"""No less than this is open before a slot."""

WIDEST_M = 6.0
"""The edge of an aisle is open for no more than this before a slot, however wide somebody says that it is."""

MARGIN_M = 3.0
"""An aisle reaches this far beyond its first and last slot."""

GAP_M = 80.0
"""Rows with no more than this much lane between them belong together; a dead end no longer than this belongs to its
aisle.
"""

FLAT_M = 1e-9
"""An edge on a side of a slot that turns less than this against it lies along it."""

SAME_PLACE_M = 0.5

SAME_BAY_M = 1.0
"""Slots whose middles are nearer together than this are one."""

MOST_MISSIONS = 8
"""The areas of a map with the slots of no more missions than this are kept."""


class GivenSlot(NamedTuple):
    """A slot that somebody else than the map knows of: the pose of its middle, along it either way, length and width
    (m).
    """

    pose: Pose
    length: float
    width: float


GivenSlots = tuple[GivenSlot, ...]


class Aisle(NamedTuple):
    """A stretch of a lane inside a parking area, `start` to `end` along its centre (m)."""

    lane: LaneId
    start: float
    end: float


@dataclass(frozen=True, eq=False)
class ParkingArea:
    """Slots, and the stretches of lanes from which they are reached, in the order of the map.

    `number` counts the areas of a map. `edges` (M, 4) are the edges of the surface that wheels may touch around the
    aisles, open at the slots and closed at dead ends (m, `map`).
    """

    number: int
    slots: tuple[ParkingSlot, ...]
    aisles: tuple[Aisle, ...]
    edges: FloatArray

    def aisle_at(self, lane: LaneId, s: float) -> Aisle | None:
        """The stretch that holds the place at `s` (m) of a lane."""
        for aisle in self.aisles:
            if aisle.lane == lane and aisle.start - SAME_PLACE_M <= s <= aisle.end + SAME_PLACE_M:
                return aisle
        return None


class ParkingEnd(NamedTuple):
    """The area in which a route ends, and the arc length of the route from which on it runs inside it (m)."""

    area: ParkingArea
    s_from: float


_areas: WeakKeyDictionary[RoadMap, dict[GivenSlots, tuple[ParkingArea, ...]]] = WeakKeyDictionary()
_ends: WeakKeyDictionary[Route, tuple[GivenSlots, ParkingEnd | None]] = WeakKeyDictionary()


def parking_areas(road_map: RoadMap, given: GivenSlots = ()) -> tuple[ParkingArea, ...]:
    """All parking areas of a map and the slots that a mission gives, in the order of their first slots."""
    known = _areas.setdefault(road_map, {})
    if given not in known:
        if len(known) > MOST_MISSIONS:
            known.clear()
        known[given] = tuple(_build(road_map, (*road_map.slots, *given_slots(road_map, given))))
    return known[given]


def parking_end(road_map: RoadMap, route: Route, given: GivenSlots = ()) -> ParkingEnd | None:
    """The parking area in which a route ends, of the map and of what a mission gives; None where it ends elsewhere."""
    known = _ends.get(route)
    if known is None or known[0] != given:
        last = route.lanes[-1]
        found = (area for area in parking_areas(road_map, given) if area.aisle_at(last.lane, last.lane_to) is not None)
        area = next(found, None)
        known = _ends[route] = given, None if area is None else ParkingEnd(area, _entry(area, route))
    return known[1]


def given_slots(road_map: RoadMap, given: Sequence[GivenSlot]) -> tuple[ParkingSlot, ...]:
    """Slots that the map does not have, or keeps for others, turned so that they open to an aisle, numbered after the
    map's own.
    """
    own = [slot.pose for slot in road_map.slots if not slot.reserved]
    new = [(i, box) for i, box in enumerate(given) if all(distance(pose, box.pose[:2]) >= SAME_BAY_M for pose in own)]
    return tuple(_given_slot(road_map, i, box) for i, box in new)


def open_at(road_map: RoadMap, area: ParkingArea, given: GivenSlot) -> FloatArray:
    """The edges around an area, open at one slot more, which the area may not have or have elsewhere."""
    if any(distance(slot.pose, given.pose[:2]) < SIDE_M for slot in area.slots):
        return area.edges
    slot = _given_slot(road_map, 0, given)
    return _opened(area.edges, slot, mouth_depths(road_map, slot))


def mouth_depths(road_map: RoadMap, slot: ParkingSlot) -> tuple[float, float]:
    """How far (m) before a slot, along it, the left and the right end of its mouth are on the surface of its aisle: one
    that is slanted or set back lies some way off. 0 where it opens to no aisle.
    """
    aisle = {position.lane for position in _beside(road_map, slot)}
    left, right = (_depth(road_map, slot, aisle, x, y) for x, y in slot_front(slot, SIDE_M).tolist())
    return left, right


def _depth(road_map: RoadMap, slot: ParkingSlot, aisle: Collection[LaneId], x: float, y: float) -> float:
    near = [each for each in road_map.positions(x, y, radius=MOUTH_M + slot.width) if each.lane in aisle]
    gap, heading = min(((abs(each.offset) - 0.5 * each.width, each.heading) for each in near), default=(0.0, 0.0))
    across = abs(elementary.sin(heading - slot.pose.heading))
    return max(gap / max(across, elementary.sin(PARALLEL)), 0.0)


def slot_front(slot: ParkingSlot, side: float = 0.0, ahead: float = 0.0) -> FloatArray:
    """The left and the right end (2, 2) of a slot's front, `side` m farther out and `ahead` m before it."""
    sine, cosine = elementary.sin_cos(slot.pose.heading)
    along, across = 0.5 * slot.length + ahead, 0.5 * slot.width + side
    middle = np.array((slot.pose.x + along * cosine, slot.pose.y + along * sine))
    left = across * np.array((-sine, cosine))
    return np.stack((middle + left, middle - left))


def opposite(road_map: RoadMap, pose: Pose) -> Pose | None:
    """The place abeam on the nearest lane of the other direction of the road that a pose is on."""
    own = road_map.project(pose.x, pose.y, pose.heading, radius=MOUTH_M)
    if own is None:
        return None
    for found in road_map.positions(pose.x, pose.y, radius=AISLE_M):
        back = abs(wrap_angle(found.heading - own.heading)) > 0.5 * math.pi
        if back and found.lane.road == own.lane.road and found.lane in road_map.graph:
            return road_map.lanes[found.lane].center.at(found.s)
    return None


def _entry(area: ParkingArea, route: Route) -> float:
    """Where the last part of a route begins that runs inside an area."""
    s_from = route.length
    for stretch in reversed(route.lanes):
        aisle = area.aisle_at(stretch.lane, stretch.lane_to)
        if aisle is None:
            break
        if aisle.start > stretch.lane_from + SAME_PLACE_M:
            return max(stretch.s_to - (stretch.lane_to - aisle.start), stretch.s_from)
        s_from = stretch.s_from
    return s_from


@dataclass
class _Stretch:
    """A growing aisle with the slots along it; `group` is the number of the area it is merged into."""

    lane: Lane
    start: float
    end: float
    group: int
    slots: dict[int, ParkingSlot] = field(default_factory=dict)


def _given_slot(road_map: RoadMap, index: int, given: GivenSlot) -> ParkingSlot:
    """A slot that somebody gives, as one of the map."""
    pose, length, width = given
    turned = (pose._replace(heading=float(wrap_angle(pose.heading + turn))) for turn in (0.0, math.pi))
    number, name = len(road_map.slots) + 1 + index, f"{index + 1} of the mission"
    corners = 0.5 * np.array(((length, width), (-length, width), (-length, -width), (length, -width)))
    outline = to_global(corners, pose)
    ways = [ParkingSlot(number, name, "", each, length, width, outline) for each in turned]
    return next((slot for slot in ways if _beside(road_map, slot)), ways[0])


def _build(road_map: RoadMap, known: Sequence[ParkingSlot]) -> Iterator[ParkingArea]:
    stretches = _along_slots(road_map, known)
    for stretch in stretches:
        for other in stretches:
            if stretch.slots.keys() & other.slots.keys():
                _merge(stretches, stretch.group, other.group)
    between = [found for stretch in list(stretches) for found in _lead_on(road_map, stretches, stretch)]
    for stretch in stretches:
        _reach_dead_ends(road_map, stretch)
    groups = dict.fromkeys(stretch.group for stretch in stretches)
    order = {lane_id: i for i, lane_id in enumerate(road_map.lanes)}
    for number, group in enumerate(groups):
        members = [stretch for stretch in stretches if stretch.group == group]
        slots = {n: slot for stretch in members for n, slot in stretch.slots.items()}
        joined = [lane for first, lane in between if first.group == group]
        aisles = _united(members, joined)
        aisles.sort(key=lambda aisle: (order[aisle.lane], aisle.start))
        found = tuple(slots[n] for n in sorted(slots))
        yield ParkingArea(number, found, tuple(aisles), _edges(road_map, found, aisles))


def _united(members: Sequence[_Stretch], joined: Sequence[Lane]) -> list[Aisle]:
    """One aisle a stretch; lanes that only lead from row to row are whole aisles."""
    known = {stretch.lane.id for stretch in members}
    passed = {lane.id: Aisle(lane.id, 0.0, lane.length) for lane in joined if lane.id not in known}
    return [*(Aisle(each.lane.id, each.start, each.end) for each in members), *passed.values()]


def _along_slots(road_map: RoadMap, known: Sequence[ParkingSlot]) -> list[_Stretch]:
    """The stretches of lanes along the slots; those on one lane with a short gap between them are one."""
    spans: dict[LaneId, list[tuple[float, float, ParkingSlot]]] = {}
    for slot in known:
        for position in _beside(road_map, slot):
            reach = 0.5 * slot.width + MARGIN_M
            length = road_map.lanes[position.lane].length
            span = (max(position.s - reach, 0.0), min(position.s + reach, length), slot)
            spans.setdefault(position.lane, []).append(span)
    found: list[_Stretch] = []
    for lane_id, entries in spans.items():
        for i, (start, end, slot) in enumerate(sorted(entries, key=lambda entry: entry[:2])):
            if i == 0 or start - found[-1].end > GAP_M:
                found.append(_Stretch(road_map.lanes[lane_id], start, end, len(found)))
            found[-1].end = max(found[-1].end, end)
            found[-1].slots[slot.number] = slot
    return found


def _beside(road_map: RoadMap, slot: ParkingSlot) -> list[LanePosition]:
    """The lanes of the aisle that a slot opens to; none where it lies along its lane."""
    sine, cosine = elementary.sin_cos(slot.pose.heading)
    x = slot.pose.x + 0.5 * slot.length * cosine
    y = slot.pose.y + 0.5 * slot.length * sine
    near = [each for each in road_map.positions(x, y, radius=MOUTH_M) if each.lane in road_map.graph]
    if not near or abs(elementary.cos(near[0].heading - slot.pose.heading)) > elementary.cos(PARALLEL):
        return []
    around = road_map.positions(x, y, radius=AISLE_M)
    return [each for each in around if each.lane.road == near[0].lane.road and each.lane in road_map.graph]


def _merge(stretches: Sequence[_Stretch], one: int, other: int) -> None:
    for stretch in stretches:
        if stretch.group == max(one, other):
            stretch.group = min(one, other)


def _lead_on(road_map: RoadMap, stretches: Sequence[_Stretch], begin: _Stretch) -> Iterator[tuple[_Stretch, Lane]]:
    """Merge a stretch with all that its lane leads to within `GAP_M`; gives the lanes that are passed on the way."""
    left = GAP_M - (begin.lane.length - begin.end)
    ways: list[tuple[float, tuple[LaneId, ...]]] = [(left, (n,)) for n in road_map.graph.successors[begin.lane.id]]
    while ways:
        left, way = ways.pop(0)
        if left < 0.0:
            continue
        lane = road_map.lanes[way[-1]]
        target = min((s for s in stretches if s.lane is lane), key=lambda s: s.start, default=None)
        if target is None:
            onward = road_map.graph.successors[lane.id]
            ways += [(left - lane.length, (*way, n)) for n in onward if n not in way]
        elif target.start <= left and target is not begin:
            _merge(stretches, begin.group, target.group)
            begin.end, target.start = begin.lane.length, 0.0
            yield from ((begin, road_map.lanes[n]) for n in way[:-1])


def _reach_dead_ends(road_map: RoadMap, stretch: _Stretch) -> None:
    lane = stretch.lane
    if not road_map.graph.successors[lane.id] and lane.length - stretch.end <= GAP_M:
        stretch.end = lane.length
    if not any(n in road_map.graph for n in lane.predecessors) and stretch.start <= GAP_M:
        stretch.start = 0.0


def _edges(road_map: RoadMap, slots: Sequence[ParkingSlot], aisles: Sequence[Aisle]) -> FloatArray:
    """Edges of the surface around an area without what lies across the slots, with caps at dead ends."""
    centres = np.array([road_map.lanes[aisle.lane].center.at(s)[:2] for aisle in aisles for s in aisle[1:]])
    middle = 0.5 * (centres.min(axis=0) + centres.max(axis=0))
    radius = float(elementwise.hypot(*(centres - middle).T).max()) + GAP_M
    edges = road_map.boundary_segments(float(middle[0]), float(middle[1]), radius)
    for slot in slots:
        edges = _opened(edges, slot, mouth_depths(road_map, slot))
    return np.vstack((edges, *(_caps(road_map, aisle) for aisle in aisles)))


def _opened(edges: FloatArray, slot: ParkingSlot, depths: tuple[float, float]) -> FloatArray:
    """Edges without their parts in a slot and before it, as far as its aisle, which begins `depths` m before the left
    and the right end of its mouth. What lies well beyond that is the other side of the aisle, and stays.
    """
    half = 0.5 * min(slot.width, WIDEST_M) + SIDE_M
    front = 0.5 * slot.length + max(max(depths) + SIDE_M, LEAST_OPEN_M)
    enter, leave = clip(edges, slot.pose, (-0.5 * slot.length, front, -half, half), FLAT_M)
    middle = edges[:, :2] + 0.5 * (enter + leave)[:, None] * (edges[:, 2:] - edges[:, :2])
    along, across = to_local(middle, slot.pose).T
    aisle = 0.5 * slot.length + np.interp(across, (-half, half), depths[::-1])
    hit = (enter < leave) & (along <= aisle + LEAST_OPEN_M)
    return np.concatenate((edges[~hit], outside(edges[hit], enter[hit], leave[hit])))


def _caps(road_map: RoadMap, aisle: Aisle) -> FloatArray:
    """Segments across the lane where it is a dead end."""
    lane = road_map.lanes[aisle.lane]
    left, right = edge_line(lane, True), edge_line(lane, False)
    rows = []
    if not any(n in road_map.graph for n in lane.predecessors):
        rows.append((*left[0], *right[0]))
    if not road_map.graph.successors.get(lane.id):
        rows.append((*left[-1], *right[-1]))
    return np.array(rows, dtype=np.float64).reshape(-1, 4)
