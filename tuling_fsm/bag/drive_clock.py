"""Which stamps are those of one drive: where a clock is set, or one stamp is wrong, another one begins (DWELL-5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    """From which stamp (s) to which a drive goes on."""

    begin: float = -math.inf
    end: float = math.inf

    def holds(self, stamp: float) -> bool:
        """Whether a stamp (s) can be of this drive."""
        return self.begin <= stamp <= self.end


def drive_span(stamps: Iterable[float]) -> DriveSpan:
    """That of the drive that most of some stamps (s) are of; any time where there are none."""
    ordered = sorted(stamps)
    if not ordered:
        return DriveSpan()
    jumps = [k for k in range(1, len(ordered)) if ordered[k] - ordered[k - 1] > LONGEST_SILENCE_S]
    first, behind = max(pairwise((0, *jumps, len(ordered))), key=lambda piece: piece[1] - piece[0])
    return DriveSpan(ordered[first], ordered[behind - 1])
