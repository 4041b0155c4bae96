"""A campaign of fuzzing: targets one after the other, each in a process of its own, and what was found so far.

All of it lies in one folder: `fuzz.json` with what was run and found, and the files. Another campaign in the same
folder goes on after the last run of this one, and first reads the files of all findings again, to see which still
hold.
"""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.targets import TARGETS
from tuling_fsm.fuzz.trial import LONGEST_LINE, Trial
from tuling_fsm.fuzz.worker import INPUT, RUN, FuzzWork, keep_finding, signature
from tuling_fsm.output_file import write_file
from tuling_fsm.progress import Report

STATE = "fuzz.json"
LOG = "log"
"""Of a process: what it says on standard error."""
FORMAT = 1
PATIENCE = 4.0
"""A process that is silent for so many times the limit of one file, and `LOADING_S`, is ended."""
LOADING_S = 300.0
"""Until the first line comes, s: kernels may have to be compiled."""
_AT_ONCE = 65536
"""Of what a process tells, so many bytes at the most are read in one go."""
_HELD = "holds"
_MENDED = "mended"


@dataclass
class FuzzRecord:
    """What was run of a target in all campaigns of a folder, and found: by name, `run`, `kind`, `place`, `detail`,
    `file`, `times`, and whether it still `holds`.
    """

    seed: int
    next: int = 0
    runs: int = 0
    work: int = 0
    read: int = 0
    refused: int = 0
    seconds: float = 0.0
    guided_runs: int = 0
    guided_seconds: float = 0.0
    slowest: float = 0.0
    findings: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def held(self) -> list[dict[str, Any]]:
        """Findings that still hold."""
        return [each for each in self.findings.values() if each[_HELD]]


@dataclass(frozen=True)
class FuzzBudget:
    """How much is spent on a target: runs and seconds at the most; `guided` lets coverage choose what is mutated on."""

    runs: int
    seconds: float
    memory_mb: int
    guided: bool = False


class FuzzCampaign:
    """A folder and what is in it.

    Args:
        out: the folder.
        corpus: files to begin with; None for those of each target.
        seed: of the mutants, of targets that are new in the folder.
        report: is told how far it is.

    Raises:
        InputError: the folder holds what cannot be read.
    """

    def __init__(self, out: Path, corpus: Path | None, seed: int, report: Report) -> None:
        self._out, self._corpus, self._seed, self._report = out, corpus, seed, report
        self.records = _records(out / STATE)

    def run(self, name: str, budget: FuzzBudget) -> FuzzRecord:
        """Go on with a target."""
        record = self.records.setdefault(name, FuzzRecord(self._seed))
        self._try_again(name, record, budget)
        left, spent = budget.runs, 0.0
        while left > 0 and spent < budget.seconds:
            done, took = self._once(name, record, budget, left, budget.seconds - spent)
            left, spent = left - done, spent + took
            if done == 0:
                break
        return record

    def _once(self, name: str, record: FuzzRecord, budget: FuzzBudget, runs: int, seconds: float) -> tuple[int, float]:
        """One process, until it is done or dies; returns the runs and seconds that it took."""
        work = self._work(name, record, budget)._replace(runs=runs, seconds=seconds)
        done, took = 0, 0.0
        for line in _lines(work, TARGETS[name].limit_s, budget.guided):
            if "finding" in line:
                self._take(name, record, line["finding"])
            elif "died" in line:
                self._take(name, record, self._last_words(name, work, str(line["died"])))
                record.next, done = self._last_run(work) + 1, done + 1
            else:
                done, took = done + line["runs"], took + line["seconds"]
                _add(record, line, budget.guided)
                self._report(f"{name}: {record.runs + record.guided_runs} runs, {len(record.held)} findings")
            self._save()
        return done, took

    def _try_again(self, name: str, record: FuzzRecord, budget: FuzzBudget) -> None:
        """Read the files of all findings once more."""
        known = [each for each in record.findings.values() if Path(self._out / each["file"]).is_file()]
        for each in known:
            work = self._work(name, record, budget)._replace(
                again=((str(self._out / each["file"]), each.get("beside", "")),)
            )
            kinds = [line for line in _lines(work, TARGETS[name].limit_s, False) if "finding" in line or "died" in line]
            told = kinds[0].get("finding", {"kind": "crash"}) if kinds else {"kind": "crash"}
            each[_HELD] = told["kind"] not in ("read", "refused")
            if not each[_HELD]:
                each["file"] = self._put_aside(each["file"])
        if known:
            self._save()

    def _put_aside(self, file: str) -> str:
        """Move the file of a finding that is mended, so that another one with its name is kept beside it."""
        aside = Path(file).parent / _MENDED / Path(file).name if Path(file).parent.name != _MENDED else Path(file)
        (self._out / aside).parent.mkdir(exist_ok=True)
        (self._out / file).replace(self._out / aside)
        return aside.as_posix()

    def _work(self, name: str, record: FuzzRecord, budget: FuzzBudget) -> FuzzWork:
        folder = self._out / "work" / name
        folder.mkdir(parents=True, exist_ok=True)
        corpus = "" if self._corpus is None else str(self._corpus)
        findings = str(self._out / "findings" / name)
        return FuzzWork(name, str(folder), findings, corpus, record.seed, record.next, 1, 1.0, budget.memory_mb)

    def _take(self, name: str, record: FuzzRecord, told: dict[str, Any]) -> None:
        file = f"findings/{name}/{told['name']}{TARGETS[name].suffix}"
        before = record.findings.get(told["name"], {"times": 0})
        record.findings[told["name"]] = {**told, "file": file, "times": before["times"] + 1, _HELD: True}

    def _last_words(self, name: str, work: FuzzWork, how: str) -> dict[str, Any]:
        """The finding that ended a process, which could not tell of it."""
        said = (Path(work.folder) / LOG).read_text(encoding="utf-8", errors="replace").strip().splitlines()
        said = [line for line in said if "Error" in line] or said
        kind, last = "time" if how == "silent" else "crash", said[-1] if said else ""
        trial = Trial(kind, f"the process was {how}: {last}"[:LONGEST_LINE], "process")
        found = signature(name, trial)
        file = Path(work.folder) / f"{INPUT}{TARGETS[name].suffix}"
        if file.is_file():
            keep_finding(Path(work.findings), found, file.suffix, file.read_bytes())
        return {
            "name": found,
            "run": self._last_run(work),
            "kind": trial.kind,
            "place": trial.place,
            "detail": trial.detail,
        }

    def _last_run(self, work: FuzzWork) -> int:
        file = Path(work.folder) / RUN
        return int(file.read_text() or work.first) if file.is_file() else work.first

    def _save(self) -> None:
        told = {"format": FORMAT, "targets": {name: asdict(record) for name, record in self.records.items()}}
        write_file(self._out / STATE, json.dumps(told, indent=1))

    def clear(self) -> None:
        """Remove the files of the processes; what was found stays."""
        shutil.rmtree(self._out / "work", ignore_errors=True)


