"""Smooth reference lines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import LaneLine
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.paths.reference_line import (
    CENTER,
    COLUMNS,
    HEADING,
    KAPPA,
    MAX_POINTS,
    LineSmoothing,
    S,
    X,
    Y,
    reference_line,
)

from ..scenes import bent, lane_line

VEHICLE = Vehicle()


def smooth(lane: LaneLine, phase: float = 0.0, goal: float = math.inf) -> tuple[np.ndarray, float, float]:
    center = np.column_stack((lane.center.xy, lane.center.s, lane.center.heading))
    rows = np.stack(
        (lane.left, lane.right, lane.left_free, lane.right_free, lane.limit, lane.left_road, lane.right_road)
    )
    line = np.zeros((MAX_POINTS, COLUMNS))
    most = 0.9 * VEHICLE.max_curvature
    shape = LineSmoothing(0.5, 1.5, most, VEHICLE.front, VEHICLE.rear_overhang, 0.5 * VEHICLE.width)
    n, end, goal_s = reference_line(center, rows, phase, goal, shape, line)
    return line[:n], end, goal_s


def test_a_straight_lane_is_its_own_reference() -> None:
    line, end, goal = smooth(lane_line(bent((60.0, 0.0))), goal=40.0)
    np.testing.assert_allclose(line[:, Y], 0.0, atol=1e-9)
    np.testing.assert_allclose(line[:, KAPPA], 0.0, atol=1e-9)
    assert end == pytest.approx(60.0, abs=1e-6)
    assert goal == pytest.approx(40.0, abs=1e-6)


@pytest.mark.parametrize("radius", [30.0, 12.0, 6.0])
def test_an_arc_keeps_its_curvature_and_stays_near_the_centre(radius: float) -> None:
    pieces = ((20.0, 0.0), (radius * 1.57, 1.0 / radius), (30.0, 0.0))
    line, _, _ = smooth(lane_line(bent(*pieces), width=6.0))
    assert np.abs(line[:, KAPPA]).max() == pytest.approx(1.0 / radius, rel=0.2)
    assert np.abs(line[:, CENTER]).max() < 0.1


@pytest.mark.parametrize("radius", [2.0, 3.0, 4.25])
def test_a_bend_beyond_the_cars_reach_is_cut(radius: float) -> None:
    pieces = ((20.0, 0.0), (radius * 1.57, 1.0 / radius), (30.0, 0.0))
    line, _, _ = smooth(lane_line(bent(*pieces)))
    assert np.abs(line[:, KAPPA]).max() < VEHICLE.max_curvature
    assert np.abs(line[:, CENTER]).max() < 1.3
    assert np.abs(np.diff(line[:, KAPPA]) / np.diff(line[:, S])).max() < 0.12


def test_in_a_narrow_bend_the_line_moves_inside_and_no_farther_than_even() -> None:
    radius = 8.0
    line, _, _ = smooth(lane_line(bent((20.0, 0.0), (radius * 1.57, 1.0 / radius), (30.0, 0.0)), width=3.0))
    inside = -line[:, CENTER].min()
    outer = math.hypot(radius + 0.5 * VEHICLE.width, VEHICLE.front) - radius
    assert 0.2 < inside < 0.5 * (outer - 0.5 * VEHICLE.width) + 0.1


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize("bend", [0.12, -0.12])
@pytest.mark.parametrize("edge", [1.0, -1.0])
def test_in_a_narrow_bend_the_body_stays_off_the_edge_of_the_road(bend: float, edge: float) -> None:
    """Beyond the lane on one side the road ends, on the other it goes on."""
    beside = (1.3, 4.0) if edge > 0.0 else (4.0, 1.3)
    line, _, _ = smooth(lane_line(bent((20.0, 0.0), (12.0, bend), (30.0, 0.0)), width=2.6, surface=beside))
    on_it = (line[:, S] > 2.0) & (line[:, S] < 56.0)
    bodies = [VEHICLE.footprint(Pose(*row)) for row in line[on_it][:, [X, Y, HEADING]]]
    lane = lane_line(bent((20.0, 0.0), (12.0, bend), (30.0, 0.0)))
    offsets = [edge * lane.center.project(*corner).offset for body in bodies for corner in body]
    assert max(offsets) < 1.3
    assert min(offsets) < -1.4


@pytest.mark.parametrize(("radius", "width", "over"), [(4.5, 3.5, -0.05), (6.0, 3.5, -0.05), (3.5, 3.5, 0.05)])
@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_in_a_tight_turn_the_body_stays_inside_the_line_that_it_must_not_cross(
    radius: float, width: float, over: float, turn: float
) -> None:
    """On the outside the lane ends at a solid line with road beyond, on the inside at the edge of the road, which comes
    first.
    """
    points = bent((20.0, 0.0), (0.5 * math.pi * radius, turn / radius), (30.0, 0.0))
    beside = (0.5 * width, 1.5 * width) if turn > 0.0 else (1.5 * width, 0.5 * width)
    line, end, _ = smooth(lane_line(points, width=width, surface=beside))
    on_it = (line[:, S] > 2.0) & (line[:, S] < end - 4.0)
    bodies = [VEHICLE.footprint(Pose(*row)) for row in line[on_it][:, [X, Y, HEADING]]]
    lane = lane_line(points)
    outward = [-turn * lane.center.project(*corner).offset for body in bodies for corner in body]
    assert max(outward) - 0.5 * width < over
    assert min(outward) + 0.5 * width > 0.14


def test_the_line_does_not_shiver_as_its_window_moves_on() -> None:
    points = bent((40.0, 0.0), (15.0, 0.12), (60.0, 0.0))
    whole, _, _ = smooth(lane_line(points[20:]), phase=5.0)
    later, _, _ = smooth(lane_line(points[22:]), phase=5.5)
    middle = later[40:120]
    nearest = np.min(np.hypot(middle[:, None, X] - whole[None, :, X], middle[:, None, Y] - whole[None, :, Y]), axis=1)
    assert nearest.max() < 1e-3
