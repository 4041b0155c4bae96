"""`campaign`: many runs, in local processes."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.verbs.parser import Verbs, add_overrides, add_verb, folder
from tuling_fsm.verbs.runs import assignment, watched_line

_NO_VALUE = "-"
_HASH_SHOWN = 12
_REFUSED = (InputError, FileNotFoundError, IsADirectoryError, PermissionError)
"""What the command line says in one line: bad input, that no other seed would make better."""


@dataclass(frozen=True)
class Job:
    """One run of a campaign."""

    scenario: Path
    seed: int
    map_file: Path | None
    overrides: tuple[tuple[str, str], ...]
    out: Path | None

    @property
    def name(self) -> str:
        """The scenario as the table names it."""
        return self.scenario.stem


COLUMNS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("scenario", lambda run: Path(run["file"]).stem),
    ("seed", lambda run: str(run["seed"])),
    ("end", lambda run: str(run["end"])),
    ("faults", lambda run: str(len(faults(run)))),
    ("services", lambda run: str(run["services"])),
    ("driving", lambda run: f"{run['score']['driving']:.2f}"),
    ("unexplained s", lambda run: f"{run['longest_unexplained_stop_s']:.2f}"),
    ("flaps", lambda run: str(run["flaps"])),
    ("p99 ms", lambda run: f"{run['tick_ms']['p99']:.1f}"),
    ("trace", lambda run: str(run["trace_sha256"])[:_HASH_SHOWN]),
)
"""Of the table: heading, and the words for a run."""


def add_campaign(verbs: Verbs) -> None:
    """Scenarios times seeds."""
    parser = add_verb(verbs, "campaign", _campaign, "runs of many scenarios with many seeds, in local processes")
    parser.add_argument("scenarios", type=Path, nargs="+", metavar="SCENARIO.osc", help="OpenSCENARIO 2 text")
    parser.add_argument("--seeds", type=int, required=True, metavar="N", help="each scenario with the seeds 1 to N")
    parser.add_argument("--workers", type=int, metavar="N", help="processes at a time (default one a processor)")
    parser.add_argument("--map", type=Path, metavar="F", help="OpenDRIVE map instead of the scenarios' own")
    add_overrides(parser, "every scenario")
    parser.add_argument(
        "--out", type=folder, metavar="DIR", help="folder of campaign.json, and of a folder for each run"
    )
    parser.add_argument("--json", action="store_true", help="print campaign.json on standard output")


def _campaign(arguments: argparse.Namespace) -> int:
    jobs = _jobs(arguments)
    workers = arguments.workers or min(len(jobs), os.cpu_count() or 1)
    runs = run_all(jobs, workers, watched_line())
    if sys.stderr.isatty():
        print(file=sys.stderr)
    held = all(run["finished"] and not faults(run) for run in runs)
    campaign = {"held": held, "runs": runs}
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "campaign.json").write_text(json.dumps(campaign, indent=1) + "\n", encoding="utf-8")
    if arguments.json:
        print(json.dumps(campaign))
    else:
        print(*table(runs), sep="\n")
    return 0 if held else 1


def _jobs(arguments: argparse.Namespace) -> list[Job]:
    """Every run, by scenario and seed; what can be told to be wrong before the first of them is.

    Raises:
        InputError: a number below one, two scenarios of one name, a scenario or a map that cannot be used.
    """
    from tuling_fsm.run import chosen_map
    from tuling_fsm.sim.scenario.load import load_scenario

    for option, number in (("--seeds", arguments.seeds), ("--workers", arguments.workers)):
        if number is not None and number < 1:
            raise InputError(option, str(number), "1 or more")
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise InputError(str(arguments.out), "a file", "a folder")
    overrides = tuple(assignment(text) for text in arguments.overrides)
    names = set[str]()
    for file in arguments.scenarios:
        if file.stem in names:
            raise InputError(str(file), f"a second scenario {file.stem}", "each of another name")
        names.add(file.stem)
        map_file = chosen_map(load_scenario(file, dict(overrides)), arguments.map)
        if not map_file.is_file():
            raise InputError(str(map_file), "no such file", "an OpenDRIVE map")
    return [
        Job(file, seed, arguments.map, overrides, arguments.out and arguments.out / file.stem / f"seed_{seed}")
        for file in arguments.scenarios
        for seed in range(1, arguments.seeds + 1)
    ]


def run_all(jobs: Sequence[Job], workers: int, say: Callable[[str], None] | None = None) -> list[dict[str, Any]]:
    """Drive every job in processes of their own, so that a run has nothing of another in it.

    Args:
        jobs: what to drive.
        workers: processes at a time.
        say: told in a line of each run that is over.

    Returns:
        In the order of the jobs: the content of `result.json`, and `file`, the scenario's. A run that broke off has
        only `file`, `scenario`, `seed`, `finished`, `end` ("error"), `infractions` (none) and `error`.

    Raises:
        InputError, OSError: a job cannot be driven as it was asked for; those not begun are given up.
    """
    if say is not None:
        say(f"0 of {len(jobs)} runs")
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_leave_quietly)
    try:
        futures = {pool.submit(drive, job): index for index, job in enumerate(jobs)}
        runs: dict[int, dict[str, Any]] = {}
        for count, future in enumerate(as_completed(futures), start=1):
            index = futures[future]
            job, run = jobs[index], _outcome(jobs[index], future)
            runs[index] = run
            if say is not None:
                say(f"{count} of {len(jobs)} runs, {job.name} seed {job.seed}: {run['end']}")
    finally:
        pool.shutdown(cancel_futures=True)
    return [runs[index] for index in range(len(jobs))]


def drive(job: Job) -> dict[str, Any]:
    """One run in this process, as the verb `sim` does it."""
    from tuling_fsm.run import run_scenario

    try:
        result = run_scenario(
            job.scenario, map_file=job.map_file, seed=job.seed, overrides=dict(job.overrides), out=job.out
        )
    except _REFUSED:
        raise
    except Exception as error:
        return _broken_off(job, f"{type(error).__name__}: {error}")
    return {"file": str(job.scenario), **result}


def faults(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The infractions that the car is to blame for."""
    return [item for item in run["infractions"] if item["at_fault"]]


def table(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the table, then those of what went wrong."""
    rows = [[heading for heading, _ in COLUMNS], *([_cell(run, words) for _, words in COLUMNS] for run in runs)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells))
    for run in runs:
        where = f"{Path(run['file']).stem} seed {run['seed']}"
        if "error" in run:
            yield f"{where}: {run['error']}"
        yield from (f"{where}, at fault, {item['t']:.2f} s: {item['kind']}, {item['detail']}" for item in faults(run))


def _cell(run: Mapping[str, Any], words: Callable[[Mapping[str, Any]], str]) -> str:
    """A run that broke off has not every figure."""
    try:
        return words(run)
    except KeyError:
        return _NO_VALUE


def _outcome(job: Job, future: Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        return future.result()
    except BrokenProcessPool:
        return _broken_off(job, "a process of the campaign was killed")


def _broken_off(job: Job, error: str) -> dict[str, Any]:
    return {
        "file": str(job.scenario),
        "scenario": job.name,
        "seed": job.seed,
        "finished": False,
        "end": "error",
        "infractions": [],
        "error": " ".join(error.split()),
    }


def _leave_quietly() -> None:
    """Control-C reaches every process of a terminal; one of them says so."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
