"""CommonRoad's own drivability checker judges plans in recorded traffic."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from tuling_fsm.core.vehicle import Vehicle

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ("FRA_Anglet-1_1_T-1.xml", "USA_Peach-2_1_T-1.xml")
OUT_OF_A_BEND = "DEU_Moelln-4_4_T-1.xml"
"""Begins at speed in a bend, past a bus that stands where going on in the bend would lead."""


@pytest.fixture
def drivability(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark, which has the checker in an environment of its own."""
    if not (ROOT / ".venv-bench" / "bin" / "python").exists():
        pytest.skip("no environment of the peers: make bench-peers")
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmark.drivability")


@pytest.mark.slow
def test_every_plan_of_a_drive_that_begins_at_speed_is_free(shared_data: Path, drivability: ModuleType) -> None:
    given = drivability.planned(shared_data / "commonroad" / OUT_OF_A_BEND, Vehicle(), 40)
    (verdicts,) = drivability.judge([given], Vehicle())["scenarios"]
    assert len(verdicts) > 20
    assert all(verdict["hit"] is None and verdict["feasible"] == verdict["steps"] for verdict in verdicts)


@pytest.mark.slow
def test_plans_in_recorded_traffic_are_drivable(shared_data: Path, drivability: ModuleType) -> None:
    given = [drivability.planned(shared_data / "commonroad" / name, Vehicle(), 2) for name in SCENARIOS]
    bent = [list(row) for row in given[0]["plans"][0]["rows"][:12]]
    bent[6][1] += 0.3
    other = {"step": given[0]["plans"][0]["step"], "rows": bent}
    given[0] = given[0] | {"plans": [*given[0]["plans"], other]}
    first, second = drivability.judge(given, Vehicle())["scenarios"]
    assert first[-1]["feasible"] < first[-1]["steps"], "the checker would not notice a leap"
    verdicts = [*first[:-1], *second]
    assert len(verdicts) == 4
    for verdict in verdicts:
        assert verdict["feasible"] == verdict["steps"] > 10
        assert verdict["hit"] is None or verdict["hit"] > drivability.SOON / drivability.STEP
