"""A campaign in a folder: it goes on where it was, keeps what it finds, and sees what was mended."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tuling_fsm import cli
from tuling_fsm.agent import Agent
from tuling_fsm.core.errors import InputError
from tuling_fsm.fuzz.campaign import STATE, FuzzBudget, FuzzCampaign, FuzzRecord, _in_time, table
from tuling_fsm.fuzz.hostile_inputs import STEP_S, HostileWorld
from tuling_fsm.fuzz.targets import Seed, seeds_of
from tuling_fsm.fuzz.ticks import drive
from tuling_fsm.fuzz.worker import FuzzWork, try_seed
from tuling_fsm.map.random_route import random_route
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.verbs.fuzz import check_corpus
from tuling_fsm.world.inputs import Inputs, Odometry


def run(out: Path, runs: int, seed: int = 1) -> FuzzRecord:
    campaign = FuzzCampaign(out, None, seed, lambda line: None)
    return campaign.run("mission", FuzzBudget(runs, 1e6, 2000))


@pytest.mark.slow
def test_two_campaigns_are_as_one_of_their_length(tmp_path: Path) -> None:
    run(tmp_path / "a", 30)
    resumed = run(tmp_path / "a", 30)
    whole = run(tmp_path / "b", 60)
    assert resumed.runs == whole.runs == resumed.next == 60
    assert (resumed.read, resumed.refused, resumed.held) == (whole.read, whole.refused, [])
    assert 0 < whole.read < 60 and whole.read + whole.refused == 60


@pytest.mark.slow
def test_a_finding_that_holds_no_more_is_told_as_mended(tmp_path: Path) -> None:
    run(tmp_path, 1)
    state = json.loads((tmp_path / STATE).read_text())
    kept = tmp_path / "findings" / "mission" / "exception-0.json"
    kept.parent.mkdir(parents=True)
    kept.write_text('{"goal": {"x": 1e300, "y": 0}}')
    told = {"name": "exception-0", "run": 4, "kind": "exception", "place": "a:1 b", "detail": "OverflowError: x"}
    told |= {"file": "findings/mission/exception-0.json", "times": 2, "holds": True, "beside": ""}
    state["targets"]["mission"]["findings"]["exception-0"] = told
    (tmp_path / STATE).write_text(json.dumps(state))
    record = run(tmp_path, 1)
    assert not record.held and list(record.findings) == ["exception-0"]
    assert table({"mission": record}, ["mission"])[1].split()[-2:] == ["0", "1"]
    aside = tmp_path / record.findings["exception-0"]["file"]
    assert aside == kept.parent / "mended" / kept.name and aside.is_file()
    assert not kept.exists(), "another one with its name is kept there"
    assert run(tmp_path, 1).findings["exception-0"]["file"] == "findings/mission/mended/exception-0.json"


@pytest.mark.slow
def test_the_verb_prints_a_table_and_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fuzz", "messages", "--runs", "40", "--out", str(tmp_path)]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["target", "runs"] and row.split()[:2] == ["messages", "40"]
    assert json.loads((tmp_path / STATE).read_text())["targets"]["messages"]["runs"] == 40


def test_lines_that_come_together_are_heard_before_the_process_is_silent() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as process:
        process.write(b'{"finding": 1}\n{"finding": 2}\n{"find')
        heard = _in_time(stream, 10.0, 0.05)
        assert [next(heard) for _ in range(3)] == [{"finding": 1}, {"finding": 2}, None]
        heard = _in_time(stream, 10.0, 10.0)
        process.write(b'{"finding": ')
        process.write(b"3}\n")
        assert next(heard) == {"finding": 3}
        process.close()
        assert list(heard) == []


@pytest.mark.parametrize(("last", "told"), [(b'{"finding": 2}', [{"finding": 2}]), (b'{"find', [])])
def test_a_last_line_that_is_not_ended_counts_if_it_is_whole(last: bytes, told: list[dict[str, int]]) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        with os.fdopen(writing, "wb") as process:
            process.write(b'{"finding": 1}\n' + last)
        assert list(_in_time(stream, 10.0, 10.0)) == [{"finding": 1}, *told]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text("[]")
    with pytest.raises(InputError, match="what this verb wrote, or another folder"):
        FuzzCampaign(tmp_path, None, 1, lambda line: None)


def test_a_target_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["fuzz", "lanelet2"]) == 2
    assert "one of map, dsl" in capsys.readouterr().err


def test_a_folder_without_files_of_a_target_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.json").write_text("{}")
    assert cli.main(["fuzz", "map", "mission", "--corpus", str(tmp_path / "own"), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said == f"--corpus: no .xodr below {tmp_path / 'own'} (expected files for the target map)\n"
    assert not (tmp_path / "out").exists()


def test_of_all_targets_those_without_files_are_told_and_begin_with_our_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "TOWN.XODR").write_bytes(b"<OpenDRIVE/>")
    check_corpus(["map", "tpcap"], tmp_path, chosen=False)
    said = capsys.readouterr().err
    assert said == f"tpcap: no .csv below {tmp_path}, begins with files of the package\n"
    assert [seed.content for seed in seeds_of("map", tmp_path)] == [b"<OpenDRIVE/>"]
    assert seeds_of("tpcap", tmp_path)


def test_a_mutant_finds_what_lies_beside_its_file(tmp_path: Path) -> None:
    home, work = tmp_path / "home" / "scenarios", tmp_path / "work"
    for folder in (home, work, home.parent / "maps"):
        folder.mkdir(parents=True)
    (home.parent / "maps" / "a.xodr").write_text("<OpenDRIVE/>")
    lines = ("scenario a:", 'map.set_map_file("../maps/{}")', "ego: vehicle", "do serial:", "    ego.drive()")
    text = "\n    ".join(lines) + "\n"
    told = FuzzWork("dsl", str(work), str(tmp_path), "", 1, 0, 1, 1.0, 1000)
    for name, there in (("a.xodr", True), ("b.xodr", False)):
        trial = try_seed(told, Seed(text.format(name).encode(), home))
        assert ("no such file" in trial.detail) is not there


@pytest.mark.slow
@pytest.mark.clause("SAF-3")
def test_a_heading_without_digits_is_refused(course: RoadMap) -> None:
    agent = Agent(course)
    place = random_route(course, np.random.default_rng(3), 50.0).reference.at(0.0)
    for k in range(3):
        tick = agent.step(Inputs(0.05 * k, Odometry(0.05 * k, place, 0.0, 0.0)))
    tick = agent.step(Inputs(0.15, Odometry(0.15, place._replace(heading=-1e308), 0.7, 0.0)))
    assert [line for line in tick.world.reports if "heading -1e+308 rad out of range" in line]
    assert np.isfinite(tick.trajectory.x).all()


@pytest.mark.slow
@pytest.mark.clause("SAF-1", "SAF-2", "SAF-3")
@pytest.mark.parametrize("seed", [1, 2])
def test_hostile_ticks_are_answered(seed: int) -> None:
    drive(seed, 60, deadline_s=math.inf)


def test_what_was_heard_at_this_time_is_no_silence_though_the_clock_was_set_since(course: RoadMap) -> None:
    world = HostileWorld(Random(1), random_route(course, np.random.default_rng(1), 100.0))
    began = world.inputs().stamp
    world._stamp -= 60.0
    assert world.inputs().stamp == began - 60.0
    assert world.silent_s(began) == 0.0
    assert world.silent_s(began + 0.3) == pytest.approx(0.3)
    assert world.silent_s(began - 1.0) == pytest.approx(59.0)
    assert world.silent_s(began - 61.0) == math.inf


def test_a_tick_without_a_time_hears_odometry_that_is_a_step_ahead_of_it(course: RoadMap) -> None:
    world = HostileWorld(Random(1), random_route(course, np.random.default_rng(1), 100.0))
    before = world.inputs().stamp
    world._stamp += STEP_S
    world.inputs()
    assert world.silent_s(before) == 0.0
    world._heard.popleft()
    assert world.silent_s(before) == pytest.approx(STEP_S)
    assert world.silent_s(before - STEP_S) == math.inf
