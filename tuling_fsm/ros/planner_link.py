"""The simulator's end of the planner: sends inputs, receives answers, calls the operator's services."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from rclpy.publisher import Publisher
from std_srvs.srv import Trigger

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BOOL, BY_NAME, INPUTS, LATCHED, PATH, STRING
from tuling_fsm.map.route import Route
from tuling_fsm.ros.qos import acknowledged, input_publishers, message_class, profile
from tuling_fsm.ros.route_service import SERVER_BEHAVIOUR
from tuling_fsm.ros.run_watch import RunWatch
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.wire.inputs import OPERATOR, pack_inputs
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_string
from tuling_fsm.world.inputs import Inputs

WATCHED = ("state", "transition", "why", "trajectory")
"""Served in this order: the trajectory is the last message of a tick."""
UNSTAMPED = frozenset(topic.name for topic in INPUTS if not topic.stamped)


class PlannerLink:
    """The other end of the planner's topics, its operator's services and the route server's settings.

    Args:
        node: that owns the topics.
        answered: called with every serialized trajectory.
        flush_s: longest wait until what bears no stamp has arrived: only then it counts for the tick surely.
    """

    def __init__(self, node: ServedNode, answered: Callable[[bytes], None], flush_s: float) -> None:
        self._node = node
        self._flush_s = flush_s
        self.lost = False
        """Something that bears no stamp had not arrived by then."""
        self._answered = answered
        self.watch = RunWatch()
        """What the planner said."""
        self._publishers = input_publishers(node, depth=1)  # What is waited for: see `acknowledged`.
        self._preset = node.create_publisher(message_class(PATH), "preset_route", profile(LATCHED))
        self._behaviour_publisher = node.create_publisher(message_class(STRING), SERVER_BEHAVIOUR, profile(LATCHED))
        self._server_behaviour: ServerBehaviour | None = None
        """What the route server was told last; one that stays up has what the run before told it."""
        self._operator = {name: node.create_client(Trigger, f"planner/{name}") for name in OPERATOR}
        self._watched = [
            node.create_subscription(
                message_class(BY_NAME[name].type),
                name,
                partial(self._receive, name),
                profile(BY_NAME[name].qos),
                raw=True,
            )
            for name in WATCHED
        ]

    def all_connected(self) -> bool:
        """Whether planner and route server have found this end, and this end them."""
        ends = [*self._publishers.values(), self._preset, self._behaviour_publisher]
        return self.planner_connected() and all(publisher.get_subscription_count() for publisher in ends)

    def planner_connected(self) -> bool:
        """Whether the planner has found this end, and this end it."""
        return all(publisher.get_subscription_count() for publisher in self._publishers.values()) and all(
            self._node.count_publishers(each.topic_name) for each in self._watched
        )

    def preset_route(self, route: Route | None) -> None:
        """The route that the route server shall answer with; none is told too, to one that has that of another run."""
        self._preset.publish(pack_path(0, np.zeros((0, 3)) if route is None else route.poses()))
        self._wait_for(self._preset)

    def send_frame(
        self, inputs: Inputs, previous: Inputs | None, server_behaviour: ServerBehaviour = ServerBehaviour.WELL
    ) -> None:
        """Send a frame, after the behaviour of the route server and what the operator does on it."""
        if server_behaviour is not self._server_behaviour:
            self._server_behaviour = server_behaviour
            self._behaviour_publisher.publish(pack_string(server_behaviour.value))
            self._wait_for(self._behaviour_publisher)
        self._operate([name for name in OPERATOR if getattr(inputs, name)], inputs, previous)

    def send_again(self, inputs: Inputs) -> None:
        """Send what bears the stamp of a frame once more: its answer does not come."""
        self._send(inputs, None, again=True)

    def _operate(self, calls: list[str], inputs: Inputs, previous: Inputs | None) -> None:
        """Make the operator's calls one after the other, then send the frame."""
        if not calls:
            self._send(inputs, previous)
            return
        client, rest = self._operator[calls[0]], calls[1:]
        if client.service_is_ready():
            future = client.call_async(Trigger.Request())
            future.add_done_callback(lambda _: self._operate(rest, inputs, previous))
        else:
            self._operate(rest, inputs, previous)

    def _send(self, inputs: Inputs, previous: Inputs | None, again: bool = False) -> None:
        """First what bears no stamp, acknowledged, then the tables, last the odometry; `again` only what bears one."""
        messages = [pair for pair in pack_inputs(inputs, previous) if pair[0] in self._publishers]
        first = [(topic, message) for topic, message in messages if topic in UNSTAMPED and not again]
        for topic, message in first:
            self._publishers[topic].publish(message)
        for topic, _ in first:
            if _says_something_new(topic, inputs, previous):
                self._wait_for(self._publishers[topic])
        for topic, message in messages:
            if topic not in UNSTAMPED:
                self._publishers[topic].publish(message)

    def _wait_for(self, publisher: Publisher) -> None:
        if not acknowledged(publisher, self._flush_s, lambda: self._node.interrupted):
            self.lost = True

    def _receive(self, topic: str, raw: bytes) -> None:
        try:
            if topic == "trajectory":
                self._answered(raw)
            else:
                self.watch.receive(topic, raw)
        except InputError as error:
            self._node.get_logger().warning(str(error))


def _says_something_new(topic: str, inputs: Inputs, previous: Inputs | None) -> bool:
    """Whether it is more than a heartbeat: an acknowledgement costs milliseconds."""
    before = None if previous is None else getattr(previous, topic, None)
    return BY_NAME[topic].type != BOOL or before is None or before.value != getattr(inputs, topic).value
