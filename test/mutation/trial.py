"""Running tests on a mutant, in a child of a process that has everything loaded but what is mutated."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import math
import os
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from .operators import Mutant

PLUGINS = ("-p", "pytest_timeout", "-p", "_hypothesis_pytestplugin")
"""Of pytest, those that the tests need: the others take half a second."""
KILLED, SURVIVED, LATE = "killed", "survived", "late"
"""What becomes of a mutant. One that takes too long has been found out as well."""
START_S, FACTOR = 3.0, 5.0
"""A test may use so much CPU time, and so many times its own, before it counts as stuck."""
LOADING_S = 20.0


class _Planted(importlib.abc.MetaPathFinder):
    """Gives the mutant's text in place of the module; it lies in a folder of its own, with kernels of its own."""

    def __init__(self, module: str, file: Path) -> None:
        self.module, self.file = module, file

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self.module:
            return None
        return importlib.util.spec_from_file_location(name, self.file)


def module_of(file: str) -> str:
    """The module whose source this is."""
    return ".".join(Path(file).with_suffix("").parts)


def in_child(
    arguments: Sequence[str], cpu_s: float, mutant: Mutant | None = None, plugins: Sequence[object] = ()
) -> int:
    """Run pytest in a forked child that may use so much CPU time. Returns its exit code (negative: the signal that
    ended it).
    """
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu_s), math.ceil(cpu_s) + 5))
        with contextlib.suppress(BaseException):
            os._exit(run_tests(arguments, plugins, mutant))
        os._exit(3)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def run_tests(arguments: Sequence[str], plugins: Sequence[object] = (), mutant: Mutant | None = None) -> int:
    """Run pytest in this process, with a mutant in place of its module."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    if mutant is None:
        return int(pytest.main([*PLUGINS, *arguments], plugins))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / Path(mutant.file).name
        file.write_text(mutant.source, encoding="utf-8")
        sys.meta_path.insert(0, _Planted(module_of(mutant.file), file))
        return int(pytest.main([*PLUGINS, *arguments], plugins))


def try_loaded(mutant: Mutant, tests: Sequence[str], seconds: float) -> str:
    """The fate of a mutant that is loaded anew, on tests that take so long."""
    code = in_child(["-x", "-q", "--no-header", *tests], LOADING_S + FACTOR * seconds, mutant)
    return LATE if code < 0 else SURVIVED if code == 0 else KILLED
