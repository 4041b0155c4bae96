"""What is odd about a bag: gaps and loops, messages that cannot be used, topics that are not there. Each said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from tuling_fsm.bag.topic_names import Message
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, INPUTS
from tuling_fsm.wire.cdr import seconds

Report = Callable[[str], None]
Content = TypeVar("Content")
GAP_S = 1.0
"""A longer step between two ticks is told, as it is to the planner (`behaviour.switching.max_gap`)."""


class ReadWarnings:
    """Collects while a bag is read.

    Args:
        where: the bag.
        say: told each line; without it a message that cannot be used raises.
    """

    def __init__(self, where: str, say: Report | None) -> None:
        self._where = where
        self._say = say
        self._faults: dict[str, str] = {}
        self._left_out: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._others: dict[str, str] = {}
        self._last_ns: int | None = None

    def see(self, message: Message) -> None:
        """A message of any topic."""
        if message.topic in BY_NAME:
            self._seen.add(message.topic)
        else:
            self._others.setdefault(message.topic, message.type)

    def right(self, topic: str) -> None:
        """A message that can be used."""
        self._faults.pop(topic, None)

    def refuse(self, message: Message, error: InputError) -> None:
        """A message that cannot be used: the same fault is told again only after the topic has been right.

        Raises:
            InputError: there is no `say`.
        """
        at = f"{self._where} at {seconds(message.ns):.3f} s"
        line = InputError(at, f"{error.where}: {error.what}", error.expected)
        if self._say is None:
            raise line from None
        self._left_out[message.topic] += 1
        if self._faults.get(message.topic) != str(error):
            self._faults[message.topic] = str(error)
            self._say(str(line))

    def usable(self, message: Message, unpack: Callable[[bytes, str], Content]) -> Content | None:
        """What is in a message; None, and told, where it cannot be used.

        Raises:
            InputError: it cannot, and there is no `say`.
        """
        try:
            value = unpack(message.data, message.topic)
        except InputError as error:
            self.refuse(message, error)
            return None
        self.right(message.topic)
        return value

    def tick(self, ns: int) -> None:
        """The stamp of the next tick."""
        last, self._last_ns = self._last_ns, ns
        if last is None or self._say is None:
            return
        place = f"{self._where} at {seconds(last):.3f} s"
        if ns < last:
            self._say(f"{place}: time begins anew at {seconds(ns):.3f} s")
        elif ns - last > GAP_S * 1e9:
            self._say(f"{place}: a gap of {seconds(ns - last):.3f} s")

    def count(self) -> None:
        """Tell how many messages were left out."""
        for topic, count in sorted(self._left_out.items()):
            if count > 1 and self._say is not None:
                self._say(f"{self._where}: {count} messages of {topic} were left out")

    def end(self) -> None:
        """The bag is over.

        Raises:
            InputError: there was no tick in it.
        """
        if self._last_ns is None:
            hint = self._hint("odometry")
            raise InputError(self._where, "no tick in it: neither odometry nor trajectory", hint or "a recorded run")
        self.count()
        if self._say is None:
            return
        missing = [topic.name for topic in INPUTS if topic.name not in self._seen]
        if missing and "run" not in self._seen:  # What a run of this planner went without is nothing odd.
            hints = "".join(f"; {hint}" for hint in map(self._hint, missing) if hint)
            self._say(f"{self._where}: nothing of {', '.join(missing)} in it{hints}")

    def _hint(self, name: str) -> str:
        """Topics of another name that have the type of one of ours."""
        same = [topic for topic, kind in self._others.items() if kind == BY_NAME[name].type]
        return f"perhaps --remap {' or '.join(same)}:={name}" if same else ""
