"""Which test runs which line, and for how long."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import coverage
import pytest

from .trial import in_child

LOADING = ""
"""In place of a test: the line is run while tests are loaded."""
REACH = 15
"""A line without tests of its own is part of a statement that began at most so many lines before."""


@dataclass
class CoverageMap:
    """Tests by file and line, and seconds by test."""

    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    """Tests that are left out, for they fail as it is."""

    def rounds(self, file: str, line: int, most_s: tuple[float, ...]) -> list[list[str]]:
        """Tests that run a line, in rounds of so much time each: the nearest first, then the quickest.

        Any test may look at what a line did that is run while loading: the quickest of all make the last round.
        """
        by_line = self.lines.get(file, {})
        own = next((by_line[at] for at in range(line, line - REACH, -1) if by_line.get(at)), [LOADING])
        room = Path(file).parent.name
        near = sorted(
            (test for test in own if test in self.seconds),
            key=lambda test: (room not in test.split("::")[0], self.seconds[test], test),
        )
        rounds = [_as_fit(near, most, self.seconds) for most in most_s]
        if LOADING in own:
            tried = {test for tests in rounds for test in tests}
            others = sorted(set(self.seconds) - tried, key=lambda test: (self.seconds[test], test))
            rounds[-1] += _as_fit(others, most_s[-1], self.seconds)
        return [tests for tests in rounds if tests]


def _as_fit(waiting: list[str], most_s: float, seconds: dict[str, float]) -> list[str]:
    """Take the first tests, as many as fit, out of those that wait; one at least."""
    chosen, total = [], 0.0
    while waiting and (not chosen or total + seconds[waiting[0]] <= most_s):
        total += seconds[waiting[0]]
        chosen.append(waiting.pop(0))
    return chosen


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


def measure(root: Path, packages: list[str], arguments: list[str], result: Path) -> CoverageMap:
    """Run the tests once, in a child, and note what they run; a test that fails without any fault can judge none.

    Raises:
        RuntimeError: they did not run to their end.
    """
    if not result.exists():
        watch = [str(root / package.replace(".", "/")) for package in packages]
        code, _ = in_child(arguments, None, 3600.0, [_Watch(root, watch, result)])
        if not result.exists():
            raise RuntimeError(f"the tests did not run to their end (exit code {code})")
    known = json.loads(result.read_text())
    failed = set(known["failed"])
    lines = {file: {int(line): tests for line, tests in by.items()} for file, by in known["lines"].items()}
    return CoverageMap(lines, {test: s for test, s in known["seconds"].items() if test not in failed}, sorted(failed))
