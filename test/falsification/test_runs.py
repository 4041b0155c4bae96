"""A search in the closed loop: how near a run came, what is kept of it, and what the command says."""

from __future__ import annotations

import argparse
import errno
import json
import os
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.falsification.criticality import REFUSED_COST, drive_critically, not_driven, words
from tuling_fsm.falsification.parameter_space import ParameterRange
from tuling_fsm.falsification.runs import FILE, SearchRecord, SearchSettings
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file
from tuling_fsm.sim.sensors.perception_levels import CLEAN
from tuling_fsm.verbs.falsify import command, summary, table

CUT_IN = Path(share_file("config", "scenarios", "cut_in.xosc"))
ASKED = ("falsify", str(CUT_IN), "--vary", "behind=12..19", "--vary", "brake_after=0.3..1.5", "--workers", "1")


def driven(**values: float) -> dict[str, Any]:
    return drive_critically(RunSettings(CUT_IN, 1, tuple((name, str(value)) for name, value in values.items())))


@pytest.mark.slow
@pytest.mark.clause("SAF-2")
def test_the_nearer_a_car_cuts_in_the_less_a_run_costs() -> None:
    far, near, hit = driven(behind=-20.0), driven(behind=14.0), driven(behind=19.0, brake_after=0.3)
    assert (far["collides"], near["collides"], hit["collides"]) == (False, False, True)
    assert (near["faults"], near["end"]) == ([], "scenario")
    assert near["least_ttc_s"] < 2.0
    assert far["cost"] > near["cost"] > 0.0 > hit["cost"]
    assert hit["cost"] > -8.4, "the speed of the car"
    assert "front contact" in hit["faults"][0]
    assert words(near) == f"{near['least_ttc_s']:.2f} s"
    assert words(hit).startswith("collision at ")


@pytest.mark.slow
def test_values_that_cannot_be_driven_do_not_end_a_search() -> None:
    refused = driven(behind=40.0)
    assert refused["end"].startswith("refused: ")
    assert "no lane" in refused["end"]
    assert (refused["collides"], words(refused)) == (False, "not driven")
    assert refused["cost"] > driven(behind=-20.0)["cost"]


@pytest.mark.slow
def test_a_search_goes_on_where_it_was_broken_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = ("--out", str(tmp_path / "worst"))
    first = main([*ASKED, *out, "--runs", "2"])
    kept = (tmp_path / "worst" / FILE).read_text("utf-8").splitlines()
    assert len(kept) == 3
    (tmp_path / "worst" / FILE).write_text("\n".join([*kept, '{"values": {"beh']), encoding="utf-8")
    whole = main([*ASKED, *out, "--runs", "4", "--resume", "--json"])
    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert told == json.loads((tmp_path / "worst" / "falsification.json").read_text("utf-8"))
    assert [run["chosen"] for run in told["runs"]] == ["spread", "spread", "guided", "guided"]
    again = (tmp_path / "worst" / FILE).read_text("utf-8").splitlines()
    assert again[:3] == kept
    assert len(again) == 5
    assert {first, whole} <= {0, 1}
    assert (whole == 1) == any(run["collides"] for run in told["runs"])
    assert main([*ASKED, *out, "--runs", "4", "--resume", "--seed", "2"]) == 2
    assert "is of other settings (expected those of the search there, or another folder)" in capsys.readouterr().err


def test_what_is_kept_stays_where_it_cannot_be_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SearchSettings(RunSettings(CUT_IN), (ParameterRange("behind", 12.0, 19.0),))
    with SearchRecord(settings, 1, tmp_path, False):
        pass
    with (tmp_path / FILE).open("a", encoding="utf-8") as file:
        file.write('{"values": {"behind": "13"}, "outcome": {"cost": 1.0}}\n')
    kept = (tmp_path / FILE).read_text("utf-8")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(Path, "replace", full)
        with pytest.raises(InputError, match="No space left"):
            SearchRecord(settings, 1, tmp_path, True)
    assert (tmp_path / FILE).read_text("utf-8") == kept
    with SearchRecord(settings, 1, tmp_path, True) as record:
        assert record.drive([(("behind", "13"),)]) == [{"cost": 1.0}]
    assert (tmp_path / FILE).read_text("utf-8") == kept


def test_two_searches_do_not_share_a_folder(tmp_path: Path) -> None:
    settings = SearchSettings(RunSettings(CUT_IN), (ParameterRange("behind", 12.0, 19.0),))
    said = r"new: is being written by another program \(expected another folder\)"
    for resume in (False, True):
        with SearchRecord(settings, 1, tmp_path / "new", resume), pytest.raises(InputError, match=said):
            SearchRecord(settings, 1, tmp_path / "new", True)


def ends_its_process(job: RunSettings) -> dict[str, Any]:
    """So many times, which it counts in files of the folder; then the run is driven."""
    folder, times = (value for _, value in job.overrides)
    done = len(list(Path(folder).glob(f"{times}_*")))
    Path(folder, f"{times}_{done}").touch()
    if done < int(times):
        os.kill(os.getpid(), signal.SIGKILL)
    return {"cost": float(times), "end": "goal"}


