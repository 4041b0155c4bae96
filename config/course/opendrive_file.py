"""A course as OpenDRIVE 1.7 (ASAM OpenDRIVE 1.7.0), the same bytes every time."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from lxml import etree
from pieces import Course, Junction, LaneSpec, Mark, Road, Section, Thing

Element = etree._Element
DIGITS = 9
"""Digits that are written, some micrometres here: what the sines of machines differ in lies far beyond."""
ROUNDING = 1e-12
"""Below this a number is what rounding has left of 0."""


def to_bytes(course: Course) -> bytes:
    """The whole file."""
    root = etree.Element("OpenDRIVE")
    _add(root, "header", revMajor=1, revMinor=7, name=course.name, version="1.0", **_bounds(course))
    roads = {road.id: road for road in course.roads}
    for road in course.roads:
        _road(root, road, roads)
    for junction in course.junctions:
        for road in junction.roads:
            _road(root, road, roads)
    for controller in course.controllers:
        node = _add(root, "controller", id=controller.id, name=controller.name, sequence=0)
        for signal in controller.signals:
            _add(node, "control", signalId=signal, type=0)
    for junction in course.junctions:
        _junction(root, junction)
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _add(parent: Element, tag: str, **attributes: object) -> Element:
    """A child element; a trailing underscore lets an attribute bear a Python keyword's name."""
    written = {name.rstrip("_"): _text(value) for name, value in attributes.items()}
    return etree.SubElement(parent, tag, written)


def _text(value: object) -> str:
    if isinstance(value, float):
        return "0" if abs(value) < ROUNDING else f"{value:.{DIGITS}g}"
    return str(value)


def _angle(value: float) -> float:
    """The same angle in (-pi, pi], rounded: of the two signs at the seam it has one, whatever came of the last bit."""
    turned = round(math.remainder(value, 2.0 * math.pi), DIGITS)
    return -turned if turned <= -round(math.pi, DIGITS) else turned


def _bounds(course: Course) -> dict[str, float]:
    points = [piece.start for road in course.roads for piece in road.pen.pieces]
    xs, ys = [p.x for p in points], [p.y for p in points]
    margin = 30.0
    return {
        "north": max(ys) + margin, "south": min(ys) - margin, "east": max(xs) + margin, "west": min(xs) - margin
    }  # fmt: skip


def _road(root: Element, road: Road, roads: dict[int, Road]) -> None:
    node = _add(root, "road", name=road.name, length=road.pen.length, id=road.id, junction=road.junction, rule="RHT")
    link = _add(node, "link")
    for tag, target in zip(("predecessor", "successor"), road.links, strict=True):
        if target is not None:
            kind, number, contact = target
            end = {"contactPoint": contact} if contact else {}
            _add(link, tag, elementType=kind, elementId=number, **end)
    _add(_add(node, "type", s=0.0, type="town"), "speed", max=road.limit_kmh, unit="km/h")
    _plan_view(node, road)
    _elevation(node, road)
    _lanes(node, road, roads)
    _objects(node, road)
    _signals(node, road)


def _plan_view(node: Element, road: Road) -> None:
    plan = _add(node, "planView")
    for piece in road.pen.pieces:
        x, y, heading = piece.start
        geometry = _add(plan, "geometry", s=piece.s, x=x, y=y, hdg=_angle(heading), length=piece.length)
        if piece.k0 == piece.k1 == 0.0:
            _add(geometry, "line")
        elif piece.k0 == piece.k1:
            _add(geometry, "arc", curvature=piece.k0)
        else:
            _add(geometry, "spiral", curvStart=piece.k0, curvEnd=piece.k1)


def _elevation(node: Element, road: Road) -> None:
    low, high = road.elevation
    a, b, c, d = _ramp(low, high, road.pen.length)
    _add(_add(node, "elevationProfile"), "elevation", s=0.0, a=a, b=b, c=c, d=d)
    _add(node, "lateralProfile")


def _ramp(begin: float, end: float, length: float) -> tuple[float, float, float, float]:
    """A cubic from one value to another, level at both ends."""
    rise = end - begin
    return begin, 0.0, 3.0 * rise / length**2, -2.0 * rise / length**3


def _lanes(node: Element, road: Road, roads: dict[int, Road]) -> None:
    lanes = _add(node, "lanes")
    before = [_neighbour(road, 0, roads), *road.sections[:-1]]
    after = [*road.sections[1:], _neighbour(road, 1, roads)]
    ends = [*(section.s for section in road.sections[1:]), road.pen.length]
    for section, previous, following, end in zip(road.sections, before, after, ends, strict=True):
        part = _add(lanes, "laneSection", s=section.s)
        sides = {
            name: (getattr(section, name), getattr(previous, name, ()), getattr(following, name, ()))
            for name in ("left", "right")
        }
        if section.left:
            _side(_add(part, "left"), sides["left"], 1, end - section.s, road)
        middle = _add(_add(part, "center"), "lane", id=0, type="none", level="false")
        _marks(middle, section.center)
        _side(_add(part, "right"), sides["right"], -1, end - section.s, road)


