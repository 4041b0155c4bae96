"""SIGINT, SIGTERM and SIGHUP: the node ends by itself, and while a car is driven a stop is on the wire before."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE_S

from ros.rig import Rig, frame, stop_process
from tuling_fsm.core.trajectory import Trajectory

pytestmark = pytest.mark.ros

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SIGNALS = int(os.environ.get("SIGNALS", "3"))
"""How often a driving node is ended; 100 for a thorough look."""


@pytest.mark.clause("SAF-1")
def test_a_signal_at_any_moment_of_the_drive_ends_it_with_a_stop_on_the_wire(rig: Rig, map_file: Path) -> None:
    rig.serve_routes()
    draw = random.Random(1)
    for k in range(SIGNALS):
        process = rig.start_planner(map_file=map_file)
        rig.activate()
        stamp, x = 1000.0 * (k + 1), 0.0
        while not rig.received["trajectory"] or rig.trajectories()[-1].v[0] < 4.0:
            rig.send(frame(stamp, x, 5.0))
            rig.until_answered(stamp)
            stamp, x = stamp + 0.05, x + 0.25
        rig.idle(draw.uniform(0.0, 0.1))
        rig.received["trajectory"].clear()
        said = stop_process(process, ENDING[k % len(ENDING)])
        assert process.returncode == 0 and "Traceback" not in said, said
        rig.until(lambda: bool(rig.received["trajectory"]) and brakes(rig.trajectories()[-1]))
        stop = rig.trajectories()[-1]
        assert stop.v[0] > 3.0 and stop.v[-1] == 0.0 and (stop.v[1:] <= stop.v[:-1] + 1e-9).all()
        rig.received["trajectory"].clear()


def brakes(plan: Trajectory) -> bool:
    """From its first moment, which no plan of the fake planner does."""
    return bool(plan.v[1] < plan.v[0])


@pytest.mark.parametrize("number", ENDING)
def test_more_signals_up_to_the_very_end_change_nothing(rig, map_file, number):
    process = rig.start_planner(map_file=map_file)
    rig.activate()

    def ended() -> bool:
        process.send_signal(number)
        return process.poll() is not None

    rig.until(ended)
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("number", ENDING)
def test_an_idle_node_ends_without_a_word(rig, map_file, number):
    process = rig.start_planner(map_file=map_file)
    assert rig.planner.change("configure", PATIENCE_S)
    said = stop_process(process, number)
    assert process.returncode == 0
    assert all("[INFO]" in line for line in said.splitlines())


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_while_everything_is_still_being_loaded_ends_it_quietly(number):
    """From the first line on that is the package's own."""
    program = (
        "import os, sys\n"
        "from tuling_fsm.ros import executable\n"
        "executable.require_rclpy = lambda: os.kill(os.getpid(), int(sys.argv[1]))\n"
        "sys.exit(executable.run_executable(None, []))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(int(number))], capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_node_that_is_to_outlive_its_terminal_does():
    """As `nohup` starts it."""
    program = (
        "import os, signal\n"
        "from tuling_fsm.ros import executable\n"
        "from tuling_fsm.ros.served_node import Interrupted\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "executable.run_executable(None, ['', '--help'])\n"
        "interrupted = Interrupted()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "print(interrupted.signal)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout.splitlines()[-1:], done.stderr) == (0, ["None"], "")


@pytest.mark.parametrize("number", ENDING)
def test_a_long_configuration_can_be_interrupted(rig, map_file, number):
    begun = map_file.with_name("begun")
    map_file.write_text(f"map that takes for ever: {begun}")
    process = rig.start_planner(map_file=map_file)
    ask_for(rig, "configure")
    rig.until(begun.exists)
    said = stop_process(process, number)
    assert (process.returncode, said) == (0, "")


def test_an_activation_that_waits_for_the_route_server_can_be_interrupted(rig, map_file, tmp_path):
    process = rig.start_planner(map_file=map_file, lock_step=True, record=tmp_path / "out")
    assert rig.planner.change("configure", PATIENCE_S)
    ask_for(rig, "activate")
    rig.until((tmp_path / "out" / "run.mcap").exists)  # Made just before it waits.
    said = stop_process(process)
    assert process.returncode == 0
    assert "Traceback" not in said and "FATAL" not in said
    assert "no route server yet" not in said, "it has waited to the end"


def ask_for(rig: Rig, label: str) -> None:
    """Ask for a transition, and leave it at work."""
    from lifecycle_msgs.srv import ChangeState

    client = rig.node.create_client(ChangeState, "planner/change_state")
    rig.until(client.service_is_ready)
    request = ChangeState.Request()
    request.transition.label = label
    client.call_async(request)
