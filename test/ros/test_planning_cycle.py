"""When the planner ticks, and what is sent when it fails: without ROS."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from ros.stand import ROUTE, Bench, frame
from tuling_fsm.bag.ticks import read_inputs
from tuling_fsm.core.request import FollowLanes
from tuling_fsm.ros.node_parameters import PlannerNodeParameters
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.inputs import PUSHED, pack_inputs
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_bool, unpack_string
from tuling_fsm.world.inputs import BoolMessage


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
    bench.cycle._outputs = SimpleNamespace(messages=lambda *_: made.append("the rest is made") or [])
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


def lights(bench: Bench) -> list[str]:
    """All that was sent to the indicators."""
    return [unpack_string(raw, topic) for topic, raw in bench.sent if topic == "indicators"]


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
    assert lights(bench) == [side]


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
    ticks = list(read_inputs(tmp_path))
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
def test_silence_ticks_by_the_nodes_clock_in_the_odometrys_time():
    bench = Bench()
    bench.now = 7_000_000_000
    bench.send(frame(100.0))
    for ms in range(0, 400, 50):
        bench.now = 7_000_000_000 + ms * 1_000_000
        bench.timer()
    stamps = [t.stamp for t in bench.trajectories()]
    assert stamps == pytest.approx([100.0, 100.2, 100.25, 100.3, 100.35])
    lock_step = Bench(lock_step=True)
    lock_step.now = 10**12
    lock_step.timer()
    assert lock_step.trajectories() == []


@pytest.mark.clause("SAF-1")
def test_odometry_whose_clock_stands_is_silence():
    bench = Bench()
    for ms in range(0, 500, 50):
        bench.now = 7_000_000_000 + ms * 1_000_000
        bench.send(frame(100.0), "odometry")
        bench.timer()
    assert [t.stamp for t in bench.trajectories()] == pytest.approx(
        [100.0, 100.2, 100.25, 100.3, 100.35, 100.4, 100.45]
    )
    bench.send(frame(100.5), "odometry")
    assert bench.trajectories()[-1].stamp == 100.5
    bench.send(frame(20.0), "odometry")
    assert bench.trajectories()[-1].stamp == 20.0


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
    assert lights(bench) == ["off", "hazard"]
    bench.send(frame(1.3, 1.1))
    assert bench.sent[-1][0] in ("why", "markers"), "what limits the car is told at once"
    assert bench.cycle.explanation() not in (said, "no tick yet") and good
    assert lights(bench) == ["off", "hazard", "off"]


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
    commands = [inputs.emergency_stop and inputs.emergency_stop.value for inputs in read_inputs(tmp_path)]
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


@pytest.mark.clause("EST-1")
@pytest.mark.parametrize("commands", [(True, False), (False, True)])
def test_of_what_came_before_activation_the_newest_command_counts(commands):
    bench = Bench()
    for stop in commands:
        bench.inbox.receive("emergency_stop", pack_bool(stop))
    bench.send(frame(1.0))
    (seen,) = bench.agent.seen
    assert seen.emergency_stop.value is commands[-1]


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


@pytest.mark.clause("SAF-1", "SAF-3")
@pytest.mark.parametrize(("sec", "nanosec"), [(2**31 - 1, 2**32 - 1), (2**31 - 1, 0), (1, 1_000_000_000)])
def test_a_stamp_that_no_time_can_be_is_told_and_changes_nothing(sec, nanosec):
    bench = Bench()
    bench.send(frame(1.0))
    for topic, raw in pack_inputs(frame(1.05)):
        bench.do(bench.cycle.receive(topic, raw[:4] + struct.pack("<iI", sec, nanosec) + raw[12:]))
    assert set(bench.inbox.stamps.values()) == {nanoseconds(1.0)}
    bench.now = nanoseconds(9.0)
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


def silence(bench: Bench, ms: range) -> None:
    """The node's clock goes on, and its timer is called."""
    for each in ms:
        bench.now = 7_000_000_000 + each * 1_000_000
        bench.timer()


