"""The message packages of carla-ros-bridge: the only place that imports `carla_msgs` and `derived_object_msgs`.

Everything else works on serialized messages (`wire.carla`), so that whoever has the same bytes to send and to receive
can stand in for these packages.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.qos import message_class

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
