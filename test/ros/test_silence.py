"""When the planner ticks by itself, as odometry is silent or a clock stands or jumps: without ROS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ros.stand import Bench, frame
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import unpack_diagnostics


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
    assert bench.cycle.explanation() == "the ROS clock stands, the car is braking" and bench.lights()[-1] == "hazard"
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
    assert stamps == pytest.approx(np.arange(stamps[0], 2.96, 0.05)) and 1.0 < stamps[0] < 1.1
    assert bench.agent.seen == []
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
    for ms in (0, 200):
        bench.now = 99_800_000_000 + ms * 1_000_000
        bench.timer()
    for k in range(3):
        bench.send(frame(99.98 + 0.05 * k), "odometry")
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.0, 100.03, 100.08])
    assert bench.lines == []
    late = Bench()
    for ms in (0, 200):
        late.now = 99_800_000_000 + ms * 1_000_000
        late.timer()
    late.send(frame(99.98), "odometry")
    for ms in range(0, 350, 50):
        late.now = 100_000_000_000 + ms * 1_000_000
        late.timer()
    assert [t.stamp for t in late.trajectories()] == pytest.approx([100.0, 100.2, 100.25, 100.3])


@pytest.mark.clause("SAF-1")
def test_odometry_that_has_not_come_yet_is_silent_after_its_time_and_not_at_once():
    bench = Bench()
    bench.now = 100_000_000_000
    bench.activate()
    for ms in range(0, 350, 50):
        bench.now = 100_000_000_000 + ms * 1_000_000
        bench.timer()
    assert [t.stamp for t in bench.trajectories()] == pytest.approx([100.2, 100.25, 100.3])


@pytest.mark.clause("SAF-1", "DWELL-3")
@pytest.mark.parametrize("odometry_first", [False, True])
def test_that_a_simulated_clock_comes_is_no_silence(odometry_first):
    """With use_sim_time it is 0 until the first message of /clock."""
    bench = Bench()
    bench.timer()
    if odometry_first:
        bench.send(frame(1.7e9), "odometry")
    for ms in range(0, 350, 50):
        bench.now = 1_700_000_000_000_000_000 + ms * 1_000_000
        bench.timer()
    stamps = [t.stamp - 1.7e9 for t in bench.trajectories()]
    assert stamps == pytest.approx([0.0] * odometry_first + [0.2, 0.25, 0.3], abs=1e-6)


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
