"""Contacts of the car's outline with segments and boxes: those of a polygon library."""

from __future__ import annotations

import math

import numpy as np
import pytest
from shapely.affinity import rotate, translate
from shapely.geometry import LineString, Polygon, box

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.planning.safety.collision import (
    BoxTracks,
    FootprintOutline,
    bounds_of,
    first_segment_met,
    meetings,
    meets_box,
    meets_segment,
    shrunk,
)

CAR = FootprintOutline(rear=-1.1, front=3.7, half=0.95, shrink=0.3)
STEP_S = 0.25
UNSURE_M = 0.01


def outline(pose: FloatArray, by: float = 0.0) -> Polygon:
    """The car at a pose, smaller all round by so much."""
    car = box(CAR.rear + by, -CAR.half + by, CAR.front - by, CAR.half - by)
    return translate(rotate(car, float(pose[2]), (0.0, 0.0), use_radians=True), float(pose[0]), float(pose[1]))


def thing(x: float, y: float, heading: float, length: float, width: float) -> Polygon:
    body = box(-0.5 * length, -0.5 * width, 0.5 * length, 0.5 * width)
    return translate(rotate(body, heading, (0.0, 0.0), use_radians=True), x, y)


def gap(one: Polygon, other: Polygon | LineString) -> float:
    """Distance, negative for how deep they overlap (m, roughly)."""
    if not one.intersects(other):
        return float(one.distance(other))
    return -1.0 if one.buffer(-UNSURE_M).intersects(other) else 0.0


def drive(seed: int, rows: int = 40) -> tuple[FloatArray, FloatArray]:
    """Times and poses of a winding motion, forward or back."""
    draw = np.random.default_rng(seed)
    t = np.cumsum(draw.uniform(0.02, 0.2, rows)) - 0.02
    t[0] = 0.0
    heading = draw.uniform(-3.0, 3.0) + np.cumsum(draw.uniform(-0.15, 0.15, rows))
    step = draw.choice((-0.4, 0.5)) * np.ones(rows)
    x, y = np.cumsum(step * np.cos(heading)), np.cumsum(step * np.sin(heading))
    return t, np.column_stack((x, y, heading))


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", range(2))
def test_segments_and_boxes_meet_the_outline_where_polygons_do(seed: int) -> None:
    draw, met = np.random.default_rng(seed), 0
    for _ in range(120):
        pose = np.array((draw.uniform(-2, 2), draw.uniform(-2, 2), draw.uniform(-4, 4)))
        x, y, heading = draw.uniform(-6, 6), draw.uniform(-6, 6), draw.uniform(-4, 4)
        length, width = draw.choice((0.3, 2.0, 9.0, 30.0)), draw.choice((0.3, 2.0, 12.0))
        end = (x + length * math.cos(heading), y + length * math.sin(heading))
        body, line = thing(x, y, heading, length, width), LineString([(x, y), end])
        for told, truth in (
            (meets_box(pose, np.array((x, y, heading, length, width)), CAR), gap(outline(pose), body)),
            (meets_segment(pose, np.array((x, y, *end)), CAR), gap(outline(pose), line)),
        ):
            if abs(truth) > UNSURE_M or truth < 0.0:
                assert told == (truth < 0.0)
                met += told
    assert 60 < met < 180


@pytest.mark.clause("SAF-2")
def test_segments_along_the_axes_of_the_car_are_clipped_too() -> None:
    pose = np.zeros(3)
    for segment, meets in (
        ((0.0, 0.0, 1.0, 0.0), True), ((5.0, 0.0, 9.0, 0.0), False), ((-9.0, 0.0, 9.0, 0.0), True),
        ((-9.0, 1.0, 9.0, 1.0), False), ((-9.0, -1.0, 9.0, -1.0), False), ((-9.0, 0.9, 9.0, 0.9), True),
        ((3.8, -9.0, 3.8, 9.0), False), ((3.6, -9.0, 3.6, 9.0), True), ((-1.2, -9.0, -1.2, 9.0), False),
        ((-1.0, -9.0, -1.0, 9.0), True), ((1.0, 1.0, 1.0, 9.0), False), ((1.0, -9.0, 1.0, -1.0), False),
        ((2.0, 0.5, 2.0, 0.5), True), ((2.0, 1.5, 2.0, 1.5), False),
    ):  # fmt: skip
        assert meets_segment(pose, np.array(segment), CAR) is meets
        assert meets_segment(pose, np.array((*segment[2:], *segment[:2])), CAR) is meets


def test_a_smaller_outline_is_smaller_on_each_side() -> None:
    assert shrunk(CAR, 0.2) == pytest.approx((-0.9, 3.5, 0.75, 0.3))
    poses = np.array(((1.0, 5.0, 0.0), (-2.0, 7.0, 1.0), (3.0, -4.0, 2.0)))
    assert bounds_of(poses) == (-2.0, 3.0, -4.0, 7.0)
    assert bounds_of(poses[::-1]) == (-2.0, 3.0, -4.0, 7.0)


