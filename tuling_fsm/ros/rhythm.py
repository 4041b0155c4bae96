"""When the next odometry is to be expected, and what time there is before it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from itertools import pairwise

_KEPT = 9
"""Arrivals that the rhythm is taken from: the shortest time between two of them counts, for the next may come early."""
_EARLY_S = 0.003
"""What is done before the next arrival is done this long before it, for arrivals jitter."""
_IDLE_S = 0.004
"""After a shorter rest nothing has been forgotten yet."""
_SHARE = 0.2
"""What takes a larger share of the time between two arrivals is not done twice."""


class Rhythm:
    """Of messages that arrive.

    Args:
        clock: seconds of wall time.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._arrivals: deque[float] = deque(maxlen=_KEPT)

    def heard(self) -> None:
        """One has arrived."""
        self._arrivals.append(self._clock())

    def rest(self, takes_s: float) -> float | None:
        """How long to rest (s) before what takes `takes_s` (s), so that it ends shortly before the next arrival.

        None where that is not worth while: the rhythm is not known yet, or there is no such time.
        """
        if len(self._arrivals) < _KEPT:
            return None
        step = min(later - earlier for earlier, later in pairwise(self._arrivals))
        rest = self._arrivals[-1] + step - _EARLY_S - takes_s - self._clock()
        return rest if rest >= _IDLE_S and takes_s <= _SHARE * step else None
