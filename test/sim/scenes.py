"""Scenarios for tests, built without text."""

from __future__ import annotations

from typing import Any

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.scenario.model import Population, RandomRoute, Scenario, Serial
from tuling_fsm.sim.scenario.placements import Anywhere
from tuling_fsm.sim.simulation import Simulation


def scenario(**changes: Any) -> Scenario:
    """A random route of 200 m without traffic, unless changed."""
    defaults: dict[str, Any] = {
        "name": "test", "file": "test.osc", "map_file": None, "ego": Anywhere(), "ego_speed": 0.0,
        "route": RandomRoute(200.0), "actors": (), "population": Population(), "max_duration_s": None,
        "storyboard": Serial(()),
    }  # fmt: skip
    return Scenario(**(defaults | changes))


def simulation(road_map: RoadMap, seed: int = 1, vehicle: Vehicle | None = None, **changes: Any) -> Simulation:
    """A run of that scenario."""
    return Simulation(road_map, scenario(**changes), seed, vehicle or Vehicle())
