"""Runs of a scenario in which the ego stands or rolls while something is done to the world around it."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.compiler import compile_text
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.world.inputs import Inputs, StampedRows

LANE = """    start: pose_3d with:
        keep(it.position == map.create_xyz_point(x: 20m, y: -1.75m))
        keep(it.orientation.yaw == 0deg)
    goal: xyz_point = map.create_xyz_point(x: 300m, y: -1.75m)
"""
CROSSING = """    start: xyz_point = map.create_xyz_point(x: -80m, y: -1.75m)
    goal: xyz_point = map.create_xyz_point(x: 80m, y: -1.75m)
"""
AVENUE = """    start: odr_point = map.create_odr_point(1, -1, 60m)
    goal: odr_point = map.create_odr_point(3, -1, 40m)
"""
LOT = """    start: odr_point = map.create_odr_point("8", "-1", 80m)
    goal: odr_point = map.create_odr_point("8", "-1", 120m)
"""


def world(road_map: RoadMap, places: str, *effects: str, speed: str = "0mps") -> Simulation:
    """A run in which the ego stands or rolls while the actions are done one after the other."""
    steps = "".join(f"            {effect}\n" for effect in effects)
    text = f"""scenario world:
    ego: vehicle
    thing: stationary_object with:
        keep(it.kind == cone)
    works: road_works
    lot: parking_area
    server: route_server
    lights: traffic_lights
    weather: environment
    operator: remote_operator
{places}
    do parallel:
        serial:
            ego.assign_position(start)
            ego.assign_speed({speed})
            ego.drive() with:
                along(map.create_route([goal]))
        serial:
            thing.assign_position(map.create_xyz_point(x: 900m, y: 900m))
{steps}"""
    return Simulation(road_map, compile_text(text, "world.osc"), 1, Vehicle())


def rows(table: StampedRows | None) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """The rows of a table that was sent."""
    assert table is not None
    return table.rows


def run(sim: Simulation, seconds: float, plan: Trajectory | None = None) -> Inputs:
    """What the planner is told after some time."""
    for _ in range(round(seconds / 0.05)):
        sim.advance(plan)
    return sim.inputs()
