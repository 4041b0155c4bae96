"""CommonRoad's lanelets, with what their signs and types say ([althoff2017][]; format 2018b and 2020a)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tuling_fsm.bag.commonroad.obstacles import Report
from tuling_fsm.bag.commonroad.values import LONGEST_M, Element, finite, points
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Polyline

TOWN_LIMIT, MOTORWAY_LIMIT = 13.9, 36.1
"""Speed limits where none is given, m/s: 50 and 130 km/h."""
MOTORWAY_TAGS = {"highway", "interstate"}
"""Of scenarios on roads without the limit of a town."""
LANE_TYPES = {
    "sidewalk": "sidewalk",
    "crosswalk": "sidewalk",
    "bicycleLane": "biking",
    "busLane": "bus",
    "busStop": "stop",
    "parking": "parking",
    "shoulder": "shoulder",
    "border": "border",
    "restricted": "restricted",
}
"""OpenDRIVE's lane type for CommonRoad's; all others are driven on."""
APART_M = 0.3
"""Bounds of neighbours that are farther apart are two."""
MAX_SPEED_SIGNS = (
    *("274", "274.1", "R2-1", "s_301", "r301"),
    *("3.24", "R15", "C43", "B14", "B31", "\N{GREEK CAPITAL LETTER RHO}-32"),
)
"""Of the countries that commonroad-io knows: Germany (274.1 begins a zone), USA, Spain; Russia, Argentina, Belgium,
France, Croatia, Greece.
"""
MARKINGS = {
    "solid": ("solid", "none"),
    "broad_solid": ("solid", "none"),
    "solid_solid": ("solid solid", "none"),
    "dashed": ("broken", "both"),
    "broad_dashed": ("broken", "both"),
    "dashed_dashed": ("broken broken", "both"),
    "solid_dashed": ("solid broken", "increase"),
    "dashed_solid": ("broken solid", "decrease"),
    "no_marking": ("none", "both"),
}
"""OpenDRIVE's type of a line for CommonRoad's, and which way it may be crossed. Both name the left one of two lines
first: our lanes have falling numbers from left to right.
"""


@dataclass(frozen=True, eq=False)
class Lanelet:
    """A piece of lane: bounds (N, 2) in the direction of travel, m; its neighbours; its limit, m/s."""

    id: str
    left: FloatArray
    right: FloatArray
    successors: tuple[str, ...]
    right_neighbour: str | None
    limit: float
    left_neighbour: str | None = None
    type: str = "driving"
    """OpenDRIVE's."""
    left_marking: str | None = None
    """CommonRoad's word for the line on the left; None where it says nothing."""
    right_marking: str | None = None
    stop_line: str | None = None
    """What is to be done where it ends: `stop`, `yield`, `light`, or nothing."""
    opposite: str | None = None
    """The neighbour on the left that is driven the other way."""
    signs: tuple[str, ...] = field(default=())
    """Ids of the signs that are not kept."""

    @property
    def centre(self) -> FloatArray:
        """The line in the middle (N, 2), m, between points at the same share of both bounds."""
        share: FloatArray = np.linspace(0.0, 1.0, max(len(self.left), len(self.right), 2), dtype=np.float64)
        return 0.5 * (at_shares(self.left, share) + at_shares(self.right, share))

    @property
    def outline(self) -> FloatArray:
        """The surface as a polygon (K, 2), m."""
        return np.vstack((self.left, self.right[::-1]))


def arc_lengths(line: FloatArray) -> FloatArray:
    """Arc lengths (N,) of the points of a line (N, 2), m."""
    return np.concatenate(([0.0], np.cumsum(elementwise.hypot(*np.diff(line, axis=0).T))))


def at_shares(line: FloatArray, share: FloatArray) -> FloatArray:
    """The points (M, 2) at shares (M,) of a line's length, 0 to 1."""
    s = arc_lengths(line)
    at = share * s[-1]
    return np.column_stack((np.interp(at, s, line[:, 0]), np.interp(at, s, line[:, 1])))


def in_common(left: Lanelet, right: Lanelet) -> bool:
    """Whether two neighbours have the bound between them in common; they have not where a lane forks."""
    whole = Polyline.of(left.right)
    return all(abs(whole.project(x, y).offset) <= APART_M for x, y in right.left.tolist())


def read_lanelets(root: Element, report: Report) -> dict[str, Lanelet]:
    """All lanelets by id. What OpenDRIVE's lanes here cannot say is reported.

    Raises:
        ValueError: a lanelet that cannot be one; names the line.
    """
    signs = {sign.get("id", ""): sign for sign in root.findall("trafficSign")}
    usual = MOTORWAY_LIMIT if MOTORWAY_TAGS & _tags(root) else TOWN_LIMIT
    found = {node.get("id", ""): _lanelet(node, signs, usual) for node in root.findall("lanelet")}
    _report(root, found, report)
    return found


def led_on(lanelets: Mapping[str, Lanelet], length: float, before: float) -> dict[str, Lanelet]:
    """The lanelets, a straight one of a length (m) behind each that ends where the map is cut off, and, where they are
    to be led up to, one of the length `before` to each that begins there.
    """
    followed = {successor for each in lanelets.values() for successor in each.successors}
    onward = {each.id: f"{each.id}_onward" for each in lanelets.values() if not each.successors}
    earlier = {each.id: f"{each.id}_earlier" for each in lanelets.values() if before > 0.0 and each.id not in followed}
    return {
        **{key: replace(each, successors=each.successors or (onward[key],)) for key, each in lanelets.items()},
        **{new: _straight(lanelets[last], onward, length, -1, ()) for last, new in onward.items()},
        **{new: _straight(lanelets[first], earlier, -before, 0, (first,)) for first, new in earlier.items()},
    }


