"""Signals as OpenDRIVE writes them: heads, where they hold (by themselves and by reference), controllers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tuling_fsm.map.opendrive.document import Element, integer, number, text, where
from tuling_fsm.map.opendrive.road import Road
from tuling_fsm.map.opendrive.signal_types import meaning


class Placement(NamedTuple):
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
    placements: tuple[Placement, ...]
    t: float
    heading: float
    """Turn of the head from the road's direction, rad."""


def read_signals(roads: Mapping[str, Road], warnings: list[str]) -> list[RoadSignal]:
    """All signals in file order, each with all its placements.

    A signal's number is its id where that is a number that no other signal took before, else one beyond all ids.
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


def _placement(element: Element, road: Road) -> Placement:
    validities = element.findall("validity")
    lanes: frozenset[int] | None = None
    if validities:
        ranges = [sorted((integer(v, "fromLane"), integer(v, "toLane"))) for v in validities]
        lanes = frozenset(n for low, high in ranges for n in range(low, high + 1) if n != 0)
    return Placement(road.id, number(element, "s"), element.get("orientation", "none"), lanes)


def _refer(heads: dict[tuple[str, str], RoadSignal], element: Element, road: Road, warnings: list[str]) -> None:
    signal_id = text(element, "id")
    keys = [key for key in heads if key[0] == signal_id]
    if not keys:
        warnings.append(f"{where(element)}: reference to signal {signal_id}, which is not there")
        return
    signal = heads[keys[0]]
    heads[keys[0]] = signal._replace(placements=(*signal.placements, _placement(element, road)))


def _numbered(signals: list[RoadSignal]) -> list[RoadSignal]:
    ids = [int(signal.id) for signal in signals if signal.id.isdecimal()]
    ids = [n for n in ids if n < 2**32]
    following = max(ids, default=0) + 1
    taken: set[int] = set()
    numbered = []
    for signal in signals:
        own = int(signal.id) if signal.id.isdecimal() else -1
        if own in taken or not 0 <= own < 2**32:
            own, following = following, following + 1
        taken.add(own)
        numbered.append(signal._replace(number=own))
    return numbered
