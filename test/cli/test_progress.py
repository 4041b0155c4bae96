"""How far a long task is: an estimate of the time that is left, on a terminal and in a log; colours on terminals."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from patience import wait_until

from tuling_fsm.cli import main
from tuling_fsm.progress import ProgressDisplay, StampProgress, TimeLeft, duration
from tuling_fsm.share import share_file
from tuling_fsm.terminal import Style, styled

COURSE = str(share_file("config", "course", "course.xodr"))


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def now() -> list[float]:
    return [100.0]


@pytest.fixture
def left(now: list[float]) -> TimeLeft:
    return TimeLeft(lambda: now[0])


def test_the_rest_takes_as_long_as_it_took_so_far(left: TimeLeft, now: list[float]) -> None:
    assert left.words(0.0) == ""
    now[0] += 20.0
    assert left.words(0.25) == "about 60 s left"
    assert left.line("half", 0.5) == "half  about 20 s left"
    assert left.words(1.0) == "about 0 s left"


def test_what_was_done_before_it_was_told_first_does_not_count(left: TimeLeft, now: list[float]) -> None:
    left.words(0.5)
    now[0] += 10.0
    assert left.words(0.75) == "about 10 s left"


@pytest.mark.parametrize(("elapsed", "share"), [(0.5, 0.5), (50.0, 0.005), (50.0, 0.0)])
def test_nothing_is_guessed_too_early(left: TimeLeft, now: list[float], elapsed: float, share: float) -> None:
    left.words(0.0)
    now[0] += elapsed
    assert left.words(share) == ""
    assert left.line("text", share) == "text"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (99.4, "99 s"), (100.0, "2 min"), (3599.0, "1 h 00 min"), (7500.0, "2 h 05 min")],
)
def test_times_are_told_as_people_do(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_a_recording_is_told_once_a_recorded_second() -> None:
    said: list[str] = []
    progress = StampProgress(said.append, duration_s=4.0)
    for tick in range(81):
        progress.tell(1000.0 + 0.05 * tick)
    assert [line.partition("%")[0].strip() for line in said] == [f"{k} of 4 s  {25 * k:3.0f}" for k in range(5)]


def test_a_log_gets_a_line_now_and_then_and_none_of_what_is_over_soon() -> None:
    log = io.StringIO()
    with ProgressDisplay(log) as progress:
        progress("one")
    assert log.getvalue() == ""
    with ProgressDisplay(log, period_s=0.01) as progress:
        progress("two")
        wait_until(lambda: log.getvalue().count("\n") >= 2)
    assert set(log.getvalue().splitlines()) == {" 0:00  two"}


def test_a_line_on_a_terminal_is_written_over_and_the_last_one_stays() -> None:
    terminal = Terminal()
    with ProgressDisplay(terminal) as progress:
        progress("one")
        progress.note("odd")
        progress("x" * 500)
    first, note, *_, last = terminal.getvalue().split("\r\x1b[2K")[1:]
    assert first == " 0:00  one"
    assert note == "odd\n"
    assert last.endswith("x\n")
    assert len(last) < 200


@pytest.mark.parametrize(
    ("text", "shown"), [("雨" * 11, "雨" * 11), ("雨" * 20, "雨" * 11), ("a" + "雨" * 20, "a" + "雨" * 10 + " ")]
)
def test_wide_letters_do_not_make_a_line_longer_than_the_terminal(
    text: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    terminal = Terminal()
    with ProgressDisplay(terminal) as progress:
        progress(text)
    assert terminal.getvalue().split("\r\x1b[2K")[1] == f" 0:00  {shown}\n"


@pytest.mark.parametrize(
    ("text", "bar"),
    [("  12.0 s   48 %  1.8 m/s", "[####......]"), ("3 of 3 runs  100 %", "[##########]"), ("  0 %", "[..........]")],
)
def test_a_share_is_a_bar_on_a_terminal_and_not_in_a_log(text: str, bar: str) -> None:
    terminal, log = Terminal(), io.StringIO()
    with ProgressDisplay(terminal) as progress:
        progress(text)
    assert terminal.getvalue().startswith(f"\r\x1b[2K{bar} 0:00  {text}")
    with ProgressDisplay(log, period_s=0.01) as progress:
        progress(text)
        wait_until(lambda: "\n" in log.getvalue())
    assert "[" not in log.getvalue()


def test_a_reader_that_has_gone_does_not_end_the_task() -> None:
    log = io.StringIO()
    with ProgressDisplay(log, period_s=0.001) as progress:
        progress("one")
        log.close()
        wait_until(progress._over.is_set)


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal, {"TERM": "xterm"}, True),
        (Terminal, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (Terminal, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (Terminal, {"TERM": "dumb"}, False),
        (io.StringIO, {"TERM": "xterm"}, False),
    ],
)
def test_colours_are_for_terminals_whose_user_wants_them(
    stream: Callable[[], io.StringIO],
    environment: dict[str, str],
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert styled("text", Style.BAD, stream()) == ("\x1b[31mtext\x1b[0m" if coloured else "text")


@pytest.mark.parametrize(("no_color", "red"), [("", True), ("1", False)])
@pytest.mark.medium
def test_an_error_is_red_on_a_real_terminal_only(no_color: str, red: bool) -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "NO_COLOR": no_color}
    command = [sys.executable, "-m", "tuling_fsm.cli", "map", "absent.xodr"]
    done = subprocess.run(command, stderr=theirs, stdout=subprocess.PIPE, env=environment, check=False)
    os.close(theirs)
    said = os.read(ours, 1000).decode()
    os.close(ours)
    assert (done.returncode, "absent.xodr" in said, "\x1b[31m" in said) == (2, True, red)


@pytest.mark.slow
def test_a_replay_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verbs share one display: what one shows shows that all are told."""
    roam = str(share_file("config", "scenarios", "roam.osc"))
    monkeypatch.setattr("tuling_fsm.progress.PERIOD_S", 0.05)
    main(["sim", roam, "--set", "length_m=60", "--no-film", "--out", str(tmp_path)])
    driving = capsys.readouterr().err
    assert re.search(r" s +\d+ % +\d+\.\d m/s  on_road/", driving)
    assert main(["replay", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.search(r"\b\d+ of \d+ s +\d+ %", printed.err)
