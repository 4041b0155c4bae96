"""Many runs: what is asked for, what comes back, and that a run in a campaign is the run alone."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm import run
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.verbs import campaign
from tuling_fsm.verbs.campaign_runs import CampaignRun, Ended, drive

from .campaigns import finished
from .scenarios import COURSE, ROAM, SHORT

PARKING, RAIN = (share_file("config", "scenarios", f"{name}.osc") for name in ("parking", "rain"))
SHOULDER = {"t": 3.25, "kind": "off_road", "detail": "0.4 m", "at_fault": True}
STRUCK = {"t": 1.0, "kind": "collision", "detail": "car 3 from behind", "at_fault": False}


def test_every_scenario_is_driven_with_every_seed(jobs: list[CampaignRun], tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["campaign", str(ROAM), str(PARKING), "--seeds", "2", "--map", str(COURSE), "--out", str(out)]) == 0
    assert [job.settings.scenario for job in jobs] == [ROAM, ROAM, PARKING, PARKING]
    assert [job.settings.seed for job in jobs] == [1, 2, 1, 2]
    assert {job.settings.map_file for job in jobs} == {COURSE}
    assert len({job.out for job in jobs}) == 4
    assert [each["seed"] for each in json.loads((out / "campaign.json").read_text())["runs"]] == [1, 2, 1, 2]


@pytest.fixture
def distribution(tmp_path: Path) -> Path:
    """Three speeds of a scenario in XML, one of which it does not allow."""
    lane = '<Position><LanePosition roadId="1" laneId="-1" s="{}"/></Position>'
    (tmp_path / "s.xosc").write_text(
        '<OpenSCENARIO><FileHeader revMajor="1" revMinor="2"/><ParameterDeclarations><ParameterDeclaration name="v" '
        'parameterType="double" value="5"><ConstraintGroup><ValueConstraint rule="lessThan" value="20"/>'
        "</ConstraintGroup></ParameterDeclaration></ParameterDeclarations>"
        f'<RoadNetwork><LogicFile filepath="{COURSE}"/></RoadNetwork><Entities><ScenarioObject name="Ego"><Vehicle '
        'name="car" vehicleCategory="car"/></ScenarioObject></Entities><Storyboard><Init><Actions><Private '
        f'entityRef="Ego"><PrivateAction><TeleportAction>{lane.format(30)}</TeleportAction></PrivateAction></Private>'
        "</Actions></Init></Storyboard></OpenSCENARIO>",
        encoding="utf-8",
    )
    file = tmp_path / "speeds.xosc"
    elements = "".join(f'<Element value="{v}"/>' for v in (25, 4, 6))
    file.write_text(
        '<OpenSCENARIO><FileHeader revMajor="1" revMinor="2"/><ParameterValueDistribution>'
        '<ScenarioFile filepath="s.xosc"/><Deterministic>'
        f'<DeterministicSingleParameterDistribution parameterName="v"><DistributionSet>{elements}</DistributionSet>'
        "</DeterministicSingleParameterDistribution></Deterministic></ParameterValueDistribution></OpenSCENARIO>",
        encoding="utf-8",
    )
    return file


@pytest.mark.clause("OSC-1")
def test_every_variation_of_a_distribution_is_driven_that_its_scenario_allows(
    jobs: list[CampaignRun], distribution: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["campaign", str(distribution), "--seeds", "2", "--out", str(out)]) == 0
    assert [(job.name, job.settings.seed, job.settings.overrides) for job in jobs] == [
        ("speeds 2", 1, (("v", "4"),)), ("speeds 2", 2, (("v", "4"),)),
        ("speeds 3", 1, (("v", "6"),)), ("speeds 3", 2, (("v", "6"),)),
    ]  # fmt: skip
    assert {job.settings.scenario for job in jobs} == {tmp_path / "s.xosc"}
    assert jobs[-1].out == out / "speeds" / "variation_3" / "seed_2"
    assert "1 of 3 variations left out, the first as " in capsys.readouterr().err


def test_what_is_set_goes_before_a_distribution_which_alone_is_no_run(
    jobs: list[CampaignRun], distribution: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", str(distribution), "--seeds", "1", "--set", "v=9"]) == 0
    assert {job.settings.overrides for job in jobs} == {(("v", "9"),)}
    capsys.readouterr()
    assert main(["sim", str(distribution)]) == 2
    assert "is many scenarios (expected a <Storyboard>, or the verb campaign)" in capsys.readouterr().err


def test_a_variation_that_cannot_be_driven_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> dict[str, Any]:
        raise InputError("s.xosc:1:1", "no such lane", "another")

    monkeypatch.setattr(run, "run_scenario", refuse)
    broken = drive(CampaignRun(RunSettings(ROAM, 1), distribution=Path("speeds.xosc"), variation=3))
    assert (broken["end"], broken["distribution"], broken["variation"]) == ("error", "speeds.xosc", 3)
    assert "no such lane" in broken["error"]


@pytest.mark.clause("OSC-1")
def test_a_seed_that_cannot_be_driven_ends_no_other(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the ego is when a script puts another beside it depends on the seed."""

    def run_scenario(settings: RunSettings, **_: object) -> dict[str, Any]:
        if settings.seed == 2:
            raise InputError("roam.osc:9:5", "no place beside the ego", "another")
        return finished(CampaignRun(settings)) | {"distance_m": 1000.0, "sim_s": 100.0}

    def one_by_one(jobs: Sequence[CampaignRun], workers: int) -> Ended:
        yield from ((index, drive(job)) for index, job in enumerate(jobs))

    monkeypatch.setattr(run, "run_scenario", run_scenario)
    monkeypatch.setattr(campaign, "in_processes", one_by_one)
    assert main(["campaign", str(ROAM), "--seeds", "3", "--out", str(tmp_path)]) == 1
    assert "roam seed 2: roam.osc:9:5: no place beside the ego (expected another)" in capsys.readouterr().out
    kept = json.loads((tmp_path / "campaign.json").read_text())
    assert [(each["seed"], each["end"]) for each in kept["runs"]] == [(1, "goal"), (2, "error"), (3, "goal")]
    assert kept["exposure"]["km"] == 2.0
    assert (tmp_path / "index.html").is_file()


