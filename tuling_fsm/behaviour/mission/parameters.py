"""How much time a task is reckoned to take, and what is done when time runs short."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class MissionParameters:
    """The sum of PUD-1, and what it is compared with."""

    average_speed: float = param(5.0, "m/s", 0.3, 20.0, "turns route lengths into time", clause="PUD-1", live=True)
    stop_overhead: float = param(
        25.0, "s", 0.0, 300.0, "pulling into a slot and out of it, beside the stop itself", clause="PUD-1", live=True
    )
    slot_search: float = param(
        45.0, "s", 0.0, 1800.0, "finding a space in the car park and parking", clause="PUD-1", live=True
    )
    reserve: float = param(20.0, "s", 0.0, 3600.0, "time that is not planned away", clause="PUD-1", live=True)
    exact: int = param(6, "", 1, 8, "up to so many open tasks every order is looked at", clause="PUD-2")
    sum_period: float = param(10.0, "s", 1.0, 600.0, "between two sums on the way to a pick-up", clause="MAT-1")
    short_for: float = param(30.0, "s", 0.0, 600.0, "a sum short for this long gives the pick-up up", clause="MAT-1")