@pytest.mark.clause("SAF-1", "DWELL-5")
@pytest.mark.parametrize("set_back_ms", [100, 200, 400])
def test_silence_goes_on_where_the_nodes_clock_is_set_back(set_back_ms):
    bench = Bench()
    bench.now = 7_000_000_000
    bench.send(frame(100.0), "odometry")
    silence(bench, range(0, set_back_ms + 50, 50))
    end = -5_000 + 600 - set_back_ms
    silence(bench, range(-5_000, end + 50, 50))
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.0] + [100.2 + 0.05 * k for k in range(9)])
    bench.send(frame(2.1), "odometry")
    silence(bench, range(end, end + 300, 50))
    assert [t.stamp for t in bench.trajectories()][10:] == pytest.approx([2.1, 2.3, 2.35])


STANDS_LINE = "the ROS clock stands (expected /clock with use_sim_time): silence is told by wall time"


def standing_clock(**settings) -> tuple[Bench, Callable[[float], None]]:
    """A bench whose node's clock stands, and what lets wall time go on with its timer."""
    wall = [50.0]
    bench = Bench(clock=lambda: wall[0], **settings)

    def on(seconds: float) -> None:
        for _ in range(round(20 * seconds)):
            wall[0] += 0.05
            bench.timer()

    return bench, on


@pytest.mark.clause("SAF-1", "EXPL-1")
def test_silence_goes_on_by_wall_time_where_the_nodes_clock_stands():
    bench, wall = standing_clock()
    bench.send(frame(100.0))
    bench.answer()
    bench.send(frame(100.05, 1.0))
    plan = bench.trajectories()[-1]
    wall(0.45)
    assert bench.trajectories()[-1].stamp == 100.05
    wall(4.0)
    first, last = bench.trajectories()[2], bench.trajectories()[-1]
    assert first.stamp < 101.15 and first.x[0] == pytest.approx(plan.sample(first.stamp)[0].x) and first.v[-1] == 0.0
    assert last.stamp == pytest.approx(104.45, abs=0.06) and last.stands
    assert np.diff([t.stamp for t in bench.trajectories()[2:]]) == pytest.approx(0.05)
    assert bench.lines == [STANDS_LINE]
    assert bench.cycle.explanation() == "the ROS clock stands, the car is braking" and lights(bench)[-1] == "hazard"
    (told,) = unpack_diagnostics([raw for topic, raw in bench.sent if topic == "/diagnostics"][-1], "/diagnostics")
    assert told.message.startswith("no odometry for ")


@pytest.mark.clause("SAF-1")
def test_a_simulation_that_was_paused_goes_on_as_it_was():
    bench, wall = standing_clock()
    bench.send(frame(100.0))
    bench.answer()
    bench.send(frame(100.05, 1.0))
    wall(4.0)
    bench.send(frame(100.1, 1.2))
    assert [inputs.stamp for inputs in bench.agent.seen] == pytest.approx([100.0, 100.05, 100.1])
    assert bench.trajectories()[-1].stamp == pytest.approx(100.1) and not bench.trajectories()[-1].stands
    assert bench.cycle.explanation().startswith("In on_road/normal")
    bench.now += 50_000_000
    wall(0.95)
    assert bench.trajectories()[-1].stamp == pytest.approx(100.1)
    wall(0.5)
    assert bench.lines == [STANDS_LINE] * 2


@pytest.mark.clause("SAF-1")
def test_a_clock_that_never_came_is_told_and_the_car_stopped():
    bench, wall = standing_clock()
    wall(3.0)
    stamps = [t.stamp for t in bench.trajectories()]
    assert stamps[0] == 0.0 and stamps[1:] == pytest.approx(np.arange(stamps[1], 2.96, 0.05)) and stamps[1] < 1.1
    assert bench.lines == [STANDS_LINE]
    assert [topic for topic, _ in bench.sent].count("/diagnostics") == 3


