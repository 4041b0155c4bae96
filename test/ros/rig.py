"""A test's own corner of DDS: processes of real nodes, and a node in this process that talks to them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from patience import PATIENCE_S
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor

from ros.domains import new_domain
from ros.forked import ForkedProcess
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BY_NAME, OUTPUTS, Qos
from tuling_fsm.ros.environment import child_environment
from tuling_fsm.ros.lifecycle_client import LifecycleClient
from tuling_fsm.ros.qos import input_publishers, message_class, profile
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, BoolMessage, Inputs, Odometry, StampedRows

FAKES = Path(__file__).with_name("fakes.py")
NO_HURRY: dict[str, object] = {"late_after": 5.0, "route_timeout": 60.0}
"""A planner on a slow machine is not late: what it does then is tested on a clock of the test's own."""


class Rig:
    """Use as a context; every process that it started is ended with it."""

    def __init__(self) -> None:
        self.domain = new_domain()
        self.context = Context()
        self.processes: list[subprocess.Popen[str] | ForkedProcess] = []
        self.received: dict[str, list[bytes]] = {topic.name: [] for topic in OUTPUTS}

    def __enter__(self) -> Rig:
        rclpy.init(context=self.context, domain_id=self.domain)
        self.node = rclpy.create_node("rig", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.publishers = input_publishers(self.node, depth=10)
        for t in OUTPUTS:
            keep, qos = self.received[t.name].append, profile(Qos(True, 200, t.qos.latched))
            self.node.create_subscription(message_class(t.type), t.name, keep, qos, raw=True)
        self.planner = LifecycleClient(self.node, self.executor, "planner")
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            said, _ = process.communicate()
            print(said)
        self.executor.shutdown(timeout_sec=0.2)
        self.node.destroy_node()
        self.context.try_shutdown()

    def start(self, *command: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *command],
            env=self._environment(),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.processes.append(process)
        return process

    def fork(self, *command: str) -> ForkedProcess:
        """A program of the tests where starting and ending the interpreter is not what is looked at."""
        process = ForkedProcess(command, self._environment())
        self.processes.append(process)
        return process

    def _environment(self) -> dict[str, str]:
        return child_environment() | {
            "ROS_DOMAIN_ID": str(self.domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "PYTHONUNBUFFERED": "1",
        }

    def start_planner(self, **parameters: object) -> subprocess.Popen[str]:
        """The fake planner in an interpreter of its own."""
        return self.start(*_fake_planner(parameters))

    def fork_planner(self, **parameters: object) -> ForkedProcess:
        """The same, forked."""
        return self.fork(*_fake_planner(parameters))

    def activate(self) -> None:
        assert self.planner.change("configure", PATIENCE_S)
        assert self.planner.change("activate", PATIENCE_S)
        self.until(lambda: all(p.get_subscription_count() for p in self.publishers.values()))

    def until(self, done: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while not done():
            assert time.monotonic() < deadline, "nothing came in time"
            self.executor.spin_once(timeout_sec=0.05)

    def idle(self, seconds: float) -> None:
        """Hear what comes for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.05)

    def send(self, inputs: Inputs, previous: Inputs | None = None, without: tuple[str, ...] = ()) -> None:
        for topic, raw in pack_inputs(inputs, previous):
            if topic not in without:
                self.publishers[topic].publish(raw)

    def publish(self, topic: str, raw: bytes) -> None:
        self.publishers[topic].publish(raw)

    def latest(self, topic: str) -> bytes:
        """The last message of a topic, which is waited for."""
        self.until(lambda: bool(self.received[topic]))
        return self.received[topic][-1]

    def trajectories(self) -> list[Any]:
        return [unpack_trajectory(raw) for raw in self.received["trajectory"]]

    def until_answered(self, stamp: float) -> Any:
        self.until(lambda: any(nanoseconds(t.stamp) == nanoseconds(stamp) for t in self.trajectories()))
        return next(t for t in reversed(self.trajectories()) if nanoseconds(t.stamp) == nanoseconds(stamp))

    def call(self, service: str) -> Any:
        from std_srvs.srv import Trigger

        client = self.node.create_client(Trigger, f"planner/{service}")
        self.until(client.service_is_ready)
        future = client.call_async(Trigger.Request())
        self.until(future.done)
        self.node.destroy_client(client)
        return future.result()

    def serve_routes(self) -> list[Any]:
        """Answer every GetPlan with a straight route; returns the growing list of requests."""
        from nav_msgs.srv import GetPlan
        from rclpy.serialization import deserialize_message

        from tuling_fsm.wire.paths import pack_path

        asked: list[Any] = []

        def answer(request: Any, _: Any) -> Any:
            asked.append(request)
            x = np.arange(0.0, 100.0, 1.0)
            return deserialize_message(pack_path(1, np.column_stack((x, 0 * x, 0 * x))), GetPlan.Response)

        self.node.create_service(GetPlan, "plan_route", answer)
        return asked


def frame(stamp: float, x: float = 0.0, v: float = 0.0, stop: bool | None = None) -> Inputs:
    return Inputs(
        stamp,
        odometry=Odometry(stamp, Pose(x, 0.0, 0.0), v, 0.0),
        objects=StampedRows(stamp, np.zeros(3, OBJECTS)),
        traffic_lights=StampedRows(stamp, np.zeros(1, TRAFFIC_LIGHTS)),
        emergency_stop=None if stop is None else BoolMessage(stamp, stop),
    )


def _fake_planner(parameters: Mapping[str, object]) -> list[str]:
    settings = (f"{name.replace('__', '.')}:={value}" for name, value in (NO_HURRY | dict(parameters)).items())
    return [str(FAKES), "--ros-args", *(part for setting in settings for part in ("-p", setting))]


def stop_process(process: subprocess.Popen[str] | ForkedProcess, number: int = signal.SIGTERM) -> str:
    """Send a signal, and wait for the process to end by itself; returns what it has printed."""
    process.send_signal(number)
    said, _ = process.communicate(timeout=PATIENCE_S)
    return said


__all__ = ["BY_NAME", "FAKES", "Rig", "frame", "stop_process"]
