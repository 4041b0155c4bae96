"""CommonRoad scenarios driven in closed loop, and judged by CommonRoad's own tools from the solution files.

Beside our planner: our baseline of the Intelligent Driver Model, and two published planners in the loops that their
packages bring.

`COMMONROAD_RECORDED` names a folder of more scenarios, such as the unpacked `commonroad_recorded.tar.xz`;
`COMMONROAD_EVERY` takes every so many of all only.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmark.common.peers import ask, data
from benchmark.common.table import Cell, Table
from tuling_fsm.bag.commonroad.drive import Loop, Planner, ScenarioDrive, drive, drive_agent, prepare
from tuling_fsm.bag.commonroad.scenario import read_recording
from tuling_fsm.bag.commonroad.solution import solution_xml
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.baselines.idm import IdmPlanner

VEHICLE = "BMW_320i"


class Driven(NamedTuple):
    """What one planner made of one scenario: its solution file, why there is none, the time that it took, s."""

    solution: str | None
    status: str
    seconds: float


def run() -> Table:
    """Every scenario by every planner."""
    files = scenarios()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        fiss = {"files": [str(f) for f in files], "out": str(out / "fiss"), "vehicle": VEHICLE,
                "prediction": "lane_following"}  # fmt: skip
        planners = {
            "ours": [_ours(file, out / "ours", drive_agent) for file in files],
            "IDM": [_ours(file, out / "idm", _idm) for file in files],
            "FISS+": _peer("commonroad_fiss.py", fiss),
            "reactive, future known": _peer(
                "commonroad_reactive.py", {"files": fiss["files"], "out": str(out / "reactive")}
            ),
        }  # fmt: skip
        verdicts = {name: judged(files, driven) for name, driven in planners.items()}
    return _table(files, planners, verdicts)


def scenarios() -> list[Path]:
    """The files of both folders, one of each name."""
    found = sorted(data("commonroad").glob("*.xml"))
    recorded = os.environ.get("COMMONROAD_RECORDED")
    if recorded:
        found += sorted(Path(recorded).glob("*.xml"))
    by_name = {file.name: file for file in found}
    return list(by_name.values())[:: int(os.environ.get("COMMONROAD_EVERY", "1"))]


def _ours(file: Path, out: Path, planner: Callable[[Loop, Path], ScenarioDrive]) -> Driven:
    """One scenario in our loop."""
    began, folder = time.perf_counter(), out / file.stem
    try:
        recording = read_recording(file)
        driven = planner(prepare(recording, folder), folder)
    except InputError as error:
        return Driven(None, str(error), time.perf_counter() - began)
    solution = folder / "solution.xml"
    solution.write_bytes(solution_xml(recording, driven))
    return Driven(str(solution), "", time.perf_counter() - began)


def _idm(loop: Loop, _: Path) -> ScenarioDrive:
    return drive(loop, idm_plan(loop))


def idm_plan(loop: Loop) -> Planner:
    """The baseline on the route of a scenario."""
    planner = IdmPlanner(loop.road_map, loop.way.route, loop.vehicle)
    return lambda inputs: planner.step(inputs).trajectory


def _peer(script: str, question: dict[str, Any]) -> list[Driven]:
    drives = ask(script, question)["drives"]
    return [Driven(each["solution"], each["status"], each["seconds"]) for each in drives]


def judged(files: Sequence[Path], driven: Sequence[Driven]) -> list[dict[str, Any] | None]:
    """The verdict on each drive; None where there is nothing to judge."""
    given = [
        {"file": str(file), "solution": each.solution}
        for file, each in zip(files, driven, strict=True)
        if each.solution is not None
    ]
    verdicts = iter(ask("commonroad_solutions.py", {"solutions": given})["verdicts"])
    return [None if each.solution is None else next(verdicts) for each in driven]


def outcome(verdict: dict[str, Any] | None) -> str:
    """A drive in a word: the first thing that was wrong with it, or `solved`."""
    if verdict is None:
        return "not driven"
    if not verdict["free"]:
        return "collision" if at_fault(verdict) else "was hit"
    if not verdict["on_road"]:
        return "off the road"
    if not verdict["goal"]:
        return "not in the goal"
    return "solved" if verdict["feasible"] and verdict["start"] else "infeasible"


def at_fault(verdict: dict[str, Any]) -> bool:
    """Whether the car is to blame for its first contact: not where it stood, nor where it was hit from behind (nuPlan's
    rule, Caesar et al., arXiv:2106.11810, 2021; a contact of the sides counts).
    """
    hit = verdict["hit"]
    return hit is not None and not hit["standing"] and hit["side"] != "rear"


OUTCOMES = ("solved", "not in the goal", "infeasible", "off the road", "collision", "was hit", "not driven")


def _table(
    files: Sequence[Path],
    planners: dict[str, list[Driven]],
    verdicts: dict[str, list[dict[str, Any] | None]],
) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (file.stem, *(outcome(verdicts[name][i]) for name in planners)) for i, file in enumerate(files)
    ]
    for word in OUTCOMES:
        counts = (sum(outcome(each) == word for each in verdicts[name]) for name in planners)
        rows.append((f"all: {word}", *counts))
    rows.append(("all: s a scenario", *(sum(d.seconds for d in driven) / len(files) for driven in planners.values())))
    return Table(
        "CommonRoad, closed loop",
        ("scenario", *planners),
        tuple(rows),
        "each scenario once",
        (
            "Judge: commonroad-drivability-checker and commonroad-io on solution files: goal, contact, road boundary, "
            "the kinematic single-track model of the BMW 320i. A cell is the first thing that is wrong, in the order "
            "contact, road, goal, feasibility.",
            "Ours and IDM: 20 Hz, a simulated car with lags of steering and drive, the others' future unknown; in a "
            "goal that they would reach too early they stop where they may stand. IDM fits no speed to a goal's "
            "window; ours drives with the headway, comfort, RSS braking and smoothing of `parameters_for_scenarios`.",
            "FISS+ predicts along lanes as well; the reactive planner is given the recorded future. "
            "The peers track their plans perfectly, in their packages' own loops; FISS+ fits its speed to the window.",
            "`was hit`: from behind, or standing; the others replay a recording and do not react.",
        ),
    )  # fmt: skip
