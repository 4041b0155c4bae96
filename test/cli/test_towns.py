"""`tuling-fsm bench towns`: what is driven, what is not driven again, and the table of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark import towns
from benchmark.common.scoreboard import Condition, Driven, goals, rows
from tuling_fsm.run_settings import PLANNERS

MAPS = (
    "carla_Town01.xodr", "carla_Town07.xodr", "pyopendrive_chatt.xodr", "esmini_fabriksgatan_traffic_lights.xodr",
)  # fmt: skip


def record(seconds: float = 100.0, *faults: str, finished: bool = True, stand_s: float = 0.0) -> dict[str, Any]:
    score = {"closed_loop": 0.5, "driving": 0.25, "route_completion": 1.0 if finished else 0.5, "comfort": 1.0}
    infractions = [{"t": 1.0, "kind": kind, "detail": "a car", "at_fault": True} for kind in faults]
    blameless = {"t": 2.0, "kind": "collision", "detail": "a car", "at_fault": False}
    return {
        "finished": finished, "end": "goal" if finished else "time", "sim_s": seconds, "score": score,
        "infractions": [*infractions, blameless], "longest_unexplained_stop_s": stand_s,
    }  # fmt: skip


def of(course: str, told: dict[str, Any], planner: str = "agent", perception: str = "clean") -> Driven:
    return Driven("towns", course, Condition(planner, "polite", perception), told)


@pytest.fixture
def run(tmp_path: Path) -> towns.Run:
    """A route of a few metres."""
    first = towns.all_runs(tmp_path, tmp_path / "no maps")[0]
    overrides = {**dict(first.overrides), "length_m": "6", "vehicles": "2", "pedestrians": "1"}
    return replace(first, overrides=tuple(overrides.items()))


def test_twenty_routes_and_two_matches_are_driven_in_all_conditions(tmp_path: Path) -> None:
    for name in MAPS:
        (tmp_path / name).touch()
    runs = towns.all_runs(tmp_path / "out", tmp_path)
    parts = [run.part for run in runs]
    assert [parts.count(part) for part in towns.PARTS] == [20 * 3 * 2 * 4, 3 * 2 * 2, 2 * 2]
    assert {run.condition.planner for run in runs if run.part == towns.MATCH} == {"agent"}
    assert len({run.file for run in runs}) == len(runs)
    assert {run.condition.planner for run in runs[: len(PLANNERS)]} == set(PLANNERS)


def test_without_the_real_maps_the_own_town_is_left(tmp_path: Path) -> None:
    routes = [run for run in towns.all_runs(tmp_path, tmp_path) if run.part == towns.ROUTES]
    assert {run.place.name for run in routes} == {"course"}
    assert f"{len(towns.SEEDS)} courses of 400 m drawn by the seed on course;" in towns.table(routes).markdown()


@pytest.mark.slow
def test_a_run_leaves_a_file_and_is_not_driven_again(run: towns.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    driven = towns.drive(run)
    assert driven["end"] == "goal" and driven["sim_s"] < 20.0
    assert towns.kept(run) == driven
    begun: list[object] = []
    monkeypatch.setattr(towns, "in_processes", lambda drive, left, workers: (job for job in begun.append(left) or ()))
    towns.drive_all([run], workers=1)
    towns.drive_all([replace(run, seed=2)], workers=1)
    assert begun == [[], [replace(run, seed=2)]]
    assert "- Not driven yet: town routes 1." in towns.table([run, replace(run, seed=2)]).markdown()
    kept = towns.table([run])
    assert "Not driven yet" not in kept.markdown()
    assert kept.runs == f"1 of 1, each once, at commit {towns.commit()}"
    assert kept.rows[0][kept.columns.index("finished")] == "1 of 1"


def test_a_run_that_breaks_off_is_told_of_and_the_others_go_on(run: towns.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no way")

    monkeypatch.setattr(towns, "run_scenario", broken)
    assert towns.drive(run)["error"] == "ZeroDivisionError: no way"
    made = towns.table([run])
    row = dict(zip(made.columns, made.rows[0], strict=True))
    assert (row["finished"], row["driving score (CARLA)"], row["time, s"]) == ("0 of 1", 0.0, None)


def test_a_row_has_means_over_courses_and_times_of_those_that_were_finished() -> None:
    driven = [
        of("a", record(100.0)), of("b", record(200.0, "red_light", "yield", "yield")),
        of("c", record(900.0, "collision", finished=False, stand_s=10.1)), of("a", record(50.0), planner="idm"),
    ]  # fmt: skip
    columns, found = rows(driven)
    assert found == (
        ("towns", "agent", "polite", "clean", 0.5, 0.25, 1, 1, "yield 2", 1, "2 of 3", pytest.approx(2.5 / 3), 150.0,
         None, 1.0),
        ("towns", "idm", "polite", "clean", 0.5, 0.25, 0, 0, "none", 0, "1 of 1", 1.0, 50.0, None, 1.0),
    )  # fmt: skip
    assert len(columns) == len(found[0])


def test_time_is_compared_with_clean_perception_where_both_were_finished() -> None:
    driven = [
        of("a", record(100.0)), of("b", record(100.0)), of("c", record(5.0, finished=False)),
        of("a", record(110.0), perception="mild"), of("b", record(900.0, finished=False), perception="mild"),
        of("c", record(50.0), perception="mild"), of("a", record(131.0), perception="middle"),
    ]  # fmt: skip
    columns, found = rows(driven)
    assert [row[columns.index("time against clean, %")] for row in found] == [None, "+10", "+31"]
    nothing, mild, middle = goals(driven)
    assert nothing == "Goal, nothing of ours at fault: reached in all 3 rows."
    assert mild == "Goal, at mild at most 15 % more time than clean: reached (towns, polite +10 %)."
    assert middle == "Goal, at middle at most 30 % more time than clean: missed in 1 of 1 rows (towns, polite +31 %)."


def test_only_faults_of_this_planner_miss_its_goal() -> None:
    driven = [of("a", record(100.0, "collision"), planner="pdm"), of("a", record()), of("b", record(90.0, "yield"))]
    assert goals(driven)[0] == (
        "Goal, nothing of ours at fault: missed in 1 of 1 rows (towns, polite, clean: yield 1)."
    )
    assert goals(driven[:2])[0] == "Goal, nothing of ours at fault: reached in all 1 rows."
