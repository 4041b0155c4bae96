"""The page of the state machine as a file, what it says of a run, and the verb that makes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.timeline import read_timeline
from tuling_fsm.behaviour.tables import table
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.machine_page import machine_page, write_machine
from tuling_fsm.viewer.machine_run import run_data
from tuling_fsm.viewer.machine_tables import tables_data

from .drives import record
from .test_page import LOADED

MOST_BYTES = 1_000_000


def run_of(page: Path) -> dict[str, Any]:
    (packed,) = re.findall(r'<script type="text/plain" id="run">(.*?)</script>', page.read_text(encoding="utf-8"))
    run: dict[str, Any] = json.loads(zlib.decompress(b64decode(packed)))
    return run


@pytest.mark.medium
def test_a_run_whose_folder_is_no_utf_8_is_a_title(bag: Path, tmp_path: Path) -> None:
    folder, page = tmp_path / os.fsdecode("\u5730\u56fe".encode("gbk")), tmp_path / "machine.html"
    shutil.copytree(bag, folder)
    assert main(["machine", "--html", str(page), "--run", str(folder)]) == 0
    assert "State machine: \\udcb5\\udcd8" in page.read_text(encoding="utf-8")


@pytest.mark.medium
def test_the_page_is_one_small_file_that_loads_nothing(bag: Path) -> None:
    text = machine_page(run_data(BagSource(bag)))
    assert LOADED.findall(text) == []
    assert len(text.encode()) < MOST_BYTES
    imports = json.loads(re.findall(r'<script type="importmap">(.*?)</script>', text)[0])["imports"]
    sources = {name: b64decode(address.partition(",")[2]).decode() for name, address in imports.items()}
    needed = {
        name for text in sources.values() for name in re.findall(r'^import .* from "(#.*?)";$', text, re.MULTILINE)
    }
    assert needed | {"#machine/main.js"} == set(sources)


@pytest.mark.clause("USE-2", "EXPL-1")
def test_every_state_row_and_guard_of_the_tables_is_in_it() -> None:
    data = tables_data()
    hierarchy = table()
    for machine, said in zip((hierarchy, *hierarchy.beside), data["machines"], strict=True):
        assert [state["path"] for state in said["states"]] == list(machine.states)
        keys = [f"{row['source']} > {row['dest']} : {row['guard']}" for row in said["rows"]]
        assert keys == [row.key for row in machine.rows]
        assert {row["guard"] for row in said["rows"]} <= set(data["guards"])
    assert all(data["guards"].values()), "each guard says in words when it holds"
    assert all(state.get("words") for state in data["machines"][0]["states"] if "initial" not in state)


@pytest.mark.clause("EXPL-1")
@pytest.mark.medium
def test_the_transitions_of_a_run_are_those_of_its_bag(bag: Path) -> None:
    run, timeline = run_data(BagSource(bag)), read_timeline(BagSource(bag))
    assert len(run["transitions"]) == len(timeline.changes) == 3
    for said, change in zip(run["transitions"], timeline.changes, strict=True):
        prefix = f"{said['machine']}/" if change.supervisor else ""
        assert (prefix + said["source"], prefix + said["dest"]) == (change.source, change.dest)
        assert (said["t"], said["guard"], said["clause"]) == (change.t, change.guard, change.clause)
    assert run["initial"]["tuling"] == "on_road/normal"
    assert run["initial"]["rain_fog"] == "clear"
    assert [each["code"] for each in run["limits"]] == ["LEADER", "RED_LIGHT"]
    assert not any(re.search(r"\d m$", each["words"]) for each in run["limits"])
    assert {each["guard"] for each in run["dwells"]} == {"no_progress"}


@pytest.mark.medium
def test_stamps_of_a_clock_begin_at_zero(course: RoadMap, tmp_path: Path) -> None:
    run = run_data(BagSource(record(tmp_path / "late", course, shift_s=1.7e9)))
    assert run["begin"] == 0.0
    assert [round(each["t"], 3) for each in run["transitions"]] == [1.0, 4.0, 6.0]


def test_a_run_of_other_tables_is_refused(course: RoadMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = ((1.0, "on_road/normal", "on_road/flying", "NOR-2", "junction_ahead", False),)
    monkeypatch.setattr("viewer.drives._CHANGES", changes)
    with pytest.raises(InputError, match="on_road/flying"):
        run_data(BagSource(record(tmp_path / "other", course)))


@pytest.mark.medium
def test_the_verb_writes_the_page(bag: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "sub" / "m.html"
    assert main(["machine", "--html", str(file), "--run", str(bag)]) == 0
    assert capsys.readouterr().out.strip() == str(file)
    assert run_of(file)["title"] == "drive"
    write_machine(file)
    assert 'id="run"' not in file.read_text(encoding="utf-8")


def test_without_a_page_it_draws_or_says_what_is_missing(bag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagram"]) == 0
    drawn = capsys.readouterr().out
    assert main(["machine"]) == 0
    assert capsys.readouterr().out == drawn
    for arguments in (["--run", str(bag)], ["--html", "m.html", "--run", str(bag / "none")]):
        assert main(["machine", *arguments]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)
