"""SIGINT and SIGTERM: within 2 s the node has ended, and while a car is driven a stop is on the wire before."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ros.rig import Rig, frame, stop_process

pytestmark = pytest.mark.ros

SIGNALS = int(os.environ.get("SIGNALS", "2"))
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
        seconds, said = stop_process(process, (signal.SIGINT, signal.SIGTERM)[k % 2])
        assert seconds < 2.0 and process.returncode == 0 and "Traceback" not in said, said
        rig.until(lambda: bool(rig.received["trajectory"]) and rig.trajectories()[-1].v[-1] == 0.0)
        stop = rig.trajectories()[-1]
        assert stop.v[0] > 3.0 and (stop.v[1:] <= stop.v[:-1] + 1e-9).all()
        rig.received["trajectory"].clear()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_more_signals_up_to_the_very_end_change_nothing(rig, map_file, number):
    process = rig.start_planner(map_file=map_file)
    rig.activate()
    began = time.monotonic()
    while process.poll() is None:
        process.send_signal(number)
        rig.idle(0.01)
    said, _ = process.communicate(timeout=10)
    assert time.monotonic() - began < 2.0
    assert process.returncode == 0
    assert "Traceback" not in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_idle_node_ends_without_a_word(rig, map_file, number):
    process = rig.start_planner(map_file=map_file)
    assert rig.planner.change("configure", 20.0)
    seconds, said = stop_process(process, number)
    assert seconds < 2.0
    assert process.returncode == 0
    assert all("[INFO]" in line for line in said.splitlines())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_everything_is_still_being_loaded_ends_it_quietly(number):
    """From the first line on that is the package's own."""
    program = (
        "import os, sys\n"
        "from tuling_fsm.ros import executable\n"
        "executable.require_rclpy = lambda: os.kill(os.getpid(), int(sys.argv[1]))\n"
        "sys.exit(executable.run_executable(None, []))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(int(number))], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_long_configuration_can_be_interrupted(rig, map_file, number):
    map_file.write_text("slow map")
    process = rig.start_planner(map_file=map_file)
    assert rig.planner.state(20.0) == "unconfigured"
    ask_for(rig, "configure")
    seconds, said = stop_process(process, number)
    assert seconds < 2.0
    assert (process.returncode, said) == (0, "")


def test_an_activation_that_waits_for_the_route_server_can_be_interrupted(rig, map_file):
    process = rig.start_planner(map_file=map_file, lock_step=True)
    assert rig.planner.change("configure", 20.0)
    ask_for(rig, "activate")
    seconds, said = stop_process(process)
    assert seconds < 2.0
    assert process.returncode == 0
    assert "Traceback" not in said and "FATAL" not in said


def ask_for(rig: Rig, label: str) -> None:
    """Ask for a transition, and leave it at work."""
    from lifecycle_msgs.srv import ChangeState

    client = rig.node.create_client(ChangeState, "planner/change_state")
    rig.until(client.service_is_ready)
    request = ChangeState.Request()
    request.transition.label = label
    client.call_async(request)
    rig.idle(0.5)
