"""Lanelets as an OpenDRIVE map (OpenDRIVE 1.7, [opendrive][]): lanelets side by side become the lanes of one road."""

from __future__ import annotations

import numpy as np
from lxml import etree

from tuling_fsm.bag.commonroad.curve import ReferenceCurve, beside, reference_curve
from tuling_fsm.bag.commonroad.lanelet_rows import LaneletRow, rows_of
from tuling_fsm.bag.commonroad.lanelets import MARKINGS, Lanelet
from tuling_fsm.bag.commonroad.origin import Origin
from tuling_fsm.core.arrays import FloatArray

Element = etree._Element
LEAST_WIDTH_M = 0.1


def to_opendrive(name: str, lanelets: dict[str, Lanelet], origin: Origin = (0.0, 0.0)) -> bytes:
    """The map of a road network. Where roads fork, the roads that begin there lie in a junction.

    An origin other than zero is the header's offset: added to the map's coordinates it gives those of the scenario.
    """
    rows = rows_of(lanelets)
    root = etree.Element("OpenDRIVE")
    header = etree.SubElement(root, "header", revMajor="1", revMinor="7", name=name, version="1.0")
    if origin != (0.0, 0.0):
        etree.SubElement(header, "offset", x=repr(origin[0]), y=repr(origin[1]), z="0.0", hdg="0.0")
    for row in rows:
        _road(root, row)
    forks = [row for row in rows if len(row.following) > 1]
    for number in sorted({row.following[0].junction for row in forks}):
        _junction(root, number, [row for row in forks if row.following[0].junction == number])
    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True))


def _junction(root: Element, number: int, forks: list[LaneletRow]) -> None:
    junction = etree.SubElement(root, "junction", id=str(number), name=f"junction {number}")
    pairs = [(fork, each) for fork in forks for each in fork.following]
    for i, (fork, each) in enumerate(pairs):
        connection = etree.SubElement(
            junction, "connection", id=str(i), incomingRoad=str(fork.id), connectingRoad=str(each.id),
            contactPoint="start",
        )  # fmt: skip
        for mine, theirs in fork.links(each):
            etree.SubElement(connection, "laneLink", {"from": str(mine), "to": str(theirs)})


def _road(root: Element, row: LaneletRow) -> None:
    curve = reference_curve(row.lanelets[0].left, row.lanelets[-1].right)
    road = etree.SubElement(root, "road", id=str(row.id), junction=str(row.junction),
                            length=f"{curve.stations[-1]:.9g}", name=" ".join(each.id for each in row.lanelets),
                            rule="RHT")  # fmt: skip
    _links(road, row)
    limit = max(each.limit for each in row.lanelets)
    etree.SubElement(etree.SubElement(road, "type", s="0", type="town"), "speed", max=f"{limit:.6g}", unit="m/s")
    _plan_view(road, curve)
    bounds = [beside(curve, line) for line in (row.lanelets[0].left, *(each.right for each in row.lanelets))]
    lanes = etree.SubElement(road, "lanes")
    _polynomials(lanes, "laneOffset", "s", curve.stations, bounds[0])
    section = etree.SubElement(lanes, "laneSection", s="0")
    centre = etree.SubElement(etree.SubElement(section, "center"), "lane", id="0", type="none", level="false")
    _mark(centre, row.lanelets[0].left_marking or "solid")
    right = etree.SubElement(section, "right")
    for i, lanelet in enumerate(row.lanelets):
        lane = etree.SubElement(right, "lane", id=str(-i - 1), type=lanelet.type, level="false")
        _lane_links(lane, row, -i - 1)
        widths = np.maximum(bounds[i] - bounds[i + 1], LEAST_WIDTH_M)
        _polynomials(lane, "width", "sOffset", curve.stations, widths)
        _mark(lane, _between(lanelet, row.lanelets[i + 1] if i + 1 < len(row.lanelets) else None))
        etree.SubElement(lane, "speed", sOffset="0", max=f"{lanelet.limit:.6g}", unit="m/s")


def _polynomials(parent: Element, tag: str, begin: str, stations: FloatArray, values: FloatArray) -> None:
    """Linear pieces between values at stations."""
    slopes = np.diff(values) / np.diff(stations)
    for s, value, slope in zip(stations[:-1].tolist(), values[:-1].tolist(), slopes.tolist(), strict=True):
        numbers = {begin: s, "a": value, "b": slope, "c": 0.0, "d": 0.0}
        etree.SubElement(parent, tag, {key: f"{number:.9g}" for key, number in numbers.items()})


def _plan_view(road: Element, curve: ReferenceCurve) -> None:
    plan = etree.SubElement(road, "planView")
    for s, piece in zip(curve.stations.tolist(), curve.pieces, strict=False):
        geometry = etree.SubElement(
            plan, "geometry", s=f"{s:.9g}", x=f"{piece.x:.9g}", y=f"{piece.y:.9g}", hdg=f"{piece.heading:.9g}",
            length=f"{piece.length:.9g}",
        )  # fmt: skip
        numbers = {"aU": 0.0, "aV": 0.0}
        numbers |= {f"{letter}{axis}": value
                    for axis, row in (("U", piece.u), ("V", piece.v))
                    for letter, value in zip("bcd", row, strict=True)}  # fmt: skip
        etree.SubElement(geometry, "paramPoly3", {key: f"{value:.9g}" for key, value in numbers.items()},
                         pRange="normalized")  # fmt: skip


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


def _between(lanelet: Lanelet, right: Lanelet | None) -> str:
    """CommonRoad's word for the line on a lanelet's right; where there is none, lanes of one road may be changed."""
    if right is None:
        return lanelet.right_marking or "solid"
    return lanelet.right_marking or right.left_marking or "dashed"


def _mark(lane: Element, marking: str) -> None:
    """The line; a word that says nothing of crossing is a solid line."""
    kind, change = MARKINGS.get(marking, MARKINGS["solid"])
    etree.SubElement(lane, "roadMark", sOffset="0", type=kind, color="white", width="0.12", laneChange=change)
