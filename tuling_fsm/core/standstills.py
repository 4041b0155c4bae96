"""Where the car stood, and why: read off its speed and what limited it (EXPL-1)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from tuling_fsm.core.request import Reason
from tuling_fsm.core.standing import VEHICLE_STANDS

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
        held: Counter[str] = Counter()
        for cause in self.causes:
            held[cause.code] += round(1e6 * (cause.t_to - cause.t_from)) if cause.code not in NO_REASON else 0
        code = held.most_common(1)[0][0]
        return next(cause for cause in reversed(self.causes) if cause.code == code)

    @property
    def unexplained_s(self) -> float:
        """The longest time without a reason."""
        runs = groupby(self.causes, key=lambda cause: not cause.code or cause.code in NO_REASON)
        lengths = (math.fsum(cause.t_to - cause.t_from for cause in run) for without, run in runs if without)
        return round(max(lengths, default=0.0), 3)


def stops(motion: Iterable[tuple[float, float]], said: Sequence[LimitChange]) -> Iterator[Standstill]:
    """Every stand of a second and longer.

    Args:
        motion: stamp (s) and speed (m/s), by time.
        said: what limited the car, by time.
    """
    for stands, run in groupby(motion, key=lambda sample: abs(sample[1]) < VEHICLE_STANDS):
        stamps = [t for t, _ in run]
        if stands and stamps[-1] - stamps[0] >= SHORTEST_STOP_S:
            yield Standstill(tuple(_causes(stamps[0], stamps[-1], said)))


def longest_unexplained_s(found: Iterable[Standstill]) -> float:
    """The longest time the car stood without a reason, s."""
    return max((stop.unexplained_s for stop in found), default=0.0)


def _causes(t_from: float, t_to: float, said: Sequence[LimitChange]) -> Iterator[StandstillCause]:
    """What was said from one stamp to another, equal codes as one in the words that held longest."""
    begin, end = (bisect_right(said, t, key=lambda each: each.t) for t in (t_from, t_to))
    first = said[begin - 1]._replace(t=t_from) if begin else LimitChange(t_from, "", "")
    within = [first, *said[begin:end]]
    spans = zip(within, [*(each.t for each in within[1:]), t_to], strict=True)
    for code, run in groupby(spans, key=lambda span: span[0].code):
        parts = list(run)
        held: Counter[str] = Counter()
        for change, until in parts:
            held[change.words] += round(1e6 * (until - change.t))
        yield StandstillCause(parts[0][0].t, parts[-1][1], code, held.most_common(1)[0][0])
