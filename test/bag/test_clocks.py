"""What a node recorded is replayed tick by tick whatever the clock of its odometry did (DWELL-3, DWELL-5)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from ros.stand import Bench, frame
from rosbags.rosbag2 import StoragePlugin, Writer

from bag.test_bag import outputs
from bag.test_replay import Toggling, drive, record
from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.replay import replay, transitions
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_ticks, read_transitions
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.wire.cdr import STORE, nanoseconds, seconds
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_json
from tuling_fsm.world.inputs import Inputs

TICK_NS = 50_000_000


def stamped(inputs: Inputs, stamp: float, odometry_stamp: float) -> Inputs:
    """A tick at another time, with a message of the odometry of its own."""
    assert inputs.odometry is not None
    return replace(inputs, stamp=stamp, odometry=replace(inputs.odometry, stamp=odometry_stamp))


def ticked(folder: Path) -> list[tuple[float, float]]:
    """Stamps of the ticks and of the odometry that they saw, as a replay is given them; -1 for none."""
    seen = [(each.stamp, each.odometry) for each in read_inputs(BagSource(folder))]
    return [(stamp, -1.0 if odometry is None else odometry.stamp) for stamp, odometry in seen]


@pytest.mark.clause("DWELL-3", "DWELL-5")
@pytest.mark.parametrize("later_ns", [0, 20_000_000])
def test_laps_on_a_clock_that_is_set_back_are_replayed_one_after_the_other(tmp_path: Path, later_ns: int) -> None:
    ticks = [
        stamped(each, stamp, stamp)
        for lap, seed in enumerate((1, 2, 3))
        for k, each in enumerate(drive(seed)[:60])
        for stamp in (seconds(10**9 + k * TICK_NS + lap * later_ns),)
    ]
    bag = record(tmp_path, ticks)
    assert ticked(bag) == [(each.stamp, each.stamp) for each in ticks]
    recorded = read_transitions(BagSource(bag))
    assert len(recorded) > 50
    assert list(transitions(Toggling(), read_inputs(BagSource(bag)))) == recorded


@pytest.mark.clause("DWELL-5")
def test_a_bag_plays_at_the_pace_of_its_ticks_though_the_clock_is_set_back(tmp_path: Path) -> None:
    stamps = [10.0, 10.5, 2.0, 2.5, 3.0, 60.0, 10**6, 5.0, 900.0, 900.5]
    record(tmp_path, [stamped(drive(1)[0], stamp, stamp) for stamp in stamps])
    times = list(dict.fromkeys(message.ns for message in read_messages(BagSource(tmp_path))))
    assert times[:2] == [nanoseconds(stamp) for stamp in stamps[:2]]
    assert times[2:5] == [times[1] + 1, times[1] + 1 + 500_000_000, times[1] + 1 + 1_000_000_000]
    assert times[5:7] == [nanoseconds(stamp) for stamp in stamps[5:7]]
    assert times[7:] == [times[6] + 1, times[6] + 1 + 1_000_000_000, times[6] + 1 + 1_500_000_000]


@pytest.mark.clause("DWELL-3")
def test_odometry_that_is_repeated_or_delayed_leaves_the_stamps_of_the_ticks(tmp_path: Path) -> None:
    """It stands for a while, and then comes 0.2 s late."""
    stamps = [seconds(k * TICK_NS) for k in range(60)]
    own = [*stamps[:20], *[stamps[19]] * 20, *stamps[36:56]]
    ticks = [stamped(each, *pair) for each, *pair in zip(drive(3)[:60], stamps, own, strict=True)]
    bag = record(tmp_path, ticks)
    assert ticked(bag) == list(zip(stamps, own, strict=True))
    assert list(transitions(Toggling(), read_inputs(BagSource(bag)))) == read_transitions(BagSource(bag))


@pytest.mark.clause("DWELL-3")
def test_what_the_node_ticked_on_is_replayed_when_localization_hangs(tmp_path: Path) -> None:
    bench = Bench(record=tmp_path)
    for ms in range(0, 600, 50):
        bench.now = 7_000_000_000 + ms * 1_000_000
        bench.send(frame(100.0), "odometry")
        bench.timer()
    bench.halt()
    *sent, _ = bench.trajectories()
    assert len(sent) == 9
    assert ticked(tmp_path) == [(each.stamp, 100.0) for each in sent]


@pytest.mark.clause("DWELL-3")
def test_what_came_before_the_first_odometry_is_there_from_the_first_tick_though_clocks_differ(tmp_path: Path) -> None:
    bench = Bench(record=tmp_path)
    bench.do(bench.cycle.receive("mission", pack_json({"goal": {"x": 1.0, "y": 2.0}})))
    for ms in range(0, 500, 50):
        bench.now = 10**15 + ms * 1_000_000
        bench.timer()
    for k in range(10):
        bench.now += TICK_NS
        bench.send(frame(seconds(k * TICK_NS)))
    bench.halt()
    *sent, _ = bench.trajectories()
    assert len(sent) == 16, "without odometry from 0.2 s on"
    assert [each.stamp for each in read_inputs(BagSource(tmp_path))] == [each.stamp for each in sent]
    assert all(each.mission is not None for each in read_inputs(BagSource(tmp_path)))


@pytest.mark.clause("USE-12", "DWELL-3")
def test_parameters_are_set_again_on_the_lap_on_which_they_were_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the second lap the planner fails on that tick: what is written has them on the next one."""
    import tuling_fsm.bag.replay as module
    from tuling_fsm.agent import Parameters
    from tuling_fsm.core.parameters import flatten

    class Noting(Toggling):
        speed = 0.0

        def step(self, inputs: Inputs):
            speeds.append(self.speed)
            if len(speeds) == 16:
                raise RuntimeError("no way")
            return super().step(inputs)

        def reconfigure(self, parameters: Parameters) -> None:
            self.speed = parameters.vehicle.max_speed

    speeds: list[float] = []
    lap = drive(4)[:10]
    (tmp_path / "m.xodr").touch()
    with BagWriter(tmp_path, {"map": str(tmp_path / "m.xodr")}) as bag:
        for k, each in enumerate((*lap, *lap)):
            if k in (6, 15):
                new = flatten(Parameters()) | {"vehicle.max_speed": float(k)}
                bag.write(nanoseconds(each.stamp), "parameters", pack_json(new))
            bag.write_tick(stamped(each, each.stamp, each.stamp), ())
    monkeypatch.setattr(module, "agent_of", lambda *_: Noting())
    replay(BagSource(tmp_path, report=lambda line: None), out=tmp_path / "now")
    assert speeds == [0.0] * 6 + [6.0] * 9 + [15.0] * 5
    written = {k: tick.parameters for k, tick in enumerate(read_ticks(BagSource(tmp_path / "now"))) if tick.parameters}
    assert {k: new["vehicle.max_speed"] for k, new in written.items()} == {6: 6.0, 15: 15.0}


