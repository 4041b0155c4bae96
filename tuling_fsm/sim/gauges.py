"""What nuPlan's closed-loop score measures beside events: speeding, driving against the traffic, time to collision."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.bodies import center_ahead, shifted
from tuling_fsm.sim.collisions import touching

LEAST_TTC_S = 0.95
TTC_STEPS_S = (0.3, 0.6, LEAST_TTC_S)
"""Bodies are compared after these times; they are long enough not to jump over one another between two."""
MOVING = 0.1


@dataclass(frozen=True)
class Measures:
    """Of a run so far: mean speed above the limit (m/s, over all of the time), most metres in a second against the
    traffic, as fast as it moved there, and whether a collision was ever nearer than `LEAST_TTC_S`.
    """

    overspeed: float = 0.0
    against_m: float = 0.0
    near_miss: bool = False


class Gauges:
    """Adds up frame by frame."""

    def __init__(self, vehicle: Vehicle) -> None:
        self._vehicle = vehicle
        self._time = self._above = self._against = 0.0
        self._near_miss = False

    @property
    def measures(self) -> Measures:
        """What there is to say so far."""
        return Measures(self._above / max(self._time, 1e-9), self._against, self._near_miss)

    def note_speed(self, dt: float, above: float) -> None:
        """A frame of `dt` s at so much (m/s) above the limit, negative below it."""
        self._time += dt
        self._above += max(above, 0.0) * dt

    def note_against(self, v: float) -> None:
        """The car moves at `v` (m/s) against the traffic of its lane."""
        self._against = max(self._against, abs(v))

    def note_others(self, pose: Pose, z: float, v: float, boxes: FloatArray) -> None:
        """Look for who would be hit soon if all went on straight at their speeds.

        Only bodies ahead of the bumper that leads count: who comes from behind has to mind the car.

        Args:
            pose: the car's rear axle.
            z: its level, m.
            v: its speed, m/s, negative in reverse.
            boxes: of the others (N, 7): x, y, z, heading, length, width, speed.
        """
        if self._near_miss or abs(v) < MOVING or len(boxes) == 0:
            return
        vehicle = self._vehicle
        c, s = elementary.cos(pose.heading), elementary.sin(pose.heading)
        way = math.copysign(1.0, v)
        bumper = vehicle.front if v > 0.0 else vehicle.rear_overhang
        along = way * (c * (boxes[:, 0] - pose.x) + s * (boxes[:, 1] - pose.y))
        reach = bumper + LEAST_TTC_S * (abs(v) + np.abs(boxes[:, 6])) + boxes[:, 4]
        near = boxes[(along > bumper) & (along < reach)]
        if len(near) == 0:
            return
        centre = shifted(pose, center_ahead(vehicle))
        for seconds in TTC_STEPS_S:
            moved = near.copy()
            moved[:, 0] += near[:, 6] * seconds * elementwise.cos(near[:, 3])
            moved[:, 1] += near[:, 6] * seconds * elementwise.sin(near[:, 3])
            x, y, _ = shifted(centre, v * seconds)
            if len(touching(x, y, z, pose.heading, vehicle.length, vehicle.width, moved)):
                self._near_miss = True
                return
