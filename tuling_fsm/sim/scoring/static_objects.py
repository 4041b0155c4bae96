"""Which solid objects of the map the car touches: the map's walls, poles and rails are no agents."""

from __future__ import annotations

import numpy as np
from shapely import STRtree, make_valid
from shapely.geometry import Polygon

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import StaticObject
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scoring.collisions import SAME_LEVEL_M


class StaticObjects:
    """All of a map, by their outlines and the height of their roads."""

    def __init__(self, road_map: RoadMap) -> None:
        self._map = road_map
        self.all: tuple[StaticObject, ...] = tuple(each for each in road_map.objects if each.solid)
        self._tree = STRtree([make_valid(Polygon(each.outline)) for each in self.all])
        self._heights: dict[int, float] = {}

    def touched(self, corners: FloatArray, z: float) -> list[int]:
        """Rows of those that a footprint with these corners (4, 2; m) overlaps at a height (m, NaN: any), in order."""
        if not self.all:
            return []
        found = sorted(self._tree.query(Polygon(corners), "intersects").tolist())
        return [row for row in found if not abs(self._height(row) - z) > SAME_LEVEL_M]

    def _height(self, row: int) -> float:
        """Of the object's own road where that is nearest, m; NaN where it has no lanes."""
        if row not in self._heights:
            self._heights[row] = self._height_of_road(self.all[row])
        return self._heights[row]

    def _height_of_road(self, thing: StaticObject) -> float:
        x, y = thing.outline.mean(axis=0).tolist()
        nearest = (np.inf, np.nan)
        for lane in self._map.lanes.values():
            if lane.id.road == thing.road:
                away = elementwise.hypot(lane.center.xy[:, 0] - x, lane.center.xy[:, 1] - y)
                i = int(np.argmin(away))
                nearest = min(nearest, (float(away[i]), float(lane.z[i])))
        return nearest[1]
