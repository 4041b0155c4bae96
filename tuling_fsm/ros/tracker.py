"""The node `tracker`: drives a simulator's car along the trajectory, by Twist and, where it can be, Ackermann."""

from __future__ import annotations

import importlib.util

from rclpy.clock import Clock, ClockType
from rclpy.publisher import Publisher

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load, nest
from tuling_fsm.core.topics import BY_NAME, ODOMETRY, RELIABLE, TRAJECTORY, Topic
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.ros.tracking_cycle import AckermannCommand, TrackingCycle, TrackingParameters
from tuling_fsm.wire.commands import ACKERMANN_CMD, CMD_VEL, pack_ackermann, pack_twist
from tuling_fsm.wire.odometry import unpack_odometry
from tuling_fsm.wire.trajectory import unpack_trajectory

_POLL_S = 0.05
_SAID_EVERY_S = 5.0


class TrackerNode(ServedNode):
    """Everything is done by `TrackingCycle`; here it only meets DDS.

    Raises:
        InputError: a parameter is bad.
    """

    def __init__(self) -> None:
        super().__init__("tracker", automatically_declare_parameters_from_overrides=True)
        self.interruptible = False
        self._settings = ParameterServer(self, describe(TrackingParameters))
        self._tracking = TrackingCycle(self._load())
        self._tracking.warm_up()
        self._stamp_ns = 0
        self._heard = self._steady_ns()
        self._twists = self._publisher(CMD_VEL)
        self._ackermann: Publisher | None = None
        if importlib.util.find_spec("ackermann_msgs") is None:
            self.get_logger().info("ackermann_msgs is not installed: the topic ackermann is not offered")
        else:
            self._ackermann = self._publisher(ACKERMANN_CMD)
        for name, kind, qos, take in (
            ("trajectory", TRAJECTORY, BY_NAME["trajectory"].qos, self._plan),
            ("odometry", ODOMETRY, RELIABLE, self._odometry),
        ):
            self.create_subscription(message_class(kind), name, take, profile(qos), raw=True)
        self.create_timer(_POLL_S, self._poll, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def stop(self) -> None:
        """The last word is a stand."""
        self._send(self._tracking.stand())

    def _load(self) -> TrackingParameters:
        self._settings.changed = False
        return load(TrackingParameters, nest(self._settings.values))

    def _publisher(self, topic: Topic) -> Publisher:
        return self.create_publisher(message_class(topic.type), topic.name, profile(topic.qos))

    def _plan(self, raw: bytes) -> None:
        try:
            self._tracking.take(unpack_trajectory(raw))
        except InputError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=_SAID_EVERY_S)

    def _odometry(self, raw: bytes) -> None:
        try:
            stamp_ns, odometry = unpack_odometry(raw)
        except InputError as error:
            self.get_logger().warning(str(error), throttle_duration_sec=_SAID_EVERY_S)
            return
        if self._settings.changed:
            self._tracking.parameters = self._load()
        self._stamp_ns, self._heard = stamp_ns, self._steady_ns()
        self._send(self._tracking.command(odometry))

    def _poll(self) -> None:
        """Silent odometry is a stop."""
        if self._steady_ns() - self._heard > 1e9 * self._tracking.parameters.odometry_timeout:
            self._send(self._tracking.stand())

    def _send(self, command: AckermannCommand) -> None:
        self._twists.publish(pack_twist(command.speed, command.yaw_rate))
        if self._ackermann is not None:
            self._ackermann.publish(pack_ackermann(self._stamp_ns, command.steer, command.speed, command.accel))

    def _steady_ns(self) -> int:
        return int(Clock(clock_type=ClockType.STEADY_TIME).now().nanoseconds)
