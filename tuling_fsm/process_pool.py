"""Work in processes of their own, so that one piece has nothing of another in it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from multiprocessing import get_context, parent_process
from typing import TypeVar

from tuling_fsm.garbage import collect_seldom

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

    Those not begun are given up when nobody takes any more. A process that is killed takes along what others of its
    pool are at: that is done again afterwards, each in a pool of its own, and only what ends its process then too has
    nothing but a `BrokenProcessPool` to give.

    Args:
        work: a function of a module, done with one job in a process.
        jobs: what it is given.
        workers: processes at a time.
        poll: called now and then while they work.
    """
    left, again = deque(range(len(jobs))), list[int]()
    while left or again:
        alone = not left
        numbers = deque([again.pop(0)]) if alone else left
        with closing(_in_one_pool(work, jobs, numbers, 1 if alone else workers, poll)) as ended:
            for number, future in ended:
                if alone or not _is_broken(future):
                    yield number, future
                else:
                    again.append(number)


def _in_one_pool(
    work: Callable[[Job], Done],
    jobs: Sequence[Job],
    numbers: deque[int],
    workers: int,
    poll: Callable[[], object] | None,
) -> Generator[tuple[int, Future[Done]], None, None]:
    """Do the jobs of these numbers, which are taken away as they begin, until all are done or the pool is broken."""
    pool = process_pool(workers)
    at: dict[Future[Done], int] = {}
    broken = False
    try:
        while True:
            while numbers and len(at) < workers and not broken:
                try:
                    at[pool.submit(work, jobs[numbers[0]])] = numbers[0]
                except BrokenProcessPool:
                    broken = True
                else:
                    numbers.popleft()
            if not at:
                return
            done, _ = wait(at, None if poll is None else POLL_S, FIRST_COMPLETED)
            broken = broken or any(map(_is_broken, done))
            if poll is not None:
                poll()
            for future in sorted(done, key=at.__getitem__):
                yield at.pop(future), future
    finally:
        pool.shutdown(cancel_futures=True)


def _is_broken(future: Future[Done]) -> bool:
    return isinstance(future.exception(), BrokenProcessPool)


def process_pool(workers: int) -> ProcessPoolExecutor:
    """So many processes that begin with nothing, and end with this one."""
    return ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin)


def _begin() -> None:
    """What a process does first: it looks for garbage seldom, as any program of the package, and ends with the others.
    Control-C reaches every process of a terminal; one of them says so. A parent that is killed takes its children,
    which would wait for work for ever.
    """
    collect_seldom()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = parent_process()
    if sys.platform == "linux" and parent is not None:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent.pid:
            os._exit(1)
