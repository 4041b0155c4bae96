"""A campaign that goes on where it ended, and what becomes of what it leaves behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm import run
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.cli import main
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.verbs import campaign
from tuling_fsm.verbs.campaign_runs import CampaignRun
from tuling_fsm.wire.text import pack_string

from .campaigns import finished, leave
from .scenarios import COURSE, ROAM


def test_a_campaign_goes_on_where_it_ended(jobs: list[CampaignRun], tmp_path: Path) -> None:
    """What is there is kept; half a file is not."""
    leave(tmp_path, 1)
    leave(tmp_path, 2, end=-30)
    assert main(["campaign", str(ROAM), "--seeds", "3", "--resume", "--out", str(tmp_path)]) == 0
    assert [job.settings.seed for job in jobs] == [2, 3]
    campaign_file = json.loads((tmp_path / "campaign.json").read_text())
    assert [each["seed"] for each in campaign_file["runs"]] == [1, 2, 3]
    assert campaign_file["exposure"]["km"] == 1.0


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 7},
        {"overrides": {"length_m": "60"}},
        {"planner": "idm"},
        {"perception": "hard"},
        {"traffic": "sumo"},
        {"map_sha256": "0" * 64},
        {"scenario_sha256": "0" * 64},
        {"mission_sha256": "0" * 64},
        {"version": "0.0.1"},
    ],
)
def test_a_result_of_other_settings_is_none_of_the_campaign(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str], other: dict[str, Any]
) -> None:
    leave(tmp_path, 1)
    leave(tmp_path, 2, other)
    assert main(["campaign", str(ROAM), "--seeds", "2", "--resume", "--out", str(tmp_path)]) == 0
    assert [job.settings.seed for job in jobs] == [2]
    told = capsys.readouterr().err
    assert told == "1 of 2 runs are driven again: the results in their folders are of other settings\n"


def test_a_campaign_of_another_car_is_another_campaign(jobs: list[CampaignRun], tmp_path: Path) -> None:
    leave(tmp_path, 1)
    car = tmp_path / "car.yaml"
    car.write_text("/**: {ros__parameters: {vehicle: {width: 1.7}}}\n")
    asked = ["campaign", str(ROAM), "--seeds", "1", "--resume", "--out", str(tmp_path)]
    assert main([*asked, "--parameters", str(car)]) == 0
    assert [job.settings.parameters for job in jobs] == [(("vehicle.width", 1.7),)]
    assert main(asked) == 0
    assert len(jobs) == 1, "what was driven of the car that has no file is kept"


@pytest.mark.clause("SIM-2")
def test_a_file_that_a_scenario_imports_is_a_part_of_its_settings(tmp_path: Path) -> None:
    main_file, common = tmp_path / "main.osc", tmp_path / "common.osc"
    main_file.write_text(
        "import common.osc\nscenario a:\n    ego: vehicle\n    do serial:\n        ego.random_route(length: gap)\n"
    )
    common.write_text("global gap: length = 3m\n")

    def scenario_sha256() -> str:
        return str(run.settings_record(RunSettings(main_file), load_scenario(main_file), ROAM)["scenario_sha256"])

    before = scenario_sha256()
    assert scenario_sha256() == before
    common.write_text("global gap: length = 4m\n")
    assert scenario_sha256() != before


@pytest.mark.clause("SIM-2")
def test_runs_of_a_file_that_was_changed_meanwhile_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seeds do not count, nor runs that broke off."""

    def run_all(jobs: Sequence[CampaignRun], *_: object) -> list[dict[str, Any]]:
        contents = ({"scenario_sha256": "a", "map_sha256": "m"}, {"scenario_sha256": "b", "map_sha256": "m"})
        runs = [finished(job) | {"settings": {"seed": job.settings.seed, **contents[0]}} for job in jobs]
        runs[1]["settings"].update(contents[1])
        del runs[2]["settings"]
        return runs

    monkeypatch.setattr(campaign, "run_all", run_all)
    assert main(["campaign", str(ROAM), "--seeds", "4", "--json"]) == 0
    assert capsys.readouterr().err == "roam: its scenario was changed meanwhile: 3 runs with 2 contents of it\n"


