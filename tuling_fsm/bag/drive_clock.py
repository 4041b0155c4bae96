"""Which stamps are those of one drive: where a clock is set, or one stamp is wrong, another one begins (DWELL-5)."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

LONGEST_SILENCE_S = 600.0
"""What is stamped farther from the rest of a drive is of another one, s. Less can be a recorder that paused, a planner
that was deactivated, or a car that is told nothing in a tunnel.
"""
OVERTAKEN_S = 1.0
"""By how much the stamps of one topic may go back, s: messages overtake one another, a clock is set right."""


class DriveClock:
    """Follows the stamps of a drive that goes on, and tells where another one begins.

    A topic's stamps jump against its own: those of several come in any order from queues of several lengths, and may be
    those of several clocks. One that was silent goes on with the rest.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._newest: float | None = None
        """Of the topics that have the clock of the first one."""

    def begins_anew(self, topic: str, stamp: float) -> bool:
        """Whether a stamp (s) of a topic is the first one of another drive."""
        before = self._last.get(topic, stamp)
        with_the_rest = self._newest is None or abs(stamp - self._newest) <= LONGEST_SILENCE_S
        ahead = stamp > before + LONGEST_SILENCE_S and not with_the_rest
        anew = ahead or stamp < before - OVERTAKEN_S
        if anew:
            self._last.clear()
        if anew or self._newest is None:
            self._newest = stamp
        elif with_the_rest:
            self._newest = max(self._newest, stamp)
        self._last[topic] = stamp
        return anew


class DriveSpan(NamedTuple):
    """From which stamp (s) to which a drive goes on, and from which number of a bag's stamps up to which: a simulator
    that is reset goes through the same stamps again.
    """

    begin: float = -math.inf
    end: float = math.inf
    first: int = 0
    behind: float = math.inf

    def holds(self, stamp: float, number: int) -> bool:
        """Whether a bag's stamp (s) of this number can be of this drive."""
        return self.begin <= stamp <= self.end and self.first <= number < self.behind


ANY_TIME = DriveSpan()
"""What holds of a bag with one drive."""


def drive_span(stamps: Iterable[tuple[str, float]]) -> DriveSpan:
    """That of the drive that most of a bag's stamps are of; any time where there are none.

    Stamps with a long silence on both sides interrupt no drive. Where those of a topic go back another one begins.

    Args:
        stamps: topic and stamp (s), in the order of the bag.
    """
    listed = list(stamps)
    ordered = sorted(stamp for _, stamp in listed)
    parts = [b for a, b in pairwise((-math.inf, *ordered)) if b - a > LONGEST_SILENCE_S]
    clocks, drives, longest = defaultdict[int, DriveClock](DriveClock), dict[int, _Drive](), _Drive()
    for number, (topic, stamp) in enumerate(listed):
        part = bisect_right(parts, stamp)
        if clocks[part].begins_anew(topic, stamp) or part not in drives:
            drives[part] = _Drive(DriveSpan(stamp, stamp, number))
        drives[part].add(stamp, number)
        longest = max(longest, drives[part], key=lambda drive: drive.count)
    return longest.span


@dataclass
class _Drive:
    """One as far as it has been read: its span, and how many stamps there are of it."""

    span: DriveSpan = ANY_TIME
    count: int = 0

    def add(self, stamp: float, number: int) -> None:
        """A stamp (s) of it."""
        begin, end, first, _ = self.span
        self.span = DriveSpan(min(begin, stamp), max(end, stamp), first, number + 1)
        self.count += 1
