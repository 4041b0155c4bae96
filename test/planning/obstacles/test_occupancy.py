"""Where a path meets a box, and that nothing is passed over between two of its points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel, sqrt
from tuling_fsm.core.scene import Scene
from tuling_fsm.planning.obstacles.occupancy import PathWindow, _entry
from tuling_fsm.planning.paths.footprint import Footprint, body_separation
from tuling_fsm.planning.paths.frenet_path import (
    AT_ONCE,
    PCOS,
    PKAPPA,
    PLACES,
    PS,
    PSIN,
    PX,
    PY,
    FrenetPath,
    new_path,
    place_body,
)
from tuling_fsm.planning.planner import Planner
from tuling_fsm.planning.safety.collision import FootprintOutline, first_segment_met

from ..lane_drives import PARAMETERS, VEHICLE
from ..scenes import bent, follow, lane_line, scene

BODY, STEP = Footprint.of(VEHICLE), 0.5


@kernel
def root(value: float) -> float:
    return float(sqrt(value))


def arc(kappa: float, points: int = 140) -> FrenetPath:
    """A path of constant curvature from the origin."""
    path, s = new_path(points), STEP * np.arange(points)
    path[:, PS], path[:, PKAPPA] = s, kappa
    path[:, PCOS], path[:, PSIN] = np.cos(kappa * s), np.sin(kappa * s)
    rows = bent((STEP * (points - 1), kappa), step=STEP)
    path[:, PX], path[:, PY] = rows[:, 0], rows[:, 1]
    places = np.zeros((PLACES, points + AT_ONCE))
    place_body(path, points, BODY.middle, places)
    return FrenetPath(path, points, 1, path, 0, places)


def gaps(frenet: FrenetPath, box: FloatArray) -> FloatArray:
    """Between the body and a box at every point, m."""
    return np.array([body_separation(row[PX], row[PY], row[PCOS], row[PSIN], BODY, box) for row in frenet.path])


@settings(max_examples=150)
@given(
    st.floats(-0.12, 0.12), st.floats(8.0, 60.0), st.floats(-4.0, 4.0), st.floats(-math.pi, math.pi),
    st.floats(0.1, 6.0), st.floats(0.1, 1.3), st.integers(0, 12), st.floats(0.0, 0.6),
)  # fmt: skip
@pytest.mark.medium
def test_a_path_enters_a_box_where_the_first_of_all_its_points_does(
    kappa: float, s: float, aside: float, heading: float, length: float, width: float, lo: int, gap: float
) -> None:
    frenet = arc(kappa)
    at = frenet.path[round(s / STEP)]
    box = np.array(
        (at[PX] - aside * at[PSIN], at[PY] + aside * at[PCOS], math.cos(heading), math.sin(heading), length, width)
    )
    apart = gaps(frenet, box) - gap
    assume(apart[: lo + 1].min() > 0.0)
    found = _entry(frenet, PathWindow(lo, frenet.points - 1, abs(kappa)), BODY, box, gap, np.empty(AT_ONCE))
    inside = np.flatnonzero(apart <= 0.0)
    if len(inside) == 0:
        assert found == math.inf
        return
    first = inside[0]
    assert frenet.path[first - 1, PS] <= found <= frenet.path[first, PS]


def test_a_path_that_begins_in_a_box_is_in_it_from_the_start() -> None:
    box = np.array((BODY.middle, 0.0, 1.0, 0.0, 1.0, 1.0))
    assert _entry(arc(0.0), PathWindow(5, 100, 0.0), BODY, box, 0.3, np.empty(AT_ONCE)) <= 0.0


@pytest.mark.parametrize("seed", range(6))
def test_nothing_thin_is_driven_over_between_two_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    road = bent((30.0, 0.0), (14.0, 0.16), (10.0, 0.0), (14.0, -0.16), (40.0, 0.0))
    on = road[np.sort(rng.choice(np.arange(140, 400), 3, replace=False))]
    side = rng.choice((-1.0, 1.0), 3) * rng.uniform(1.0, 2.2, 3)
    x, y = on[:, 0] - side * np.sin(on[:, 2]), on[:, 1] + side * np.cos(on[:, 2])
    posts = np.column_stack((x, y, x + 0.02, y + 0.02))
    begin_x, begin_y, heading = road[100].tolist()
    start = scene(begin_x, begin_y, heading, v=5.0)
    request = follow((lane_line(road, width=6.0, free=(3.0, 3.0)),))
    now = Scene(start.stamp, start.ego, start.obstacles, posts)
    plan = Planner(VEHICLE, PARAMETERS).plan(request, now, None).trajectory
    assert plan is not None and plan.x[-1] - plan.x[0] > 3.0
    t = np.arange(0.0, plan.t[-1], 2e-3)
    poses = np.column_stack(
        [np.interp(t, plan.t, column) for column in (plan.x, plan.y, np.unwrap(plan.heading))]
    )  # fmt: skip
    outline = FootprintOutline(-VEHICLE.rear_overhang, VEHICLE.front, 0.5 * VEHICLE.width, 0.0)
    assert first_segment_met(poses, posts, outline) == (-1, -1)


@given(st.floats(0.0, 1e12))
def test_the_root_of_the_processor_is_that_of_the_library(value: float) -> None:
    assert root(value) == math.sqrt(value)
