"""Driving another node's lifecycle."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.client import Client
from rclpy.executors import Executor
from rclpy.node import Node

from tuling_fsm.core.errors import InputError

_POLL_S = 0.05
_AGAIN_S = 3.0
"""A question whose answer does not come is asked again: DDS may find the way to a service before the way back."""


class LifecycleClient:
    """Asks one lifecycle node for transitions and waits for them.

    Args:
        node: whose clients these are; has to be in `executor`, which is spun while waiting.
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
        request = ChangeState.Request()
        request.transition.label = label
        return bool(self._call(self._change, request, label, timeout_s).success)

    def state(self, timeout_s: float) -> str:
        """The present state: `unconfigured`, `inactive`, `active` or `finalized`.

        Raises:
            InputError: no answer in time.
        """
        return str(self._call(self._state, GetState.Request(), "its state", timeout_s, _AGAIN_S).current_state.label)

    def _call(self, client: Client, request: Any, what: str, timeout_s: float, again_s: float = math.inf) -> Any:
        """The answer to a request, sent once the service is there and, if it may be, again while none comes."""
        deadline = time.monotonic() + timeout_s
        while not client.service_is_ready() and time.monotonic() < deadline:
            self._spin()
        while True:
            future, until = client.call_async(request), min(deadline, time.monotonic() + again_s)
            while not future.done() and time.monotonic() < until:
                self._spin()
            if future.done():
                return future.result()
            client.remove_pending_request(future)
            if until >= deadline:
                raise InputError(
                    f"node {self._target}", f"no answer to {what} within {timeout_s:g} s", "a running node"
                )

    def _spin(self) -> None:
        self._check()
        self._executor.spin_once(timeout_sec=_POLL_S)
