"""Who may use a lane (`<access>`, ASAM OpenDRIVE 1.8, clause 11.7), as far as it concerns a car."""

from __future__ import annotations

from tuling_fsm.map.opendrive.document import Element, number
from tuling_fsm.map.opendrive.speed import SLIVER_M, holding

OPEN = ""
"""A car may drive in the lane."""

RESTRICTED = "restricted"
"""The lane type of what is closed to cars and is no lane of buses or taxis."""

CARS = frozenset({"car", "passengerCar", "autonomousTraffic"})
OTHERS = frozenset(
    {"bicycle", "bus", "delivery", "emergency", "motorcycle", "pedestrian", "taxi", "tram", "truck", "trucks"}
)
"""Road users that no car is one of; a lane that only these may use is closed to cars. Of whom else a file may tell
(`throughTraffic`, `simulator`, `none`) says nothing of a car.
"""

AccessRecords = tuple[tuple[float, str], ...]
"""From road station (m) on: `OPEN`, or the lane type that a driving lane is to a car."""


def read_access(lane: Element, start: float) -> AccessRecords:
    """`<access>` of a lane whose section starts at `start` (m). Of several at one station all hold."""
    groups: list[tuple[float, list[Element]]] = []
    found = [(start + number(element, "sOffset", 0.0), element) for element in lane.findall("access")]
    for station, element in sorted(found, key=lambda each: each[0]):
        if not groups or station - groups[-1][0] > SLIVER_M:
            groups.append((station, []))
        groups[-1][1].append(element)
    return tuple((station, _meaning(elements)) for station, elements in groups)


def strictest(records: AccessRecords, start: float, end: float) -> str:
    """What is closed to cars somewhere between two road stations (m) is closed in all of that stretch."""
    return next((kind for kind in holding(records, start, end) if kind != OPEN), OPEN)


def _meaning(found: list[Element]) -> str:
    allowed, denied = set[str](), set[str]()
    for element in found:
        users = [element.get("restriction"), *(each.get("type") for each in element.findall("restriction"))]
        (denied if element.get("rule") == "deny" else allowed).update(user.strip() for user in users if user)
    if denied & CARS or (allowed and allowed <= OTHERS):
        return next((kind for kind in ("bus", "taxi") if kind in allowed), RESTRICTED)
    return OPEN
