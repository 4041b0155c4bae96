"""Vehicles that brake more gently or more firmly, and whose braking sets in slowly, in the closed loop."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tuling_fsm.agent import Parameters
from tuling_fsm.behaviour import states
from tuling_fsm.core.request import Reason
from tuling_fsm.share import share_file

from .drives import drive

SERVED_S = 215.0
"""By then the first passenger is in and out again, s."""


@pytest.mark.slow
@pytest.mark.clause("SAF-2", "TMP-1", "TMP-2")
@pytest.mark.parametrize(("decel", "jerk"), [(1.0, 1.0), (3.0, 5.0)])
def test_both_bays_are_served_by_plans_that_the_check_lets_pass(tmp_path: Path, decel: float, jerk: float) -> None:
    parameters = Parameters()
    vehicle = replace(parameters.vehicle, comfort_decel=decel, max_jerk=jerk)
    scenario = share_file("config", "scenarios", "pickup.osc")
    shutil.copy(scenario.with_suffix(".json"), tmp_path)
    text = scenario.read_text(encoding="utf-8").replace("../course/course.xodr", "MAP")
    course = Path(share_file("config", "course", "course.xodr"))
    driven = drive(course, text, tmp_path, parameters=replace(parameters, vehicle=vehicle), until_s=SERVED_S)
    assert driven.faults == []
    assert driven.clauses().count("STP-1") >= 2
    assert states.NO_LINE_FREE not in driven.states()
    refused = [tick for tick in driven.ticks if tick.limit.reason is Reason.PLAN_REJECTED]
    assert len(refused) < 10
