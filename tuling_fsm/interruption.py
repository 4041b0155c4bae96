"""Signals that end what is done by an exception, but not where compiled code has called Python.

Numba makes the tuples that a kernel returns by a call of Python: an exception that a signal raises in there breaks the
kernel's call with a `SystemError`. LLVM asks Python for kernels that are kept on disk: an exception in there is lost,
and the kernel that is not there is a segmentation fault.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

HUNG_UP, TERMINATED = 129, 143
"""What a shell reports of a program that SIGHUP or SIGTERM has ended."""
_DEFAULT_ACTIONS: dict[signal.Signals, tuple[object, BaseException | type[BaseException]]] = {
    signal.SIGINT: (signal.default_int_handler, KeyboardInterrupt),
    signal.SIGTERM: (signal.SIG_DFL, SystemExit(TERMINATED)),
    signal.SIGHUP: (signal.SIG_DFL, SystemExit(HUNG_UP)),
}
"""The handler of a signal that nobody has set another for, and the exception that takes its place."""
_RESULT_FUNCTION, _LLVM_MODULES = "_numba_unpickle", "llvmlite."
"""What Numba calls to make a result, and the modules that LLVM calls back."""
_RETRY_S = 0.001


def ending_signals() -> tuple[signal.Signals, ...]:
    """What asks a program to end: SIGINT, SIGTERM, and SIGHUP, that its terminal has gone, but not under `nohup`."""
    stays = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM, *(() if stays else (signal.SIGHUP,)))


def postponed(number: int, frame: FrameType | None) -> bool:
    """Whether a signal has come to a `frame` that compiled code waits for: it is sent again in a moment then."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_name == _RESULT_FUNCTION or module.startswith(_LLVM_MODULES):
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
    """Here SIGINT raises `KeyboardInterrupt`, or SIGTERM or SIGHUP `SystemExit`, as soon as it may, so that what is
    written is brought to its end; not where the signal is ignored, or a program has a handler of its own.
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


@contextmanager
def terminable() -> Iterator[None]:
    """The same for SIGTERM and SIGHUP at once."""
    with interruptible(signal.SIGTERM), interruptible(signal.SIGHUP):
        yield
