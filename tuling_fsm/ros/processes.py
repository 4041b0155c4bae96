"""A run as processes of their own: planner, simulator and route server, as `tuling-fsm demo` starts them."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.writer import DERIVED, FILM, RESULT
from tuling_fsm.compiling import compile_kernels
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import nest
from tuling_fsm.drive_status import DriveStatus, StatusReport
from tuling_fsm.interruption import terminable
from tuling_fsm.output_file import remove_file
from tuling_fsm.progress import Report
from tuling_fsm.ros.domains import chosen_domain, claim_domain
from tuling_fsm.ros.environment import child_environment, require_rclpy
from tuling_fsm.ros.node_parameters import STATUS
from tuling_fsm.run import chosen_map
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.viewer.film_page import write_film
from tuling_fsm.viewer.live.process import LiveView
from tuling_fsm.viewer.recording import FilmSource

if TYPE_CHECKING:
    from rclpy.executors import Executor
    from rclpy.node import Node

SIM, VIEW = "sim", "view"
ALARMS = ("[WARN]", "[ERROR]", "[FATAL]")
LAST_LINES = 20
CONFIGURE_S = 300.0
"""Compiling everything for the first time is part of configuring."""
ANSWER_S = 30.0
DISCOVERY_S = 2.0
"""Within it DDS finds the nodes of this machine, which takes a tenth of it."""
END_S = 3.0
COMPLAINT_S = 2.0
_POLL_S = 0.1


@terminable()
def run_processes(
    settings: RunSettings,
    *,
    out: Path | None = None,
    progress: Report | None = None,
    view: LiveView | None = None,
    status: StatusReport | None = None,
) -> dict[str, Any]:
    """Drive a scenario to its end with the planner under ROS 2.

    Args:
        settings: of the run; planner, perception and traffic are those that there are nodes for.
        out: folder for `run.mcap`, `result.json`, `report.html` and `pictures.html`; None keeps nothing.
        progress: called with a line of text about once a simulated second.
        view: where the run is shown while it goes on; None shows it nowhere.
        status: called with how the run stands, some times a simulated second.

    Returns:
        The content of `result.json`.

    Raises:
        InputError: rclpy is absent, scenario or map cannot be used, or a process ended before its time.
    """
    require_rclpy()
    overrides, mission_file = dict(settings.overrides), settings.mission_file
    chosen = chosen_map(load_scenario(settings.scenario, overrides), settings.map_file).resolve()
    compile_kernels(report=progress)
    with tempfile.TemporaryDirectory(prefix="tuling_fsm_") as folder:
        results = out.resolve() if out is not None else Path(folder) / "out"
        for older in DERIVED:
            remove_file(results / older)
        sim = {
            "scenario": str(settings.scenario.resolve()),
            "mission_file": "" if mission_file is None else str(mission_file.resolve()),
            "seed": settings.seed,
            "overrides": json.dumps(overrides),
            "out": str(results),
            "status_lines": status is not None,
        }
        given = nest(dict(settings.parameters))
        with ProcessGroup(progress, status) as group:
            _check_no_planner(group)
            if view is not None:
                _start_view(group, Path(folder), view, chosen, results)
            planner = {**given, "record": "" if out is None else str(results)}
            sim |= {name: group for name, group in given.items() if name == "vehicle"}
            _start_nodes(group, Path(folder), {"map_file": str(chosen)}, planner, sim)
            activate_planner(group)
            group.wait_for(SIM)
        result = _read_result(results, group)
        if out is not None:
            write_film(out / FILM, [FilmSource(BagSource(out))])
        return result


def _start_nodes(
    group: ProcessGroup,
    folder: Path,
    common: Mapping[str, object],
    planner: Mapping[str, object],
    sim: Mapping[str, object],
) -> None:
    """Route server, planner and simulator; what they have in common, and what is the planner's and simulator's own."""
    timed = {"use_sim_time": True}
    nodes = (("route_server", timed), ("planner", {"lock_step": True, **timed, **planner}), (SIM, sim))
    for name, own in nodes:
        group.start(name, node_command(folder, name, {**common, **own}))


def _start_view(group: ProcessGroup, folder: Path, view: LiveView, map_file: Path, out: Path) -> None:
    """The node that shows the run; its address is told as soon as it has one."""
    own = {"map_file": str(map_file), "host": view.host, "port": view.port, "out": str(out), "use_sim_time": True}
    group.told[VIEW] = view.say
    group.start(VIEW, node_command(folder, VIEW, own))


def node_command(folder: Path, name: str, parameters: Mapping[str, object]) -> tuple[str, ...]:
    """What `ProcessGroup.start` takes to start one of the executables; its parameters go to a file in the folder."""
    file = folder / f"{name}.yaml"
    file.write_text(yaml.safe_dump({name: {"ros__parameters": dict(parameters)}}), encoding="utf-8")
    return "-m", "tuling_fsm.ros.executable", name, "--ros-args", "--params-file", str(file)


def _check_no_planner(group: ProcessGroup) -> None:
    """The planner of another run would be brought up in place of this run's own.

    Raises:
        InputError: one is in the domain of the group.
    """
    from tuling_fsm.ros.lifecycle_client import node_beside

    if group.alone:
        return
    with node_beside(group.environment, "tuling_fsm_look") as (node, executor):
        deadline = time.monotonic() + DISCOVERY_S
        while time.monotonic() < deadline:
            if "planner" in node.get_node_names():
                raise _second_planner(group)
            executor.spin_once(timeout_sec=_POLL_S)


def _second_planner(group: ProcessGroup) -> InputError:
    domain = group.environment["ROS_DOMAIN_ID"]
    return InputError("node planner", f"another one is in DDS domain {domain}", "another ROS_DOMAIN_ID")


def activate_planner(group: ProcessGroup) -> None:
    """Configure and activate the planner of a group, from a node that lives only for that.

    Raises:
        InputError: it refuses, does not answer, isn't the only one, or another process of the group has ended.
    """
    from tuling_fsm.ros.lifecycle_client import node_beside

    with node_beside(group.environment, "tuling_fsm_run") as (node, executor):
        bring_up(group, node, executor)


def bring_up(group: ProcessGroup, node: Node, executor: Executor) -> None:
    """The same from a node that is there.

    Raises:
        InputError: as `activate_planner`.
    """
    from tuling_fsm.ros.lifecycle_client import LifecycleClient

    client = LifecycleClient(node, executor, "planner", group.check)
    for label, timeout_s in (("configure", CONFIGURE_S), ("activate", ANSWER_S)):
        made = client.change(label, timeout_s)
        if node.get_node_names().count("planner") > 1:
            raise _second_planner(group)
        if not made:
            raise InputError("node planner", f"did not {label}: {group.complaint('planner')}")


def _read_result(folder: Path, group: ProcessGroup) -> dict[str, Any]:
    file, code = folder / RESULT, group.exit_code(SIM)
    if code is not None and code < 0:
        raise InputError(f"node {SIM}", f"ended by signal {-code}: {group.last_words(SIM)}", "a run to its end")
    if not file.is_file():
        raise InputError(f"node {SIM}", f"left no result: {group.last_words(SIM)}", "a result")
    result: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return result


@dataclass
class _Child:
    """A process, what it said last, and where its lines go."""

    process: subprocess.Popen[str]
    words: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))
    reader: threading.Thread | None = None

    @property
    def running(self) -> bool:
        return self.process.poll() is None


class ProcessGroup:
    """The processes of one run; as a context it ends those that it started, whatever happens. They are in a DDS domain
    of their own, or in that of `ROS_DOMAIN_ID`.

    Args:
        progress: told of the simulator's lines.
        status: told of how its run stands.

    Raises:
        InputError: no domain is free, or `ROS_DOMAIN_ID` is none.
    """

    def __init__(self, progress: Report | None = None, status: StatusReport | None = None) -> None:
        self._progress, self._status = progress, status
        self._domain = claim_domain() if chosen_domain() is None else None
        self.environment = child_environment(None if self._domain is None else self._domain.domain)
        self.environment["PYTHONUNBUFFERED"] = "1"
        self._children: dict[str, _Child] = {}
        self.told: dict[str, Report] = {}
        """What is told of lines that begin with the name of a process and a colon."""

    @property
    def alone(self) -> bool:
        """Whether nobody else is in their domain."""
        return self._domain is not None

    def start(self, name: str, command: Sequence[str]) -> None:
        """Start one process with this interpreter, such as `("-m", "module")`."""
        process = subprocess.Popen(
            [sys.executable, *command],
            env=self.environment,
            text=True,
            errors="backslashreplace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        child = self._children[name] = _Child(process)
        child.reader = threading.Thread(target=self._read, args=(name, child), daemon=True)
        child.reader.start()

    def check(self, allowed: str = "") -> None:
        """All have to run, except the one that is allowed to have ended.

        Raises:
            InputError: with the last words of one that has ended.
        """
        for name, child in self._children.items():
            if name != allowed and not child.running:
                raise InputError(f"node {name}", f"ended: {self.last_words(name)}")

    def wait_for(self, name: str) -> None:
        """Wait until one process has ended by itself, while the rest runs.

        Raises:
            InputError: another one ended before.
        """
        while self._children[name].running:
            self.check(allowed=name)
            time.sleep(_POLL_S)

    def exit_code(self, name: str) -> int | None:
        """Of a process that has ended; the signal that ended it, below zero."""
        return self._children[name].process.poll()

    def last_words(self, name: str) -> str:
        """The last line that a process has written."""
        child = self._children[name]
        if not child.running and child.reader is not None:
            child.reader.join(END_S)
        return child.words[-1] if child.words else "it said nothing"

    def complaint(self, name: str) -> str:
        """The last alarm of a process that runs on, without its date; it may still be on its way here."""
        deadline = time.monotonic() + COMPLAINT_S
        while not (alarms := [text for text in self._children[name].words if _is_alarm(text)]):
            if time.monotonic() > deadline:
                return self.last_words(name)
            time.sleep(_POLL_S)
        return alarms[-1].rpartition("]: ")[2]

    def stop(self) -> None:
        """End all that still run, politely first."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            running = [child.process for child in self._children.values() if child.running]
            for process in running:
                process.send_signal(number)
            deadline = time.monotonic() + END_S
            for process in running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - time.monotonic()))
        for child in self._children.values():
            if child.reader is not None:
                child.reader.join(END_S)
        if self._domain is not None:
            self._domain.close()

    def _read(self, name: str, child: _Child) -> None:
        assert child.process.stdout is not None
        for line in child.process.stdout:
            text = line.rstrip()
            if text.startswith(STATUS) and self._status is not None:
                self._status(DriveStatus.from_json(text.removeprefix(STATUS)))
                continue
            child.words.append(text)
            if name in self.told and text.startswith(f"{name}: "):
                self.told[name](text)
            if _is_alarm(text):
                print(f"{name}: {text}", file=sys.stderr)
            elif name == SIM and not text.startswith("[") and self._progress is not None:
                self._progress(text)

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _is_alarm(text: str) -> bool:
    return any(mark in text for mark in ALARMS)