def first_met(poses: FloatArray, at: list[Polygon | LineString]) -> int | None:
    """Row at which the outline meets what is there at each row; what it touches at the first row already counts only
    with one that is so small that it does not. None where it is too close to say.
    """
    by = 0.0
    while by < CAR.half and outline(poses[0], by).intersects(at[0]):
        if gap(outline(poses[0], by), at[0]) == 0.0:
            return None
        by += CAR.shrink
    if by >= CAR.half:
        return -1
    for i, pose in enumerate(poses):
        apart = gap(outline(pose, by), at[i])
        if 0.0 <= apart < UNSURE_M:
            return None
        if apart < 0.0:
            return i
    return -1


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", range(4))
def test_the_first_segment_that_is_met_is_the_first_of_all(seed: int) -> None:
    draw, (_, poses) = np.random.default_rng(seed), drive(seed)
    middle = poses[draw.integers(0, len(poses), 12), :2] + draw.normal(0.0, 3.0, (12, 2))
    reach = draw.normal(0.0, 1.5, (12, 2))
    segments = np.column_stack((middle - reach, middle + reach))
    rows = [first_met(poses, [LineString(s.reshape(2, 2))] * len(poses)) for s in segments]
    if None in rows:
        segments = segments[[row is not None for row in rows]]
        rows = [row for row in rows if row is not None]
    met = {m: row for m, row in enumerate(rows) if row is not None and row >= 0}
    row, which = first_segment_met(poses, segments, CAR)
    assert row == min(met.values(), default=-1)
    assert which == min((m for m, at in met.items() if at == row), default=-1)


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("turn", [0.3, 2.0, 2.9])
@pytest.mark.parametrize("place", [(0.0, 0.0), (40.0, -30.0)])
def test_a_long_segment_is_met_far_from_its_middle(turn: float, place: tuple[float, float]) -> None:
    _, poses = drive(3)
    poses[:, :2] += place
    at, c, s = poses[25], math.cos(turn), math.sin(turn)
    ends = [(at[0] + way * c, at[1] + way * s) for way in (-3.0, 50.0)]
    row = first_met(poses, [LineString(ends)] * len(poses))
    assert row is not None and row > 0
    for segment in (ends, ends[::-1]):
        assert first_segment_met(poses, np.array([np.ravel(segment)]), CAR)[0] == row


@pytest.mark.clause("SAF-2")
@pytest.mark.parametrize("seed", range(5))
def test_moving_boxes_are_met_where_they_are_at_that_time(seed: int) -> None:
    draw, (t, poses) = np.random.default_rng(100 + seed), drive(seed)
    n, times = 8, 9
    at = poses[draw.integers(0, len(poses), n)]
    speed, heading = draw.uniform(0.0, 5.0, (n, 1)), draw.uniform(-3.0, 3.0, (n, 1))
    moved = STEP_S * (np.arange(times)[None, :] - draw.uniform(0.0, 9.0, (n, 1)))
    tracks = BoxTracks(
        at[:, :1] + draw.normal(0.0, 1.5, (n, 1)) + speed * moved * np.cos(heading),
        at[:, 1:2] + draw.normal(0.0, 1.5, (n, 1)) + speed * moved * np.sin(heading),
        heading + 0.05 * np.arange(times)[None, :], draw.uniform(0.5, 5.0, n), draw.uniform(0.5, 2.5, n),
    )  # fmt: skip
    until, met = float(draw.choice((1.5, math.inf))), np.empty(n, np.int64)
    count = meetings(poses, t, tracks, np.full(n, 1e3), STEP_S, until, CAR, met)
    assert count == np.sum(met >= 0)
    compared = 0
    for i in range(n):
        bodies = []
        for when in t[t <= until]:
            k = min(when / STEP_S, times - 1.0)
            j, u = int(k + 1e-9), k - int(k + 1e-9)
            after = min(j + 1, times - 1)
            x, y = (column[i, j] + u * (column[i, after] - column[i, j]) for column in (tracks.x, tracks.y))
            bodies.append(thing(x, y, float(tracks.heading[i, j]), float(tracks.length[i]), float(tracks.width[i])))
        row = first_met(poses[: len(bodies)], bodies)
        assert row is None or met[i] == row
        compared += row is not None
    assert compared >= n - 2


def test_a_box_out_of_reach_is_not_looked_at() -> None:
    t, poses = np.arange(3.0), np.array(((0.0, 0.0, 0.0), (5.0, 0.0, 0.0), (10.0, 0.0, 0.0)))
    ways = {"left": (-8.0, 0.0, 13.0, 0.0), "right": (18.0, 0.0, -13.0, 0.0), "above": (5.0, 8.0, 0.0, -8.0),
            "below": (5.0, -8.0, 0.0, 8.0)}  # fmt: skip
    for x, y, vx, vy in ways.values():
        times = np.arange(3.0)
        track = BoxTracks(
            (x + vx * times)[None, :], (y + vy * times)[None, :], np.zeros((1, 3)), np.full(1, 2.0), np.full(1, 2.0)
        )
        for reach, seen in ((8.1, 1), (7.9, 0), (-math.inf, 0)):
            met = np.empty(1, np.int64)
            assert meetings(poses, t, track, np.full(1, reach), 1.0, math.inf, CAR, met) == seen
            assert (met[0] >= 0) == bool(seen)
