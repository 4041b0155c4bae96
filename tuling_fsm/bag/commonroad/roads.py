"""Lanelets as an OpenDRIVE map (ASAM OpenDRIVE 1.7): lanelets side by side become the lanes of one road."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from lxml import etree

from tuling_fsm.bag.commonroad.scenario import Lanelet
from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray

Element = etree._Element
STATION_M = 2.0
"""A line of the road is bent at most this often."""
LEAST_WIDTH_M = 0.1


@dataclass(eq=False)
class LaneletRow:
    """A road: its lanelets from left to right, the rows that follow it, and the junction that it belongs to."""

    id: int
    lanelets: list[Lanelet]
    following: list[LaneletRow] = field(default_factory=list)
    before: list[LaneletRow] = field(default_factory=list)
    junction: int = -1

    def lane(self, lanelet: str) -> int | None:
        """The number of the lane that a lanelet is."""
        return next((-i - 1 for i, each in enumerate(self.lanelets) if each.id == lanelet), None)

    def links(self, other: LaneletRow) -> list[tuple[int, int]]:
        """Which lanes of this row lead into which lanes of another one."""
        found = [
            (-i - 1, lane)
            for i, each in enumerate(self.lanelets)
            for successor in each.successors
            if (lane := other.lane(successor)) is not None
        ]
        return list({mine: (mine, theirs) for mine, theirs in reversed(found)}.values())[::-1]


def to_opendrive(name: str, lanelets: dict[str, Lanelet]) -> bytes:
    """The map of a road network. Where roads fork, the roads that begin there lie in a junction."""
    rows = _rows(lanelets)
    root = etree.Element("OpenDRIVE")
    etree.SubElement(root, "header", revMajor="1", revMinor="7", name=name, version="1.0")
    for row in rows:
        _road(root, row)
    forks = [row for row in rows if len(row.following) > 1]
    for number in sorted({row.following[0].junction for row in forks}):
        junction = etree.SubElement(root, "junction", id=str(number), name=f"junction {number}")
        pairs = [(fork, each) for fork in forks if fork.following[0].junction == number for each in fork.following]
        for i, (fork, each) in enumerate(pairs):
            connection = etree.SubElement(
                junction, "connection", id=str(i), incomingRoad=str(fork.id), connectingRoad=str(each.id),
                contactPoint="start",
            )  # fmt: skip
            for mine, theirs in fork.links(each):
                etree.SubElement(connection, "laneLink", {"from": str(mine), "to": str(theirs)})
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _rows(lanelets: dict[str, Lanelet]) -> list[LaneletRow]:
    """Lanelets side by side, from the leftmost on; then which lane follows which, and the junctions."""
    on_the_right = {each.right_neighbour for each in lanelets.values()}
    rows: list[LaneletRow] = []
    of: dict[str, LaneletRow] = {}
    for first in sorted(lanelets.values(), key=lambda each: (each.id in on_the_right, each.id)):
        if first.id in of:
            continue
        row = LaneletRow(len(rows) + 1, [])
        rows.append(row)
        lanelet: Lanelet | None = first
        while lanelet is not None and lanelet.id not in of:
            row.lanelets.append(lanelet)
            of[lanelet.id] = row
            lanelet = lanelets.get(lanelet.right_neighbour or "")
    for row in rows:
        followers = [of[s] for each in row.lanelets for s in each.successors if s in of and of[s] is not row]
        row.following = list(dict.fromkeys(followers))
        for each in row.following:
            each.before.append(row)
    _number_junctions(rows)
    return rows


def _number_junctions(rows: list[LaneletRow]) -> None:
    """The roads behind a fork share a junction, and with those of every other fork that leads into one of them."""
    for fork in rows:
        if len(fork.following) < 2:
            continue
        number = 1000 + fork.id
        known = {each.junction for each in fork.following} - {-1}
        for row in rows:
            if row in fork.following or row.junction in known:
                row.junction = number


def _road(root: Element, row: LaneletRow) -> None:
    left, stations = _reference(row.lanelets[0].left)
    length = float(stations[-1])
    road = etree.SubElement(root, "road", id=str(row.id), junction=str(row.junction), length=f"{length:.9g}",
                            name=" ".join(each.id for each in row.lanelets), rule="RHT")  # fmt: skip
    _links(road, row)
    limit = max(each.limit for each in row.lanelets)
    etree.SubElement(etree.SubElement(road, "type", s="0", type="town"), "speed", max=f"{limit:.6g}", unit="m/s")
    plan = etree.SubElement(road, "planView")
    for i, step in enumerate(np.diff(left, axis=0)):
        etree.SubElement(
            plan, "geometry", s=f"{stations[i]:.9g}", x=f"{left[i, 0]:.9g}", y=f"{left[i, 1]:.9g}",
            hdg=f"{elementary.atan2(step[1], step[0]):.9g}", length=f"{stations[i + 1] - stations[i]:.9g}",
        ).append(etree.Element("line"))  # fmt: skip
    section = etree.SubElement(etree.SubElement(road, "lanes"), "laneSection", s="0")
    centre = etree.SubElement(etree.SubElement(section, "center"), "lane", id="0", type="none", level="false")
    _mark(centre, solid=True)
    right = etree.SubElement(section, "right")
    bounds = [_across(left, stations, line) for line in (row.lanelets[0].left, *(e.right for e in row.lanelets))]
    for i in range(len(row.lanelets)):
        lane = etree.SubElement(right, "lane", id=str(-i - 1), type="driving", level="false")
        _lane_links(lane, row, -i - 1)
        for s, width, slope in _slopes(stations, np.maximum(bounds[i] - bounds[i + 1], LEAST_WIDTH_M)):
            etree.SubElement(lane, "width", sOffset=f"{s:.9g}", a=f"{width:.9g}", b=f"{slope:.9g}", c="0", d="0")
        _mark(lane, solid=i + 1 == len(row.lanelets))


def _links(road: Element, row: LaneletRow) -> None:
    link = etree.SubElement(road, "link")
    for tag, others, contact in (("predecessor", row.before, "end"), ("successor", row.following, "start")):
        forks = tag == "successor" and len(others) > 1
        if len(others) == 1 and not (tag == "predecessor" and len(others[0].following) > 1):
            etree.SubElement(link, tag, elementType="road", elementId=str(others[0].id), contactPoint=contact)
        elif forks:
            etree.SubElement(link, tag, elementType="junction", elementId=str(others[0].junction))


def _lane_links(lane: Element, row: LaneletRow, number: int) -> None:
    if len(row.following) != 1:
        return
    for mine, theirs in row.links(row.following[0]):
        if mine == number:
            etree.SubElement(etree.SubElement(lane, "link"), "successor", id=str(theirs))


def _mark(lane: Element, solid: bool) -> None:
    kind = "solid" if solid else "broken"
    etree.SubElement(lane, "roadMark", sOffset="0", type=kind, color="white", width="0.12",
                     laneChange="none" if solid else "both")  # fmt: skip


def _reference(line: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The line with about evenly spaced points, and their arc lengths."""
    s = _arc(line)
    even = np.linspace(0.0, s[-1], max(math.ceil(s[-1] / STATION_M), 1) + 1)
    points = np.column_stack((np.interp(even, s, line[:, 0]), np.interp(even, s, line[:, 1])))
    return points, _arc(points)


def _arc(line: FloatArray) -> FloatArray:
    return np.concatenate(([0.0], np.cumsum(elementwise.hypot(*np.diff(line, axis=0).T))))


def _across(reference: FloatArray, stations: FloatArray, line: FloatArray) -> FloatArray:
    """How far to the left of the reference a line lies at each station, m; both are run through in the same share."""
    s = _arc(line)
    share = stations / stations[-1] * s[-1]
    x, y = np.interp(share, s, line[:, 0]), np.interp(share, s, line[:, 1])
    along = np.gradient(reference, axis=0)
    along /= np.maximum(elementwise.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    return np.asarray(along[:, 0] * (y - reference[:, 1]) - along[:, 1] * (x - reference[:, 0]), dtype=np.float64)


def _slopes(stations: FloatArray, widths: FloatArray) -> Iterator[tuple[float, float, float]]:
    """Linear pieces: where each begins, its width there, and its slope."""
    slopes = np.diff(widths) / np.diff(stations)
    yield from zip(stations[:-1].tolist(), widths[:-1].tolist(), slopes.tolist(), strict=True)
