"""How long a behaviour lasts, as far as its text says it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from tuling_fsm.sim.scenario.conditions import AllOf, AnyOf, Condition, Elapsed
from tuling_fsm.sim.scenario.model import Action, Assign, Emit, Node, OneOf, Parallel, Serial, Wait


class TimeSpan(NamedTuple):
    """A time of which only the bounds are known, s."""

    shortest: float
    longest: float

    @property
    def is_known(self) -> bool:
        """Whether both bounds are the same."""
        return self.shortest == self.longest

    def after(self, other: TimeSpan) -> TimeSpan:
        """What is left of it after another one."""
        return TimeSpan(max(self.shortest - other.longest, 0.0), max(self.longest - other.shortest, 0.0))


AT_ONCE = TimeSpan(0.0, 0.0)
OPEN = TimeSpan(0.0, math.inf)


def exactly(seconds: float) -> TimeSpan:
    """A time that is known, s."""
    return TimeSpan(seconds, seconds)


def time_span(node: Node) -> TimeSpan:
    """How long a node lasts from its beginning on."""
    match node:
        case Emit() | Assign():
            return AT_ONCE
        case Action(until=until):
            return AT_ONCE if until is None else _until(until)
        case Wait(awaited):
            return _until(awaited)
        case Serial(members, until):
            spans = [time_span(member) for member in members]
            lasts = TimeSpan(math.fsum(each.shortest for each in spans), math.fsum(each.longest for each in spans))
        case Parallel(members, until):
            lasts = _last(map(time_span, members))
        case OneOf(members, until):
            spans = [time_span(member) for member in members]
            lasts = TimeSpan(min(span.shortest for span in spans), max(span.longest for span in spans))
        case _:
            return OPEN
    return lasts if until is None else _first((lasts, _until(until)))


def _until(condition: Condition) -> TimeSpan:
    """From when it is first looked at until it holds."""
    match condition:
        case Elapsed(seconds):
            return exactly(seconds)
        case AnyOf(conditions):
            return _first(map(_until, conditions))
        case AllOf(conditions):
            return _last(map(_until, conditions))
        case _:
            return OPEN


def _first(spans: Iterable[TimeSpan]) -> TimeSpan:
    """Until the first of several is over."""
    shortest, longest = zip(*spans, strict=True)
    return TimeSpan(min(shortest), min(longest))


def _last(spans: Iterable[TimeSpan]) -> TimeSpan:
    """Until all of several are over."""
    shortest, longest = zip(AT_ONCE, *spans, strict=True)
    return TimeSpan(max(shortest), max(longest))
