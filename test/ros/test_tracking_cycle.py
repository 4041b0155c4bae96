"""Following a trajectory with a car that is told its speed: without ROS."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.ros.tracking_cycle import AckermannCommand, TrackingCycle, TrackingParameters
from tuling_fsm.wire import cdr
from tuling_fsm.wire.commands import ACKERMANN, TWIST, pack_ackermann, pack_twist
from tuling_fsm.world.inputs import Odometry

DT = 0.02
NEVER = math.inf


class Car:
    """Takes the speed and the turn rate that it is told, with a lag (s)."""

    def __init__(self, lag: float = 0.0, v: float = 0.0) -> None:
        self.pose, self.v, self.stamp, self.lag = Pose(0.0, 0.0, 0.0), v, 100.0, lag

    def odometry(self) -> Odometry:
        return Odometry(self.stamp, self.pose, self.v, 0.0)

    def obey(self, command: AckermannCommand) -> None:
        share = 1.0 if self.lag <= 0.0 else 1.0 - math.exp(-DT / self.lag)
        v = self.v + share * (command.speed - self.v)
        turn = command.yaw_rate / command.speed if command.speed else 0.0
        heading = self.pose.heading + v * turn * DT
        middle = self.pose.heading + 0.5 * v * turn * DT
        self.pose = Pose(self.pose.x + v * DT * math.cos(middle), self.pose.y + v * DT * math.sin(middle), heading)
        self.v, self.stamp = v, self.stamp + DT


def bend(stamp: float, sign: float = 1.0) -> Trajectory:
    """Off from standing to 4 m/s in a bend of 25 m, and to a stand again; in reverse with `sign` -1."""
    t = 0.05 * np.arange(241)
    v = sign * np.minimum(np.minimum(t, 4.0), 12.0 - t)
    s = np.concatenate(([0.0], np.cumsum(0.025 * (v[1:] + v[:-1]))))
    curvature = np.full(len(t), 0.04)
    return Trajectory(
        stamp, t, 25.0 * np.sin(s / 25.0), 25.0 * (1.0 - np.cos(s / 25.0)), s / 25.0, curvature, v, np.gradient(v, t)
    )


def drive(
    tracking: TrackingCycle, car: Car, until: float, silent_after: float = NEVER, sign: float = 1.0
) -> list[AckermannCommand]:
    """With a fresh stamp on the same way every tick, until nothing more comes."""
    whole, commands = bend(100.0, sign), []
    while car.stamp < until:
        if car.stamp < silent_after:
            tracking.take(whole.after(car.stamp))
        commands.append(tracking.command(car.odometry()))
        car.obey(commands[-1])
    return commands


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("lag", [0.0, 0.2])
def test_the_car_goes_where_the_plan_goes_and_stands_where_it_ends(sign, lag):
    tracking, car, whole = TrackingCycle(TrackingParameters()), Car(lag), bend(100.0, sign)
    while car.stamp < 111.0:
        tracking.take(whole.after(car.stamp))
        car.obey(tracking.command(car.odometry()))
        pose, _, v, _ = whole.sample(car.stamp)
        assert math.dist(pose[:2], car.pose[:2]) < 0.25
        assert abs(car.v - v) < 0.4
    commands = drive(tracking, car, 114.0, sign=sign)
    assert commands[-1].speed == 0.0
    assert math.dist(whole.pose(len(whole) - 1)[:2], car.pose[:2]) < 0.25


@pytest.mark.clause("SAF-1")
def test_a_stale_trajectory_is_braked_along():
    own = TrackingParameters()
    tracking, car = TrackingCycle(own), Car()
    commands = drive(tracking, car, 112.0, silent_after=106.0)
    speeds = np.array([command.speed for command in commands])
    stale = round((6.0 + own.stale_after) / DT)
    assert speeds[stale - 5] > 3.9
    assert np.diff(speeds[stale + 1 :]).max() <= 1e-9
    assert speeds[-1] == 0.0 and car.v == 0.0
    decel = speeds[stale] - speeds[stale + round(1.0 / DT)]
    assert decel == pytest.approx(own.vehicle.comfort_decel, abs=0.2)
    assert math.hypot(car.pose.x, car.pose.y - 25.0) == pytest.approx(25.0, abs=0.1)


@pytest.mark.clause("SAF-1", "DWELL-5")
def test_without_a_trajectory_of_its_time_the_car_is_brought_to_a_stand():
    tracking, car = TrackingCycle(TrackingParameters()), Car(v=3.0)
    first = tracking.command(car.odometry())
    assert first.speed == 3.0 and first.accel < -1.0
    tracking.take(bend(500.0))
    drive(tracking, car, 103.0, silent_after=0.0)
    assert car.v == 0.0
    assert tracking.command(car.odometry()) == AckermannCommand(0.0, 0.0, 0.0, 0.0)


def test_the_commanded_speed_does_not_wind_up_on_a_car_that_cannot_move():
    own = replace(TrackingParameters(), speed_band=0.7)
    tracking, stuck = TrackingCycle(own), Odometry(100.0, Pose(0.0, 0.0, 0.0), 0.0, 0.0)
    for k in range(200):
        stamp = 100.0 + DT * k
        tracking.take(bend(100.0).after(stamp))
        command = tracking.command(replace(stuck, stamp=stamp))
    assert command.speed == pytest.approx(0.7)


def test_the_messages_are_those_of_the_types():
    fields = (
        "float32 steering_angle\nfloat32 steering_angle_velocity\nfloat32 speed\nfloat32 acceleration\nfloat32 jerk"
    )
    drive_type = "ackermann_msgs/msg/AckermannDrive"
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(fields, drive_type))
    store.register(get_types_from_msg(f"std_msgs/Header header\n{drive_type} drive", ACKERMANN))
    made = store.deserialize_cdr(pack_ackermann(1_500_000_000, 0.25, -1.5, 0.5), ACKERMANN)
    assert (made.header.stamp.sec, made.header.stamp.nanosec) == (1, 500_000_000)
    assert made.header.frame_id == "base_link"
    drive = made.drive
    assert (drive.steering_angle, drive.speed, drive.acceleration) == (0.25, -1.5, 0.5)
    assert drive.steering_angle_velocity == drive.jerk == 0.0
    twist = cdr.unpack(pack_twist(-1.5, 0.3), TWIST, "test")
    assert (twist.linear.x, twist.angular.z) == (-1.5, 0.3)
    assert cdr.pack(TWIST, twist) == pack_twist(-1.5, 0.3)


@pytest.mark.clause("SAF-3")
def test_a_trajectory_that_was_overtaken_is_not_followed_and_one_of_a_clock_that_is_set_back_is():
    tracking, later = TrackingCycle(TrackingParameters()), bend(100.3)
    for plan in (bend(100.0), later, bend(100.1)):
        tracking.take(plan)
    assert tracking.followed(100.3) is later
    set_back = bend(95.0)
    tracking.take(set_back)
    assert tracking.followed(95.0) is set_back
