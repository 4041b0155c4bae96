"""Places to maneuver in."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.arrays import FloatArray


def slot() -> FloatArray:
    """A gap between two parked cars to the right of the car."""
    edges = []
    for x in (9.2, -6.2):
        corners = [(x + a, -3.0 + b) for a, b in ((2.5, 1.0), (-2.5, 1.0), (-2.5, -1.0), (2.5, -1.0))]
        edges += [(*corners[i], *corners[(i + 1) % 4]) for i in range(4)]
    return np.array(edges)
