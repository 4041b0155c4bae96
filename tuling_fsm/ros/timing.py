"""The times of the node itself: its clock, when odometry is to be expected, how long ticks take, how old inputs are."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, pack_diagnostics

_ARRIVALS = 9
"""Arrivals that the rate is taken from: the shortest time between two of them counts, for the next may come early."""
_EARLY_S = 0.003
"""What is done before the next arrival is done this long before it, for arrivals jitter."""
_IDLE_S = 0.004
"""After a shorter rest nothing has been forgotten yet."""
_SHARE = 0.2
"""What takes a larger share of the time between two arrivals is not done twice."""
PERIOD_S = 0.05
"""A tick that takes longer than the time between two is an overrun."""
_KEPT = 1000
STANDS_S = 1.0
"""A node's clock that does not go on for so long (s of wall time) stands; a slow simulation moves it more often."""
SILENT_S = 0.5
"""No odometry for longer is a warning."""


class MessageRate:
    """Of messages that arrive.

    Args:
        clock: seconds of wall time.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._arrivals: deque[float] = deque(maxlen=_ARRIVALS)

    def heard(self) -> None:
        """One has arrived."""
        self._arrivals.append(self._clock())

    def rest(self, takes_s: float) -> float | None:
        """How long to rest (s) before what takes `takes_s` (s), so that it ends shortly before the next arrival.

        None where that is not worth while: the rate is not known yet, or there is no such time.
        """
        if len(self._arrivals) < _ARRIVALS:
            return None
        step = min(later - earlier for earlier, later in pairwise(self._arrivals))
        rest = self._arrivals[-1] + step - _EARLY_S - takes_s - self._clock()
        return rest if rest >= _IDLE_S and takes_s <= _SHARE * step else None


class Health:
    """Counts since activation; times of the last thousand ticks.

    Args:
        name: of the node, with its namespace.
    """

    def __init__(self, name: str = "planner") -> None:
        self._name = name
        self.ticks = 0
        self.overruns = 0
        self.late = 0
        self.failures = 0
        self.flaps = 0
        self._times: deque[float] = deque(maxlen=_KEPT)
        self._told: dict[str, int] = {}

    def ticked(self, elapsed_s: float, late: bool, flaps: int | None) -> None:
        """Count one tick.

        Args:
            elapsed_s: until there was a plan.
            late: whether that was too long.
            flaps: of the planner so far, None where it failed.
        """
        self.ticks += 1
        self.overruns += elapsed_s > PERIOD_S
        self.late += late
        self.failures += flaps is None
        self.flaps = self.flaps if flaps is None else flaps
        self._times.append(elapsed_s)

    def message(
        self,
        now_ns: int,
        received: Mapping[str, int],
        sent_ns: int | None = None,
        other_publishers: int = 0,
        quiet_s: float | None = 0.0,
    ) -> bytes:
        """The message for `/diagnostics`: a warning where something has gone wrong since the last one.

        Args:
            now_ns: stamp of the message.
            received: stamps (ns) of the latest input messages by topic.
            sent_ns: stamp of the last trajectory; these go on where all inputs are silent.
            other_publishers: how many other nodes send trajectories on the same topic.
            quiet_s: by the node's own clock, since odometry came; None where none has. Stamps do not tell: those of
                another topic may be ahead.
        """
        times = np.array(self._times or [0.0]) * 1e3
        newest = max(sent_ns or 0, *received.values(), 0)
        ages = {topic: (newest - ns) / 1e9 for topic, ns in sorted(received.items())}
        values = (
            ("ticks", str(self.ticks)),
            ("tick_ms p50", f"{np.percentile(times, 50):.2f}"),
            ("tick_ms p99", f"{np.percentile(times, 99):.2f}"),
            ("tick_ms max", f"{times.max():.2f}"),
            ("overruns", str(self.overruns)),
            ("late plans", str(self.late)),
            ("failures", str(self.failures)),
            ("flaps", str(self.flaps)),
            *((f"{topic} behind the newest input, s", f"{age:.3f}") for topic, age in ages.items()),
        )
        faults = self._faults(quiet_s)
        faults += [f"{other_publishers} more on the topic trajectory"] * bool(other_publishers)
        said = "; ".join(faults) or f"{self.ticks} ticks"
        level = DiagnosticLevel.WARN if faults else DiagnosticLevel.OK
        return pack_diagnostics(now_ns, (DiagnosticStatus(self._name, said, values, level),), self._name)

    def _faults(self, quiet_s: float | None) -> list[str]:
        """What is wrong now, or went wrong since this was asked last."""
        counts = {"failures": self.failures, "late plans": self.late, "flaps": self.flaps}
        faults = [f"{new} {name}" for name, count in counts.items() if (new := count - self._told.get(name, 0)) > 0]
        self._told = counts
        if quiet_s is None:
            return ["no odometry yet", *faults]
        return [f"no odometry for {quiet_s:.1f} s", *faults] if quiet_s > SILENT_S else faults


class MonotonicClock:
    """A node's clock that goes on from where it was when it is set back or stands: so does silence (SAF-1).

    Args:
        now_ns: the node's clock.
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._read_ns = self._behind_ns = 0
        """The node's clock when it was read last, and by how much it has been set back and has stood in all."""
        self._watched_ns: int | None = None
        """The node's clock when it was watched last."""
        self._stood_from = 0.0
        """Wall time from which on it has stood, as far as that is not counted yet."""
        self.stands = False

    def ns(self) -> int:
        """Its time, which never goes back."""
        now = self._now_ns()
        self._behind_ns += max(self._read_ns - now, 0)
        self._read_ns = now
        return now + self._behind_ns

    def begins_to_stand(self, now_ns: int, wall: float, busy: bool) -> bool:
        """Called every now and then: where the node's clock stands wall time goes on in its place, as when /clock ends
        together with odometry.

        Args:
            now_ns: the node's clock.
            wall: seconds of wall time.
            busy: whether the node was: a clock whose messages wait meanwhile does not stand.
        """
        moved = now_ns != self._watched_ns or (busy and not self.stands)
        self._watched_ns = now_ns
        if not moved and not self.stands and wall - self._stood_from < STANDS_S:
            return False
        begins = not (moved or self.stands)
        self.stands = not moved
        self._behind_ns += 0 if moved else nanoseconds(wall - self._stood_from)
        self._stood_from = wall
        return begins
