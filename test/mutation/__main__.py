"""Plants faults in the state machine, one at a time, and tells which of them no test finds.

cd test && python -m mutation --sample 500 --seed 1
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from .coverage_map import CoverageMap, measure
from .operators import Mutant, mutants
from .trial import MUTATED, SURVIVED, Verdict, try_out, warm_up

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("test/machine", "test/behaviour")
ROUNDS_S = (1.0, 4.0, 10.0)
"""CPU time of the tests that are tried on one mutant, s: most are found in the first round."""
START_S, FACTOR = 20.0, 4.0
"""A mutant may use so much CPU time, and so many times that of its tests, before it counts as stuck."""


SOME = 25
"""Mutants between two lines of progress."""


def all_mutants() -> list[Mutant]:
    """Every mutant of every module, but of those that hold nothing but numbers."""
    files = [file for package in MUTATED for file in sorted((ROOT / package.replace(".", "/")).rglob("*.py"))]
    found = []
    for file in files:
        if file.name != "parameters.py":
            found += mutants(str(file.relative_to(ROOT)), file.read_text(encoding="utf-8"))
    return found


def judge(mutant: Mutant, known: CoverageMap) -> Verdict:
    """Try the tests that run the mutant's line, until one finds it."""
    tried, verdict = 0, Verdict(mutant, SURVIVED, 0.0, 0)
    for tests in known.rounds(mutant.file, mutant.line, ROUNDS_S):
        tried += len(tests)
        verdict = try_out(mutant, tests, START_S + FACTOR * sum(known.seconds[test] for test in tests))
        if verdict.fate != SURVIVED:
            break
    return replace(verdict, tests=tried)


def main() -> int:
    """Sample, judge, and print the survivors."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="part of a file's path")
    parser.add_argument("--map", type=Path, help="file in which it is kept which test runs which line")
    parser.add_argument("tests", nargs="*", default=TESTS, help="files and folders, from the top")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    warm_up()
    everything = [mutant for mutant in all_mutants() if arguments.only in mutant.file]
    chosen = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
    with tempfile.TemporaryDirectory() as folder:
        kept = arguments.map or Path(folder) / "map.json"
        known = measure(ROOT, list(MUTATED), ["-q", "-m", "not slow", *arguments.tests], kept)
    print(f"{len(everything)} mutants, {len(chosen)} tried on {len(known.seconds)} tests", flush=True)
    for test in known.failed:
        print(f"left out, for it fails already: {test}", flush=True)
    fates: Counter[str] = Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for verdict in pool.map(lambda mutant: judge(mutant, known), chosen):
            fates[verdict.fate] += 1
            if verdict.fate == SURVIVED:
                mutant = verdict.mutant
                print(f"{mutant.file}:{mutant.line}: {mutant.fault} ({verdict.tests} tests)", flush=True)
            if fates.total() % SOME == 0:
                print(f"so far {dict(fates)}", flush=True)
    killed = len(chosen) - fates[SURVIVED]
    print(f"{dict(fates)}: {100.0 * killed / max(1, len(chosen)):.1f} % found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
