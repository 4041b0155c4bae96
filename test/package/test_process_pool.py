"""Processes of a pool end with the one that began them, and one that is killed costs no more than its own job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from tuling_fsm.process_pool import in_processes

BEGINS = """
import sys, time
from pathlib import Path
from tuling_fsm.process_pool import in_processes

def work(folder):
    import gc, os
    (Path(folder) / "child").write_text(f"{os.getpid()} {gc.get_threshold()[0]}")
    time.sleep(600.0)

if __name__ == "__main__":
    list(in_processes(work, [sys.argv[1]], 1))
"""
PATIENCE_S = 60.0


def is_there(pid: int) -> bool:
    """Whether it is, and is no zombie."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.medium
@pytest.mark.skipif(sys.platform != "linux", reason="a child learns of the end of its parent on Linux only")
def test_a_parent_that_is_killed_takes_its_processes_along(tmp_path: Path) -> None:
    file, child = tmp_path / "begins.py", tmp_path / "child"
    file.write_text(BEGINS, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, file, tmp_path])
    end = time.monotonic() + PATIENCE_S
    while not (child.exists() and child.read_text(encoding="utf-8")) and time.monotonic() < end:
        time.sleep(0.1)
    pid, new_objects = map(int, child.read_text(encoding="utf-8").split())
    assert is_there(pid)
    assert new_objects > 10_000, "it looks for garbage more often than a program of the package"
    parent.kill()
    parent.wait()
    while is_there(pid) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_there(pid)


def kills_its_process(job: tuple[Path, int, int]) -> int:
    """So many times, which it counts in files of the folder; then the number comes back."""
    folder, number, times = job
    done = len(list(folder.glob(f"{number}_*")))
    (folder / f"{number}_{done}").touch()
    if done < times:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.medium
@pytest.mark.parametrize(("workers", "times"), [(1, (0, 1, 0, 2, 0, 0)), (2, (0, 0, 0, 9, 0, 0))])
def test_a_process_that_is_killed_costs_no_other_job(workers: int, times: tuple[int, ...], tmp_path: Path) -> None:
    jobs = [(tmp_path, number, kills) for number, kills in enumerate(times)]
    ended = dict(in_processes(kills_its_process, jobs, workers))
    assert sorted(ended) == list(range(len(jobs)))
    assert isinstance(ended.pop(3).exception(), BrokenProcessPool)
    assert {number: future.result() for number, future in ended.items()} == {n: n for n in (0, 1, 2, 4, 5)}
