"""Compiling the kernels before anything drives: once for each state of the code, on all cores, and kept.

Every process goes through all parts, each from another end: what one has compiled the rest find in the cache, so that
the work is shared whatever a part takes on a machine. `python -m tuling_fsm.compiling` does it from the command line.
"""

from __future__ import annotations

import fcntl
import gc
import hashlib
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import cast

import numba
import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernel_cache import is_current, source_stamp
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.warm_up import (
    warm_up_free_space,
    warm_up_free_space_motion,
    warm_up_lanes,
    warm_up_maneuvers,
    warm_up_stops,
)
from tuling_fsm.progress import ProgressDisplay, Report
from tuling_fsm.share import share_file
from tuling_fsm.world.builder import WorldBuilder

Part = Callable[[], object]

MOST_PROCESSES = 8
POLL_S = 0.5
_PYTHON = "py{}{}".format(*sys.version_info)
"""As Numba has it in the names of its files."""
_KERNELS = re.compile(r"^@(kernel|inlined_kernel|array_kernel)\b", re.MULTILINE)


def _planner() -> Planner:
    return Planner(Vehicle(), Parameters().planning)


def _agent() -> Agent:
    return Agent(read_map(share_file("config", "course", "course.xodr")))


def _world() -> None:
    WorldBuilder(read_map(share_file("config", "course", "course.xodr")), Vehicle(), Parameters().world).warm_up()


def _simulator() -> None:
    # The node on the vehicle compiles all but this, and has no use for a simulator, which takes a fifth of its start.
    from tuling_fsm.sim.warm_up import warm_up_simulation

    warm_up_simulation()


PLANNER_PARTS: dict[str, Part] = {
    "motion": warm_up_free_space_motion,
    "search": warm_up_free_space,
    "maneuvers": lambda: warm_up_maneuvers(_planner()),
    "ticks": lambda: _agent().warm_up(),
    "stops": lambda: warm_up_stops(_planner()),
    "world": _world,
    "lanes": lambda: warm_up_lanes(_planner()),
}
PARTS = PLANNER_PARTS | {"simulator": _simulator}


def compile_kernels(parts: Sequence[str] = tuple(PARTS), report: Report | None = None) -> None:
    """Compile what is not in the cache yet; returns at once where everything is.

    Where a process fails, the caller finds out why when it runs the same code itself.

    Args:
        parts: names from `PARTS`.
        report: told about twice a second how far it is; by default it is shown on standard error.
    """
    folder, code = Path(cast(Dispatcher, wrap_angle).stats.cache_path), f"{_PYTHON}-{_digest()}"
    marks = {part: folder / f"{code}-{_processor()}-{part}.compiled" for part in parts}
    if all(mark.exists() for mark in marks.values()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        report = report or stack.enter_context(ProgressDisplay())
        stack.enter_context(_alone(folder / "compiling.lock", report))
        _forget_old(folder, code)
        missing = [part for part, mark in marks.items() if not mark.exists()]
        for part in _compile(missing, report) if missing else ():
            marks[part].touch()


def _digest() -> str:
    """Of what the kernels are compiled from, and with."""
    return hashlib.sha256(repr((numba.__version__, np.__version__, _stamps())).encode()).hexdigest()[:16]


def _stamps() -> list[str]:
    """Of all files that have kernels."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return [source_stamp(file) for file in files if _KERNELS.search(file.read_text(encoding="utf-8"))]


def _forget_old(folder: Path, code: str) -> None:
    """Delete what was compiled from other sources than these."""
    for mark in folder.glob(f"{_PYTHON}-*.compiled"):
        if not mark.name.startswith(code):
            mark.unlink(missing_ok=True)
    stamps = set(_stamps())
    loaded = [module for name, module in sys.modules.items() if name.startswith("tuling_fsm.")]
    kernels = [each for module in loaded for each in vars(module).values() if isinstance(each, Dispatcher)]
    for place in {Path(kernel.stats.cache_path) for kernel in kernels}:
        for file in place.glob("*.nb[ci]"):
            if not is_current(file.name, stamps):
                file.unlink(missing_ok=True)


def _processor() -> str:
    """What they are compiled for."""
    return hashlib.sha256(repr(cpu_target.target_context.codegen().magic_tuple()).encode()).hexdigest()[:8]


@contextmanager
def _alone(file: Path, report: Report) -> Iterator[None]:
    """While no other process compiles into the same cache."""
    with file.open("w") as lock:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            report("another process compiles the kernels")
            time.sleep(POLL_S)
        yield


def _compile(parts: Sequence[str], report: Report) -> set[str]:
    """Compile parts in processes of their own; returns those that succeeded."""
    done = set[str]()
    count = max(1, min(os.cpu_count() or 1, MOST_PROCESSES, len(parts)))
    command = [sys.executable, "-m", "tuling_fsm.compiling", "--part"]
    selector = selectors.DefaultSelector()
    workers = []
    try:
        for order in _orders(parts, count):
            worker = subprocess.Popen(
                [*command, *order], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            assert worker.stdout is not None
            selector.register(worker.stdout, selectors.EVENT_READ)
            workers.append(worker)
        while len(done) < len(parts) and selector.get_map():
            for key, _ in selector.select(POLL_S):
                line = os.read(key.fd, 4096).decode()
                done.update(set(line.split()) & set(parts))
                if not line:
                    selector.unregister(key.fileobj)
            # What is left takes less than its share: the parts have most kernels in common.
            report(f"compiling kernels, once: {len(done)} of {len(parts)} parts")
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()
    return done


def _orders(parts: Sequence[str], count: int) -> list[list[str]]:
    """For each of some processes all parts: two begin at either end, further ones in between."""
    orders = []
    for k in range(count):
        begin = (k // 2) * 2 * len(parts) // count
        turned = [*parts[begin:], *parts[:begin]]
        orders.append(turned if k % 2 == 0 else turned[::-1])
    return orders


def main(arguments: Sequence[str]) -> int:
    """Compile everything; with `--part NAME...` those in this process, naming each that is done."""
    if arguments[:1] == ["--part"]:
        gc.disable()  # Compiling makes little rubbish, and looking for it takes a tenth of the time.
        for part in arguments[1:]:
            PARTS[part]()
            print(part, flush=True)
        return 0
    compile_kernels()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
