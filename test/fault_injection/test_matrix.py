"""The whole matrix: what it keeps, what it drives again, its table, its page, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tuling_fsm.behaviour import states
from tuling_fsm.cli import main
from tuling_fsm.core.errors import InputError
from tuling_fsm.fault_injection import driving, matrix, table
from tuling_fsm.fault_injection.cells import Phase, StateVisit
from tuling_fsm.fault_injection.driving import CellGroup, DrivenScenario, cell_file, write_cell
from tuling_fsm.fault_injection.faults import faults_named
from tuling_fsm.fault_injection.matrix import FaultMatrix, run_matrix
from tuling_fsm.output_file import put_between_marks

from .staged import COURSE, cell, reference, scenario_file, straight_loop

PASSED = {"verdict": "passed", "detail": "", "recovered_s": 1.0}
NAMES = ["ghosts", "clock_back"]


def asked(folder: Path, **more: Any) -> FaultMatrix:
    driven = DrivenScenario(scenario_file(folder), COURSE, 1, ())
    given = {"states": (states.NORMAL, states.EXPLORE), "phases": (Phase.ENTRY,), **more}
    return FaultMatrix((driven,), folder / "out", faults_named(NAMES), **given)


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The cells that were driven: every one passes, in this process, and nothing drives."""
    names: list[str] = []

    def reference_of(scenario: DrivenScenario):
        names.append(scenario.file.stem)
        return replace(reference(StateVisit(states.NORMAL, 1.0, 9.0)), scenario=str(scenario.file))

    def cells_of(group: CellGroup) -> None:
        for each in group.cells:
            names.append(each.name)
            write_cell(group.folder, each, PASSED)

    def in_turn(work: Callable[[Any], Any], jobs: Sequence[Any], workers: int, poll: Callable[[], None] | None = None):
        for index, job in enumerate(jobs):
            future: Future[Any] = Future()
            future.set_result({"reference_drive": reference_of, "drive_cells": cells_of}[work.__name__](job))
            yield index, future

    monkeypatch.setattr(matrix, "in_processes", in_turn)
    return names


def test_every_cell_is_driven_and_a_state_that_is_not_visited_is_told_as_such(
    driven: list[str], tmp_path: Path
) -> None:
    results = run_matrix(asked(tmp_path), lambda _: None)
    assert driven == ["straight", "on_road/normal/entry/ghosts", "on_road/normal/entry/clock_back"]
    assert [(each["state"], each["verdict"]) for each in results] == [
        (states.NORMAL, "passed"), (states.NORMAL, "passed"), (states.EXPLORE, "not reached"),
        (states.EXPLORE, "not reached"),
    ]  # fmt: skip
    assert results[0]["at_s"] == 1.05
    assert results[2]["detail"] == "no scenario visits this state"


def test_what_has_been_driven_is_kept_and_what_is_missing_is_driven(driven: list[str], tmp_path: Path) -> None:
    first = run_matrix(asked(tmp_path), lambda _: None)
    cell_file(tmp_path / "out", cell("clock_back", at_s=1.05)).unlink()
    driven.clear()
    assert run_matrix(asked(tmp_path, resume=True), lambda _: None) == first
    assert driven == ["on_road/normal/entry/clock_back"]
    driven.clear()
    run_matrix(asked(tmp_path), lambda _: None)
    assert len(driven) == 3


def test_a_cell_whose_process_was_killed_has_not_been_driven(driven: list[str], tmp_path: Path) -> None:
    run_matrix(asked(tmp_path), lambda _: None)
    (scenario,) = asked(tmp_path).scenarios
    killed, broken = (replace(cell(name, at_s=1.05), scenario=str(scenario.file)) for name in NAMES)
    group = CellGroup(scenario, reference(), (killed,), 5.0, tmp_path / "out")
    cell_file(group.folder, killed).unlink()
    future: Future[None] = Future()
    future.set_exception(BrokenProcessPool())
    matrix._settle(group, future)
    seen = {"verdict": "error", "detail": "ValueError: none", "last_state": states.NORMAL}
    write_cell(group.folder, broken, seen)
    driven.clear()
    results = run_matrix(asked(tmp_path, resume=True), lambda _: None)
    assert driven == ["on_road/normal/entry/ghosts"], "an error that was seen is a result"
    assert [each["verdict"] for each in results[:2]] == ["passed", "error"]


def test_a_matrix_of_other_settings_is_not_gone_on_with(driven: list[str], tmp_path: Path) -> None:
    run_matrix(asked(tmp_path), lambda _: None)
    with pytest.raises(InputError, match="holds a matrix of other settings"):
        run_matrix(asked(tmp_path, resume=True, duration_s=2.0), lambda _: None)


