"""A whole match in the closed loop on one core, and the replay of its bag."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmark.common.table import Table
from tuling_fsm.bag.replay import agent_of, transitions
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record, read_transitions
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file

SCENARIO = "match"
SEED = 1


def run() -> Table:
    """Drive, then replay; everything is compiled before the time counts."""
    scenario = share_file("config", "scenarios", f"{SCENARIO}.osc")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        warm = run_scenario(
            RunSettings(scenario, seed=SEED, overrides=(("vehicles", "0"), ("pedestrians", "0"))), out=out / "warm"
        )
        began = time.process_time()
        result = run_scenario(RunSettings(scenario, seed=SEED), out=out / "run")
        driven = time.process_time() - began
        agent = agent_of(read_run_record(BagSource(out / "run")), "run")
        began = time.process_time()
        replayed = list(transitions(agent, read_inputs(BagSource(out / "run"))))
        again = time.process_time() - began
        same = [row["to"] for row in replayed] == [row["to"] for row in read_transitions(BagSource(out / "run"))]
    rows = (
        ("closed loop, x real time", result["sim_s"] / driven, ">= 20, then 50"),
        ("closed loop on an empty course, x real time", warm["sim_s"] / warm["wall_s"], ""),
        ("replay, x real time", result["sim_s"] / again, ">= 20"),
        ("the planner's tick, ms, p50", result["tick_ms"]["p50"], ""),
        ("the planner's tick, ms, p99", result["tick_ms"]["p99"], ""),
        ("driven, s", result["sim_s"], ""),
        ("driven, km", 1e-3 * result["distance_m"], ""),
        ("transitions of the replay", "the same" if same else "others", "the same"),
    )
    return Table(
        "Closed loop",
        ("one core, 20 Hz", "ours", "goal"),
        rows,
        f"one match (`{SCENARIO}.osc`, seed {SEED}); CPU time, the empty course by the clock on the wall",
        (
            "Planner, simulator, traffic, pedestrians, referee, and a bag of all inputs and outputs that is written; "
            "reading the map and the scenario counts too.",
            "The replay reads the bag and ticks the planner.",
        ),
    )
