"""When the planner ticks, and what is sent when it fails: without ROS."""

from __future__ import annotations

import os
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ros.stand import ROUTE, Bench, frame
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs
from tuling_fsm.core.notice import Notice
from tuling_fsm.core.request import FollowLanes
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.inputs import PUSHED, pack_inputs
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_bool, pack_json
from tuling_fsm.world.inputs import BoolMessage
from tuling_fsm.world.mission import Mission


def test_odometry_drives_the_tick():
    bench = Bench()
    bench.send(frame(1.0), "objects", "traffic_lights")
    assert bench.trajectories() == []
    bench.send(frame(1.0), "odometry")
    assert [t.stamp for t in bench.trajectories()] == [1.0]
    bench.send(frame(1.0), "odometry")
    assert len(bench.trajectories()) == 1


def test_the_trajectory_goes_out_before_anything_else_is_made():
    bench = Bench()
    made: list[str] = []
    publish = bench.publish
    bench.publish = lambda topic, message: (made.append(topic), publish(topic, message))
    bench.cycle._outputs = SimpleNamespace(messages=lambda *_: made.append("the rest is made") or [], new_reports=())
    bench.send(frame(1.0))
    assert made == ["trajectory", "path", "the rest is made"]


def test_nothing_is_made_without_a_subscriber():
    bench = Bench()
    bench.listened = {"markers"}
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05))
    assert {topic for topic, _ in bench.sent} == {
        "trajectory", "markers", "state", "sensors", "indicators", "transition",
    }  # fmt: skip


def approaching(tick):
    """A tick that follows its lanes."""
    tick.decision.request = FollowLanes((), (), 5.0)
    return tick


@pytest.mark.clause("USE-14")
@pytest.mark.parametrize(("left_hand", "side"), [(False, "right"), (True, "left")])
def test_the_light_points_to_the_kerb_of_the_map(left_hand, side):
    bench = Bench(left_hand=left_hand)
    bench.agent.state = "temporary_stop/approach"
    bench.cycle._agent.step = lambda inputs, step=bench.agent.step: approaching(step(inputs))
    bench.send(frame(1.0))
    assert bench.lights() == [side]


def test_a_disk_that_is_full_ends_the_recording_and_nothing_else(tmp_path):
    bench = Bench(record=tmp_path)
    bench.send(frame(1.0))
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), bench.bag._file.fileno())
    for k in range(400):
        bench.send(frame(1.05 + 0.05 * k))
    bench.halt()
    assert len(bench.trajectories()) == 402
    (line,) = bench.lines
    assert line.startswith("record: ") and "cannot be written: No space left on device" in line


def test_a_message_that_cannot_be_recorded_is_told_once_and_the_next_ticks_are_whole(tmp_path):
    bench = Bench(record=tmp_path)
    bench.inbox._values["mission"] = {"note": "\ud83d"}
    for k in range(4):
        bench.send(frame(1.0 + 0.05 * k))
    bench.halt()
    assert len(bench.trajectories()) == 5
    (line,) = bench.lines
    assert line.startswith("record: not all of a tick: UnicodeEncodeError: ")
    ticks = list(read_inputs(BagSource(tmp_path)))
    assert [tick.odometry.stamp for tick in ticks] == pytest.approx([1.05, 1.1, 1.15])


STAMPED = ("objects", "traffic_lights", "odometry")


@pytest.mark.clause("SIM-1")
@pytest.mark.parametrize("order", [STAMPED, STAMPED[::-1], ("traffic_lights", "odometry", "objects")])
def test_lock_step_ticks_once_all_of_a_stamp_is_there_in_any_order(order):
    bench = Bench(lock_step=True)
    for k in range(4):
        inputs = frame(1.0 + 0.05 * k)
        for topic in order[:-1]:
            bench.send(inputs, topic)
        assert len(bench.trajectories()) == k
        bench.send(inputs, order[-1])
        if k == 0:
            assert bench.asked == [1]
            bench.answer()
        assert len(bench.trajectories()) == k + 1


@pytest.mark.clause("SIM-1")
def test_lock_step_waits_for_the_route_server_and_gives_its_answer_to_the_next_tick():
    bench = Bench(lock_step=True)
    bench.send(frame(1.0))
    bench.send(frame(1.05))
    assert len(bench.trajectories()) == 1
    bench.answer()
    assert [t.stamp for t in bench.trajectories()] == [1.0, pytest.approx(1.05)]
    assert not bench.trajectories()[-1].stands
    assert bench.awaited == [["state"], ["state"]]
    assert bench.sent[-2][0] == "trajectory"


