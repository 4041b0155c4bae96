"""Shapes of trajectories (OpenSCENARIO XML 1.3, 6.9): polylines, and clothoids and NURBS that are sampled into such."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.sim.scenario.placements import AtPose, Placement
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import position
from tuling_fsm.sim.scenario.xml.script import Script

STEP_M = 0.5
"""Between two samples of a clothoid, at most."""
SAMPLES = 20
"""Samples of a NURBS between two knots."""


class Shape(NamedTuple):
    """Places to pass, and when (s); no times where the text says none."""

    points: tuple[Placement, ...]
    times: tuple[float, ...]


def read_shape(trajectory: XmlElement, script: Script) -> Shape:
    """The shape of a Trajectory.

    Raises:
        InputError: one that is not understood, or has fewer than two points.
    """
    kind = trajectory.child("Shape").only()
    if kind.tag not in _SHAPES:
        raise kind.fault("this shape is not understood", "one of " + ", ".join(_SHAPES))
    shape = _SHAPES[kind.tag](kind, script)
    if len(shape.points) < 2:
        raise kind.fault("this leads nowhere", "two points or more")
    if trajectory.truth("closed", default=False):
        return Shape((*shape.points, shape.points[0]), ())
    return shape


def _polyline(element: XmlElement, script: Script) -> Shape:
    vertices = element.all("Vertex")
    times = _times(vertices)
    return Shape(tuple(position(each.child("Position"), script) for each in vertices), times)


def _times(vertices: list[XmlElement]) -> tuple[float, ...]:
    """None where not every vertex has one, or where they do not grow."""
    times = [vertex.number("time") for vertex in vertices if vertex.has("time")]
    growing = len(times) == len(vertices) and all(a <= b for a, b in pairwise(times)) and times[-1] > times[0]
    return tuple(times) if growing else ()


def _clothoid(element: XmlElement, script: Script) -> Shape:
    prime = "curvaturePrime" if element.has("curvaturePrime") else "curvatureDot"
    start = _start(element, position(element.child("Position"), script))
    length, curvature = element.number("length"), element.number("curvature")
    change = element.number(prime, 0.0)
    points = _spiral(start, length, curvature, curvature + change * length)
    if not (element.has("startTime") and element.has("stopTime")):
        return Shape(tuple(points), ())
    begin, end = element.number("startTime"), element.number("stopTime")
    return Shape(tuple(points), tuple(begin + (end - begin) * i / (len(points) - 1) for i in range(len(points))))


def _clothoid_spline(element: XmlElement, script: Script) -> Shape:
    points: list[AtPose] = []
    for segment in element.all("Segment"):
        place = segment.find("PositionStart")
        start = _start(segment, position(place, script)) if place is not None else points[-1] if points else None
        if start is None:
            raise segment.fault("begins nowhere", "a <PositionStart> in the first segment")
        curvatures = segment.number("curvatureStart"), segment.number("curvatureEnd")
        points += _spiral(start, segment.number("length"), *curvatures)[1 if points else 0 :]
    return Shape(tuple(points), ())


def _start(element: XmlElement, place: Placement) -> AtPose:
    if not isinstance(place, AtPose):
        raise element.fault("begins at a place that only the map knows", "a WorldPosition")
    return place


def _spiral(start: AtPose, length: float, curvature: float, last: float) -> list[AtPose]:
    """Samples of a curve whose curvature (1/m) changes linearly over its length (m), by the midpoint rule."""
    steps = max(math.ceil(length / STEP_M), 1)
    step = length / steps
    x, y, first = start.x, start.y, start.heading or 0.0
    change = (last - curvature) / length if length > 0.0 else 0.0
    points = [AtPose(x, y, first)]
    for i in range(steps):
        middle, end = (i + 0.5) * step, (i + 1.0) * step
        s, c = elementary.sin_cos(first + curvature * middle + 0.5 * change * middle * middle)
        x, y = x + step * c, y + step * s
        points.append(AtPose(x, y, first + curvature * end + 0.5 * change * end * end))
    return points


def _nurbs(element: XmlElement, script: Script) -> Shape:
    """Samples by de Boor's recursion (Piegl and Tiller, The NURBS Book, 1997, A3.1 and 4.1)."""
    order = element.whole("order")
    controls = element.all("ControlPoint")
    knots = [each.number("value") for each in element.all("Knot")]
    if len(knots) != len(controls) + order:
        raise element.fault(f"{len(knots)} knots", f"{len(controls) + order}: control points and the order together")
    places = [_start(each, position(each.child("Position"), script)) for each in controls]
    weights = [each.number("weight", 1.0) for each in controls]
    rows = [(place.x * w, place.y * w, w) for place, w in zip(places, weights, strict=True)]
    points: list[Placement] = []
    for low, high in pairwise(sorted(set(knots[order - 1 : len(controls) + 1]))):
        for i in range(SAMPLES):
            points.append(_de_boor(low + (high - low) * i / SAMPLES, order, knots, rows))
    points.append(AtPose(places[-1].x, places[-1].y))
    times = _times(controls)
    if not times:
        return Shape(tuple(points), ())
    share = (times[-1] - times[0]) / (len(points) - 1)
    return Shape(tuple(points), tuple(times[0] + share * i for i in range(len(points))))


Row = tuple[float, float, float]


def _de_boor(at: float, order: int, knots: list[float], rows: list[Row]) -> AtPose:
    span = max(i for i in range(order - 1, len(rows)) if knots[i] <= at)
    active = rows[span - order + 1 : span + 1]
    for level in range(1, order):
        for j in range(order - 1, level - 1, -1):
            left = knots[span - order + 1 + j]
            width = knots[span + 1 + j - level] - left
            share = (at - left) / width if width > 0.0 else 0.0
            a, b = active[j - 1], active[j]
            active[j] = (
                a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])
            )  # fmt: skip
    x, y, w = active[-1]
    return AtPose(x / w, y / w)


_SHAPES = {
    "Polyline": _polyline,
    "Clothoid": _clothoid,
    "ClothoidSpline": _clothoid_spline,
    "Nurbs": _nurbs,
}
