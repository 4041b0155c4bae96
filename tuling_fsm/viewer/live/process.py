"""The drive's end of the pipe: hands on what each tick saw and said, and never waits for it to be shown."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from tuling_fsm.agent import Parameters
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten
from tuling_fsm.viewer.live.pipe import DriveTick, frames, result_message, tick_ms_message
from tuling_fsm.viewer.live.server import LOOPBACK
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.world.inputs import Inputs

MOST_WAITING = 1000
"""Ticks that wait to be handed on; one that comes then is not shown."""
ENDING_S = 10.0
"""How long the process may take to hand out what it has, s."""
NOT_STARTED = "the process of the page did not start"


@dataclass(frozen=True)
class LiveView:
    """Where a drive is shown.

    Args:
        host: address to listen on; other machines see the page only on another one than this machine's own.
        port: to listen on; 0 takes a free one.
        say: told of the address, and of what is not shown.
    """

    host: str = LOOPBACK
    port: int = 0
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)


class _Tick(NamedTuple):
    inputs: Inputs
    outputs: Sequence[tuple[str, bytes]]
    tick_ms: float


class LiveProcess:
    """Shows a drive from a process beside it; as a context it ends with the drive.

    The process takes seconds to start, so it is started before the drive is made ready, and waited for only then.

    Args:
        view: where.
    """

    def __init__(self, view: LiveView) -> None:
        self._view = view
        command = [sys.executable, "-m", "tuling_fsm.viewer.live.child"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._waiting: queue.Queue[_Tick | None] = queue.Queue(MOST_WAITING)
        self._missed = 0
        self._result: Mapping[str, Any] | None = None
        self._thread: threading.Thread | None = None

    def prepare(self, title: str, map_file: Path, parameters: Parameters, bag: Path | None) -> None:
        """Say what will be shown.

        Args:
            title: of the page.
            map_file: OpenDRIVE map that is driven on.
            parameters: of the planner.
            bag: where the drive is recorded; None where it is not.
        """
        settings = {
            "title": title,
            "host": self._view.host,
            "port": self._view.port,
            "map": str(map_file.resolve()),
            "parameters": flatten(parameters),
            "bag": "BAG" if bag is None else str(bag),
        }
        assert self._process.stdin is not None
        with suppress(OSError):  # It has ended already, which `begin` says.
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
            self._process.stdin.flush()

    def begin(self) -> None:
        """Wait until there is a page, and say where.

        Raises:
            InputError: nothing can listen there, or the process did not start.
        """
        assert self._process.stdout is not None
        said = self._process.stdout.readline().decode().strip()
        if not said.startswith("http"):
            raise InputError("--view", said or NOT_STARTED, "another --view-host or --view-port")
        self._view.say(f"view: {said}")
        self._thread = threading.Thread(target=self._hand_on, daemon=True)
        self._thread.start()

    def tick(self, inputs: Inputs, outputs: Sequence[tuple[str, bytes]], tick_ms: float) -> None:
        """What a tick saw, the messages that answered it, and how long (ms) it took."""
        try:
            self._waiting.put_nowait(_Tick(inputs, outputs, tick_ms))
        except queue.Full:
            self._missed += 1

    def finish(self, result: Mapping[str, Any]) -> None:
        """What the drive came to."""
        self._result = result

    def _hand_on(self) -> None:
        """Tick by tick; inputs that did not change since the last one that was handed on are left out."""
        pipe = self._process.stdin
        assert pipe is not None
        previous: Inputs | None = None
        with suppress(OSError):  # The process has ended: the drive goes on without being shown.
            while (tick := self._waiting.get()) is not None:
                seen = pack_inputs(tick.inputs, previous)
                done = DriveTick(tick.inputs.stamp, tick.tick_ms, self._waiting.qsize())
                pipe.write(frames([*seen, *tick.outputs, tick_ms_message(done)]))
                previous = tick.inputs
            if self._result is not None:
                pipe.write(frames([result_message(self._result)]))
        with suppress(OSError):
            pipe.close()

    def __enter__(self) -> LiveProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None:
            self._process.kill()
            self._process.wait()
            return
        with suppress(queue.Full):
            self._waiting.put(None, timeout=ENDING_S)
        self._thread.join(ENDING_S)
        try:
            self._process.wait(ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._missed:
            self._view.say(f"view: {self._missed} ticks came too fast to be shown")
        if kind is None:
            self._view.say(
                "view: the drive is over; a page that is open has all of it, and plays it as report.html does"
            )
