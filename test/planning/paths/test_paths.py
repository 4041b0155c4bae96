"""Quintic transitions and what is laid along lines."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache, LaneLines, ReferenceLineParameters, prepare_lines
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import (
    BACK,
    LANE,
    LEFT_AGAIN,
    OFFSET,
    PD,
    PHEADING,
    PKAPPA,
    PS,
    PX,
    PY,
    REACHED,
    SPEC,
    START_S,
    FrenetPath,
    add_headings,
    new_path,
    quintic,
    sample_path,
)
from tuling_fsm.planning.start_state import StartState

from ..scenes import bent, follow, lane_line, scene

PIECES = ((20.0, 0.0), (25.0, 0.06), (20.0, 0.0), (25.0, -0.05), (30.0, 0.0))


@given(
    st.floats(-3.5, 3.5), st.floats(-0.4, 0.4), st.floats(-0.1, 0.1), st.floats(-3.5, 3.5), st.floats(4.0, 60.0)
)  # fmt: skip
def test_a_quintic_meets_its_six_conditions(d0: float, slope: float, bend: float, d1: float, length: float) -> None:
    p = np.polynomial.Polynomial(quintic(d0, slope, bend, d1, length))
    got = (p(0.0), p.deriv(1)(0.0), p.deriv(2)(0.0), p(length), p.deriv(1)(length), p.deriv(2)(length))
    assert got == pytest.approx((d0, slope, bend, d1, 0.0, 0.0), abs=1e-7)


def frenet(
    x: float, y: float, heading: float, kappa: float, offset: float, length: float
) -> tuple[FrenetPath, LaneLines, float]:
    request = follow((lane_line(bent(*PIECES), free=(9.0, 9.0)),))
    state = StartState(scene(x, y, heading).ego.pose, kappa, 5.0, 0.0, False)
    lines = prepare_lines(
        request,
        state,
        ReferenceLineParameters.of(Vehicle(), PlanningParameters()),
        Footprint.of(Vehicle()),
        LaneLineCache(),
    )
    assert lines is not None
    start = lines.start[0]
    spec = np.zeros(SPEC)
    spec[LANE], spec[OFFSET], spec[REACHED] = 0, offset, start[START_S] + length
    spec[LEFT_AGAIN], spec[BACK] = start[START_S] + length + 10.0, start[START_S] + length + 30.0
    path = new_path(300)
    points, first = sample_path(spec, lines.row[0], lines.points[0], start, (x, y, heading, kappa), 70.0, path)
    add_headings(path, points)
    result = FrenetPath(path, points, first, lines.row[0], 0)
    return result, lines, float(spec[REACHED] - start[START_S])


@pytest.mark.parametrize(
    ("x", "y", "heading", "kappa", "offset"),
    [(12.0, 0.4, 0.05, 0.0, 2.0), (25.0, 0.6, 0.4, 0.06, -1.5), (12.0, -1.0, -0.1, 0.03, 0.0)],
)
def test_a_path_starts_where_the_car_is_and_is_smooth(
    x: float, y: float, heading: float, kappa: float, offset: float
) -> None:
    result, _, length = frenet(x, y, heading, kappa, offset, 20.0)
    path = result.path[: result.points]
    assert tuple(path[0, [PX, PY, PHEADING, PKAPPA]]) == pytest.approx((x, y, heading, kappa))
    turned = np.diff(path[:, PHEADING])
    step = np.diff(path[:, PS])
    between = 0.5 * (path[1:, PKAPPA] + path[:-1, PKAPPA])
    np.testing.assert_allclose(turned, between * step, atol=4e-3)
    assert np.abs(np.diff(path[:, PKAPPA])).max() < 0.03
    reached = (path[:, PS] > length * 1.1) & (path[:, PS] < length + 6.0)
    np.testing.assert_allclose(path[reached, PD], offset, atol=1e-6)
    assert path[-1, PD] == pytest.approx(0.0, abs=1e-6)


def test_offsets_of_a_path_are_distances_from_its_line() -> None:
    result, lines, _ = frenet(12.0, 0.0, 0.0, 0.0, 1.5, 15.0)
    path, line = result.path[: result.points], lines.row[0, : lines.points[0]]
    middle = path[(path[:, PS] > 18.0) & (path[:, PS] < 24.0)]
    distance = np.hypot(middle[:, None, PX] - line[None, :, 0], middle[:, None, PY] - line[None, :, 1]).min(axis=1)
    np.testing.assert_allclose(distance, 1.5, atol=2e-3)
    assert math.isclose(middle[0, PD], 1.5, abs_tol=1e-9)
