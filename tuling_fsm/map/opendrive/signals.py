"""Signals as OpenDRIVE writes them: what they tell drivers, where they hold (alone and by reference), controllers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import NamedTuple

from tuling_fsm.map.opendrive.document import Element, integer, number, text, where
from tuling_fsm.map.opendrive.road import Road

LIGHT, STOP, YIELD, LINE = "light", "stop", "yield", "line"
"""`line` is a painted stop line: it says where, not why."""

_LIGHTS = frozenset(str(number) for number in range(1000001, 1000021))

_NOT_FOR_CARS = frozenset({"1000002", "1000003", "1000007", "1000013", "1000014", "1000015", "1000016"})
"""Lights of pedestrians, bicycles, trams and buses, and of single lanes."""

_GERMAN = {"205": YIELD, "206": STOP, "294": LINE}
_AMERICAN = {"R1-1": STOP, "R1-2": YIELD}

_CATALOGUES = {
    **dict.fromkeys(("", "OPENDRIVE", "DE", "DEU", "GER", "GERMANY", "ZZ", "NONE", "-1"), _GERMAN),
    **dict.fromkeys(("US", "USA"), _AMERICAN),
}
"""Catalogues by country: ASAM OpenDRIVE 1.8, annex on signal types; German StVO; US MUTCD."""


_DIGITS = 10
"""Of the largest number of 32 bits."""


def meaning(type_: str, country: str) -> str | None:
    """`light`, `stop`, `yield`, `line`, or None for a signal at which a car does not stop."""
    if type_ in _LIGHTS:
        return None if type_ in _NOT_FOR_CARS else LIGHT
    return _CATALOGUES.get(country.strip().upper(), {}).get(type_)


class SignalPlacement(NamedTuple):
    """A place at which a signal holds: road, station (m), `orientation` as written, lane numbers (None: not said)."""

    road: str
    s: float
    orientation: str
    lanes: frozenset[int] | None


class RoadSignal(NamedTuple):
    """A signal of the file. Heads of one id on one road are one signal, as they change together."""

    number: int
    id: str
    type: str
    subtype: str
    kind: str | None
    dynamic: bool
    placements: tuple[SignalPlacement, ...]
    t: float
    heading: float
    """Turn of the head from the road's direction, rad."""


def read_signals(roads: Mapping[str, Road], warnings: list[str]) -> list[RoadSignal]:
    """All signals in file order, each with all its placements.

    A signal's number is its id where that is a number that no other signal took before, else one beyond all ids, or
    the smallest that is free where 32 bits leave none.
    """
    heads: dict[tuple[str, str], RoadSignal] = {}
    for road in roads.values():
        for element in road.element.findall("signals/signal"):
            signal = _read_signal(element, road)
            key = (signal.id, road.id)
            if key in heads:
                signal = heads[key]._replace(placements=heads[key].placements + signal.placements)
            heads[key] = signal
    for road in roads.values():
        for element in road.element.findall("signals/signalReference"):
            _refer(heads, element, road, warnings)
    return _numbered(list(heads.values()))


def read_controllers(root: Element) -> dict[str, tuple[str, ...]]:
    """Signal ids of every controller."""
    return {
        text(element, "id"): tuple(dict.fromkeys(text(control, "signalId") for control in element.findall("control")))
        for element in root.findall("controller")
    }


def _read_signal(element: Element, road: Road) -> RoadSignal:
    type_ = element.get("type", "")
    return RoadSignal(
        number=-1,
        id=text(element, "id"),
        type=type_,
        subtype=element.get("subtype", ""),
        kind=meaning(type_, element.get("country", "")),
        dynamic=element.get("dynamic") == "yes",
        placements=(_placement(element, road),),
        t=number(element, "t", 0.0),
        heading=number(element, "hOffset", 0.0),
    )


def _placement(element: Element, road: Road) -> SignalPlacement:
    validities = element.findall("validity")
    lanes: frozenset[int] | None = None
    if validities:
        ranges = [sorted((integer(v, "fromLane"), integer(v, "toLane"))) for v in validities]
        lanes = frozenset(n for low, high in ranges for n in range(low, high + 1) if n != 0)
    return SignalPlacement(road.id, number(element, "s"), element.get("orientation", "none"), lanes)


def _refer(heads: dict[tuple[str, str], RoadSignal], element: Element, road: Road, warnings: list[str]) -> None:
    signal_id = text(element, "id")
    keys = [key for key in heads if key[0] == signal_id]
    if not keys:
        warnings.append(f"{where(element)}: reference to signal {signal_id}, which is not there")
        return
    signal = heads[keys[0]]
    heads[keys[0]] = signal._replace(placements=(*signal.placements, _placement(element, road)))


def _numbered(signals: list[RoadSignal]) -> list[RoadSignal]:
    said = {_own_number(signal) for signal in signals}
    beyond = itertools.chain(range(max(said, default=0) + 1, 2**32), itertools.count(1))
    free = (number for number in beyond if number not in said)
    taken: set[int] = set()
    numbered = []
    for signal in signals:
        own = _own_number(signal)
        if own in taken or own < 0:
            own = next(free)
        taken.add(own)
        numbered.append(signal._replace(number=own))
    return numbered


def _own_number(signal: RoadSignal) -> int:
    """The id where it is a number of 32 bits, else -1."""
    number = int(signal.id) if signal.id.isdecimal() and len(signal.id) <= _DIGITS else -1
    return number if number < 2**32 else -1
