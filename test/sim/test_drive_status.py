"""What is told of a run while it goes on."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.drive_status import GARAGE_LEFT, SET_OFF_M, mission_steps
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog
from tuling_fsm.sim.scenario.placements import AtPose

from .scenes import simulation


@pytest.mark.parametrize(
    ("driven", "left"),
    [((0.0,), False), ((0.0, SET_OFF_M - 1.0), False), ((0.0, 60.0), True), ((0.0, 60.0, 5.0), True)],
    ids=["begins", "sets off", "has left", "comes by again"],
)
def test_a_garage_that_was_left_once_stays_left(
    plain: RoadMap, tmp_path: Path, driven: tuple[float, ...], left: bool
) -> None:
    file = tmp_path / "mission.json"
    file.write_text(json.dumps({"goal": {"x": -60.0, "y": 1.75, "heading": math.pi}}))
    mission = simulation(plain, ego=AtPose(60.0, 1.75, math.pi), route=None, mission_file=str(file))
    rows = [LogRow(float(t), "", Pose(60.0 - x, 1.75, 0.0), 1.0, Limit(Reason.NONE), 1.0) for t, x in enumerate(driven)]
    assert mission_steps(mission, RunLog(rows))[0] == (GARAGE_LEFT, left)
