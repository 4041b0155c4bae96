"""Comfort: the limits of nuPlan's metric of that name (ego_is_comfortable; [caesar2021][]).

nuPlan smooths with Savitzky-Golay filters; what is differentiated here (jerk, yaw acceleration) is likewise the slope
of a least-squares line over the same 1.5 s.
"""

from __future__ import annotations

import math
from collections import deque

from tuling_fsm.core import elementary
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame

WINDOW_S = 1.5
"""Fifteen samples at 10 Hz."""


class Comfort:
    """What a passenger feels; noted without blame."""

    def __init__(self, parameters: RefereeParameters) -> None:
        self._p = parameters
        self._felt: deque[tuple[float, float, float]] = deque()
        """Acceleration along, its magnitude (m/s^2), yaw rate (rad/s)."""

    def watch(self, frame: RefereeFrame, log: InfractionLog) -> None:
        """Look at one frame."""
        ego, p = frame.ego, self._p
        lateral = ego.v * ego.yaw_rate
        along = math.copysign(1.0, ego.v) * ego.a
        self._felt.append((ego.a, elementary.hypot(ego.a, lateral), ego.yaw_rate))
        jerk, magnitude, yaw_accel = self._slopes(frame.dt)
        felt = (
            ("lateral acceleration", abs(lateral), p.lateral_accel, "m/s^2"),
            ("acceleration", along, p.accel, "m/s^2"),
            ("braking", -along, p.decel, "m/s^2"),
            ("jerk", abs(jerk), p.jerk, "m/s^3"),
            ("jerk magnitude", abs(magnitude), p.jerk_magnitude, "m/s^3"),
            ("yaw rate", abs(ego.yaw_rate), p.yaw_rate, "rad/s"),
            ("yaw acceleration", abs(yaw_accel), p.yaw_accel, "rad/s^2"),
        )
        for name, value, limit, unit in felt:
            if value > limit:
                log.note(frame.stamp, name, "comfort", f"{name} {value:.1f} {unit}", False)

    def _slopes(self, dt: float) -> tuple[float, float, float]:
        """Of all three, per second, once the window is full."""
        count = max(round(WINDOW_S / dt), 2)
        while len(self._felt) > count:
            self._felt.popleft()
        if len(self._felt) < count:
            return 0.0, 0.0, 0.0
        weights = [k - 0.5 * (count - 1) for k in range(count)]
        scale = math.fsum(weight * weight for weight in weights) * dt
        jerk, magnitude, yaw_accel = (
            math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / scale
            for values in zip(*self._felt, strict=True)
        )
        return jerk, magnitude, yaw_accel