def test_what_no_seed_could_be_driven_with_is_refused_before_anything_is_driven(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere.osc"
    placed = '        ego.assign_position(map.create_odr_point(road_id: "4711", lane_id: "-1", s: 2m))\n'
    nowhere.write_text(SHORT.replace("MAP", str(COURSE)) + placed, encoding="utf-8")
    assert main(["campaign", str(ROAM), str(nowhere), "--seeds", "1"]) == 2
    assert main(["campaign", str(ROAM), str(RAIN), "--seeds", "1", "--traffic", "sumo"]) == 2
    assert jobs == []
    road, actors = capsys.readouterr().err.splitlines()
    assert "4711" in road
    assert "its own actors" in actors


def test_variables_are_set_in_every_run(jobs: list[CampaignRun]) -> None:
    assert main(["campaign", str(ROAM), "--seeds", "2", "--set", "length_m=80", "--set", "vehicles=3"]) == 0
    assert {job.settings.overrides for job in jobs} == {(("length_m", "80"), ("vehicles", "3"))}


def test_the_json_is_one_object_and_nothing_else(jobs: list[CampaignRun], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", str(ROAM), "--seeds", "3", "--json"]) == 0
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert answer["held"] is True
    assert [each["seed"] for each in answer["runs"]] == [1, 2, 3]
    assert printed.err == ""


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"infractions": [STRUCK]}, 0),
        ({"infractions": [SHOULDER]}, 1),
        ({"finished": False, "end": "time"}, 1),
    ],
)
def test_the_exit_code_tells_whether_every_run_held(
    changes: dict[str, Any], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaign, "run_all", lambda jobs, *_: [finished(jobs[0]), finished(jobs[1]) | changes])
    assert main(["campaign", str(ROAM), "--seeds", "2"]) == code


def test_the_table_has_a_line_for_each_run_and_for_each_fault() -> None:
    one, two = (CampaignRun(RunSettings(ROAM, seed)) for seed in (1, 2))
    head, *lines = campaign.table([finished(one), finished(two, [SHOULDER, STRUCK])])
    assert [word for word, _ in campaign.COLUMNS] == [
        *(
            "scenario",
            "map",
            "seed",
            "end",
            "faults",
            "services",
            "closed loop",
            "driving",
            "unexplained s",
            "flaps",
            "p99 ms",
            "trace",
        )
    ]
    assert head.split()[:3] == ["scenario", "map", "seed"]
    assert lines[0].split() == [
        "roam",
        "town",
        "1",
        "goal",
        "0",
        "2",
        "0.65",
        "0.88",
        "0.35",
        "0",
        "12.3",
        "100000000000",
    ]
    assert lines[1].split()[4] == "1"
    assert lines[2:] == ["roam on town seed 2, at fault, 3.25 s: off_road, 0.4 m"]
    assert len({len(line) for line in (head, *lines[:2])}) == 1


