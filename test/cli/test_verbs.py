"""The command line as its user drives it: what it prints, where, and with which exit code."""

import errno
import io
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tuling_fsm.cli import main
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map import query
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.share import share_file
from tuling_fsm.sim.environment.route_server import route_from

COURSE = str(share_file("config", "course", "course.xodr"))
ON_AVENUE = ("60", "-2")


def test_map_prints_one_json_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", COURSE, "--json", "--at", *ON_AVENUE]) == 0
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert printed.err == ""
    assert answer["at"]["road"] is not None
    assert set(answer["at"]) >= {"road", "section", "lane", "s", "offset", "width", "heading", "line_left"}


def test_a_negative_number_is_one_however_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for x, y in (("-10", "-2"), ("-10.", "-.2e1"), ("-1e1", "-2E+0"), ("-1.0e+1", "-20e-1")):
        assert main(["map", COURSE, "--json", "--at", x, y]) == 0
        answers.append(json.loads(capsys.readouterr().out)["at"])
    assert answers == answers[:1] * 4
    with pytest.raises(SystemExit):
        main(["map", COURSE, "--at", "-x", "-2"])
    assert "expected 2 arguments" in capsys.readouterr().err


def test_map_answers_every_row_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = tmp_path / "points.csv"
    points.write_text("60,-2\n60,-2,0\n\n9000,9000\nnan,nan,0\n\n \n", encoding="utf-8")
    assert main(["map", COURSE, "--json", "--points", str(points)]) == 0
    first, second, nowhere, neither = json.loads(capsys.readouterr().out)["points"]
    assert neither == nowhere
    assert first == second
    assert nowhere is None or nowhere["road"] is None


@pytest.mark.medium
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


@pytest.mark.parametrize("option", [("--view-host", "0.0.0.0"), ("--view-port", "0")])
@pytest.mark.parametrize("verb", [["demo"], ["sim", share_file("config", "scenarios", "roam.osc")]])
def test_a_place_of_a_page_that_is_not_asked_for_is_refused(
    verb: list[str], option: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*map(str, verb), *option]) == 2
    assert f"{option[0]}: changes nothing here (expected --view with it)\n" in capsys.readouterr().err


@pytest.mark.clause("USE-7")
def test_a_start_on_a_blocked_road_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    road = query.at(read_map(COURSE), 60.0, -2.0)["road"]
    assert main(["route", COURSE, "--from", "60", "-2", "--to", "150", "160", "--blocked", road]) == 1
    assert capsys.readouterr().out == "start_blocked: all lanes at the start are blocked\n"


@pytest.mark.medium
def test_a_map_whose_name_looks_like_a_formula_is_drawn(tmp_path: Path) -> None:
    text = Path(COURSE).read_text(encoding="utf-8")
    named = tmp_path / "named.xodr"
    named.write_text(text.replace('name="course"', 'name="$\\frac{$"'), encoding="utf-8")
    assert main(["map", str(named), "--png", str(tmp_path / "map.png")]) == 0


