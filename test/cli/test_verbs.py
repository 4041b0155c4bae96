"""The command line as its user drives it: what it prints, where, and with which exit code."""

import json
from pathlib import Path

import pytest

from tuling_fsm.cli import main
from tuling_fsm.share import share_file

COURSE = str(share_file("config", "course", "course.xodr"))
ON_AVENUE = ("60", "-2")


def test_map_prints_one_json_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", COURSE, "--json", "--at", *ON_AVENUE]) == 0
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert printed.err == ""
    assert answer["at"]["road"] is not None
    assert set(answer["at"]) >= {"road", "section", "lane", "s", "offset", "width", "heading", "line_left"}


def test_map_answers_every_row_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("60,-2\n60,-2,0\n9000,9000\n", encoding="utf-8")
    assert main(["map", COURSE, "--json", "--points", str(points)]) == 0
    first, second, nowhere = json.loads(capsys.readouterr().out)["points"]
    assert first == second
    assert nowhere is None or nowhere["road"] is None


def test_map_draws(tmp_path: Path) -> None:
    png = tmp_path / "course.png"
    assert main(["map", COURSE, "--png", str(png)]) == 0
    assert png.read_bytes().startswith(b"\x89PNG")


def test_route_lists_its_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["route", COURSE, "--from", "20", "-2", "--to", "150", "-2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "ok"
    assert answer["length_m"] == pytest.approx(130.0, abs=2.0)
    assert len(answer["poses"]) > 10


def test_a_route_to_nowhere_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["route", COURSE, "--from", "20", "-2", "--to", "9000", "9000"]) == 1
    assert "goal" in capsys.readouterr().out


def test_the_diagram_is_mermaid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagram"]) == 0
    assert capsys.readouterr().out.startswith("stateDiagram-v2")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["map", "absent.xodr"], "absent.xodr"),
        (["plan", "absent.csv"], "absent.csv"),
        (["replay", "absent.mcap"], "absent.mcap"),
        (["replay", "absent.mcap", "--remap", "odom"], "--remap odom: cannot be used"),
        (["sim", "absent.osc"], "absent.osc"),
        (["sim", str(share_file("config", "scenarios", "roam.osc")), "--set", "length_m"], "NAME=VALUE"),
        (["sim", str(share_file("config", "scenarios", "roam.osc")), "--set", "lenght_m=3"], "length_m"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err


def test_a_row_that_is_no_point_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("1,2\n3;4\n", encoding="utf-8")
    assert main(["map", COURSE, "--points", str(points)]) == 2
    assert f"{points}:2" in capsys.readouterr().err


def test_bad_usage_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fly"])
    assert ended.value.code == 2
    assert "fly" in capsys.readouterr().err
