"""Objects beside and on the road: crosswalks, parking spaces, painted stop lines, and what stands in the way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.map.lanes import DRIVING, Crosswalk, Lane, LaneId, ParkingSlot, StaticObject
from tuling_fsm.map.opendrive.document import Element, number
from tuling_fsm.map.opendrive.outline import outlines
from tuling_fsm.map.opendrive.road import Road
from tuling_fsm.map.opendrive.signals import LINE
from tuling_fsm.map.opendrive.stop_lines import StopPlace
from tuling_fsm.map.polygon import inside, slot_box
from tuling_fsm.map.surface import SurfaceIndex

SOLID = frozenset(
    {
        "barrier", "building", "bike", "bus", "car", "cone", "guardRail", "guide-post", "motorbike", "obstacle",
        "parkingMeter", "pole", "rail-pole", "railing", "soundBarrier", "streetLamp", "streetlamp", "trafficIsland",
        "trailer", "train", "tram", "tree", "van", "vegetation", "wall",
    }
)  # fmt: skip
"""Object types that nothing may touch."""

ACROSS = np.array((-0.8, -0.4, 0.0, 0.4, 0.8))
"""Where across a lane it is looked whether an area covers it, in half widths."""

OVERHEAD_M = 3.0
"""What begins higher than this above the road is driven under, m."""


@dataclass(frozen=True)
class RoadObjects:
    """Everything read from `<objects>`."""

    crosswalks: list[Crosswalk] = field(default_factory=list)
    slots: list[ParkingSlot] = field(default_factory=list)
    others: list[StaticObject] = field(default_factory=list)
    painted_stops: list[StopPlace] = field(default_factory=list)


def read_objects(roads: Mapping[str, Road], lanes: Mapping[LaneId, Lane], index: SurfaceIndex) -> RoadObjects:
    """All objects of all roads; lanes they lie on are found with the index of all lanes (in the order of `lanes`)."""
    found = RoadObjects()
    order = list(lanes.values())
    for road in roads.values():
        for element in road.element.findall("objects/object"):
            for outline in outlines(element, road):
                _sort_in(found, element, road, outline, order, index)
    return found


def _sort_in(
    found: RoadObjects, element: Element, road: Road, outline: FloatArray, lanes: list[Lane], index: SurfaceIndex
) -> None:
    type_, name, object_id = element.get("type", ""), element.get("name", ""), element.get("id", "")
    if type_ == "crosswalk":
        found.crosswalks.append(Crosswalk(object_id, road.id, outline, tuple(_stretches(outline, lanes, index))))
    elif type_ == "parkingSpace":
        found.slots.append(_slot(len(found.slots) + 1, object_id, road.id, outline, lanes, index))
    elif "stopline" in (type_ + name + element.get("subtype", "")).replace("_", "").replace(" ", "").lower():
        found.painted_stops.extend(_painted(outline, lanes, index))
    else:
        solid = type_ in SOLID and _underside(element) < OVERHEAD_M
        found.others.append(StaticObject(object_id, type_, name, road.id, outline, solid))


def _underside(element: Element) -> float:
    """Height above the road of the lowest part, m: a `<repeat>` overrides the object's own."""
    own = number(element, "zOffset", 0.0)
    ends = [number(r, name, own) for r in element.findall("repeat") for name in ("zOffsetStart", "zOffsetEnd")]
    return min(ends, default=own)


def _near(outline: FloatArray, lanes: list[Lane], index: SurfaceIndex, radius: float = 0.5) -> list[Lane]:
    """Driving lanes within `radius` of the corners, the middles of the edges or the centre of an outline."""
    points = np.vstack((outline, 0.5 * (outline + np.roll(outline, 1, axis=0)), outline.mean(axis=0)))
    mask = np.array([lane.type == DRIVING for lane in lanes], dtype=np.bool_)
    reach = radius + 0.5 * float(np.max(elementwise.hypot(*np.diff(points, axis=0).T), initial=0.0))
    hits = [index.search(float(x), float(y), reach, mask)[1] for x, y in points]
    return [lanes[i] for i in sorted({int(i) for hit in hits for i in hit})]