def _straight(of: Lanelet, ids: Mapping[str, str], length: float, end: int, successors: tuple[str, ...]) -> Lanelet:
    """A straight lanelet at an end (0 or -1) of another one, beside those of its neighbours; a negative length (m) is
    driven towards it.
    """
    centre = of.centre
    x, y = (centre[1] - centre[0] if end == 0 else centre[-1] - centre[-2]).tolist()
    along = np.array((x, y)) * (length / elementary.hypot(x, y))
    order = 1 if length > 0.0 else -1
    return Lanelet(
        ids[of.id],
        np.vstack((of.left[end], of.left[end] + along))[::order],
        np.vstack((of.right[end], of.right[end] + along))[::order],
        successors,
        None if of.right_neighbour is None else ids.get(of.right_neighbour),
        of.limit,
        None if of.left_neighbour is None else ids.get(of.left_neighbour),
        of.type,
    )


def _tags(root: Element) -> set[str]:
    """What a scenario is said to be: an attribute (2018b), or elements (2020a)."""
    elements = root.find("scenarioTags")
    return {*root.get("tags", "").split(), *(() if elements is None else (str(each.tag) for each in elements))}


def _lanelet(node: Element, signs: Mapping[str, Element], usual_limit: float) -> Lanelet:
    refs = [sign.get("ref", "") for sign in node.findall("trafficSignRef")]
    limits = [limit for ref in refs if ref in signs for limit in _limits(signs[ref])]
    own = node.findtext("speedLimit")
    limit = min(limits, default=usual_limit if own is None else finite(own, node))
    if not limit > 0.0:
        raise ValueError(f"line {node.sourceline}: a speed limit of {limit} m/s")
    types = [LANE_TYPES[each.text] for each in node.findall("laneletType") if each.text in LANE_TYPES]
    return Lanelet(
        node.get("id", ""),
        _bound(node, "leftBound"),
        _bound(node, "rightBound"),
        tuple(each.get("ref", "") for each in node.findall("successor")),
        _neighbour(node, "adjacentRight", "same"),
        limit,
        _neighbour(node, "adjacentLeft", "same"),
        types[0] if types else "driving",
        node.findtext("leftBound/lineMarking"),
        node.findtext("rightBound/lineMarking"),
        _stop_line(node, signs),
        _neighbour(node, "adjacentLeft", "opposite"),
        tuple(ref for ref in refs if ref not in signs or not any(True for _ in _limits(signs[ref]))),
    )


def _neighbour(node: Element, side: str, direction: str) -> str | None:
    found = node.find(side)
    return found.get("ref") if found is not None and found.get("drivingDir") == direction else None


def _bound(node: Element, bound: str) -> FloatArray:
    """A bound without points twice in a row."""
    side = node.find(bound)
    rows = points(node if side is None else side)
    steps = elementwise.hypot(*np.diff(rows, axis=0).T)
    length = float(steps.sum())
    if not 0.0 < length < LONGEST_M:
        raise ValueError(f"line {node.sourceline}: {bound} of {len(rows)} points is {length:g} m long")
    return np.asarray(rows[np.concatenate(([True], steps > 0.0))], dtype=np.float64)


def _limits(sign: Element) -> Iterator[float]:
    """Speed limits of a sign (2020a): a maximum speed has its value in m/s."""
    for element in sign.findall("trafficSignElement"):
        value = element.findtext("additionalValue")
        if element.findtext("trafficSignID") in MAX_SPEED_SIGNS and value is not None:
            yield finite(value, element)


STOP_SIGNS = {"206": "stop", "R1-1": "stop", "205": "yield", "R1-2": "yield"}


def _stop_line(node: Element, signs: Mapping[str, Element]) -> str | None:
    """What its stop line asks for, by the signs and lights at it."""
    line = node.find("stopLine")
    if line is None:
        return None
    if line.find("trafficLightRef") is not None or node.find("trafficLightRef") is not None:
        return "light"
    refs = [each.get("ref", "") for parent in (line, node) for each in parent.findall("trafficSignRef")]
    words = [element.findtext("trafficSignID") or "" for ref in refs if ref in signs for element in signs[ref]]
    return next((STOP_SIGNS[word] for word in words if word in STOP_SIGNS), "stop")


def _report(root: Element, lanelets: Mapping[str, Lanelet], report: Report) -> None:
    """What is lost, one line for each kind of thing."""
    lost = sorted({ref for each in lanelets.values() for ref in each.signs if ref})
    counts = {
        f"traffic signs {', '.join(lost)} are no speed limits: not kept": len(lost),
        "traffic lights are not kept: their stop lines are not either": len(root.findall("trafficLight")),
        "stop lines are not kept": sum(each.stop_line is not None for each in lanelets.values()),
        "neighbours that are driven the other way lie on roads of their own": sum(
            each.opposite is not None for each in lanelets.values()
        ),
        "neighbours without a common bound lie on roads of their own": sum(
            each.right_neighbour in lanelets and not in_common(each, lanelets[each.right_neighbour])
            for each in lanelets.values()
            if each.right_neighbour is not None
        ),
    }
    for line, count in counts.items():
        if count:
            report(f"{line} ({count})")
