"""The planner node's planning cycle without ROS: what is sent to it, and what it sends."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np

from ros.fakes import FakeAgent, Parameters
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.planning_cycle import Acknowledge, Output, PendingRouteRequest, PlanningCycle
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, Inputs, Odometry, RouteRequest, StampedRows

ROUTE = np.zeros((5, 3))


def frame(stamp: float, x: float = 0.0, v: float = 5.0) -> Inputs:
    return Inputs(
        stamp,
        odometry=Odometry(stamp, Pose(x, 0.0, 0.0), v, 0.0),
        objects=StampedRows(stamp, np.zeros(1, OBJECTS)),
        traffic_lights=StampedRows(stamp, np.zeros(1, TRAFFIC_LIGHTS)),
    )


class Sink:
    """Keeps what is to be sent; its clock is set by the test."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []
        self.asked: list[int] = []
        self.awaited: list[list[str]] = []
        self.rests: list[float] = []
        self.listened: set[str] | None = None
        self.now = 0
        self.lines: list[str] = []
        self.notices: list[str] = []
        self.log = SimpleNamespace(error=self.lines.append, warning=self.lines.append, info=self.notices.append)

    def do(self, outputs: Iterable[Output]) -> None:
        for output in outputs:
            if isinstance(output, tuple):
                self.publish(*output)
            elif isinstance(output, Acknowledge):
                self.awaited.append(list(output.topics))
            elif isinstance(output, PendingRouteRequest):
                self.ask(output.request)
            else:
                self.rests.append(output.seconds)

    def publish(self, topic: str, message: bytes) -> None:
        self.sent.append((topic, message))

    def ask(self, request: RouteRequest) -> None:
        self.asked.append(request.number)

    def wanted(self, topic: str) -> bool:
        return self.listened is None or topic in self.listened

    def now_ns(self) -> int:
        return self.now

    def trajectories(self) -> list[Trajectory]:
        return [unpack_trajectory(raw) for topic, raw in self.sent if topic == "trajectory"]

    def lights(self) -> list[str]:
        """All that was sent to the indicators."""
        return [unpack_string(raw, topic) for topic, raw in self.sent if topic == "indicators"]


class Bench(Sink):
    """A planning cycle without ROS around it."""

    def __init__(
        self,
        lock_step: bool = False,
        clock=lambda: 0.0,
        record=None,
        rate=None,
        own=None,
        left_hand=False,
        **parameters: float,
    ) -> None:
        super().__init__()
        self.inbox = Inbox(self.lines.append)
        self.agent = FakeAgent("map", Parameters(**parameters))
        self.bag = None if record is None else BagWriter(record)
        self.own = own or PlannerNodeParameters(lock_step=lock_step)
        self._clock, self._rate, self._left_hand = clock, rate, left_hand
        self.activate()

    def activate(self) -> None:
        """Begin another planning cycle with the inbox that is there."""
        self.cycle = PlanningCycle(
            self.agent,
            self.inbox,
            self.own,
            self.log,
            self.now_ns,
            self.wanted,
            self.bag,
            self._clock,
            self._rate,
            self._left_hand,
        )

    def send(self, inputs: Inputs, *topics: str) -> None:
        for topic, raw in pack_inputs(inputs):
            if not topics or topic in topics:
                self.do(self.cycle.receive(topic, raw))

    def answer(self, points: np.ndarray | None = ROUTE) -> None:
        self.do(self.cycle.answer(1, points))

    def timer(self) -> None:
        self.do(self.cycle.timer(other_publishers=0))

    def halt(self) -> None:
        self.do(self.cycle.halt())
