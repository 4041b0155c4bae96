"""Topics of the table as rclpy wants them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.subscription import Subscription

from tuling_fsm.core.topics import INPUTS, Qos

_SLICE_S = 0.1
"""A signal is seen after so much waiting."""


def profile(qos: Qos) -> QoSProfile:
    """The QoS profile."""
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=qos.depth,
        reliability=ReliabilityPolicy.RELIABLE if qos.reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if qos.latched else DurabilityPolicy.VOLATILE,
    )


def message_class(type_name: str) -> type:
    """The generated class of `package/msg/Name` or `package/srv/Name`."""
    package, kind, name = type_name.split("/")
    found: type = getattr(importlib.import_module(f"{package}.{kind}"), name)
    return found


def input_publishers(node: Node, depth: int | None = None) -> dict[str, Publisher]:
    """Publishers of the planner's inputs, by topic; all of them reliable, as a world in steps waits for every frame.

    Args:
        node: that owns the publishers.
        depth: of their queues; that of each topic if not given.
    """
    return {
        topic.name: node.create_publisher(
            message_class(topic.type), topic.name, profile(Qos(True, depth or topic.qos.depth, topic.qos.latched))
        )
        for topic in INPUTS
    }


def waiting(subscription: Subscription) -> Iterator[bytes]:
    """Take what waits in the queue of a subscription to serialized messages, the oldest first.

    An executor takes one message of each queue before it serves the next: between two of one queue it may make a tick.
    """
    with subscription.handle:
        while (taken := subscription.handle.take_message(subscription.msg_type, subscription.raw)) is not None:
            yield bytes(taken[0])


def acknowledged(publisher: Publisher, within_s: float, given_up: Callable[[], bool] = lambda: False) -> bool:
    """Wait until every reliable subscriber has what was published.

    Args:
        publisher: of a topic of depth 1; deeper ones are acknowledged every few seconds only.
        within_s: longest wait.
        given_up: whether to wait no longer, as after a signal.

    Returns:
        Whether they have it.
    """
    deadline = time.monotonic() + within_s
    while not publisher.wait_for_all_acked(Duration(seconds=min(within_s, _SLICE_S))):
        if time.monotonic() >= deadline or given_up():
            return False
    return True
