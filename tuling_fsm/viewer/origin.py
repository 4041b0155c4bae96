"""Where the time and the coordinates of a page begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.road_map import RoadMap

GRID_M = 10_000.0
"""Origins lie on a grid as wide as this, so that most maps keep their own and two films of one place have the same."""


class PageOrigin(NamedTuple):
    """Stamp (s) and place (m, in `map`) that are zero in a page.

    A canvas keeps coordinates as 32-bit floats, of which those of a map in UTM are half a metre apart; relative to a
    near centre they are exact to the millimetre (as RTC_CENTER of 3D Tiles is for, [ogc3dtiles][]).
    """

    t: float = 0.0
    x: float = 0.0
    y: float = 0.0

    def local(self, points: FloatArray) -> FloatArray:
        """Points (N, 2 or more), x and y first, as they are in the page."""
        found = np.array(points, dtype=np.float64)
        found[:, :2] -= (self.x, self.y)
        return found

    def flat(self, points: FloatArray, digits: int = 2) -> list[float]:
        """Points (N, 2) for a header: x and y in turn."""
        rounded: list[float] = np.round(self.local(np.asarray(points).reshape(-1, 2)), digits).ravel().tolist()
        return rounded


def origin_near(x: float, y: float, t: float = 0.0) -> PageOrigin:
    """The origin for what lies around a point (m), from a stamp (s) on."""
    return PageOrigin(t, round(x / GRID_M) * GRID_M + 0.0, round(y / GRID_M) * GRID_M + 0.0)


def origin_of(road_map: RoadMap, t: float = 0.0) -> PageOrigin:
    """The origin for a map, from a stamp (s) on."""
    x0, y0, x1, y1 = road_map.bounds
    return origin_near(0.5 * (x0 + x1), 0.5 * (y0 + y1), t)
