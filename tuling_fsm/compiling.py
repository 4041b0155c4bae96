"""Compiling the kernels on two cores at once, where that has not been done yet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tuling_fsm.core.geometry import wrap_angle

FREE_SPACE = "from tuling_fsm.planning.free_space import warm_up; warm_up()"
"""What the second process runs: a good third of all kernels, which `Planner.warm_up` needs after those for lanes."""


def nothing_compiled() -> bool:
    """Whether the cache of kernels is empty, judged by a small one that everything else needs."""
    wrap_angle(0.0)
    return bool(wrap_angle.stats.cache_misses)


@contextmanager
def compiling_beside() -> Iterator[subprocess.Popen[bytes] | None]:
    """While this lasts a second process compiles a part into the common cache, if that is empty.

    Both may compile the same kernel: whoever is second only loses time. What the second one says is not heard, for this
    one would fail in the same way.
    """
    if not nothing_compiled():
        yield None
        return
    quiet = subprocess.DEVNULL
    with subprocess.Popen([sys.executable, "-c", FREE_SPACE], stdin=quiet, stdout=quiet, stderr=quiet) as process:
        try:
            yield process
        finally:
            process.kill()
