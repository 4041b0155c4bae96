"""Why the car did what it did, read off a bag's output topics: changes of state, stops with their reasons, how it moved
(EXPL-1).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, NamedTuple

from tuling_fsm.bag.drive_clock import ANY_TIME, DriveSpan, drive_span
from tuling_fsm.bag.read_warnings import ReadWarnings
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import TICK_TOPICS, ours
from tuling_fsm.bag.topic_names import Message
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.standstills import LimitChange, Standstill, longest_unexplained_s, stops
from tuling_fsm.wire.cdr import nanoseconds, seconds, stamp_ns_if_any
from tuling_fsm.wire.diagnostics import DiagnosticStatus, unpack_diagnostics
from tuling_fsm.wire.odometry import unpack_odometry
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.wire.transition import unpack_transition

WORDS = ("state", "sensors", "indicators")
"""Topics of one word that lasts until the next."""
CLOCK_TIME_S = 1e6
"""Stamps beyond this are those of a clock."""
STAMPED = frozenset({"odometry", "trajectory", "why"})
"""Topics whose messages bear the planner's clock."""


class StateChange(NamedTuple):
    """A transition at a stamp (s); of a bag without the topic `transition` only the states are known."""

    t: float
    source: str
    dest: str
    clause: str = ""
    guard: str = ""
    dwell_s: float = 0.0
    supervisor: bool = False
    rejected: tuple[str, ...] = ()


class WhyMessage(NamedTuple):
    """A message of the topic `why` at a stamp (s): the first status is what limits the car."""

    t: float
    statuses: tuple[DiagnosticStatus, ...]

    @property
    def code(self) -> str:
        """Of what limits the car; empty where the message says nothing."""
        return dict(self.statuses[0].values).get("code", "") if self.statuses else ""

    @property
    def words(self) -> str:
        """The same for a reader."""
        return self.statuses[0].message if self.statuses else ""


class MotionSample(NamedTuple):
    """Where the car was at a stamp (s), in `map`, and its speed (m/s, negative in reverse)."""

    t: float
    pose: Pose
    v: float


@dataclass(frozen=True)
class Timeline:
    """All of it, by time; `words` are stamp, topic and word of the topics in `WORDS`."""

    begin: float
    end: float
    changes: tuple[StateChange, ...]
    stops: tuple[Standstill, ...]
    whys: tuple[WhyMessage, ...]
    words: tuple[tuple[float, str, str], ...]
    motion: tuple[MotionSample, ...]
    drive: DriveSpan = ANY_TIME
    """Which messages of the bag it is made of."""

    @property
    def origin(self) -> float:
        """What pictures count seconds from: zero of simulated time, of a clock's stamps the first one."""
        return self.begin if self.begin > CLOCK_TIME_S else 0.0

    @property
    def longest_unexplained_s(self) -> float | None:
        """The longest time the car stood without a reason, s; None where nobody knows how it moved."""
        return longest_unexplained_s(self.stops) if self.motion else None

    def why_at(self, t: float) -> WhyMessage | None:
        """What was said last at a stamp (s)."""
        number = bisect_right(self.whys, t, key=lambda why: why.t)
        return self.whys[number - 1] if number else None

    def words_at(self, t: float) -> dict[str, str]:
        """The words that held at a stamp (s), by topic."""
        return {topic: word for stamp, topic, word in self.words if stamp <= t}

    def stop_at(self, t: float) -> Standstill | None:
        """The stop that the car made at a stamp (s)."""
        return next((stop for stop in self.stops if stop.t_from <= t <= stop.t_to), None)


def read_timeline(bag: BagSource, silent: bool = False) -> Timeline:
    """Read a bag with the planner's output topics, from this product's runs or recorded by any other program; where its
    time jumps by more than `LONGEST_SILENCE_S`, or goes back, the drive of which there is most.

    Args:
        bag: what is read; its `report` is told of another drive, too.
        silent: whether the planner may say nothing in it, as one of another maker does.

    Raises:
        InputError: no bag, a damaged one, one without messages, or one in which the planner says nothing.
    """

    def messages(drive: DriveSpan = ANY_TIME) -> Iterator[tuple[float, Message]]:
        return by_stamp(ours(read_messages(bag)), drive)

    warnings = ReadWarnings(str(bag), bag.report)
    draft = _read(messages(), warnings)
    warnings.count()
    if not draft.stamps or not (draft.changes or draft.whys or draft.words or silent):
        raise InputError(str(bag), "the planner says nothing in it", "the topics state, transition and why")
    drive = drive_span(draft.clock)
    if not all(drive.holds(t, number) for number, (_, t) in enumerate(draft.clock)):
        if bag.report is not None:
            bag.report(f"{bag}: time jumps: told is from {drive.begin:.3f} to {drive.end:.3f} s, the rest is left out")
        again = ReadWarnings(str(bag), lambda line: None)
        draft = _read(messages(drive), again)
        draft.changes = [change for change in draft.changes if drive.begin <= change.t <= drive.end]
        draft.drive = drive
    for t in draft.ticks:
        warnings.tick(nanoseconds(t))
    draft.motion = draft.motion or _planned(messages(drive))
    return draft.timeline()


