"""The process that reads mutants: one for each target, so that what kills it kills nothing else.

It is told what to do in one line of JSON on standard input, and tells what comes of it in lines of JSON on standard
output. Run `n` of a target depends on the seed, the target, `n` and the files alone, so that it can be made again.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import NamedTuple

from tuling_fsm.fuzz.targets import TARGETS, Seed, seeds_of
from tuling_fsm.fuzz.trial import Trial, attempt

INPUT, RUN = "input", "run"
"""In the folder of the process: the file that is read, and the number of the run."""
TOLD_EVERY_S = 1.0
_MOST_LINKS = 300
PLAIN = 2_000
"""Bytes that weigh nothing when a file is drawn: small ones are drawn more often, as they are read faster."""


class FuzzWork(NamedTuple):
    """What a process is to do.

    Args:
        target: a name of `targets.TARGETS`.
        folder: of its own.
        findings: folder for what is found.
        corpus: files to begin with; empty for the target's own.
        seed: of the mutants.
        first: number of the first run.
        runs: how many at the most.
        seconds: after so many no run is begun.
        memory_mb: that a run may take besides what the process has.
        again: files that are read instead of mutants, each with the folder that it is read as if it lay in.
    """

    target: str
    folder: str
    findings: str
    corpus: str
    seed: int
    first: int
    runs: int
    seconds: float
    memory_mb: int
    again: tuple[tuple[str, str], ...] = ()


def main() -> int:
    """Do what standard input says."""
    work = FuzzWork(**json.loads(sys.stdin.readline()))
    report = WorkReport(work, sys.stdout.fileno())
    sys.stdout = sys.stderr  # What a reader prints is no report.
    for number, mutant in _mutants(work):
        report.took(number, mutant, try_seed(work, mutant))
    report.end()
    return 0


def _mutants(work: FuzzWork) -> Iterator[tuple[int, Seed]]:
    """What is read in each run. Its number is written down first: making a mutant may fail too."""
    if work.again:
        limit_memory(work.memory_mb)
        for i, (file, beside) in enumerate(work.again):
            yield i, Seed(Path(file).read_bytes(), Path(beside) if beside else None)
        return
    target, seeds = TARGETS[work.target], seeds_of(work.target, Path(work.corpus) if work.corpus else None)
    weights = [1.0 / (PLAIN + len(seed.content)) for seed in seeds]
    limit_memory(work.memory_mb)
    began = time.monotonic()
    for number in count(work.first):
        if number >= work.first + work.runs or time.monotonic() - began > work.seconds:
            return
        note(work, number)
        random = Random(f"{work.seed} {work.target} {number}")
        seed = seeds[number] if number < len(seeds) else random.choices(seeds, weights)[0]
        yield number, seed if number < len(seeds) else seed._replace(content=target.mutate(seed.content, random))


def note(work: FuzzWork, number: int) -> None:
    """Write down the number of a run."""
    (Path(work.folder) / RUN).write_text(str(number))


def place_of(folder: Path, seed: Seed, suffix: str) -> Path:
    """Where a mutant of a file lies: what is beside the file, and beside its folder, is beside it by links."""
    if seed.folder is None:
        return folder / f"{INPUT}{suffix}"
    here = folder / sha256(str(seed.folder).encode()).hexdigest()[:8] / "here"
    if not here.exists():
        here.mkdir(parents=True)
        for links, origin in ((here, seed.folder), (here.parent, seed.folder.parent)):
            for each in islice(sorted(origin.resolve().iterdir()), _MOST_LINKS):
                if not (links / each.name).exists():
                    (links / each.name).symlink_to(each)
    return here / f"{INPUT}{suffix}"


def try_seed(work: FuzzWork, seed: Seed) -> Trial:
    """Write a mutant down and read it."""
    target, last = TARGETS[work.target], Path(work.folder) / f"{INPUT}{TARGETS[work.target].suffix}"
    file = place_of(Path(work.folder), seed, target.suffix)
    file.write_bytes(seed.content)
    if file != last:
        last.unlink(missing_ok=True)
        last.symlink_to(file)
    return attempt(target.read, file, target.limit_s)


def limit_memory(megabytes: int) -> None:
    """Let the process have so much more than it has now; what asks for more fails."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + megabytes * 2**20, resource.RLIM_INFINITY))


def signature(target: str, trial: Trial) -> str:
    """One name for all that is found at one place in one way."""
    word = trial.detail.split(":")[0] if trial.kind in ("exception", "warning", "rule") else ""
    what = f"{target} {trial.kind} {trial.place} {''.join(letter for letter in word if not letter.isdigit())}"
    return f"{trial.kind}-{sha256(what.encode()).hexdigest()[:12]}"


class WorkReport:
    """Tells, line by line, of runs and findings.

    Args:
        work: that is done.
        stream: descriptor that is written to, at once.
    """

    def __init__(self, work: FuzzWork, stream: int) -> None:
        self._work, self._stream = work, stream
        self._counts = {"runs": 0, "work": 0, "read": 0, "refused": 0}
        self._slowest, self._began, self._told = 0.0, time.monotonic(), time.monotonic()
        self._next = work.first

    def took(self, number: int, seed: Seed, trial: Trial) -> None:
        """A run is over."""
        self._counts["runs"] += 1
        self._counts["work"] += trial.work
        self._slowest = max(self._slowest, trial.cpu_s)
        self._next = number + 1
        if not trial.is_finding:
            self._counts[trial.kind] += 1
        if trial.is_finding or self._work.again:
            self._found(number, seed, trial)
        if time.monotonic() - self._told > TOLD_EVERY_S:
            self.end()

    def _found(self, number: int, seed: Seed, trial: Trial) -> None:
        name = signature(self._work.target, trial)
        if not self._work.again:
            keep_finding(Path(self._work.findings), name, TARGETS[self._work.target].suffix, seed.content)
        told: dict[str, object] = {
            "name": name,
            "run": number,
            "kind": trial.kind,
            "place": trial.place,
            "detail": trial.detail,
        }
        told["beside"] = "" if seed.folder is None else str(seed.folder)
        self._say({"finding": told})

    def end(self) -> None:
        """Tell how far it is, and count anew."""
        now = time.monotonic()
        self._say({**self._counts, "next": self._next, "seconds": now - self._began, "slowest": self._slowest})
        self._counts = dict.fromkeys(self._counts, 0)
        self._slowest, self._began, self._told = 0.0, now, now

    def _say(self, line: dict[str, object]) -> None:
        os.write(self._stream, json.dumps(line).encode() + b"\n")


def keep_finding(folder: Path, name: str, suffix: str, content: bytes) -> Path:
    """Keep a file, the smallest of all of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}{suffix}"
    if not file.exists() or file.stat().st_size > len(content):
        file.write_bytes(content)
    return file


if __name__ == "__main__":
    sys.exit(main())
