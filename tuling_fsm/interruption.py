"""Signals that end what is done by an exception, but not while a kernel hands over its result.

Numba makes the tuples that a kernel returns by a call of Python. An exception that a signal raises in there breaks the
kernel's call with a `SystemError`, or ends the process with nothing said.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_HANDOVER = "_numba_unpickle"
_RETRY_S = 0.001


def is_too_early(number: int, frame: FrameType | None) -> bool:
    """Whether a signal has come to `frame` while a kernel hands over its result; then it comes again a moment later."""
    while frame is not None:
        if frame.f_code.co_name == _HANDOVER:
            threading.Timer(_RETRY_S, signal.raise_signal, (number,)).start()
            return True
        frame = frame.f_back
    return False


def raising(error: type[BaseException]) -> Callable[[int, FrameType | None], None]:
    """A handler of a signal that raises an exception as soon as it may."""

    def handle(number: int, frame: FrameType | None) -> None:
        if not is_too_early(number, frame):
            raise error

    return handle


@contextmanager
def interruptible() -> Iterator[None]:
    """Here Control-C raises `KeyboardInterrupt` as soon as it may, unless it is ignored or the program's own affair."""
    before = signal.getsignal(signal.SIGINT)
    if before is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, raising(KeyboardInterrupt))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
