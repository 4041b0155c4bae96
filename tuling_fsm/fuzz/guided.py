"""The same process guided by coverage: Atheris, libFuzzer for Python ([atheris][]), chooses what is mutated on.

What led somewhere new is kept in a corpus beside the findings, so that the next process goes on from there. Kernels are
left as they are: Numba could not compile what counts its own lines.
"""

from __future__ import annotations

import gc
import json
import os
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module, util
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType

from numba.core.dispatcher import Dispatcher

from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.targets import TARGETS, Seed, seeds_of
from tuling_fsm.fuzz.worker import FuzzWork, WorkReport, limit_memory, note, try_seed

EXTRA = "atheris"
_OURS_SHARE = 0.6
"""Of mutants that are made by the structure of the file; libFuzzer makes the rest from bytes."""
_MOST_BYTES = 400_000


def require_atheris() -> None:
    """See that it is installed.

    Raises:
        InputError: it is not.
    """
    if util.find_spec(EXTRA) is None:
        raise InputError("fuzz --guided", "the package atheris is not installed", "pip install 'tuling_fsm[fuzz]'")


def main() -> int:
    """Do what standard input says; libFuzzer ends the process."""
    require_atheris()
    work = FuzzWork(**json.loads(sys.stdin.readline()))
    stream = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _search(import_module(EXTRA), work, stream)
    return 0


def _search(atheris: ModuleType, work: FuzzWork, stream: int) -> None:
    target, report = TARGETS[work.target], WorkReport(work, stream)
    for function in functions_of(target.modules):
        atheris.instrument_func(function)
    corpus = Path(work.findings).parents[1] / "corpus" / work.target
    corpus.mkdir(parents=True, exist_ok=True)
    seeds = seeds_of(work.target, Path(work.corpus) if work.corpus else None)
    for i, seed in enumerate(seeds):
        (corpus / f"seed{i}").write_bytes(seed.content)

    def try_one(data: bytes) -> None:
        note(work, work.first)
        seed = Seed(data, seeds[0].folder)
        report.took(work.first, seed, try_seed(work, seed))

    def mutate(data: bytes, most: int, seed: int) -> bytes:
        random = Random(seed)
        if random.random() < _OURS_SHARE:
            return target.mutate(data, random)[:most]
        return bytes(atheris.Mutate(data, most))

    options = [
        f"-max_total_time={max(int(work.seconds), 1)}",
        f"-runs={work.runs}",
        f"-seed={work.seed % 2**31 or 1}",
        f"-max_len={_MOST_BYTES}",
        "-rss_limit_mb=0",
        "-timeout=1000000",  # Of what takes long a trial itself tells.
        f"-artifact_prefix={work.folder}/",
        "-len_control=0",
    ]
    limit_memory(work.memory_mb)
    atheris.Setup([sys.argv[0], *options, str(corpus)], try_one, custom_mutator=mutate)
    atheris.Fuzz()


def functions_of(modules: Sequence[str]) -> list[FunctionType]:
    """All that is written in Python in modules, and in those of packages, but kernels."""
    names = {module for name in modules for module in _within(name)}
    held = gc.get_objects()
    kernels = {id(each.py_func) for each in held if issubclass(type(each), Dispatcher)}
    functions = (each for each in held if type(each) is FunctionType and id(each) not in kernels)
    return [function for function in functions if function.__module__ in names]


def _within(name: str) -> Iterator[str]:
    """Names of a module and of all within it, which are imported."""
    module = import_module(name)
    yield name
    for each in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        import_module(each.name)
        yield each.name


if __name__ == "__main__":
    sys.exit(main())
