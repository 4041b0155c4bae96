"""Every number of the states of `intersection`."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class IntersectionParameters:
    """Driving through junctions."""

    standing_speed: float = param(0.5, "m/s", 0.05, 2.0, "slower is standing", clause="INT-4", live=True)
    by_hand_after: float = param(
        60.0,
        "s",
        5.0,
        600.0,
        "standing this long in a row, the junction is directed by hand",
        clause="INT-4",
        live=True,
    )
    literal_clock: bool = param(
        False, doc="a red light that is seen, or a pedestrian, does not stop that clock", clause="INT-4", live=True
    )
    no_path: float = param(5.0, "s", 0.3, 60.0, "no path for this long gives up the lines", clause="INT-5")
    together: float = param(
        15.0, "m", 0.0, 60.0, "a next junction whose zone begins this near ahead follows at once", clause="USE-1"
    )
    beyond: float = param(
        2.0, "m", 0.0, 20.0, "a junction is over when the rear axle is this far beyond its end", clause="INT-6"
    )
