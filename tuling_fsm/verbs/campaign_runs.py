"""The runs of a campaign: what one is, driving it, and driving many in local processes."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tuling_fsm import process_pool
from tuling_fsm.core.errors import InputError
from tuling_fsm.input_file import content_sha256
from tuling_fsm.progress import Report, TimeLeft
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.viewer.campaign_page import scenario_name

Run = dict[str, Any]
"""The content of `result.json`, `file`, the scenario's, and of a variation its `distribution` and number. A
run that broke off has only these, `scenario`, `seed`, `finished`, `end` ("error"), `infractions` (none), `error`, and
`map` where the campaign names one.
"""
Ended = Generator[tuple[int, Run], None, None]
"""The runs as they end, each with the number of its job."""
DriveAll = Callable[[Sequence["CampaignRun"]], Ended]
"""Drives every job somewhere."""
_FILES = ("scenario", "map", "mission")
"""What the settings of a run tell the content of."""
REFUSED = (InputError, FileNotFoundError, IsADirectoryError, PermissionError)
"""What the command line says in one line. It may be so with one seed and not with another."""


@dataclass(frozen=True)
class CampaignRun:
    """One run of a campaign."""

    settings: RunSettings
    out: Path | None = None
    bag: bool = True
    """Whether more than `result.json` is written of a run."""
    distribution: Path | None = None
    """The file of parameters' values of which it is a variation."""
    variation: int = 0
    """Which one, from 1 on."""

    @property
    def name(self) -> str:
        """The scenario as the table names it."""
        return scenario_name(self.told)

    @property
    def told(self) -> Run:
        """What a result does not have: the file, and which variation of it."""
        file: Run = {"file": str(self.settings.scenario)}
        if self.distribution is None:
            return file
        return {**file, "distribution": str(self.distribution), "variation": self.variation}


def run_all(jobs: Sequence[CampaignRun], drive_all: DriveAll, say: Report | None = None) -> list[Run]:
    """Drive every job.

    Args:
        jobs: what to drive.
        drive_all: what drives them.
        say: told in a line of each run that is over.

    Returns:
        In the order of the jobs.
    """
    left = TimeLeft()
    if say is not None:
        say(left.line(f"0 of {len(jobs)} runs    0 %", 0.0))
    runs: dict[int, Run] = {}
    with closing(drive_all(jobs)) as ended:
        for index, run in ended:
            runs[index] = run
            if say is not None:
                share, last = (
                    len(runs) / len(jobs),
                    f"{jobs[index].name} seed {jobs[index].settings.seed}: {run['end']}",
                )
                say(left.line(f"{len(runs)} of {len(jobs)} runs  {100 * share:3.0f} %  {last}", share))
    return [runs[index] for index in range(len(jobs))]


def in_processes(jobs: Sequence[CampaignRun], workers: int) -> Ended:
    """Drive every job on this machine, in processes of their own, so that a run has nothing of another in it.

    Args:
        jobs: what to drive.
        workers: processes at a time.
    """
    with closing(process_pool.in_processes(drive, jobs, workers)) as ended:
        for index, future in ended:
            yield index, _outcome(jobs[index], future)


def drive(job: CampaignRun, progress: Report | None = None) -> Run:
    """One run in this process, as the verb `sim` does it; one that cannot be driven as it was asked for, from the first
    frame or from any other on, has broken off.
    """
    from tuling_fsm.run import run_scenario

    try:
        result = run_scenario(job.settings, out=job.out, progress=progress, bag=job.bag)
    except REFUSED as error:
        return broken_off(job, str(error))
    except Exception as error:
        return broken_off(job, f"{type(error).__name__}: {error}")
    return {**job.told, **result}


