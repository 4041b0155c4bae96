"""Signals as OpenDRIVE writes them: what they tell drivers, where they hold (alone and by reference), controllers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tuling_fsm.map.opendrive.document import Element, Warnings, integer, number, text, where
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


SEMANTICS = {
    "trafficlight": LIGHT, "stop": STOP, "4way": STOP, "yield": YIELD, "waitingline": YIELD, "stopline": LINE,
}  # fmt: skip
"""By `<priority>` of `<semantics>`, in lower case as files differ, which holds in every country (ASAM OpenDRIVE 1.8,
clause 14.8), the one that asks most first.
"""

_SAYS_NO_COUNTRY = frozenset({"", "OPENDRIVE", "ZZ", "NONE", "-1"})

_IN_THOUSANDS = re.compile(r"[0-9]\.[0-9]{3}\.[0-9]{3}")

_DIGITS = 10
"""Of the largest number of 32 bits."""


def meaning(type_: str, country: str, priorities: Iterable[str]) -> str | None:
    """`light`, `stop`, `yield`, `line`, or None for a signal at which a car does not stop.

    Args:
        type_: number in the catalogue.
        country: whose catalogue.
        priorities: what its `<semantics>` say, before any catalogue.
    """
    if type_ in _NOT_FOR_CARS:
        return None
    said = {priority.lower() for priority in priorities}
    kind = next((kind for priority, kind in SEMANTICS.items() if priority in said), None)
    if kind is not None or type_ in _LIGHTS:
        # What else is said of a light (`noTurnOnRed`) leaves it one.
        return kind or LIGHT
    return None if said else _CATALOGUES.get(_code(country), {}).get(type_)


def _code(country: str) -> str:
    return country.strip().upper()


def _type(element: Element) -> str:
    """The number of a signal in its catalogue, without the points in which some write `1.000.011`."""
    type_ = element.get("type", "").strip()
    return type_.replace(".", "") if _IN_THOUSANDS.fullmatch(type_) else type_


def _is_unknown(element: Element) -> bool:
    """Whether no catalogue that is known and no semantics say what a signal means."""
    type_, country = _type(element), _code(element.get("country", ""))
    if type_ in _LIGHTS or element.find("semantics") is not None:
        return False
    if country in _SAYS_NO_COUNTRY:
        return element.get("dynamic") == "yes" and type_ not in _GERMAN
    return country not in _CATALOGUES


class SignalPlacement(NamedTuple):
    """A place at which a signal holds: road, station (m), `orientation` as written, lane numbers (None: not said)."""

    road: str
    s: float
    orientation: str
    lanes: frozenset[int] | None


class RoadSignal(NamedTuple):
    """A signal of the file. Heads of one id and one meaning on one road are one signal, as they change together."""

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
    references: frozenset[tuple[str, str]] = frozenset()
    """Objects and signals that it is linked to: `object` or `signal`, and id."""
    stop_objects: frozenset[str] = frozenset()
    """Ids of those objects that it calls its stop line."""

    @property
    def for_others(self) -> bool:
        """Whether it is for pedestrians, cyclists or trams alone."""
        return self.type in _NOT_FOR_CARS

    def is_one_with(self, other: RoadSignal) -> bool:
        """Whether two of one id and road tell drivers the same. Lights do, whatever their heads look like (one may have
        an arrow): perception tells of them by id.
        """
        if (self.kind, self.dynamic) != (other.kind, other.dynamic):
            return False
        return self.kind == LIGHT or (self.type, self.subtype) == (other.type, other.subtype)


def read_signals(roads: Mapping[str, Road], warnings: Warnings) -> list[RoadSignal]:
    """All signals, each with all its placements, in file order but that those of one id and road are together.

    A signal's number is its id where that is a number that no other signal took before, else one beyond all ids, or
    the smallest that is free where 32 bits leave none.
    """
    heads: dict[tuple[str, str], list[RoadSignal]] = {}
    for road in roads.values():
        for element in road.element.findall("signals/signal"):
            if _is_unknown(element):
                name = f"{element.get('country', '')} {element.get('type', '')}".strip()
                effect = "nobody stops at them, <semantics> would tell"
                warnings.one_of("signals of which it is not known what they mean", element, name, effect)
            signal = _read_signal(element, road)
            if _sort_in(heads.setdefault((signal.id, road.id), []), signal):
                kind = "signals with the id of another one on their road"
                warnings.one_of(kind, element, signal.id, "each is one of its own")
    for road in roads.values():
        for element in road.element.findall("signals/signalReference"):
            _refer(heads, element, road, warnings)
    return _numbered([signal for same in heads.values() for signal in same])


def read_controllers(root: Element) -> dict[str, tuple[str, ...]]:
    """Signal ids of every controller."""
    return {
        text(element, "id"): tuple(dict.fromkeys(text(control, "signalId") for control in element.findall("control")))
        for element in root.findall("controller")
    }


def _read_signal(element: Element, road: Road) -> RoadSignal:
    type_ = _type(element)
    links = element.findall("reference")
    references = {(link.get("elementType", ""), link.get("elementId", "").strip()) for link in links}
    # That a line depends on a light says the same as that the light refers to it.
    references.update(("signal", link.get("id", "").strip()) for link in element.findall("dependency"))
    stop_links = (link for link in links if link.get("elementType") == "object" and _says_stop_line(link))
    priorities = (priority.get("type", "") for priority in element.findall("semantics/priority"))
    return RoadSignal(
        number=-1,
        id=text(element, "id"),
        type=type_,
        subtype=element.get("subtype", ""),
        kind=meaning(type_, element.get("country", ""), priorities),
        dynamic=element.get("dynamic") == "yes",
        placements=(_placement(element, road),),
        t=number(element, "t", 0.0),
        heading=number(element, "hOffset", 0.0),
        references=frozenset(references),
        stop_objects=frozenset(link.get("elementId", "").strip() for link in stop_links),
    )


def _says_stop_line(link: Element) -> bool:
    """Whether a reference, whose type is free text, is to a stop line."""
    return "stopline" in link.get("type", "").lower().replace("_", "").replace(" ", "")


def _placement(element: Element, road: Road) -> SignalPlacement:
    validities = element.findall("validity")
    lanes: frozenset[int] | None = None
    if validities:
        ranges = [sorted((integer(v, "fromLane"), integer(v, "toLane"))) for v in validities]
        lanes = frozenset(n for low, high in ranges for n in range(low, high + 1) if n != 0)
    return SignalPlacement(road.id, number(element, "s"), element.get("orientation", "none"), lanes)


def _sort_in(same: list[RoadSignal], signal: RoadSignal) -> bool:
    """Put a signal among those of its id and road; whether others are there, and it is one with none of them.

    Lights come first, as perception tells of them by number.
    """
    for i, other in enumerate(same):
        if signal.is_one_with(other):
            same[i] = other._replace(placements=other.placements + signal.placements)
            return False
    same.append(signal)
    same.sort(key=lambda each: each.kind != LIGHT)
    return len(same) > 1


def _refer(heads: dict[tuple[str, str], list[RoadSignal]], element: Element, road: Road, warnings: list[str]) -> None:
    signal_id = text(element, "id")
    same = next((found for (each, _), found in heads.items() if each == signal_id), None)
    if same is None:
        warnings.append(f"{where(element)}: reference to signal {signal_id}, which is not there")
        return
    placement = _placement(element, road)
    same[:] = (signal._replace(placements=(*signal.placements, placement)) for signal in same)


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
