"""Where a path along a lane has to end: the bounds of the lane, and the edge of the road."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache, ReferenceLineParameters, prepare_lines
from tuling_fsm.planning.lanes.path_end import _out_of_bounds
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import (
    BACK,
    LEFT_AGAIN,
    OFFSET,
    REACHED,
    SPEC,
    FrenetPath,
    new_path,
    sample_path,
)
from tuling_fsm.planning.paths.reference_line import NEED
from tuling_fsm.planning.start_state import StartState

from ..scenes import bent, follow, lane_line

BODY = Footprint.of(Vehicle())
PIECES = ((20.0, 0.0), (12.0, 0.12), (30.0, 0.0))


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize(("offset", "drivable"), [(0.0, True), (0.28, False)])
def test_what_a_narrow_bend_needs_is_granted_on_the_road_alone(offset: float, drivable: bool) -> None:
    """A bend to the left, in which the body reaches half a metre over the right bound; on the left the road ends."""
    lane = lane_line(bent(*PIECES), width=2.4, surface=(1.2, 4.0))
    start = StartState(Pose(3.0, 0.0, 0.0), 0.0, 5.0, 0.0, False)
    shape = ReferenceLineParameters.of(Vehicle(), PlanningParameters())
    lines = prepare_lines(follow((lane,)), start, shape, BODY, LaneLineCache())
    assert lines is not None
    spec = np.zeros(SPEC)
    spec[OFFSET], spec[REACHED], spec[LEFT_AGAIN], spec[BACK] = offset, 28.0, 28.5, 34.0
    path = new_path(300)
    points, first = sample_path(spec, lines.row[0], lines.points[0], lines.start[0], (3.0, 0.0, 0.0, 0.0), 45.0, path)
    frenet = FrenetPath(path, points, first, lines.row[0], 0)
    assert lines.row[0, : lines.points[0], NEED].max() > 0.4
    assert (_out_of_bounds(frenet, lines, 28.0, points, BODY, 0.05) == points) == drivable
