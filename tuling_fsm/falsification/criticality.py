"""How near a run came to a collision at fault: the cost that a search lets fall.

The least time to collision at constant velocities over a run is the usual measure of criticality ([westhofen2023][]).
It does not tell one collision from another, so these are told by the speed of the car: the faster, the worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tuling_fsm.agent import Agent
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import distance
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.run import chosen_map, parameters_of, tell_route_server
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.scenario.measurements import time_to_collision
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.scoring.collisions import is_behind
from tuling_fsm.sim.sensors.perception_levels import perception_level
from tuling_fsm.sim.simulation import Simulation

FAR_TTC_S = 10.0
"""A collision farther off in time than this is none."""
REFUSED_COST = 2.0 * FAR_TTC_S
REFUSED, ERROR = "refused: ", "error: "
"""The end of a run whose values cannot be driven begins so, and that of one whose process was killed."""
REACH_M = 60.0
"""Agents farther away than this are not looked at."""
_PER_METRE = 0.01
"""What a metre of distance counts where no collision is in sight, s/m: it tells the search which way to go."""


def drive_critically(job: RunSettings) -> dict[str, Any]:
    """Drive a run to its end: its cost, least time to collision (s, None: none in sight), how it ended, and what the
    car is to blame for. Values with which the scenario cannot be driven cost more than all others; the end says why.
    """
    try:
        return _driven(job)
    except InputError as error:
        return not_driven(f"{REFUSED}{error}")


def not_driven(end: str) -> dict[str, Any]:
    """What stands in the place of a run that shows nothing: the search leaves its values behind."""
    return {
        "cost": REFUSED_COST, "collides": False, "least_ttc_s": None, "end": end, "sim_s": 0.0, "faults": [],
    }  # fmt: skip


def _driven(job: RunSettings) -> dict[str, Any]:
    scenario = load_scenario(job.scenario, dict(job.overrides))
    road_map = read_map(chosen_map(scenario, job.map_file))
    parameters = parameters_of(job)
    settings = SimParameters(sensors=perception_level(job.perception))
    simulation = Simulation(road_map, scenario, job.seed, parameters.vehicle, settings)
    agent = Agent(road_map, parameters)
    agent.warm_up()
    least, nearest = math.inf, REACH_M
    speeds: dict[float, float] = {}
    while not simulation.finished:
        tick = agent.step(simulation.inputs())
        tell_route_server(simulation, tick.decision)
        simulation.advance(tick.trajectory, tick.state)
        ttc, away = _nearness(simulation, parameters.vehicle)
        least, nearest = min(least, ttc), min(nearest, away)
        speeds[round(simulation.stamp, 3)] = abs(simulation.ego.v)
    blamed = [item for item in simulation.infractions if item.at_fault]
    hits = [speeds.get(item.t, 0.0) for item in blamed if item.kind == "collision"]
    return {
        "cost": round(-max(hits) if hits else min(least, FAR_TTC_S) + _PER_METRE * nearest, 4),
        "collides": bool(hits),
        "least_ttc_s": None if least > FAR_TTC_S else round(least, 3),
        "end": simulation.end,
        "sim_s": round(simulation.stamp, 3),
        "faults": [f"{item.t:.2f} s: {item.kind}, {item.detail}" for item in blamed],
    }


def _nearness(simulation: Simulation, vehicle: Vehicle) -> tuple[float, float]:
    """Time to collision (s) and distance of middles (m) to the agents that the car may run into: one whose middle is
    behind it has to keep clear of the car.
    """
    ego = simulation.ego
    car = ActorState(ego.pose, ego.v, 0.0, vehicle.length, vehicle.width, center_ahead(vehicle))
    ttc, nearest = math.inf, REACH_M
    for agent in simulation.agents():
        away = distance(agent.pose[:2], ego.pose[:2])
        if away > REACH_M or is_behind(ego.pose, ego.v, vehicle, np.array(agent.pose[:2])):
            continue
        nearest = min(nearest, away)
        ttc = min(ttc, time_to_collision(car, ActorState(agent.pose, agent.v, 0.0, agent.length, agent.width)))
    return ttc, nearest


def is_driven(run: Mapping[str, Any]) -> bool:
    """Whether a run was driven; one that was not shows nothing of the car."""
    return not str(run["end"]).startswith((REFUSED, ERROR))


def words(run: Mapping[str, Any]) -> str:
    """How near a run came, for people."""
    if not is_driven(run):
        return "not driven"
    if run["collides"]:
        return f"collision at {-run['cost']:.1f} m/s"
    return "nothing near" if run["least_ttc_s"] is None else f"{run['least_ttc_s']:.2f} s"
