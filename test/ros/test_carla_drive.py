"""CARLA's ticks and the planner's trajectories in any order, without ROS: exactly one command a tick."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ros.carla_port import Port
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.ros.carla.drive import CarlaDrive, PendingTicks
from tuling_fsm.ros.carla.parameters import CarlaParameters
from tuling_fsm.ros.last_resort import straight_on
from tuling_fsm.wire.carla import messages
from tuling_fsm.wire.carla.messages import packed
from tuling_fsm.wire.cdr import TYPES, header, pose_message
from tuling_fsm.wire.trajectory import pack_trajectory

pytestmark = pytest.mark.clause("CAR-1")

DT_NS = 50_000_000
VECTOR = TYPES["geometry_msgs/msg/Vector3"]
START = Pose(20.0, -1.75, 0.0)
STATUS, ODOMETRY, OBJECT_ARRAY = "{role}/vehicle_status", "{role}/odometry", "{role}/objects"


class Bench:
    """A bridge on a port, with a clock that the test sets."""

    def __init__(self, course) -> None:
        self.port, self.now, self.lines = Port(), 0.0, []
        self.drive = CarlaDrive(
            CarlaParameters(), course, None, self.port, self.port, self.lines.append, lambda: self.now
        )

    def receive(self, name: str, ns: int, v: float = 0.0, pose: Pose = START) -> None:
        self.drive.receive(name, message(name, ns, v, pose))

    def answer(self, ns: int, plan: Trajectory | None = None) -> None:
        self.drive.answered(pack_trajectory(ns, plan or Trajectory.standing(ns / 1e9, START)))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.drive.poll()


def message(name: str, ns: int, v: float, pose: Pose) -> bytes:
    at = header(ns, "map")
    if name == STATUS:
        still = TYPES["geometry_msgs/msg/Accel"](VECTOR(0.0, 0.0, 0.0), VECTOR(0.0, 0.0, 0.0))
        control = messages.new(messages.CONTROL, header=at, throttle=0.0, steer=0.0, brake=0.0, hand_brake=False,
                               reverse=False, gear=0, manual_gear_shift=False)  # fmt: skip
        return packed(messages.VEHICLE_STATUS, header=at, velocity=v, acceleration=still,
                      orientation=pose_message(pose).orientation, control=control)  # fmt: skip
    if name == OBJECT_ARRAY:
        return packed(messages.OBJECT_ARRAY, header=at, objects=[])
    twist = TYPES["geometry_msgs/msg/Twist"](VECTOR(v, 0.0, 0.0), VECTOR(0.0, 0.0, 0.0))
    return packed("nav_msgs/msg/Odometry", header=at, child_frame_id="e",
                  pose=TYPES["geometry_msgs/msg/PoseWithCovariance"](pose_message(pose), np.zeros(36)),
                  twist=TYPES["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36)))  # fmt: skip


EVENTS = ("status", "odometry", "objects", "answer", "answer of the tick before", "again", "wait")


@settings(max_examples=60)
@given(ticks=st.lists(st.lists(st.sampled_from(EVENTS), max_size=9), min_size=1, max_size=8))
@pytest.mark.medium
def test_whatever_comes_in_whatever_order_each_tick_has_exactly_one_command(ticks):
    course = SimpleNamespace(signals={}, stop_lines=())
    bench, stamps = Bench(course), []
    ns = 7_000_000_000
    for events in ticks:
        ns += DT_NS
        for event in events:
            act = {
                "status": lambda ns=ns: bench.receive(STATUS, ns),
                "odometry": lambda ns=ns: bench.receive(ODOMETRY, ns),
                "objects": lambda ns=ns: bench.receive(OBJECT_ARRAY, ns),
                "answer": lambda ns=ns: bench.answer(ns),
                "answer of the tick before": lambda ns=ns: bench.answer(ns - DT_NS),
                "again": lambda ns=ns: bench.receive(ODOMETRY, ns - DT_NS),
                "wait": lambda: bench.wait(0.4),
            }[event]
            if event != "again" or stamps:
                act()
        if {"status", "odometry"} & set(events):
            bench.wait(1.0)
            stamps.append(ns)
    assert bench.port.commands == stamps
    assert bench.drive.ticks.pending is None


def test_a_tick_goes_to_the_planner_once_all_of_it_is_there_and_its_trajectory_is_the_command(course):
    bench = Bench(course)
    bench.receive(STATUS, DT_NS)
    bench.receive(ODOMETRY, DT_NS)
    assert bench.port.frames == []
    bench.receive(OBJECT_ARRAY, DT_NS)
    (frame,) = bench.port.frames
    assert frame.stamp == frame.objects.stamp == frame.traffic_lights.stamp == 0.05
    assert frame.odometry.pose.x == pytest.approx(20.0 - Vehicle().length / 2 + Vehicle().rear_overhang)
    assert bench.port.commands == []
    bench.answer(DT_NS)
    bench.answer(DT_NS)
    assert bench.port.commands == [DT_NS]
    assert frame.emergency_stop is None and frame.rain_fog.value is False


def test_the_car_is_held_before_there_is_a_planner_or_odometry(course):
    bench = Bench(course)
    bench.port.odometry_is_published = False
    bench.receive(STATUS, DT_NS)
    assert bench.port.commands == [DT_NS]
    bench.port.odometry_is_published, bench.port.there = True, False
    bench.receive(OBJECT_ARRAY, 2 * DT_NS)
    bench.receive(STATUS, 2 * DT_NS)
    bench.receive(ODOMETRY, 2 * DT_NS)
    assert bench.port.commands == [DT_NS, 2 * DT_NS]
    assert bench.port.frames == [] and min(bench.port.brakes) > 0.5


def test_a_late_planner_is_asked_again_then_the_car_is_braked_and_that_is_told_once(course):
    bench = Bench(course)
    for k in (1, 2):
        bench.receive(OBJECT_ARRAY, k * DT_NS)
        bench.receive(ODOMETRY, k * DT_NS, v=5.0)
        bench.wait(0.4)
        assert bench.port.again == k and len(bench.port.commands) == k - 1
        bench.wait(0.4)
        assert len(bench.port.commands) == k
    assert min(bench.port.brakes) > 0.1
    assert sum("no trajectory" in line for line in bench.lines) == 1
    assert bench.drive.late == 2


@pytest.mark.clause("SAF-5")
@pytest.mark.parametrize(
    ("ns", "pose"), [(102 * DT_NS, Pose(150.0, 160.0, 2.5)), (2 * DT_NS, START)], ids=["put elsewhere", "reloaded"]
)
@pytest.mark.parametrize("v", [1.0, 3.0])
def test_a_car_that_is_not_on_its_last_plan_is_braked_straight_on(course, ns, pose, v):
    bench = Bench(course)
    bench.receive(OBJECT_ARRAY, 100 * DT_NS)
    bench.receive(ODOMETRY, 100 * DT_NS, 5.0)
    bench.answer(100 * DT_NS, straight_on(5.0, Pose(18.6, -1.25, 0.1), 5.0))
    assert bench.port.pedals[0].steer != 0.0
    for k in range(4):
        bench.receive(OBJECT_ARRAY, ns + k * DT_NS)
        bench.receive(ODOMETRY, ns + k * DT_NS, v, pose)
        bench.wait(0.8)
        pedals = bench.port.pedals[-1]
        assert (pedals.throttle, pedals.steer) == (0.0, 0.0) and pedals.brake > 0.1
    assert len(bench.port.commands) == 5


def test_a_car_that_was_put_elsewhere_is_driven_as_at_first(course):
    there, pedals = Pose(150.0, 160.0, 0.0), []
    for begin in (1, 2):
        bench = Bench(course)
        for k, pose, v in ((1, START, 5.0), (2, there, 1.0))[begin - 1 :]:
            bench.receive(OBJECT_ARRAY, k * DT_NS)
            bench.receive(ODOMETRY, k * DT_NS, v, pose)
            bench.answer(k * DT_NS, straight_on(0.05 * k, Pose(pose.x - 1.4, pose.y - 0.3, 0.1), v))
        pedals.append(bench.port.pedals[-1])
    assert pedals[0] == pedals[1]


def test_a_reloaded_world_begins_anew_and_an_old_message_does_not_count(course):
    bench = Bench(course)
    for ns in (100 * DT_NS, 99 * DT_NS, 100 * DT_NS, 3 * DT_NS):
        bench.receive(ODOMETRY, ns)
        bench.receive(OBJECT_ARRAY, ns)
        bench.answer(ns)
    assert bench.port.commands == [100 * DT_NS, 3 * DT_NS]


def test_a_world_that_is_reloaded_in_its_first_second_is_driven_from_its_second_tick_on(course):
    bench = Bench(course)
    ticks = [*range(1, 19), *range(1, 25)]
    for k in ticks:
        for name in (STATUS, ODOMETRY, OBJECT_ARRAY):
            bench.receive(name, k * DT_NS)
        bench.answer(k * DT_NS)
    assert bench.port.commands == [k * DT_NS for k in (*range(1, 19), *range(2, 25))]


def test_one_topic_that_comes_late_in_its_order_is_no_new_world():
    ticks = PendingTicks()
    began = [ticks.begin_tick(name, k * DT_NS) for name in (STATUS, ODOMETRY) for k in range(1, 5)]
    assert began == [True] * 4 + [False] * 4
    assert [ticks.begin_tick(ODOMETRY, k * DT_NS) for k in (3, 4, 5, 4, 5, 6)] == [
        False,
        False,
        True,
        False,
        False,
        True,
    ]


def test_the_remote_stop_rain_and_waypoints_reach_the_planner(course):
    bench = Bench(course)
    parameters = dataclasses.replace(CarlaParameters(), emergency_stop="stop", rain_fog=True)
    bench.drive.update_parameters(parameters)
    way = [messages.new("geometry_msgs/msg/PoseStamped", header=header(0, ""), pose=pose_message(Pose(x, 0.0, 0.0)))
           for x in (0.0, 1.0, 2.0)]  # fmt: skip
    bench.drive.receive("{role}/waypoints", packed("nav_msgs/msg/Path", header=header(1, "map"), poses=way))
    for k in (1, 2):
        bench.receive(ODOMETRY, k * DT_NS)
        bench.receive(OBJECT_ARRAY, k * DT_NS)
        bench.answer(k * DT_NS)
    first, second = bench.port.frames
    assert first.emergency_stop.value and first.rain_fog.value
    assert len(first.route_answers[0].points) == 3 and second.route_answers == ()
    assert second.rain_fog is first.rain_fog and second.emergency_stop is not first.emergency_stop


def test_bad_messages_are_told_and_change_nothing(course):
    bench = Bench(course)
    for name in (STATUS, ODOMETRY, OBJECT_ARRAY, "traffic_lights/info", "{role}/vehicle_info"):
        bench.drive.receive(name, b"\0\1\0\0abc")
    assert len(bench.lines) == 5
    assert bench.port.commands == []


def test_the_end_is_a_brake_that_waits_for_no_answer(course):
    bench = Bench(course)
    bench.drive.end()
    bench.receive(ODOMETRY, DT_NS, v=6.0)
    assert bench.port.commands == [DT_NS] and bench.port.brakes[0] > 0.5
    assert bench.drive.ended_with == DT_NS


def test_the_end_answers_the_tick_at_hand_and_without_one_leaves_no_throttle_on(course):
    bench = Bench(course)
    bench.receive(ODOMETRY, DT_NS, v=6.0)
    bench.receive(OBJECT_ARRAY, DT_NS)
    bench.drive.end()
    bench.drive.end_without_a_tick()
    assert bench.port.commands == [DT_NS] and bench.port.brakes[0] > 0.5
    paused = Bench(course)
    paused.receive(ODOMETRY, DT_NS, v=6.0)
    paused.receive(OBJECT_ARRAY, DT_NS)
    paused.answer(DT_NS)
    paused.drive.end()
    paused.drive.end_without_a_tick()
    assert paused.port.commands == [DT_NS, DT_NS] and paused.port.brakes[-1] > 0.5