def _records(file: Path) -> dict[str, FuzzRecord]:
    if not file.exists():
        return {}
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise InputError(str(file), f"has format {told['format']}", f"format {FORMAT}, or another folder")
        return {name: FuzzRecord(**record) for name, record in told["targets"].items() if name in TARGETS}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(file), f"cannot be read: {error}", "what this verb wrote, or another folder") from None


def _add(record: FuzzRecord, line: dict[str, Any], guided: bool) -> None:
    if guided:
        record.guided_runs += line["runs"]
        record.guided_seconds += line["seconds"]
    else:
        record.runs += line["runs"]
        record.seconds += line["seconds"]
        record.next = line["next"]
    record.work += line["work"]
    record.read += line["read"]
    record.refused += line["refused"]
    record.slowest = max(record.slowest, line["slowest"])


def _lines(work: FuzzWork, limit_s: float, guided: bool) -> Iterator[dict[str, Any]]:
    """What a process tells; at last that it `died`, if it did, and how."""
    module = "tuling_fsm.fuzz.guided" if guided else "tuling_fsm.fuzz.worker"
    with (Path(work.folder) / LOG).open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(json.dumps(work._asdict()).encode() + b"\n")
        process.stdin.close()
        silent = False
        try:
            for line in _in_time(process.stdout, LOADING_S, PATIENCE * limit_s):
                if line is None:
                    silent = True
                    process.kill()
                    break
                yield line
        finally:
            if process.poll() is None and not silent:
                process.terminate() if sys.exc_info()[0] is not None else None
    if silent or process.returncode != 0:
        yield {"died": "silent" if silent else f"ended with {process.returncode}"}


def _in_time(stream: IO[bytes], first_s: float, next_s: float) -> Iterator[dict[str, Any] | None]:
    """The lines of a stream; None, and no more, where one does not come in time."""
    patience, rest = first_s, b""
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while selector.select(patience):
            # Not by the stream's own buffer: the selector does not see what has been read into that.
            said = os.read(stream.fileno(), _AT_ONCE)
            if not said:
                yield from _last_line(rest)
                return
            *lines, rest = (rest + said).split(b"\n")
            patience = next_s if lines else patience
            yield from map(json.loads, lines)
    yield None


def _last_line(rest: bytes) -> list[dict[str, Any]]:
    """Of a process that ended without ending its line; none where it was cut off."""
    try:
        return [json.loads(rest)]
    except ValueError:
        return []


def table(records: dict[str, FuzzRecord], names: Sequence[str]) -> list[str]:
    """A line for each target, below a head."""
    head = ["target", "runs", "s", "guided", "s", "work", "read", "refused", "slowest s", "findings", "mended"]
    rows = [head, *(_row(name, records[name]) for name in names)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return ["  ".join(map(_aligned, row, widths, range(len(head)))) for row in rows]


def _row(name: str, record: FuzzRecord) -> list[str]:
    held = len(record.held)
    counts = (record.runs, round(record.seconds), record.guided_runs, round(record.guided_seconds), record.work)
    more = (record.read, record.refused, f"{record.slowest:.1f}", held, len(record.findings) - held)
    return [name, *map(str, (*counts, *more))]


def _aligned(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column else cell.ljust(width)
