"""Closed-loop runs of which every tick is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.parameters import SimParameters
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.sensors.perception_levels import CLEAN, perception_level
from tuling_fsm.sim.simulation import Simulation


@dataclass(frozen=True)
class Drive:
    """A finished run: its ticks, how it ended, and for what the car was to blame."""

    ticks: list[Tick]
    end: str | None
    faults: list[str]

    def states(self) -> list[str]:
        """The states that were run through."""
        return [path for path, _ in groupby(tick.state for tick in self.ticks)]

    def clauses(self) -> list[str]:
        """Of the transitions, in their order."""
        return [tick.decision.transition.clause for tick in self.ticks if tick.decision.transition is not None]

    def standing(self) -> list[Tick]:
        """The ticks on which the car stood, without those before it first drove and after it last did."""
        moving = [i for i, tick in enumerate(self.ticks) if tick.world.ego.v > 0.1]
        return [tick for tick in self.ticks[moving[0] : moving[-1]] if tick.world.ego.v <= 0.1]


def drive(
    map_file: Path,
    scenario: str,
    folder: Path,
    seed: int = 1,
    parameters: Parameters | None = None,
    until_s: float = math.inf,
    perception: str = CLEAN,
) -> Drive:
    """Drive a scenario, given as text without its map, to its end or for some time, at a level of perception."""
    file = folder / "scenario.osc"
    file.write_text(scenario.replace("MAP", str(map_file)), encoding="utf-8")
    road_map = read_map(map_file)
    agent = Agent(road_map, parameters)
    settings = SimParameters(sensors=perception_level(perception))
    simulation = Simulation(road_map, load_scenario(file, {}), seed, agent.parameters.vehicle, settings)
    ticks = []
    while not simulation.finished and simulation.stamp < until_s:
        tick = agent.step(simulation.inputs())
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        if tick.decision.route_blocked is not None:
            simulation.report_block(tick.decision.route_blocked)
        ticks.append(tick)
        simulation.advance(tick.trajectory, tick.state)
    faults = [f"{i.t:.1f} s {i.kind} {i.detail}" for i in simulation.infractions if i.at_fault]
    return Drive(ticks, simulation.end, faults)