def test_a_run_that_breaks_off_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> dict[str, Any]:
        raise ZeroDivisionError("in the\nmiddle")

    monkeypatch.setattr(run, "run_scenario", fails)
    broken = drive(CampaignRun(RunSettings(ROAM, 7)))
    assert (broken["finished"], broken["end"], broken["seed"]) == (False, "error", 7)
    _, row, said = campaign.table([broken])
    assert row.split() == ["roam", "-", "7", "error", "0", "-", "-", "-", "-", "-", "-", "-"]
    assert said == "roam seed 7: ZeroDivisionError: in the middle"
    broken = drive(CampaignRun(RunSettings(ROAM, 7, map_file=COURSE)))
    assert list(campaign.table([broken]))[2] == "roam on course seed 7: ZeroDivisionError: in the middle"


def test_bad_input_comes_whole_from_another_process() -> None:
    error = InputError("a.osc:3:5", "no such thing", "another")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.expected) == (InputError, str(error), "another")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([str(ROAM), "--seeds", "0"], "--seeds: 0"),
        ([str(ROAM), "--seeds", "2000000000"], "--seeds: 2000000000 (expected 1 to 100000)"),
        ([str(ROAM), "--seeds", "1", "--set", "a=1", "--set", "a=2"], "--set: a is given twice"),
        ([str(ROAM), "--seeds", "1", "--workers", "0"], "--workers: 0"),
        ([str(ROAM), "absent.osc", "--seeds", "1"], "absent.osc"),
        ([str(ROAM), str(ROAM), "--seeds", "1"], "a second scenario roam"),
        ([str(ROAM), "--seeds", "1", "--map", "absent.xodr"], "absent.xodr"),
        ([str(ROAM), "--seeds", "1", "--set", "length_m"], "NAME=VALUE"),
        ([str(ROAM), "--seeds", "1", "--set", "lenght_m=3"], "length_m"),
    ],
)
def test_bad_input_is_one_line_and_drives_nothing(
    arguments: list[str],
    said: str,
    jobs: list[CampaignRun],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["campaign", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err
    assert jobs == []


@pytest.mark.slow
def test_a_run_in_a_campaign_is_the_run_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two runs one after the other in one process: the second has nothing of the first in it."""
    scenario, out = tmp_path / "short.osc", tmp_path / "out"
    scenario.write_text(SHORT.replace("MAP", str(COURSE)), encoding="utf-8")
    assert main(["campaign", str(scenario), "--seeds", "2", "--workers", "1", "--out", str(out), "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["runs"]
    alone = run_scenario(RunSettings(scenario, seed=2))
    assert second["trace_sha256"] == alone["trace_sha256"] != first["trace_sha256"]
    assert (second["end"], second["finished"]) == (alone["end"], False)
    kept = json.loads((out / "short" / "seed_2" / "result.json").read_text())
    assert {"file": str(scenario), **kept} == second


def test_every_scenario_is_driven_on_every_map(jobs: list[CampaignRun], tmp_path: Path) -> None:
    other = tmp_path / "other.xodr"
    other.write_bytes(COURSE.read_bytes())
    maps = ["--map", str(COURSE), "--map", str(other)]
    traffic = ["--traffic", "sumo", "--results-only"]
    assert main(["campaign", str(ROAM), "--seeds", "2", *maps, *traffic, "--out", str(tmp_path / "out")]) == 0
    assert [job.settings.map_file for job in jobs] == [COURSE, COURSE, other, other]
    assert [job.settings.seed for job in jobs] == [1, 2, 1, 2]
    assert len({job.out for job in jobs}) == 4
    assert {(job.settings.traffic, job.bag) for job in jobs} == {("sumo", False)}


@pytest.mark.clause("OSC-1")
def test_what_has_no_effect_is_told_once(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, again = tmp_path / "covered.osc", tmp_path / "again.xodr"
    scenario.write_text(ROAM.read_text().replace("../course/course.xodr", str(COURSE)) + "    cover(vehicles)\n")
    again.write_text(COURSE.read_text())
    assert main(["campaign", str(scenario), "--seeds", "3", "--map", str(COURSE), "--map", str(again)]) == 0
    said = capsys.readouterr()
    assert len(jobs) == 6
    assert said.err.count("no coverage is collected") == 1 and "coverage" not in said.out


def test_two_maps_of_one_name_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    again = tmp_path / COURSE.name
    again.write_bytes(COURSE.read_bytes())
    assert main(["campaign", str(ROAM), "--seeds", "1", "--map", str(COURSE), "--map", str(again)]) == 2
    assert "a second map course" in capsys.readouterr().err


def test_a_map_that_cannot_be_read_is_refused_before_anything_is_driven(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty.xodr"
    empty.write_text("")
    assert main(["campaign", str(ROAM), "--seeds", "1", "--map", str(COURSE), "--map", str(empty)]) == 2
    assert jobs == []
    assert capsys.readouterr().err.startswith(f"{empty}:1: not XML")
