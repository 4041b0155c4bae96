"""What is predicted for later is not braked for as if it were here: plans are made anew until then."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning import evaluate as ev
from tuling_fsm.planning.continuity import start_state
from tuling_fsm.planning.lanes import prepare
from tuling_fsm.planning.lines import prepare_lines
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths import START_S, Laid
from tuling_fsm.planning.profile import STEP_S, no_traffic, roll_out
from tuling_fsm.planning.tools import Tools

from .scenes import follow, road, scene

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
V = 6.0
GAP_M = 3.0


@pytest.mark.parametrize(("step", "hard"), [(3, True), (25, False)])
def test_a_leader_for_a_moment(step: int, hard: bool) -> None:
    """At one prediction step somebody stands close ahead, before and after it nobody."""
    tools = Tools.of(VEHICLE, PARAMETERS)
    request, now = follow(road(limit=V)), scene(v=V)
    start = start_state(now, None, PARAMETERS.continuity)
    lines = prepare_lines(request, start, tools.line_shape, tools.body)
    assert lines is not None
    tick, _ = prepare(request, now, start, None, lines, tools)
    spec = np.array(((0.0, 0.0, float(lines.start[0, START_S]) + 20.0, np.inf, np.inf, 0.0),))
    points, scratch = ev.evaluate_all(spec, tick, tools.whole, np.empty((1, ev.VERDICT))), tools.whole
    laid = Laid(scratch.path, points, 1, lines.row[0], 0, scratch.places)
    traffic, rows = no_traffic(), np.zeros((71, 3))
    traffic.leader_s[step], traffic.leader_v[step], traffic.leader_id[step] = 0.2 * step * V + GAP_M, 0.0, 0.0
    roll_out(laid, scratch.speed, scratch.bound, scratch.level, (np.inf, 0.0), traffic, (V, 0.0), tools.drive, rows)
    jerk = np.abs(np.diff(rows[:, 2])).max() / STEP_S
    assert rows[:, 2].min() < -0.2
    assert bool(jerk > 2.0 * VEHICLE.max_jerk) is hard
