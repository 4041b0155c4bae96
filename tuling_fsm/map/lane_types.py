"""Kinds of lanes and what a car may do on them."""

from __future__ import annotations

DRIVING = "driving"

READ_AS_DRIVING = frozenset(
    {"entry", "exit", "onRamp", "offRamp", "connectingRamp", "slipLane", "bidirectional", "mwyEntry", "mwyExit"}
)
"""Lane types of OpenDRIVE that are ordinary driving lanes to a car; a `Lane` carries `driving` for all of them."""

SURFACE = frozenset({DRIVING, "parking", "stop", "shoulder", "border", "biking", "bus", "taxi", "HOV", "restricted"})
"""Lane types whose surface a wheel may touch. Everything else is road edge."""

OFF_ROAD = frozenset({"none", "sidewalk", "walking", "curb", "median", "rail", "tram", "roadWorks"})
"""Lane types on which a vehicle is off the road."""


def canonical(lane_type: str) -> str:
    """OpenDRIVE's lane type with all driving kinds folded into `driving`."""
    return DRIVING if lane_type in READ_AS_DRIVING else lane_type
