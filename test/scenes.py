"""Object tables for tests."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tuling_fsm.world.inputs import OBJECTS, Kind, Source


def row(
    number: int, x: float, y: float, heading: float = 0.0, speed: float = 0.0, kind: Kind = Kind.CAR,
    length: float = 4.5, width: float = 1.9, source: Source = Source.LIDAR | Source.RADAR, existence: float = 1.0,
) -> tuple[float, ...]:  # fmt: skip
    """One row of the table `objects`; the velocity points along the heading."""
    vx, vy = speed * math.cos(heading), speed * math.sin(heading)
    return (number, int(kind), int(source), x, y, heading, vx, vy, length, width, existence)


def walker(number: int, x: float, y: float, vx: float = 0.0, vy: float = 0.0) -> tuple[float, ...]:
    """A pedestrian."""
    return (number, int(Kind.PEDESTRIAN), int(Source.LIDAR), x, y, math.atan2(vy, vx), vx, vy, 0.5, 0.5, 1.0)


def table(*rows: tuple[float, ...]) -> npt.NDArray[np.void]:
    """Rows as the structured array of a message."""
    return np.array(list(rows), dtype=OBJECTS)
