"""Where along a line a static thing matters: no sample that the body can reach it from is left out."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.affinity import rotate, translate
from shapely.geometry import Point, box

from tuling_fsm.planning.obstacles.static import _within_reach
from tuling_fsm.planning.paths.reference_line import COLUMNS, S, X, Y

STEPS = st.lists(st.sampled_from((0.01, 0.1, 0.5, 1.0, 6.0)), min_size=2, max_size=60)


@settings(max_examples=300, deadline=None)
@given(
    STEPS, st.floats(-0.1, 0.1), st.tuples(st.floats(-20.0, 60.0), st.floats(-30.0, 30.0)), st.floats(-3.0, 3.0),
    st.tuples(st.floats(0.0, 8.0), st.floats(0.0, 2.0)), st.floats(0.5, 10.0),
)  # fmt: skip
def test_every_sample_within_reach_is_among_those_that_are_looked_at(
    steps: list[float], turn: float, middle: tuple[float, float], heading: float, half: tuple[float, float],
    reach: float,
) -> None:  # fmt: skip
    """However unevenly a line is sampled."""
    s = np.concatenate(([0.0], np.cumsum(steps)))
    line = np.zeros((len(s), COLUMNS))
    line[:, S] = s
    bearing = turn * s[:-1]
    line[1:, X], line[1:, Y] = np.cumsum(steps * np.cos(bearing)), np.cumsum(steps * np.sin(bearing))
    shape = translate(rotate(box(-half[0], -half[1], half[0], half[1]), heading, (0, 0), use_radians=True), *middle)
    near = np.zeros(2, np.int64)
    _within_reach(line, len(s), np.array((*middle, math.cos(heading), math.sin(heading), *half)), reach, near)
    apart = np.array([shape.distance(Point(x, y)) for x, y in line[:, [X, Y]]])
    inside = np.flatnonzero(apart < reach - 1e-6)
    if len(inside) > 0:
        assert near[0] <= inside[0] and inside[-1] <= near[1]
    elif apart.min() > reach + 1e-6:
        assert near[0] > near[1]
