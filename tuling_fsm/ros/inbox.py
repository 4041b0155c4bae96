"""What has come in since the last tick of the planner, and the inputs that the next one makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError, in_one_line
from tuling_fsm.core.topics import BY_NAME, INPUTS
from tuling_fsm.wire.cdr import seconds, stamp_ns_if_any
from tuling_fsm.wire.inputs import commands_stop, unpack_input
from tuling_fsm.wire.odometry import unpack_odometry
from tuling_fsm.wire.text import pack_bool
from tuling_fsm.world.inputs import Inputs, RouteAnswer

T = TypeVar("T")
STAMPED = frozenset(topic.name for topic in INPUTS if topic.stamped)
_REMOTE = "emergency_stop"
OVERTAKEN_NS = 500_000_000
"""Odometry that is older than the last one, or than the last tick, by less has been overtaken; by more, the clock has
been set back (DWELL-5)."""


class Inbox:
    """The latest message of each input topic, turned into the inputs of a tick.

    Messages come in serialized and are read when a tick needs them: a fast sensor costs nothing between ticks.

    Args:
        report: told once of each fault, until the topic has been right again (SAF-3).
        mission: the one until another comes, for a planner that has none.
    """

    def __init__(self, report: Callable[[str], object], mission: dict[str, object] | None = None) -> None:
        self._report = report
        self._raw: dict[str, bytes] = {}
        self._first_mission = mission
        self._values: dict[str, Any] = {}
        """The latest value of each topic, by its field of `Inputs`."""
        self._pushed: dict[str, bytes] = {}
        """The last message of a topic that a tick sees once, as it brings a route."""
        self._answers: list[tuple[int, FloatArray]] = []
        self._calls: set[str] = set()
        self._faults: dict[str, str] = {}
        self._overtaken = False
        self._ticked_ns: int | None = None
        """Stamp of the last tick."""
        self.stamps: dict[str, int] = {}
        """Stamp (ns) of the latest message by topic, of those with a header."""
        self.heard_ns: int | None = None
        """Stamp of the odometry that came last and in order, whether it was taken or too late for that."""

    def begin_anew(self, with_mission: bool = False, lock_step: bool = False) -> None:
        """The planner is activated. It takes the last route again, which a latched publisher sends but once; what was
        asked for when it was active before is none of its.

        Args:
            with_mission: whether it goes on with a mission, which the first one is not to replace (EST-2).
            lock_step: whether nothing comes again by itself.
        """
        self._forget_go(lock_step)
        if with_mission and self._values.get("mission") is self._first_mission:
            self._values.pop("mission", None)
        elif not with_mission and self._first_mission is not None:
            self._values.setdefault("mission", self._first_mission)
        self._raw |= self._pushed
        self._answers, self._calls = [], set()

    def _forget_go(self, lock_step: bool) -> None:
        """Of the remote only a stop that has not been taken back goes on: a heartbeat from before would arm the link of
        a remote that may be switched off (EST-3). One that is on sends the next.
        """
        last = self._values.pop(_REMOTE, None)
        if last is not None and last.value:
            self._raw.setdefault(_REMOTE, pack_bool(True))
        if not lock_step and not commands_stop(_REMOTE, self._raw.get(_REMOTE)):
            self._raw.pop(_REMOTE, None)

    def receive(self, topic: str, raw: bytes, ticking: bool = False) -> bool:
        """Keep a message until the next tick; a newer one replaces it, but no command to stop while there are ticks to
        see it (EST-1): one that was taken back before is none.

        Odometry is read at once, as it drives the ticks; returns whether it can be used.
        """
        if topic == "odometry":
            read = self._read(topic, unpack_odometry, raw)
            if read is None or self._is_overtaken(topic, read[0]):
                return False
            self.heard_ns = read[0]
            if self._is_late(topic, read[0]):
                return False
            self.stamps[topic], self._values[topic] = read
            return True
        if not (ticking and commands_stop(topic, self._raw.get(topic))):
            self._raw[topic] = raw
        if BY_NAME[topic].field == "route_answers":
            self._pushed[topic] = raw
        if topic in STAMPED and (ns := stamp_ns_if_any(raw)) is not None:
            self.stamps[topic] = ns
        return True

    def _is_overtaken(self, topic: str, ns: int) -> bool:
        """Whether a later message has come before: to tick on it would set back every timer (SAF-3). Told once."""
        if not 0 < self.stamps.get(topic, ns) - ns < OVERTAKEN_NS:
            return False
        if not self._overtaken:
            self._overtaken = True
            self._report(f"{topic}: older than the last message, not taken (expected in order)")
        return True

    def _is_late(self, topic: str, ns: int) -> bool:
        """Whether silence has ticked in its place already: to tick on it would set back every timer too."""
        if self._ticked_ns is None or self.stamps.get(topic) == ns:
            return False
        return 0 <= self._ticked_ns - ns < OVERTAKEN_NS

    def answer(self, number: int, points: FloatArray) -> None:
        """An answer of the route server, for the next tick."""
        self._answers.append((number, points))

    def call(self, name: str) -> None:
        """A service call of the operator, one of `wire.inputs.OPERATOR`, for the next tick."""
        self._calls.add(name)

    def take(self, ns: int) -> Inputs:
        """The inputs of the tick at `ns`."""
        self._ticked_ns, stamp = ns, seconds(ns)
        raw, self._raw = self._raw, {}
        answers = [RouteAnswer(stamp, *answer) for answer in self._answers]
        self._answers = []
        calls, self._calls = self._calls, set()
        for topic, message in raw.items():
            value = self._read(topic, unpack_input, topic, message, stamp)
            if isinstance(value, RouteAnswer):
                answers.append(value)
            elif value is not None:
                self._values[BY_NAME[topic].field] = value
        return Inputs(stamp, route_answers=tuple(answers), **(self._values | dict.fromkeys(calls, True)))

    def _read(self, topic: str, unpack: Callable[..., T], *message: object) -> T | None:
        """The value of a message; None where it cannot be used, which is reported unless it was said last."""
        try:
            value = unpack(*message)
        except InputError as error:
            why = str(error)
        except Exception as error:  # Whatever comes over the wire, the tick goes on without it.
            why = f"{topic}: {in_one_line(error)}"
        else:
            self._faults.pop(topic, None)
            return value
        if self._faults.get(topic) != why:
            self._faults[topic] = why
            self._report(why)
        return None
