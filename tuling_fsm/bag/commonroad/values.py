"""Numbers, intervals, points and shapes as CommonRoad's XML writes them ([althoff2017][])."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from lxml import etree

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, to_global

Element = etree._Element
LARGEST, LONGEST_M, LONGEST_S = 1.0e8, 1.0e5, 1.0e5
"""Any number; the length of a lanelet; the time of a recording. What is beyond is a fault of the file."""
CIRCLE_CORNERS = 24


class Interval(NamedTuple):
    """Both ends belong to it."""

    low: float
    high: float


def finite(text: str | None, node: Element) -> float:
    """A number.

    Raises:
        ValueError: none, or out of range; names the line.
    """
    value = float(text or "")
    if not abs(value) < LARGEST:
        raise ValueError(f"line {node.sourceline}: {value} is out of range")
    return value


def interval(parent: Element, path: str) -> Interval:
    """An interval, or an exact number as one without length.

    Raises:
        ValueError: it is not there, or no numbers.
    """
    node = parent.find(path)
    if node is None:
        raise ValueError(f"line {parent.sourceline}: no {path}")
    if node.find("intervalStart") is not None:
        ends = (finite(node.findtext(end), node) for end in ("intervalStart", "intervalEnd"))
        return Interval(*ends)
    exact = finite(node.text if node.find("exact") is None else node.findtext("exact"), node)
    return Interval(exact, exact)


def number(parent: Element, path: str) -> float:
    """A number, or the middle of an interval.

    Raises:
        ValueError: it is not there, or no number.
    """
    low, high = interval(parent, path)
    return low if low == high else 0.5 * (low + high)


def points(node: Element) -> FloatArray:
    """The points (N, 2) below a node, m."""
    rows = [(finite(p.findtext("x"), p), finite(p.findtext("y"), p)) for p in node.findall("point")]
    return np.array(rows, dtype=np.float64).reshape(-1, 2)


def outlines(node: Element) -> list[FloatArray]:
    """Rectangles, circles and polygons below a node as outlines (K, 2), m, in the node's frame."""
    found = []
    for each in node:
        if each.tag == "rectangle":
            found.append(_rectangle(each))
        elif each.tag == "circle":
            found.append(_circle(each))
        elif each.tag == "polygon" and len(corners := points(each)) > 2:
            found.append(corners)
    return found


def polygon_area(outline: FloatArray) -> float:
    """Area inside an outline (K, 2), m^2."""
    x, y = outline.T
    return 0.5 * abs(float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()))


def _centre(node: Element) -> tuple[float, float]:
    if node.find("center") is None:
        return 0.0, 0.0
    return number(node, "center/x"), number(node, "center/y")


def _rectangle(node: Element) -> FloatArray:
    half_length, half_width = 0.5 * number(node, "length"), 0.5 * number(node, "width")
    heading = 0.0 if node.find("orientation") is None else number(node, "orientation")
    corners = np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)]) * (half_length, half_width)
    return to_global(corners, Pose(*_centre(node), heading))


def _circle(node: Element) -> FloatArray:
    """A polygon of the circle's area."""
    step = 2.0 * np.pi / CIRCLE_CORNERS
    angles = np.arange(CIRCLE_CORNERS) * step
    sine = float(elementwise.sin(np.array([step]))[0])
    reach = number(node, "radius") * float(np.sqrt(step / sine))
    s, c = elementwise.sin_cos(angles)
    ring = np.column_stack((c, s))
    return np.asarray(reach * ring + _centre(node), dtype=np.float64)
