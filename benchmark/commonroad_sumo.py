"""CommonRoad scenarios with SUMO moving the others, who answer to the car; judged by CommonRoad's own tools.

Scenarios as in `commonroad`. Beside our planner our baseline of the Intelligent Driver Model: what brings a planner of
its own drives it in its own loop.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmark.common.table import Table
from benchmark.commonroad import OUTCOMES, Driven, idm_plan, judged, outcome, scenarios
from tuling_fsm.bag.commonroad.drive import Loop, ScenarioDrive, drive_agent, prepare
from tuling_fsm.bag.commonroad.reactive import SIMULATED, VERSION, ReactiveTraffic
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.commonroad.solution import solution_xml
from tuling_fsm.core.errors import InputError

Planner = Callable[[Loop, Path, ReactiveTraffic], ScenarioDrive]


def run() -> Table:
    """Every scenario by both planners."""
    files = scenarios()
    with tempfile.TemporaryDirectory() as folder:
        planners: dict[str, Planner] = {
            "ours": lambda loop, out, traffic: drive_agent(loop, out, traffic=traffic),
            "IDM": lambda loop, _, traffic: traffic(loop, idm_plan(loop)),
        }
        words, seconds = {}, {}
        for name, planner in planners.items():
            driven = [_driven(file, Path(folder) / name / file.stem, planner) for file in files]
            moved = [Path(folder) / name / file.stem / SIMULATED for file in files]
            words[name] = [_word(each, verdict) for each, verdict in zip(driven, judged(moved, driven), strict=True)]
            seconds[name] = sum(each.seconds for each in driven) / len(files)
    return _table(files, words, seconds)


def _driven(file: Path, out: Path, planner: Planner) -> Driven:
    """One scenario: the solution file lies beside what SUMO made of the scenario."""
    began = time.perf_counter()
    try:
        recording = read_recording(file)
        done = planner(prepare(recording, out), out, ReactiveTraffic(file, out))
    except InputError as error:
        return Driven(None, str(error), time.perf_counter() - began)
    solution = out / "solution.xml"
    solution.write_bytes(solution_xml(recording, done))
    return Driven(str(solution), "", time.perf_counter() - began)


def _word(driven: Driven, verdict: dict[str, Any] | None) -> str:
    return "no traffic" if driven.solution is None else outcome(verdict)


def _table(files: list[Path], words: dict[str, list[str]], seconds: dict[str, float]) -> Table:
    rows: list[tuple[str | float, ...]] = [
        (file.stem, *(words[name][i] for name in words)) for i, file in enumerate(files)
    ]
    for word in (*OUTCOMES[:-1], "no traffic"):
        rows.append((f"all: {word}", *(Counter(words[name])[word] for name in words)))
    rows.append(("all: s a scenario", *(seconds[name] for name in words)))
    return Table(
        "CommonRoad, closed loop, SUMO moves the others",
        ("scenario", *words),
        tuple(rows),
        "each scenario once, seed 1",
        (
            f"Others: commonroad-sumo {VERSION}, which takes them over where the recording has them at the beginning, "
            "with routes after the recorded ones; after that they are SUMO's drivers.",
            "Judge: commonroad-drivability-checker and commonroad-io, on the solution and on what the others did.",
            "`no traffic`: commonroad-sumo makes no network or routes of the scenario. A goal's window of time is that "
            "of the recorded human, whether or not SUMO's drivers leave the way to it free.",
        ),
    )