def test_a_server_that_does_not_answer_holds_nothing_up_for_ever():
    bench = Bench(lock_step=True)
    bench.send(frame(1.0))
    bench.send(frame(1.05))
    bench.answer(None)
    assert len(bench.trajectories()) == 2
    assert bench.trajectories()[-1].stands


@pytest.mark.clause("SAF-1")
def test_a_failing_planner_is_replaced_by_braking_along_its_last_plan():
    bench = Bench(fail_at_x=1.2)
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 1.0))
    plan = bench.trajectories()[-1]
    for k in range(3):
        bench.send(frame(1.1 + 0.05 * k, 1.25 + 0.2 * k))
    stop = bench.trajectories()[-3]
    assert stop.v[0] == pytest.approx(plan.sample(1.1)[2])
    assert stop.v[-1] == 0.0
    assert stop.x[-1] <= plan.x[-1] + 1e-9
    assert sum("beyond the world's end" in line for line in bench.lines) == 1
    why = [raw for topic, raw in bench.sent if topic == "why"][-1]
    assert unpack_diagnostics(why, "why")[0].message == "the planner failed, the car is braking"
    bench.send(frame(1.3, 1.1))
    assert bench.trajectories()[-1].v[0] == pytest.approx(5.0)
    bench.send(frame(1.35, 40.0))
    assert (bench.trajectories()[-1].x[0], bench.trajectories()[-1].v[-1]) == (40.0, 0.0), "from where it is"


@pytest.mark.clause("EXPL-1", "USE-14")
@pytest.mark.parametrize(
    ("language", "said"), [("en", "the planner failed, the car is braking"), ("zh", "规划器出错,车辆正在制动")]
)
def test_a_failing_planner_is_explained_and_shown_by_hazard_lights(language, said):
    bench = Bench(fail_at_x=1.2, own=PlannerNodeParameters(language=language))
    bench.send(frame(1.0))
    good = bench.cycle.explanation()
    for k in range(3):
        bench.send(frame(1.1 + 0.05 * k, 1.25 + 0.2 * k))
        assert bench.cycle.explanation() == said
    assert bench.lights() == ["off", "hazard"]
    bench.send(frame(1.3, 1.1))
    assert bench.sent[-1][0] in ("why", "markers"), "what limits the car is told at once"
    assert bench.cycle.explanation() not in (said, "no tick yet") and good
    assert bench.lights() == ["off", "hazard", "off"]


@pytest.mark.clause("SAF-1")
def test_a_planner_that_fails_on_its_first_tick_brakes_straight_on():
    bench = Bench(fail_at_x=0.0)
    bench.send(frame(1.0, 3.0, v=4.0))
    stop = bench.trajectories()[-1]
    assert (stop.x[0], stop.v[0], stop.v[-1]) == (3.0, pytest.approx(4.0), 0.0)
    assert stop.x[-1] - 3.0 == pytest.approx(4.0**2 / 3.6, rel=1e-3)


def ticking(elapsed: list[float]):
    """A clock by which the ticks take these times (s)."""
    times = [t for k, each in enumerate(elapsed) for t in (10.0 * k, 10.0 * k + each)]
    return iter(times).__next__


@pytest.mark.clause("SAF-1", "DWELL-3")
def test_a_late_plan_gives_way_to_the_rest_of_the_last_one():
    bench = Bench(clock=ticking([0.01, 0.01, 0.9]))
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 1.0))
    plan = bench.trajectories()[-1]
    bench.send(frame(1.1, 1.5))
    late = bench.trajectories()[-1]
    assert late.stamp == pytest.approx(1.1)
    assert late.x[0] == pytest.approx(plan.sample(1.1)[0].x) == pytest.approx(1.25)
    lock_step = Bench(lock_step=True, clock=ticking([0.9]))
    lock_step.send(frame(1.0, 7.0))
    assert lock_step.trajectories()[-1].x[0] == 7.0


@pytest.mark.clause("SAF-1", "SAF-5")
@pytest.mark.parametrize("late", [1, 8])
def test_a_late_plan_for_a_car_that_is_elsewhere_is_sent_all_the_same(late):
    bench = Bench(clock=ticking([0.01, 0.01] + [0.9] * late))
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 1.0))
    for k in range(late):
        bench.send(frame(1.1 + 0.05 * k, 60.0 + 10.0 * k))
    assert bench.trajectories()[-1].x[0] == pytest.approx(60.0 + 10.0 * (late - 1))


