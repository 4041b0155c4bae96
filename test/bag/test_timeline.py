"""What a bag tells of why the car did what it did."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.bag.writer import FILE_NAME, BagWriter
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_bool, pack_json, pack_string
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import Odometry

TICK_NS = 50_000_000
CHANGE = {
    "seq": 3, "stamp": 2.0, "from": "on_road/normal", "to": "intersection/safe_driving", "supervisor": False,
    "clause": "NOR-2", "guard": "junction_ahead", "dwell_s": 0.3, "rejected": ["on_road/replan (no_path, NLF-2)"],
}  # fmt: skip
ROUTINE = {**CHANGE, "seq": 2, "stamp": 1.0, "clause": "RRF-1", "supervisor": True, "from": "route_refresh/idle"}
SAID = ((0.0, "NONE", "nothing"), (3.0, "LEADER", "a vehicle"), (5.0, "RED_LIGHT", "a red light"), (9.0, "NONE", "-"))
"""Stamp, code and words of each `why`."""


def standing(t: float) -> bool:
    return 4.0 <= t <= 9.5 or 12.0 <= t <= 12.5


def record(
    folder: Path, without: tuple[str, ...] = (), recorder_ns: int = 0, ticks: Iterable[int] = range(400)
) -> Path:
    """20 s of a car that stands from 4 s to 9.5 s, and for a moment at 12 s; `recorder_ns` is added to log times."""
    with BagWriter(folder) as bag:
        for k in ticks:
            ns, t = k * TICK_NS, k * 0.05
            v = 0.0 if standing(t) else 3.0
            row = Trajectory.standing(t, Pose(0.0, 0.0, 0.0))
            messages = [("odometry", pack_odometry(ns, Odometry(t, Pose(t, 0.0, 0.0), v, 0.0)))]
            messages += [("trajectory", pack_trajectory(ns, Trajectory(t, row.t, *([row.x] * 4), row.x + v, row.x)))]
            for topic, event in (("transition", CHANGE), ("transition", ROUTINE)):
                messages += [(topic, pack_json(event))] * (ns == nanoseconds(event["stamp"]))
            messages += [("state", pack_string("on_road/normal"))] * (k == 0)
            messages += [("state", pack_string("intersection/safe_driving"))] * (t == 2.0)
            messages += [
                (
                    "why",
                    pack_diagnostics(ns, (DiagnosticStatus("limit", words, (("code", code), ("distance", "3.00"))),)),
                )
                for stamp, code, words in SAID
                if ns == nanoseconds(stamp)
            ]
            for topic, raw in messages:
                if topic not in without:
                    bag.write(ns + recorder_ns, topic, raw)
    return folder


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("without", [(), ("odometry",)])
def test_changes_and_stops_have_their_reasons(tmp_path: Path, without: tuple[str, ...]) -> None:
    timeline = read_timeline(BagSource(record(tmp_path, without)))
    change = timeline.changes[-1]
    assert (change.t, change.dest, change.clause, change.guard) == (2.0, CHANGE["to"], "NOR-2", "junction_ahead")
    assert change.rejected == ("on_road/replan (no_path, NLF-2)",)
    (stop,) = timeline.stops
    assert (stop.t_from, stop.t_to) == (4.0, 9.5)
    assert [(c.t_from, c.t_to, c.code) for c in stop.causes] == [
        (4.0, 5.0, "LEADER"), (5.0, 9.0, "RED_LIGHT"), (9.0, 9.5, "NONE"),
    ]  # fmt: skip
    assert stop.primary.code == "RED_LIGHT"
    assert stop.unexplained_s == 0.5


@pytest.mark.clause("EXPL-1")
def test_without_a_word_the_whole_stop_is_unexplained(tmp_path: Path) -> None:
    (stop,) = read_timeline(BagSource(record(tmp_path, without=("why",)))).stops
    assert stop.unexplained_s == 5.5
    assert stop.primary.code == ""


def test_a_bag_of_another_recorder_may_lack_the_transitions(tmp_path: Path) -> None:
    changes = read_timeline(BagSource(record(tmp_path, without=("transition",)))).changes
    assert [(c.t, c.source, c.dest, c.clause) for c in changes] == [(2.0, CHANGE["from"], CHANGE["to"], "")]


def test_the_clock_is_the_planners_not_the_recorders(tmp_path: Path) -> None:
    timeline = read_timeline(BagSource(record(tmp_path, recorder_ns=1_700_000_000_000_000_000)))
    assert (timeline.begin, timeline.end) == (0.0, 19.95)
    assert [(stop.t_from, stop.t_to, stop.primary.code) for stop in timeline.stops] == [(4.0, 9.5, "RED_LIGHT")]
    assert timeline.words_at(1.0)["state"] == "on_road/normal"


def with_a_stamp(folder: Path, wrong: float, at: int) -> Path:
    """6 s of a car that stands from 2 s on, at the time of a clock, and a tick of another stamp (s) among the rest."""
    stamps = [1.7e9 + 0.05 * k for k in range(120)]
    stamps.insert(at, wrong)
    said = {
        stamp: [("state", pack_string("on_road/normal")), ("transition", pack_json({**CHANGE, "stamp": stamp}))]
        for stamp in (stamps[0], wrong)
    }
    with BagWriter(folder) as bag:
        for stamp in stamps:
            ns, v = nanoseconds(stamp), 0.0 if abs(stamp - 1.7e9) > 1.99 else 3.0
            why = DiagnosticStatus("limit", "a red light", (("code", "RED_LIGHT"),))
            bag.write(ns, "odometry", pack_odometry(ns, Odometry(stamp, Pose(0.0, 0.0, 0.0), v, 0.0)))
            for topic, raw in [*said.get(stamp, []), ("why", pack_diagnostics(ns, (why,)))]:
                bag.write(ns, topic, raw)
    return folder


@pytest.mark.clause("EXPL-1", "DWELL-5")
@pytest.mark.parametrize(("wrong", "at"), [(0.0, 0), (1.7e9 + 3600.0, 80), (0.0, 80), (1.7e9 + 3600.0, 120)])
def test_a_stamp_that_is_far_from_the_drive_is_none_of_it(
    tmp_path: Path, wrong: float, at: int, capsys: pytest.CaptureFixture[str]
) -> None:
    timeline = read_timeline(BagSource(with_a_stamp(tmp_path, wrong, at)))
    assert (timeline.begin, timeline.end, timeline.origin) == (1.7e9, pytest.approx(1.7e9 + 5.95), 1.7e9)
    assert len(timeline.motion) == len(timeline.whys) == 120
    assert timeline.words_at(1.7e9) == {"state": "on_road/normal"}
    assert [change.t for change in timeline.changes] == ([1.7e9] if at else [])
    (stop,) = timeline.stops
    assert (stop.t_from, stop.t_to) == pytest.approx((1.7e9 + 2.0, 1.7e9 + 5.95))
    assert main(["why", str(tmp_path)]) == 0
    assert "time jumps: told is from 1700000000.000 to 1700000005.950 s" in capsys.readouterr().err


@pytest.mark.clause("EXPL-1", "DWELL-5")
@pytest.mark.parametrize("before", [True, False])
def test_words_of_another_drive_are_none_of_it(tmp_path: Path, before: bool) -> None:
    other = [(5.0 + k, word) for k, word in enumerate(("on_road/replan", "parking/parked", "on_road/normal"))]
    drive = [(1.7e9 + k, "on_road/normal" if k < 5 else "on_road/replan") for k in range(10)]
    with BagWriter(tmp_path) as bag:
        for stamp, word in [*other, *drive] if before else [*drive, *other]:
            ns = nanoseconds(stamp)
            for topic, raw in (
                ("sensors", pack_string(word)),
                ("odometry", pack_odometry(ns, Odometry(stamp, Pose(0.0, 0.0, 0.0), 3.0, 0.0))),
                ("state", pack_string(word)),
            ):
                bag.write(ns, topic, raw)
    timeline = read_timeline(BagSource(tmp_path))
    (change,) = timeline.changes
    assert (change.t, change.source, change.dest) == (1.7e9 + 5.0, "on_road/normal", "on_road/replan")
    assert {word for _, topic, word in timeline.words if topic == "sensors"} == {"on_road/normal", "on_road/replan"}


def with_resets(folder: Path, *lengths_s: float) -> Path:
    """Drives at 1, 2, ... m/s one after the other, each from 0 s on, as a simulator that is reset goes through them. Of
    each the state is told at its beginning, and half a second before its end a transition.
    """
    with BagWriter(folder) as bag:
        for number, length in enumerate(lengths_s, start=1):
            for k in range(round(length / 0.05)):
                ns, t, pose = k * TICK_NS, 0.05 * k, Pose(0.05 * k * number, 0.0, 0.0)
                bag.write(ns, "odometry", pack_odometry(ns, Odometry(t, pose, float(number), 0.0)))
                why = DiagnosticStatus("limit", "-", (("code", f"LEADER{number}"),))
                bag.write(ns, "why", pack_diagnostics(ns, (why,)))
                if k == 0:
                    bag.write(ns, "state", pack_string("on_road/normal"))
                if k == round(length / 0.05) - 10:
                    change = {**CHANGE, "stamp": t, "clause": f"NOR-{number}"}
                    bag.write(ns, "transition", pack_json(change))
    return folder


@pytest.mark.clause("EXPL-1", "DWELL-5")
@pytest.mark.parametrize("lengths_s", [(6.0, 3.0), (3.0, 6.0), (3.0, 6.0, 5.0)])
def test_of_a_simulator_that_is_reset_the_longest_drive_is_told(
    tmp_path: Path, lengths_s: tuple[float, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    timeline, number = read_timeline(BagSource(with_resets(tmp_path, *lengths_s))), 1 + lengths_s.index(6.0)
    assert (timeline.begin, timeline.end) == (0.0, 5.95)
    assert [each.t for each in timeline.motion] == pytest.approx([0.05 * k for k in range(120)])
    assert {each.v for each in timeline.motion} == {number}
    assert {why.code for why in timeline.whys} == {f"LEADER{number}"}
    assert [(change.t, change.clause) for change in timeline.changes] == [(5.5, f"NOR-{number}")]
    assert main(["why", str(tmp_path)]) == 0
    assert "time jumps: told is from 0.000 to 5.950 s" in capsys.readouterr().err


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("without", [(), ("odometry",)])
def test_what_the_car_did_while_the_recorder_was_paused_nobody_knows(
    tmp_path: Path, without: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path, without, ticks=[*range(122), *range(158, 400)])
    stops = read_timeline(BagSource(bag)).stops
    assert [(round(stop.t_from, 3), round(stop.t_to, 3)) for stop in stops] == [(4.0, 6.05), (7.9, 9.5)]
    assert main(["why", str(bag)]) == 0
    assert capsys.readouterr().err == f"{bag} at 6.050 s: a gap of 1.850 s\n"


def test_a_silence_of_less_than_ten_minutes_is_part_of_the_drive(tmp_path: Path) -> None:
    with BagWriter(tmp_path) as bag:
        for stamp in (0.0, 1.0, 600.0, 601.0):
            ns = nanoseconds(stamp)
            bag.write(ns, "odometry", pack_odometry(ns, Odometry(stamp, Pose(0.0, 0.0, 0.0), 0.0, 0.0)))
    timeline = read_timeline(BagSource(tmp_path), silent=True)
    assert (timeline.begin, timeline.end) == (0.0, 601.0)


def test_words_without_a_clock_are_told_however_seldom_they_are(tmp_path: Path) -> None:
    with BagWriter(tmp_path) as bag:
        for stamp, word in ((0.0, "on_road/normal"), (100.0, "on_road/replan"), (300.0, "parking/parked")):
            bag.write(nanoseconds(stamp), "state", pack_string(word))
    timeline = read_timeline(BagSource(tmp_path))
    assert (timeline.begin, timeline.end) == (0.0, 300.0)
    assert [change.t for change in timeline.changes] == [100.0, 300.0]


def test_a_bag_in_which_the_planner_says_nothing_is_refused(tmp_path: Path) -> None:
    with BagWriter(tmp_path) as bag:
        bag.write(1, "rain_fog", pack_bool(True))
    with pytest.raises(InputError, match="says nothing"):
        read_timeline(BagSource(tmp_path))


@pytest.mark.clause("EXPL-1")
def test_the_timeline_is_read_from_top_to_bottom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(record(tmp_path))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [float(line.split()[0]) for line in lines] == [0.0, 2.0, 4.0, 4.0, 5.0, 9.0, 19.95]
    assert "on_road/normal -> intersection/safe_driving  (NOR-2: junction_ahead for 0.3 s)" in lines[1]
    assert "not to on_road/replan (no_path, NLF-2)" in lines[1]
    assert lines[2].endswith("stands for 5.50 s, until 9.50 s: a red light")
    assert "without a reason 0.50 s" in lines[-1]


@pytest.mark.clause("EXPL-1")
def test_a_moment_is_told_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bag = str(record(tmp_path))
    assert main(["why", bag, "--at", "6"]) == 0
    text = capsys.readouterr().out
    for part in ("state: intersection/safe_driving", "NOR-2", "a red light", "code: RED_LIGHT", "distance: 3.00"):
        assert part in text
    assert main(["why", bag, "--at", "6", "--json"]) == 0
    moment = json.loads(capsys.readouterr().out)
    assert (moment["state"], moment["said_at"], moment["stop"]["code"]) == (CHANGE["to"], 5.0, "RED_LIGHT")
    assert moment["why"][0]["values"]["code"] == "RED_LIGHT"
    assert main(["why", bag, "--json"]) == 0
    timeline = json.loads(capsys.readouterr().out)
    assert [change["clause"] for change in timeline["changes"]] == ["RRF-1", "NOR-2"]
    assert timeline["changes"][1]["from"] == "on_road/normal"
    assert timeline["longest_unexplained_stop_s"] == 0.5


@pytest.mark.clause("EXPL-1")
def test_of_a_bag_without_the_motion_of_the_car_nothing_is_said_of_its_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = str(record(tmp_path, without=("odometry", "trajectory")))
    assert main(["why", bag]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("s  ends; how the car moved is not in it")
    assert main(["why", bag, "--json"]) == 0
    timeline = json.loads(capsys.readouterr().out)
    assert (timeline["stops"], timeline["longest_unexplained_stop_s"]) == (None, None)
    assert main(["why", bag, "--time"]) == 2
    said = "how the car moved is not in it (expected the topic odometry or trajectory)"
    assert said in capsys.readouterr().err


COLLISION = {"t": 20.0, "kind": "collision", "detail": "with vehicle 3 at 2.1 m/s", "at_fault": True}
COMFORT = {"t": 3.0, "kind": "comfort", "detail": "braking", "at_fault": False}


def with_result(folder: Path, result: object) -> str:
    """A bag with a result beside it."""
    bag = record(folder)
    (folder / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return str(bag)


@pytest.mark.clause("EXPL-1")
def test_a_run_with_a_result_beside_its_bag_tells_its_end_and_what_the_car_was_at_fault_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = with_result(tmp_path, {"end": "collision", "infractions": [COMFORT, COLLISION]})
    assert main(["why", bag]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2] == "     20.00 s  at fault: collision, with vehicle 3 at 2.1 m/s"
    assert lines[-1].startswith("     20.00 s  ends: collision; 1 stops, ")
    assert not any("braking" in line for line in lines)
    assert main(["why", bag, "--json"]) == 0
    timeline = json.loads(capsys.readouterr().out)
    assert (timeline["end"], timeline["infractions"]) == ("collision", [COMFORT, COLLISION])


@pytest.mark.clause("EXPL-1")
@pytest.mark.parametrize("sim_s", [20.0, 191.0])
def test_a_bag_that_was_cut_has_not_ended_as_its_run_did(
    sim_s: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = with_result(tmp_path, {"end": "parked", "infractions": [], "sim_s": sim_s})
    assert main(["why", bag]) == 0
    said = "     19.95 s  ends: parked; 1 stops, "
    if sim_s > 20.0:
        said = "    191.00 s  ends: parked; the record only goes to 19.95 s: 1 stops, "
    assert capsys.readouterr().out.splitlines()[-1].startswith(said)
    assert main(["why", bag, "--json"]) == 0
    timeline = json.loads(capsys.readouterr().out)
    assert (timeline["to"], timeline["end"], timeline["end_s"]) == (pytest.approx(19.95), "parked", sim_s)


def test_a_result_without_settings_is_that_of_no_other_bag_in_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = Path(with_result(tmp_path, {"end": "goal", "infractions": []}))
    shutil.copy(bag / FILE_NAME, bag / "monday.mcap")
    for name, said in ((FILE_NAME, "  ends: goal; "), ("monday.mcap", "  ends; ")):
        assert main(["why", str(bag / name)]) == 0
        assert said in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "result",
    [
        None, [], {}, {"infractions": 3}, {"infractions": ["collision"]}, {"infractions": [{**COLLISION, "t": "late"}]},
        {"infractions": [{"t": 1.0}]}, {"end": "goal", "infractions": [COLLISION], "settings": {"seed": 7}},
        {"infractions": [], "settings": 7},
    ],
)  # fmt: skip
def test_a_result_that_is_none_or_of_other_settings_is_not_told(
    result: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = with_result(tmp_path, result)
    assert main(["why", bag]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  ends; 1 stops, " in lines[-1]
    assert not any("at fault" in line for line in lines)
    assert main(["why", bag, "--json"]) == 0
    timeline = json.loads(capsys.readouterr().out)
    assert (timeline["end"], timeline["infractions"]) == (None, None)


def test_a_moment_of_a_clock_that_is_not_in_the_bag_is_named_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = record(tmp_path)
    assert main(["why", str(bag), "--at", "1796000600.25"]) == 2
    assert f"--at: 1796000600.250 s is not in {bag} (expected 0.000 to 19.950 s)" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["absent.mcap"], ["{bag}", "--at", "99"]])
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = str(record(tmp_path))
    assert main(["why", *(each.format(bag=bag) for each in arguments)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
