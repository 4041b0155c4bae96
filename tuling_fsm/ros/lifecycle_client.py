"""Driving another node's lifecycle, from a node that lives only for that."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import rclpy
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.context import Context
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from tuling_fsm.core.errors import InputError
from tuling_fsm.ros.served_node import make_executor

_POLL_S = 0.05
_AGAIN_S = 3.0
"""A question whose answer does not come is asked again: DDS may find the way to a service before the way back."""
_LEADS_TO = {"configure": "inactive", "activate": "active", "deactivate": "inactive", "cleanup": "unconfigured"}


@contextmanager
def node_beside(environment: Mapping[str, str], name: str, hurried: bool = False) -> Iterator[tuple[Node, Executor]]:
    """A node of this process in the domain of other processes, and its executor, which is the caller's to spin.

    Args:
        environment: of those processes.
        name: of the node.
        hurried: whether it wants its messages with the least delay (`make_executor`).
    """
    context = Context()
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", environment["ROS_AUTOMATIC_DISCOVERY_RANGE"])
    domain = int(environment["ROS_DOMAIN_ID"])
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


class LifecycleClient:
    """Asks one lifecycle node for transitions and waits for them.

    Args:
        node: that owns the clients; has to be in `executor`, which is spun while waiting.
        executor: of that node.
        target: name of the lifecycle node.
        check: called while waiting; raises where waiting has no point any more.
    """

    def __init__(self, node: Node, executor: Executor, target: str, check: Callable[[], None] = lambda: None) -> None:
        self._executor = executor
        self._target = target
        self._check = check
        self._change = node.create_client(ChangeState, f"{target}/change_state")
        self._state = node.create_client(GetState, f"{target}/get_state")

    def change(self, label: str, timeout_s: float) -> bool:
        """Make one transition (`configure`, `activate`, `deactivate`, `cleanup`); False where the node refuses it.

        Raises:
            InputError: no answer in time.
        """
        deadline = time.monotonic() + timeout_s
        request = ChangeState.Request()
        request.transition.label = label
        self._until(self._change.service_is_ready, deadline)
        asked: list[Future] = []

        def answered() -> bool:
            return any(each.done() for each in asked)

        try:
            while True:
                asked.append(self._change.call_async(request))
                if self._until(answered, self._soon(deadline)):
                    break
                # The question is lost, or the answer, or the transition takes its time: its node is deaf then.
                if self._state_by(deadline, label) == _LEADS_TO.get(label):
                    return True
                if self._until(answered, time.monotonic() + _POLL_S):
                    break
            if any(each.result().success for each in asked if each.done()):
                return True
            return len(asked) > 1 and self._state_by(deadline, label) == _LEADS_TO.get(label)
        finally:
            for each in asked:
                self._change.remove_pending_request(each)

    def state(self, timeout_s: float) -> str:
        """The present state: `unconfigured`, `inactive`, `active` or `finalized`.

        Raises:
            InputError: no answer in time.
        """
        return self._state_by(time.monotonic() + timeout_s, "its state")

    def _state_by(self, deadline: float, what: str) -> str:
        """The state, asked for again while no answer comes."""
        self._until(self._state.service_is_ready, deadline)
        while True:
            future = self._state.call_async(GetState.Request())
            if self._until(future.done, self._soon(deadline)):
                return str(future.result().current_state.label)
            self._state.remove_pending_request(future)
            if time.monotonic() >= deadline:
                raise InputError(f"node {self._target}", f"no answer to {what} in time", "a running node")

    def _soon(self, deadline: float) -> float:
        return min(deadline, time.monotonic() + _AGAIN_S)

    def _until(self, done: Callable[[], bool], deadline: float) -> bool:
        """Spin until something is so, or a time has come; whether it is so."""
        while not done():
            if time.monotonic() >= deadline:
                return False
            self._spin()
        return True

    def _spin(self) -> None:
        self._check()
        self._executor.spin_once(timeout_sec=_POLL_S)
