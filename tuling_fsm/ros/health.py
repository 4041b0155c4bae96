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


class Health:
    """Counts since activation; times of the last thousand ticks."""

    def __init__(self) -> None:
        self.ticks = 0
        self.overruns = 0
        self.late = 0
        self.failures = 0
        self.flaps = 0
        self._times: deque[float] = deque(maxlen=_KEPT)

    def ticked(self, ticked: Ticked) -> None:
        """Count one tick."""
        self.ticks += 1
        self.overruns += ticked.elapsed_s > PERIOD_S
        self.late += ticked.late
        self.failures += ticked.tick is None
        self.flaps = self.flaps if ticked.tick is None else ticked.tick.decision.flaps
        self._times.append(ticked.elapsed_s)

    def message(self, now_ns: int, received: Mapping[str, int]) -> bytes:
        """The message for `/diagnostics`.

        Args:
            now_ns: stamp of the message.
            received: stamps (ns) of the latest input messages by topic.
        """
        times = np.array(self._times or [0.0]) * 1e3
        newest = max(received.values(), default=0)
        ages = tuple(
            (f"{topic} behind the newest input, s", f"{(newest - ns) / 1e9:.3f}")
            for topic, ns in sorted(received.items())
        )
        bad = self.failures > 0 or "odometry" not in received
        values = (
            ("ticks", str(self.ticks)),
            ("tick_ms p50", f"{np.percentile(times, 50):.2f}"),
            ("tick_ms p99", f"{np.percentile(times, 99):.2f}"),
            ("tick_ms max", f"{times.max():.2f}"),
            ("overruns", str(self.overruns)),
            ("late plans", str(self.late)),
            ("failures", str(self.failures)),
            ("flaps", str(self.flaps)),
            *ages,
        )
        said = "no odometry yet" if "odometry" not in received else f"{self.ticks} ticks, {self.failures} failures"
        return pack_diagnostics(now_ns, (Status("planner", said, values, Level.WARN if bad else Level.OK),))
