"""CARLA's reader of OpenDRIVE, asked the same as ours."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tuling_fsm.map.query import at
from tuling_fsm.map.road_map import RoadMap


def same_lanes(road_map: RoadMap, file: Path, every: float) -> int:
    """Compares lane, offset and heading of points on all lanes, so many metres apart; returns how many there were."""
    carla = pytest.importorskip("carla")
    oracle, seen = carla.Map(file.stem, file.read_text(encoding="utf-8")), 0
    for point in oracle.generate_waypoints(every):
        if point.is_junction or point.lane_width < 1.0 or point.s < 0.2:
            continue
        place, heading = point.transform.location, -math.radians(point.transform.rotation.yaw)
        found = at(road_map, place.x, -place.y, place.z)
        assert (found["road"], found["lane"]) == (str(point.road_id), point.lane_id)
        assert abs(found["offset"]) < 0.02
        assert math.cos(found["heading"] - heading) > 0.9999
        seen += 1
    return seen
