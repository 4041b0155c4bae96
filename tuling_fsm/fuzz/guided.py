"""The same process guided by coverage: Atheris, libFuzzer for Python ([atheris][]), chooses what is mutated on.

What led somewhere new is kept in a corpus beside the findings, so that the next process goes on from there. Modules
with kernels are left as they are: Numba could not compile what counts its own lines.
"""

from __future__ import annotations

import json
import os
import re
import sys
from importlib import import_module, util
from pathlib import Path
from random import Random
from types import ModuleType

from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.work import FuzzWork

EXTRA = "atheris"
_OURS_SHARE = 0.6
"""Of mutants that are made by the structure of the file; libFuzzer makes the rest from bytes."""
_KERNELS = re.compile(r"^@(kernel|inlined_kernel|array_kernel)\b|import numba|from numba", re.MULTILINE)
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
    with atheris.instrument_imports(include=list(_modules(work.target)), exclude=_left_alone(work.target)):
        from tuling_fsm.fuzz.targets import TARGETS, Seed, seeds_of
        from tuling_fsm.fuzz.worker import WorkReport, limit_memory, note, try_seed
    target, report = TARGETS[work.target], WorkReport(work, stream)
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


def _modules(target: str) -> tuple[str, ...]:
    """Those of a target, read from its row without importing what is to be instrumented."""
    source = Path(__file__).with_name("targets.py").read_text(encoding="utf-8")
    row = source[source.index(f'    "{target}": FuzzTarget(') :]
    return tuple(re.findall(r'"(tuling_fsm\.[\w.]+)"', row[: row.index("\n    ),")]))


def _left_alone(target: str) -> list[str]:
    """All modules but those of the target, and of these those with kernels: Atheris takes whole packages or none."""
    root, wanted = Path(__file__).parents[1], _modules(target)
    files = {".".join(each.relative_to(root.parent).with_suffix("").parts): each for each in root.rglob("*.py")}
    modules = {name.removesuffix(".__init__"): file for name, file in files.items()}
    return [name for name, file in modules.items() if not _under(name, wanted) or _has_kernels(file)]


def _under(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _has_kernels(file: Path) -> bool:
    return _KERNELS.search(file.read_text(encoding="utf-8")) is not None


if __name__ == "__main__":
    sys.exit(main())
