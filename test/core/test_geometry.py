import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shapely.geometry import LineString, Point

from tuling_fsm.core.geometry import Polyline, Pose, wrap_angle
from tuling_fsm.core.vehicle import Vehicle

coordinate = st.floats(-50.0, 50.0, allow_nan=False)


@given(st.floats(-1e3, 1e3))
def test_wrapped_angle_is_the_same_direction(angle: float) -> None:
    wrapped = wrap_angle(angle)
    assert -math.pi <= wrapped < math.pi
    assert math.cos(wrapped) == pytest.approx(math.cos(angle), abs=1e-9)
    assert math.sin(wrapped) == pytest.approx(math.sin(angle), abs=1e-9)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=2, max_size=8), coordinate, coordinate)
def test_projection_is_as_near_as_shapely_says(points: list[tuple[float, float]], x: float, y: float) -> None:
    if max(math.dist(points[0], p) for p in points) < 1e-3:
        return
    line = Polyline.of(points)
    found = line.project(x, y)
    at = line.at(found.s)
    assert math.hypot(at.x - x, at.y - y) == pytest.approx(LineString(line.xy).distance(Point(x, y)), abs=1e-6)
    assert abs(found.offset) == pytest.approx(math.hypot(at.x - x, at.y - y), abs=1e-6)


def test_offset_is_positive_to_the_left() -> None:
    line = Polyline.of([(0.0, 0.0), (10.0, 0.0)])
    assert line.project(4.0, 2.0).offset == 2.0
    assert line.project(4.0, -2.0).offset == -2.0


def test_projection_keeps_to_the_stretch_asked_for() -> None:
    loop = Polyline.of([(0.0, 0.0), (10.0, 0.0), (10.0, 5.0), (0.0, 5.0), (0.0, 0.1)])
    assert loop.project(1.0, 0.0).s == pytest.approx(1.0)
    assert loop.project(1.0, 4.9, s_from=15.0).s == pytest.approx(24.0)


def test_heading_is_continuous_through_pi() -> None:
    angles = np.linspace(0.0, 4.0 * math.pi, 200)
    spiral = Polyline.of(np.column_stack((angles * np.cos(angles), angles * np.sin(angles))) + 1.0)
    assert np.abs(np.diff(spiral.heading)).max() < 0.5


def test_circle_has_its_curvature() -> None:
    angles = np.linspace(0.0, 3.0, 300)
    circle = Polyline.of(8.0 * np.column_stack((np.cos(angles), np.sin(angles))))
    assert circle.curvature()[5:-5] == pytest.approx(1.0 / 8.0, rel=1e-3)


def test_repeated_points_are_dropped_and_a_single_one_is_refused() -> None:
    assert len(Polyline.of([(0, 0), (0, 0), (1, 0)]).s) == 2
    with pytest.raises(ValueError, match="two distinct points"):
        Polyline.of([(1, 1), (1, 1)])


def test_footprint_reaches_from_bumper_to_bumper_about_the_rear_axle() -> None:
    car = Vehicle()
    corners = car.footprint(Pose(1.0, 2.0, math.pi / 2))
    assert corners[:, 1].max() == pytest.approx(2.0 + car.front)
    assert corners[:, 1].min() == pytest.approx(2.0 - car.rear_overhang)
    assert np.ptp(corners[:, 0]) == pytest.approx(car.width)


@given(low=st.floats(-7.0, 7.0), width=st.floats(0.05, 3.0), begin=st.floats(0.0, 60.0), length=st.floats(0.0, 60.0))
def test_the_part_of_a_circle_that_heads_between_two_angles(
    low: float, width: float, begin: float, length: float
) -> None:
    """Radius 10 m, from heading 0 twice round, drawn every 0.05 rad."""
    turns = np.linspace(0.0, 4.0 * math.pi, 252)
    circle = Polyline.of(10.0 * np.column_stack((np.sin(turns), 1.0 - np.cos(turns))), turns)
    inside = [
        s for s in np.linspace(begin, begin + length, 400) if (s / 10.0 - low) % (2.0 * math.pi) <= width
    ]  # fmt: skip
    found = circle.heading_between((begin, begin + length), (low, low + width))
    if found is None:
        assert not inside or inside[-1] - inside[0] < 1.1, "no more than falls between two points"
        return
    assert begin <= found[0] <= found[1] <= begin + length
    assert (found[0] / 10.0 - low) % (2.0 * math.pi) <= width + 0.01
    assert (found[1] / 10.0 - low) % (2.0 * math.pi) <= width + 0.01
    assert found[0] - inside[0] < 0.6 if inside else found[1] - found[0] < 0.6