@pytest.mark.medium
def test_a_process_that_is_killed_costs_no_run_but_one_that_ends_it_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tuling_fsm.falsification.runs.drive_critically", ends_its_process)
    settings = SearchSettings(RunSettings(CUT_IN), (ParameterRange("behind", 12.0, 19.0),))
    asked = [(("folder", str(tmp_path)), ("times", times)) for times in ("0", "1", "9", "00")]
    with SearchRecord(settings, 1, tmp_path, False) as record:
        outcomes = record.drive(asked)
        assert [one["cost"] for one in record.drive(asked[:2])] == [0.0, 1.0]
    assert [one["end"] for one in outcomes] == ["goal", "goal", "error: a process of the search was killed", "goal"]
    assert (outcomes[2]["cost"], words(outcomes[2])) == (REFUSED_COST, "not driven")
    kept = [json.loads(line)["values"]["times"] for line in (tmp_path / FILE).read_text("utf-8").splitlines()[1:]]
    assert sorted(kept) == ["0", "00", "1"], "and one that is none is driven by a search that goes on"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--runs", "0"), "--runs: 0 (expected 1 to 100000)"),
        (("--workers", "0"), "--workers: 0 (expected 1 to 100000)"),
        (("--resume",), "--resume: no folder to go on in (expected --out DIR of the search)"),
        (("--vary", "behind=1..2"), "--vary: behind is given twice (expected each variable once)"),
        (("--set", "behind=1"), "--vary: behind is given twice (expected each variable once)"),
        (("--vary", "speed"), "--vary: 'speed' is no range"),
        (("--vary", "tempo=1..2"), "tempo"),
        (("--map", "nowhere.xodr"), "nowhere.xodr"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_one_line(
    more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASKED, *more]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.splitlines()) == 1


def test_one_range_is_no_search(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["falsify", str(CUT_IN), "--vary", "behind=1..2"]) == 2
    assert "two or more" in capsys.readouterr().err


def run(cost: float, a: str, chosen: str = "guided") -> dict[str, Any]:
    return {
        "chosen": chosen, "values": {"a": a, "b": "7m"}, "cost": cost, "collides": cost < 0.0,
        "least_ttc_s": None if cost > 10.0 else max(cost, 0.0), "end": "goal", "sim_s": 9.0,
        "faults": ["3.00 s: collision, car 1"] if cost < 0.0 else [],
    }  # fmt: skip


def test_the_worst_run_is_offered_as_a_shell_takes_it() -> None:
    asked = argparse.Namespace(
        scenario=Path("my site/van.osc"), seed=3, map=Path("it's.xodr"), parameters=Path("car.yaml"), perception=CLEAN,
        overrides=["who=a b"],
    )  # fmt: skip
    told = command(asked, [run(0.5, "1"), run(-3.2, "2")])
    assert shlex.split(told) == [
        "tuling-fsm", "sim", "my site/van.osc", "--seed", "3", "--map", "it's.xodr", "--parameters", "car.yaml",
        "--perception", CLEAN,
        "--set", "who=a b", "--set", "a=2", "--set", "b=7m",
    ]  # fmt: skip


def test_the_table_tells_the_worst_first_and_none_twice() -> None:
    runs = [run(0.5, "1"), run(-3.2, "2"), run(-3.2, "2"), run(10.4, "3", "spread")]
    runs[3]["end"] = "refused: a.xosc:1:1: no such lane"
    heading, *rows = table(runs)
    assert heading.split() == ["nearest", "a", "b", "chosen", "end", "at", "fault"]
    assert [row.split("  ")[0] for row in rows] == ["collision at 3.2 m/s", "0.50 s", "not driven"]
    assert "3.00 s: collision, car 1" in rows[0]
    assert rows[2].split()[-2:] == ["refused", "-"]
    assert summary(runs) == (
        "of 4 runs 1 refused; 3 runs guided: 2 with a collision at fault, nearest collision at 3.2 m/s"
    )
    assert summary([run(0.5, "1") | not_driven("error: a process was killed"), *runs[:1]]) == (
        "of 2 runs 1 killed; 1 runs guided: 0 with a collision at fault, nearest 0.50 s"
    )
    assert summary([run(10.4, "3", "spread"), *runs[:1]]) == (
        "1 runs spread: 0 with a collision at fault, nearest nothing near; "
        "1 runs guided: 0 with a collision at fault, nearest 0.50 s"
    )


def searched(monkeypatch: pytest.MonkeyPatch, runs: int, driven: int, *more: str) -> int:
    """What a search is the end of whose runs but the first `driven` are refused."""
    refused = {
        "cost": REFUSED_COST, "collides": False, "least_ttc_s": None, "end": "refused: a.xosc:1:1: no such lane",
        "sim_s": 0.0, "faults": [],
    }  # fmt: skip
    left = iter([refused | {"cost": 10.5, "end": "goal"}] * driven + [refused] * (runs - driven))
    monkeypatch.setattr(SearchRecord, "drive", lambda record, asked: [next(left) for _ in asked])
    return main([*ASKED, "--runs", str(runs), *more])


@pytest.mark.medium
def test_what_a_search_has_found_is_told_though_its_file_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "falsification.json").mkdir()
    assert searched(monkeypatch, 3, 1, "--out", str(tmp_path)) == 2
    printed = capsys.readouterr()
    assert "of 3 runs 2 refused; 1 runs " in printed.out
    assert "falsification.json: is a folder" in printed.err


@pytest.mark.medium
def test_a_search_that_has_driven_nothing_has_not_found_that_nothing_collides(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert searched(monkeypatch, 3, 0) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1] == (
        f"{CUT_IN}: none of 3 runs could be driven, the first: a.xosc:1:1: no such lane "
        "(expected ranges with values that can be driven)"
    )
    assert searched(monkeypatch, 3, 1) == 0
    assert "of 3 runs 2 refused; 1 runs " in capsys.readouterr().out
