"""The car of the stand-in for CARLA, with pedals, and its other actors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tuling_fsm.core.geometry import Pose

WHEELBASE, REAR, MAX_STEER = 2.8, -1.4155, 0.75
FULL_THROTTLE, FULL_BRAKE = 4.0, 9.0


@dataclass
class Thing:
    """An actor: its type, role name, where its origin is."""

    type: str
    name: str
    pose: Pose
    parent: int = 0


@dataclass
class Car:
    """A single track; `pose` is that of the rear axle."""

    pose: Pose
    v: float = 0.0
    yaw_rate: float = 0.0

    @property
    def origin(self) -> Pose:
        x, y, heading = self.pose
        return Pose(x - REAR * math.cos(heading), y - REAR * math.sin(heading), heading)

    def put(self, origin: Pose) -> None:
        x, y, heading = origin
        self.pose, self.v = Pose(x + REAR * math.cos(heading), y + REAR * math.sin(heading), heading), 0.0

    def drive(self, command: Any, dt: float) -> None:
        gear = -1.0 if command.reverse else 1.0
        pull = gear * FULL_THROTTLE * command.throttle - 0.04 * self.v
        held = (FULL_BRAKE * command.brake + 0.1) * dt
        v = self.v + pull * dt
        v = math.copysign(max(abs(v) - held, 0.0), v)
        mean = 0.5 * (self.v + v)
        self.yaw_rate = mean * math.tan(-command.steer * MAX_STEER) / WHEELBASE
        heading = self.pose.heading + self.yaw_rate * dt
        middle = self.pose.heading + 0.5 * self.yaw_rate * dt
        x, y = self.pose.x + mean * dt * math.cos(middle), self.pose.y + mean * dt * math.sin(middle)
        self.pose, self.v = Pose(x, y, heading), v
