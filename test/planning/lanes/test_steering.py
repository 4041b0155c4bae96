"""What the wheels cannot be turned for in time is not chosen: it would not be sent (SAF-2)."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes import evaluation
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.lane_lines import prepare_lines
from tuling_fsm.planning.lanes.lane_planner import prepare
from tuling_fsm.planning.lanes.workspace import LaneWorkspace
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import START_S
from tuling_fsm.planning.safety.check import ViolationKind, check
from tuling_fsm.planning.speed.trajectory import timed_path
from tuling_fsm.planning.start_state import start_state

from ..scenes import follow, regulations_for, road, scene

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
ASIDE_M = 2.0
OUT_OF_THE_QUESTION = 500.0
"""No other cost of a plan comes near this."""


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("v", [3.0, 5.0, 7.0])
@pytest.mark.parametrize("length", [6.0, 9.0, 12.0, 20.0])
def test_a_way_aside_that_the_check_would_refuse_costs_more_than_anything(v: float, length: float) -> None:
    derived = DerivedParameters.of(VEHICLE, PARAMETERS)
    request, now = follow(road(width=8.0)), scene(v=v)
    start = start_state(now, None, PARAMETERS.continuity)
    workspace = LaneWorkspace(derived.rows)
    lines = prepare_lines(request, start, derived.reference_line, derived.body, workspace.lines)
    assert lines is not None
    tick, _ = prepare(request, now, start, None, lines, derived)
    spec = np.array(((0.0, ASIDE_M, float(lines.start[0, START_S]) + length, np.inf, np.inf, 0.0),))
    verdict = np.empty((1, evaluation.VERDICT))
    buffers = workspace.buffers(len(tick.moving.id))
    points = evaluation.evaluate_all(spec, tick, buffers, verdict)
    plan = timed_path(now.stamp, buffers.path, points, buffers.rows, 1.0)
    found = check(plan, now, regulations_for(request), VEHICLE, PARAMETERS)
    refused = found is not None and found.breach is ViolationKind.CURVATURE_RATE
    assert (verdict[0, evaluation.COST_FULL] > OUT_OF_THE_QUESTION) == refused