@pytest.mark.clause("SAF-1", "EST-1")
def test_a_late_plan_that_brakes_is_sent_all_the_same():
    bench = Bench(clock=ticking([0.01, 0.01, 0.9]))
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 1.0))
    bench.send(replace(frame(1.1, 1.2), emergency_stop=BoolMessage(1.1, True)))
    assert bench.trajectories()[-1].stands


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("after", [pack_bool(False), b"\0\1\0\0garbage"])
def test_a_command_to_stop_is_not_taken_back_before_a_tick_has_seen_it(after, tmp_path):
    bench = Bench(record=tmp_path)
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05))
    for raw in (pack_bool(False), pack_bool(True), after):
        bench.do(bench.cycle.receive("emergency_stop", raw))
    bench.send(frame(1.1))
    assert bench.trajectories()[-1].stands
    bench.do(bench.cycle.receive("emergency_stop", pack_bool(False)))
    bench.send(frame(1.15))
    assert not bench.trajectories()[-1].stands
    bench.halt()
    commands = [inputs.emergency_stop and inputs.emergency_stop.value for inputs in read_inputs(BagSource(tmp_path))]
    assert commands == [None, None, True, False]


def test_a_call_that_nothing_can_follow_is_refused_and_reaches_no_tick():
    bench = Bench()
    assert bench.cycle.call("skip_task") == (False, "no tick yet")
    bench.send(frame(1.0))
    assert bench.cycle.call("reset") == (False, "the car is not parked")
    assert bench.cycle.call("skip_task") == (True, "on the next tick")
    bench.send(frame(1.05))
    assert [(each.reset, each.skip_task) for each in bench.agent.seen] == [(False, False), (False, True)]


def test_after_another_activation_the_latched_route_is_there_and_the_call_is_not():
    bench = Bench()
    bench.do(bench.cycle.receive("route", pack_path(1, np.array([[0.0, 0.0, 0.0], [5.0, 0.0, 0.0]]))))
    bench.send(frame(1.0))
    assert bench.cycle.call("skip_task") == (True, "on the next tick")
    bench.do(bench.cycle.answer(1, ROUTE))
    bench.halt()
    bench.activate()
    for k in range(2):
        bench.send(frame(2.0 + 0.05 * k))
    _, second, third = bench.agent.seen
    assert [answer.request for answer in second.route_answers] == [PUSHED] and not third.route_answers
    assert second.route_answers[0].stamp == second.stamp
    assert not second.skip_task


@pytest.mark.clause("EST-2")
def test_a_planner_that_goes_on_with_a_mission_is_not_given_the_one_of_the_file():
    bench = Bench()
    first, later = {"goal": {"x": 1.0, "y": 2.0}}, {"goal": {"x": 3.0, "y": 4.0}}
    bench.inbox = Inbox(bench.lines.append, first)
    for mission in (None, Mission(0.0), None):
        bench.agent.mission = mission
        bench.activate()
        bench.send(frame(1.0))
    assert [inputs.mission for inputs in bench.agent.seen] == [first, None, first]
    bench.do(bench.cycle.receive("mission", pack_json(later)))
    for mission in (Mission(0.0), None):
        bench.agent.mission = mission
        bench.activate()
        bench.send(frame(2.0))
        assert bench.agent.seen[-1].mission == later


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("commands", [(True, False), (False, True)])
def test_of_what_came_before_activation_the_newest_command_counts(commands):
    bench = Bench()
    for stop in commands:
        bench.inbox.receive("emergency_stop", pack_bool(stop))
    bench.send(frame(1.0))
    (seen,) = bench.agent.seen
    assert seen.emergency_stop.value is commands[-1]


@pytest.mark.clause("EST-1", "EST-3")
@pytest.mark.parametrize("lock_step", [False, True])
@pytest.mark.parametrize("while_active", [True, False])
@pytest.mark.parametrize("stop", [True, False])
def test_of_the_remote_of_the_activation_before_only_a_stop_goes_on(stop, while_active, lock_step):
    """A remote that was switched off meanwhile is not silent; in lock-step what was sent is not sent again."""
    bench = Bench(lock_step=lock_step)
    if while_active:
        bench.do(bench.cycle.receive("emergency_stop", pack_bool(stop)))
    bench.send(frame(1.0))
    bench.answer()
    bench.halt()
    if not while_active:
        bench.inbox.receive("emergency_stop", pack_bool(stop))
    bench.activate()
    bench.send(frame(3600.0))
    command = bench.agent.seen[-1].emergency_stop
    kept = stop or (lock_step and not while_active)
    assert command == (BoolMessage(3600.0, stop) if kept else None)


