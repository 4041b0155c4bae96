"""Plants faults in one room of the house, one at a time, and tells which of them no test finds.

cd test && python -m mutation behaviour --sample 500 --seed 1
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .coverage_map import CoverageMap, measure
from .operators import Mutant, mutants
from .rooms import ROOMS, Room
from .swap import judged
from .trial import SURVIVED, try_loaded

ROOT = Path(__file__).resolve().parents[2]
MOST_S = 25.0
"""CPU time of the tests that are tried on one mutant, s."""
SOME = 25
"""Mutants between two lines of progress."""


NOT_MUTATED = ("parameters.py", "warm_up.py")
"""Modules that hold nothing but numbers, or only compile kernels."""


def all_mutants(room: Room) -> list[Mutant]:
    """Every mutant of every module of a room."""
    files = [file for package in room.packages for file in sorted((ROOT / package.replace(".", "/")).rglob("*.py"))]
    found = []
    for file in files:
        if file.name not in NOT_MUTATED:
            found += mutants(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
    return found


def drawn(found: list[Mutant], many: int, seed: int) -> list[Mutant]:
    """A sample that hardly changes with the text: an edit touches only those where it is made."""
    return sorted(found, key=lambda mutant: hashlib.sha256(f"{seed} {mutant.name}".encode()).digest())[:many]


def judge(chosen: list[Mutant], known: CoverageMap, arguments: list[str]) -> Iterator[tuple[Mutant, str]]:
    """Try the tests that run each mutant's line until one finds it: those of functions first, then the others."""
    loaded = [mutant for mutant in chosen if not mutant.where]
    for mutant, fate in judged([m for m in chosen if m.where], known, MOST_S, arguments):
        if fate:
            yield mutant, fate
        else:
            loaded.append(mutant)
    for mutant in loaded:
        tests = known.tests(mutant, MOST_S)
        yield mutant, try_loaded(mutant, tests, sum(known.seconds[test] for test in tests))


def arguments_of(given: list[str]) -> argparse.Namespace:
    """What the command is called with."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("room", choices=ROOMS)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="part of a file's path")
    parser.add_argument("--map", type=Path, help="file in which it is kept which test runs which line")
    parser.add_argument("tests", nargs="*", help="files and folders, from the top, instead of the room's")
    return parser.parse_intermixed_args(given)


def main() -> int:
    """Sample, judge, and print the survivors."""
    arguments = arguments_of(sys.argv[1:])
    os.chdir(ROOT)
    room = ROOMS[arguments.room]
    room.load()
    found = all_mutants(room)
    chosen = [mutant for mutant in drawn(found, arguments.sample, arguments.seed) if arguments.only in mutant.file]
    options = ["-q", "-m", f"not ({room.leave_out})", *(arguments.tests or room.tests)]
    with tempfile.TemporaryDirectory() as folder:
        known = measure(ROOT, list(room.packages), options, arguments.map or Path(folder) / "map.json")
    print(f"{len(found)} mutants, {len(chosen)} tried on {len(known.seconds)} tests", flush=True)
    for test in known.failed:
        print(f"left out, for it fails already: {test}", flush=True)
    fates: Counter[str] = Counter()
    shares = [chosen[job :: arguments.jobs] for job in range(arguments.jobs)]

    def work(share: list[Mutant]) -> None:
        for mutant, fate in judge(share, known, options):
            fates[fate] += 1
            if fate == SURVIVED:
                print(f"{mutant.file}:{mutant.line}: {mutant.fault}", flush=True)
            if fates.total() % SOME == 0:
                print(f"so far {dict(fates)}", flush=True)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(work, shares))
    killed = len(chosen) - fates[SURVIVED]
    print(f"{dict(fates)}: {100.0 * killed / max(1, len(chosen)):.1f} % found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