@pytest.mark.parametrize("y", ["-12", "-25"])
def test_route_answers_as_the_route_server_from_beside_the_road(y: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["route", COURSE, "--from", "60", y, "--to", "20", "5.2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    expected = route_from(read_map(COURSE), Pose(60.0, float(y), math.nan), Pose(20.0, 5.2, math.pi)).route
    assert expected is not None
    assert answer["poses"] == expected.poses().tolist()


@pytest.mark.medium
def test_map_and_route_are_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", COURSE, "--at", "60", "-2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "lanes: driving 134, sidewalk 61, parking 11, shoulder 1" in lines
    assert "driving_length: 7402.77 m" in lines
    assert lines[-1].startswith(
        "at: road 1, section 1, lane -1, s 60.00 m, offset -0.25 m, width 3.50 m, heading 0.00 rad"
    )
    assert main(["map", COURSE, "--at", "6000", "-2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "at: nothing"
    picture = tmp_path / "route.png"
    assert main(["route", COURSE, "--from", "20", "-2", "--to", "150", "-2", "--png", str(picture)]) == 0
    assert capsys.readouterr().out.startswith("ok: 130.0 m over 2 lanes\n  road 1, ")
    assert picture.read_bytes()[:4] == b"\x89PNG"


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
        (["map", COURSE, "--points", "."], ".: Is a directory"),
        (["map", COURSE, "--png", "absent/town.png"], "cannot be written"),
        (["route", COURSE, "--from", "20", "-2", "--to", "150", "-2", "--blocked", "x"], "--blocked x: no such road"),
        (["sim", str(share_file("config", "scenarios", "roam.osc")), "--set", "length_m"], "NAME=VALUE"),
        (["sim", str(share_file("config", "scenarios", "roam.osc")), "--set", "lenght_m=3"], "length_m"),
        (["sim", "roam.osc", "--ros", "--planner", "idm"], "idm has no node"),
        (["sim", "roam.osc", "--ros", "--perception", "mild"], "clean with --ros"),
        (["sim", "roam.osc", "--ros", "--no-film"], "processes leave all there is"),
    ],
)
@pytest.mark.medium
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
    for row in ("3;4", ",", "5"):
        points.write_text(f"1,2\n\n{row}\n", encoding="utf-8")
        assert main(["map", COURSE, "--points", str(points)]) == 2
        assert f"{points}:3: {row!r} is no point" in capsys.readouterr().err


@pytest.mark.parametrize("content", [b"\xff\xfe1,2", b"1,2\0\n"])
def test_points_that_are_no_text_are_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "points.csv").write_bytes(content)
    assert main(["map", COURSE, "--points", str(tmp_path / "points.csv")]) == 2
    assert "no text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fly"], "fly"),
        ([], "VERB"),
        (["sim"], "SCENARIO"),
        (["sim", "a.osc", "--seed", "-1"], "'-1' is no whole number from 0"),
        (["sim", "a.osc", "--seed", "1e3"], "is no whole number"),
        (["sim", "a.osc", "--seed", "9" * 5000], "is no whole number"),
        (["sim", "a.osc", "--out", ""], "an empty name is no folder"),
        (["campaign", "a.osc", "--seeds", "1", "--out", COURSE], "course.xodr is no folder"),
        (["sim", "a.osc", "--map", ""], "an empty name is no file"),
        (["report", "run", "--out", "."], ". is a folder (expected the name of a file)"),
        (["map", "a.xodr", "--png", "/"], "/ is a folder"),
        (["machine", "--html", ""], "an empty name is no file"),
        (["map", COURSE, "--at", "nan", "0"], "'nan' is no finite number"),
        (["why", "a.mcap", "--at", "inf"], "'inf' is no finite number"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert said in printed.err


@pytest.mark.medium
def test_it_ends_quietly_where_nobody_reads_on() -> None:
    """As in `tuling-fsm why BAG | head`: exit code and silence as of any program that SIGPIPE ends."""
    command = [sys.executable, "-m", "tuling_fsm.cli", "diagram"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 128 + signal.SIGPIPE


@pytest.mark.parametrize("verb", ["diagram", "--help"])
@pytest.mark.medium
def test_an_output_that_cannot_be_written_is_one_line(verb: str) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-m", "tuling_fsm.cli", verb]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=buffered, check=False)
    assert (done.returncode, done.stderr) == (2, b"OSError: No space left on device\n")


@pytest.mark.parametrize(("verb", "code"), [("diagram", 0), ("fly", 2)])
@pytest.mark.medium
def test_closed_outputs_are_no_fault(verb: str, code: int) -> None:
    command = ["sh", "-c", 'exec "$0" -m tuling_fsm.cli "$1" >&- 2>&-', sys.executable, verb]
    assert subprocess.run(command, check=False).returncode == code


@pytest.mark.medium
def test_letters_that_a_terminal_does_not_have_are_written_by_their_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    town = tmp_path / "town.xodr"
    town.write_text(
        Path(COURSE).read_text(encoding="utf-8").replace('name="course"', 'name="\u56fe"'), encoding="utf-8"
    )
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert main(["map", str(town)]) == 0
    terminal.seek(0)
    assert "name: \\u56fe" in terminal.read()


@pytest.mark.medium
def test_where_nothing_can_be_said_the_exit_code_tells() -> None:
    command = [sys.executable, "-m", "tuling_fsm.cli", "map", "absent.xodr"]
    with Path("/dev/full").open("wb") as full:
        assert subprocess.run(command, stderr=full, check=False).returncode == 2


def test_a_full_disk_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "town.png")

    monkeypatch.setattr("tuling_fsm.map.picture.draw_map", full)
    assert main(["map", COURSE, "--png", "town.png"]) == 2
    assert capsys.readouterr().err == "town.png: No space left on device\n"
