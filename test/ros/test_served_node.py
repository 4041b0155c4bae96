"""Serving one node: what its callbacks do wrong is logged, and it goes on."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from patience import PATIENCE_S

from ros.domains import new_domain
from tuling_fsm.ros.environment import child_environment
from tuling_fsm.share import share_file

PLANNER = share_file("config", "planner.yaml")

PROGRAM = """
import sys
from tuling_fsm.ros.executable import run_executable

def make():
    from tuling_fsm.ros.served_node import ServedNode

    class Clumsy(ServedNode):
        exit_code, hurried, calls = 7, {hurried}, 0

        def __init__(self):
            super().__init__("clumsy")
            self.create_timer(0.01, self.stumble)

        def stumble(self):
            self.calls += 1
            self.finished = self.calls == 5
            raise ValueError(f"stumble {{self.calls}}")

        def stop(self):
            print(f"stopped after {{self.calls}}", flush=True)

    return Clumsy

sys.exit(run_executable(make, ["clumsy"]))
"""


@pytest.mark.ros
@pytest.mark.clause("SAF-1")
@pytest.mark.parametrize("hurried", [False, True])
def test_an_exception_of_a_callback_is_logged_and_the_node_goes_on(hurried: bool) -> None:
    command = [sys.executable, "-c", PROGRAM.format(hurried=hurried)]
    done = subprocess.run(
        command, env=child_environment(new_domain()), capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 7, done.stderr
    assert "stopped after 5" in done.stdout
    assert "in a callback: ValueError: stumble 1" in done.stdout + done.stderr


@pytest.mark.ros
def test_the_simulator_takes_the_car_out_of_a_file_of_the_planner() -> None:
    """The only name that it does not know is the misspelt one."""
    command = [sys.executable, "-m", "tuling_fsm.ros.executable", "sim", "--ros-args", "--params-file", str(PLANNER)]
    done = subprocess.run(
        [*command, "-p", "vehicle.wheelbse:=3.0"],
        env=child_environment(new_domain()), capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip
    assert done.returncode == 2
    assert "parameter vehicle.wheelbse: no such parameter (expected vehicle.wheelbase)" in done.stderr


@pytest.fixture
def own_signals() -> Iterator[None]:
    """An executable takes those of its process: this one has its own back afterwards."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("own_signals")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--help"], 0, "usage: sim [--ros-args "),
        (["fast"], 2, "fast is of no use: sim [--ros-args "),
        (["--ros-args", "-p", "seed:=1", "--", "--seed"], 2, "--seed is of no use"),
        (
            ["--ros-args", "--params-file", "none.yaml"],
            2,
            "--ros-args: Couldn't parse params file: '--params-file none",
        ),
        (["--ros-args", "-p", "seed"], 2, "--ros-args: Couldn't parse parameter override rule: '-p seed'"),
        (["--ros-args", "--fast"], 2, "--ros-args: ['--fast'] (expected [--ros-args "),
    ],
)
def test_arguments_that_are_none_are_told(arguments, code, said, capsys) -> None:
    from tuling_fsm.ros.executable import run_executable

    assert run_executable(lambda: pytest.fail("it goes on"), ["/usr/bin/sim", *arguments]) == code
    printed = capsys.readouterr()
    line = printed.err if code else printed.out
    assert line.startswith(said) and line.count("\n") == 1
