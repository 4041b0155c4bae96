"""The slowest tick of each scenario, and what it did.

`tuling-fsm bench ticks` drives all of them; `python -m benchmark.ticks parking roam:2` those, with a seed or without.
"""

from __future__ import annotations

import cProfile
import gc
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from benchmark.common.table import Cell, Table, percentile
from tuling_fsm.agent import Agent, Tick
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.run import chosen_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation

AIM_MS = 20.0
"""A tick of 50 ms should take no more."""
UNTIL_S = 120.0
"""Of long scenarios the begin is driven."""
PACKAGE = "tuling_fsm"
STEPS = 3
"""So many of the functions that took longest are named."""


@dataclass
class Slowest:
    """The tick that took longest so far: its time (ms), and where it went."""

    ms: float = 0.0
    tick: Tick | None = None
    steps: str = ""


def run(named: Sequence[str] = ()) -> Table:
    """A row for each scenario."""
    every = sorted(file.stem for file in share_file("config", "scenarios").glob("*.osc"))
    return Table(
        "Ticks",
        (
            "scenario", "ticks", "p50, ms", "p99, ms", f"over {AIM_MS:g} ms", "slowest, ms", "at, s", "state",
            "request", "limit", "what took it, ms",
        ),
        tuple(_row(*_scenario(name)) for name in named or every),
        f"one drive, seed 1 unless named, {UNTIL_S:g} s at the longest; CPU time of the thread",
        (
            "Ticks after `Agent.warm_up`. What took it: the functions of the package in which most of the time was "
            "spent, each without what it calls, when the tick was done once more under the profiler.",
        ),
    )  # fmt: skip


def _scenario(word: str) -> tuple[str, int]:
    name, _, seed = word.partition(":")
    return name, int(seed or 1)


def _row(name: str, seed: int) -> tuple[Cell, ...]:
    times, slowest = driven(name, seed)
    row: tuple[Cell, ...] = (
        f"{name}:{seed}", len(times), percentile(times, 0.5), percentile(times, 0.99),
        sum(ms > AIM_MS for ms in times), slowest.ms,
    )  # fmt: skip
    if slowest.tick is None:
        return (*row, None, None, None, None, None)
    tick = slowest.tick
    request = type(tick.decision.request).__name__ + (" and a probe" if tick.decision.probe is not None else "")
    return (*row, f"{tick.stamp:.2f}", tick.state, request, tick.limit.reason.value, slowest.steps)


def driven(name: str, seed: int, until_s: float = UNTIL_S) -> tuple[list[float], Slowest]:
    """Times (ms) of all ticks of a scenario, and the slowest one."""
    loaded = load_scenario(share_file("config", "scenarios", f"{name}.osc"), {})
    road_map = read_map(chosen_map(loaded, None))
    agent = Agent(road_map)
    agent.warm_up()
    simulation = Simulation(road_map, loaded, seed, agent.parameters.vehicle)
    times, slowest = list[float](), Slowest()
    gc.collect()
    while not simulation.finished and simulation.stamp < until_s:
        inputs = simulation.inputs()
        began = time.thread_time()
        tick = agent.step(inputs)
        times.append(1e3 * (time.thread_time() - began))
        if times[-1] > slowest.ms:
            slowest = Slowest(times[-1], tick, _steps(agent))
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        if tick.decision.route_blocked is not None:
            simulation.report_block(tick.decision.route_blocked)
        simulation.advance(tick.trajectory, tick.state)
    return times, slowest


def _steps(agent: Agent) -> str:
    """The functions of the package that take longest in the last tick, without what they call."""
    profile = cProfile.Profile(time.thread_time)
    profile.runcall(agent.repeat)
    own = sorted(
        (
            (each.inlinetime, f"{Path(each.code.co_filename).stem}.{each.code.co_name}")
            for each in profile.getstats()
            if isinstance(each.code, CodeType) and PACKAGE in each.code.co_filename
        ),
        reverse=True,
    )
    return ", ".join(f"{name} {1e3 * seconds:.1f}" for seconds, name in own[:STEPS])


if __name__ == "__main__":
    print(run(sys.argv[1:]).text())