@dataclass
class _TimelineDraft:
    """What is in a bag in the order of its messages; their stamps (s), and those of the topics that have the planner's
    clock, with the topic.
    """

    changes: list[StateChange] = field(default_factory=list)
    whys: list[WhyMessage] = field(default_factory=list)
    words: list[tuple[float, str, str]] = field(default_factory=list)
    motion: list[MotionSample] = field(default_factory=list)
    stamps: list[float] = field(default_factory=list)
    clock: list[tuple[str, float]] = field(default_factory=list)
    drive: DriveSpan = ANY_TIME

    @property
    def ticks(self) -> list[float]:
        """Stamps of the ticks by time, s."""
        return sorted(t for topic, t in self.clock if topic in TICK_TOPICS)

    def timeline(self) -> Timeline:
        """The same by time: messages are in the order of ticks, whose clock may be set back."""
        for by_time in (self.changes, self.whys, self.words, self.motion):
            by_time.sort(key=itemgetter(0))
        limits = [LimitChange(why.t, why.code, why.words) for why in self.whys]
        return Timeline(
            min(self.stamps),
            max(self.stamps),
            tuple(self.changes or _by_state(self.words)),
            tuple(stops(((each.t, each.v) for each in self.motion), limits)),
            tuple(self.whys),
            tuple(self.words),
            tuple(self.motion),
            self.drive,
        )


def _read(messages: Iterable[tuple[float, Message]], warnings: ReadWarnings) -> _TimelineDraft:
    draft = _TimelineDraft()
    for t, message in messages:
        draft.stamps.append(t)
        draft.clock += [(message.topic, t)] * (message.topic in STAMPED)
        if message.topic == "odometry":
            draft.motion += motion_samples(t, message.data)
        elif message.topic == "transition" and (event := warnings.usable(message, unpack_transition)) is not None:
            draft.changes.append(state_change(event))
        elif message.topic == "why" and (statuses := warnings.usable(message, unpack_diagnostics)) is not None:
            draft.whys.append(WhyMessage(t, statuses))
        elif message.topic in WORDS and (word := warnings.usable(message, unpack_string)) is not None:
            draft.words.append((t, message.topic, word))
    return draft


def by_stamp(messages: Iterable[Message], drive: DriveSpan) -> Iterator[tuple[float, Message]]:
    """Messages with their stamps (s) on the planner's clock, which a recorder's need not be.

    One without a stamp of its own takes that of the message before it, or at the beginning that of the first one. One
    with a stamp that is not of the drive is left out, and what comes behind it up to one that is: of its topics only
    the last message holds on, and of `transition`, which tells of a moment, none.
    """
    waiting: list[Message] = []
    clock, within, number = None, True, -1
    for message in messages:
        number += message.topic in STAMPED
        if message.topic in STAMPED and (ns := stamp_ns_if_any(message.data)) is not None:
            within = drive.holds(seconds(ns), number)
            if not within:
                continue
            clock = seconds(ns)
            yield from ((clock, other) for other in waiting)
            waiting.clear()
        if not within:
            waiting = _lasting([*waiting, message])
        elif clock is None:
            waiting.append(message)
        else:
            yield clock, message
    yield from ((seconds(message.ns), message) for message in waiting if within)


def _lasting(messages: Iterable[Message]) -> list[Message]:
    """The last message of each topic that does not tell of a moment."""
    return list({message.topic: message for message in messages if message.topic != "transition"}.values())


def motion_samples(t: float, raw: bytes) -> list[MotionSample]:
    """A sample; nothing of odometry that the planner could not use either, as in another frame."""
    try:
        odometry = unpack_odometry(raw)[1]
    except InputError:
        return []
    return [MotionSample(t, odometry.pose, odometry.v)]


def state_change(event: dict[str, Any]) -> StateChange:
    """A transition as it was sent."""
    return StateChange(
        event["stamp"],
        event["from"],
        event["to"],
        event["clause"],
        event["guard"],
        event["dwell_s"],
        event["supervisor"],
        tuple(event["rejected"]),
    )


def _by_state(words: Iterable[tuple[float, str, str]]) -> Iterator[StateChange]:
    """Changes of state without their reasons."""
    before = None
    for t, topic, word in words:
        if topic == "state":
            if before is not None and word != before:
                yield StateChange(t, before, word)
            before = word


def _planned(messages: Iterable[tuple[float, Message]]) -> list[MotionSample]:
    """The first rows of the trajectories, where there is no odometry."""
    rows = ((t, unpack_trajectory(message.data)) for t, message in messages if message.topic == "trajectory")
    return [MotionSample(t, Pose(float(r.x[0]), float(r.y[0]), float(r.heading[0])), float(r.v[0])) for t, r in rows]
