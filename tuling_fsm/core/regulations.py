"""What the world forbids every plan of a tick, whatever was asked of the planner: for the independent check (SAF-2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.core.request import LaneLine


class ClosedLine(NamedTuple):
    """A stop line that the middle of the front bumper may not cross in the direction `heading` (m, rad, `map`).

    It is excused where stopping before it would take harder braking than `decel` (m/s^2): a light may have changed too
    late.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    heading: float
    decel: float
    detail: str = ""
    """For people, e.g. `signal 41 red`."""


@dataclass(frozen=True, eq=False)
class Regulations:
    """One tick's: the lanes along the route with their speed limits, the stop lines that lights close, a speed limit
    besides (m/s), and how far the car can have moved since it was measured (m).
    """

    lanes: tuple[LaneLine, ...] = ()
    closed_lines: tuple[ClosedLine, ...] = ()
    speed_limit: float = math.inf
    moved: float = 0.0
