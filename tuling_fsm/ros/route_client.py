"""Questions to the route server: asked without waiting, answered to the next tick, given up after a time."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from nav_msgs.srv import GetPlan
from rclpy.client import Client
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.wire.paths import unpack_path
from tuling_fsm.wire.plan import pack_plan_request
from tuling_fsm.world.inputs import RouteRequest

Answered = Callable[[int, FloatArray | None], None]


class RouteClient:
    """The client of `plan_route`.

    Args:
        client: of that service.
        answered: called with a request's number and the route's rows x, y, heading (N, 3), empty where it was refused
            or malformed; with None when it was given up, or the server is away.
        warn: told in one line of a server that is away, an answer that is malformed or late.
    """

    def __init__(self, client: Client, answered: Answered, warn: Callable[[str], object]) -> None:
        self._client = client
        self._answered = answered
        self._warn = warn
        self._open: dict[int, tuple[Future, float]] = {}

    def wait(self, timeout_s: float) -> bool:
        """Whether the server is there, at the latest after a time."""
        return bool(self._client.wait_for_service(timeout_sec=timeout_s))

    def ask(self, ns: int, request: RouteRequest) -> None:
        """Send one question."""
        if not self._client.service_is_ready():
            self._warn(f"route request {request.number}: the route server is away")
            self._answered(request.number, None)
            return
        message = deserialize_message(pack_plan_request(ns, request.start, request.goal), GetPlan.Request)
        future = self._client.call_async(message)
        self._open[request.number] = (future, time.monotonic())
        future.add_done_callback(lambda done: self._receive(request.number, done))

    def give_up(self, timeout_s: float) -> None:
        """Forget questions that have been open for longer than a time; wall time, as the simulated one may stand."""
        for number, (future, asked) in list(self._open.items()):
            if time.monotonic() - asked >= timeout_s:
                del self._open[number]
                self._client.remove_pending_request(future)
                self._warn(f"route request {number}: no answer within {timeout_s:g} s")
                self._answered(number, None)

    def forget(self) -> None:
        """Forget all questions: their answers are not given to the one that asks next, whose numbers begin anew."""
        for future, _ in self._open.values():
            self._client.remove_pending_request(future)
        self._open.clear()

    def close(self) -> Client:
        """Forget all questions; returns the client, which is the caller's to destroy."""
        self.forget()
        return self._client

    def _receive(self, number: int, future: Future) -> None:
        if self._open.get(number, (None, 0.0))[0] is not future:
            return
        del self._open[number]
        try:
            _, points = unpack_path(serialize_message(future.result()), f"route {number}")
        except InputError as error:
            self._warn(f"refused an answer: {error}")
            points = np.zeros((0, 3))
        self._answered(number, points)
