"""What CommonRoad's obstacles take up: outlines of bodies, sets of occupancy, and the boxes around them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuling_fsm.bag.commonroad.values import Element, interval, number, outlines, polygon_area
from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import rotated
from tuling_fsm.map.polygon import slot_box

FILLED = 1e-6
"""An outline that fills the box along its own axes but for this share is that box."""
MOMENT_S = 1e-6
"""Where the times of two sets touch or overlap the earlier one holds, and the later one from so much later on."""
STILL_M = 1e-3
"""The middle of a set that is no farther from that of the last one has no direction."""


def body_outlines(shape: Element) -> list[FloatArray]:
    """The outlines of a body; a circle is the square around it, as road users are boxes here."""
    found = outlines(shape)
    for i, each in enumerate(each for each in shape if each.tag in ("rectangle", "circle", "polygon")):
        if each.tag == "circle" and i < len(found):
            middle, radius = found[i].mean(axis=0), number(each, "radius")
            found[i] = middle + radius * np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])
    return found


def is_box(shape: Element, bodies: Sequence[FloatArray]) -> bool:
    """Whether the outlines of a shape are those of one box."""
    return len(bodies) == 1 and shape.find("polygon") is None


def box_around(bodies: Sequence[FloatArray]) -> tuple[float, float, float, float, float]:
    """The box around outlines: where its centre is (m ahead, m to the left), how it is turned, its length, width."""
    corners = np.vstack(bodies)
    size = corners.max(axis=0) - corners.min(axis=0)
    if len(bodies) == 1 and polygon_area(bodies[0]) < (1.0 - FILLED) * float(size[0] * size[1]):
        # Closed, so that one with four corners is taken for no parking space, whose box is smaller than itself.
        pose, length, width = slot_box(np.vstack((bodies[0], bodies[0][:1])))
        return pose.x, pose.y, pose.heading, length, width
    middle = corners.min(axis=0) + 0.5 * size
    return float(middle[0]), float(middle[1]), 0.0, float(size[0]), float(size[1])


def _box_along(bodies: Sequence[FloatArray], heading: float) -> tuple[float, float, float, float, float]:
    """x, y, heading, length, width of the box around outlines; that of its sides is ahead that is nearest to a heading
    (rad).
    """
    ahead, left, turned, length, width = box_around([rotated(each, -heading) for each in bodies])
    quarters = round(turned / (0.5 * np.pi))
    if quarters % 2:
        length, width = width, length
    x, y = rotated(np.array((ahead, left)), heading).tolist()
    return x, y, heading + turned - quarters * 0.5 * np.pi, length, width


def with_occupancies(
    node: Element, step: float, states: FloatArray, length: float, width: float
) -> tuple[FloatArray, FloatArray | None]:
    """The states of a body, then the middles of its sets of occupancy at the beginning and the end of their times,
    headed and as fast as the way there; and the boxes (rows heading, length, width) of all, None where none is a set.

    Raises:
        ValueError: a set without a region or a time; names the line.
    """
    rows, boxes = states.tolist(), [(heading, length, width) for heading in states[:, 3].tolist()]
    middle = rows[-1][0]
    for each in node.iterfind("occupancySet/occupancy"):
        shape = each.find("shape")
        bodies = [] if shape is None else body_outlines(shape)
        if not sum(polygon_area(body) for body in bodies) > 0.0:
            raise ValueError(f"line {each.sourceline}: an occupancy without a region")
        x, y, *box = _box_along(bodies, boxes[-1][0])
        low, high = (step * t for t in interval(each, "time"))
        last, last_middle, middle = rows[-1], middle, 0.5 * (low + high)
        far = elementary.hypot(x - last[1], y - last[2])
        heading = elementary.atan2(y - last[2], x - last[1]) if far > STILL_M else last[3]
        v = far / max(middle - last_middle, MOMENT_S)
        for t in dict.fromkeys((max(low, last[0] + MOMENT_S), high)):
            rows.append([t, x, y, heading, v])
            boxes.append((box[0], box[1], box[2]))
    return np.array(rows), np.array(boxes) if len(rows) > len(states) else None
