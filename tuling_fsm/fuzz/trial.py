"""One trial: a reader is given a file, and what comes of it is judged.

What may come of it is a result, or one `InputError` that says in one line what is wrong, where, and what would be
right. Anything else is a finding: another exception, a warning, words on standard error, more time or more memory than
there is.
"""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from tuling_fsm.core.errors import InputError
from tuling_fsm.interruption import raising

LONGEST_LINE = 1500
"""Letters of a refusal."""
_PACKAGE = "tuling_fsm"
_OWN = f"{_PACKAGE}/fuzz/"


class Trial(NamedTuple):
    """What came of one file.

    `kind` is `read`, `refused`, or that of a finding: `exception`, `warning`, `output`, `unclear`, `time`, `memory`,
    `rule`, `crash`; `place` is where in the code, `detail` a line about it; `work` is what a reader counts, as ticks.
    """

    kind: str
    detail: str = ""
    place: str = ""
    work: int = 1
    cpu_s: float = 0.0

    @property
    def is_finding(self) -> bool:
        """Whether it is neither a result nor a refusal as it should be."""
        return self.kind not in ("read", "refused")


class OverTime(BaseException):
    """The time of a trial is over; no `except Exception` may take it for a fault of the file."""


class BrokenRuleError(AssertionError):
    """A result that is none: it has numbers that are not finite, or breaks what always holds."""


def attempt(read: Callable[[Path], object], file: Path, limit_s: float) -> Trial:
    """Give a reader a file.

    Args:
        read: returns an `int` where it counts its work, anything else counts as 1.
        file: what it is given.
        limit_s: processor time that it may take, s.
    """
    began = time.process_time()
    with TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as stream:  # With a descriptor: lxml asks.
        with warnings.catch_warnings(record=True) as warned, contextlib.redirect_stderr(stream):
            warnings.simplefilter("always")
            trial = _outcome(read, file, limit_s)
        stream.seek(0)
        noise = stream.read().strip()
    if not trial.is_finding and warned:
        first = warned[0]
        trial = Trial("warning", f"{first.category.__name__}: {first.message}", _short(first.filename, first.lineno))
    if not trial.is_finding and noise:
        trial = Trial("output", noise.splitlines()[0], "standard error")
    return trial._replace(
        detail=trial.detail.replace(str(file), file.name)[:LONGEST_LINE], cpu_s=time.process_time() - began
    )


def _outcome(read: Callable[[Path], object], file: Path, limit_s: float) -> Trial:
    try:
        with _timed(limit_s):
            done = read(file)
    except InputError as refusal:
        return _judged(refusal)
    except OverTime as over:
        return Trial("time", f"more than {limit_s:g} s of processor time", _innermost(over))
    except MemoryError as error:
        return Trial("memory", str(error) or "more memory than there is", _innermost(error))
    except BrokenRuleError as error:
        return Trial("rule", str(error), _innermost(error))
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Trial("exception", f"{type(error).__name__}: {error}", _innermost(error))
    return Trial("read", work=done if isinstance(done, int) and not isinstance(done, bool) else 1)


def _judged(refusal: InputError) -> Trial:
    """Whether a refusal is one clear line."""
    line, place = str(refusal), _innermost(refusal)
    if not refusal.expected:
        return Trial("unclear", f"says nothing of what would be right: {line}", place)
    if len(line) > LONGEST_LINE:
        return Trial("unclear", f"{len(line)} letters: {line}", place)
    strange = next((letter for letter in line if not letter.isprintable()), None)
    if strange is not None:
        return Trial("unclear", f"has the letter {strange!r}, which a terminal cannot show: {line}", place)
    return Trial("refused", line, place)


@contextlib.contextmanager
def _timed(limit_s: float) -> Iterator[None]:
    """Ends what takes longer than so much processor time, s. Compiled code is ended by the parent process."""

    before = signal.signal(signal.SIGPROF, raising(OverTime))
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _innermost(error: BaseException) -> str:
    """The innermost place of the package on an exception's way."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if _PACKAGE in each.filename]
    inside = [each for each in frames if _OWN not in each.filename] or frames
    return f"{_short(inside[-1].filename, inside[-1].lineno or 0)} {inside[-1].name}" if inside else "outside"


def _short(file: str, line: int) -> str:
    return f"{file.rpartition(f'/{_PACKAGE}/')[2].rpartition('site-packages/')[2]}:{line}"