def _stretches(outline: FloatArray, lanes: list[Lane], index: SurfaceIndex) -> list[tuple[LaneId, float, float]]:
    """Every driving lane that an area lies on, with the stretch that it covers of it (m)."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    found = []
    for lane in _near(outline, lanes, index):
        reach = lane.left + lane.right
        xy = lane.center.xy
        near = np.flatnonzero(((xy >= low - reach[:, None]) & (xy <= high + reach[:, None])).all(axis=1))
        heading = lane.center.heading[near]
        normal = np.column_stack((-elementwise.sin(heading), elementwise.cos(heading)))
        across = ACROSS[:, None, None] * (0.5 * reach[near, None] * normal)[None] + xy[near][None]
        covered = near[inside(outline, across.reshape(-1, 2)).reshape(len(ACROSS), -1).any(axis=0)]
        if len(covered):
            first, last = lane.center.s[covered[0]], lane.center.s[covered[-1]]
            found.append((lane.id, max(float(first) - 0.25, 0.0), min(float(last) + 0.25, lane.length)))
    return found


def _slot(
    slot: int, object_id: str, road: str, outline: FloatArray, lanes: list[Lane], index: SurfaceIndex
) -> ParkingSlot:
    """A parking space, facing the lane that it is reached from, or along that lane's traffic where it lies beside
    it.
    """
    pose, length, width = slot_box(outline)
    mask = np.array([lane.type == DRIVING for lane in lanes], dtype=np.bool_)
    rows, _ = index.search(pose.x, pose.y, 15.0, mask)
    if len(rows):
        aside = rows[rows[:, 2] > 0.1]  # a bay may be a lane of its own under the slots
        rows = aside if len(aside) else rows
        nearest = rows[np.argmin(rows[:, 2])]
        offset, traffic = float(nearest[1]), float(nearest[4])
        toward = traffic - math.copysign(0.5 * math.pi, offset)
        along = abs(elementary.cos(traffic - pose.heading)) > elementary.cos(math.radians(20.0))
        if abs(wrap_angle(pose.heading - (traffic if along else toward))) > 0.5 * math.pi:
            pose = Pose(pose.x, pose.y, float(wrap_angle(pose.heading + math.pi)))
    return ParkingSlot(slot, object_id, road, pose, length, width, outline)


def _painted(outline: FloatArray, lanes: list[Lane], index: SurfaceIndex) -> list[StopPlace]:
    """The lanes whose centre a painted line crosses; inside a junction, the lanes that lead there."""
    gaps = elementwise.hypot(*(outline[:, None] - outline[None, :]).transpose(2, 0, 1))
    a, b = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    mask = np.array([lane.type == DRIVING for lane in lanes], dtype=np.bool_)
    crossed: dict[LaneId, tuple[float, float]] = {}
    for share in np.linspace(0.0, 1.0, max(2, int(float(gaps[a, b]) / 0.25) + 1)):
        x, y = outline[a] + share * (outline[b] - outline[a])
        rows, which = index.search(float(x), float(y), 0.0, mask)
        for (s, offset, *_), i in zip(rows.tolist(), which.tolist(), strict=True):
            if abs(offset) < min(0.3, crossed.get(lanes[i].id, (0.3, 0.0))[0]):
                crossed[lanes[i].id] = (abs(offset), s)
    by_id = {lane.id: lane for lane in lanes if lane.id in crossed}
    outside = [StopPlace(n, crossed[n][1], LINE, -1) for n, lane in by_id.items() if lane.junction is None]
    if outside:
        return outside
    return [
        StopPlace(n, math.inf, LINE, -1) for n in dict.fromkeys(p for lane in by_id.values() for p in lane.predecessors)
    ]
