"""Trying mutants in forks of a process that has loaded everything and collected all tests: the code of one function
is exchanged, which takes no time.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import resource
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType

import pytest

from .coverage_map import CoverageMap
from .operators import Mutant
from .trial import FACTOR, KILLED, LATE, START_S, SURVIVED, module_of, run_tests

OWN_RUNS = {"tour"}
"""Fixtures in which what is mutated runs: every fork makes its own."""
MOST_BYTES = 6 << 30
"""A mutant that asks for more memory is refused it."""


def judged(
    mutants: Sequence[Mutant], known: CoverageMap, most_s: float, arguments: list[str]
) -> Iterator[tuple[Mutant, str]]:
    """Mutants with their fates, as they come; an empty one where the fault shows only while loading."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        os._exit(run_tests(arguments, [_Bench(mutants, known, most_s, writer)]))
    os.close(writer)
    with os.fdopen(reader) as told:
        for line in told:
            number, fate = json.loads(line)
            yield mutants[number], fate
    os.waitpid(pid, 0)


class _Bench:
    """Part of pytest: tries mutants instead of running the tests."""

    def __init__(self, mutants: Sequence[Mutant], known: CoverageMap, most_s: float, writer: int) -> None:
        self.mutants, self.known, self.most_s, self.writer = mutants, known, most_s, writer
        self.killers: dict[tuple[str, str], dict[str, None]] = {}
        """Tests that have found a mutant, by the function in which it was."""
        self.sound: dict[pytest.Item, bool] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        # Otherwise every fork would make a folder of its own, and nobody would remove it.
        session.config._tmp_path_factory.getbasetemp()
        self._warm_up(session.items)
        for number, mutant in enumerate(self.mutants):
            fate = self._judge(mutant, items)
            os.write(self.writer, (json.dumps((number, fate)) + "\n").encode())
        return True

    def _warm_up(self, items: Sequence[pytest.Item]) -> None:
        """Run a quick test of every file, so that kernels and maps are loaded once and not in every fork."""
        quickest: dict[object, pytest.Item] = {}
        for item in sorted(items, key=lambda item: self.known.seconds.get(item.nodeid, math.inf)):
            if not OWN_RUNS & set(getattr(item, "fixturenames", ())):
                quickest.setdefault(item.path, item)
        for item in quickest.values():
            _stands(item, item.session)

    def _judge(self, mutant: Mutant, items: Mapping[str, pytest.Item]) -> str:
        function = function_of(mutant)
        if function is None:
            return ""
        near = [test for test in self.known.tests(mutant, self.most_s) if test in items]
        killers = self.killers.setdefault((mutant.file, mutant.where), {})
        order = [test for test in reversed(killers) if test in near]
        order += [test for test in near if test not in killers]
        code = code_of(mutant)
        while True:
            fate, stood = self._in_fork(function, code, [items[test] for test in order])
            if fate == SURVIVED or self._is_sound(items[order[stood]]):
                break
            del order[stood]
        if fate != SURVIVED:
            killers.pop(order[stood], None)
            killers[order[stood]] = None
        return "" if fate == SURVIVED and self.known.runs_while_loading(mutant) else fate

    def _is_sound(self, item: pytest.Item) -> bool:
        """Whether a test stands the text as it is, in a fork as well."""
        if item not in self.sound:
            function = _Bench._is_sound
            self.sound[item] = self._in_fork(function, function.__code__, [item])[0] == SURVIVED
        return self.sound[item]

    def _in_fork(self, function: FunctionType, code: CodeType, items: Sequence[pytest.Item]) -> tuple[str, int]:
        """What becomes of a function with other code, and how many of the tests it has stood before that."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
            function.__code__ = code
            for item in items:
                signal.setitimer(signal.ITIMER_PROF, START_S + FACTOR * self.known.seconds[item.nodeid])
                if not _stands(item, item.session):
                    os._exit(1)
                os.write(writer, b".")
            os._exit(0)
        os.close(writer)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(reader) as told:
            stood = len(told.read())
        ended = os.waitstatus_to_exitcode(status)
        return (LATE if ended < 0 else SURVIVED if ended == 0 else KILLED), stood


def _stands(item: pytest.Item, after: pytest.Session) -> bool:
    """Whether a test passes; without a report, for that takes long. Fixtures of the session are kept."""
    try:
        item.ihook.pytest_runtest_setup(item=item)
        item.ihook.pytest_runtest_call(item=item)
    except pytest.skip.Exception:
        pass
    except BaseException:
        return False
    # Some fixtures miss their report.
    with contextlib.suppress(Exception):
        item.ihook.pytest_runtest_teardown(item=item, nextitem=after)
    return True


def function_of(mutant: Mutant) -> FunctionType | None:
    """The function in which a mutant's fault lies, if its code can be exchanged."""
    module = sys.modules.get(module_of(mutant.file))
    found: object = module
    for name in mutant.where.split("."):
        found = vars(found).get(name) if found is not None else None
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    elif isinstance(found, functools._lru_cache_wrapper):
        found = found.__wrapped__
    if module is None or not isinstance(found, FunctionType) or found.__code__.co_filename != module.__file__:
        return None
    return found


def code_of(mutant: Mutant) -> CodeType:
    """The code of that function with the fault in it."""
    code = compile(mutant.source, mutant.file, "exec", dont_inherit=True)
    for name in mutant.where.split("."):
        code = next(part for part in code.co_consts if isinstance(part, CodeType) and part.co_name == name)
    return code
