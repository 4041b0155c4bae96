"""The speed limit in force along a drive, also beside the lanes."""

from __future__ import annotations

from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.map.road_map import RoadMap

NEAR_M = 8.0
"""Beside the road, as in a bay, the limit of a driving lane this near holds; farther off that of the last one."""
STEP_M = 1.0
"""The map is asked again after this way."""


class SpeedLimits:
    """Answers pose after pose of one drive.

    Args:
        road_map: whose lanes have limits.
        top_speed: the highest speed that the car may plan, m/s; the limit is nowhere higher.
    """

    def __init__(self, road_map: RoadMap, top_speed: float) -> None:
        self._map = road_map
        self._top_speed = top_speed
        self._limit = top_speed
        self._asked_at: Pose | None = None

    def at(self, pose: Pose) -> float:
        """The limit (m/s) at a pose in `map`; the top speed until a first lane is near."""
        if self._asked_at is None or distance(pose, self._asked_at) >= STEP_M:
            self._asked_at = pose
            found = self._map.project(pose.x, pose.y, pose.heading) or self._map.project(
                pose.x, pose.y, pose.heading, radius=NEAR_M
            )
            if found is not None:
                self._limit = min(self._map.lanes[found.lane].limit, self._top_speed)
        return self._limit
