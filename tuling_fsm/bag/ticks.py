"""What each tick of a recorded run saw, and which transitions were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any, NamedTuple

from tuling_fsm.bag.read_warnings import ReadWarnings, Report
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.topic_names import Message
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import BY_NAME, INPUTS
from tuling_fsm.wire.cdr import seconds, stamp_ns
from tuling_fsm.wire.inputs import OPERATOR, unpack_input, with_input
from tuling_fsm.wire.text import unpack_json
from tuling_fsm.wire.transition import unpack_transition
from tuling_fsm.world.inputs import Inputs

AGENT = "agent"
"""Name of this planner in a bag's `run`; a bag without a name is its own too."""
TICK_TOPICS = ("odometry", "trajectory")
"""Whose messages bear the stamps of ticks."""
_ONCE: dict[str, Any] = {"route_answers": (), **dict.fromkeys(OPERATOR, False)}
"""What is given on one tick only."""
_INPUTS = frozenset(topic.name for topic in INPUTS) | {"route_answer", "operator"}
_HEARD = _INPUTS.union(TICK_TOPICS)


class RecordedTick(NamedTuple):
    """What a tick saw; `parameters` are those that the planner was given before it, where they were new."""

    inputs: Inputs
    parameters: dict[str, Any] | None = None


def read_inputs(bag: BagSource) -> Iterator[Inputs]:
    """The inputs of every tick, by the stamps of the bag.

    A tick is an odometry message; a `trajectory` with a later stamp than the last tick answers one of the timer, which
    may have seen odometry that is older. In a bag that another program recorded a message counts for the first tick
    after its log time.

    Raises:
        InputError: no bag, a damaged one, no tick in it.
    """
    return ticks(read_messages(bag), str(bag), bag.report)


def read_ticks(bag: BagSource) -> Iterator[RecordedTick]:
    """As `read_inputs`, with the parameters that were changed in mid-drive."""
    return _ticks(read_messages(bag), str(bag), bag.report)


def ticks(messages: Iterable[Message], where: str, report: Report | None = None) -> Iterator[Inputs]:
    """As `read_inputs`, from messages by log time."""
    return (inputs for inputs, _ in _ticks(messages, where, report))


def _ticks(messages: Iterable[Message], where: str, report: Report | None) -> Iterator[RecordedTick]:
    """The inputs of every tick, and what came on `parameters` since the one before, if anything did."""
    latest = Inputs(0.0)
    parameters: dict[str, Any] | None = None
    waiting: list[Message] = []
    warnings = ReadWarnings(where, report)
    last_ns = -1
    for _, group in groupby(messages, key=lambda message: message.ns):
        together = [message for message in group if _fits(message, warnings)]
        waiting += [message for message in together if message.topic in _INPUTS]
        for message in ours(together):
            if message.topic == "parameters" and (new := warnings.usable(message, unpack_json)) is not None:
                parameters = new
        ns = _tick_ns(together, last_ns)
        if ns is None:
            continue
        warnings.tick(ns)
        for message in waiting:
            latest = _received(latest, message, seconds(ns), warnings)
        yield RecordedTick(replace(latest, stamp=seconds(ns)), parameters)
        latest = replace(latest, **_ONCE)
        waiting, parameters, last_ns = [], None, ns
    warnings.end()


def _fits(message: Message, warnings: ReadWarnings) -> bool:
    """Whether it has the type, and the stamp, of one of its topic; what has not is told."""
    warnings.see(message)
    try:
        if message.topic in _HEARD and message.type != BY_NAME[message.topic].type:
            raise InputError(message.topic, f"is a {message.type}", f"a {BY_NAME[message.topic].type}")
        if message.topic in TICK_TOPICS:
            stamp_ns(message.data)
    except InputError as error:
        warnings.refuse(message, error)
        return False
    return True


def _tick_ns(together: list[Message], last_ns: int) -> int | None:
    """The stamp of the tick that messages of one log time belong to, if one does.

    Odometry that is no later than the last tick was repeated or delayed, if the answer to it is later, or its clock has
    been set back, if not.
    """
    stamps = {message.topic: stamp_ns(message.data) for message in together if message.topic in TICK_TOPICS}
    odometry, answer = stamps.get("odometry"), stamps.get("trajectory", -1)
    if odometry is None or odometry <= last_ns < answer:
        return answer if answer > last_ns else None
    return odometry


def _received(latest: Inputs, message: Message, stamp: float, warnings: ReadWarnings) -> Inputs:
    try:
        value = unpack_input(message.topic, message.data, stamp)
    except InputError as error:
        warnings.refuse(message, error)
        return latest
    warnings.right(message.topic)
    return with_input(latest, message.topic, value)


@dataclass(frozen=True)
class RecordedRun:
    """What a bag tells of its run beside the inputs.

    `run` is what a replay has to know (`BagWriter`'s `run`), empty where nothing was recorded; `transitions` are the
    messages of that topic in order; `duration_s` is how long was recorded, s.
    """

    run: dict[str, Any] = field(default_factory=dict)
    transitions: list[dict[str, Any]] = field(default_factory=list)
    duration_s: float = 0.0

    @property
    def comparable(self) -> bool:
        """Whether it is a run of this planner, so that its transitions, also none, can be compared."""
        return self.run.get("planner", AGENT) == AGENT and bool(self.run or self.transitions)


def read_recorded(bag: BagSource) -> RecordedRun:
    """All of it in one pass.

    Raises:
        InputError: no bag, or a damaged one; without `report` a message that cannot be used.
    """
    found = RecordedRun()
    warnings = ReadWarnings(str(bag), bag.report)
    first_ns: int | None = None
    last_ns = 0
    for message in ours(read_messages(bag)):
        first_ns, last_ns = message.ns if first_ns is None else first_ns, message.ns
        if message.topic == "transition":
            event = warnings.usable(message, unpack_transition)
            found.transitions.extend(() if event is None else (event,))
        elif message.topic == "run" and not found.run:
            found.run.update(warnings.usable(message, unpack_json) or {})
    warnings.count()
    return replace(found, duration_s=0.0 if first_ns is None else seconds(last_ns - first_ns))


def ours(messages: Iterable[Message]) -> Iterator[Message]:
    """Those of our topics in our types: other programs have topics of these names too."""
    return (each for each in messages if each.topic in BY_NAME and each.type == BY_NAME[each.topic].type)


def read_transitions(bag: BagSource) -> list[dict[str, Any]]:
    """The recorded `transition` messages, in order.

    Raises:
        InputError: no bag, or a damaged one.
    """
    return read_recorded(bag).transitions


def read_run_record(bag: BagSource) -> dict[str, Any]:
    """What was recorded of the run itself (`BagWriter`'s `run`); empty where nothing was.

    Raises:
        InputError: as `read_recorded`.
    """
    warnings = ReadWarnings(str(bag), bag.report)
    for message in ours(read_messages(bag)):
        if message.topic == "run" and (run := warnings.usable(message, unpack_json)) is not None:
            return run
    return {}
