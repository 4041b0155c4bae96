"""A run on a terminal: what the dashboard shows of a moment, and what there is of it where there is no terminal."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from tuling_fsm.core.errors import InputError
from tuling_fsm.dashboard import TIMERS, Dashboard, LineDisplay, display, picture
from tuling_fsm.drive_status import DriveStatus, DwellTimer, MissionStep
from tuling_fsm.share import share_file

STEPS = (
    MissionStep("garage left", True), MissionStep("pick-up 1", True), MissionStep("drop-off 1", False),
    MissionStep("parked", False),
)  # fmt: skip
STATUS = DriveStatus(
    83.4, 4.25, "on_road/solid_line_free", "RED_LIGHT", "a red light, signal 41 in 12.3 m", 21.0, 0.33,
    (DwellTimer("on_road/replan", "no_progress", 1.0, 20.0), DwellTimer("on_road/normal", "line_ends", 0.3, 0.6),
     DwellTimer("on_road/explore", "lost", 1.0, 60.0)),
    STEPS, "about 2 min left",
)  # fmt: skip


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(status: DriveStatus, width: int = 100) -> str:
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    console.print(picture(status, 65.0))
    return console.export_text()


@pytest.mark.clause("EXPL-1")
def test_a_moment_has_state_reason_speed_timers_tick_time_and_steps() -> None:
    text = shown(STATUS)
    for words in ("1:23 simulated", "in 1:05", "about 2 min left", "on road › solid line free", "RED_LIGHT",
                  "a red light, signal 41 in 12.3 m", "4.2 m/s", "21 ms", "✔ garage left", "✔ pick-up 1",
                  "▶ drop-off 1", "· parked"):  # fmt: skip
        assert words in text, words
    assert "%" not in text


def test_the_timers_that_are_next_to_be_full_are_shown_and_fill() -> None:
    lines = [line for line in shown(STATUS).splitlines() if "next" in line]
    assert len(lines) == TIMERS
    assert "0.3 of 0.6 s → on_road/normal (line_ends)" in lines[0]
    assert "1.0 of 20.0 s → on_road/replan (no_progress)" in lines[1]
    filled = [shown(replace(STATUS, timers=(DwellTimer("x", "g", held, 2.0),))) for held in (0.0, 1.0, 2.0)]
    consoles = []
    for held in (0.0, 1.0, 2.0):
        console = Console(record=True, width=100, file=io.StringIO(), no_color=True, force_terminal=True)
        console.print(picture(replace(STATUS, timers=(DwellTimer("x", "g", held, 2.0),)), 0.0))
        consoles.append(next(line for line in console.export_text().splitlines() if "next" in line).count("━"))
    assert len(set(filled)) == 3
    assert consoles == sorted(consoles)
    assert consoles[0] < consoles[1] < consoles[2]


def test_as_many_lines_without_timers_and_a_share_where_there_is_no_mission() -> None:
    bare = replace(STATUS, timers=(), steps=(), left="")
    assert shown(bare).count("\n") == shown(STATUS).count("\n")
    assert "33 % of the route" in shown(bare)
    assert "left" not in shown(bare)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_narrow_terminal_has_no_longer_lines(width: int) -> None:
    assert max(map(len, shown(STATUS, width).splitlines())) <= width


def test_a_status_comes_back_from_its_line() -> None:
    line = STATUS.to_json()
    assert "\n" not in line
    assert DriveStatus.from_json(line) == STATUS
    for bad in ("{}", "[]", "no", json.dumps({**json.loads(line), "more": 1})):
        with pytest.raises(InputError, match="status"):
            DriveStatus.from_json(bad)


def test_a_terminal_gets_the_dashboard_and_a_log_its_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(display(Terminal()), Dashboard)
    assert isinstance(display(io.StringIO()), LineDisplay)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(display(Terminal()), LineDisplay)


def test_what_comes_before_the_run_is_told_and_notes_stay() -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=100)
    with Dashboard(console) as shown_now:
        shown_now("compiling kernels, once: 0 of 8 parts")
        shown_now.note("view: http://127.0.0.1:99/")
        shown_now._live.refresh()
        shown_now.show(STATUS)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "compiling kernels, once" in text
    assert "view: http://127.0.0.1:99/" in text
    assert text.rstrip().endswith("▶ drop-off 1   · parked")


@pytest.mark.slow
def test_a_run_on_a_real_terminal() -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": "", "COLUMNS": "100"}
    roam = str(share_file("config", "scenarios", "roam.osc"))
    command = [sys.executable, "-m", "tuling_fsm.cli", "sim", roam, "--set", "length_m=40"]
    with subprocess.Popen(command, stderr=theirs, stdout=subprocess.PIPE, env=environment) as run:
        os.close(theirs)
        said = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # The other end is closed.
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert run.returncode == 0
    text = said.decode()
    assert "simulated" in text
    assert "of the route" in text
    assert re.search(r"\x1b\[[0-9;]*3[0-7]m", text)
