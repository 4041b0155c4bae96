"""The planner's process as the node runs it: inbox, planning cycle, agent; it may be slow, and it may be killed.

The planning cycle is the node's own (`ros/planning_cycle.py`), so that what a fault meets is what it meets on the
vehicle: the timer where odometry is silent, the rest of the last plan instead of a late one, braking where the planner
fails. Only rclpy is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from tuling_fsm.agent import Agent, Parameters, Tick
from tuling_fsm.behaviour.decision import BehaviourRecord
from tuling_fsm.core.topics import INPUTS, LATCHED
from tuling_fsm.fault_injection.link import LinkMessage
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.ros.planning_cycle import Output, PendingRouteRequest, PlanningCycle
from tuling_fsm.wire.inputs import unpack_input
from tuling_fsm.world.inputs import Inputs, RouteAnswer, RouteRequest

WITHOUT_REST = PlannerNodeParameters(keep_warm=False)
"""Of the node; keeping caches warm changes nothing that is sent."""
LATCHED_TOPICS = frozenset(topic.name for topic in INPUTS if topic.qos == LATCHED)
QUEUED_ANSWERS = frozenset({"route_answer", "operator"})
"""What waits one by one for a node that is busy; of a topic the latest message does."""


@dataclass
class NodeLog:
    """Lines that the node wrote."""

    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def error(self, line: str) -> None:
        """Something failed."""
        self.errors.append(line)

    def warning(self, line: str) -> None:
        """Something is odd."""
        self.warnings.append(line)

    def info(self, line: str) -> None:
        """Something goes as it should."""


class _TimedAgent(Agent):
    """An agent that keeps its ticks, and whose ticks take as long as they are told to."""

    def __init__(self, road_map: RoadMap, parameters: Parameters, taken: Callable[[Tick], None]) -> None:
        super().__init__(road_map, parameters)
        self._taken = taken

    def step(self, inputs: Inputs) -> Tick:
        tick = super().step(inputs)
        self._taken(tick)
        return tick


@dataclass(frozen=True, eq=False)
class NodeAnswer:
    """What a node sends: serialized messages by topic, and its questions to the route server."""

    messages: tuple[LinkMessage[bytes], ...]
    requests: tuple[RouteRequest, ...]


class PlannerProcess:
    """From start to death.

    Args:
        road_map: that it has read.
        parameters: of the agent.
        log: gets its lines.
        resume: the state to go on from, as `resume` of the node does.
    """

    def __init__(self, road_map: RoadMap, parameters: Parameters, log: NodeLog, resume: BehaviourRecord | None) -> None:
        self.tick_s = 0.0
        """How long a tick takes, s."""
        self.now_ns = 0
        self.ticks: list[Tick] = []
        """Since they were taken from here."""
        self._time_s = 0.0
        self._agent = _TimedAgent(road_map, parameters, self._took)
        if resume is not None:
            self._agent.restore(resume)
        self._inbox = Inbox(log.warning)
        self._cycle = PlanningCycle(
            self._agent, self._inbox, WITHOUT_REST, log, lambda: self.now_ns, lambda topic: topic == "trajectory",
            clock=lambda: self._time_s,
        )  # fmt: skip
        self._waiting: dict[str, LinkMessage[bytes]] = {}
        self._queue: list[LinkMessage[bytes]] = []

    @property
    def record(self) -> BehaviourRecord:
        """The state that is kept for a restart."""
        return self._agent.record

    def wait(self, messages: Iterable[LinkMessage[bytes]]) -> None:
        """Messages come while the node is busy: the latest of each topic is kept for it (queues of depth 1)."""
        for message in messages:
            if message.topic in QUEUED_ANSWERS:
                self._queue.append(message)
            else:
                self._waiting.pop(message.topic, None)
                self._waiting[message.topic] = message

    def receive(self, messages: Iterable[LinkMessage[bytes]]) -> NodeAnswer:
        """Serve what has waited, what comes, and the timer. Returns all that is sent."""
        if self._waiting:
            self.wait(messages)
            messages = [*self._queue, *self._waiting.values()]
            self._queue, self._waiting = [], {}
        sent: list[LinkMessage[bytes]] = []
        asked: list[RouteRequest] = []
        for output in self._outputs(messages):
            if isinstance(output, PendingRouteRequest):
                asked.append(output.request)
            elif isinstance(output, tuple):
                sent.append(LinkMessage(*output))
        return NodeAnswer(tuple(sent), tuple(asked))

    def _outputs(self, messages: Iterable[LinkMessage[bytes]]) -> Iterator[Output]:
        for message in messages:
            topic, raw = message.topic, message.content
            if topic == "operator":
                for call in unpack_input(topic, raw, 0.0):
                    self._inbox.call(call)
            elif topic == "route_answer":
                answer: RouteAnswer = unpack_input(topic, raw, 0.0)
                yield from self._cycle.answer(answer.request, answer.points)
            else:
                yield from self._cycle.receive(topic, raw)
        yield from self._cycle.timer(other_publishers=0)

    def _took(self, tick: Tick) -> None:
        self.ticks.append(tick)
        self._time_s += self.tick_s
