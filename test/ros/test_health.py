"""What the node says of itself on `/diagnostics`: without ROS."""

from __future__ import annotations

import numpy as np
import pytest

from ros.stand import Bench, frame
from tuling_fsm.ros.timing import Health
from tuling_fsm.wire.diagnostics import DiagnosticLevel, DiagnosticStatus, unpack_diagnostics

S = 1_000_000_000


def status(raw: bytes) -> DiagnosticStatus:
    (only,) = unpack_diagnostics(raw, "/diagnostics")
    return only


def test_tick_times_overruns_and_ages_are_told() -> None:
    health = Health()
    for ms in range(1, 101):
        health.ticked(1e-3 * ms, False, 0)
    said = status(health.message(7 * S, {"odometry": 10 * S, "objects": 9 * S}, 10 * S))
    values = dict(said.values)
    assert said.level is DiagnosticLevel.OK and said.message == "100 ticks"
    assert float(values["tick_ms p50"]) == pytest.approx(50.5)
    assert float(values["tick_ms p99"]) == pytest.approx(np.percentile(np.arange(1, 101), 99), abs=0.01)
    assert (values["tick_ms max"], values["overruns"]) == ("100.00", "50")
    assert values["objects behind the newest input, s"] == "1.000"
    assert values["odometry behind the newest input, s"] == "0.000"


def test_a_fault_is_a_warning_once_and_stays_counted() -> None:
    health = Health()
    health.ticked(0.2, True, 0)
    health.ticked(0.001, False, None)
    health.ticked(0.001, False, 2)
    first, second = (status(health.message(k * S, {"odometry": S}, S)) for k in (1, 2))
    assert first.level is DiagnosticLevel.WARN and first.message == "1 failures; 1 late plans; 2 flaps"
    assert second.level is DiagnosticLevel.OK and second.message == "3 ticks"
    assert dict(second.values)["failures"] == "1" and dict(second.values)["flaps"] == "2"


@pytest.mark.clause("SAF-1")
def test_odometry_that_never_came_or_fell_silent_is_a_warning() -> None:
    bench = Bench(clock=lambda: bench.now / S)
    for ms in range(0, 3001, 50):
        bench.now = 5 * S + ms * 1_000_000
        if ms == 1000:
            bench.send(frame(100.0))
        bench.timer()
    told = [status(raw) for topic, raw in bench.sent if topic == "/diagnostics"]
    assert [each.level for each in told] == [
        DiagnosticLevel.WARN,
        DiagnosticLevel.OK,
        DiagnosticLevel.WARN,
        DiagnosticLevel.WARN,
    ]
    assert told[0].message == "no odometry yet"
    assert told[3].message == "no odometry for 2.0 s"


def test_a_topic_whose_clock_is_ahead_is_no_silence_of_the_odometry() -> None:
    bench = Bench(clock=lambda: bench.now / S)
    ahead = frame(3700.0)
    for k in range(41):
        bench.now = 5 * S + k * 50_000_000
        bench.send(frame(100.0 + 0.05 * k))
        bench.send(ahead, "objects")
        bench.timer()
    told = [status(raw) for topic, raw in bench.sent if topic == "/diagnostics"]
    assert [each.level for each in told] == [DiagnosticLevel.OK] * 3
    assert float(dict(told[-1].values)["odometry behind the newest input, s"]) == pytest.approx(3598.0)


def test_odometry_that_waits_behind_a_long_tick_is_no_silence() -> None:
    bench = Bench(clock=lambda: bench.now / S)
    bench.send(frame(100.0))
    bench.timer()
    bench.now = 2 * S
    bench.timer()
    told = [status(raw) for topic, raw in bench.sent if topic == "/diagnostics"]
    assert [each.level for each in told] == [DiagnosticLevel.OK] * 2


def test_another_planner_on_the_same_topic_is_a_warning_as_long_as_it_is_there() -> None:
    health = Health()
    health.ticked(0.01, False, 0)
    said = [status(health.message(S, {"odometry": S}, S, other_publishers)) for other_publishers in (0, 1, 1, 0)]
    assert [each.level for each in said] == [
        DiagnosticLevel.OK,
        DiagnosticLevel.WARN,
        DiagnosticLevel.WARN,
        DiagnosticLevel.OK,
    ]
    assert said[1].message == "1 more on the topic trajectory"