def test_a_result_that_does_not_tell_its_settings_is_driven_anew(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for seed in (1, 2):
        file = leave(tmp_path, seed)
        result = json.loads(file.read_text())
        del result["settings"]
        file.write_text(json.dumps(result))
    assert main(["campaign", str(ROAM), "--seeds", "2", "--resume", "--out", str(tmp_path)]) == 0
    assert [job.settings.seed for job in jobs] == [1, 2]
    told = capsys.readouterr().err
    assert told == "2 of 2 runs are driven again: the results in their folders do not tell their settings\n"


def test_a_run_without_the_bag_that_is_asked_for_is_driven_again(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (leave(tmp_path, 1).parent / "run.mcap").unlink()
    leave(tmp_path, 2)
    again = ["campaign", str(ROAM), "--seeds", "2", "--resume", "--out", str(tmp_path)]
    assert main([*again, "--results-only"]) == 0
    assert (jobs, capsys.readouterr().err) == ([], "")
    assert main(again) == 0
    assert [job.settings.seed for job in jobs] == [1]
    assert capsys.readouterr().err == "1 of 2 runs are driven again: there is no bag in their folders, and no film\n"


@pytest.mark.parametrize("option", [[], ["--results-only"]])
def test_a_folder_that_cannot_be_written_to_is_refused_before_anything_is_driven(
    jobs: list[CampaignRun], option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["campaign", str(ROAM), "--seeds", "2", "--out", str(tmp_path / "file" / "out"), *option]) == 2
    said = capsys.readouterr()
    assert (jobs, said.out) == ([], "")
    assert "cannot be written: Not a directory" in said.err and said.err.count("\n") == 1


def test_the_runs_are_told_though_their_file_cannot_be_written(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "campaign.json").mkdir()
    assert main(["campaign", str(ROAM), "--seeds", "2", "--out", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert [line.split()[2] for line in said.out.splitlines()[1:3]] == ["1", "2"]
    assert "campaign.json: is a folder" in said.err


@pytest.mark.clause("SIM-2")
def test_a_run_beside_the_bag_of_another_is_driven_again(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = leave(tmp_path, 1)
    kept = result.read_text()
    with BagWriter(result.parent, json.loads(kept)["settings"] | {"overrides": {"length_m": "60"}}) as bag:
        bag.write(0, "state", pack_string("on_road/normal"))
    result.write_text(kept)
    (leave(tmp_path, 2).parent / "run.mcap").write_bytes(b"cut")
    leave(tmp_path, 3)
    assert main(["campaign", str(ROAM), "--seeds", "3", "--resume", "--out", str(tmp_path)]) == 0
    assert [job.settings.seed for job in jobs] == [1, 2]
    assert capsys.readouterr().err == "2 of 3 runs are driven again: the bags in their folders are of other runs\n"


@pytest.mark.medium
def test_the_film_of_a_run_that_was_not_drawn_any_more_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that cannot be made keeps no other from being made."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    drawn, other = (tmp_path / "roam" / f"seed_{seed}" for seed in (1, 2))
    settings = RunSettings(ROAM, 1, (("length_m", "30"), ("vehicles", "0")))
    monkeypatch.setattr(run, "write_film", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_scenario(settings, out=drawn)
    assert {file.name for file in drawn.iterdir()} == {"run.mcap", "metadata.yaml", "result.json", "pictures.html"}
    (leave(tmp_path, 2, {"overrides": dict(settings.overrides)}).parent / "report.html").unlink()
    values = [word for name, value in settings.overrides for word in ("--set", f"{name}={value}")]
    assert main(["campaign", str(ROAM), "--seeds", "2", *values, "--resume", "--out", str(tmp_path)]) == 0
    assert (drawn / "report.html").is_file() and not (other / "report.html").exists()
    assert 'href="roam/seed_1/report.html"' in (tmp_path / "index.html").read_text(encoding="utf-8")
    first, second, refused = capsys.readouterr().err.splitlines()
    assert (first, second) == tuple(f"{each / 'report.html'} is made, which was missing" for each in (drawn, other))
    assert refused.startswith(str(other))


@pytest.mark.parametrize("folder", [".", "course"])
@pytest.mark.parametrize("content", [b"", b"\n"])
def test_a_campaign_takes_in_another_map_or_leaves_one(
    jobs: list[CampaignRun], tmp_path: Path, capsys: pytest.CaptureFixture[str], folder: str, content: bytes
) -> None:
    other = tmp_path / "other.xodr"
    other.write_bytes(COURSE.read_bytes() + content)
    out = tmp_path / "out"
    there = leave(out / folder, 1).parent
    asked = ["campaign", str(ROAM), "--seeds", "1", "--resume", "--out", str(out)]
    assert main([*asked, "--map", str(COURSE), "--map", str(other)]) == 0
    assert [job.out for job in jobs] == [out / "other" / "roam" / "seed_1"]
    assert main([*asked, "--map", str(COURSE)]) == 0
    assert len(jobs) == 1 and capsys.readouterr().err == ""
    assert (out / "index.html").read_text(encoding="utf-8").count(f'{there.relative_to(out)}/report.html"') == 1


def test_to_go_on_there_has_to_be_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["campaign", str(ROAM), "--seeds", "1", "--resume"]) == 2
    assert "--resume" in capsys.readouterr().err
