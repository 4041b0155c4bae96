"""The latest message of each input topic, turned into the inputs of a tick."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.ros.failure import in_one_line
from tuling_fsm.wire.cdr import STAMP_BYTES, seconds, stamp_ns
from tuling_fsm.wire.inputs import OPERATOR, unpack_input
from tuling_fsm.world.inputs import Inputs, RouteAnswer


class Inbox:
    """Messages come in serialized and are read when a tick needs them: a fast sensor costs nothing between ticks.

    Args:
        report: told once of each fault, until the topic has been right again (SAF-3).
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self._report = report
        self._raw: dict[str, bytes] = {}
        self.values: dict[str, Any] = {}
        """The latest value of each topic."""
        self._answers: list[tuple[int, FloatArray]] = []
        self._calls: set[str] = set()
        self._faults: dict[str, str] = {}
        self.received: dict[str, int] = {}
        """Stamp (ns) of the latest message by topic, of those with a header."""

    def receive(self, topic: str, raw: bytes, stamped: bool) -> bool:
        """Keep a message until the next tick; a newer one replaces it.

        Odometry is read at once, as it drives the ticks; returns whether it can be used.
        """
        if topic == "odometry":
            odometry = self._read(topic, raw, 0.0)
            if odometry is None:
                return False
            self.values[topic] = odometry
        else:
            self._raw[topic] = raw
        if stamped and len(raw) >= STAMP_BYTES:
            self.received[topic] = stamp_ns(raw)
        return True

    def answer(self, number: int, points: FloatArray) -> None:
        """An answer of the route server, for the next tick."""
        self._answers.append((number, points))

    def call(self, name: str) -> None:
        """A service call of the operator, one of `wire.inputs.OPERATOR`, for the next tick."""
        self._calls.add(name)

    def take(self, ns: int) -> Inputs:
        """The inputs of the tick at `ns`."""
        stamp = seconds(ns)
        raw, self._raw = self._raw, {}
        answers = [RouteAnswer(stamp, *answer) for answer in self._answers]
        self._answers = []
        calls, self._calls = self._calls, set()
        for topic, message in raw.items():
            value = self._read(topic, message, stamp)
            if isinstance(value, RouteAnswer):
                answers.append(value)
            elif value is not None:
                self.values[topic] = value
        once: dict[str, Any] = {name: name in calls for name in OPERATOR}
        return Inputs(stamp, route_answers=tuple(answers), **self.values, **once)

    def _read(self, topic: str, raw: bytes, stamp: float) -> Any:
        """The value of a message; None where it cannot be used, which is reported unless it was said last."""
        try:
            value = unpack_input(topic, raw, stamp)
        except InputError as error:
            return self._refuse(topic, str(error))
        except Exception as error:  # Whatever comes over the wire, the tick goes on without it.
            return self._refuse(topic, f"{topic}: {in_one_line(error)}")
        self._faults.pop(topic, None)
        return value

    def _refuse(self, topic: str, why: str) -> None:
        if self._faults.get(topic) != why:
            self._faults[topic] = why
            self._report(why)
