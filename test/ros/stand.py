"""A runtime of the planner node without ROS: what is sent to it, and what it sends."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from ros.fakes import FakeAgent, Parameters
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.driver import Driver
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.runtime import Runtime
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Odometry, Table

STAMPED = ("objects", "traffic_lights", "odometry")


def frame(stamp: float, x: float = 0.0, v: float = 5.0) -> Inputs:
    return Inputs(
        stamp,
        odometry=Odometry(stamp, Pose(x, 0.0, 0.0), v, 0.0),
        objects=Table(stamp, np.zeros(1, OBJECTS)),
        traffic_lights=Table(stamp, np.zeros(1, TRAFFIC_LIGHTS)),
    )


class Port:
    """Keeps what is sent; its clock is set by the test."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []
        self.asked: list[int] = []
        self.flushed: list[list[str]] = []
        self.rests: list[float] = []
        self.listened: set[str] | None = None
        self.now = 0
        self.log = SimpleNamespace()

    def publish(self, topic: str, message: bytes) -> None:
        self.sent.append((topic, message))

    def wanted(self, topic: str) -> bool:
        return self.listened is None or topic in self.listened

    def rivals(self) -> int:
        return 0

    def flush(self, topics) -> None:
        self.flushed.append(list(topics))

    def ask(self, ns: int, request) -> None:
        self.asked.append(request.number)

    def give_up_questions(self, timeout_s: float) -> None:
        pass

    def rest(self, seconds: float) -> None:
        self.rests.append(seconds)

    def now_ns(self) -> int:
        return self.now

    def trajectories(self) -> list[Trajectory]:
        return [unpack_trajectory(raw) for topic, raw in self.sent if topic == "trajectory"]


class Bench:
    """A runtime on a port."""

    def __init__(
        self, lock_step: bool = False, clock=lambda: 0.0, record=None, rhythm=None, **parameters: float
    ) -> None:
        self.port, self.lines = Port(), []
        self.inbox = Inbox(self.lines.append)
        self.agent = FakeAgent("map", Parameters(**parameters))
        self.driver = Driver(self.agent, self.inbox, lock_step, 1.8, self.lines.append, clock)
        self.bag = None if record is None else BagWriter(record)
        self.changed: list[tuple[PlannerNodeParameters, Parameters]] = []
        own = PlannerNodeParameters()
        self.runtime = Runtime(self.driver, self.port, own, self.bag, self._refreshed, rhythm=rhythm)

    def _refreshed(self) -> tuple[PlannerNodeParameters, Parameters] | None:
        return self.changed.pop() if self.changed else None

    def send(self, inputs: Inputs, *topics: str) -> None:
        for topic, raw in pack_inputs(inputs):
            if (not topics or topic in topics) and self.inbox.receive(topic, raw, topic in STAMPED):
                self.runtime.received(topic, raw)

    def answer(self) -> None:
        self.runtime.answered(1, np.zeros((5, 3)))
