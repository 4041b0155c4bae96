"""The ego in CARLA: its axles from `vehicle_info`, and the rear axle's odometry from that of the actor's origin."""

from __future__ import annotations

import math
from typing import NamedTuple

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import shifted
from tuling_fsm.core.topics import MAP_FRAME, ODOMETRY
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.wire.carla.messages import INFO
from tuling_fsm.wire.cdr import check_finite, check_frame, pose_value, unpack
from tuling_fsm.world.inputs import Odometry

LEAST_WHEELBASE_M = 0.5


class AxleOffsets(NamedTuple):
    """Where the rear axle lies ahead of the actor's origin (m, negative), the wheelbase (m), and the largest angle of
    the front wheels (rad).
    """

    rear: float
    wheelbase: float
    max_steer: float


def nominal_axles(vehicle: Vehicle) -> AxleOffsets:
    """Those of the planner's own vehicle: CARLA's origin lies in the middle of the body."""
    return AxleOffsets(-0.5 * (vehicle.front - vehicle.rear_overhang), vehicle.wheelbase, vehicle.max_steer)


def unpack_axles(raw: bytes) -> AxleOffsets:
    """From the wheels of `vehicle_info`, whose positions are those in the frame of the actor.

    Raises:
        InputError: no wheels, or all of them in one place, as before the first tick.
    """
    wheels = unpack(raw, INFO, "vehicle_info").wheels
    along = [float(wheel.position.x) for wheel in wheels]
    if not along or max(along) - min(along) < LEAST_WHEELBASE_M:
        raise InputError("vehicle_info", f"wheels at {along}", "wheels on two axles")
    check_finite("vehicle_info", rear=min(along), front=max(along))
    steer = max(float(wheel.max_steer_angle) for wheel in wheels)
    if not 0.05 < steer < 0.5 * math.pi:
        raise InputError("vehicle_info", f"a largest steering angle of {steer:g}", "radians, between 0.05 and pi / 2")
    return AxleOffsets(min(along), max(along) - min(along), steer)


class EgoMotion(NamedTuple):
    """The odometry of a tick: that of the rear axle in `map`, its height (m) and slope (rad, + uphill)."""

    odometry: Odometry
    z: float
    pitch: float


def unpack_motion(raw: bytes, axles: AxleOffsets) -> EgoMotion:
    """`/carla/<role>/odometry`: pose of the origin in `map`, twist in the body frame; without covariance, for it is
    exact.

    Raises:
        InputError: another frame, a value that is not finite, no unit quaternion.
    """
    message = unpack(raw, ODOMETRY, "odometry of CARLA")
    stamp = check_frame(message.header, MAP_FRAME, "odometry of CARLA")
    pose = pose_value(message.pose.pose, "odometry of CARLA")
    v, yaw_rate = float(message.twist.twist.linear.x), float(message.twist.twist.angular.z)
    z = float(message.pose.pose.position.z)
    check_finite("odometry of CARLA", v=v, yaw_rate=yaw_rate, z=z)
    q = message.pose.pose.orientation
    uphill = -elementary.asin(min(max(2.0 * (q.w * q.y - q.z * q.x), -1.0), 1.0))
    return EgoMotion(Odometry(stamp, shifted(pose, axles.rear), v, yaw_rate), z, uphill)
