"""Bags with names, frames and times of their own: each oddity has its message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rosbags.rosbag2 import StoragePlugin, Writer

import tuling_fsm
from bag.test_bag import drive, outputs, same
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_recorded, read_run_record
from tuling_fsm.bag.time_loss import read_time_losses
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.bag.topic_names import TopicNames, parse_remaps
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.time_loss import ALL, TimeLossKey, summed
from tuling_fsm.core.topics import BY_NAME, CLOUD, GRID, INPUTS, ODOMETRY, STRING
from tuling_fsm.share import share_file
from tuling_fsm.viewer.recording import FilmSource
from tuling_fsm.viewer.recording import record as record_film
from tuling_fsm.wire import cdr
from tuling_fsm.wire.inputs import pack_inputs
from tuling_fsm.wire.text import pack_json, pack_string
from tuling_fsm.world.inputs import Inputs, StampedRows

COURSE = share_file("config", "course", "course.xodr")
FRAMED = (ODOMETRY, CLOUD, GRID)


def record(folder: Path, ticks: list[Inputs], called: dict[str, str], frame: str = "map") -> Path:
    """A bag of another recorder: its own names of topics and frames."""
    with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        channels, previous = {}, None
        for inputs in ticks:
            for topic, raw in pack_inputs(inputs, previous):
                if topic in ("route_answer", "operator"):
                    continue
                kind, name = BY_NAME[topic].type, called.get(topic, f"/{topic}")
                if name not in channels:
                    channels[name] = bag.add_connection(name, kind, typestore=cdr.STORE)
                bag.write(channels[name], cdr.nanoseconds(inputs.stamp), in_frame(kind, raw, frame))
            previous = inputs
    return folder


def in_frame(kind: str, raw: bytes, frame: str) -> bytes:
    if kind not in FRAMED:
        return raw
    message = cdr.unpack(raw, kind, "test")
    message.header.frame_id = frame
    return cdr.pack(kind, message)


def shifted(inputs: Inputs, by: float) -> Inputs:
    stamp = inputs.stamp + by
    assert inputs.odometry is not None and inputs.objects is not None
    objects = StampedRows(stamp, inputs.objects.rows)
    return replace(inputs, stamp=stamp, odometry=replace(inputs.odometry, stamp=stamp), objects=objects)


def test_remapped_names_are_told_and_taken(tmp_path):
    called = {"odometry": "/car/localization/kinematics", "objects": "/car/perception/tracks"}
    bag = record(tmp_path / "bag", drive(30), called)
    with pytest.raises(InputError, match="--remap /car/localization/kinematics:=odometry"):
        list(read_inputs(BagSource(bag)))
    lines: list[str] = []
    half = TopicNames(parse_remaps(["/car/localization/kinematics:=odometry"]))
    assert list(read_inputs(BagSource(bag, names=half, report=lines.append)))[20].objects is None
    assert "nothing of" in lines[-1] and "perhaps --remap /car/perception/tracks:=objects" in lines[-1]
    names = TopicNames(parse_remaps(["/car/localization/kinematics:=odometry", "car/perception/tracks:=objects"]))
    got = list(read_inputs(BagSource(bag, names=names)))
    assert all(same(replace(a, route_answers=()), replace(b, **NOT_SENT)) for a, b in zip(got, drive(30), strict=True))


NOT_SENT = {"route_answers": (), "reset": False, "skip_task": False, "clear_emergency_stop": False}


@pytest.mark.parametrize(
    ("remap", "said"),
    [("/odom=odometry", "cannot be used"), ("/odom:=nothing", "cannot be used"), (":=odometry", "cannot be used")],
)
def test_a_remap_that_says_nothing_is_refused(remap, said):
    with pytest.raises(InputError, match=said):
        parse_remaps([remap])


@pytest.mark.parametrize("second", ["/b:=odometry", "/a:=objects"])
def test_no_name_is_given_twice(second):
    with pytest.raises(InputError, match=f"--remap {second}: says twice"):
        parse_remaps(["/a:=odometry", second])


def test_a_remap_of_a_topic_that_is_not_there_is_refused(tmp_path):
    bag = record(tmp_path / "bag", drive(3), {})
    with pytest.raises(InputError, match="no topic /odom in it"):
        list(read_inputs(BagSource(bag, names=TopicNames({"/odom": "odometry"}))))


def test_of_two_topics_with_one_last_name_the_plain_one_counts_or_neither():
    both = TopicNames().table(["/gps/odometry", "/odometry"], "bag")
    assert both == {"/gps/odometry": "/gps/odometry", "/odometry": "odometry"}
    with pytest.raises(InputError, match=r"/a/odometry and /b/odometry could both be odometry .*--remap /a/odometry"):
        TopicNames().table(["/a/odometry", "/b/odometry"], "bag")
    chosen = TopicNames({"/b/odometry": "odometry"}).table(["/a/odometry", "/b/odometry"], "bag")
    assert chosen == {"/a/odometry": "/a/odometry", "/b/odometry": "odometry"}


@pytest.mark.medium
def test_every_reader_takes_remaps_and_the_second_bag_may_have_our_names(tmp_path):
    """Two cars in one bag: without a remap it is neither's."""
    kinds = {"/a/odometry": ODOMETRY, "/b/odometry": ODOMETRY, "/run": STRING, "/transition": STRING}
    event = {"stamp": 1.0, "from": "x", "to": "y"}
    with Writer(tmp_path / "two", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        channels = {name: bag.add_connection(name, kind, typestore=cdr.STORE) for name, kind in kinds.items()}
        bag.write(channels["/run"], 0, pack_json({"map": str(COURSE)}))
        bag.write(channels["/transition"], 0, pack_json(event))
        for each in drive(3):
            raw = next(raw for topic, raw in pack_inputs(each, None) if topic == "odometry")
            bag.write(channels["/a/odometry"], cdr.nanoseconds(each.stamp), raw)
            bag.write(channels["/b/odometry"], cdr.nanoseconds(each.stamp), raw)
    with BagWriter(tmp_path / "ours") as bag:
        bag.write(0, "transition", pack_json(event))
    names = TopicNames({"/a/odometry": "odometry"})
    assert record_film(FilmSource(BagSource(tmp_path / "two", names=names))).data
    assert summed(read_time_losses(BagSource(tmp_path / "two", names=names)), TimeLossKey(ALL, ALL)).time_s > 0.0
    for against in ("two", "ours"):
        assert tuling_fsm.replay(str(tmp_path / "two"), names=names, against=tmp_path / against) != []
    with pytest.raises(InputError, match="no topic /a/odometry in it"):
        read_run_record(BagSource(tmp_path / "ours", names=names))
    assert names.of_second.table(["/odometry"], "bag") == {"/odometry": "odometry"}


def test_a_foreign_frame_is_told_once_and_can_be_taken_for_map(tmp_path):
    bag = record(tmp_path / "bag", drive(20), {}, frame="world")
    lines: list[str] = []
    assert all(tick.odometry is None for tick in read_inputs(BagSource(bag, report=lines.append)))
    assert sum("odometry: frame_id 'world' (expected 'map')" in line for line in lines) == 1
    assert sum("20 messages of odometry were left out" in line for line in lines) == 1
    got = list(read_inputs(BagSource(bag, names=TopicNames(frame="world"))))
    assert all(same(replace(a, route_answers=()), replace(b, **NOT_SENT)) for a, b in zip(got, drive(20), strict=True))


@pytest.mark.clause("DWELL-5")
def test_gaps_loops_and_missing_topics_are_told(tmp_path):
    once = drive(20)
    ticks = [*once, *(shifted(each, 4.0) for each in once)]
    with BagWriter(tmp_path) as bag:
        for each in ticks:
            bag.write_tick(each, outputs(each))
        for each in once:
            for topic, raw in pack_inputs(each, None):
                bag.write(cdr.nanoseconds(each.stamp + 10.0), topic, raw)
    lines: list[str] = []
    got = list(read_inputs(BagSource(tmp_path, report=lines.append)))
    assert [tick.stamp for tick in got] == pytest.approx([tick.stamp for tick in (*ticks, *once)])
    assert sum("at 0.950 s: a gap of 3.050 s" in line for line in lines) == 1
    assert sum("at 4.950 s: time begins anew at 0.000 s" in line for line in lines) == 1
    sent = {topic for each in once for topic, _ in pack_inputs(each)}
    missing = [topic.name for topic in INPUTS if topic.name not in sent]
    assert "rain_fog" in missing and lines[-1].endswith(f"nothing of {', '.join(missing)} in it")
    assert len(lines) == 3


def test_what_a_run_of_the_planner_itself_went_without_is_nothing_odd(tmp_path):
    with BagWriter(tmp_path, {"map": "town.xodr"}) as bag:
        for each in drive(3):
            bag.write_tick(each, outputs(each))
    lines: list[str] = []
    assert len(list(read_inputs(BagSource(tmp_path, report=lines.append)))) == 3
    assert lines == []


@pytest.mark.clause("EXPL-1")
def test_why_reads_the_plan_where_odometry_is_of_another_frame(tmp_path):
    """`outputs` plans 1 m/s all the time: no stop is told of."""
    with BagWriter(tmp_path) as bag:
        for each in drive(30):
            ns = cdr.nanoseconds(each.stamp)
            raw = next(raw for topic, raw in pack_inputs(replace(each), None) if topic == "odometry")
            bag.write(ns, "odometry", in_frame(ODOMETRY, raw, "odom"))
            for topic, message in [*outputs(each), ("state", pack_string("on_road/normal"))]:
                bag.write(ns, topic, message)
    timeline = read_timeline(BagSource(tmp_path))
    assert timeline.words_at(1.0) == {"state": "on_road/normal"}
    assert timeline.stops == ()
    assert read_timeline(BagSource(tmp_path, names=TopicNames({"/state": "state"}, "odom"))).begin == 0.0
    with pytest.raises(InputError, match="no topic /condition in it"):
        read_timeline(BagSource(tmp_path, names=TopicNames({"/condition": "state"})))


def test_topics_of_our_names_in_other_types_are_told_and_left_out(tmp_path):
    """An `odometry` without a stamp would make ticks at random; this `state` is not the planner's."""
    names = ("/tf/odometry", "/state", "/transition")
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as bag:
        point = "geometry_msgs/msg/Point"
        channels = {name: bag.add_connection(name, point, typestore=cdr.STORE) for name in names}
        plan = bag.add_connection("/trajectory", BY_NAME["trajectory"].type, typestore=cdr.STORE)
        raw = cdr.pack(point, cdr.TYPES[point](1.0, 2.0, 3.0))
        for each in drive(5):
            ns = cdr.nanoseconds(each.stamp)
            for channel in channels.values():
                bag.write(channel, ns, raw)
            bag.write(plan, ns, dict(outputs(each))["trajectory"])
    lines: list[str] = []
    assert [tick.odometry for tick in read_inputs(BagSource(tmp_path / "bag", report=lines.append))] == [None] * 5
    assert (
        sum("odometry: is a geometry_msgs/msg/Point (expected a nav_msgs/msg/Odometry)" in line for line in lines) == 1
    )
    assert read_recorded(BagSource(tmp_path / "bag")).transitions == []
    with pytest.raises(InputError, match="the planner says nothing in it"):
        read_timeline(BagSource(tmp_path / "bag"))


@pytest.mark.medium
@pytest.mark.parametrize("topic", ["transition", "run", "parameters"])
def test_words_of_another_maker_on_a_topic_of_our_name_are_told_and_left_out(tmp_path, capsys, topic):
    with BagWriter(tmp_path / "bag") as bag:
        for each in drive(10):
            bag.write_tick(each, [(name, raw) for name, raw in outputs(each) if name != "transition"])
            if topic != "run" or each.stamp == 0.0:
                bag.write(cdr.nanoseconds(each.stamp), topic, pack_string("IDLE->DRIVE"))
        bag.write(cdr.nanoseconds(each.stamp), "state", pack_string("on_road/normal"))
    told = f"{topic}: no JSON"
    read = {
        "replay": [],
        "report": ["--out", str(tmp_path / "film.html")],
        "why": [],
        "why --time": ["--time"],
        "machine": ["--html", str(tmp_path / "machine.html"), "--run"],
    }
    heard = {
        "transition": {*read},
        "run": {"replay", "report", "why --time"},
        "parameters": {"replay"},
    }
    for verb, options in read.items():
        with_map = ["--map", str(COURSE)] if verb in ("replay", "report", "why --time") else []
        assert main([verb.split()[0], *with_map, *options, str(tmp_path / "bag")]) == 0
        assert capsys.readouterr().err.count(told) == (verb in heard[topic])


@pytest.mark.parametrize("event", [{}, {"stamp": "soon"}, {"stamp": 1.0, "rejected": 5}, {"stamp": 1.0, "dwell_s": []}])
def test_a_transition_that_is_none_is_refused_in_one_line(tmp_path, event):
    with BagWriter(tmp_path) as bag:
        bag.write(1, "transition", pack_json(event))
    for read in (read_recorded, read_timeline):
        with pytest.raises(InputError, match=r"transition: .*expected a transition with its stamp") as error:
            read(BagSource(tmp_path))
        assert "\n" not in str(error.value)
