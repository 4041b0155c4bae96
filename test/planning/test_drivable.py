"""What the wheels cannot be turned for in time is not chosen: it would not be sent (SAF-2)."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning import evaluate as ev
from tuling_fsm.planning.check import Breach, check
from tuling_fsm.planning.continuity import start_state
from tuling_fsm.planning.lanes import prepare
from tuling_fsm.planning.lines import prepare_lines
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths import START_S
from tuling_fsm.planning.timed import timed_path
from tuling_fsm.planning.tools import Tools

from .scenes import follow, road, scene

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
ASIDE_M = 2.0
OUT_OF_THE_QUESTION = 500.0
"""No other cost of a plan comes near this."""


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("v", [3.0, 5.0, 7.0])
@pytest.mark.parametrize("length", [6.0, 9.0, 12.0, 20.0])
def test_a_way_aside_that_the_check_would_refuse_costs_more_than_anything(v: float, length: float) -> None:
    tools = Tools.of(VEHICLE, PARAMETERS)
    request, now = follow(road(width=8.0)), scene(v=v)
    start = start_state(now, None, PARAMETERS.continuity)
    lines = prepare_lines(request, start, tools.line_shape, tools.body)
    assert lines is not None
    tick, _ = prepare(request, now, start, None, lines, tools)
    spec = np.array(((0.0, ASIDE_M, float(lines.start[0, START_S]) + length, np.inf, np.inf, 0.0),))
    verdict = np.empty((1, ev.VERDICT))
    points = ev.evaluate_all(spec, tick, tools.whole, verdict)
    plan = timed_path(now.stamp, tools.whole.path, points, tools.whole.rows, 1.0)
    found = check(plan, now, request, VEHICLE, PARAMETERS)
    refused = found is not None and found.breach is Breach.CURVATURE_RATE
    assert (verdict[0, ev.COST_FULL] > OUT_OF_THE_QUESTION) == refused
