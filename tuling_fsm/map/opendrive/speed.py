"""Speed records of roads and lanes, in m/s."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive.document import Element, number, where

DEFAULT_LIMIT = 50.0 / 3.6
"""Speed limit where the map gives none: 50 km/h, m/s."""

NO_LIMIT = 130.0 / 3.6
"""What `no limit` is read as: 130 km/h, m/s."""

UNITS = {"m/s": 1.0, "km/h": 1.0 / 3.6, "kmh": 1.0 / 3.6, "mph": 0.44704}
"""m/s of one unit; a speed without a unit is in m/s (ASAM OpenDRIVE 1.8, clause 2.4)."""

SLIVER_M = 1e-3
"""What holds over less than this at the start or the end of a stretch is a rounded station, m."""

WORDS = {"no limit": NO_LIMIT, "undefined": DEFAULT_LIMIT}

T = TypeVar("T")
Records = tuple[tuple[float, float], ...]


def read_road_speeds(road: Element) -> Records:
    """`<type><speed>` of a road: from road station (m), limit (m/s); a type without speed gives the default."""
    records = []
    for element in road.findall("type"):
        speed = element.find("speed")
        limit = DEFAULT_LIMIT if speed is None else _limit(speed)
        records.append((number(element, "s", 0.0, low=0.0), limit))
    return tuple(sorted(records))


def read_lane_speeds(lane: Element, start: float) -> Records:
    """`<speed>` of a lane whose section starts at `start`: from road station (m), limit (m/s)."""
    return tuple(sorted((start + number(e, "sOffset", 0.0), _limit(e)) for e in lane.findall("speed")))


def lowest(records: Records, start: float, end: float, before: float) -> float:
    """The lowest limit (m/s) that holds somewhere between two road stations (m), with `before` (m/s) ahead of the first
    record.
    """
    return min(holding(((-math.inf, before), *records), start, end), default=before)


def holding(records: Sequence[tuple[float, T]], start: float, end: float) -> list[T]:
    """What records, each from its road station (m) to the next one's, say somewhere between two stations (m)."""
    sliver = min(SLIVER_M, max(0.5 * (end - start), 0.0))
    ends = [*(since for since, _ in records[1:]), math.inf]
    told = zip(records, ends, strict=True) if records else ()
    return [value for (since, value), until in told if since < end - sliver and until > start + sliver]


def lowest_in_lane(general: Records, own: Records, start: float, end: float) -> float:
    """The lowest limit (m/s) of a lane between two road stations (m): the road's (`general`) up to the lane's first
    record, and its own from there.
    """
    first = min(own[0][0], end) if own else end
    return lowest(own, start, end, lowest(general, start, first, DEFAULT_LIMIT))


def _limit(element: Element) -> float:
    raw = (element.get("max") or "").strip()
    if raw in WORDS:
        return WORDS[raw]
    unit = element.get("unit", "m/s").strip() or "m/s"
    if unit not in UNITS:
        raise InputError(where(element), f"unit={unit!r} is unknown", ", ".join(UNITS))
    value = number(element, "max") * UNITS[unit]
    return value if value > 0.0 else DEFAULT_LIMIT  # Exporters write 0 or -1 where they know none.
