"""The Intelligent Driver Model (Treiber, Hennecke and Helbing, Phys. Rev. E 62, 2000) over arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.core.vehicle import Vehicle

TOUCHES_M = 0.1
"""Nearer than this is braked for with all that there is."""
SETTLE_S = 0.1
"""A speed that is too high is corrected within this time."""
SLOWEST = 0.1
"""Wanted speeds below this are not divided by, m/s."""


@dataclass(frozen=True)
class IdmModel:
    """The model's numbers: accelerations (m/s^2, > 0), time headway (s), gap at standstill (m)."""

    max_accel: float
    comfort_decel: float
    max_decel: float
    headway: float
    standing_gap: float

    @classmethod
    def of(cls, vehicle: Vehicle, headway: float, standing_gap: float) -> IdmModel:
        """With the accelerations of a car."""
        return cls(vehicle.max_accel, vehicle.comfort_decel, vehicle.emergency_decel, headway, standing_gap)

    def free(self, v: FloatArray, wanted: FloatArray) -> FloatArray:
        """Acceleration (m/s^2) on an empty road at speeds towards wanted ones (m/s), broadcast."""
        share = v / np.maximum(wanted, SLOWEST)
        slower = np.maximum((wanted - v) / SETTLE_S, -self.comfort_decel)
        return np.where(v > wanted, slower, self.max_accel * (1.0 - np.square(np.square(share))))

    def behind(self, v: FloatArray, gap: FloatArray, lead_v: FloatArray) -> FloatArray:
        """Acceleration (m/s^2) that leaders at gaps (m, inf for none) with speeds leave to followers, broadcast."""
        wish = v * self.headway + v * (v - lead_v) / (2.0 * math.sqrt(self.max_accel * self.comfort_decel))
        ratio = (self.standing_gap + np.maximum(wish, 0.0)) / np.maximum(gap, TOUCHES_M)
        a = np.maximum(self.max_accel * (1.0 - np.square(ratio)), -self.max_decel)
        return np.where(gap < TOUCHES_M, -self.max_decel, a)
