"""Work in processes of their own, so that one piece has nothing of another in it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from typing import TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
POLL_S = 1.0
"""Between two looks at what is going on."""
_PR_SET_PDEATHSIG = 1
"""Of `prctl(2)`."""


def in_processes(
    work: Callable[[Job], Done], jobs: Sequence[Job], workers: int, poll: Callable[[], object] | None = None
) -> Generator[tuple[int, Future[Done]], None, None]:
    """Do all jobs, and give out the number of each with what came of it as they end.

    Those not begun are given up when nobody takes any more.

    Args:
        work: a function of a module, done with one job in a process.
        jobs: what it is given.
        workers: processes at a time.
        poll: called now and then while they work.
    """
    pool = process_pool(workers)
    try:
        numbers = {pool.submit(work, job): index for index, job in enumerate(jobs)}
        left = set(numbers)
        while left:
            done, left = wait(left, None if poll is None else POLL_S, FIRST_COMPLETED)
            if poll is not None:
                poll()
            for future in sorted(done, key=numbers.__getitem__):
                yield numbers[future], future
    finally:
        pool.shutdown(cancel_futures=True)


def process_pool(workers: int) -> ProcessPoolExecutor:
    """So many processes that begin with nothing, and end with this one."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_the_others)


def _end_with_the_others() -> None:
    """Control-C reaches every process of a terminal; one of them says so. A parent that is killed takes its children,
    which would wait for work for ever.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()
    if sys.platform == "linux" and parent is not None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent.pid:
            os._exit(1)
