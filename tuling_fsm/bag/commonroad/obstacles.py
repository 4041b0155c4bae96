"""CommonRoad's obstacles: boxes with recorded states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from lxml import etree

from tuling_fsm.bag.commonroad.occupancy import body_outlines, box_around, is_box, with_occupancies
from tuling_fsm.bag.commonroad.values import LONGEST_S, Element, number, outlines
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import rotated
from tuling_fsm.world.inputs import OBJECTS, Kind, Source

KINDS = {
    "car": Kind.CAR,
    "parkedVehicle": Kind.CAR,
    "taxi": Kind.CAR,
    "priorityVehicle": Kind.CAR,
    "truck": Kind.TRUCK,
    "train": Kind.TRUCK,
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
Report = Callable[[str], None]
"""Is told what of a scenario cannot be kept, one line each."""


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A recorded road user: rows t (s), x, y (m), heading (rad, unwrapped), v (m/s) of its centre.

    One that is `static` stands there at all times; any other is there from its first row to its last.
    """

    id: str
    kind: Kind
    length: float
    width: float
    states: FloatArray
    static: bool = False
    boxes: FloatArray | None = None
    """Rows heading (rad), length, width (m) of what it takes up in each state, where that is not its body: a set of
    occupancy is where it may be."""

    def there(self, t: float) -> bool:
        """Whether it is there at a time (s)."""
        return self.static or bool(self.states[0, 0] - 1e-6 <= t <= self.states[-1, 0] + 1e-6)

    def at(self, t: float) -> tuple[float, float, float, float]:
        """x, y (m), heading (rad), v (m/s) at a time (s); beyond its rows it stays as in the nearest one."""
        x, y, heading, v = (float(np.interp(t, self.states[:, 0], self.states[:, i])) for i in range(1, 5))
        return x, y, heading, v

    def box(self, t: float) -> tuple[float, float, float, float, float]:
        """x, y (m), heading (rad), length, width (m) of what it takes up at a time (s)."""
        x, y, heading, _ = self.at(t)
        if self.boxes is None:
            return x, y, heading, self.length, self.width
        heading, length, width = (float(np.interp(t, self.states[:, 0], self.boxes[:, i])) for i in range(3))
        return x, y, heading, length, width


def read_obstacle(node: Element, step: float, report: Report) -> Obstacle | None:
    """An obstacle of 2018b or 2020a; None, and a line to `report`, where it has no body or no place.

    Raises:
        ValueError: it cannot be one; names the line.
    """
    shape, first = node.find("shape"), node.find("initialState")
    number_of = node.get("id", "")
    bodies = [] if shape is None else body_outlines(shape)
    if first is None or not bodies:
        report(f"obstacle {number_of} has no {'place' if bodies else 'body'}: left out")
        return None
    if shape is not None and not is_box(shape, bodies):
        report(f"obstacle {number_of} is no box: taken for the smallest box around it")
    ahead, left, turned, length, width = box_around(bodies)
    static = node.tag == "staticObstacle" or node.findtext("role") == "static"
    rows = _rows(node, first, step)
    if rows is None:
        report(f"obstacle {number_of} has no place: left out")
        return None
    states = np.array(rows)
    states[:, 3] = np.unwrap(states[:, 3])
    sin, cos = elementwise.sin_cos(states[:, 3])
    states[:, 1] += ahead * cos - left * sin
    states[:, 2] += ahead * sin + left * cos
    states[:, 3] += turned
    states, boxes = with_occupancies(node, step, states, length, width)
    states[:, 3] = np.unwrap(states[:, 3])
    if any(not is_box(each, body_outlines(each)) for each in node.iterfind("occupancySet/occupancy/shape")):
        report(f"sets of obstacle {number_of} are no boxes: taken for the smallest boxes around them")
    _check(node, length, width, states[:, 0])
    kind = KINDS.get(node.findtext("type") or "", Kind.UNKNOWN)
    return Obstacle(number_of, kind, length, width, states, static, boxes)


def _rows(node: Element, first: Element, step: float) -> list[tuple[float, float, float, float, float]] | None:
    """The states; one at the time of the first is that state again."""
    begin = _state(first, step)
    if begin is None:
        return None
    trajectory = node.find("trajectory")
    rows = [begin]
    for each in () if trajectory is None else trajectory:
        state = _state(each, step)
        if state is not None and not (len(rows) == 1 and state[0] == begin[0]):
            rows.append(state)
    return rows


def _state(node: Element, step: float) -> tuple[float, float, float, float, float] | None:
    """A state; one whose place is a region is in its middle, and one without a place is nowhere."""
    v = number(node, "velocity") if node.find("velocity") is not None else 0.0
    heading = number(node, "orientation") if node.find("orientation") is not None else 0.0
    t = step * number(node, "time")
    if node.find("position/point") is not None:
        return t, number(node, "position/point/x"), number(node, "position/point/y"), heading, v
    position = node.find("position")
    regions = [] if position is None else outlines(position)
    if not regions:
        return None
    x, y = np.vstack(regions).mean(axis=0).tolist()
    return t, x, y, heading, v


def _check(node: Element, length: float, width: float, times: FloatArray) -> None:
    """Raise `ValueError` where an obstacle cannot be one."""
    number_of = node.get("id", "")
    if not (number_of.isascii() and number_of.isdigit() and len(number_of) < 20):
        raise ValueError(f"line {node.sourceline}: the id {number_of!r} is no number")
    if not (length > 0.0 and width > 0.0):
        raise ValueError(f"line {node.sourceline}: a box of {length:g} m x {width:g} m")
    if not ((np.diff(times) > 0.0).all() and abs(times[-1]) < LONGEST_S and abs(times[0]) < LONGEST_S):
        raise ValueError(f"line {node.sourceline}: times that do not increase, or out of range")


def is_obstacle(node: Element) -> bool:
    """Whether a node is one: 2018b and 2020a name them differently."""
    return isinstance(node.tag, str) and etree.QName(node).localname.lower().endswith("obstacle")


def object_rows(obstacles: Sequence[Obstacle], t: float) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Rows of the topic `objects`: all that are there at a time (s)."""
    present = [each for each in obstacles if each.there(t)]
    rows = np.zeros(len(present), OBJECTS)
    for row, each in zip(rows, present, strict=True):
        _, _, heading, v = each.at(t)
        row["id"], row["kind"] = int(each.id) % 2**32, each.kind
        row["source"] = Source.LIDAR | Source.RADAR | Source.CAMERA
        vx, vy = rotated(np.array((v, 0.0)), heading).tolist()
        row["vx"], row["vy"] = vx, vy
        row["x"], row["y"], row["heading"], row["length"], row["width"] = each.box(t)
        row["existence"] = 1.0
    return rows
