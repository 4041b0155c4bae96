"""DDS domains of tests that run at once: no two share one, so that none hears the nodes of another."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator

from tuling_fsm.ros.processes import DOMAINS


def domains(session: int, worker: int, workers: int) -> Iterator[int]:
    """Domains from 1 on for one of the processes that share a run of the tests, round and round.

    Args:
        session: the same for all workers, another for another run on this machine, as far as may be.
        worker: from 0.
        workers: how many there are.
    """
    share = DOMAINS // workers
    for k in itertools.count(session * 13):
        yield k % share * workers + worker + 1


_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
_OURS = domains(os.getpid() if _WORKERS == 1 else os.getppid(), _WORKER, _WORKERS)


def new_domain() -> int:
    """A domain that no test of this run is in."""
    return next(_OURS)
