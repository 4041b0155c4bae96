"""Outlines of road objects in `map`: corners local or in road coordinates, skeletons, boxes, circles, and their
repetitions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, to_global
from tuling_fsm.map.opendrive.document import Element, number
from tuling_fsm.map.opendrive.road import Road

POINT_M = 0.3
"""Edge of the square that stands for an object without a size, m."""

STRIP_STEP_M = 2.0
"""Spacing of the corners of a continuous object (a guard rail, say) along the road, m."""

NO_DISTANCE_M = 1e-3
"""What is repeated at less than this is continuous, and none is drawn shorter, m."""

MAX_COPIES = 10_000
"""Copies of one object at most; more are a slip of the file."""


class _Size(NamedTuple):
    """Length along and width across the object's heading, or the radius of a round one, m; 0 is none given."""

    length: float
    width: float
    radius: float

    @property
    def across(self) -> float:
        """Width of what stands continuously along the road, m."""
        return self.width or 2.0 * self.radius or POINT_M

    def overruled(self, by: _Size) -> _Size:
        """With what `by` gives instead."""
        if by.radius > 0.0:
            return by
        if by.length == by.width == 0.0:
            return self
        diameter = 2.0 * self.radius
        return _Size(by.length or self.length or diameter, by.width or self.width or diameter, 0.0)

    def towards(self, other: _Size, share: float) -> _Size:
        """Between this size (share 0) and another one (share 1)."""
        return _Size(*(a + share * (b - a) for a, b in zip(self, other, strict=True)))


class _Frame(NamedTuple):
    """Where one copy of an object stands: road coordinates, `z` m above the road, heading from the reference line
    (rad), and how far along, across and up (m) it is from the object as written.
    """

    road: Road
    s: float
    t: float
    z: float
    heading: float
    ds: float
    dt: float
    dz: float

    @property
    def pose(self) -> Pose:
        """Of the copy's origin, in `map`."""
        return self.road.pose(self.s, self.t, self.heading)

    def places(self, element: Element, kind: str) -> FloatArray:
        """Each `corner` of an outline or `vertex` of a polyline (`kind`): x, y (m, `map`), height above the road (m).

        Heights in road coordinates are from the road; where all are 0, they leave it to the object's own.
        """
        on_road, local = element.findall(f"{kind}Road"), element.findall(f"{kind}Local")
        if on_road:
            at = [self.road.pose(number(c, "s") + self.ds, number(c, "t") + self.dt)[:2] for c in on_road]
            heights = [number(c, "dz", 0.0) for c in on_road]
            above = np.array(heights) + self.dz if any(heights) else np.full(len(heights), self.z)
            return np.column_stack((np.array(at), above))
        if not local:
            return np.empty((0, 3), dtype=np.float64)
        uv = np.array([(number(c, "u"), number(c, "v")) for c in local])
        return np.column_stack((to_global(uv, self.pose), [self.z + number(c, "z", 0.0) for c in local]))


class Outline(NamedTuple):
    """An outer outline (K, 2) in `map`, the road `station` (m) that its object stands at, and how high above the road
    its lowest part is, m.
    """

    corners: FloatArray
    station: float
    underside: float


def outlines(element: Element, road: Road) -> Iterator[Outline]:
    """The outlines of an object and of every copy that its `<repeat>`s make instead of it; sizes and heights that
    repetitions give overrule the object's own (ASAM OpenDRIVE 1.8).
    """
    repeats = element.findall("repeat")
    s, t, z, own = number(element, "s"), number(element, "t", 0.0), number(element, "zOffset", 0.0), _size(element)
    if not repeats:
        yield from (Outline(shape, s, low) for shape, low in _shapes(element, road, (s, t, z), own))
    for repeat in repeats:
        start, length = number(repeat, "s", s), number(repeat, "length", 0.0)
        distance = number(repeat, "distance", 0.0)
        t0, t1 = number(repeat, "tStart", t), number(repeat, "tEnd", number(repeat, "tStart", t))
        bottom = min(number(repeat, name, z) for name in ("zOffsetStart", "zOffsetEnd"))
        first = own.overruled(_size(repeat, "Start"))
        last = first.overruled(_size(repeat, "End"))
        if distance < NO_DISTANCE_M and length > 0.0:
            span = (start, start + max(length, NO_DISTANCE_M))
            strip = _strip(road, span, (t0, t1), (first.across, last.across))
            yield Outline(strip, start + 0.5 * length, bottom)
            continue
        copies = min(int(length / distance + 1e-6) + 1, MAX_COPIES) if length > 0.0 else 1
        for i in range(copies):
            share, station = i * distance / length if length > 0.0 else 0.0, start + i * distance
            place = station, t0 + share * (t1 - t0), bottom
            shapes = _shapes(element, road, place, first.towards(last, share))
            yield from (Outline(shape, station, low) for shape, low in shapes)


