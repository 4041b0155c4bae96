"""A replayed bag makes the recorded transitions again (DWELL-3)."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from rosbags.rosbag2 import StoragePlugin, Writer

from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.replay import agent_of, differences, map_of, map_record, replay, replayed_ticks, transitions
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record, read_ticks, read_transitions
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Hold, Limit, PlanResult, Reason
from tuling_fsm.core.scene import Ego
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import STORE, nanoseconds, seconds
from tuling_fsm.wire.outputs import Outputs, trajectory_messages
from tuling_fsm.wire.text import pack_json, pack_string, unpack_json
from tuling_fsm.world.inputs import BoolMessage, Inputs, Odometry

ROOT = Path(__file__).resolve().parents[2]


class Toggling:
    """Changes state whenever the car's heading, in its last bit, says so: the least change of an input shows."""

    road_map = SimpleNamespace(left_hand=False)

    def __init__(self) -> None:
        self.state, self.seq = "a", 0

    def step(self, inputs: Inputs) -> SimpleNamespace:
        assert inputs.odometry is not None
        event = None
        odd = int.from_bytes(np.float64(inputs.odometry.pose.heading).tobytes(), "little") % 2
        stopped = inputs.emergency_stop is not None and inputs.emergency_stop.value
        dest = ("b" if odd else "a") + ("!" if stopped else "")
        if dest != self.state:
            self.seq += 1
            event = SimpleNamespace(
                seq=self.seq, stamp=inputs.stamp, source=self.state, dest=dest, clause="X-1", guard="odd", dwell_s=0.0,
                rejected=(),
            )  # fmt: skip
            self.state = dest
        trajectory = Trajectory.standing(inputs.stamp, inputs.odometry.pose)
        decision = SimpleNamespace(
            route_blocked=None, transition=event, supervisor_transitions=(), supervisors=(), pending=(), timeout=None,
            time_in_state_s=0.0, request=Hold(Reason.NONE), reports=(),
        )  # fmt: skip
        world = SimpleNamespace(route=None, junctions=(), reports=(), ego=Ego(Pose(0, 0, 0), 0.0, 0.0, 0.0))
        limit = Limit(Reason.NONE)
        return SimpleNamespace(
            stamp=inputs.stamp, state=self.state, trajectory=trajectory, decision=decision, world=world, limit=limit,
            result=PlanResult(True, trajectory, limit),
        )  # fmt: skip


