"""How the node itself is: tick times, overruns, ages of the inputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

import numpy as np

from tuling_fsm.ros.driver import Ticked
from tuling_fsm.wire.diagnostics import Level, Status, pack_diagnostics

PERIOD_S = 0.05
"""A tick that takes longer than the time between two is an overrun."""
_KEPT = 1000
SILENT_S = 0.5
"""Older odometry is a warning."""


class Health:
    """Counts since activation; times of the last thousand ticks."""

    def __init__(self) -> None:
        self.ticks = 0
        self.overruns = 0
        self.late = 0
        self.failures = 0
        self.flaps = 0
        self._times: deque[float] = deque(maxlen=_KEPT)
        self._told: dict[str, int] = {}

    def ticked(self, ticked: Ticked) -> None:
        """Count one tick."""
        self.ticks += 1
        self.overruns += ticked.elapsed_s > PERIOD_S
        self.late += ticked.late
        self.failures += ticked.tick is None
        self.flaps = self.flaps if ticked.tick is None else ticked.tick.decision.flaps
        self._times.append(ticked.elapsed_s)

    def message(self, now_ns: int, received: Mapping[str, int], ticked_ns: int | None = None, rivals: int = 0) -> bytes:
        """The message for `/diagnostics`: a warning where something has gone wrong since the last one.

        Args:
            now_ns: stamp of the message.
            received: stamps (ns) of the latest input messages by topic.
            ticked_ns: stamp of the last tick; ticks go on where all inputs are silent.
            rivals: how many others send trajectories on the same topic.
        """
        times = np.array(self._times or [0.0]) * 1e3
        newest = max(ticked_ns or 0, *received.values(), 0)
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
        faults = self._faults(ages.get("odometry"))
        faults += [f"{rivals} more on the topic trajectory"] * bool(rivals)
        said = "; ".join(faults) or f"{self.ticks} ticks"
        return pack_diagnostics(now_ns, (Status("planner", said, values, Level.WARN if faults else Level.OK),))

    def _faults(self, odometry_age: float | None) -> list[str]:
        """What is wrong now, or went wrong since this was asked last."""
        counts = {"failures": self.failures, "late plans": self.late, "flaps": self.flaps}
        faults = [f"{new} {name}" for name, count in counts.items() if (new := count - self._told.get(name, 0)) > 0]
        self._told = counts
        if odometry_age is None:
            return ["no odometry yet", *faults]
        return [f"no odometry for {odometry_age:.1f} s", *faults] if odometry_age > SILENT_S else faults