@pytest.mark.clause("SAF-1", "USE-11")
def test_many_late_plans_in_a_row_end_in_a_comfortable_stop():
    bench = Bench(clock=ticking([0.01] + [0.9] * 40))
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 0.2))
    x = 0.2
    for k in range(38):
        stamp = 1.1 + 0.05 * k
        bench.send(frame(stamp, x))
        x += 0.05 * float(bench.trajectories()[-1].v[0])
    speeds = [float(t.v[0]) for t in bench.trajectories()[1:]]
    assert speeds[0] == pytest.approx(5.0)
    assert (np.diff(speeds) <= 1e-9).all()
    assert bench.trajectories()[-1].v[-1] == 0.0
    assert max(-np.diff(speeds)) <= 0.05 * 2.6


@pytest.mark.clause("SAF-1")
def test_the_end_of_the_node_sends_a_stop():
    bench = Bench()
    bench.send(frame(1.0))
    bench.answer()
    bench.send(frame(1.05, 1.0))
    bench.halt()
    plan, stop = bench.trajectories()[-2:]
    assert nanoseconds(stop.stamp) == nanoseconds(plan.stamp) + 1
    assert stop.v[0] == pytest.approx(5.0) and stop.v[-1] == 0.0


@pytest.mark.clause("SAF-3")
def test_each_fault_is_reported_once_until_the_topic_is_right_again():
    bench = Bench()
    bad = b"\0\1\0\0garbage"
    for _ in range(3):
        assert not bench.inbox.receive("odometry", bad)
    assert len(bench.lines) == 1
    bench.send(frame(1.0))
    bench.inbox.receive("odometry", bad)
    assert len(bench.lines) == 2
    assert bench.inbox.stamps["odometry"] == nanoseconds(1.0)


@pytest.mark.clause("SAF-3")
def test_what_the_planner_reports_is_told_once_in_the_log_also_where_nobody_hears_why():
    bench = Bench()
    bench.listened = set()
    step = bench.agent.step

    def reporting(inputs):
        tick = step(inputs)
        tick.world.reports = (f"odometry: speed {inputs.odometry.v:.3f} m/s out of range",)
        tick.decision.reports = (Notice("pick-up of task one is served"),)
        return tick

    bench.agent.step = reporting
    for k in range(100):
        bench.send(frame(1.0 + 0.05 * k, v=100.0 + 0.001 * k))
    assert bench.lines == ["odometry: speed 100.000 m/s out of range"]
    assert bench.notices == ["pick-up of task one is served"], "no warning"


@pytest.mark.clause("SAF-1", "SAF-3")
@pytest.mark.parametrize(("sec", "nanosec"), [(2**31 - 1, 2**32 - 1), (2**31 - 1, 0), (1, 1_000_000_000)])
def test_a_stamp_that_no_time_can_be_is_told_and_changes_nothing(sec, nanosec):
    bench = Bench()
    bench.now = nanoseconds(1.0)
    bench.timer()
    bench.send(frame(1.0))
    for topic, raw in pack_inputs(frame(1.05)):
        bench.do(bench.cycle.receive(topic, raw[:4] + struct.pack("<iI", sec, nanosec) + raw[12:]))
    assert set(bench.inbox.stamps.values()) == {nanoseconds(1.0)}
    bench.now = nanoseconds(10.0)
    bench.timer()
    assert [t.stamp for t in bench.trajectories()] == [1.0, pytest.approx(10.0)]
    assert len(bench.lines) == 3 and all(f"stamp of {sec} s and {nanosec} ns" in line for line in bench.lines)


@pytest.mark.clause("SAF-3")
def test_odometry_that_was_overtaken_is_not_ticked_on_and_a_clock_that_is_set_back_is():
    bench = Bench()
    for stamp in (100.0, 100.1, 100.05, 100.15, 100.1):
        bench.send(frame(stamp), "odometry")
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.0, 100.1, 100.15])
    assert bench.lines == ["odometry: older than the last message, not taken (expected in order)"]
    bench.send(frame(95.0), "odometry")
    assert bench.trajectories()[-1].stamp == 95.0
