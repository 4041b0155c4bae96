"""The ends of CARLA's topics and services at the bridge."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future

from tuling_fsm.ros.carla.troupe import Answer
from tuling_fsm.ros.carla.types import CarlaTypes
from tuling_fsm.ros.qos import profile
from tuling_fsm.wire.carla.messages import (
    COMMAND,
    DESTROY,
    HEARD,
    RUN,
    SET_TRANSFORM,
    SPAWN,
    WEATHER_WISH,
    topic_name,
)
from tuling_fsm.wire.topics import Topic


class CarlaTopics:
    """Messages go in and out serialized.

    Args:
        node: whose topics these are.
        types: their classes.
        role: role name of the ego.
        heard: called with the name in `HEARD` and each message.
    """

    def __init__(self, node: Node, types: CarlaTypes, role: str, heard: Callable[[str, bytes], None]) -> None:
        self._node, self._types, self._role = node, types, role
        for topic in HEARD:
            node.create_subscription(
                types.message(topic.type), topic_name(topic, role), partial(heard, topic.name), profile(topic.qos),
                raw=True,
            )  # fmt: skip
        self._command = self._publisher(COMMAND)
        self._run = self._publisher(RUN)
        self._weather = self._publisher(WEATHER_WISH)
        self._spawn = node.create_client(types.service(SPAWN), "/carla/spawn_object")
        self._destroy = node.create_client(types.service(DESTROY), "/carla/destroy_object")
        self._placers: dict[str, Publisher] = {}
        self.open_calls = 0
        """Service calls that have no answer yet."""

    def command(self, message: bytes) -> None:
        """Send the ego's command."""
        self._command.publish(message)

    def commanded(self, seconds: float) -> None:
        """Wait until the last command has arrived, so long (s) at most: with its publisher it would be lost."""
        self._command.wait_for_all_acked(Duration(seconds=seconds))

    def run(self, message: bytes) -> None:
        """Play, pause or step the simulation."""
        self._run.publish(message)

    def weather(self, message: bytes) -> None:
        """Set the weather."""
        self._weather.publish(message)

    def ready_to_spawn(self) -> bool:
        """Whether the services are there."""
        return bool(self._spawn.service_is_ready() and self._destroy.service_is_ready())

    def speaks(self, name: str) -> bool:
        """Whether anybody publishes a topic of `HEARD`."""
        topic = next(each for each in HEARD if each.name == name)
        return bool(self._node.count_publishers(topic_name(topic, self._role)))

    def spawn(self, request: bytes, answered: Answer) -> None:
        """Call `spawn_object`."""
        self._call(self._spawn, SPAWN, request, answered)

    def destroy(self, request: bytes) -> None:
        """Call `destroy_object`."""
        self._call(self._destroy, DESTROY, request, lambda _: None)

    def place(self, name: str, pose: bytes) -> None:
        """Put the actor with this role name somewhere, if it can be: nobody listens before it is there."""
        publisher = self._placers.get(name)
        if publisher is None:
            publisher = self._placers[name] = self._publisher(SET_TRANSFORM, name)
        publisher.publish(pose)

    def forget(self, name: str) -> None:
        """The actor is gone."""
        publisher = self._placers.pop(name, None)
        if publisher is not None:
            self._node.destroy_publisher(publisher)

    def _publisher(self, topic: Topic, role: str = "") -> Publisher:
        name = topic_name(topic, role or self._role)
        return self._node.create_publisher(self._types.message(topic.type), name, profile(topic.qos))

    def _call(self, client: Client, name: str, request: bytes, answered: Answer) -> None:
        self.open_calls += 1
        future = client.call_async(self._types.request(name, request))
        future.add_done_callback(partial(self._receive, name, answered))

    def _receive(self, name: str, answered: Answer, future: Future) -> None:
        self.open_calls -= 1
        answered(self._types.response(name, future.result()))