def drive(seed: int) -> list[Inputs]:
    rng = np.random.default_rng(seed)
    flags = [BoolMessage(seconds(k * 50_000_000), bool(rng.integers(2))) for k in range(300)]
    return [
        Inputs(
            seconds(k * 50_000_000),
            odometry=Odometry(seconds(k * 50_000_000), Pose(1.0, 2.0, rng.uniform(-3.1, 3.1)), 1.0, 0.0),
            emergency_stop=flags[k // 3 * 3],
        )
        for k in range(300)
    ]


def record(folder: Path, inputs: list[Inputs]) -> Path:
    agent, outputs = Toggling(), Outputs()
    with BagWriter(folder, {"map": "m.xodr"}) as bag:
        for each in inputs:
            tick, ns = agent.step(each), nanoseconds(each.stamp)
            bag.write_tick(each, [*trajectory_messages(tick.trajectory, ns), *outputs.messages(tick, ns)])
    return folder


@pytest.mark.clause("DWELL-3")
def test_the_replay_makes_the_same_transitions_at_the_same_stamps(tmp_path):
    bag = record(tmp_path / "a", drive(1))
    recorded = read_transitions(BagSource(bag))
    assert len(recorded) > 100
    replayed = list(transitions(Toggling(), read_inputs(BagSource(bag))))
    assert replayed == recorded
    assert differences(recorded, replayed) == []


def test_a_map_whose_folder_is_no_utf_8_is_named_in_letters_and_found(tmp_path):
    map_file = tmp_path / os.fsdecode("地图".encode("gbk")) / "town.xodr"
    map_file.parent.mkdir()
    map_file.write_text("map")
    with BagWriter(tmp_path, map_record(map_file)) as bag:
        bag.write(0, "state", pack_string("on_road/normal"))
    (run,) = (unpack_json(m.data, "run") for m in read_messages(BagSource(tmp_path)) if m.topic == "run")
    assert run["map"] == f"{tmp_path}/\\udcb5\\udcd8\u037c/town.xodr"
    assert map_of(run, "run") == str(map_file)
    map_file.unlink()
    with pytest.raises(InputError, match="no such file"):
        map_of(run, "run")


def test_differences_are_said_in_lines(tmp_path):
    recorded = read_transitions(BagSource(record(tmp_path / "a", drive(1)[:3])))
    other = [dict(event, stamp=event["stamp"] + 0.05) for event in recorded[:1]] + recorded[1:]
    lines = differences(recorded, other)
    assert sorted(line[0] for line in lines) == ["+", "-"]
    assert lines[0].startswith("- 0.") and "a -> b  (X-1)" in lines[0]


def test_a_bag_that_names_no_map_is_refused(tmp_path):
    with pytest.raises(InputError, match="does not name its map"):
        agent_of({}, "run.mcap")
    with pytest.raises(InputError, match=r"gone.xodr: no such file"):
        agent_of({"map": str(tmp_path / "gone.xodr")}, "run.mcap")


def to_sqlite(source: Path, folder: Path, version: int) -> None:
    """The same bag in the storage of Humble and before."""
    with Writer(folder, version=9 if version > 8 else 8, storage_plugin=StoragePlugin.SQLITE3) as bag:
        connections = {}
        for message in read_messages(BagSource(source)):
            if message.topic not in connections:
                name = f"/{message.topic}"
                connections[message.topic] = bag.add_connection(name, message.type, typestore=STORE)
            bag.write(connections[message.topic], message.ns, message.data)
    metadata = folder / "metadata.yaml"
    told = yaml.safe_load(metadata.read_text(encoding="utf-8"))
    told["rosbag2_bagfile_information"]["version"] = version
    for topic in told["rosbag2_bagfile_information"]["topics_with_message_count"]:
        if version < 9:
            topic["topic_metadata"]["offered_qos_profiles"] = ""
        if version < 7:
            topic["topic_metadata"].pop("type_description_hash", None)
    metadata.write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")


@pytest.mark.clause("DWELL-3")
@pytest.mark.parametrize(("distro", "version"), [("foxy", 4), ("humble", 5), ("iron", 6), ("jazzy", 8), ("kilted", 9)])
@pytest.mark.medium
def test_a_bag_in_sqlite_of_any_distribution_replays(tmp_path, distro, version):
    record(tmp_path / "mcap", drive(2)[:120])
    to_sqlite(tmp_path / "mcap", tmp_path / distro, version)
    assert read_transitions(BagSource(tmp_path / distro)) == read_transitions(BagSource(tmp_path / "mcap")) != []
    again = list(transitions(Toggling(), read_inputs(BagSource(tmp_path / distro))))
    assert differences(read_transitions(BagSource(tmp_path / distro)), again) == []
    (file,) = (tmp_path / distro).glob("*.db3")
    assert list(transitions(Toggling(), read_inputs(BagSource(file)))) == again


@pytest.mark.medium
@pytest.mark.parametrize(
    ("run", "compared"),
    [({}, False), ({"planner": "idm"}, False), ({"planner": "agent"}, True), ({"parameters": {}}, True)],
)
def test_transitions_are_compared_with_those_of_this_planner_alone(tmp_path, run, compared):
    with BagWriter(tmp_path, run) as bag:
        for each in drive(4)[:40]:
            bag.write_tick(each, ())
    lines: list[str] = []
    found = replay(BagSource(tmp_path, report=lines.append), map_file=ROOT / "config" / "course" / "course.xodr")
    assert [line[0] for line in found] == ["+"] * len(found)
    assert bool(found) is compared
    assert any("no transitions in it to compare with" in line for line in lines) is not compared


@pytest.mark.medium
def test_a_map_that_was_changed_after_the_run_is_told(tmp_path, capsys):
    road_map = tmp_path / "town.xodr"
    road_map.write_bytes((ROOT / "config" / "course" / "course.xodr").read_bytes())
    with BagWriter(tmp_path / "bag", map_record(road_map)) as bag:
        for each in drive(4)[:40]:
            bag.write_tick(each, ())
        bag.write(0, "state", pack_string("on_road/normal"))
    verbs = (["replay"], ["why", "--time"], ["report", "--out", str(tmp_path / "film.html")])
    for comment, told in ((b"", 0), (b"<!-- limits of today -->", 1)):
        road_map.write_bytes(road_map.read_bytes() + comment)
        for verb in verbs:
            main([*verb, str(tmp_path / "bag")])
            said = f"{road_map}: another content than the map of {tmp_path / 'bag'} had when it was recorded\n"
            assert capsys.readouterr().err.count(said) == told
    replay(BagSource(tmp_path / "bag"), out=tmp_path / "out")
    assert map_record(road_map).items() <= read_run_record(BagSource(tmp_path / "out")).items()


@pytest.mark.medium
def test_a_replay_writes_its_answers_beside_the_inputs_but_never_over_them(tmp_path):
    road_map = ROOT / "config" / "course" / "course.xodr"
    ticks = drive(4)[:40]
    with BagWriter(tmp_path / "in", {"planner": "idm"}) as bag:
        for each in ticks:
            bag.write_tick(each, ())
    replay(BagSource(tmp_path / "in"), map_file=road_map, out=tmp_path / "out")
    assert read_run_record(BagSource(tmp_path / "out"))["planner"] == "agent"
    assert [inputs.odometry for inputs in read_inputs(BagSource(tmp_path / "out"))] == [
        inputs.odometry for inputs in ticks
    ]
    topics = {message.topic for message in read_messages(BagSource(tmp_path / "out"))}
    assert {"odometry", "trajectory", "path", "state", "why"} <= topics
    assert replay(BagSource(tmp_path / "out"), map_file=road_map) == []
    for same in (tmp_path / "in", tmp_path / "in" / "run.mcap"):
        with pytest.raises(InputError, match="is a bag that is read"):
            replay(BagSource(same), map_file=road_map, out=tmp_path / "in")
        with pytest.raises(InputError, match="is a bag that is read"):
            replay(BagSource(tmp_path / "out"), map_file=road_map, against=BagSource(same), out=tmp_path / "in")


@pytest.mark.clause("USE-12", "DWELL-3")
def test_parameters_that_were_set_in_mid_drive_are_set_again(tmp_path, monkeypatch):
    """At the same tick, before its inputs."""
    import tuling_fsm.bag.replay as module
    from tuling_fsm.agent import Parameters
    from tuling_fsm.core.parameters import flatten

    ticks, calls = drive(4)[:10], []
    new = flatten(Parameters()) | {"vehicle.max_speed": 3.5}
    (tmp_path / "m.xodr").touch()
    with BagWriter(tmp_path, {"map": str(tmp_path / "m.xodr")}) as bag:
        for k, each in enumerate(ticks):
            if k == 6:
                bag.write(nanoseconds(each.stamp), "parameters", pack_json(new))
            bag.write_tick(each, ())

    class Noting(Toggling):
        def step(self, inputs):
            calls.append(inputs.stamp)
            return super().step(inputs)

        def reconfigure(self, parameters):
            calls.append(parameters.vehicle.max_speed)

    monkeypatch.setattr(module, "agent_of", lambda *_: Noting())
    replay(BagSource(tmp_path), out=tmp_path / "now")
    stamps = [each.stamp for each in ticks]
    assert calls == [*stamps[:6], 3.5, *stamps[6:]]
    written = [tick.parameters for tick in read_ticks(BagSource(tmp_path / "now"))]
    assert written == [*[None] * 6, new, *[None] * 3]


@pytest.mark.parametrize("parameters", [[1], 5, {"vehicle": 3}, {"vehicle.width": 1.9, "vehicle.width.x": 2}, {"a": 1}])
def test_parameters_that_are_none_are_refused_in_one_line(parameters):
    run = {"map": str(ROOT / "config" / "course" / "course.xodr"), "parameters": parameters}
    with pytest.raises(InputError, match=r"parameter|vehicle") as error:
        agent_of(run, "bag")
    assert "\n" not in str(error.value)


def test_differences_of_two_long_runs_are_found():
    """Similar lines by the thousand are what a clever diff takes for ever over: the test would not end."""
    events = [{"stamp": 0.05 * k, "from": "a", "to": "b", "clause": "NOR-1"} for k in range(2000)]
    later = [dict(event, stamp=event["stamp"] + 0.01) for event in events]
    assert len(differences(events, later)) == 4000


@pytest.mark.clause("SAF-1")
def test_a_tick_on_which_the_planner_fails_is_told_and_left_out():
    class Failing(Toggling):
        def step(self, inputs):
            if inputs.stamp == 0.1:
                raise RuntimeError("no way")
            return super().step(inputs)

    lines: list[str] = []
    ticks = drive(1)[:5]
    told = [answer.inputs.stamp for answer in replayed_ticks(Failing(), ticks, lines.append)]
    assert told == [each.stamp for each in ticks if each.stamp != 0.1]
    assert lines == ["at 0.100 s the planner failed: RuntimeError: no way"]
    with pytest.raises(RuntimeError, match="no way"):
        list(replayed_ticks(Failing(), ticks))


@pytest.mark.slow
@pytest.mark.clause("DWELL-3")
def test_a_hundred_replays_make_one_and_the_same_log(tmp_path):
    from tuling_fsm.run import run_scenario
    from tuling_fsm.run_settings import RunSettings

    roam = ROOT / "config" / "scenarios" / "roam.osc"
    run_scenario(RunSettings(roam, overrides=(("length_m", "30"), ("vehicles", "2"))), out=tmp_path, film=False)
    first, inputs = agent_of(read_run_record(BagSource(tmp_path)), "bag"), list(read_inputs(BagSource(tmp_path)))[:15]
    logs = [list(transitions(type(first)(first._road_map, first.parameters), inputs)) for _ in range(100)]
    assert len(logs[0]) >= 2
    assert logs.count(logs[0]) == 100


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.medium
def test_a_truncated_bag_in_sqlite_is_refused_and_can_be_salvaged(tmp_path, share):
    record(tmp_path / "mcap", drive(2)[:120])
    to_sqlite(tmp_path / "mcap", tmp_path / "whole", 9)
    (whole,) = (tmp_path / "whole").glob("*.db3")
    cut = tmp_path / "cut" / "run.db3"
    cut.parent.mkdir()
    cut.write_bytes(whole.read_bytes()[: int(share * whole.stat().st_size)])
    with pytest.raises(InputError, match="truncated or corrupt") as error:
        list(read_inputs(BagSource(cut)))
    assert len(str(error.value).splitlines()) == 1
    got, all_of_it = list(read_inputs(BagSource(cut.parent, salvage=True))), list(read_inputs(BagSource(whole)))
    assert 0.5 * share * len(all_of_it) < len(got) < len(all_of_it)
    assert [each.odometry for each in got[:-1]] == [each.odometry for each in all_of_it[: len(got) - 1]]


def test_what_does_not_even_begin_as_a_bag_cannot_be_salvaged(tmp_path):
    (tmp_path / "run.mcap").write_text("nothing of the kind")
    with pytest.raises(InputError, match="begins neither as MCAP nor as sqlite3"):
        list(read_messages(BagSource(tmp_path, salvage=True)))
    (tmp_path / "run.db3").write_bytes(b"")
    with pytest.raises(InputError, match="begins neither as MCAP nor as sqlite3"):
        list(read_messages(BagSource(tmp_path, salvage=True)))