def kept_runs(jobs: Sequence[CampaignRun], say: Report) -> dict[CampaignRun, Run]:
    """The results that an earlier campaign has left of these jobs; films that it was broken off before are made.

    Args:
        jobs: of which some may have been driven.
        say: told how many of them are driven again, though there is a result in their folder, and of films.

    Raises:
        InputError: a scenario cannot be used.
    """
    from tuling_fsm.bag.writer import FILE_NAME, SETTINGS

    recorded = _recorded_settings()
    runs: dict[CampaignRun, Run] = {}
    others = Counter[str]()
    for job in jobs:
        result = None if job.out is None else _left_result(job.out)
        if result is None:
            continue
        if SETTINGS not in result:
            others["the results in their folders do not tell their settings"] += 1
        elif result[SETTINGS] != recorded(job.settings):
            others["the results in their folders are of other settings"] += 1
        elif job.bag and job.out is not None and not (job.out / FILE_NAME).is_file():
            others["there is no bag in their folders, and no film"] += 1
        elif job.bag and job.out is not None and not _is_of_result(job.out):
            others["the bags in their folders are of other runs"] += 1
        else:
            runs[job] = {**job.told, **result}
    for what, count in others.items():
        say(f"{count} of {len(jobs)} runs are driven again: {what}")
    _make_films([job.out for job in runs if job.bag and job.out is not None], say)
    return runs


def _make_films(folders: Sequence[Path], say: Report) -> None:
    """Draw what was driven and not drawn."""
    from tuling_fsm.bag.source import BagSource
    from tuling_fsm.bag.writer import FILM
    from tuling_fsm.viewer.film_page import write_film
    from tuling_fsm.viewer.recording import FilmSource

    for folder in folders:
        film = folder / FILM
        if not film.is_file():
            say(f"{film} is made, which was missing")
            try:
                write_film(film, [FilmSource(BagSource(folder))])
            except InputError as error:
                say(str(error))


def changed_files(jobs: Sequence[CampaignRun], runs: Sequence[Run]) -> Iterator[str]:
    """A line for each file of which runs that differ in nothing but the seed were driven with several contents."""
    contents = defaultdict[tuple[CampaignRun, str], list[str]](list)
    for job, run in zip(jobs, runs, strict=True):
        for what in _FILES if "settings" in run else ():
            of = replace(job, settings=replace(job.settings, seed=1), out=None)
            contents[of, what].append(str(run["settings"].get(f"{what}_sha256")))
    for (of, what), found in contents.items():
        several = len(set(found))
        if several > 1:
            yield f"{of.name}: its {what} was changed meanwhile: {len(found)} runs with {several} contents of it"


def _recorded_settings() -> Callable[[RunSettings], dict[str, Any]]:
    """Gives what the result of a run tells of its settings; scenarios and maps are read once for all seeds."""
    from tuling_fsm.run import chosen_map, settings_record
    from tuling_fsm.sim.scenario.compiler import load_scenario

    @cache
    def of_first_seed(settings: RunSettings) -> dict[str, Any]:
        scenario = load_scenario(settings.scenario, dict(settings.overrides))
        return settings_record(settings, scenario, chosen_map(scenario, settings.map_file))

    return lambda settings: {**of_first_seed(replace(settings, seed=1)), "seed": settings.seed}


def holds_run(folder: Path, map_file: Path) -> bool:
    """Whether there is the result of a run on this map in a folder."""
    from tuling_fsm.bag.replay import MAP_SHA256
    from tuling_fsm.bag.writer import SETTINGS

    settings = (_left_result(folder) or {}).get(SETTINGS)
    return isinstance(settings, dict) and settings.get(MAP_SHA256) == content_sha256(map_file)


def _left_result(folder: Path) -> Run | None:
    """What is in the folder of a run; None where there is nothing, or half a file."""
    try:
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return result if isinstance(result, dict) else None


def _is_of_result(folder: Path) -> bool:
    """Whether the bag in the folder of a run is whole, and tells the settings of its result."""
    from tuling_fsm.bag.run_result import result_beside
    from tuling_fsm.bag.source import BagSource
    from tuling_fsm.bag.ticks import read_run_record

    try:
        return result_beside(folder, read_run_record(BagSource(folder))) is not None
    except InputError:
        return False


def broken_off(job: CampaignRun, error: str) -> Run:
    """What stands in the place of a run that has no result."""
    map_file = job.settings.map_file
    return {
        **job.told,
        "scenario": job.name,
        "seed": job.settings.seed,
        "finished": False,
        "end": "error",
        "infractions": [],
        "error": " ".join(error.split()),
        **({} if map_file is None else {"map": map_file.stem}),
    }


def _outcome(job: CampaignRun, future: Future[Run]) -> Run:
    try:
        return future.result()
    except BrokenProcessPool:
        return broken_off(job, "a process of the campaign was killed")