def _neighbour(road: Road, which: int, roads: dict[int, Road]) -> Section | None:
    """The section of the next road that this one's end touches; all roads of a chain run the same way."""
    link = road.links[which]
    if link is None or link[0] == "junction" or road.junction >= 0:
        return None
    return roads[link[1]].sections[0 if link[2] == "start" else -1]


Lanes = tuple[LaneSpec, ...]


def _side(node: Element, lanes: tuple[Lanes, Lanes, Lanes], sign: int, length: float, road: Road) -> None:
    own, before, after = lanes
    numbered = [(sign * (place + 1), lane) for place, lane in enumerate(own)]
    for number, lane in reversed(numbered) if sign > 0 else numbered:
        element = _add(node, "lane", id=number, type=lane.kind, level="false")
        link = _add(element, "link")
        ends = road.lane_links.get(number, (_number(before, lane, sign), _number(after, lane, sign)))
        for tag, other in zip(("predecessor", "successor"), ends, strict=True):
            if other is not None:
                _add(link, tag, id=other)
        a, b, c, d = _ramp(*lane.width, length)
        _add(element, "width", sOffset=0.0, a=a, b=b, c=c, d=d)
        _marks(element, lane.marks)


def _number(lanes: Lanes, lane: LaneSpec, sign: int) -> int | None:
    keys = [other.key for other in lanes]
    return sign * (keys.index(lane.key) + 1) if lane.key in keys else None


def _marks(node: Element, marks: Iterable[Mark]) -> None:
    for mark in marks:
        _add(
            node, "roadMark", sOffset=mark.s, type=mark.kind, weight="standard", color=mark.color,
            width=0.15, laneChange=mark.change,
        )  # fmt: skip


def _objects(node: Element, road: Road) -> None:
    if not road.things and not road.tunnels:
        return
    objects = _add(node, "objects")
    for thing in road.things:
        element = _add(
            objects, "object", id=thing.id, name=thing.id, type=thing.kind, s=thing.s, t=thing.t, zOffset=0.0,
            hdg=_angle(thing.heading), pitch=0.0, roll=0.0, orientation="none", length=thing.length, width=thing.width,
            height=0.0,
        )  # fmt: skip
        _outline(element, thing)
        if thing.kind == "parkingSpace":
            _add(element, "parkingSpace", access="all", restrictions="")
    for tunnel in road.tunnels:
        _add(
            objects, "tunnel", id=tunnel.id, s=tunnel.s, length=tunnel.length, type="standard", daylight=0.1,
            lighting=0.8,
        )  # fmt: skip


def _outline(element: Element, thing: Thing) -> None:
    outline = _add(element, "outline", id=0, closed="true")
    u, v = thing.length / 2.0, thing.width / 2.0
    corners = ((u, v), (-u, v), (-u, -v), (u, -v))
    for number, (along, across) in enumerate(corners):
        _add(outline, "cornerLocal", u=along, v=across, z=0.0, height=0.0, id=number)


def _signals(node: Element, road: Road) -> None:
    if not road.signals:
        return
    signals = _add(node, "signals")
    for signal in road.signals:
        element = _add(
            signals, "signal", s=signal.s, t=signal.t, id=signal.id, name=signal.name,
            dynamic="yes" if signal.dynamic else "no", orientation=signal.orientation, zOffset=3.0,
            country="OpenDRIVE", type=signal.kind, subtype="-1", value=-1.0, height=0.9, width=0.3,
            hOffset=0.0, pitch=0.0, roll=0.0,
        )  # fmt: skip
        _add(element, "validity", fromLane=min(signal.lanes), toLane=max(signal.lanes))


def _junction(root: Element, junction: Junction) -> None:
    node = _add(root, "junction", id=junction.id, name=junction.name, type="default")
    for number, (incoming, road, lane) in enumerate(junction.connections):
        connection = _add(
            node, "connection", id=number, incomingRoad=incoming, connectingRoad=road.id, contactPoint="start"
        )
        _add(connection, "laneLink", from_=lane, to=-1)
    minor = [road.id for road in junction.roads if road.id not in junction.major]
    for high in junction.major:
        for low in minor:
            _add(node, "priority", high=high, low=low)
    for number, controller in enumerate(junction.controllers):
        _add(node, "controller", id=controller, type=0, sequence=number)


def write(course: Course, default: Path, arguments: list[str]) -> int:
    """Write the file that is named, or the default one, and say where."""
    target = Path(arguments[0]) if arguments else default
    target.write_bytes(to_bytes(course))
    print(target)
    return 0
