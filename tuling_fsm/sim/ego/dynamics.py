"""The simulated car: a kinematic single track whose steering and drive lag behind their commands."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, wrap_angle
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.sim.ego.tracker import ReferenceTrajectory, TrackerGains, control, course, gains
from tuling_fsm.sim.parameters import DynamicsParameters, TrackerParameters

UNPLANNED_DECEL = 2.0
"""Braking while no plan has come yet, m/s^2."""
PACE_TOLERANCE = 0.05
"""A speed that was asked for is reached when it is missed by less than this, m/s."""


class BodyLimits(NamedTuple):
    """What the body can do, see `DynamicsParameters` and `Vehicle`."""

    wheelbase: float
    max_steer: float
    max_steer_rate: float
    steer_lag: float
    drive_lag: float
    max_drive: float
    max_brake: float


@array_kernel
def _lag(value: float, target: float, h: float, lag: float) -> float:
    """One step of a first-order lag, exact for a constant target."""
    return target if lag <= 0.0 else value + (target - value) * (1.0 - elementary.exp(-h / lag))


@array_kernel
def move(state: FloatArray, steer: float, accel: float, gear: float, hold: bool, limits: BodyLimits, h: float) -> None:
    """One physics sub-step of `h` s in place; `state` = x, y, heading, v, a, steer; `accel` is in the direction of
    `gear`.
    """
    target = min(max(steer, -limits.max_steer), limits.max_steer)
    change = _lag(state[5], target, h, limits.steer_lag) - state[5]
    reach = limits.max_steer_rate * h
    new_steer = state[5] + min(max(change, -reach), reach)
    v = state[3]
    if hold:
        new_a, new_v = 0.0, 0.0
    else:
        wanted = min(max(accel, -limits.max_brake), limits.max_drive)
        new_a = gear * _lag(gear * state[4], wanted, h, limits.drive_lag)
        new_v = v + new_a * h
        if gear * v >= 0.0 and gear * new_v < 0.0:
            new_a, new_v = 0.0, 0.0
    mean_v = 0.5 * (v + new_v)
    yaw_rate = mean_v * elementary.tan(0.5 * (state[5] + new_steer)) / limits.wheelbase
    middle = state[2] + 0.5 * yaw_rate * h
    sine, cosine = elementary.sin_cos(middle)
    state[0] += mean_v * cosine * h
    state[1] += mean_v * sine * h
    state[2] = wrap_angle(state[2] + yaw_rate * h)
    state[3], state[4], state[5] = new_v, new_a, new_steer


class SpeedOverride(NamedTuple):
    """A speed (m/s, NaN: the plan's) that the scenario sets for the car, and the rate at which (m/s^2)."""

    target: float
    rate: float


AS_PLANNED = SpeedOverride(math.nan, 0.0)


@array_kernel
def _drive(
    state: FloatArray,
    plan: ReferenceTrajectory,
    t: float,
    k: TrackerGains,
    limits: BodyLimits,
    h: float,
    steps: int,
    pace: SpeedOverride,
) -> None:
    for step in range(steps):
        steer, accel, gear, hold = control(plan, t + step * h, state, k)
        if not math.isnan(pace.target):
            gear = math.copysign(1.0, state[3] if state[3] != 0.0 else pace.target)
            accel, hold = gear * min(max((pace.target - state[3]) / h, -pace.rate), pace.rate), False
        move(state, steer, accel, gear, hold, limits, h)


class EgoCar:
    """The car under test with its tracker. Poses are those of the rear axle."""

    def __init__(
        self, pose: Pose, speed: float, vehicle: Vehicle, dynamics: DynamicsParameters, tracker: TrackerParameters
    ) -> None:
        self._state = np.array((pose.x, pose.y, float(wrap_angle(pose.heading)), speed, 0.0, 0.0))
        self._gains = gains(vehicle, dynamics, tracker)
        self._limits = BodyLimits(
            vehicle.wheelbase, vehicle.max_steer, vehicle.max_steer_rate, dynamics.steer_lag, dynamics.drive_lag,
            dynamics.max_drive_accel, max(dynamics.max_brake_decel, vehicle.emergency_decel),
        )  # fmt: skip
        self._trajectory: Trajectory | None = None
        self._course: ReferenceTrajectory | None = None
        self._pace = AS_PLANNED

    @property
    def state(self) -> FloatArray:
        """A copy of x, y (m), heading (rad), v (m/s), a (m/s^2), steering angle (rad)."""
        return self._state.copy()

    @property
    def pose(self) -> Pose:
        """Rear axle in `map`."""
        return Pose(float(self._state[0]), float(self._state[1]), float(self._state[2]))

    @property
    def v(self) -> float:
        """Speed along the heading, m/s, negative in reverse."""
        return float(self._state[3])

    @property
    def a(self) -> float:
        """Acceleration along the heading, m/s^2."""
        return float(self._state[4])

    @property
    def yaw_rate(self) -> float:
        """Turn rate, rad/s."""
        return float(self._state[3] * elementary.tan(self._state[5]) / self._limits.wheelbase)

    def place(self, pose: Pose, speed: float) -> None:
        """Put the rear axle somewhere else, with straight wheels and a speed (m/s)."""
        self._state[:] = (pose.x, pose.y, wrap_angle(pose.heading), speed, 0.0, 0.0)

    def change_speed(self, target: float, rate: float) -> None:
        """From now on, whatever the plan says, approach a speed (m/s) at a rate (m/s^2, inf: at once); there the plan
        counts again.
        """
        self._pace = SpeedOverride(target, rate)
        if math.isinf(rate):
            self._state[3], self._state[4], self._pace = target, 0.0, AS_PLANNED

    def drive(self, trajectory: Trajectory | None, stamp: float, h: float, steps: int) -> None:
        """Follow a plan for `steps` sub-steps of `h` s from `stamp`; without one the last is followed on."""
        if trajectory is not None and trajectory is not self._trajectory:
            self._trajectory, self._course = trajectory, course(trajectory)
        if self._trajectory is None or self._course is None:
            self.brake(h, steps)
            return
        since, before = stamp - self._trajectory.stamp, self.v
        _drive(self._state, self._course, since, self._gains, self._limits, h, steps, self._pace)
        target = self._pace.target
        if min(before, self.v) - PACE_TOLERANCE <= target <= max(before, self.v) + PACE_TOLERANCE:
            self._pace = AS_PLANNED

    def brake(self, h: float, steps: int) -> None:
        """Come to a stop and stand, for `steps` sub-steps of `h` s, without a plan."""
        self._trajectory = self._course = None
        for _ in range(steps):
            move(self._state, 0.0, -UNPLANNED_DECEL, math.copysign(1.0, self.v), self.v == 0.0, self._limits, h)
