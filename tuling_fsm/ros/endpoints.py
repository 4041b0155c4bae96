"""The topics, services and clients of the planner node."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode
from std_srvs.srv import Trigger

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.route_client import RouteClient
from tuling_fsm.wire.inputs import OPERATOR
from tuling_fsm.wire.topics import INPUTS, OUTPUTS, Qos
from tuling_fsm.world.inputs import RouteRequest

if TYPE_CHECKING:
    from tuling_fsm.ros.runtime import Runtime

TIMER_S = 0.05
_FLUSH = Duration(seconds=0.2)
_STAMPED = frozenset({"occupancy", "lane_lines", "parking_slots", "objects", "traffic_lights", "odometry"})


class Endpoints:
    """Made on configure. Messages go into the inbox always, and further to the runtime while there is one.

    Args:
        node: theirs.
        inbox: keeps the inputs.
        lock_step: whether every input topic has to be reliable.
        runtime: gives the present runtime, None while the node is not active.
    """

    def __init__(
        self, node: LifecycleNode, inbox: Inbox, lock_step: bool, runtime: Callable[[], Runtime | None]
    ) -> None:
        self._node = node
        self._inbox = inbox
        self._runtime = runtime
        self.log = node.get_logger()
        self.routes = RouteClient(node, self._answered, self.log.warning)
        self._publishers = {
            topic.name: node.create_lifecycle_publisher(message_class(topic.type), topic.name, profile(topic.qos))
            for topic in OUTPUTS
        }
        self._subscriptions = [
            node.create_subscription(
                message_class(topic.type),
                topic.name,
                partial(self._receive, topic.name),
                profile(Qos(True, topic.qos.depth, topic.qos.latched) if lock_step else topic.qos),
                raw=True,
            )
            for topic in INPUTS
        ]
        self._services = [node.create_service(Trigger, f"~/{name}", partial(self._call, name)) for name in OPERATOR]
        self._services.append(node.create_service(Trigger, "~/explain", self._explain))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(TIMER_S, self._tick_timer, clock=steady)
        self._alarm = node.create_timer(TIMER_S, self._rested, clock=steady)
        self._alarm.cancel()

    def publish(self, topic: str, message: bytes) -> None:
        """Send one serialized message."""
        self._publishers[topic].publish(message)

    def wanted(self, topic: str) -> bool:
        """Whether somebody listens."""
        return bool(self._publishers[topic].get_subscription_count())

    def rivals(self) -> int:
        """How many others send trajectories on the same topic, as a second planner would."""
        return max(int(self._node.count_publishers(self._publishers["trajectory"].topic_name)) - 1, 0)

    def flush(self, topics: Iterable[str]) -> None:
        """Wait a little until every reliable subscriber has what was sent: DDS gives no order across topics.

        For topics of depth 1 that takes some milliseconds; the others are acknowledged every few seconds only.
        """
        for topic in topics:
            if not self._publishers[topic].wait_for_all_acked(_FLUSH):
                self.log.warning(f"{topic}: a subscriber does not take what is sent", throttle_duration_sec=5.0)

    def ask(self, ns: int, request: RouteRequest) -> None:
        """Send one question to the route server."""
        self.routes.ask(ns, request)

    def give_up_questions(self, timeout_s: float) -> None:
        """Forget questions to the route server that have been open for longer than a time."""
        self.routes.give_up(timeout_s)

    def now_ns(self) -> int:
        """The node's clock."""
        return int(self._node.get_clock().now().nanoseconds)

    def rest(self, seconds: float) -> None:
        """Have the runtime told after a time, once; a new time takes the place of the last one."""
        self._alarm.timer_period_ns = round(1e9 * seconds)
        self._alarm.reset()

    def destroy(self) -> None:
        """End all of them."""
        self._node.destroy_timer(self._timer)
        self._node.destroy_timer(self._alarm)
        for service in self._services:
            self._node.destroy_service(service)
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        for publisher in self._publishers.values():
            self._node.destroy_lifecycle_publisher(publisher)
        self.routes.destroy()

    def _receive(self, topic: str, raw: bytes) -> None:
        usable = self._inbox.receive(topic, raw, topic in _STAMPED)
        runtime = self._runtime()
        if usable and runtime is not None:
            runtime.received(topic, raw)

    def _answered(self, number: int, points: FloatArray | None) -> None:
        runtime = self._runtime()
        if runtime is not None:
            runtime.answered(number, points)

    def _call(self, name: str, _: Any, response: Any) -> Any:
        active = self._runtime() is not None
        if active:
            self._inbox.call(name)
        response.success = active
        response.message = "on the next tick" if active else "the planner is not active"
        return response

    def _explain(self, _: Any, response: Any) -> Any:
        runtime = self._runtime()
        response.success = runtime is not None
        response.message = "the planner is not active" if runtime is None else runtime.explanation()
        return response

    def _tick_timer(self) -> None:
        runtime = self._runtime()
        if runtime is not None:
            runtime.timer()

    def _rested(self) -> None:
        self._alarm.cancel()
        runtime = self._runtime()
        if runtime is not None:
            runtime.rested()
