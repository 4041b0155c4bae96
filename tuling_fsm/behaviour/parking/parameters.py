"""Every number of the composite `parking`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class ParkingParameters:
    """Looking for a slot, and reversing into it."""

    speed: float = param(4.0, "m/s", 0.3, 8.0, "speed limit while looking for a slot", clause="PRK-1", live=True)
    entry_speed: float = param(2.5, "m/s", 0.2, 5.0, "speed limit while entering a slot", clause="PRK-3", live=True)
    reach: float = param(20.0, "m", 5.0, 60.0, "slots this near to the car are looked at", clause="PRK-1", live=True)
    probe_period: float = param(
        0.2, "s", 0.0, 5.0, "how often a path into a free slot is tried", clause="PRK-1", live=True
    )
    probe_expansions: int = param(3000, "", 100, 100_000, "size of that search", clause="PRK-1", live=True)
    retry: float = param(
        2.0, "s", 0.1, 60.0, "a slot without a path is tried again after this", clause="PRK-1", live=True
    )
    timeout: float = param(
        120.0, "s", 5.0, 600.0, "a slot that is not reached in this time is barred", clause="PRK-3", live=True
    )
    person_patience: float = param(
        15.0, "s", 0.0, 60.0, "somebody in the slot that is being entered is waited for this long", clause="PRK-3"
    )
    free_again: float = param(
        5.0,
        "s",
        0.0,
        60.0,
        "a slot that was barred as it was taken is no longer after being free this long",
        clause="PRK-1",
    )
    goal_tolerance: float = param(
        0.2, "m", 0.02, 0.3, "the car's place in the slot is planned this well", clause="PRK-4", live=True
    )
    goal_heading: float = param(0.05, "rad", 0.005, 0.087, "and its heading", clause="PRK-4", live=True)
    position: float = param(0.3, "m", 0.05, 1.0, "parked when this near to the slot's middle", clause="PRK-4")
    heading: float = param(math.radians(5.0), "rad", 0.01, 0.3, "and turned less than this", clause="PRK-4")
    near_end: float = param(
        8.0, "m", 1.0, 30.0, "a way that is closed this near to its end has been driven", clause="PRK-2", live=True
    )
    attempts: int = param(2, "", 1, 20, "failures of the route server before going on without it", clause="PRK-2")
    passes: int = param(2, "", 1, 20, "routes without a free slot before that is reported", clause="PRK-2")
