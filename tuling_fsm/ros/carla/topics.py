"""CARLA's topics and services at the bridge, and the message packages of carla-ros-bridge behind them.

Only here `carla_msgs` and `derived_object_msgs` are imported. Everything else works on serialized messages
(`wire.carla`), so that another implementation of the same bytes can stand in for these packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.task import Future

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import Topic
from tuling_fsm.ros.carla.actor_spawner import Answer
from tuling_fsm.ros.qos import message_class, profile
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

PACKAGES = ("carla_msgs", "derived_object_msgs")


class CarlaTypes(Protocol):
    """What rclpy has to be given for a message or service by its name."""

    def message(self, name: str) -> type:
        """The class for topics of the type `package/msg/Name`."""

    def service(self, name: str) -> Any:
        """The class for clients of the type `package/srv/Name`."""

    def request(self, name: str, raw: bytes) -> Any:
        """The request object of a service from its serialized form."""

    def response(self, name: str, response: Any) -> bytes:
        """The serialized form of a response object."""


class InstalledTypes:
    """The packages of a sourced workspace.

    Raises:
        InputError: one of them is not there.
    """

    def __init__(self) -> None:
        for package in PACKAGES:
            try:
                importlib.import_module(f"{package}.msg")
            except ImportError as error:
                raise InputError(package, f"cannot be imported: {error}", "a sourced carla-ros-bridge") from None

    def message(self, name: str) -> type:
        """The class for topics."""
        return message_class(name)

    def service(self, name: str) -> Any:
        """The class for clients."""
        return message_class(name)

    def request(self, name: str, raw: bytes) -> Any:
        """Deserialized."""
        from rclpy.serialization import deserialize_message

        return deserialize_message(raw, self.service(name).Request)

    def response(self, name: str, response: Any) -> bytes:
        """Serialized."""
        from rclpy.serialization import serialize_message

        return bytes(serialize_message(response))


class CarlaTopics:
    """Messages go in and out serialized.

    Args:
        node: that has the topics.
        types: their classes.
        role: role name of the ego.
        receive: called with the name in `HEARD` and each message.
    """

    def __init__(self, node: Node, types: CarlaTypes, role: str, receive: Callable[[str, bytes], None]) -> None:
        self._node, self._types, self._role = node, types, role
        self._heard = {
            topic.name: node.create_subscription(
                types.message(topic.type), topic_name(topic, role), partial(receive, topic.name), profile(topic.qos),
                raw=True,
            )
            for topic in HEARD
        }  # fmt: skip
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

    def has_publisher(self, name: str) -> bool:
        """Whether a topic of `HEARD` has a publisher."""
        return bool(self._node.count_publishers(self._heard[name].topic_name))

    def spawn(self, request: bytes, answered: Answer) -> None:
        """Call `spawn_object`."""
        self._call(self._spawn, SPAWN, request, answered)

    def destroy(self, request: bytes) -> None:
        """Call `destroy_object`."""
        self._call(self._destroy, DESTROY, request, lambda _: None)

    def place(self, name: str, pose: bytes) -> None:
        """Put the actor with this role name somewhere, if it can be: CARLA does not listen before it is there."""
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
