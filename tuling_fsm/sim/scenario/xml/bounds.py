"""How large each quantity of a scenario in XML may be, by attribute: what lies beyond is a slip of the file, and would
only exhaust memory or digits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple


class AttributeBound(NamedTuple):
    """Least and greatest value, the unit of both, and whether it may be without end (`INF`)."""

    low: float
    high: float
    unit: str
    endless: bool = False

    def holds(self, value: float) -> bool:
        """Whether a value is one."""
        return self.low <= value <= self.high or (self.endless and math.isinf(value))

    def __str__(self) -> str:
        """`a number from 0 to 100 m`."""
        span = f"a number from {self.low:g} to {self.high:g} {self.unit}".rstrip()
        return f"{span}, or INF" if self.endless else span


ANY = AttributeBound(-1e15, 1e15, "", endless=True)
"""Of what has no row of its own: whole numbers are exact up to here, as in the DSL."""
_PLACE = AttributeBound(-1e8, 1e8, "m")
_ALONG = AttributeBound(-200_000.0, 200_000.0, "m")
_ACROSS = AttributeBound(-10_000.0, 10_000.0, "m")
_SPEED = AttributeBound(-1_000.0, 1_000.0, "m/s")
_CURVATURE = AttributeBound(-100.0, 100.0, "1/m")
BOUNDS: Mapping[str, AttributeBound] = {
    **dict.fromkeys(("x", "y", "dx", "dy"), _PLACE),
    **dict.fromkeys(("s", "ds", "dsLane", "pathS"), _ALONG),
    **dict.fromkeys(("t", "dt", "laneOffset", "targetLaneOffset"), _ACROSS),
    **dict.fromkeys(("length", "width"), AttributeBound(0.0, 200_000.0, "m")),
    **dict.fromkeys(("curvature", "curvatureStart", "curvatureEnd", "curvaturePrime", "curvatureDot"), _CURVATURE),
    "h": AttributeBound(-10_000.0, 10_000.0, "rad"),
    "time": AttributeBound(-1e9, 1e9, "s"),
    **dict.fromkeys(("startTime", "stopTime"), AttributeBound(-1e9, 1e9, "s", endless=True)),
    "weight": AttributeBound(1e-9, 1e9, ""),
    **dict.fromkeys(("Element.weight", "Bin.weight"), AttributeBound(0.0, 1e9, "")),
    **dict.fromkeys(("laneId", "dLane"), AttributeBound(-1_000.0, 1_000.0, "")),
    "order": AttributeBound(1.0, 100.0, ""),
    "maximumExecutionCount": AttributeBound(0.0, 1e15, "", endless=True),
    **dict.fromkeys(("AbsoluteTargetSpeed.value", "AbsoluteSpeed.value", "SpeedProfileEntry.speed"), _SPEED),
    "RelativeTargetSpeed.value": AttributeBound(-1_000.0, 1_000.0, ""),
    **dict.fromkeys(("AbsoluteTargetLaneOffset.value", "RelativeTargetLaneOffset.value"), _ACROSS),
    **dict.fromkeys(("LanePosition.offset", "RelativeLanePosition.offset", "LateralDistanceAction.distance"), _ACROSS),
    "LongitudinalDistanceAction.distance": _ALONG,
    "timeGap": AttributeBound(-3_600.0, 3_600.0, "s"),
    **dict.fromkeys(("SpeedActionDynamics.value", "LaneChangeActionDynamics.value"), AttributeBound(-1e9, 1e9, "")),
    **dict.fromkeys(("maxAcceleration", "maxDeceleration"), AttributeBound(0.0, 1e9, "m/s^2", endless=True)),
    "maxLateralAcc": AttributeBound(1e-3, 1e9, "m/s^2", endless=True),
    "maxSpeed": AttributeBound(0.0, 1e9, "m/s", endless=True),
    **dict.fromkeys(("delay", "duration"), AttributeBound(0.0, 1e9, "s", endless=True)),
    **dict.fromkeys(("timeStart", "timeEnd"), AttributeBound(-1e9, 1e9, "s")),
    "initialDistanceOffset": AttributeBound(0.0, 200_000.0, "m"),
    "Timing.scale": AttributeBound(1e-9, 1e9, ""),
    "Timing.offset": AttributeBound(-1e9, 1e9, "s"),
    "Knot.value": AttributeBound(-1e9, 1e9, ""),
    "precipitationIntensity": AttributeBound(0.0, 10_000.0, "mm/h"),
    "Precipitation.intensity": AttributeBound(0.0, 1.0, ""),
    "visualRange": AttributeBound(0.0, 1e9, "m", endless=True),
    **dict.fromkeys(("Center.x", "Center.y"), AttributeBound(-1_000.0, 1_000.0, "m")),
    **dict.fromkeys(("Dimensions.length", "Dimensions.width"), AttributeBound(0.0, 1_000.0, "m")),
}
"""Those that places, curves and motion are made of, and that work is as large as: by the attribute, or by the element
and its attribute where the name alone does not say what it is.
"""


def bound_of(element: str, attribute: str) -> AttributeBound:
    """How large an attribute of an element may be."""
    return BOUNDS.get(f"{element}.{attribute}") or BOUNDS.get(attribute, ANY)
