"""Rows of a motion laid on a path, forwards and in reverse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.trajectory import STEP_S
from tuling_fsm.planning.paths.frenet_path import PCOS, PHEADING, PKAPPA, PS, PSIN, PX, PY, new_path
from tuling_fsm.planning.speed.trajectory import timed_path, times


def arc(kappa: float, heading: float, points: int = 80) -> FloatArray:
    """Points from 0.2 to 0.4 m apart, with the directions of travel."""
    s = np.concatenate(([0.0], np.cumsum(np.random.default_rng(3).uniform(0.2, 0.4, points - 1))))
    path, turned = new_path(points), heading + kappa * s
    path[:, PS], path[:, PKAPPA], path[0, PHEADING] = s, kappa, heading
    path[:, PX] = 4.0 + (np.sin(turned) - math.sin(heading)) / kappa
    path[:, PY] = -7.0 - (np.cos(turned) - math.cos(heading)) / kappa
    path[:, PCOS], path[:, PSIN] = np.cos(turned), np.sin(turned)
    return path


@pytest.mark.parametrize("gear", [1.0, -1.0])
@pytest.mark.parametrize(("kappa", "heading"), [(0.1, 0.4), (-0.15, 2.8), (0.05, -3.0)])
def test_each_row_is_on_the_path_at_its_arc_length_and_the_car_points_the_other_way_in_reverse(
    gear: float, kappa: float, heading: float
) -> None:
    v = 2.0 + 0.5 * STEP_S * np.arange(50)
    s = np.concatenate(([0.0], np.cumsum(0.5 * STEP_S * (v[1:] + v[:-1]))))
    plan = timed_path(12.5, arc(kappa, heading), 80, np.column_stack((s, v, np.full(50, 0.5))), gear)
    assert plan.stamp == 12.5 and len(plan) == 50
    np.testing.assert_allclose(plan.t, STEP_S * np.arange(50))
    np.testing.assert_array_equal(plan.t, times(50))
    turned = heading + kappa * s
    np.testing.assert_allclose(plan.x, 4.0 + (np.sin(turned) - math.sin(heading)) / kappa, atol=1e-4)
    np.testing.assert_allclose(plan.y, -7.0 - (np.cos(turned) - math.cos(heading)) / kappa, atol=1e-4)
    np.testing.assert_allclose(plan.heading, turned - (math.pi if gear < 0.0 else 0.0), atol=1e-6)
    np.testing.assert_allclose(plan.curvature, gear * kappa)
    np.testing.assert_allclose(plan.v, gear * v)
    np.testing.assert_allclose(plan.a, gear * 0.5)
    way = np.column_stack((np.diff(plan.x), np.diff(plan.y)))
    along = way[:, 0] * np.cos(plan.heading[:-1]) + way[:, 1] * np.sin(plan.heading[:-1])
    assert np.all(np.sign(along) == gear), "the way that it moves is the way that its speed says"
