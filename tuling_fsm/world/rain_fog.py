"""The World as it is seen with the lidar switched off (RFG-1)."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from tuling_fsm.core.arrays import BoolArray, IntArray
from tuling_fsm.core.records import replace
from tuling_fsm.core.scene import Obstacles
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Occupancy, Source
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.solids import solid_segments
from tuling_fsm.world.traffic import PredictedLanes
from tuling_fsm.world.world import World


def radar_and_history(world: World, frozen: Occupancy | None, road_map: RoadMap, parameters: WorldParameters) -> World:
    """Without objects that only the lidar sees, and with the occupancy grid `frozen` at the entry into rain or fog.

    What the next World is built on (tracks, lights, what was received) is left as it is.
    """
    keep = (world.traffic.source & ~np.uint8(Source.LIDAR)) != 0
    solids = solid_segments(road_map, frozen, world.ego.pose, parameters)
    obstacles = _obstacles(world.scene.obstacles, keep[world.traffic.obstacle_row])
    scene = replace(world.scene, obstacles=obstacles, static_segments=solids)
    return replace(world, traffic=_traffic(world.traffic, keep), scene=scene, occupancy=frozen)


def _obstacles(obstacles: Obstacles, keep: BoolArray) -> Obstacles:
    return Obstacles(**{f.name: getattr(obstacles, f.name)[keep] for f in fields(Obstacles)})


def _traffic(traffic: PredictedLanes, keep: BoolArray) -> PredictedLanes:
    new_row: IntArray = np.cumsum(keep) - 1
    chains, rows = keep[traffic.chain_row], keep[traffic.obstacle_row]
    kept = {f.name: getattr(traffic, f.name) for f in fields(PredictedLanes)}
    for name, values in kept.items():
        if name.startswith("chain"):
            kept[name] = values[chains]
        elif name == "obstacle_row":
            kept[name] = values[rows]
        else:
            kept[name] = values[keep]
    kept["chain_row"], kept["obstacle_row"] = new_row[kept["chain_row"]], new_row[kept["obstacle_row"]]
    return PredictedLanes(**kept)
