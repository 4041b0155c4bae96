"""Closed-loop scores on 20 town routes and on matches, for every planner, polite and rude traffic, clean and worse
perception.

`tuling-fsm bench towns` drives what is not driven yet and makes the table; `python -m benchmark.towns --help` says how
to drive some of it. A run leaves a small JSON file, and is not driven again while that lies there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.common.peers import DATA, ROOT
from benchmark.common.scoreboard import Condition, Driven, goals, rows
from benchmark.common.table import Table
from tuling_fsm.bench import RESULTS, keep
from tuling_fsm.core.errors import InputError
from tuling_fsm.output_file import write_file
from tuling_fsm.process_pool import in_processes
from tuling_fsm.progress import TimeLeft
from tuling_fsm.run import AGENT, run_scenario
from tuling_fsm.run_settings import PLANNERS, RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.sim.sensors.perception_levels import CLEAN, LEVELS
from tuling_fsm.version import __version__

OUT, MAPS = ROOT / "out" / "towns", DATA / "maps"
ROUTES, LONG_ROUTE, MATCH = "town routes", "match route", "full match"
PARTS = (ROUTES, LONG_ROUTE, MATCH)
SEEDS = (1, 2, 3, 4)
"""Of the routes on each map."""
ROUTE_M, LONG_ROUTE_M = 400.0, 3000.0
RUDE = {"polite": 0.0, "rude": 0.5}
"""Share of rude drivers and pedestrians, by the name of the traffic."""
MATCH_LEVELS = (CLEAN, "middle")
"""Of perception, where a run takes long."""
KEPT = (
    "finished", "end", "sim_s", "distance_m", "services", "score", "unexplained_stops", "longest_unexplained_stop_s",
    "flaps", "tick_ms", "trace_sha256", "map", "version",
)  # fmt: skip
"""What the file of a run has of `result.json`."""


@dataclass(frozen=True)
class Place:
    """A map and how many are on it."""

    name: str
    map_file: Path
    vehicles: int
    people: int


@dataclass(frozen=True)
class Run:
    """One run: what is driven, by whom, under which conditions, and the file that tells of it."""

    part: str
    scenario: str
    place: Place
    seed: int
    overrides: tuple[tuple[str, str], ...]
    condition: Condition
    file: Path

    @property
    def course(self) -> str:
        """What is the same for all planners and conditions."""
        return f"{self.place.name} {self.seed}"

    def asked(self) -> dict[str, Any]:
        """What makes it this run, as its file has it."""
        return {
            "scenario": self.scenario, "place": self.place.name, "seed": self.seed, "overrides": dict(self.overrides),
            **self.condition._asdict(),
        }  # fmt: skip


def places(maps: Path = MAPS) -> tuple[Place, ...]:
    """The towns: our own, and those of the folder of maps that are there."""
    found = (
        Place("course", share_file("config", "course", "course.xodr"), 18, 12),
        Place("Town01", maps / "carla_Town01.xodr", 30, 15),
        Place("Town07", maps / "carla_Town07.xodr", 30, 15),
        Place("Chattanooga", maps / "pyopendrive_chatt.xodr", 30, 15),
        Place("Fabriksgatan", maps / "esmini_fabriksgatan_traffic_lights.xodr", 12, 8),
    )
    return tuple(place for place in found if place.map_file.is_file())


def all_runs(out: Path = OUT, maps: Path = MAPS) -> list[Run]:
    """Every run, in the order of driving: what is done at any time has driven the same courses in all conditions."""
    match = Place("match", share_file("config", "course", "match.xodr"), 18, 12)
    conditions = [Condition(p, traffic, level) for traffic in RUDE for level in LEVELS for p in PLANNERS]
    few = [each for each in conditions if each.perception in MATCH_LEVELS]
    runs = [
        _run(out, ROUTES, "rude", place, seed, condition, ROUTE_M)
        for seed in SEEDS
        for place in places(maps)
        for condition in conditions
    ]
    runs += [_run(out, LONG_ROUTE, "rude", match, 1, condition, LONG_ROUTE_M) for condition in few]
    return runs + [_run(out, MATCH, "full_match", match, 1, each, None) for each in few if each.planner == AGENT]


def _run(
    out: Path, part: str, scenario: str, place: Place, seed: int, condition: Condition, length_m: float | None
) -> Run:
    overrides = {
        "vehicles": f"{place.vehicles}", "pedestrians": f"{place.people}", "rude": f"{RUDE[condition.traffic]:g}",
        **({} if length_m is None else {"length_m": f"{length_m:g}"}),
    }  # fmt: skip
    file = out / part.replace(" ", "_") / f"{place.name}_{seed}" / f"{'_'.join(condition)}.json"
    return Run(part, scenario, place, seed, tuple(overrides.items()), condition, file)


def kept(run: Run) -> dict[str, Any] | None:
    """What a run has left; None where it was not driven, or asked for otherwise."""
    try:
        found = json.loads(run.file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return found if isinstance(found, dict) and found.get("asked") == run.asked() else None


def drive(run: Run) -> dict[str, Any]:
    """Drive one run and write its file; one that breaks off has the end `error`, and is not driven again either.

    Raises:
        InputError: it cannot be driven as it was asked for.
    """
    condition, scenario = run.condition, share_file("config", "scenarios", f"{run.scenario}.osc")
    settings = RunSettings(
        scenario, run.seed, run.overrides, run.place.map_file, None, condition.planner, condition.perception
    )
    try:
        result = run_scenario(settings)
    except InputError:
        raise
    except Exception as error:
        result = {"finished": False, "end": "error", "error": f"{type(error).__name__}: {error}", "infractions": []}
    told = [each for each in result["infractions"] if each["at_fault"] or each["kind"] == "collision"]
    record = {
        "asked": run.asked(), "commit": commit(), "infractions": told,
        **{name: result[name] for name in (*KEPT, "error") if name in result},
    }  # fmt: skip
    write_file(run.file, json.dumps(record, indent=1) + "\n")
    return record


def commit() -> str:
    """The last commit that changed what drives, or the version where there is no repository."""
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%h", "--", "tuling_fsm", "config"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return __version__
    return done.stdout.strip() or __version__


def drive_all(runs: Sequence[Run], workers: int) -> None:
    """Drive what is not driven yet, and say a line on standard error for each run that is over."""
    left, time_left = [run for run in runs if kept(run) is None], TimeLeft()
    time_left.words(0.0)
    with closing(in_processes(drive, left, workers)) as over:
        for count, (index, future) in enumerate(over, 1):
            record, run = future.result(), left[index]
            words = f"{count} of {len(left)}  {run.part}: {run.course}, {', '.join(run.condition)}: {record['end']}"
            print(time_left.line(words, count / len(left)), file=sys.stderr, flush=True)


def table(runs: Sequence[Run]) -> Table:
    """The table of what is driven of some runs."""
    found = [(run, record) for run in runs if (record := kept(run)) is not None]
    driven = [Driven(run.part, run.course, run.condition, record) for run, record in found]
    commits = ", ".join(dict.fromkeys(str(record["commit"]) for _, record in found))
    courses = len({(run.part, run.course) for run in runs if run.part == ROUTES})
    missing = Counter(run.part for run in runs) - Counter(run.part for run, _ in found)
    columns, cells = rows(driven)
    return Table(
        "Towns and matches",
        columns,
        cells,
        f"{len(found)} of {len(runs)}, each once, at commit {commits or 'none'}",
        (
            *([f"Not driven yet: {', '.join(f'{part} {n}' for part, n in missing.items())}."] if missing else []),
            *goals(driven),
            "`agent` is this planner, `idm` and `pdm` the baselines (see `planners`); the scores are means over the "
            "courses, times over those that were finished; `against clean` is the time on the courses that were "
            "finished in both.",
            f"{ROUTES}: {courses} courses of {ROUTE_M:g} m drawn by the seed on "
            f"{', '.join(dict.fromkeys(run.place.name for run in runs if run.part == ROUTES))}; {LONG_ROUTE}: one of "
            f"{LONG_ROUTE_M:g} m on the match's map, where the match's few vehicles are seldom met. Course, "
            "population and lights are the same for all planners.",
            f"{MATCH}: `full_match.osc`, this planner only: the baselines need a route, and have no states for a "
            "mission, stops and parking.",
            f"rude: {RUDE['rude']:g} of the drivers and pedestrians (`docs/scenarios.md`). A collision at fault ends "
            "its run.",
        ),
    )


def run() -> Table:
    """Everything: drive what is not driven yet."""
    runs = all_runs()
    drive_all(runs, os.cpu_count() or 1)
    return table(runs)


def main() -> None:
    """Some of it, by options."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.towns", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="only this one, may be given again")
    parser.add_argument("--planner", choices=PLANNERS, action="append", help="only this one, may be given again")
    parser.add_argument("--seed", type=int, action="append", help="only this one, may be given again")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default one a processor)")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the files of the runs (default out/towns)")
    parser.add_argument("--maps", type=Path, default=MAPS, help="folder of the real maps")
    parser.add_argument("--only-table", action="store_true", help="drive nothing; table of what is driven")
    parser.add_argument("--keep", action="store_true", help="put the table into RESULTS.md, also if much is missing")
    given = parser.parse_args()
    runs = all_runs(given.out, given.maps)
    if not given.only_table:
        drive_all([each for each in runs if _wanted(each, given)], given.workers)
    made = table(runs)
    print(made.text())
    if given.keep:
        keep(ROOT / "benchmark" / RESULTS, "towns", made.markdown())


def _wanted(run: Run, given: argparse.Namespace) -> bool:
    asked = ((given.part, run.part), (given.planner, run.condition.planner), (given.seed, run.seed))
    return all(chosen is None or value in chosen for chosen, value in asked)


if __name__ == "__main__":
    main()
