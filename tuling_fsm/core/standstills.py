"""Where the car stood, and why: read off its speed and what limited it (EXPL-1)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import NamedTuple

from tuling_fsm.core.request import Reason
from tuling_fsm.core.standing import VEHICLE_STANDS
from tuling_fsm.core.time_loss import LONGEST_GAP_S

SHORTEST_STOP_S = 1.0
"""Shorter stands need no reason."""
NO_REASON = frozenset(reason.value for reason in (Reason.NONE, Reason.SPEED_LIMIT, Reason.CURVATURE, Reason.PASSING))
"""Codes of what limits a car that drives, and does not say why one stands."""


class LimitChange(NamedTuple):
    """What limits the car from a stamp (s) on, until something else does."""

    t: float
    code: str
    words: str


class StandstillCause(NamedTuple):
    """What kept the car standing from one stamp to another (s); the code is empty where nothing is known."""

    t_from: float
    t_to: float
    code: str
    words: str


@dataclass(frozen=True)
class Standstill:
    """A stand of more than a second, with one cause after the other."""

    causes: tuple[StandstillCause, ...]

    @property
    def t_from(self) -> float:
        """When it began, s."""
        return self.causes[0].t_from

    @property
    def t_to(self) -> float:
        """When it ended, or the record did, s."""
        return self.causes[-1].t_to

    @property
    def primary(self) -> StandstillCause:
        """The cause that held longest, all its times together, as it was told of last."""
        tally = _Tally()
        for cause in self.causes:
            tally.add(cause)
        return tally.longest

    @property
    def summary(self) -> StandstillCause:
        """All of it, with the primary cause."""
        return self.primary._replace(t_from=self.t_from, t_to=self.t_to)

    @property
    def unexplained_s(self) -> float:
        """The longest time without a reason."""
        runs = groupby(self.causes, key=lambda cause: not cause.code or cause.code in NO_REASON)
        lengths = (math.fsum(cause.t_to - cause.t_from for cause in run) for without, run in runs if without)
        return round(max(lengths, default=0.0), 3)


def stops(motion: Iterable[tuple[float, float]], said: Sequence[LimitChange]) -> Iterator[Standstill]:
    """Every stand of a second and longer; whether the car stood in a gap of the motion nobody knows.

    Args:
        motion: stamp (s) and speed (m/s), by time.
        said: what limited the car, by time.
    """
    for stands, run in groupby(motion, key=lambda sample: abs(sample[1]) < VEHICLE_STANDS):
        for t_from, t_to in _without_gaps([t for t, _ in run] if stands else ()):
            if t_to - t_from >= SHORTEST_STOP_S:
                yield Standstill(tuple(_causes(t_from, t_to, said)))


def _without_gaps(stamps: Sequence[float]) -> Iterator[tuple[float, float]]:
    """From which stamp (s) to which there are others all along."""
    gaps = [k for k in range(1, len(stamps)) if stamps[k] - stamps[k - 1] > LONGEST_GAP_S]
    yield from ((stamps[first], stamps[behind - 1]) for first, behind in pairwise((0, *gaps, len(stamps))) if stamps)


def longest_unexplained_s(found: Iterable[Standstill]) -> float:
    """The longest time the car stood without a reason, s."""
    return max((stop.unexplained_s for stop in found), default=0.0)


def _causes(t_from: float, t_to: float, said: Sequence[LimitChange]) -> Iterator[StandstillCause]:
    """What was said from one stamp to another, equal codes as one in the words that held longest."""
    begin, end = (bisect_right(said, t, key=lambda each: each.t) for t in (t_from, t_to))
    first = said[begin - 1]._replace(t=t_from) if begin else LimitChange(t_from, "", "")
    run = _CauseRun(t_from, first)
    for change in said[begin:end]:
        if (over := run.go_on(change)) is not None:
            yield over
    yield run.until(t_to)


@dataclass
class _CauseRun:
    """Changes of one code from a stamp (s) on, the last of which still holds; microseconds by words."""

    t_from: float
    last: LimitChange
    held: Counter[str] = field(default_factory=Counter)

    def go_on(self, change: LimitChange) -> StandstillCause | None:
        """The cause that is over, where the code is another one now."""
        over = None if change.code == self.last.code else self.until(change.t)
        if over is None:
            self.held[self.last.words] += round(1e6 * (change.t - self.last.t))
        else:
            self.t_from, self.held = change.t, Counter()
        self.last = change
        return over

    def until(self, t: float) -> StandstillCause:
        """As one cause, in the words that held longest up to a stamp (s)."""
        held = self.held.copy()
        held[self.last.words] += round(1e6 * (t - self.last.t))
        return StandstillCause(self.t_from, t, self.last.code, held.most_common(1)[0][0])


@dataclass
class _Tally:
    """How long (microseconds) each code held, all its times together, and its last cause."""

    held: Counter[str] = field(default_factory=Counter)
    last: dict[str, StandstillCause] = field(default_factory=dict)

    def add(self, cause: StandstillCause) -> None:
        self.held[cause.code] += round(1e6 * (cause.t_to - cause.t_from)) if cause.code not in NO_REASON else 0
        self.last[cause.code] = cause

    @property
    def longest(self) -> StandstillCause:
        return self.last[self.held.most_common(1)[0][0]]


class StandstillWatch:
    """The stops of a drive that goes on, summed up; none costs more for being long."""

    def __init__(self) -> None:
        self.over: list[StandstillCause] = []
        """Those that have ended."""
        self._said: deque[LimitChange] = deque()
        self._last = LimitChange(0.0, "", "")
        self._stand: _Stand | None = None

    def say(self, change: LimitChange) -> None:
        """What limits the car now."""
        self._said.append(change)

    def move(self, t: float, v: float) -> None:
        """How fast (m/s) the car is at a stamp (s)."""
        stands = abs(v) < VEHICLE_STANDS
        if self._stand is not None and not (stands and t - self._stand.t_to <= LONGEST_GAP_S):
            self.over += [self.now] if self.now is not None else []
            self._stand = None
        if not stands:
            self._listen(t)
        elif self._stand is None:
            self._stand = _Stand(t, t, _CauseRun(t, self._last._replace(t=t)))
        else:
            self._listen(self._stand.t_to)
            self._stand.t_to = t

    @property
    def now(self) -> StandstillCause | None:
        """The stop that goes on, if it is one already."""
        stand = self._stand
        if stand is None or stand.t_to - stand.t_from < SHORTEST_STOP_S:
            return None
        self._listen(stand.t_to)
        return stand.summary

    def _listen(self, t: float) -> None:
        """To what was said up to a stamp (s): what is said later may come before the car has moved."""
        while self._said and self._said[0].t <= t:
            self._last = self._said.popleft()
            if self._stand is not None:
                self._stand.hear(self._last)


@dataclass
class _Stand:
    """One from a stamp to another (s): the causes that are over, and the one that holds."""

    t_from: float
    t_to: float
    run: _CauseRun
    tally: _Tally = field(default_factory=_Tally)

    def hear(self, change: LimitChange) -> None:
        change = change._replace(t=max(change.t, self.run.last.t))
        if change.t <= self.t_from:
            self.run = _CauseRun(self.t_from, change)
        elif (over := self.run.go_on(change)) is not None:
            self.tally.add(over)

    @property
    def summary(self) -> StandstillCause:
        tally = _Tally(self.tally.held.copy(), self.tally.last.copy())
        tally.add(self.run.until(self.t_to))
        return tally.longest._replace(t_from=self.t_from, t_to=self.t_to)
