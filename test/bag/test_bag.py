"""A recorded run comes back tick by tick, and a damaged one is refused with one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer

from tuling_fsm.bag.reader import read_messages
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record, read_transitions
from tuling_fsm.bag.writer import BagWriter, remove_run, set_aside
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import STORE, nanoseconds, seconds
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_json
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import OBJECTS, TRAFFIC_LIGHTS, BoolMessage, Inputs, Odometry, RouteAnswer, StampedRows


def drive(n: int = 60, seed: int = 5) -> list[Inputs]:
    """Inputs of n ticks: moving objects on every tick, the rest now and then."""
    rng = np.random.default_rng(seed)
    run: list[Inputs] = []
    flag, lights, mission = None, None, None
    for k in range(n):
        stamp = seconds(k * 50_000_000)
        if k % 10 == 0:
            flag = BoolMessage(stamp, k == 30)
            lights = StampedRows(stamp, rng.integers(0, 6, 4).astype(TRAFFIC_LIGHTS))
        if k == 3:
            mission = {"goal": {"x": 0.1 + 0.2, "y": 1.0 / 3.0}}
        rows = np.zeros(30, OBJECTS)
        rows["x"] = rng.normal(size=30)
        rows["id"] = rng.integers(0, 99, 30)
        odometry = Odometry(stamp, Pose(*rng.normal(size=2), rng.uniform(-3, 3)), 2.0 * k, 0.1, 1.0 / 7.0, 0.3)
        silent = k in (40, 41)
        run.append(
            Inputs(
                stamp,
                odometry=run[-1].odometry if silent else odometry,
                objects=StampedRows(stamp, rows),
                traffic_lights=lights,
                emergency_stop=flag,
                clear_emergency_stop=k == 33,
                reset=k in (33, 37),
                skip_task=k == 37,
                route_answers=(RouteAnswer(stamp, k, rng.normal(size=(20, 3))),) if k == 20 else (),
                mission=mission,
            )
        )
    return run


def outputs(inputs: Inputs, points: int = 80) -> list[tuple[str, bytes]]:
    t = 0.1 * np.arange(points)
    zero = np.zeros(points)
    trajectory = Trajectory(inputs.stamp, t, t, zero, zero, zero, zero + 1.0, zero)
    ns = nanoseconds(inputs.stamp)
    sent = [("path", pack_path(ns, np.column_stack((t, zero, zero)))), ("trajectory", pack_trajectory(ns, trajectory))]
    if round(inputs.stamp / 0.05) % 25 == 7:
        sent.append(("transition", pack_json({"stamp": inputs.stamp, "from": "a", "to": "b", "clause": "NOR-1"})))
    return sent


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bag") / "out"
    with BagWriter(folder, {"map": "town.xodr"}) as bag:
        for inputs in drive():
            bag.write_tick(inputs, outputs(inputs))
    return folder


def same(a: Inputs, b: Inputs) -> bool:
    tables = ("objects", "traffic_lights")
    plain = ("stamp", "odometry", "emergency_stop", "clear_emergency_stop", "reset", "skip_task", "mission")
    return (
        all(getattr(a, name) == getattr(b, name) for name in plain)
        and all(
            (x is None) == (y is None) and (x is None or (x.stamp == y.stamp and x.rows.tobytes() == y.rows.tobytes()))
            for x, y in ((getattr(a, name), getattr(b, name)) for name in tables)
        )
        and len(a.route_answers) == len(b.route_answers)
        and all(
            (x.stamp, x.request) == (y.stamp, y.request) and np.array_equal(x.points, y.points)
            for x, y in zip(a.route_answers, b.route_answers, strict=True)
        )
    )


@pytest.mark.clause("DWELL-3")
@pytest.mark.parametrize("name", ["", "run.mcap"])
@pytest.mark.medium
def test_every_tick_comes_back_bit_for_bit(recorded, name):
    got = list(read_inputs(BagSource(recorded / name)))
    assert len(got) == 60
    assert [same(a, b) for a, b in zip(got, drive(), strict=True)] == [True] * 60
    assert read_run_record(BagSource(recorded)) == {"map": "town.xodr"}
    assert [t["clause"] for t in read_transitions(BagSource(recorded))] == ["NOR-1"] * 3


def test_a_value_that_did_not_change_is_the_same_object_in_the_next_tick(recorded):
    got = list(read_inputs(BagSource(recorded)))
    assert got[11].traffic_lights is got[12].traffic_lights
    assert got[20].mission is got[21].mission
    assert got[40].odometry is got[39].odometry


@pytest.mark.medium
def test_rosbags_reads_the_folder_and_the_file_alike(recorded):
    sizes = []
    for path in (recorded, recorded / "run.mcap"):
        with Reader(path) as reader:
            assert {"/odometry", "/objects", "/trajectory", "/run"} <= set(reader.topics)
            assert reader.topics["/objects"].msgtype == "sensor_msgs/msg/PointCloud2"
            messages = list(reader.messages())
            assert reader.message_count == len(messages)
            for connection, _, data in messages:
                STORE.deserialize_cdr(data, connection.msgtype)
            sizes.append(len(messages))
            assert (reader.start_time, reader.end_time) == (0, 59 * 50_000_000 + 1)
    assert sizes[0] == sizes[1] > 200


def foreign(folder: Path, plugin: StoragePlugin, compressed: CompressionMode = CompressionMode.NONE) -> None:
    """As another program records: arrival times, a message a time, a namespace."""
    recorder = Writer(folder, version=9, storage_plugin=plugin)
    recorder.set_compression(compressed, CompressionFormat.ZSTD)
    with recorder as bag:
        channels = {}
        previous = None
        for inputs in drive():
            sent = list(pack_inputs(inputs, previous))
            for k, (topic, raw) in enumerate(sent + outputs(inputs)):
                if topic in ("route_answer", "operator"):
                    continue
                if topic not in channels:
                    channels[topic] = bag.add_connection(f"/car/{topic}", BY_NAME[topic].type, typestore=STORE)
                bag.write(channels[topic], nanoseconds(inputs.stamp) + 1_000_000 * (k + 1) + 7_000_000_000, raw)
            previous = inputs


@pytest.mark.parametrize("plugin", list(StoragePlugin))
def test_bags_of_other_recorders_are_read_by_the_stamps_of_the_odometry(tmp_path, plugin):
    foreign(tmp_path / "bag", plugin)
    got = list(read_inputs(BagSource(tmp_path / "bag")))
    assert [inputs.stamp for inputs in got] == [inputs.stamp for inputs in drive()]
    assert got[30].emergency_stop == BoolMessage(got[30].stamp, True)
    assert same(got[35], drive()[35])


@pytest.mark.parametrize("cut", [0, 4, 8, 30, 1000, 0.5, 0.9, -1, -8, -40])
def test_a_truncated_bag_is_refused_and_can_be_salvaged(recorded, tmp_path, cut):
    data = (recorded / "run.mcap").read_bytes()
    end = int(cut * len(data)) if isinstance(cut, float) else (cut if cut >= 0 else len(data) + cut)
    file = tmp_path / "cut.mcap"
    file.write_bytes(data[:end])
    with pytest.raises(InputError, match="truncated or corrupt") as error:
        list(read_inputs(BagSource(file)))
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)
    if end < len(data) * 0.4:
        return
    got = list(read_inputs(BagSource(file, salvage=True)))
    assert len(got) > 10
    assert all(same(a, b) for a, b in zip(got, drive(), strict=False))


@pytest.mark.medium
def test_one_spoiled_byte_is_found(recorded, tmp_path):
    data = (recorded / "run.mcap").read_bytes()
    rng = np.random.default_rng(1)
    refused = 0
    file = tmp_path / "spoiled.mcap"
    for _ in range(60):
        spoiled = bytearray(data)
        spoiled[rng.integers(len(data))] ^= 1 << rng.integers(8)
        file.write_bytes(bytes(spoiled))
        try:
            got = list(read_inputs(BagSource(file)))
        except InputError as error:
            assert "\n" not in str(error)
            refused += 1
        else:
            assert all(same(a, b) for a, b in zip(got, drive(), strict=True))
        list(read_messages(BagSource(file, salvage=True))) if spoiled[:8] == data[:8] else None
    assert refused > 40


def test_what_is_no_bag_is_refused_with_one_line(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_messages(BagSource(tmp_path / "none"))
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "empty.mcap").write_bytes(b"")
    with sqlite3.connect(tmp_path / "other.db3") as db:
        db.execute("CREATE TABLE t (a)")
    for name in ("notes.txt", "empty.mcap", "other.db3", ""):
        with pytest.raises(InputError, match=r"truncated or corrupt|no tick|no metadata.yaml"):
            list(read_inputs(BagSource(tmp_path / name)))


def test_a_bag_without_ticks_is_refused(tmp_path):
    with BagWriter(tmp_path / "a") as bag:
        bag.write(5, "state", pack_json({}))
    with pytest.raises(InputError, match="no tick in it"):
        list(read_inputs(BagSource(tmp_path / "a")))
    BagWriter(tmp_path / "b").close()
    with pytest.raises(InputError):
        list(read_inputs(BagSource(tmp_path / "b")))


def test_a_message_that_cannot_be_used_is_reported_and_left_out(tmp_path):
    with BagWriter(tmp_path) as bag:
        for inputs in drive(3):
            bag.write(nanoseconds(inputs.stamp), "mission", b"\0\1\0\0\2\0\0\0{\0")
            bag.write_tick(inputs, ())
    with pytest.raises(InputError, match="mission: no JSON"):
        list(read_inputs(BagSource(tmp_path)))
    lines: list[str] = []
    assert len(list(read_inputs(BagSource(tmp_path, report=lines.append)))) == 3
    assert sum("mission: no JSON" in line for line in lines) == 1
    assert sum("3 messages of mission were left out" in line for line in lines) == 1


def test_an_unwritable_place_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        BagWriter(tmp_path / "file" / "out")


def test_the_bag_of_another_recorder_is_never_written_over(recorded, tmp_path):
    foreign(tmp_path / "bag", StoragePlugin.SQLITE3)
    described = (tmp_path / "bag" / "metadata.yaml").read_bytes()
    with pytest.raises(InputError, match="holds the bag of another recorder"):
        BagWriter(tmp_path / "bag")
    assert (tmp_path / "bag" / "metadata.yaml").read_bytes() == described


def test_while_a_run_is_recorded_over_an_old_one_nothing_describes_the_old_one(tmp_path):
    BagWriter(tmp_path).close()
    with BagWriter(tmp_path) as bag:
        bag.write_tick(drive(1)[0], ())
        assert not (tmp_path / "metadata.yaml").exists()
    assert len(list(read_inputs(BagSource(tmp_path)))) == 1


def test_what_was_made_of_the_run_before_goes_with_its_bag(tmp_path):
    """A run that is broken off leaves no result: that of the one before would be shown over it."""
    names = {"result.json", "report.html", "pictures.html"}
    for keep in (True, False):
        with BagWriter(tmp_path) as bag:
            bag.write_tick(drive(1)[0], ())
            assert not names & {file.name for file in tmp_path.iterdir()}
        for name in names:
            (tmp_path / name).write_text("of this run")
        if keep:
            assert names < {file.name for file in set_aside(tmp_path).iterdir()}
            assert not names & {file.name for file in tmp_path.iterdir()}
    BagWriter(tmp_path)
    assert not names & {file.name for file in tmp_path.iterdir()}


def test_what_another_program_still_records_is_not_set_aside(tmp_path):
    with BagWriter(tmp_path) as bag:
        bag.write_tick(drive(1)[0], ())
        with pytest.raises(InputError, match=r"run\.mcap: is being written by another program"):
            set_aside(tmp_path)
        assert [file.name for file in tmp_path.iterdir()] == ["run.mcap"]
    assert set_aside(tmp_path) == tmp_path / "before_1"


def test_a_run_that_was_recorded_is_removed_whole_and_no_bag_of_another_recorder(tmp_path):
    for name, stays in (("run.mcap", set()), ("drive_0.mcap", {"run.mcap", "metadata.yaml"})):
        with BagWriter(tmp_path), pytest.raises(InputError, match=r"run\.mcap: is being written by another program"):
            remove_run(tmp_path)
        described = tmp_path / "metadata.yaml"
        described.write_text(described.read_text().replace("run.mcap", name))
        for derived in ("result.json", "report.html", "pictures.html"):
            (tmp_path / derived).touch()
        remove_run(tmp_path)
        assert {file.name for file in tmp_path.iterdir()} == stays
    remove_run(tmp_path / "absent")


def test_what_was_recorded_before_is_set_aside_as_often_as_it_has_to_be(tmp_path):
    assert set_aside(tmp_path) is None
    for number in (1, 2):
        with BagWriter(tmp_path) as bag:
            bag.write_tick(drive(number)[-1], ())
        assert set_aside(tmp_path) == tmp_path / f"before_{number}"
    BagWriter(tmp_path).close()
    stamps = [next(iter(read_inputs(BagSource(tmp_path / f"before_{number}")))).stamp for number in (1, 2)]
    assert stamps == [drive(number)[-1].stamp for number in (1, 2)]


def test_two_never_write_one_file(tmp_path):
    with BagWriter(tmp_path) as bag:
        bag.write_tick(drive(1)[0], ())
        with pytest.raises(InputError, match="is being written by another program"):
            BagWriter(tmp_path)
    assert len(list(read_inputs(BagSource(tmp_path)))) == 1


def test_a_bag_whose_file_only_ends_in_the_same_name_is_that_of_another_recorder(recorded, tmp_path):
    described = recorded.with_name("metadata.yaml") if recorded.is_file() else recorded / "metadata.yaml"
    (tmp_path / "metadata.yaml").write_text(described.read_text().replace("run.mcap", "city_run.mcap"))
    with pytest.raises(InputError, match="holds the bag of another recorder"):
        BagWriter(tmp_path)
    (tmp_path / "metadata.yaml").write_text(described.read_text())
    BagWriter(tmp_path).close()
