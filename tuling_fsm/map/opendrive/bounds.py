"""How large each quantity of a map may be, by attribute: what lies beyond is a slip of the file, and would only exhaust
memory or digits.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_LENGTH_M = 200_000.0
MAX_COORDINATE_M = 1e8
MAX_TURN = 100.0
"""No arc and no spiral turns more than this, rad."""
MAX_POINTS = 10_000_000
"""Samples of all lanes of a map together: some 4,700 km of lanes."""


class Bound(NamedTuple):
    """Least and greatest value, and the unit of both."""

    low: float
    high: float
    unit: str

    @classmethod
    def either_way(cls, high: float, unit: str) -> Bound:
        """The same on both sides of zero."""
        return cls(-high, high, unit)

    def at_least(self, low: float) -> Bound:
        """The same, but not below `low`."""
        return self._replace(low=max(low, self.low))

    def holds(self, value: float) -> bool:
        """Whether a value is within both ends, which belong to it."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        """`from 0 to 200000 m`."""
        return f"from {self.low:g} to {self.high:g} {self.unit}".rstrip()


_ALONG = Bound.either_way(MAX_LENGTH_M, "m")
_ACROSS = Bound.either_way(10_000.0, "m")
_SIZE = Bound(0.0, 10_000.0, "m")
_PLACE = Bound.either_way(MAX_COORDINATE_M, "m")
_HEIGHT = Bound.either_way(100_000.0, "m")
_HEADING = Bound.either_way(10_000.0, "rad")
_CURVATURE = Bound.either_way(1e6, "1/m")
"""Exporters join their geometries by spirals of micrometres; how far one turns is bounded with its length."""
_LANE = Bound.either_way(1_000.0, "")
_LANES_OF_SIGNAL = Bound.either_way(100_000.0, "")
_VERSION = Bound(0.0, 1_000.0, "")
_COEFFICIENTS = {
    "a": Bound.either_way(1e6, "m"),
    "b": Bound.either_way(1e6, ""),
    "c": Bound.either_way(1e9, "1/m"),
    "d": Bound.either_way(1e12, "1/m^2"),
}
"""Of cubics over metres; those of records a centimetre long are large, and those of records over less than a millimetre
may be larger still.
"""

BOUNDS: dict[str, Bound] = {
    **dict.fromkeys(("s", "sOffset"), _ALONG),
    **dict.fromkeys(("length", "lengthStart", "lengthEnd", "distance"), Bound(0.0, MAX_LENGTH_M, "m")),
    **dict.fromkeys(("t", "tStart", "tEnd", "tOffset", "u", "v", "space"), _ACROSS),
    **dict.fromkeys(("radius", "radiusStart", "radiusEnd", "width", "widthStart", "widthEnd"), _SIZE),
    **dict.fromkeys(("x", "y"), _PLACE),
    **dict.fromkeys(("z", "dz", "zOffset", "zOffsetStart", "zOffsetEnd"), _HEIGHT),
    **dict.fromkeys(("height", "heightStart", "heightEnd"), _HEIGHT),
    **dict.fromkeys(("hdg", "hOffset"), _HEADING),
    **dict.fromkeys(("curvature", "curvStart", "curvEnd"), _CURVATURE),
    **dict.fromkeys(("id", "from", "to"), _LANE),
    **dict.fromkeys(("fromLane", "toLane"), _LANES_OF_SIGNAL),
    **dict.fromkeys(("revMajor", "revMinor"), _VERSION),
    "max": Bound(-1.0, 1_000.0, "in the unit given"),
    **{f"{letter}{axis}": bound for letter, bound in _COEFFICIENTS.items() for axis in ("", "U", "V")},
}
"""Every attribute that is read as a number, of whatever element."""
