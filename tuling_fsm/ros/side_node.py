"""A node of this process beside those of a group, for as long as it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import rclpy
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.lifecycle_client import LifecycleClient
from tuling_fsm.ros.loop import make_executor
from tuling_fsm.ros.processes import Group

CONFIGURE_S = 300.0
"""Compiling everything for the first time is part of configuring."""
ANSWER_S = 30.0


@contextmanager
def node_beside(group: Group, name: str, hurried: bool = False) -> Iterator[tuple[Node, Executor]]:
    """A node in the domain of a group's processes, and its executor, which is the caller's to spin.

    Args:
        group: the processes.
        name: of the node.
        hurried: whether it wants its messages with the least delay (`make_executor`).
    """
    context = Context()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", group.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"])
    domain = int(group.environment["ROS_DOMAIN_ID"])
    rclpy.init(context=context, domain_id=domain, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node(name, context=context)
        executor = make_executor(hurried, context)
        executor.add_node(node)
        yield node, executor
        executor.shutdown(timeout_sec=0.2)
        node.destroy_node()
    finally:
        context.try_shutdown()


def bring_up(group: Group, node: Node, executor: Executor) -> None:
    """Configure and activate the planner of a group.

    Raises:
        InputError: it refuses, does not answer, or another process of the group has ended.
    """
    client = LifecycleClient(node, executor, "planner", group.check)
    for label, timeout_s in (("configure", CONFIGURE_S), ("activate", ANSWER_S)):
        if not client.change(label, timeout_s):
            raise InputError("node planner", f"did not {label}: {group.complaint('planner')}")
