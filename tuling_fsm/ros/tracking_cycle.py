"""Follows the trajectory that came last, command by command, and stops the car where none comes. No ROS here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.parameters import group, param
from tuling_fsm.core.standing import STOPPED
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.ros.last_resort import braking
from tuling_fsm.sim.ego.tracker import TrackerGains, control, course, gains
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters
from tuling_fsm.world.inputs import Odometry

LONGEST_STEP_S = 0.2
"""After a longer gap in the odometry the commanded speed does not go on from where it was."""


@dataclass(frozen=True)
class TrackingParameters:
    """Of the node `tracker`."""

    stale_after: float = param(
        0.5, "s", 0.05, 5.0, "a trajectory that is older than the odometry by more is braked along", clause="SAF-1",
        live=True,
    )  # fmt: skip
    odometry_timeout: float = param(
        0.5, "s", 0.05, 5.0, "without odometry for so long, wall time, the car is told to stop", clause="SAF-1",
        live=True,
    )  # fmt: skip
    speed_band: float = param(
        1.0, "m/s", 0.05, 5.0, "the commanded speed is off the real one by no more: it does not wind up", live=True
    )
    vehicle: Vehicle = group(Vehicle)
    dynamics: DynamicsParameters = group(DynamicsParameters)
    tracker: TrackerParameters = group(TrackerParameters)


class AckermannCommand(NamedTuple):
    """What a simulated car is told: steering angle (rad, + left), speed (m/s, negative in reverse), acceleration along
    the heading (m/s^2), turn rate (rad/s, + left).
    """

    steer: float
    speed: float
    accel: float
    yaw_rate: float


class TrackingCycle:
    """One command for each odometry message.

    The commanded speed is what the wanted accelerations add up to: a car that does at once what it is told follows the
    plan exactly, and one that lags is led.

    Args:
        parameters: of the node; replaced by setting `parameters`.
    """

    def __init__(self, parameters: TrackingParameters) -> None:
        self.parameters = parameters
        self._plan: Trajectory | None = None
        self._brake: Trajectory | None = None
        """What is followed once the plan is stale."""
        self._steer = 0.0
        self._speed = 0.0
        self._stamp = -math.inf

    def warm_up(self) -> None:
        """Compile the tracker."""
        standing = Trajectory.standing(0.0, Pose(0.0, 0.0, 0.0))
        control(course(standing), 0.0, np.zeros(6), self._gains())

    def take(self, plan: Trajectory) -> None:
        """The latest trajectory; one that a later one has overtaken is not followed (SAF-3)."""
        if self._plan is None or not 0.0 < self._plan.stamp - plan.stamp <= self.parameters.stale_after:
            self._plan, self._brake = plan, None

    def command(self, odometry: Odometry) -> AckermannCommand:
        """Follow the trajectory, brake along it where it is stale, come to a stand without one."""
        plan = self.followed(odometry.stamp)
        dt, self._stamp = odometry.stamp - self._stamp, odometry.stamp
        if not 0.0 < dt <= LONGEST_STEP_S:
            dt, self._speed = 0.0, odometry.v
        if plan is None:
            return self._straight_down(odometry.v, dt)
        state = np.array((*odometry.pose, odometry.v, 0.0, self._steer))
        wanted = control(course(plan), odometry.stamp - plan.stamp, state, self._gains())
        self._steer = float(wanted.steer)
        if wanted.hold:
            return self.stand()
        return self._driven(float(wanted.gear), float(wanted.accel), odometry.v, dt)

    def stand(self) -> AckermannCommand:
        """Speed zero, the wheels as they are."""
        self._speed = 0.0
        return self._made(0.0)

    def followed(self, stamp: float) -> Trajectory | None:
        """The plan, or braking along it where it is too old; one of another time is none."""
        stale_after = self.parameters.stale_after
        if self._plan is None or stamp < self._plan.stamp - stale_after:
            return None
        if stamp <= self._plan.stamp + stale_after:
            return self._plan
        if self._brake is None or stamp < self._brake.stamp:
            self._brake = braking(self._plan, stamp, self.parameters.vehicle.comfort_decel)
        return self._brake

    def _straight_down(self, v: float, dt: float) -> AckermannCommand:
        """Brake without knowing where to."""
        gear = math.copysign(1.0, v)
        return self.stand() if abs(v) < STOPPED else self._driven(gear, -self.parameters.vehicle.comfort_decel, v, dt)

    def _driven(self, gear: float, accel: float, v: float, dt: float) -> AckermannCommand:
        """A step of `dt` s with an acceleration in the direction of `gear` for a car of speed `v`."""
        band = self.parameters.speed_band
        speed = min(max(gear * self._speed + accel * dt, gear * v - band), gear * v + band)
        self._speed = gear * max(speed, 0.0)
        return self._made(gear * accel)

    def _made(self, accel: float) -> AckermannCommand:
        turn = elementary.tan(self._steer) / self.parameters.vehicle.wheelbase
        return AckermannCommand(self._steer, self._speed, accel, self._speed * turn)

    def _gains(self) -> TrackerGains:
        own = self.parameters
        return gains(own.vehicle, own.dynamics, own.tracker)
