"""The car's shape and limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, to_global
from tuling_fsm.core.parameters import param
from tuling_fsm.core.rectangles import Box


@dataclass(frozen=True)
class Vehicle:
    """A single-track car; the reference point is the centre of the rear axle. Defaults are the car of TPCAP
    ([li2022][]).
    """

    wheelbase: float = param(2.8, "m", 0.5, 8.0, "distance between the axles")
    front_overhang: float = param(0.96, "m", 0.0, 3.0, "front axle to front bumper")
    rear_overhang: float = param(0.929, "m", 0.0, 3.0, "rear axle to rear bumper")
    width: float = param(1.942, "m", 0.3, 3.0, "width over everything that may touch")
    max_steer: float = param(0.75, "rad", 0.1, 1.2, "steering angle at the front wheel")
    max_steer_rate: float = param(0.5, "rad/s", 0.05, 3.0, "rate of the steering angle")
    max_speed: float = param(8.33, "m/s", 0.5, 40.0, "forward speed that the car may plan", live=True)
    max_reverse_speed: float = param(1.5, "m/s", 0.2, 5.0, "reverse speed that the car may plan", live=True)
    max_accel: float = param(1.5, "m/s^2", 0.2, 5.0, "comfortable acceleration", live=True)
    comfort_decel: float = param(1.8, "m/s^2", 0.3, 6.0, "comfortable braking, at most `emergency_decel`", live=True)
    emergency_decel: float = param(6.0, "m/s^2", 1.0, 10.0, "braking of an emergency stop", clause="EST-1", live=True)
    max_jerk: float = param(2.5, "m/s^3", 0.3, 20.0, "comfortable change of acceleration", live=True)
    max_lateral_accel: float = param(2.0, "m/s^2", 0.3, 6.0, "lateral acceleration in bends", live=True)

    @property
    def length(self) -> float:
        """Bumper to bumper, m."""
        return self.front_overhang + self.wheelbase + self.rear_overhang

    @property
    def front(self) -> float:
        """Rear axle to front bumper, m."""
        return self.wheelbase + self.front_overhang

    @property
    def max_curvature(self) -> float:
        """Curvature of the rear axle's path at full steering, 1/m."""
        return elementary.tan(self.max_steer) / self.wheelbase

    def box(self, margin: float = 0.0) -> Box:
        """The body grown by a margin (m) on every side, in its own frame."""
        half = self.width / 2.0 + margin
        return -self.rear_overhang - margin, self.front + margin, -half, half

    def footprint(self, pose: Pose) -> FloatArray:
        """The four corners (4, 2), counter-clockwise from front left, in the frame of the pose."""
        half = self.width / 2.0
        corners = np.array(
            [(self.front, half), (-self.rear_overhang, half), (-self.rear_overhang, -half), (self.front, -half)]
        )
        return to_global(corners, pose)


def center_ahead(vehicle: Vehicle) -> float:
    """From a car's rear axle to the middle of its body, m."""
    return 0.5 * (vehicle.front - vehicle.rear_overhang)
