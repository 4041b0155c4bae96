"""Control-C ends what is done, and never breaks the call or the loading of a kernel."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from llvmlite.binding import executionengine
from numba.core import serialize
from patience import PATIENCE_S

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs
from tuling_fsm.cli import INTERRUPTED
from tuling_fsm.interruption import HUNG_UP, TERMINATED, interruptible, raising
from tuling_fsm.map.opendrive.reader import read_map
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file


@pytest.fixture(autouse=True)
def _as_a_program_begins() -> Iterator[None]:
    """A background job starts with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _signal(then: list[str]) -> None:
    """It comes, and is not raised before this is over."""
    signal.raise_signal(signal.SIGINT)
    then.append("handed over")


def _numba_unpickle(then: list[str]) -> None:
    """In the place of what a kernel calls."""
    _signal(then)


def _wait() -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        time.sleep(0.01)


def _in_llvmlite(then: list[str]) -> None:
    """The same, in the place of what LLVM calls back."""
    exec(
        "def callback():\n    go_on()", scope := {"__name__": executionengine.__name__, "go_on": lambda: _signal(then)}
    )
    scope["callback"]()


def test_numba_and_llvm_call_what_is_waited_for() -> None:
    assert serialize._numba_unpickle.__name__ == _numba_unpickle.__name__
    assert executionengine._ObjectCacheGetBufferFunc is not None


@pytest.mark.parametrize("called", [_numba_unpickle, _in_llvmlite])
def test_where_compiled_code_waits_for_python_it_comes_when_that_is_over(called: Callable[[list[str]], None]) -> None:
    then: list[str] = []
    with interruptible():
        with pytest.raises(KeyboardInterrupt):
            called(then)
            _wait()
        assert then == ["handed over"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_where_it_is_ignored_it_stays_so() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interruptible():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_no_call_of_a_kernel_is_broken_by_it() -> None:
    """Of 300 signals at any moment; without the handler a third of them end in a `SystemError`."""
    road_map, random = read_map(share_file("config", "course", "course.xodr")), Random(1)
    road_map.project(100.0, -1.75)
    before = signal.signal(signal.SIGALRM, raising(KeyboardInterrupt))
    try:
        for _ in range(300):
            delay = random.uniform(1e-4, 4e-4)
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, delay)  # not before: on a busy machine it comes at once
                while True:
                    road_map.project(100.0, -1.75)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


PROGRAM = """
import signal
import sys
from tuling_fsm.cli import main
from tuling_fsm.run import RunProgress

def tick(self, timers):
    if len(self._log.rows) == 100:
        signal.raise_signal(getattr(signal, sys.argv[1]))

RunProgress.tick = tick
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
sys.exit(main(["sim", *sys.argv[2:]]))
"""


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("SIGINT", INTERRUPTED, ["interrupted"]), ("SIGTERM", TERMINATED, []), ("SIGHUP", HUNG_UP, [])],
)
def test_a_run_that_is_ended_by_a_signal_leaves_a_bag_that_can_be_read(
    name: str, code: int, said: list[str], tmp_path: Path
) -> None:
    scenario = share_file("config", "scenarios", "pickup.osc")
    command = [sys.executable, "-c", PROGRAM, name, str(scenario), "--out", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert (run.returncode, run.stderr.splitlines()) == (code, said)
    assert len(list(read_inputs(BagSource(tmp_path)))) == 100


@pytest.mark.medium
def test_a_run_in_a_program_is_interrupted_between_kernels() -> None:
    then: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        run_scenario(
            RunSettings(share_file("config", "scenarios", "pickup.osc")), status=lambda _: _numba_unpickle(then)
        )
    assert then
