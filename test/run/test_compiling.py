"""Kernels are compiled once for each state of the code, on all cores, and the rest of the time it costs nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from patience import wait_until

from tuling_fsm import compiling
from tuling_fsm.compiling import PARTS, PLANNER_PARTS
from tuling_fsm.core.kernel_cache import source_stamp

ASKS = """
import sys
from tuling_fsm import compiling
for asked in sys.argv[1:]:
    code, *parts = asked.split()
    said = []
    compiling._digest = lambda: code
    compiling._compile = lambda parts, report: (said.extend(parts), set(parts) - {"lost"})[1]
    compiling.compile_kernels(parts)
    print(*said)
"""


def ask(cache: Path, *asked: str) -> list[str]:
    """What a process compiles, a line for each time that it is asked: for the code first, then for parts."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", ASKS, *asked]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.medium
def test_what_is_compiled_once_is_compiled_again_only_when_the_code_is_another(tmp_path: Path) -> None:
    assert ask(tmp_path, "before lanes world", "before lanes world") == ["lanes world", ""]
    again = ask(tmp_path, "before lanes world", "before lanes stops", "after lanes", "before lanes")
    assert again == ["", "stops", "lanes", "lanes"]


@pytest.mark.medium
def test_what_was_compiled_from_other_sources_is_deleted(tmp_path: Path) -> None:
    ask(tmp_path, "before lanes")
    (folder,) = {mark.parent for mark in tmp_path.rglob("*.compiled")}
    stamp = source_stamp(Path(compiling.__file__).parent / "core" / "geometry.py")
    kept, old = (folder / f"geometry._project-98-{each}.{compiling._PYTHON}.1.nbc" for each in (stamp, "0" * 16))
    for file in (kept, old):
        file.touch()
    ask(tmp_path, "after world")
    assert (kept.exists(), old.exists()) == (True, False)


@pytest.mark.medium
def test_what_has_failed_is_tried_again(tmp_path: Path) -> None:
    assert ask(tmp_path, "now lost lanes", "now lost lanes") == ["lost lanes", "lost"]


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_every_process_goes_through_all_parts_each_from_another_end(count: int) -> None:
    orders = compiling._orders(tuple(PARTS), count)
    assert [sorted(order) for order in orders] == [sorted(PARTS)] * count
    assert len({tuple(order) for order in orders}) == count
    if count > 1:
        assert (orders[0][0], orders[1][0]) == (next(iter(PARTS)), list(PARTS)[-1])


@pytest.mark.slow
def test_processes_compile_and_tell_how_far_they_are() -> None:
    said: list[str] = []
    assert compiling._compile(["stops", "motion"], said.append) == {"stops", "motion"}
    assert said[-1].startswith("compiling kernels, once: 2 of 2 parts")


@pytest.mark.slow
def test_a_process_that_fails_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert compiling._compile(["stops"], lambda text: None) == set()


def test_two_at_once_wait_for_each_other(tmp_path: Path) -> None:
    said: list[str] = []
    entered = threading.Event()

    def second() -> None:
        with compiling._alone(tmp_path / "lock", said.append):
            entered.set()

    thread = threading.Thread(target=second)
    with compiling._alone(tmp_path / "lock", said.append):
        thread.start()
        wait_until(lambda: bool(said))
        assert not entered.is_set()
    thread.join()
    assert entered.is_set()
    assert set(said) == {"another process compiles the kernels"}


def test_the_planner_needs_no_simulator() -> None:
    assert set(PARTS) - set(PLANNER_PARTS) == {"simulator"}
