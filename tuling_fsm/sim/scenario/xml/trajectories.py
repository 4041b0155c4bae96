"""Shapes of trajectories (OpenSCENARIO XML 1.3, 6.9): polylines, and clothoids and NURBS that are sampled into such."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.placements import Between, FromPlace, OnTrajectory, Placement
from tuling_fsm.sim.scenario.road_places import to_global_pose
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import facing_of, position
from tuling_fsm.sim.scenario.xml.script import Script, declared

STEP_M = 0.5
"""Between two samples of a clothoid, at most."""
MAX_TURN = 100.0
"""No clothoid turns more than this, rad: as in a map."""
SAMPLES = 20
"""Samples of a NURBS between two knots."""


class TrajectoryShape(NamedTuple):
    """Places to pass, and when (s); no times where the text says none."""

    points: tuple[Placement, ...]
    times: tuple[float, ...]


def read_shape(trajectory: XmlElement, script: Script, start: Placement | None = None) -> TrajectoryShape:
    """The shape of a Trajectory; one that does not say where it begins begins at `start`.

    Raises:
        InputError: one that is not understood, or has fewer than two points.
    """
    kind = trajectory.child("Shape").only()
    if kind.tag not in _SHAPES:
        raise kind.fault("this shape is not understood", "one of " + ", ".join(_SHAPES))
    shape = _SHAPES[kind.tag](kind, script, start)
    if len(shape.points) < 2:
        raise kind.fault("this leads nowhere", "two points or more")
    if trajectory.truth("closed", default=False):
        return TrajectoryShape((*shape.points, shape.points[0]), ())
    return shape


def read_trajectory(element: XmlElement, script: Script, start: Placement | None = None) -> TrajectoryShape:
    """The shape of the trajectory in an element, in its TrajectoryRef (1.1 on), or in the catalog that it refers to.

    Raises:
        InputError: as `read_shape`.
    """
    trajectory = script.inline(element.find("TrajectoryRef") or element, "Trajectory")
    return read_shape(trajectory.within(declared(trajectory)), script, start)


def trajectory_position(element: XmlElement, script: Script) -> Placement:
    """The placement of a TrajectoryPosition.

    Raises:
        InputError: as `read_shape`.
    """
    points = read_trajectory(element, script).points
    return OnTrajectory(
        points, element.number("s"), script.mirrored(element.number("t", 0.0)), facing_of(element, script)
    )


def _polyline(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    vertices = element.all("Vertex")
    if len(vertices) < 2:
        raise element.fault(f"{len(vertices)} vertices", "two or more")
    times = _times(vertices)
    return TrajectoryShape(tuple(position(each.child("Position"), script) for each in vertices), times)


def _times(vertices: list[XmlElement]) -> tuple[float, ...]:
    """None where not every vertex has one, or where they do not grow."""
    times = [vertex.number("time") for vertex in vertices if vertex.has("time")]
    growing = 1 < len(times) == len(vertices) and all(a <= b for a, b in pairwise(times)) and times[-1] > times[0]
    return tuple(times) if growing else ()


def _clothoid(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    prime = "curvaturePrime" if element.has("curvaturePrime") else "curvatureDot"
    length, curvature = element.number("length"), script.mirrored(element.number("curvature"))
    last = curvature + script.mirrored(element.number(prime, 0.0)) * length
    points = _spiral(element, length, curvature, last)
    begin = position(element.child("Position"), script)
    places = tuple(FromPlace(begin, point) for point in points)
    if not (element.has("startTime") and element.has("stopTime")):
        return TrajectoryShape(places, ())
    first, last = element.number("startTime"), element.number("stopTime")
    return TrajectoryShape(places, tuple(first + (last - first) * i / (len(points) - 1) for i in range(len(points))))


def _clothoid_spline(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    places: list[FromPlace] = []
    for segment in element.all("ClothoidSplineSegment", "Segment"):
        place = segment.find("PositionStart")
        if place is None and not places and start is None:
            raise segment.fault("begins nowhere", "a <PositionStart> in the first segment")
        bent, bends = (script.mirrored(segment.number(each)) for each in ("curvatureStart", "curvatureEnd"))
        curve = _spiral(segment, segment.number("length"), bent, bends)
        begin = position(place, script) if place is not None else start if not places else None
        if begin is not None:
            places += [FromPlace(begin, point) for point in curve[1 if places else 0 :]]
        else:
            last = places[-1]
            places += [FromPlace(last.place, to_global_pose(last.pose, point)) for point in curve[1:]]
    return TrajectoryShape(tuple(places), ())


def _spiral(element: XmlElement, length: float, curvature: float, last: float) -> list[Pose]:
    """Samples of a curve whose curvature (1/m) changes linearly over its length (m), by the midpoint rule, in the frame
    of its beginning.
    """
    if max(abs(curvature), abs(last)) * length > MAX_TURN:
        raise element.fault(f"a curve of {length:g} m that turns too far", f"one that turns {MAX_TURN:g} rad at most")
    steps = max(math.ceil(length / STEP_M), 1)
    step = length / steps
    x, y = 0.0, 0.0
    change = (last - curvature) / length if length > 0.0 else 0.0
    points = [Pose(0.0, 0.0, 0.0)]
    for i in range(steps):
        middle, end = (i + 0.5) * step, (i + 1.0) * step
        s, c = elementary.sin_cos(curvature * middle + 0.5 * change * middle * middle)
        x, y = x + step * c, y + step * s
        points.append(Pose(x, y, curvature * end + 0.5 * change * end * end))
    return points


def _nurbs(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    """Samples by the recursion of Cox and de Boor ([piegl1997][], 2.2 and 4.1)."""
    order = element.whole("order")
    controls = element.all("ControlPoint")
    knots = [each.number("value") for each in element.all("Knot")]
    if len(knots) != len(controls) + order:
        raise element.fault(f"{len(knots)} knots", f"{len(controls) + order}: control points and the order together")
    if order > len(controls) or knots != sorted(knots):
        raise element.fault(
            f"order {order} of {len(controls)} control points",
            "an order of their number at most, and knots that ascend",
        )
    places = [position(each.child("Position"), script) for each in controls]
    weights = [each.number("weight", 1.0) for each in controls]
    points: list[Placement] = []
    for low, high in pairwise(sorted(set(knots[order - 1 : len(controls) + 1]))):
        for i in range(SAMPLES):
            points.append(_on_curve(low + (high - low) * i / SAMPLES, order, knots, places, weights))
    points.append(places[-1])
    times = _times(controls)
    if not times or len(points) < 2:
        return TrajectoryShape(tuple(points), ())
    share = (times[-1] - times[0]) / (len(points) - 1)
    return TrajectoryShape(tuple(points), tuple(times[0] + share * i for i in range(len(points))))


def _on_curve(at: float, order: int, knots: list[float], places: list[Placement], weights: list[float]) -> Between:
    """The point of a NURBS at a parameter: `order` control points have a part in it."""
    span = max(i for i in range(order - 1, len(places)) if knots[i] <= at)
    shares = [1.0]
    for degree in range(1, order):
        shares = _next_degree(shares, at, span, degree, knots)
    first = span - order + 1
    parts = [share * weight for share, weight in zip(shares, weights[first : span + 1], strict=True)]
    whole = sum(parts)
    return Between(tuple(places[first : span + 1]), tuple(part / whole for part in parts))


def _next_degree(shares: list[float], at: float, span: int, degree: int, knots: list[float]) -> list[float]:
    """The basis functions that are not 0 in a span, from those of one degree less."""
    found = [0.0] * (degree + 1)
    for i, share in enumerate(shares):
        left, right = knots[span - degree + 1 + i], knots[span + 1 + i]
        part = (at - left) / (right - left) if right > left else 0.0
        found[i] += share * (1.0 - part)
        found[i + 1] += share * part
    return found


_SHAPES = {
    "Polyline": _polyline,
    "Clothoid": _clothoid,
    "ClothoidSpline": _clothoid_spline,
    "Nurbs": _nurbs,
}
