"""Shapes of trajectories (OpenSCENARIO XML 1.3, 6.9): polylines, and clothoids and NURBS that are sampled into such."""

from __future__ import annotations

import math
import operator
from itertools import pairwise
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.placements import Between, FromPlace, OnTrajectory, Placement
from tuling_fsm.sim.scenario.road_places import to_global_pose
from tuling_fsm.sim.scenario.xml.elements import XmlElement
from tuling_fsm.sim.scenario.xml.positions import facing_of, has_orientation, position
from tuling_fsm.sim.scenario.xml.script import Script

STEP_M = 0.5
"""Between two samples of a clothoid, at most."""
MAX_TURN = 100.0
"""No clothoid turns more than this, rad: as in a map."""
SAMPLES = 20
"""Samples of a NURBS between two knots."""


class TrajectoryShape(NamedTuple):
    """Places to pass, and when (s); no times where the text says none. `oriented` says of each whether the text states
    its orientation; empty where none of them does.
    """

    points: tuple[Placement, ...]
    times: tuple[float, ...]
    oriented: tuple[bool, ...] = ()


def read_shape(trajectory: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
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
        return TrajectoryShape((*shape.points, shape.points[0]), (), (*shape.oriented, *shape.oriented[:1]))
    return shape


def read_trajectory(element: XmlElement, script: Script, start: Placement | None = None) -> TrajectoryShape:
    """The shape of the trajectory in an element, in its TrajectoryRef (1.1 on), or in the catalog that it refers to.

    Raises:
        InputError: as `read_shape`.
    """
    return read_shape(script.inline(element.find("TrajectoryRef") or element, "Trajectory"), script, start)


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
    places = [each.child("Position") for each in vertices]
    points = tuple(position(each, script) for each in places)
    return TrajectoryShape(points, _times(vertices), tuple(has_orientation(each) for each in places))


def _times(vertices: list[XmlElement]) -> tuple[float, ...]:
    """None where not every vertex has one, or where they do not grow."""
    times = [vertex.number("time") for vertex in vertices if vertex.has("time")]
    return _growing(times) if len(times) == len(vertices) else ()


def _growing(times: list[float]) -> tuple[float, ...]:
    """The times; none where they fall, or all is at once."""
    grow = len(times) > 1 and all(a <= b for a, b in pairwise(times)) and 0.0 < times[-1] - times[0] < math.inf
    return tuple(times) if grow else ()


def _clothoid(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    prime = "curvaturePrime" if element.has("curvaturePrime") else "curvatureDot"
    length, curvature = element.number("length"), script.mirrored(element.number("curvature"))
    last = curvature + script.mirrored(element.number(prime, 0.0)) * length
    points = _spiral(element, length, curvature, last)
    begin = position(element.child("Position"), script)
    places = tuple(FromPlace(begin, point) for point in points)
    if not (element.has("startTime") and element.has("stopTime")):
        return TrajectoryShape(places, ())
    return TrajectoryShape(
        places, _growing(_between(element.number("startTime"), element.number("stopTime"), len(points)))
    )


def _between(first: float, last: float, count: int) -> list[float]:
    """So many times, as far apart from one another (s)."""
    return [first + (last - first) * i / (count - 1) for i in range(count)]


def _clothoid_spline(element: XmlElement, script: Script, start: Placement | None) -> TrajectoryShape:
    places: list[FromPlace] = []
    times: list[float] = []
    for segment, (begins, ends) in _segments(element):
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
        times += _between(begins, ends, len(curve))[1 if times else 0 :]
    return TrajectoryShape(tuple(places), _growing(times))


def _segments(spline: XmlElement) -> list[tuple[XmlElement, tuple[float, float]]]:
    """The segments of a spline, and when each begins and ends (s); never where one of these is not said."""
    segments = spline.all("ClothoidSplineSegment", "Segment")
    starts = [segment.number("timeStart", math.inf) for segment in segments]
    return list(zip(segments, pairwise((*starts, spline.number("timeEnd", math.inf))), strict=True))


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
    domain = sorted(set(knots[order - 1 : len(controls) + 1]))
    samples = [low + (high - low) * i / SAMPLES for low, high in pairwise(domain) for i in range(SAMPLES)]
    shares = [_shares(at, order, knots, weights) for at in (*samples, domain[-1])] if samples else []
    points = tuple(_mean(places[first : first + order], parts) for first, parts in shares)
    times = _times(controls)
    if not times:
        return TrajectoryShape(points, ())
    return TrajectoryShape(
        points,
        _growing([math.fsum(map(operator.mul, parts, times[first : first + order])) for first, parts in shares]),
    )


def _mean(places: list[Placement], parts: tuple[float, ...]) -> Placement:
    """A curve that begins or ends in a control point is there, heading and all."""
    return places[parts.index(1.0)] if 1.0 in parts else Between(tuple(places), parts)


def _shares(at: float, order: int, knots: list[float], weights: list[float]) -> tuple[int, tuple[float, ...]]:
    """The first of the `order` control points that have a part in a point of a NURBS, and their parts."""
    count = len(weights)
    span = max(i for i in range(order - 1, count) if knots[i] <= at and knots[i] < knots[count])
    shares = [1.0]
    for degree in range(1, order):
        shares = _next_degree(shares, at, span, degree, knots)
    first = span - order + 1
    parts = [share * weight for share, weight in zip(shares, weights[first : span + 1], strict=True)]
    whole = math.fsum(parts)
    return first, tuple(part / whole for part in parts)


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
