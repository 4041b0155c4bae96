"""A whole mission in the closed loop: two passengers, then the car park."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run.traces import kept
from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.drive_status import DriveStatus
from tuling_fsm.run import run_scenario
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.share import share_file

from .drives import drive

SKIPPED = """import osc.standard

scenario skipped:
    map.set_map_file("MAP")
    ego: vehicle
    operator: remote_operator
    start: odr_point = map.create_odr_point(road_id: "5", lane_id: "-1", s: 150m)
    at: odr_point = map.create_odr_point(road_id: "9", lane_id: "-1", s: 30m)

    do parallel(duration: 60s):
        serial:
            ego.assign_position(start)
            ego.perform_mission(file: "MISSION")
        serial:
            wait ego.point_distance(reference: at, direction: euclidean, mode: reference_points) < NEARm
            operator.skip_task()
"""
"""The pick-up on the hill road is skipped so near (m) to a place before it."""


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


@pytest.mark.slow
@pytest.mark.clause("NOR-10", "TMP-2")
@pytest.mark.parametrize("near", [14, 6])
def test_a_car_whose_only_task_is_skipped_as_it_pulls_in_does_not_stay_across_the_lane(
    near: int, tmp_path: Path
) -> None:
    """It comes to stand in the slot, with nothing left to do."""
    task = json.loads(Path(share_file("config", "scenarios", "pickup.json")).read_text(encoding="utf-8"))["tasks"][0]
    (tmp_path / "one.json").write_text(json.dumps({"tasks": [task], "match_time_s": 900}), encoding="utf-8")
    (run := tmp_path / "run").mkdir()
    text = SKIPPED.replace("MISSION", str(tmp_path / "one.json")).replace("NEAR", str(near))
    driven = drive(Path(share_file("config", "course", "course.xodr")), text, run)
    assert driven.faults == []
    last = driven.ticks[-1]
    assert (last.state, last.limit.reason, last.limit.detail) == (
        states.PLAN_ONCE, Reason.ARRIVED, "nothing is left to do",
    )  # fmt: skip
    slots = [slot for slot in task["pickup"]["slots"] if abs(slot["y"] - last.world.ego.pose.y) < 4.0]
    assert slots and abs(last.world.ego.pose.x - slots[0]["x"]) < 0.3
    assert abs(last.world.ego.pose.heading - slots[0]["heading"]) < 0.1
