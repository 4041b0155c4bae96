"""Rectangles against an independent library, and the bounds of lanes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString, Polygon
from shapely.geometry import box as shapely_box

from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.lanes.lane_lines import LaneLineCache, ReferenceLineParameters, prepare_lines
from tuling_fsm.planning.obstacles.static import boxes_of_segments
from tuling_fsm.planning.parameters import PlanningParameters
from tuling_fsm.planning.paths.footprint import Footprint, body_separation, over_bounds
from tuling_fsm.planning.paths.reference_line import COLUMNS, MAX_POINTS, NEED, walk
from tuling_fsm.planning.safety.collision import FootprintOutline, meets_box, meets_segment
from tuling_fsm.planning.start_state import StartState

from ..scenes import bent, follow, lane_line

VEHICLE = Vehicle()
BODY = Footprint.of(VEHICLE)
coordinate = st.floats(-9.0, 9.0)
angle = st.floats(-math.pi, math.pi)


def outline(x: float, y: float, heading: float, length: float, width: float) -> Polygon:
    rectangle = shapely_box(-length / 2, -width / 2, length / 2, width / 2)
    c, s = math.cos(heading), math.sin(heading)
    return Polygon([(x + c * px - s * py, y + s * px + c * py) for px, py in rectangle.exterior.coords[:4]])


@given(coordinate, coordinate, angle, st.floats(0.3, 12.0), st.floats(0.3, 3.0), angle)
def test_separation_of_boxes_has_the_sign_of_a_polygon_overlap(
    x: float, y: float, heading: float, length: float, width: float, own: float
) -> None:
    row = np.array((x, y, math.cos(heading), math.sin(heading), 0.5 * length, 0.5 * width))
    apart = body_separation(0.0, 0.0, math.cos(own), math.sin(own), BODY, row)
    car, other = Polygon(VEHICLE.footprint(Pose(0.0, 0.0, own))), outline(x, y, heading, length, width)
    distance = car.distance(other)
    assert apart <= distance + 1e-9
    if apart < -1e-9:
        assert car.intersection(other).area > 0.0
    if distance == 0.0:
        assert apart <= 1e-9


@given(coordinate, coordinate, coordinate, coordinate, angle)
def test_separation_of_segments_agrees_with_a_line_and_a_polygon(
    x0: float, y0: float, x1: float, y1: float, own: float
) -> None:
    row = boxes_of_segments(np.array([(x0, y0, x1, y1)]))[0]
    apart = body_separation(0.0, 0.0, math.cos(own), math.sin(own), BODY, row)
    car = Polygon(VEHICLE.footprint(Pose(0.0, 0.0, own)))
    distance = car.distance(LineString([(x0, y0), (x1, y1)]))
    assert apart <= distance + 1e-9
    if apart > 1e-9:
        assert distance > 0.0


@given(coordinate, coordinate, angle, st.floats(0.3, 12.0), st.floats(0.3, 3.0), angle, coordinate, coordinate)
def test_the_checks_own_geometry_agrees_with_the_planners(
    x: float, y: float, heading: float, length: float, width: float, own: float, x1: float, y1: float
) -> None:
    pose = np.array((0.0, 0.0, own))
    outline = FootprintOutline(-VEHICLE.rear_overhang, VEHICLE.front, 0.5 * VEHICLE.width, 0.0)
    row = np.array((x, y, math.cos(heading), math.sin(heading), 0.5 * length, 0.5 * width))
    apart = body_separation(0.0, 0.0, math.cos(own), math.sin(own), BODY, row)
    if abs(apart) > 1e-9:
        assert meets_box(pose, np.array((x, y, heading, length, width)), outline) == (apart < 0.0)
    segment = np.array((x, y, x1, y1))
    apart = body_separation(0.0, 0.0, math.cos(own), math.sin(own), BODY, boxes_of_segments(segment[None])[0])
    if abs(apart) > 1e-9:
        assert meets_segment(pose, segment, outline) == (apart < 0.0)


@settings(max_examples=40)
@given(st.floats(-0.09, 0.09), st.floats(-1.2, 1.2), st.floats(-0.4, 0.4), st.floats(5.0, 40.0))
def test_reach_over_bounds_is_that_of_the_outline_over_the_lanes_area(
    kappa: float, offset: float, turn: float, s: float
) -> None:
    points = bent((50.0, kappa))
    lane = lane_line(points, width=3.5)
    line, n = np.zeros((MAX_POINTS, COLUMNS)), len(lane.center.s) // 2
    rows = lane.center.xy[::2][:n]
    heading = lane.center.heading[::2][:n]
    line[:n, 0], line[:n, 1], line[:n, 2] = rows[:, 0], rows[:, 1], heading
    line[:n, 3], line[:n, 4], line[:n, 5] = np.cos(heading), np.sin(heading), kappa
    line[:n, 7], line[:n, 8], line[:n, 9] = lane.center.s[::2][:n], 1.75, -1.75
    at = lane.center.at(s)
    x, y = at.x - offset * math.sin(at.heading), at.y + offset * math.cos(at.heading)
    k = walk(line, n, 0, x, y)
    cos, sin = math.cos(at.heading + turn), math.sin(at.heading + turn)
    left, right = over_bounds(line, n, k, x, y, cos, sin, BODY)
    exact = [lane.center.project(*corner).offset for corner in VEHICLE.footprint(Pose(x, y, at.heading + turn))]
    assert left >= max(exact) - 1.75 - 0.01
    assert right >= -1.75 - min(exact) - 0.01
    assert left <= max(exact) - 1.75 + 0.35
    assert right <= -1.75 - min(exact) + 0.35


@pytest.mark.clause("NOR-6")
@pytest.mark.parametrize(("width", "needed"), [(6.0, False), (2.8, True)])
def test_only_a_narrow_bend_needs_more_than_its_bounds(width: float, needed: bool) -> None:
    request = follow((lane_line(bent((20.0, 0.0), (12.0, 0.16), (30.0, 0.0)), width=width),))
    start = StartState(Pose(5.0, 0.0, 0.0), 0.0, 5.0, 0.0, False)
    lines = prepare_lines(
        request,
        start,
        ReferenceLineParameters.of(VEHICLE, PlanningParameters()),
        Footprint.of(VEHICLE),
        LaneLineCache(),
    )
    assert lines is not None
    need = lines.row[0, : lines.points[0], NEED]
    assert bool(need.max() > 0.05) == needed
    assert need[:30].max() == 0.0
