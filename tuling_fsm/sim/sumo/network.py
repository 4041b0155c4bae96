"""SUMO's road network as it is in its file: edges, lanes, junctions and connections, with the links of lights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline, Pose

_PASSENGER = "passenger"


@dataclass(frozen=True, eq=False)
class SumoLane:
    """A lane of an edge, counted from the right; its middle in the map's coordinates."""

    id: str
    edge: str
    index: int
    center: Polyline
    passenger: bool
    """Whether cars may use it."""

    def samples(self, spacing: float, margin: float) -> Iterator[Pose]:
        """Places along the middle, none nearer than a margin (m) to the ends; in a lane shorter than two margins its
        middle.
        """
        length = self.center.length
        places = np.arange(margin, length - margin, spacing) if length > 2.0 * margin else np.array([0.5 * length])
        yield from (self.center.at(s) for s in places.tolist())


@dataclass(frozen=True, eq=False)
class SumoEdge:
    """A road in one direction, from junction to junction, without those inside junctions."""

    id: str
    to: str
    length: float
    lanes: tuple[SumoLane, ...]


class SumoConnection(NamedTuple):
    """A way from a lane over a junction to another, with its link of a traffic light if there is one: id and index."""

    source: str
    source_lane: int
    target: str
    target_lane: int
    light: tuple[str, int] | None
    major: bool
    """Whether nobody else has priority while the light is green."""


@dataclass(frozen=True, eq=False)
class SumoNetwork:
    """Edges by id, type of every junction by id, and connections."""

    file: Path
    edges: Mapping[str, SumoEdge]
    junctions: Mapping[str, str]
    connections: tuple[SumoConnection, ...]


def read_network(file: Path) -> SumoNetwork:
    """Read a network.

    Raises:
        InputError: it is none.
    """
    try:
        root = etree.parse(file, etree.XMLParser(resolve_entities=False, no_network=True)).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        raise InputError(str(file), f"cannot be read: {error}", "a network of SUMO") from error
    edges = {_get(edge, "id"): _edge(edge) for edge in root.iterfind("edge") if edge.get("function") is None}
    return SumoNetwork(
        file,
        edges,
        {_get(junction, "id"): _get(junction, "type") for junction in root.iterfind("junction")},
        tuple(_connection(each) for each in root.iterfind("connection") if each.get("from") in edges),
    )


def _get(element: etree._Element, name: str) -> str:
    value = element.get(name)
    if value is None:
        raise InputError(f"<{element.tag}> of a network of SUMO", f"no {name}", "one made by netconvert")
    return value


def _edge(edge: etree._Element) -> SumoEdge:
    number = _get(edge, "id")
    lanes = tuple(
        SumoLane(_get(lane, "id"), number, int(_get(lane, "index")), _shape(_get(lane, "shape")), _for_cars(lane))
        for lane in edge.iterfind("lane")
    )
    length = max(float(_get(lane, "length")) for lane in edge.iterfind("lane"))
    return SumoEdge(number, _get(edge, "to"), length, lanes)


def _for_cars(lane: etree._Element) -> bool:
    allowed, forbidden = lane.get("allow"), lane.get("disallow", "")
    if allowed is not None:
        return _PASSENGER in allowed.split() or allowed == "all"
    return not {_PASSENGER, "all"} & set(forbidden.split())


def _shape(text: str) -> Polyline:
    return Polyline.of([[float(value) for value in point.split(",")[:2]] for point in text.split()])


def _connection(each: etree._Element) -> SumoConnection:
    light = each.get("tl")
    return SumoConnection(
        _get(each, "from"),
        int(_get(each, "fromLane")),
        _get(each, "to"),
        int(_get(each, "toLane")),
        None if light is None else (light, int(_get(each, "linkIndex"))),
        each.get("state") in ("O", "M"),
    )
