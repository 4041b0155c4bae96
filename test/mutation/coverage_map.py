"""Which test runs which line, and for how long."""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from .operators import Mutant
from .trial import in_child

LOADING = ""
"""In place of a test: the line is run while tests are loaded."""
ELSEWHERE = 3.0
"""A test of another room or module counts as so much slower than one of the mutant's."""
SLOW_S = 2.0
"""Tests that take longer (s) are left out, where there is another, but for those in a file named after the module."""


@dataclass
class CoverageMap:
    """Tests by file and line, and seconds by test."""

    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    """Tests that are left out, for they fail as it is."""

    def tests(self, mutant: Mutant, most_s: float) -> list[str]:
        """Tests that run a mutant's line, as many as fit in a time, the quickest first.

        Any test may look at what a line did that is run while loading: those that run lines of its file come first.
        """
        by_line = self.lines.get(mutant.file, {})
        own = next((by_line[at] for at in range(mutant.line, mutant.begin - 1, -1) if by_line.get(at)), [])
        if not mutant.where:
            own = sorted({test for tests in by_line.values() for test in tests})
        names = (Path(mutant.file).parent.name, Path(mutant.file).stem)
        near = sorted(
            (test for test in own if test in self.seconds),
            key=lambda test: (self.seconds[test] * _distance(test.split("::")[0], names), test),
        )
        if not mutant.where or LOADING in own:
            near += sorted(set(self.seconds) - set(near), key=lambda test: (self.seconds[test], test))
        quick = [test for test in near if self.seconds[test] <= SLOW_S or Path(mutant.file).stem in test.split("::")[0]]
        return _as_fit(quick or near, most_s, self.seconds)

    def runs_while_loading(self, mutant: Mutant) -> bool:
        """Whether a mutant's function is called while tests are loaded."""
        by_line = self.lines.get(mutant.file, {})
        return any(LOADING in by_line.get(line, ()) for line in range(mutant.begin, mutant.line + 1))


def _distance(path: str, names: tuple[str, str]) -> float:
    """How much slower a test counts as it is: those in a file named after the mutant's room or module come first."""
    return 1.0 if any(name in path for name in names) else ELSEWHERE


def _as_fit(waiting: list[str], most_s: float, seconds: dict[str, float]) -> list[str]:
    """The first tests, as many as fit; one at least."""
    total = itertools.accumulate(seconds[test] for test in waiting)
    return [test for i, (test, s) in enumerate(zip(waiting, total, strict=True)) if i == 0 or s <= most_s]


class _Watch:
    """Part of pytest: tells the coverage whose lines these are."""

    def __init__(self, root: Path, sources: list[str], result: Path) -> None:
        self.root, self.result = root, result
        self.coverage = coverage.Coverage(data_file=None, source=sources, config_file=False)
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        self.coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        began = time.process_time()
        yield
        self.seconds[item.nodeid] = time.process_time() - began
        self.coverage.switch_context("")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = {
            str(Path(file).relative_to(self.root)): data.contexts_by_lineno(file) for file in data.measured_files()
        }
        self.result.write_text(json.dumps({"lines": lines, "seconds": self.seconds, "failed": self.failed}))


class _Present:
    """Part of pytest: tells which tests there are."""

    def __init__(self, result: Path) -> None:
        self.result = result

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.result.write_text(json.dumps([item.nodeid for item in session.items]))


def measure(root: Path, packages: list[str], arguments: list[str], result: Path) -> CoverageMap:
    """Run the tests once, in a child, and note what they run; a test that fails without any fault can judge none, nor
    can one that has gone since.

    Raises:
        RuntimeError: they did not run to their end.
    """
    if not result.exists():
        watch = [str(root / package.replace(".", "/")) for package in packages]
        code = in_child(arguments, 3600.0, plugins=[_Watch(root, watch, result)])
        if not result.exists():
            raise RuntimeError(f"the tests did not run to their end (exit code {code})")
    with tempfile.TemporaryDirectory() as folder:
        present = Path(folder) / "present.json"
        in_child([*arguments, "--collect-only"], 3600.0, plugins=[_Present(present)])
        there = set(json.loads(present.read_text()))
    known = json.loads(result.read_text())
    failed = set(known["failed"])
    lines = {file: {int(line): tests for line, tests in by.items()} for file, by in known["lines"].items()}
    seconds = {test: s for test, s in known["seconds"].items() if test in there - failed}
    return CoverageMap(lines, seconds, sorted(failed & there))
