"""Objects beside and on the road: crosswalks, parking spaces, painted stop lines, and what stands in the way."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.records import replace
from tuling_fsm.map.connecting import entries
from tuling_fsm.map.lanes import DRIVING, Crosswalk, Lane, LaneId, ParkingSlot, StaticObject
from tuling_fsm.map.opendrive.crossings import junction_frame, path_outline
from tuling_fsm.map.opendrive.document import Element, examples, number, where
from tuling_fsm.map.opendrive.outline import Outline, outlines
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

FOR_CARS = frozenset({"", "all", "car"})
"""Who may use a parking space (`access`) in which the car may park, too."""

ACROSS = np.array((-0.8, -0.4, 0.0, 0.4, 0.8))
"""Where across a lane it is looked whether an area covers it, in half widths."""

OVERHEAD_M = 3.0
"""What begins higher than this above the road is driven under, m."""

UNDER_THE_CAR_M = 0.15
"""What is no higher than this passes under the body of a car, m: wheel stops are 0.10 to 0.13 m high."""

LEVEL_M = 3.0
"""A lane this much higher or lower than an object stands is on another level, as on a bridge, m."""

NEARBY_M = 15.0
"""How far from its middle the lanes that an object belongs to are looked for, m."""


@dataclass(frozen=True)
class RoadObjects:
    """Everything read from `<objects>`."""

    crosswalks: list[Crosswalk] = field(default_factory=list)
    slots: list[ParkingSlot] = field(default_factory=list)
    others: list[StaticObject] = field(default_factory=list)
    painted_stops: dict[str, list[StopPlace]] = field(default_factory=dict)
    """By the id of the object."""
    levels: list[float] = field(default_factory=list)
    """How high the lanes are that each slot belongs to, m."""
    low: dict[int, float] = field(default_factory=dict)
    """The same of what passes under a car, by its place in `others`."""
    unreadable: list[InputError] = field(default_factory=list)
    """Of those that are left out."""


@dataclass(frozen=True, eq=False)
class _Level:
    """The lanes (in the order of the index) that are about as high as an object: at `height` (m)."""

    lanes: list[Lane]
    driving: BoolArray
    index: SurfaceIndex
    height: float

    def of_lanes(self, outline: FloatArray) -> _Level:
        """The nearest one that lanes near an outline are on: not every object is written at the right station."""
        x, y = outline.mean(axis=0).tolist()
        z = self.index.search(x, y, NEARBY_M, self.driving)[0][:, 5]
        return replace(self, height=float(z[np.argmin(np.abs(z - self.height))])) if len(z) else self

    def search(self, x: float, y: float, radius: float) -> tuple[FloatArray, list[Lane]]:
        """Rows of `SurfaceIndex.search` of the driving lanes on this level, and these lanes."""
        rows, which = self.index.search(x, y, radius, self.driving)
        here = self.holds(rows[:, 5])
        return rows[here], [self.lanes[i] for i in which[here]]

    def holds(self, z: FloatArray) -> BoolArray:
        """What heights (m) are those of this level."""
        return np.asarray(np.abs(z - self.height) <= LEVEL_M, dtype=np.bool_)


def read_objects(
    roads: Mapping[str, Road],
    junctions: Iterable[Element],
    lanes: Mapping[LaneId, Lane],
    index: SurfaceIndex,
    stop_lines: Collection[str],
    warnings: list[str],
) -> RoadObjects:
    """All objects of all roads and junctions.

    Args:
        roads: of the map.
        junctions: as they are written.
        lanes: of the map.
        index: of all lanes in the order of `lanes`, to find those that an object lies on.
        stop_lines: ids of objects that signals call their stop line, whatever these are called themselves.
        warnings: where what cannot be read is told of.

    Raises:
        InputError: a crosswalk or a stop line cannot be read.
    """
    found = RoadObjects()
    order = list(lanes.values())
    level = _Level(order, np.array([lane.type == DRIVING for lane in order], dtype=np.bool_), index, 0.0)
    for road in roads.values():
        for element in road.element.findall("objects/object"):
            for placed in _outlines(found, element, road, stop_lines):
                height = float(road.elevation(np.clip([placed.station], 0.0, road.length))[0][0])
                around = replace(level, height=height).of_lanes(placed.corners)
                _sort_in(found, element, road, placed, around, stop_lines)
            if users := _reserved_for(element):
                space = f"parking space {element.get('id', '')} is for {users!r}"
                warnings.append(f"{where(element)}: {space}; it is taken only where a mission names it")
    for junction in junctions:
        _read_in_junction(found, junction, lanes, level, stop_lines, warnings)
        for path in junction.findall("crossPath"):
            _read_path(found, path, roads, lanes, level, warnings)
    if found.unreadable:
        first, *others = found.unreadable
        warnings.append(f"{first}; the object is left out" + (f", and {len(others)} more" if others else ""))
    return replace(found, slots=list(_with_own_ids(found.slots)), others=_without_wheel_stops(found))


def _without_wheel_stops(found: RoadObjects) -> list[StaticObject]:
    """The other objects, of which those that pass under a car are not solid where they lie in parking spaces: only
    there is a car so slow that it may drive over them.
    """
    others = list(found.others)
    centres = np.array([(*slot.pose[:2], height) for slot, height in zip(found.slots, found.levels, strict=True)])
    for i, height in found.low.items() if found.slots else ():
        corners = others[i].outline
        low, high = corners.min(axis=0) - NEARBY_M, corners.max(axis=0) + NEARBY_M
        level = abs(centres[:, 2] - height) <= LEVEL_M
        near = np.flatnonzero(level & ((centres[:, :2] >= low) & (centres[:, :2] <= high)).all(axis=1))
        within = [inside(found.slots[k].outline, corners) for k in near]
        if np.logical_or.reduce(within, axis=0, initial=False).all():
            others[i] = replace(others[i], solid=False)
    return others


def _passes_under(element: Element, placed: Outline) -> bool:
    """Whether an object whose height is known is so low that the body of a car passes above it."""
    parts = (element, *element.iter("repeat", "cornerRoad", "cornerLocal"))
    try:
        height = max(number(part, name, 0.0) for part in parts for name in ("height", "heightStart", "heightEnd"))
    except InputError:
        return False
    return 0.0 < height <= UNDER_THE_CAR_M - placed.underside


def _with_own_ids(slots: Sequence[ParkingSlot]) -> Iterator[ParkingSlot]:
    """The slots, the second and further ones of an id as `12#2`, `12#3`, but for what the file calls another one: a
    repeated object is many bays of one id.
    """
    written, further = {slot.id for slot in slots}, dict[str, Iterator[str]]()
    for slot in slots:
        if slot.id in further:
            yield replace(slot, id=next(name for name in further[slot.id] if name not in written))
        else:
            further[slot.id] = map(f"{slot.id}#".__add__, map(str, itertools.count(2)))
            yield slot


def _outlines(found: RoadObjects, element: Element, road: Road, stop_lines: Collection[str]) -> list[Outline]:
    """The outlines of an object; none where something of it cannot be read.

    Raises:
        InputError: what cannot be read is a crosswalk or a stop line, at which a car has to stop.
    """
    try:
        return list(outlines(element, road))
    except InputError as error:
        if element.get("type") == "crosswalk" or _is_stop_line(element, stop_lines):
            raise
        found.unreadable.append(error)
        return []


def _read_in_junction(
    found: RoadObjects, junction: Element, lanes: Mapping[LaneId, Lane], level: _Level, stop_lines: Collection[str],
    warnings: list[str],
) -> None:  # fmt: skip
    elements = junction.findall("objects/object")
    framed = junction_frame(junction, lanes, warnings) if elements else None
    if framed is not None:
        frame, height = framed
        for element in elements:
            for placed in _outlines(found, element, frame, stop_lines):
                around = replace(level, height=height).of_lanes(placed.corners)
                _sort_in(found, element, frame, placed, around, stop_lines)
    elif elements:
        names = [f"{element.get('type', '')} {element.get('id', '')}".strip() for element in elements]
        warnings.append(
            f"{where(junction)}: objects of a junction without <planView> are nowhere: {len(names)} "
            f"({examples(names)}); left out"
        )


def _read_path(
    found: RoadObjects, path: Element, roads: Mapping[str, Road], lanes: Mapping[LaneId, Lane], level: _Level,
    warnings: list[str],
) -> None:  # fmt: skip
    """A path across a junction is a crosswalk, unless an object says so as well."""
    road = roads.get(path.get("crossingRoad", "").strip())
    outline = None if road is None else path_outline(road, lanes)
    if road is None or outline is None:
        warnings.append(f"{where(path)}: crossingRoad={path.get('crossingRoad')!r} is no road with lanes; left out")
        return
    middle = outline.mean(axis=0)[None]
    if any(inside(walk.outline, middle)[0] for walk in found.crosswalks):
        return
    height = float(road.elevation(np.array([0.5 * road.length]))[0][0])
    lanes_under = tuple(_stretches(outline, replace(level, height=height).of_lanes(outline)))
    found.crosswalks.append(Crosswalk(path.get("id", road.id), road.id, outline, lanes_under))


def _is_stop_line(element: Element, stop_lines: Collection[str]) -> bool:
    """By what a signal says of its id (which some files give to several objects), or by its own type, name or subtype;
    `signalLines` are lines that belong to a signal (ASAM OpenDRIVE 1.8, clause 13.14).
    """
    type_, subtype = element.get("type", ""), element.get("subtype", "")
    if type_ in ("crosswalk", "parkingSpace"):
        return False
    said = (type_ + element.get("name", "") + subtype).replace("_", "").replace(" ", "").lower()
    drawn = "stopline" in said or (type_ == "roadMark" and subtype.lower() == "signallines")
    return drawn or element.get("id", "") in stop_lines


def _sort_in(
    found: RoadObjects, element: Element, road: Road, placed: Outline, level: _Level, stop_lines: Collection[str]
) -> None:
    outline = placed.corners
    type_, name, object_id = element.get("type", ""), element.get("name", ""), element.get("id", "")
    if _is_stop_line(element, stop_lines):
        found.painted_stops.setdefault(object_id, []).extend(_painted(outline, level))
    elif type_ == "crosswalk":
        found.crosswalks.append(Crosswalk(object_id, road.id, outline, tuple(_stretches(outline, level))))
    elif type_ == "parkingSpace":
        pose, length, width = _slot_box(outline, level)
        slot = ParkingSlot(len(found.slots) + 1, object_id, road.id, pose, length, width, outline)
        found.slots.append(replace(slot, reserved=_reserved_for(element)))
        found.levels.append(level.height)
    else:
        solid = type_ in SOLID and placed.underside < OVERHEAD_M
        if solid and _passes_under(element, placed):
            found.low[len(found.others)] = level.height
        found.others.append(StaticObject(object_id, type_, name, road.id, outline, solid))


def _near(outline: FloatArray, level: _Level, radius: float = 0.5) -> list[Lane]:
    """Driving lanes within `radius` of the corners, the middles of the edges or the centre of an outline."""
    points = np.vstack((outline, 0.5 * (outline + np.roll(outline, 1, axis=0)), outline.mean(axis=0)))
    reach = radius + 0.5 * float(np.max(elementwise.hypot(*np.diff(points, axis=0).T), initial=0.0))
    near = {lane.id for x, y in points for lane in level.search(float(x), float(y), reach)[1]}
    return [lane for lane in level.lanes if lane.id in near]


def _stretches(outline: FloatArray, level: _Level) -> list[tuple[LaneId, float, float]]:
    """Every driving lane that an area lies on, with the stretch that it covers of it (m)."""
    low, high = outline.min(axis=0), outline.max(axis=0)
    found = []
    for lane in _near(outline, level):
        reach = lane.left + lane.right
        xy = lane.center.xy
        beside = ((xy >= low - reach[:, None]) & (xy <= high + reach[:, None])).all(axis=1)
        near = np.flatnonzero(beside & level.holds(lane.z))
        heading = lane.center.heading[near]
        sine, cosine = elementwise.sin_cos(heading)
        normal = np.column_stack((-sine, cosine))
        across = ACROSS[:, None, None] * (0.5 * reach[near, None] * normal)[None] + xy[near][None]
        covered = near[inside(outline, across.reshape(-1, 2)).reshape(len(ACROSS), -1).any(axis=0)]
        if len(covered):
            first, last = lane.center.s[covered[0]], lane.center.s[covered[-1]]
            found.append((lane.id, max(float(first) - 0.25, 0.0), min(float(last) + 0.25, lane.length)))
    return found


def _reserved_for(element: Element) -> str:
    """Who else than any car an object is a parking space for; empty where it is none, or one for any car."""
    space = element.find("parkingSpace") if element.get("type") == "parkingSpace" else None
    users = "" if space is None else space.get("access", "").strip()
    return "" if users.lower() in FOR_CARS else users


def _slot_box(outline: FloatArray, level: _Level) -> tuple[Pose, float, float]:
    """Pose, length and width (m) of a parking space, facing the lane that it is reached from, or along that lane's
    traffic where it lies beside it.
    """
    pose, length, width = slot_box(outline)
    rows, lanes = level.search(pose.x, pose.y, NEARBY_M)
    if len(rows):
        aisle = rows[_aisle(rows, lanes)]
        offset, traffic = float(aisle[1]), float(aisle[4])
        toward = traffic - math.copysign(0.5 * math.pi, offset)
        along = abs(elementary.cos(traffic - pose.heading)) > elementary.cos(math.radians(20.0))
        if abs(wrap_angle(pose.heading - (traffic if along else toward))) > 0.5 * math.pi:
            pose = Pose(pose.x, pose.y, float(wrap_angle(pose.heading + math.pi)))
    return pose, length, width


def _aisle(rows: FloatArray, lanes: list[Lane]) -> int:
    """Which of the lanes around (rows of `SurfaceIndex.search`) a parking space is reached from: the nearest of the
    road that it lies on, else of any road.

    A bay may be a lane of its own under the slots: one that is there is taken only where no other is.
    """
    under = rows[:, 2] <= 0.1
    roads = {lanes[i].id.road for i in np.flatnonzero(under)}
    of_its_road = np.array([lane.id.road in roads for lane in lanes])
    chosen = next(each for each in (of_its_road & ~under, ~under, under) if each.any())
    return int(np.argmin(np.where(chosen, rows[:, 2], math.inf)))


def _painted(outline: FloatArray, level: _Level) -> list[StopPlace]:
    """The lanes whose centre a painted line crosses; inside a junction, the lanes that lead there."""
    gaps = elementwise.hypot(*(outline[:, None] - outline[None, :]).transpose(2, 0, 1))
    a, b = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
    crossed: dict[LaneId, tuple[float, float]] = {}
    for share in np.linspace(0.0, 1.0, max(2, int(float(gaps[a, b]) / 0.25) + 1)):
        x, y = outline[a] + share * (outline[b] - outline[a])
        rows, lanes = level.search(float(x), float(y), 0.0)
        for (s, offset, *_), lane in zip(rows.tolist(), lanes, strict=True):
            if abs(offset) < min(0.3, crossed.get(lane.id, (0.3, 0.0))[0]):
                crossed[lane.id] = (abs(offset), s)
    by_id = {lane.id: lane for lane in level.lanes if lane.id in crossed}
    outside = [StopPlace(n, crossed[n][1], LINE, -1) for n, lane in by_id.items() if lane.junction is None]
    if outside:
        return outside
    known = {lane.id: lane for lane in level.lanes}
    return [StopPlace(n, math.inf, LINE, -1) for n in dict.fromkeys(p for each in by_id for p in entries(known, each))]