@pytest.mark.clause("SAF-1")
def test_a_clock_that_goes_on_in_steps_does_not_stand():
    bench, wall = standing_clock()
    for k in range(6):
        bench.now += 50_000_000
        bench.send(frame(100.0 + 0.05 * k), "odometry")
        wall(0.9)
    assert [t.stamp for t in bench.trajectories()] == pytest.approx(100.0 + 0.05 * np.arange(6))
    lock_step, wall = standing_clock(lock_step=True)
    wall(3.0)
    assert (lock_step.trajectories(), bench.lines, lock_step.lines) == ([], [], [])


@pytest.mark.clause("SAF-1", "SAF-3", "DWELL-5")
def test_odometry_that_comes_after_the_ticks_in_its_place_does_not_set_back_time():
    bench = Bench()
    bench.now = 7_000_000_000
    bench.send(frame(100.0), "odometry")
    silence(bench, range(0, 400, 50))
    for k in range(1, 11):  # All that was held up, at once, and what comes then.
        bench.send(frame(100.0 + 0.05 * k), "odometry")
    assert [t.stamp for t in bench.trajectories()] == pytest.approx(
        [100.0, 100.2, 100.25, 100.3, 100.35, 100.4, 100.45, 100.5]
    )
    assert bench.lines == ["odometry: older than a tick of silence, not taken (expected in odometry_timeout)"]
    bench.send(frame(99.9), "odometry")
    assert bench.trajectories()[-1].stamp == 99.9, "so far back it is the clock that was set"


@pytest.mark.clause("SAF-1", "DWELL-5")
def test_odometry_that_is_late_from_then_on_is_ticked_on_once_it_has_caught_up():
    bench = Bench()
    bench.now = 7_000_000_000
    bench.send(frame(100.0), "odometry")
    silence(bench, range(0, 350, 50))
    assert bench.trajectories()[-1].stamp == pytest.approx(100.3)
    for k in range(1, 21):
        silence(bench, range(300 + 50 * k, 301 + 50 * k))
        bench.send(frame(100.0 + 0.05 * k), "odometry")
    assert [t.stamp for t in bench.trajectories()][5:] == pytest.approx([100.0 + 0.05 * k for k in range(8, 21)])


@pytest.mark.clause("SAF-1", "DWELL-5")
def test_late_odometry_whose_clock_stands_is_silence_too():
    bench = Bench()
    bench.now = 7_000_000_000
    bench.send(frame(100.0), "odometry")
    silence(bench, range(0, 350, 50))
    for ms in range(350, 900, 50):
        silence(bench, range(ms, ms + 1))
        bench.send(frame(100.05), "odometry")
    assert [t.stamp for t in bench.trajectories()] == pytest.approx(
        [100.0, 100.2, 100.25, 100.3, 100.35, 100.4, 100.45, 100.5]
    )


@pytest.mark.clause("DWELL-5")
def test_the_first_odometry_may_be_older_than_a_tick_before_it():
    bench = Bench()
    bench.now = 100_000_000_000
    bench.timer()
    for k in range(3):
        bench.send(frame(99.98 + 0.05 * k), "odometry")
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.0, 100.03, 100.08])
    assert bench.lines == []
    late = Bench()
    late.now = 100_000_000_000
    late.timer()
    late.send(frame(99.98), "odometry")
    for ms in range(0, 350, 50):
        late.now = 100_000_000_000 + ms * 1_000_000
        late.timer()
    assert [t.stamp for t in late.trajectories()] == pytest.approx([100.0, 100.2, 100.25, 100.3])


@pytest.mark.clause("SAF-1")
def test_odometry_that_waits_for_the_end_of_a_long_tick_is_not_silent():
    wall = [0.0]
    bench = Bench(clock=lambda: wall[0])

    def after(seconds: float) -> None:
        wall[0] += seconds
        bench.now += nanoseconds(seconds)

    for k in range(4):
        bench.send(frame(100.0 + 0.25 * k), "odometry")
        after(0.25)
        bench.timer()
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.0, 100.25, 100.5, 100.75])
    after(0.05)
    bench.timer()
    assert bench.trajectories()[-1].stamp == pytest.approx(101.05), "where none waits either"
