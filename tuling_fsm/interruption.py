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

TERMINATED = 143
"""What a shell reports of a program that SIGTERM has ended."""
_DEFAULT_ACTIONS: dict[signal.Signals, tuple[object, BaseException | type[BaseException]]] = {
    signal.SIGINT: (signal.default_int_handler, KeyboardInterrupt),
    signal.SIGTERM: (signal.SIG_DFL, SystemExit(TERMINATED)),
}
"""The handler of a signal that nobody has set another for, and the exception that takes its place."""
_HANDOVER = "_numba_unpickle"
_RETRY_S = 0.001


def postponed(number: int, frame: FrameType | None) -> bool:
    """Whether a signal has come to `frame` while a kernel hands over its result: it is sent again in a moment then."""
    while frame is not None:
        if frame.f_code.co_name == _HANDOVER:
            threading.Timer(_RETRY_S, signal.raise_signal, (number,)).start()
            return True
        frame = frame.f_back
    return False


def raising(error: BaseException | type[BaseException]) -> Callable[[int, FrameType | None], None]:
    """A handler of a signal that raises an exception as soon as it may."""

    def handle(number: int, frame: FrameType | None) -> None:
        if not postponed(number, frame):
            raise error

    return handle


@contextmanager
def interruptible(number: signal.Signals = signal.SIGINT) -> Iterator[None]:
    """Here SIGINT raises `KeyboardInterrupt`, or SIGTERM `SystemExit`, as soon as it may, so that what is written is
    brought to its end; not where the signal is ignored, or a program has a handler of its own.
    """
    before, (default, error) = signal.getsignal(number), _DEFAULT_ACTIONS[number]
    if before is not default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(number, raising(error))
    try:
        yield
    finally:
        signal.signal(number, before)
