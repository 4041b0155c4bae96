"""A few seconds in the simulator, so that every kernel of it is compiled before the first real frame."""

from __future__ import annotations

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.baselines.idm import IdmPlanner
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.sensors.perception_levels import perception_level
from tuling_fsm.sim.simulation import Simulation

FRAMES = 60
SHORT = {"length_m": "80", "vehicles": "4", "pedestrians": "2", "rude": "1"}


def warm_up_simulation() -> None:
    """Drive among some traffic and pedestrians, by the simplest of planners."""
    road_map = read_map(share_file("config", "course", "course.xodr"))
    scenario = load_scenario(share_file("config", "scenarios", "rude.osc"), SHORT)
    settings = SimParameters(sensors=perception_level("middle"))
    simulation = Simulation(road_map, scenario, 1, Vehicle(), settings)
    assert simulation.preset is not None
    planner = IdmPlanner(road_map, simulation.preset, Vehicle())
    for _ in range(FRAMES):
        simulation.advance(planner.step(simulation.inputs()).trajectory)
