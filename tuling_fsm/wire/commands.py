"""What a simulator's car is told: `geometry_msgs/msg/Twist`, and `ackermann_msgs/msg/AckermannDriveStamped`."""

from __future__ import annotations

import struct

from tuling_fsm.core.topics import BASE_FRAME, Qos, Topic
from tuling_fsm.wire.cdr import LITTLE_ENDIAN, packed_header

TWIST = "geometry_msgs/msg/Twist"
ACKERMANN = "ackermann_msgs/msg/AckermannDriveStamped"
CMD_VEL = Topic("cmd_vel", TWIST, Qos(), "speed and turn rate")
ACKERMANN_CMD = Topic("ackermann", ACKERMANN, Qos(), "steering angle, speed and acceleration")


def pack_twist(speed: float, yaw_rate: float) -> bytes:
    """Speed along the heading (m/s, negative in reverse) and turn rate (rad/s, + left)."""
    return LITTLE_ENDIAN + struct.pack("<6d", speed, 0.0, 0.0, 0.0, 0.0, yaw_rate)


def pack_ackermann(ns: int, steer: float, speed: float, accel: float) -> bytes:
    """Angle of the front wheels (rad, + left), speed (m/s, negative in reverse), acceleration along the heading
    (m/s^2); rates of steering and acceleration are left open (0).
    """
    head = packed_header(ns, BASE_FRAME)
    return LITTLE_ENDIAN + head + b"\0" * (-len(head) % 4) + struct.pack("<5f", steer, 0.0, speed, accel, 0.0)