def _size(element: Element, end: str = "") -> _Size:
    """The size of an object, or at one `end` (`Start`, `End`) of a repetition."""
    return _Size(*(number(element, f"{name}{end}", 0.0) for name in _Size._fields))


def _shapes(
    element: Element, road: Road, place: tuple[float, float, float], size: _Size
) -> list[tuple[FloatArray, float]]:
    """The outer outlines of one copy, standing at a place in road coordinates s, t and above the road, with how high
    (m) above the road the lowest corner of each is; `size` is that of one without corners.
    """
    written = number(element, "s"), number(element, "t", 0.0), number(element, "zOffset", 0.0)
    moved = (here - there for here, there in zip(place, written, strict=True))
    frame = _Frame(road, *place, number(element, "hdg", 0.0), *moved)
    found = []
    for outline in element.iterfind(".//outline"):
        if outline.get("outer") == "false":
            continue
        corners = frame.places(outline, "corner")
        if len(corners) > 2:
            found.append((corners[:, :2], float(corners[:, 2].min())))
    found = found or [bar for polyline in element.iterfind("skeleton/polyline") for bar in _bars(polyline, frame, size)]
    return found or [(to_global(_shape(size), frame.pose), frame.z)]


def _bars(polyline: Element, frame: _Frame, size: _Size) -> Iterator[tuple[FloatArray, float]]:
    """What stands around a polyline of a skeleton (OpenDRIVE 1.8): a box from vertex to vertex, as thick as the thicker
    of both, or as the object is wide where they do not say.
    """
    places = frame.places(polyline, "vertex")
    vertices = polyline.findall("vertexRoad") or polyline.findall("vertexLocal")
    radii = [number(vertex, "radius", 0.5 * size.across) for vertex in vertices]
    for (a, first), (b, last) in itertools.pairwise(zip(places, radii, strict=True)):
        half, (dx, dy) = max(first, last), (b - a)[:2].tolist()
        middle, length = 0.5 * (a + b), float(elementwise.hypot(dx, dy))
        box = _shape(_Size(length + 2.0 * half, 2.0 * half, 0.0))
        pose = Pose(float(middle[0]), float(middle[1]), elementary.atan2(dy, dx))
        yield to_global(box, pose), min(float(a[2]), float(b[2]))


def _shape(size: _Size) -> FloatArray:
    """Corners of a box or a circle around the object's origin."""
    if size.radius > 0.0:
        angle = np.arange(8) * (math.pi / 4.0)
        sine, cosine = elementwise.sin_cos(angle)
        return np.column_stack((size.radius * cosine, size.radius * sine))
    half_u, half_v = 0.5 * (size.length or POINT_M), 0.5 * (size.width or POINT_M)
    return np.array([(half_u, half_v), (-half_u, half_v), (-half_u, -half_v), (half_u, -half_v)])


def _strip(road: Road, span: tuple[float, float], t: tuple[float, float], width: tuple[float, float]) -> FloatArray:
    """A continuous object: a band along the road."""
    share: FloatArray = np.linspace(0.0, 1.0, max(2, int((span[1] - span[0]) / STRIP_STEP_M) + 2), dtype=np.float64)
    half = 0.5 * (width[0] + share * (width[1] - width[0]))
    stations, lateral = span[0] + share * (span[1] - span[0]), t[0] + share * (t[1] - t[0])
    curve = road.curve(stations)
    sin, cos = elementwise.sin_cos(curve.heading)
    left, right = lateral + half, lateral - half
    near = np.column_stack((curve.x - left * sin, curve.y + left * cos))
    far = np.column_stack((curve.x - right * sin, curve.y + right * cos))
    return np.vstack((near, far[::-1]))
