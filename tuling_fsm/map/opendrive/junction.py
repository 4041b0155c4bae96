"""Junctions as OpenDRIVE writes them."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.map.opendrive.document import Element, integer, text, where


@dataclass(frozen=True, eq=False)
class Connection:
    """One way into a junction: lanes of the incoming road onto lanes of the connecting (or directly linked) road."""

    id: str
    element: Element
    incoming: str
    connecting: str
    contact: str | None
    lane_links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class RoadJunction:
    """A junction: its connections (none for a virtual one) and controllers."""

    id: str
    connections: tuple[Connection, ...]
    controllers: tuple[str, ...]


def read_junction(element: Element, warnings: list[str]) -> RoadJunction:
    """One `<junction>`. Virtual junctions leave the main road whole: their side connections start in mid-lane and
    are noted only.

    Raises:
        InputError: an id is missing or no number.
    """
    kind = element.get("type", "default")
    junction_id = text(element, "id")
    if kind == "virtual":
        warnings.append(
            f"{where(element)}: junction {junction_id} is virtual; its main road is kept, its connections are not"
        )
    connections = [] if kind == "virtual" else element.findall("connection")
    return RoadJunction(
        id=junction_id,
        connections=tuple(_read_connection(connection) for connection in connections),
        controllers=tuple(text(controller, "id") for controller in element.findall("controller")),
    )


def _read_connection(element: Element) -> Connection:
    links = element.findall("laneLink")
    return Connection(
        id=element.get("id", ""),
        element=element,
        incoming=element.get("incomingRoad", ""),
        connecting=element.get("connectingRoad") or element.get("linkedRoad") or "",
        contact=element.get("contactPoint"),
        lane_links=tuple((integer(link, "from"), integer(link, "to")) for link in links),
    )
