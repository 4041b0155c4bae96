"""What the ego stands on."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.lanes import LaneId, LanePosition
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.road_rules import RoadRules


class Ground(NamedTuple):
    """The lane under the middle of the car, None off the road; the height there (m), NaN off the road; and the junction
    lanes under the footprint.
    """

    position: LanePosition | None
    z: float
    junction_lanes: tuple[LaneId, ...]


def ground_under(road_map: RoadMap, rules: RoadRules, vehicle: Vehicle, pose: Pose) -> Ground:
    """What is below a car at a pose of its rear axle."""
    position = rules.lane(pose)
    if position is None:
        return Ground(None, math.nan, ())
    lane = road_map.lanes[position.lane]
    z = float(np.interp(position.s, lane.center.s, lane.z))
    if lane.junction is None:
        return Ground(position, z, ())
    touched = rules.lanes_touched(vehicle.footprint(pose))
    return Ground(position, z, tuple(sorted(lane for lane in touched if road_map.lanes[lane].junction is not None)))
