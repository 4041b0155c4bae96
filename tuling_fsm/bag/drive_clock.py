"""Which stamps are those of one drive: where a clock is set, or one stamp is wrong, another one begins (DWELL-5)."""

from __future__ import annotations

LONGEST_SILENCE_S = 60.0
"""What is stamped farther from the rest of a drive is of another one, s. Less can be a recorder or a reader that had no
time, or a car that is told nothing in a tunnel.
"""
OVERTAKEN_S = 1.0
"""By how much the stamps of one topic may go back, s: messages overtake one another, a clock is set right."""


class DriveClock:
    """Follows the stamps of a drive that goes on, and tells where another one begins.

    Stamps go back only against their own topic: those of several come in any order from queues of several lengths.
    """

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def begins_anew(self, topic: str, stamp: float) -> bool:
        """Whether a stamp (s) of a topic is the first one of another drive."""
        newest = max(self._last.values(), default=stamp)
        back = stamp < self._last.get(topic, stamp) - OVERTAKEN_S
        anew = back or abs(stamp - newest) > LONGEST_SILENCE_S
        if anew:
            self._last.clear()
        self._last[topic] = stamp
        return anew
