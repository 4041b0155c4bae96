"""Telling how far a long task is: a line that is written over on a terminal, one now and then in a log.

Standard error alone is written to, so that the output of a command can be read by another one.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from tuling_fsm.terminal import is_terminal

Report = Callable[[str], None]
"""Takes a line that says how far a task is."""
PERIOD_S = 10.0
"""Time between two lines in a log, s."""
REFRESH_S = 1.0
"""Time between two updates of the line on a terminal, s."""
TOLD_EVERY_S = 1.0
"""Recorded time between two lines of a task that goes through a recording, s."""
LEAST_SHARE, LEAST_TIME_S = 0.01, 1.0
"""What has to be done, and to have passed, before the rest is estimated."""
CLEAR_LINE = "\r\x1b[2K"
BAR = 10
"""Marks of a whole bar."""
_PERCENT = re.compile(r"\b(\d+) %")


class TimeLeft:
    """How long a task still takes if it goes on as fast as it went so far.

    Args:
        clock: seconds since some time; never goes back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: tuple[float, float] | None = None
        """When it was told first, s, and of which share."""

    def words(self, share: float) -> str:
        """Such as `about 40 s left`; empty as long as nothing can be said.

        Args:
            share: of the task that is done, 0 to 1.
        """
        now = self._clock()
        began, before = self._first = self._first or (now, share)
        elapsed, done = now - began, share - before
        if elapsed < LEAST_TIME_S or done < LEAST_SHARE:
            return ""
        return f"about {duration(elapsed * max(0.0, 1.0 - share) / done)} left"

    def line(self, text: str, share: float) -> str:
        """A text with these words behind it."""
        return "  ".join(filter(None, (text, self.words(share))))


class StampProgress:
    """Tells of a task that goes through a recorded time from its first stamp on.

    Args:
        report: what is told, once a recorded second at the most; nothing if None.
        duration_s: of all of it, s.
    """

    def __init__(self, report: Report | None, duration_s: float) -> None:
        self._report = report
        self._duration_s = max(duration_s, TOLD_EVERY_S)
        self._left = TimeLeft()
        self._first: float | None = None
        self._told = 0.0

    def tell(self, stamp: float) -> None:
        """Take how far the task is.

        Args:
            stamp: on the clock of the recording, s.
        """
        if self._first is None:
            self._first = self._told = stamp
        elif self._report is None or stamp - self._told < TOLD_EVERY_S:
            return
        self._told, done_s = stamp, stamp - self._first
        share = min(1.0, done_s / self._duration_s)
        if self._report is not None:
            self._report(self._left.line(f"{done_s:.0f} of {self._duration_s:.0f} s  {100 * share:3.0f} %", share))


def duration(seconds: float) -> str:
    """A time as people say it: `8 s`, `12 min`, `2 h 05 min`."""
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60.0), 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


class ProgressDisplay:
    """A context that shows what it is told, and for how long the task has been going on.

    On a terminal the line is written over, at once and every second, with a bar if it tells a share in per cent. In a
    log there is a line every ten seconds, also while nothing new is told, and none of a task that is over before. What
    is shown last stays.

    Args:
        stream: where to; standard error if not given.
        period_s: time between two lines in a log, s.
    """

    def __init__(self, stream: TextIO | None = None, period_s: float | None = None) -> None:
        self._stream = stream or sys.stderr
        self._terminal = is_terminal(self._stream)
        self._period_s = REFRESH_S if self._terminal else PERIOD_S if period_s is None else period_s
        self._text = ""
        self._began = time.monotonic()
        self._lock, self._over = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep_showing, daemon=True)

    def __call__(self, text: str) -> None:
        """Take a line."""
        with self._lock:
            self._text = text
            if self._terminal:
                self._show()

    def note(self, text: str) -> None:
        """Print a line that stays, above the one that tells how far the task is."""
        with self._lock:
            print(f"{CLEAR_LINE}{text}" if self._terminal else text, file=self._stream, flush=True)
            if self._terminal:
                self._show()

    def clear(self) -> None:
        """Make room on the terminal for what is printed on standard output."""
        with self._lock:
            if self._terminal:
                print(CLEAR_LINE, end="", file=self._stream, flush=True)

    def __enter__(self) -> ProgressDisplay:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._terminal and self._text:
            print(file=self._stream, flush=True)

    def _keep_showing(self) -> None:
        while not self._over.wait(self._period_s):
            with self._lock:
                self._show()

    def _show(self) -> None:
        if not self._text:
            return
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        line = f"{minutes:2d}:{seconds:02d}  {self._text}"
        if self._terminal:
            line = CLEAR_LINE + _cut(_bar(self._text) + line, shutil.get_terminal_size().columns - 1)
        try:
            print(line, end="" if self._terminal else "\n", file=self._stream, flush=True)
        except (OSError, ValueError):  # A reader that has gone is no reason to end the task.
            self._over.set()


def _cut(line: str, columns: int) -> str:
    """As much of a line as has room: a letter of Chinese takes two columns of a terminal."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= columns else set_cell_size(line, columns)


def _bar(text: str) -> str:
    """Such as `[####......]`, of the first share that a line tells; nothing where it tells none."""
    found = _PERCENT.search(text)
    if found is None:
        return ""
    marks = min(int(found[1]), 100) * BAR // 100
    return f"[{'#' * marks}{'.' * (BAR - marks)}]"
