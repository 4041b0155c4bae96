"""Processes of a run are started, watched and ended; none is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from patience import PATIENCE_S, wait_until

from ros.children import gone
from ros.domains import new_domain
from tuling_fsm.core.errors import InputError
from tuling_fsm.interruption import HUNG_UP, TERMINATED
from tuling_fsm.ros import executable, processes
from tuling_fsm.ros.environment import PARENT, child_environment
from tuling_fsm.ros.processes import ProcessGroup
from tuling_fsm.run_settings import RunSettings

SCENARIO = Path(__file__).parents[2] / "config" / "scenarios" / "demo.osc"
SERVE = "import time\nprint('up', flush=True)\ntime.sleep(600)"


def test_all_are_ended_with_the_group_even_one_that_ignores_signals(monkeypatch):
    monkeypatch.setattr(processes, "END_S", 0.5)
    stubborn = "import signal\nfor s in (2, 15): signal.signal(s, signal.SIG_IGN)\n" + SERVE
    with ProcessGroup() as group:
        group.start("a", ("-c", SERVE))
        group.start("b", ("-c", stubborn))
        pids = [child.process.pid for child in group._children.values()]
        wait_until(lambda: all(group.last_words(name) == "up" for name in "ab"))
        group.check()
    wait_until(lambda: all(gone(pid) for pid in pids))


def test_a_process_that_ends_before_its_time_is_named_with_its_last_words():
    with ProcessGroup() as group:
        group.start("sim", ("-c", SERVE))
        group.start("planner", ("-c", "import sys; print('map.xodr:3: no road'); sys.exit(2)"))
        with pytest.raises(InputError, match=r"node planner: ended: map.xodr:3: no road"):
            group.wait_for("sim")


def test_waiting_ends_when_the_one_waited_for_does_and_its_lines_are_passed_on(capfd):
    lines: list[str] = []
    with ProcessGroup(lines.append) as group:
        group.start("planner", ("-c", SERVE))
        group.start("sim", ("-c", "print('1 s'); print('[INFO] x'); print('[ERROR] [1.0] [sim]: y'); print('2 s')"))
        group.wait_for("sim")
        group.stop()
    assert lines == ["1 s", "2 s"]
    assert "sim: [ERROR] [1.0] [sim]: y" in capfd.readouterr().err


def test_a_line_that_is_no_utf_8_is_passed_on_like_any_other():
    lines: list[str] = []
    said = "import sys\nsys.stdout.buffer.write(b'\\xb5\\xd8\\n')\nprint('x' * 100_000)\nprint('2 s')"
    with ProcessGroup(lines.append) as group:
        group.start("sim", ("-c", said))
        group.wait_for("sim")
        group.stop()
    assert (lines[0], lines[-1]) == (r"\xb5\xd8", "2 s")


def test_what_a_running_process_complains_of_is_waited_for_and_told_without_its_date(monkeypatch):
    monkeypatch.setattr(processes, "COMPLAINT_S", PATIENCE_S)
    late = (
        "import time\nprint('up', flush=True)\ntime.sleep(0.5)\nprint('[ERROR] [1.5] [planner]: no map', flush=True)\n"
    )
    with ProcessGroup() as group:
        group.start("planner", ("-c", late + SERVE))
        assert group.complaint("planner") == "no map"


RESULTS = ("result.json", "report.html", "pictures.html")
LEAVE_RESULT = "import pathlib, sys; pathlib.Path(sys.argv[1], 'result.json').write_text('{}'); "


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print('1 s')", "node sim: left no result: 1 s (expected a result)"),
        ("import os; print('1 s', flush=True); os.kill(os.getpid(), 9)", "node sim: ended by signal 9: 1 s "),
        (LEAVE_RESULT + "import os; os.abort()", "node sim: ended by signal 6: "),
    ],
)
@pytest.mark.medium
def test_a_simulator_that_dies_is_no_success_of_an_older_run_in_its_folder(script, said, monkeypatch, tmp_path):
    for name in RESULTS:
        (tmp_path / name).write_text('{"finished": true}')
    there: list[str] = []

    def start(group: ProcessGroup, *_: object) -> None:
        there.extend(name for name in RESULTS if (tmp_path / name).exists())
        group.start("sim", ("-c", script, str(tmp_path)))

    monkeypatch.setattr(processes, "_start_nodes", start)
    monkeypatch.setattr(processes, "activate_planner", lambda group: None)
    with pytest.raises(InputError, match=re.escape(said)):
        processes.run_processes(RunSettings(SCENARIO), out=tmp_path)
    assert there == []
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, TERMINATED), (signal.SIGHUP, HUNG_UP)])
@pytest.mark.medium
def test_a_run_that_is_told_to_end_ends_its_processes_and_leaves_no_file(number, code, monkeypatch, tmp_path):
    pids: list[int] = []

    def start(group: ProcessGroup, *_: object) -> None:
        group.start("sim", ("-c", SERVE))
        pids.extend(child.process.pid for child in group._children.values())

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(processes, "_start_nodes", start)
    monkeypatch.setattr(processes, "activate_planner", lambda group: signal.raise_signal(number))
    with pytest.raises(SystemExit) as ended:
        processes.run_processes(RunSettings(SCENARIO))
    assert ended.value.code == code
    assert all(gone(pid) for pid in pids)
    assert not list(tmp_path.iterdir())


def test_children_do_not_inherit_what_the_wheels_left_behind(monkeypatch):
    monkeypatch.setenv("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "1")
    monkeypatch.setenv("LD_LIBRARY_PATH", os.pathsep.join((f"{sys.prefix}/lib/x.libs", "/opt/else")))
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    environment = child_environment(42)
    assert "_ROS_WHEELS_BOOTSTRAP_COMPLETE" not in environment
    assert environment["LD_LIBRARY_PATH"] == "/opt/else"
    assert environment["ROS_DOMAIN_ID"] == "42"
    assert environment[PARENT] == str(os.getpid())
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    assert child_environment(42)["ROS_DOMAIN_ID"] == "7"


def test_libraries_that_are_not_found_are_said_in_one_line():
    """As in a shell that an interpreter of another environment has started."""
    environment = {"PATH": os.environ["PATH"], "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    command = [sys.executable, "-m", "tuling_fsm.ros.executable", "planner"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("rclpy: cannot be loaded: ")
    assert "(expected a shell without _ROS_WHEELS_BOOTSTRAP_COMPLETE)" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "word"), [((), 2, "usage"), (("plan",), 2, "plan is none of them"), (("--help",), 0, "usage")]
)
def test_a_name_that_is_no_executable_is_one_line_with_all_names(arguments, code, word, capsys):
    assert executable.main(arguments) == code
    said = capsys.readouterr()
    (line,) = (said.err if code else said.out).splitlines()
    assert line.startswith(f"{word}: python -m tuling_fsm.ros.executable planner|sim|route_server|tracker|view|")


@pytest.mark.ros
def test_a_node_ends_itself_when_its_parent_is_killed():
    """The parent is killed outright, so that it can end no child."""
    fakes = str(Path(__file__).with_name("fakes.py"))
    script = (
        "import subprocess, sys\n"
        "from tuling_fsm.ros.environment import child_environment\n"
        f"child = subprocess.Popen([sys.executable, {fakes!r}], env=child_environment({new_domain()}))\n"
        "print(child.pid, flush=True)\n"
        "child.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=child_environment()
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    wait_until(lambda: _library_loaded(pid))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: gone(pid))


def _library_loaded(pid: int) -> bool:
    """Whether a process has come as far as DDS."""
    return "libfastrtps" in Path(f"/proc/{pid}/maps").read_text()
