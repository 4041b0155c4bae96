"""What is predicted for later is not braked for as if it were here: plans are made anew until then."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes import evaluation
from tuling_fsm.planning.lanes.context import DerivedParameters
from tuling_fsm.planning.lanes.lane_lines import prepare_lines
from tuling_fsm.planning.lanes.lane_planner import prepare
from tuling_fsm.planning.lanes.workspace import LaneWorkspace
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.frenet_path import START_S, FrenetPath
from tuling_fsm.planning.speed.roll_out import StartMotion, StopTarget, no_traffic, roll_out
from tuling_fsm.planning.start_state import start_state

from ..scenes import follow, road, scene

VEHICLE, PARAMETERS = Vehicle(), PlanningParameters()
V = 6.0
GAP_M = 3.0


@pytest.mark.parametrize(("step", "hard"), [(3, True), (25, False)])
def test_a_leader_for_a_moment(step: int, hard: bool) -> None:
    """At one prediction step a vehicle stands close ahead, before and after it none."""
    derived = DerivedParameters.of(VEHICLE, PARAMETERS)
    request, now = follow(road(limit=V)), scene(v=V)
    start = start_state(now, None, PARAMETERS.continuity)
    workspace = LaneWorkspace(derived.rows)
    lines = prepare_lines(request, start, derived.reference_line, derived.body, workspace.lines)
    assert lines is not None
    tick, _ = prepare(request, now, start, None, lines, derived)
    spec = np.array(((0.0, 0.0, float(lines.start[0, START_S]) + 20.0, np.inf, np.inf, 0.0),))
    buffers = workspace.buffers(len(tick.moving.id))
    points = evaluation.evaluate_all(spec, tick, buffers, np.empty((1, evaluation.VERDICT)))
    frenet = FrenetPath(buffers.path, points, 1, lines.row[0], 0, buffers.places)
    traffic, rows = no_traffic(), np.zeros((71, 3))
    traffic.leader_s[step], traffic.leader_v[step], traffic.leader_id[step] = 0.2 * step * V + GAP_M, 0.0, 0.0
    roll_out(frenet, buffers.envelope, StopTarget(np.inf, 0.0), traffic, StartMotion(V, 0.0), derived.drive, rows)
    jerk = np.abs(np.diff(rows[:, 2])).max() / STEP_S
    assert rows[:, 2].min() < -0.2
    assert bool(jerk > 2.0 * VEHICLE.max_jerk) is hard
    assert not hard or rows[:, 2].min() < -1.2 * VEHICLE.comfort_decel, "a sudden jerk is one to hard braking"