def test_nor_are_its_cells_where_another_one_was_broken_off_and_is_gone_on_with(
    driven: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_matrix(asked(tmp_path), lambda _: None)
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(matrix, "_references", interrupted)
        run_matrix(asked(tmp_path, duration_s=2.0), lambda _: None)
    driven.clear()
    run_matrix(asked(tmp_path, resume=True, duration_s=2.0), lambda _: None)
    assert driven == ["on_road/normal/entry/ghosts", "on_road/normal/entry/clock_back"]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_nor_is_one_of_a_scenario_or_a_map_that_has_changed_since(driven: list[str], tmp_path: Path) -> None:
    road_map = tmp_path / "course.xodr"
    road_map.write_bytes(COURSE.read_bytes())
    one = DrivenScenario(scenario_file(tmp_path), road_map, 1, ())
    first = run_matrix(replace(asked(tmp_path), scenarios=(one,)), lambda _: None)
    again = replace(asked(tmp_path, resume=True), scenarios=(replace(one),))
    driven.clear()
    assert run_matrix(again, lambda _: None) == first and not driven
    for file in (one.file, road_map):
        text = file.read_text(encoding="utf-8")
        file.write_text(f"{text}\n", encoding="utf-8")
        with pytest.raises(InputError, match="holds a matrix of other settings"):
            run_matrix(replace(again, scenarios=(replace(one),)), lambda _: None)
        file.write_text(text, encoding="utf-8")


def test_nor_is_one_of_another_scenario_of_the_same_name(driven: list[str], tmp_path: Path) -> None:
    run_matrix(asked(tmp_path), lambda _: None)
    (tmp_path / "other").mkdir()
    other = DrivenScenario(scenario_file(tmp_path / "other"), COURSE, 1, ())
    with pytest.raises(InputError, match="expected the same scenarios, map, seed"):
        run_matrix(replace(asked(tmp_path, resume=True), scenarios=(other,)), lambda _: None)
    both = replace(asked(tmp_path), scenarios=(*asked(tmp_path).scenarios, other))
    driven.clear()
    run_matrix(both, lambda _: None)
    assert driven[:2] == ["straight", "straight"]
    assert len(list((tmp_path / "out" / "references").iterdir())) == 2


@pytest.mark.medium
def test_a_copy_that_dies_is_an_error_of_its_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(driving, "drive_cell", die)
    one = cell("ghosts")
    group = CellGroup(DrivenScenario(tmp_path, COURSE, 1, ()), reference(), (one,), 5.0, tmp_path)
    driving._in_a_copy(straight_loop(), one, group)
    said = json.loads(cell_file(tmp_path, one).read_text())
    assert (said["verdict"], said["detail"]) == ("error", "the process of the cell died")


def result(fault: str, state: str, phase: str, verdict: str, detail: str = "") -> dict[str, Any]:
    return {"fault": fault, "state": state, "phase": phase, "verdict": verdict, "detail": detail}


RESULTS = [
    result("ghosts", states.NORMAL, "entry", "passed"),
    result("ghosts", states.NORMAL, "late", "collision", "7.00 s: collision, car 3"),
    result("ghosts", states.EXPLORE, "entry", "not reached"),
    result("clock_back", states.NORMAL, "entry", "passed"),
    result("clock_back", states.EXPLORE, "entry", "not recovered", "does not go on"),
]


def test_the_table_has_the_worst_phase_and_every_cell_that_does_not_pass() -> None:
    lines = list(table.text(RESULTS))
    assert lines[:3] == ["fault         1      2", "ghosts      hit      -", "clock_back   ok  stays"]
    assert "1: on_road/normal" in lines
    assert "ghosts, on_road/normal, late: collision, 7.00 s: collision, car 3" in lines
    assert lines[-1] == "5 cells: 2 passed, 1 not reached, 1 not recovered, 1 collision"


def test_a_matrix_holds_where_what_was_reached_passes_and_not_where_nothing_was_reached() -> None:
    passed, failed, elsewhere = RESULTS[0], RESULTS[1], RESULTS[2]
    assert table.holds([passed, elsewhere])
    assert not table.holds([passed, failed])
    assert not table.holds([elsewhere])


def test_the_page_has_the_same_between_its_marks() -> None:
    page = "# A\n\n<!-- faults -->\nold\n<!-- /faults -->\nend\n"
    text = put_between_marks(page, "faults", table.markdown(RESULTS), "trust.md")
    assert text.startswith("# A\n\n<!-- faults -->\n| fault | what is wrong | clause |\n")
    assert "| `ghosts` | hit | - |\n| `clock_back` | ok | stays |\n" in text
    assert text.endswith("<!-- /faults -->\nend\n") and "old" not in text
    with pytest.raises(InputError, match="has not the marks of others"):
        put_between_marks(page, "others", "", "trust.md")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fault", "gremlins"], "'gremlins' is no fault"),
        (["--state", "high_speed/normal"], "is no state that is entered"),
        (["--duration", "0"], "more than 0"),
        (["--workers", "0"], "1 or more"),
        (["--resume"], "--out DIR of the matrix"),
        (["--map", "nowhere.xodr"], "nowhere.xodr"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_driven(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["faults", str(scenario_file(tmp_path)), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_what_a_matrix_has_found_is_told_though_its_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    (out / "faults.json").mkdir(parents=True)
    monkeypatch.setattr(matrix, "run_matrix", lambda *_: RESULTS)
    monkeypatch.setattr("tuling_fsm.compiling.compile_kernels", lambda **_: None)
    assert main(["faults", str(scenario_file(tmp_path)), "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == "5 cells: 2 passed, 1 not reached, 1 not recovered, 1 collision"
    assert "faults.json: is a folder" in printed.err


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_a_cell_in_a_copy_is_that_cell_alone_and_the_command_tells_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = scenario_file(tmp_path), tmp_path / "out"
    options = ["--state", "on_road/normal", "--phase", "entry", "--duration", "2", "--workers", "1", "--json"]
    names = ["--fault", "messages_lost", "--fault", "clock_back"]
    assert main(["faults", str(file), *names, *options, "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == json.loads((out / "faults.json").read_text())
    assert said["held"] and [each["verdict"] for each in said["cells"]] == ["passed", "passed"]
    lost = next(each for each in said["cells"] if each["fault"] == "messages_lost")
    loop = straight_loop(lost["at_s"])
    (reference_file,) = (out / "references").iterdir()
    drive = matrix._reference(reference_file)
    assert drive is not None
    alone = driving.drive_cell(loop, cell("messages_lost", at_s=lost["at_s"]), drive, 2.0)
    assert alone == {name: lost[name] for name in alone}
