"""What a signal tells drivers, by its catalogue number (ASAM OpenDRIVE 1.8, annex on signal types; German StVO;
US MUTCD).
"""

from __future__ import annotations

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


def meaning(type_: str, country: str) -> str | None:
    """`light`, `stop`, `yield`, `line`, or None for a signal that stops nobody."""
    if type_ in _LIGHTS:
        return None if type_ in _NOT_FOR_CARS else LIGHT
    return _CATALOGUES.get(country.strip().upper(), {}).get(type_)