def test_in_a_bag_of_another_recorder_no_late_answer_is_a_tick(tmp_path: Path) -> None:
    """On simulated time several messages have one log time: here odometry and the answer to the one before."""
    ticks = [stamped(each, seconds(k * TICK_NS), seconds(k * TICK_NS)) for k, each in enumerate(drive(5)[:20])]
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        channels = {
            topic: bag.add_connection(f"/{topic}", BY_NAME[topic].type, typestore=STORE)
            for topic in ("odometry", "trajectory")
        }
        for before, each in zip((None, *ticks), ticks, strict=False):
            ns = nanoseconds(each.stamp)
            bag.write(channels["odometry"], ns, dict(pack_inputs(each))["odometry"])
            if before is not None:
                bag.write(channels["trajectory"], ns, dict(outputs(before))["trajectory"])
        for each in ticks[-3:]:
            bag.write(channels["trajectory"], ns + 1, dict(outputs(each))["trajectory"])
    assert ticked(tmp_path / "bag") == [(each.stamp, each.stamp) for each in ticks]


@pytest.mark.clause("EXPL-1")
def test_a_stop_has_its_reason_though_the_node_began_on_another_clock(tmp_path: Path) -> None:
    odometry = drive(1)[0].odometry
    assert odometry is not None
    with BagWriter(tmp_path) as bag:
        for k, code in [*((2 * 10**7 + k, "NO_ODOMETRY") for k in range(5)), *((k, "NO_ROUTE") for k in range(60))]:
            ns = k * TICK_NS
            if code == "NO_ROUTE":
                bag.write(ns, "odometry", pack_odometry(ns, replace(odometry, stamp=seconds(ns), v=0.0)))
            bag.write(ns, "why", pack_diagnostics(ns, (DiagnosticStatus("limit", code, (("code", code),)),)))
    (stop,) = read_timeline(BagSource(tmp_path)).stops
    assert [cause.code for cause in stop.causes] == ["NO_ROUTE"]
    assert stop.unexplained_s == 0.0
