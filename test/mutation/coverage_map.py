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

        Of a line that is run while loading nobody knows which tests look at it: those of its room come first.
        """
        by_line = self.lines.get(file, {})
        tests = next((by_line[at] for at in range(line, line - REACH, -1) if by_line.get(at)), list(self.seconds))
        room = Path(file).parent.name
        waiting = sorted(tests, key=lambda test: (room not in test.split("::")[0], self.seconds[test], test))
        rounds: list[list[str]] = []
        for most in most_s:
            chosen, total = [], 0.0
            while waiting and (not chosen or total + self.seconds[waiting[0]] <= most):
                total += self.seconds[waiting[0]]
                chosen.append(waiting.pop(0))
            if chosen:
                rounds.append(chosen)
        return rounds


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
            str(Path(file).relative_to(self.root)): {
                line: [test for test in tests if test] for line, tests in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
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
    lines = {
        file: {int(line): [test for test in tests if test not in failed] for line, tests in by.items()}
        for file, by in known["lines"].items()
    }
    return CoverageMap(lines, {test: s for test, s in known["seconds"].items() if test not in failed}, sorted(failed))
