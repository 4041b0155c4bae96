"""A whole mission in the closed loop: two passengers, then the car park."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run.traces import kept
from tuling_fsm.drive_status import DriveStatus
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file


@pytest.mark.slow
@pytest.mark.clause("SIM-2", "NOR-1", "TMP-1", "TMP-2", "STP-1", "PUD-1", "TPO-1", "USE-1", "USE-10")
def test_two_passengers_are_served_once_each_and_the_car_is_parked() -> None:
    result = run_scenario(RunSettings(share_file("config", "scenarios", "pickup.osc"), seed=1))
    assert result["trace_sha256"] == next(trace.sha256 for trace in kept() if trace.name == "pickup:1")
    assert (result["end"], result["services"]) == ("parked", 2)
    assert not [infraction for infraction in result["infractions"] if infraction["at_fault"]]
    made = [(row["from"], row["to"], row["clause"]) for row in result["transitions"]]
    stop = "temporary_stop/"
    assert made.count((f"{stop}approach", f"{stop}stopped", "TMP-2")) == 4
    assert made.count((f"{stop}stopped", f"{stop}plan_once", "STP-1")) == 2
    assert made.count((f"{stop}stopped", f"{stop}pickup_decision", "STP-1")) == 2
    assert made.count((f"{stop}plan_once", "on_road/regression", "TPO-1")) == 4
    assert result["state_s"][f"{stop}stopped"] == pytest.approx(40.0, abs=0.5)
    assert result["flaps"] == 0
    assert result["longest_unexplained_stop_s"] < 1.0


@pytest.mark.medium
@pytest.mark.clause("NOR-10", "SIM-2")
def test_a_mission_that_is_a_goal_is_over_when_the_car_stands_there(tmp_path: Path) -> None:
    file = tmp_path / "mission.json"
    file.write_text(json.dumps({"goal": {"x": 180.0, "y": 250.0}}))
    scenario = share_file("config", "scenarios", "pickup.osc")
    told: list[DriveStatus] = []
    result = run_scenario(RunSettings(scenario, mission_file=file, seed=1), status=told.append)
    assert [step[0] for step in told[-1].steps] == ["garage left", "at the goal"]
    assert (result["finished"], result["end"], result["score"]["route_completion"]) == (True, "goal", 1.0)
    assert result["infractions"] == []
