"""Driving the runs of a search in processes, and keeping what came of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from tuling_fsm.core.errors import InputError
from tuling_fsm.falsification.criticality import ERROR, drive_critically, not_driven
from tuling_fsm.falsification.parameter_space import ParameterRange, overrides_at
from tuling_fsm.falsification.search import Overrides
from tuling_fsm.output_file import locked_folder, write_file
from tuling_fsm.process_pool import in_processes, process_pool
from tuling_fsm.run import chosen_map, settings_record
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.scenario.compiler import load_scenario

FILE = "runs.jsonl"


@dataclass(frozen=True)
class SearchSettings:
    """What is searched: ranges of a scenario's variables; all else is set."""

    fixed: RunSettings
    space: tuple[ParameterRange, ...]

    def plain(self) -> dict[str, Any]:
        """What makes the search, as plain data: those of equal settings are the same.

        Raises:
            InputError: the scenario cannot be used, at one end of the ranges or at the other.
        """
        ends = [self.run(overrides_at(self.space, [end] * len(self.space))) for end in (1.0, 0.0)]
        scenarios = [load_scenario(run.scenario, dict(run.overrides)) for run in ends]
        map_file = chosen_map(scenarios[-1], self.fixed.map_file)
        ranges = [{**one._asdict()} for one in self.space]
        return {**settings_record(self.fixed, scenarios[-1], map_file), "ranges": ranges}

    def run(self, values: Overrides) -> RunSettings:
        """A run with values of the variables."""
        return replace(self.fixed, overrides=(*self.fixed.overrides, *values))


class SearchRecord:
    """Drives runs, but those that have been driven before.

    Args:
        settings: of the search.
        workers: processes at a time.
        folder: where what came of them is kept; None keeps nothing.
        resume: take what is kept there.

    Raises:
        InputError: the scenario cannot be used, or the folder holds a search of other settings, or one that goes on.
    """

    def __init__(self, settings: SearchSettings, workers: int, folder: Path | None, resume: bool) -> None:
        self._settings, self._workers = settings, workers
        self._plain = settings.plain()
        self._done: dict[Overrides, dict[str, Any]] = {}
        self._file: TextIO | None = None
        self._pool: ProcessPoolExecutor | None = None
        self._held = ExitStack()
        if folder is None:
            return
        file = folder / FILE
        with ExitStack() as held:
            held.enter_context(locked_folder(folder))
            if resume and file.exists():
                self._done = _read(file, self._plain)
            kept = (_line(values, outcome) for values, outcome in self._done.items())
            write_file(file, "".join((json.dumps(self._plain) + "\n", *kept)))
            self._file = held.enter_context(file.open("a", encoding="utf-8"))
            self._held = held.pop_all()

    def plain_settings(self) -> dict[str, Any]:
        """Of the search."""
        return self._plain

    def __enter__(self) -> SearchRecord:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_pool()
        self._held.close()

    def drive(self, asked: Sequence[Overrides]) -> list[dict[str, Any]]:
        """What came of runs with these values, in this order; a run that ends its process again and again is none."""
        left = self._drive_together([values for values in dict.fromkeys(asked) if values not in self._done])
        jobs = [self._settings.run(values) for values in left]
        with closing(in_processes(drive_critically, jobs, self._workers)) as ended:
            for number, future in ended:
                self._keep(left[number], _outcome(future))
        return [self._done[values] for values in asked]

    def _drive_together(self, missing: Sequence[Overrides]) -> Sequence[Overrides]:
        """Drive runs in processes that are kept for the next ones, since they begin slowly.

        Returns:
            The values of those that are left, where one of the processes was killed.
        """
        done = 0
        try:
            if missing and self._pool is None:
                self._pool = process_pool(self._workers)
            if self._pool is not None:
                for outcome in self._pool.map(drive_critically, map(self._settings.run, missing)):
                    self._keep(missing[done], outcome)
                    done += 1
        except BrokenProcessPool:
            self._end_pool()
        return missing[done:]

    def _end_pool(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._pool = None

    def _keep(self, values: Overrides, outcome: dict[str, Any]) -> None:
        """A run whose process was killed is not kept in the file: it is driven when the search is gone on with."""
        self._done[values] = outcome
        if self._file is not None and not outcome["end"].startswith(ERROR):
            self._file.write(_line(values, outcome))
            self._file.flush()


def _outcome(future: Future[dict[str, Any]]) -> dict[str, Any]:
    try:
        return future.result()
    except BrokenProcessPool:
        return not_driven(f"{ERROR}a process of the search was killed")


def _line(values: Overrides, outcome: dict[str, Any]) -> str:
    return json.dumps({"values": dict(values), "outcome": outcome}) + "\n"


def _read(file: Path, settings: dict[str, Any]) -> dict[Overrides, dict[str, Any]]:
    """What a search of the same settings has left; a line that was cut off is driven again."""
    first, *lines = file.read_text(encoding="utf-8").splitlines() or [""]
    if first != json.dumps(settings):
        raise InputError("--resume", f"{file} is of other settings", "those of the search there, or another folder")
    done: dict[Overrides, dict[str, Any]] = {}
    for line in lines:
        try:
            kept = json.loads(line)
            done[tuple(kept["values"].items())] = kept["outcome"]
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    return done
