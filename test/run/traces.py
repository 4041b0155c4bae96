"""The traces that all scenarios have on every machine (SIM-2), kept in `traces.csv`.

python -m run.traces            drives them all and writes the table
python -m run.traces --check    drives them all, and names those that came out otherwise
python -m run.traces --check demo:1 rain:2
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tuling_fsm.agent import Agent
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.run import chosen_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation

TABLE = Path(__file__).with_name("traces.csv")
FIELDS = ("scenario", "seed", "until_s", "trace_sha256")
SEEDS = (1, 2)
FEW = 6
"""So many are driven here: a process of their own costs as much as a short one."""
CUT_S = {"match": 30.0, "full_match": 30.0, "rude": 30.0, "roam": 60.0, "round": 60.0}
"""Of the long ones the beginning is kept."""


class Trace(NamedTuple):
    """The trace of a run, to its end (`until_s` infinite) or to a time."""

    scenario: str
    seed: int
    until_s: float
    sha256: str

    @property
    def name(self) -> str:
        """How it is called on the command line."""
        return f"{self.scenario}:{self.seed}"


def kept() -> tuple[Trace, ...]:
    """The table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return tuple(Trace(name, int(seed), float(until), sha) for name, seed, until, sha in list(csv.reader(file))[1:])


def scenarios() -> list[str]:
    """Names of all scenarios of the project."""
    return sorted(file.stem for file in share_file("config", "scenarios").glob("*.osc"))


def driven(scenario: str, seed: int) -> Trace:
    """Drive a scenario."""
    loaded, until = (
        load_scenario(share_file("config", "scenarios", f"{scenario}.osc"), {}),
        CUT_S.get(scenario, math.inf),
    )
    road_map = read_map(chosen_map(loaded, None))
    agent = Agent(road_map)
    simulation = Simulation(road_map, loaded, seed, agent.parameters.vehicle)
    while not simulation.finished and simulation.stamp < until:
        tick = agent.step(simulation.inputs())
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        if tick.decision.route_blocked is not None:
            simulation.report_block(tick.decision.route_blocked)
        simulation.advance(tick.trajectory, tick.state)
    return Trace(scenario, seed, until, simulation.trace_sha256())


def write(traces: Iterable[Trace]) -> None:
    """Write the table."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([FIELDS, *traces])


def main(arguments: Sequence[str]) -> int:
    """Write the table, or compare with it; 1 where a trace is another."""
    rows = {trace.name: trace for trace in kept()} if TABLE.exists() else {}
    named = [word for word in arguments if word != "--check"] or [
        f"{name}:{seed}" for name in scenarios() for seed in SEEDS
    ]
    wanted = [(name, int(seed)) for name, seed in (word.split(":") for word in named)]
    if len(wanted) <= FEW:
        found = [driven(*each) for each in wanted]
    else:
        with ProcessPoolExecutor() as workers:
            found = list(workers.map(driven, *zip(*wanted, strict=True)))
    if "--check" not in arguments:
        write(found)
        return 0
    others = [trace.name for trace in found if trace != rows.get(trace.name)]
    print(f"{len(found)} traces, {len(others)} other than kept: {' '.join(others)}")
    return 1 if others else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
