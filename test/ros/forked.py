"""Processes that are forked from one that has loaded the planner node and rclpy, which takes longer than most tests.

What a process is from the start of its interpreter to the end of it is looked at in real ones, see `test_signals`.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection

from tuling_fsm.ros.environment import PARENT

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tuling_fsm.ros.served_node", "tuling_fsm.ros.planner"])


class ForkedProcess:
    """A program in a file that runs with arguments and environment of its own; used as `subprocess.Popen`."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        reader, writer = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_run, args=(writer, list(command), dict(environment)))
        self._process.start()
        writer.close()
        self.stdout = os.fdopen(os.dup(reader.fileno()), encoding="utf-8")
        reader.close()
        self._said = ""

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def send_signal(self, number: int) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        if not self.stdout.closed:
            self._said = self.stdout.read()
            self.stdout.close()
        self._process.join(timeout)
        return self._said, None


def _run(output: Connection, command: Sequence[str], environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.environ[PARENT] = str(os.getppid())
    for stream in (sys.stdout, sys.stderr):
        os.dup2(output.fileno(), stream.fileno())
        stream.reconfigure(write_through=True)
    output.close()
    sys.argv = list(command)
    runpy.run_path(command[0], run_name="__main__")
