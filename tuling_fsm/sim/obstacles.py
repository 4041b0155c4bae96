"""What pedestrians walk around: vehicles, and the solid objects of the map."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose, to_local
from tuling_fsm.core.kernels import factory
from tuling_fsm.map.road_map import RoadMap

WATCH_M = 12.0
"""What is farther away than this is in nobody's way."""


class Scenery:
    """The solid objects of a map, and with them the vehicles of a frame."""

    def __init__(self, road_map: RoadMap) -> None:
        self._solid = [_counterclockwise(each.outline[:, :2]) for each in road_map.objects if each.solid]
        self._at = np.array([np.mean(outline, axis=0) for outline in self._solid]).reshape(-1, 2)
        self._reach = np.array(
            [elementwise.hypot(*(outline - at).T).max() for outline, at in zip(self._solid, self._at, strict=True)]
        )

    def near(self, places: FloatArray, vehicles: FloatArray) -> list[FloatArray]:
        """Outlines (K, 2), counterclockwise, of what is near any of the places (N, 2), of vehicles (M, >= 5: x, y,
        heading, length, width) first.
        """
        boxes = vehicles[_apart(places, vehicles) < WATCH_M]
        solid = np.flatnonzero(_apart(places, self._at) < WATCH_M + self._reach)
        return [outline_of(row) for row in boxes] + [self._solid[k] for k in solid]


@factory
def _apart(places: FloatArray, others: FloatArray) -> FloatArray:
    """Distance of each of the others (M, >= 2) from the nearest place, m."""
    apart = np.full(len(others), np.inf)
    for k in range(len(others)):
        for i in range(len(places)):
            apart[k] = min(apart[k], elementary.hypot(places[i, 0] - others[k, 0], places[i, 1] - others[k, 1]))
    return apart


def outline_of(vehicle: FloatArray) -> FloatArray:
    """Corners (4, 2) of a box, counterclockwise."""
    x, y, heading, length, width = vehicle[:5].tolist()
    c, s = elementary.cos(heading), elementary.sin(heading)
    ax, ay, lx, ly = 0.5 * length * c, 0.5 * length * s, -0.5 * width * s, 0.5 * width * c
    return np.array(
        [(x - ax - lx, y - ay - ly), (x + ax - lx, y + ay - ly), (x + ax + lx, y + ay + ly), (x - ax + lx, y - ay + ly)]
    )


def _counterclockwise(outline: FloatArray) -> FloatArray:
    """A ring of distinct points in that sense."""
    ring = outline[elementwise.hypot(*(outline - np.roll(outline, 1, axis=0)).T) > 1e-6]
    x, y = ring.T
    area = float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
    return np.ascontiguousarray(ring if area >= 0.0 else ring[::-1])


def way_around(pose: Pose, heading: float, obstacles: Sequence[FloatArray], reach: float, radius: float) -> float:
    """How far somebody of a radius (m) who goes along a heading has to go aside (m, + left) to get clear of the first
    thing within `reach` (m); 0 where nothing is in the way.
    """
    eye, way = pose._replace(heading=heading), 0.0
    for outline in obstacles:
        ahead, beside = to_local(outline, eye).T
        apart = float(max(ahead.min(), 0.0))
        if ahead.max() > 0.0 and apart < reach and beside.min() < radius and beside.max() > -radius:
            over_left, over_right = float(beside.max()) + 2.0 * radius, float(beside.min()) - 2.0 * radius
            reach, way = apart, over_left if over_left <= -over_right else over_right
    return way
