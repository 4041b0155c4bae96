"""Outlines of road objects in `map`: corners local or in road coordinates, boxes, circles, and their repetitions."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import to_global
from tuling_fsm.map.opendrive.document import Element, number
from tuling_fsm.map.opendrive.road import Road

POINT_M = 0.3
"""Edge of the square that stands for an object without a size, m."""

STRIP_STEP_M = 2.0
"""Spacing of the corners of a continuous object (a guard rail, say) along the road, m."""

MAX_COPIES = 10_000
"""Copies of one object at most; more are a slip of the file."""


def outlines(element: Element, road: Road) -> Iterator[FloatArray]:
    """The outline (K, 2) of an object and of every copy that its `<repeat>`s make instead of it."""
    repeats = element.findall("repeat")
    s, t = number(element, "s"), number(element, "t", 0.0)
    if not repeats:
        yield _outline(element, road, s, t)
    for repeat in repeats:
        start, length = number(repeat, "s", s), number(repeat, "length", 0.0)
        distance = number(repeat, "distance", 0.0)
        t0, t1 = number(repeat, "tStart", t), number(repeat, "tEnd", number(repeat, "tStart", t))
        if distance < 1e-3:
            yield _strip(element, repeat, road, (start, start + length), (t0, t1))
            continue
        copies = min(int(length / distance + 1e-6) + 1, MAX_COPIES)
        for i in range(copies):
            share = i * distance / length if length > 0.0 else 0.0
            yield _outline(element, road, start + i * distance, t0 + share * (t1 - t0))


def _outline(element: Element, road: Road, s: float, t: float) -> FloatArray:
    """One copy, standing at road coordinates s, t."""
    outline = element.find(".//outline")
    if outline is not None:
        corners = outline.findall("cornerRoad")
        if len(corners) > 2:
            ds, dt = s - number(element, "s"), t - number(element, "t", 0.0)
            poses = [road.pose(number(c, "s") + ds, number(c, "t") + dt) for c in corners]
            return np.array([pose[:2] for pose in poses])
        corners = outline.findall("cornerLocal")
        if len(corners) > 2:
            local = np.array([(number(c, "u"), number(c, "v")) for c in corners])
            return to_global(local, road.pose(s, t, number(element, "hdg", 0.0)))
    return to_global(_shape(element), road.pose(s, t, number(element, "hdg", 0.0)))


def _shape(element: Element) -> FloatArray:
    """Corners of a box or a circle around the object's origin."""
    radius = number(element, "radius", 0.0)
    if radius > 0.0:
        angle = np.arange(8) * (math.pi / 4.0)
        return np.column_stack((radius * elementwise.cos(angle), radius * elementwise.sin(angle)))
    half_u = 0.5 * (number(element, "length", 0.0) or POINT_M)
    half_v = 0.5 * (number(element, "width", 0.0) or POINT_M)
    return np.array([(half_u, half_v), (-half_u, half_v), (-half_u, -half_v), (half_u, -half_v)])


def _strip(
    element: Element, repeat: Element, road: Road, span: tuple[float, float], t: tuple[float, float]
) -> FloatArray:
    """A continuous object: a band along the road."""
    width = number(repeat, "widthStart", 0.0) or number(element, "width", 0.0) or 2.0 * number(element, "radius", 0.0)
    half = 0.5 * (width or POINT_M)
    share: FloatArray = np.linspace(0.0, 1.0, max(2, int((span[1] - span[0]) / STRIP_STEP_M) + 2), dtype=np.float64)
    stations, lateral = span[0] + share * (span[1] - span[0]), t[0] + share * (t[1] - t[0])
    curve = road.curve(stations)
    sin, cos = elementwise.sin(curve.heading), elementwise.cos(curve.heading)
    left, right = lateral + half, lateral - half
    near = np.column_stack((curve.x - left * sin, curve.y + left * cos))
    far = np.column_stack((curve.x - right * sin, curve.y + right * cos))
    return np.vstack((near, far[::-1]))
