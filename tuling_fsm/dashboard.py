"""A run on a terminal, in a few lines that are written over: state, what limits the car, timers, steps of the mission.

Drawn by rich, which knows what a terminal can do, and keeps to `NO_COLOR`.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from tuling_fsm.core.standstills import NO_REASON
from tuling_fsm.drive_status import DriveStatus, MissionStep
from tuling_fsm.progress import ProgressDisplay
from tuling_fsm.terminal import is_terminal

REFRESH_HZ = 8.0
TIMERS = 2
"""Dwell timers that are shown: those that are next to be full; as many lines are kept, so that nothing jumps."""
BAR = 24
"""Width of a bar, in letters."""
FAST_M_S, SLOW_TICK_MS = 10.0, 50.0
"""Where the bars of speed and tick time are full; a tick may take no longer than the time between two."""
_STYLES = {"on_road": "blue", "intersection": "magenta", "temporary_stop": "yellow", "parking": "cyan"}
"""Of the composites."""


class Dashboard:
    """A context that shows how a run stands, and for how long it has been going on; lines that are not of a run come
    before it.

    Args:
        console: where to; standard error if not given.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(file=sys.stderr)
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._said = ""
        self._status: DriveStatus | None = None
        self._live = Live(console=self._console, refresh_per_second=REFRESH_HZ, get_renderable=self._picture)

    def __call__(self, text: str) -> None:
        """A line of what comes before the run; the run is told by `show`."""
        with self._lock:
            self._said = text

    def show(self, status: DriveStatus) -> None:
        """How the run stands."""
        with self._lock:
            self._status = status

    def note(self, text: str) -> None:
        """A line that stays, above."""
        self._console.print(Text(text))

    def __enter__(self) -> Dashboard:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__(None, None, None)

    def _picture(self) -> RenderableType:
        with self._lock:
            status, said = self._status, self._said
        elapsed = time.monotonic() - self._began
        return Text(f"{_clock(elapsed)}  {said}") if status is None else picture(status, elapsed)


class LineDisplay(ProgressDisplay):
    """A line now and then, for a log; how a run stands is in its lines already."""

    def __enter__(self) -> LineDisplay:
        super().__enter__()
        return self

    def show(self, status: DriveStatus) -> None:
        """Nothing more."""


def display(stream: TextIO | None = None) -> Dashboard | LineDisplay:
    """What fits a stream, standard error if not given: lines that are written over need a terminal that can do so."""
    stream = stream or sys.stderr
    if is_terminal(stream) and os.environ.get("TERM") != "dumb":
        return Dashboard(Console(file=stream))
    return LineDisplay(stream)


def picture(status: DriveStatus, elapsed_s: float) -> RenderableType:
    """A moment of a run, after so much time of the wall clock (s)."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", width=8, no_wrap=True)
    rows.add_column(ratio=1)
    rows.add_row("time", _times(status, elapsed_s))
    rows.add_row("state", _state(status.state))
    rows.add_row("why", _reason(status))
    rows.add_row("speed", _bar(abs(status.v), FAST_M_S, f"{status.v:.1f} m/s", "blue"))
    late = "red" if status.tick_ms > SLOW_TICK_MS else "green"
    rows.add_row("tick", _bar(status.tick_ms, SLOW_TICK_MS, f"{status.tick_ms:.0f} ms", late))
    for row in _timers(status):
        rows.add_row("next", row)
    rows.add_row("done", _steps(status.steps) if status.steps else _share(status))
    return Group(rows)


def _times(status: DriveStatus, elapsed_s: float) -> Text:
    text = Text(f"{_clock(status.t)} simulated", style="bold")
    text.append(f"  in {_clock(elapsed_s)}", style="not bold")
    if status.left:
        text.append(f", {status.left}", style="not bold dim")
    return text


def _state(path: str) -> Text:
    composite, _, leaf = path.partition("/")
    text = Text(composite.replace("_", " "), style=f"bold {_STYLES.get(composite, 'white')}")
    return text.append(f" › {leaf.replace('_', ' ')}", style="bold default") if leaf else text


def _reason(status: DriveStatus) -> Text:
    text = Text(status.code, style="dim" if status.code in NO_REASON else "bold red")
    return text.append(f"  {status.words}", style="not bold not dim default")


def _bar(value: float, most: float, words: str, style: str) -> Table:
    row = Table.grid(padding=(0, 1))
    row.add_column(width=BAR)
    row.add_column(no_wrap=True, overflow="ellipsis")
    bar = ProgressBar(total=most, completed=min(value, most), width=BAR, complete_style=style, finished_style=style)
    row.add_row(bar, words)
    return row


def _timers(status: DriveStatus) -> list[RenderableType]:
    """The timers that are next to be full, and empty lines for those that do not run."""
    soonest = sorted(status.timers, key=lambda timer: timer.dwell_s - timer.held_s)[:TIMERS]
    shown: list[RenderableType] = [
        _bar(timer.held_s, max(timer.dwell_s, 1e-6),
             f"{timer.held_s:.1f} of {timer.dwell_s:.1f} s → {timer.dest} ({timer.guard})", "yellow")
        for timer in soonest
    ]  # fmt: skip
    return [*shown, *[Text("") for _ in range(TIMERS - len(shown))]]


def _steps(steps: tuple[MissionStep, ...]) -> Text:
    """Those that are done, the one that is being done, those to come."""
    present = next((step for step in steps if not step.done), None)
    text = Text()
    for step in steps:
        mark, style = ("✔", "green") if step.done else ("▶", "bold") if step is present else ("·", "dim")
        text.append("   " if text else "").append(f"{mark} {step.name}", style=style)
    return text


def _share(status: DriveStatus) -> Table:
    return _bar(status.share, 1.0, f"{100 * status.share:.0f} % of the route", "green")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(seconds, 0.0), 60.0)
    return f"{int(minutes)}:{int(rest):02d}"
