"""Drives CARLA's ego along a trajectory: the tracker says what is wanted, the foot presses the pedals. No ROS here."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.last_resort import braking
from tuling_fsm.sim.tracker import control, course, gains
from tuling_fsm.wire.carla.pedals import Foot, Pedals, Wish
from tuling_fsm.wire.carla.vehicle import Axles, Motion

STANDS = 0.2
"""A car without a plan that is slower (m/s) is held, a faster one braked."""


class Chauffeur:
    """One command a tick, with a plan or without.

    Args:
        parameters: of the node.
    """

    def __init__(self, parameters: CarlaParameters) -> None:
        self._own = parameters
        self._foot = Foot(parameters.pedals)
        self._max_steer = parameters.vehicle.max_steer
        self._gains = gains(parameters.vehicle, parameters.dynamics, parameters.tracker)
        self._steer = 0.0
        self._last: Trajectory | None = None

    def take_parameters(self, parameters: CarlaParameters) -> None:
        """Live parameters for the next tick."""
        self._own = parameters
        self._foot.parameters = parameters.pedals

    def take_axles(self, axles: Axles) -> None:
        """Wheelbase and steering of the car that is really there."""
        vehicle = _with_axles(self._own.vehicle, axles)
        self._max_steer = axles.max_steer
        self._gains = gains(vehicle, self._own.dynamics, self._own.tracker)

    def warm_up(self) -> None:
        """Compile the tracker."""
        standing = Trajectory.standing(0.0, Pose(0.0, 0.0, 0.0))
        control(course(standing), 0.0, np.zeros(6), self._gains)

    def follow(self, plan: Trajectory, motion: Motion, dt: float) -> Pedals:
        """The command of a tick of `dt` s that begins with this motion."""
        self._last = plan
        return self._track(plan, motion, dt)

    def stop(self, motion: Motion | None, dt: float) -> Pedals:
        """Brake along the last plan, without one straight on; hold where the car stands or nothing is known of it."""
        if motion is None or abs(motion.odometry.v) < STANDS:
            hold = Wish(self._steer, 0.0, 1.0, True)
            return self._foot.press(hold, 0.0, 0.0, self._max_steer, dt)
        odometry, decel = motion.odometry, self._own.vehicle.comfort_decel
        if self._last is not None and self._last.end_stamp > odometry.stamp:
            self._last = braking(self._last, odometry.stamp, decel)
            return self._track(self._last, motion, dt)
        wish = Wish(self._steer, -decel, math.copysign(1.0, odometry.v), False)
        return self._foot.press(wish, odometry.v, motion.pitch, self._max_steer, dt)

    def full_stop(self) -> Pedals:
        """Brake hard, the wheels as they are."""
        own = self._own
        brake = min(own.vehicle.emergency_decel / own.pedals.full_brake_decel, 1.0)
        return Pedals(0.0, brake, min(max(-self._steer / self._max_steer, -1.0), 1.0), False)

    def _track(self, plan: Trajectory, motion: Motion, dt: float) -> Pedals:
        odometry = motion.odometry
        state = np.array((*odometry.pose, odometry.v, 0.0, self._steer))
        wanted = control(course(plan), odometry.stamp - plan.stamp + 0.5 * dt, state, self._gains)
        self._steer = float(wanted.steer)
        wish = Wish(self._steer, float(wanted.accel), float(wanted.gear), bool(wanted.hold))
        return self._foot.press(wish, odometry.v, motion.pitch, self._max_steer, dt)


def _with_axles(vehicle: Vehicle, axles: Axles) -> Vehicle:
    return replace(vehicle, wheelbase=axles.wheelbase, max_steer=axles.max_steer)
