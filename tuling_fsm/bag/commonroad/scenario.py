"""Reading a CommonRoad scenario: lanelets, and obstacles with their recorded states (Althoff et al., IV 2017)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from lxml import etree

from tuling_fsm.core import elementwise
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.world.inputs import Kind

Element = etree._Element

KINDS = {
    "car": Kind.CAR,
    "parkedVehicle": Kind.CAR,
    "taxi": Kind.CAR,
    "truck": Kind.TRUCK,
    "bus": Kind.BUS,
    "motorcycle": Kind.MOTORCYCLE,
    "bicycle": Kind.BICYCLE,
    "pedestrian": Kind.PEDESTRIAN,
    "constructionZone": Kind.BARRIER,
    "roadBoundary": Kind.BARRIER,
    "median_strip": Kind.BARRIER,
    "pillar": Kind.BARRIER,
    "building": Kind.BARRIER,
}
DEFAULT_LIMIT = 13.9
"""Speed limit where none is given, m/s."""
LARGEST, LONGEST_M, LONGEST_S = 1.0e8, 1.0e5, 1.0e5
"""Any number; the length of a lanelet; the time of a recording. What is beyond is a fault of the file."""


@dataclass(frozen=True, eq=False)
class Lanelet:
    """A piece of lane: bounds (N, 2) in the direction of travel, m; neighbour on the right of the same direction."""

    id: str
    left: FloatArray
    right: FloatArray
    successors: tuple[str, ...]
    right_neighbour: str | None
    limit: float


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A recorded road user: rows t (s), x, y (m), heading (rad, unwrapped), v (m/s) of its centre; with one row it
    stands.
    """

    id: str
    kind: Kind
    length: float
    width: float
    states: FloatArray


@dataclass(frozen=True, eq=False)
class Recording:
    """A scenario as it was recorded."""

    name: str
    lanelets: dict[str, Lanelet]
    obstacles: tuple[Obstacle, ...]


def read_recording(path: Path) -> Recording:
    """Read a scenario file.

    Raises:
        InputError: no CommonRoad file, or one without lanelets.
    """
    try:
        root = etree.parse(str(path), etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
        if root.tag != "commonRoad":
            raise InputError(str(path), f"its root is {root.tag}", "commonRoad")
        step = _finite(root.get("timeStepSize", "0.1"), root)
        limits = dict(_sign_limits(root))
        lanelets = {each.get("id", ""): _lanelet(each, limits) for each in root.findall("lanelet")}
        obstacles = [each for each in root if etree.QName(each).localname.lower().endswith("obstacle")]
        read = [_obstacle(each, step) for each in obstacles]
    except InputError:
        raise
    except (etree.XMLSyntaxError, OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(str(path), f"no CommonRoad scenario: {error}", "2018b or 2020a XML") from None
    if not lanelets:
        raise InputError(str(path), "no lanelets", "a road network")
    return Recording(root.get("benchmarkID") or path.stem, lanelets, tuple(each for each in read if each is not None))


def _number(parent: Element, path: str) -> float:
    """A number, or the middle of an interval."""
    node = parent.find(path)
    if node is None:
        raise ValueError(f"line {parent.sourceline}: no {path}")
    if node.find("exact") is not None:
        return _finite(node.findtext("exact"), node)
    if node.find("intervalStart") is not None:
        return 0.5 * (_finite(node.findtext("intervalStart"), node) + _finite(node.findtext("intervalEnd"), node))
    return _finite(node.text, node)


def _finite(text: str | None, node: Element) -> float:
    value = float(text or "")
    if not abs(value) < LARGEST:
        raise ValueError(f"line {node.sourceline}: {value} is out of range")
    return value


def _lanelet(node: Element, limits: dict[str, float]) -> Lanelet:
    right = node.find("adjacentRight")
    same = right is not None and right.get("drivingDir") == "same"
    signs = [limits[ref] for sign in node.findall("trafficSignRef") if (ref := sign.get("ref", "")) in limits]
    own = node.findtext("speedLimit")
    limit = min(signs, default=DEFAULT_LIMIT if own is None else _finite(own, node))
    if not limit > 0.0:
        raise ValueError(f"line {node.sourceline}: a speed limit of {limit} m/s")
    return Lanelet(
        node.get("id", ""),
        _points(node, "leftBound"),
        _points(node, "rightBound"),
        tuple(each.get("ref", "") for each in node.findall("successor")),
        right.get("ref") if right is not None and same else None,
        limit,
    )


def _points(node: Element, bound: str) -> FloatArray:
    rows = [(_finite(p.findtext("x"), p), _finite(p.findtext("y"), p)) for p in node.findall(f"{bound}/point")]
    points = np.array(rows).reshape(-1, 2)
    length = float(elementwise.hypot(*np.diff(points, axis=0).T).sum())
    if not 0.0 < length < LONGEST_M:
        raise ValueError(f"line {node.sourceline}: {bound} of {len(rows)} points is {length:g} m long")
    return points


def _sign_limits(root: Element) -> Iterator[tuple[str, float]]:
    """Speed limits of signs (2020a): a maximum speed has its value in m/s."""
    for sign in root.findall("trafficSign"):
        for element in sign.findall("trafficSignElement"):
            value = element.findtext("additionalValue")
            if element.findtext("trafficSignID") in ("274", "R2-1", "s_301") and value is not None:
                yield sign.get("id", ""), _finite(value, element)


def _obstacle(node: Element, step: float) -> Obstacle | None:
    """None for what has no box, or no place."""
    shape, first = node.find("shape"), node.find("initialState")
    if shape is None or first is None or first.find("position/point") is None:
        return None
    rectangle, circle = shape.find("rectangle"), shape.find("circle")
    if rectangle is not None:
        length, width = _number(rectangle, "length"), _number(rectangle, "width")
    elif circle is not None:
        length = width = 2.0 * _number(circle, "radius")
    else:
        return None
    trajectory = node.find("trajectory")
    rows = [_state(each, step) for each in (first, *(() if trajectory is None else trajectory))]
    states = np.array(rows)
    states[:, 3] = np.unwrap(states[:, 3])
    _check(node, length, width, states[:, 0])
    kind = KINDS.get(node.findtext("type") or "", Kind.UNKNOWN)
    return Obstacle(node.get("id", ""), kind, length, width, states)


def _check(node: Element, length: float, width: float, times: FloatArray) -> None:
    """Raise `ValueError` where an obstacle cannot be one."""
    number = node.get("id", "")
    if not (number.isascii() and number.isdigit() and len(number) < 20):
        raise ValueError(f"line {node.sourceline}: the id {number!r} is no number")
    if not (length > 0.0 and width > 0.0):
        raise ValueError(f"line {node.sourceline}: a box of {length:g} m x {width:g} m")
    if not ((np.diff(times) > 0.0).all() and abs(times[-1]) < LONGEST_S and abs(times[0]) < LONGEST_S):
        raise ValueError(f"line {node.sourceline}: times that do not increase, or out of range")


def _state(node: Element, step: float) -> tuple[float, float, float, float, float]:
    v = _number(node, "velocity") if node.find("velocity") is not None else 0.0
    x, y = _number(node, "position/point/x"), _number(node, "position/point/y")
    return step * _number(node, "time"), x, y, _number(node, "orientation"), v
