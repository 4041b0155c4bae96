from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shapely.geometry import LineString

from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.collision import (
    InflatedFootprint,
    advance,
    bin_segments,
    contact,
    free_length,
    length_of,
    make_sweep,
    occupied,
    touches,
)
from tuling_fsm.planning.free_space.problem import body_of

from .judge import box_of, placed, placed_at

CAR = Vehicle()
BODY = body_of(CAR, 0.0)
BOX = box_of(CAR)
K = CAR.max_curvature

near = st.floats(-7.0, 7.0)
segment = st.tuples(near, near, near, near)
curvature = st.sampled_from((K, -K, 0.0, 0.5 * K, -0.2 * K, 0.02))
gear = st.sampled_from((1, -1))


def free_by_shapely(line: LineString, curvature: float, gear: int, limit: float) -> float:
    """The travel at which the rectangle first meets the line: sampled, then halved."""

    def hits(s: float) -> bool:
        return bool(placed(BOX, *advance(0.0, 0.0, 0.0, curvature, gear * s)).intersects(line))

    samples = np.linspace(0.0, limit, 300)
    poses = np.array([advance(0.0, 0.0, 0.0, curvature, gear * s) for s in samples])
    hit = shapely.intersects(placed_at(BOX, poses), line)
    if not hit.any():
        return limit
    first = int(hit.argmax())
    if first == 0:
        return 0.0
    lo, hi = samples[first - 1], samples[first]
    for _ in range(40):
        middle = 0.5 * (lo + hi)
        lo, hi = (lo, middle) if hits(middle) else (middle, hi)
    return float(hi)


@given(segment, curvature, gear)
@settings(max_examples=250)
@pytest.mark.medium
def test_contact_is_where_shapely_finds_it(
    ends: tuple[float, float, float, float], curvature: float, gear: int
) -> None:
    assume(math.hypot(ends[2] - ends[0], ends[3] - ends[1]) > 0.05)
    limit = 4.0
    sweep = make_sweep(curvature, gear, BODY, limit)
    free = length_of(sweep, contact(*ends, sweep, sweep.limit))
    expected = free_by_shapely(LineString([ends[:2], ends[2:]]), curvature, gear, limit)
    # A graze shallower than the sampling can see is a contact all the same.
    assert free <= expected + 1e-6
    if free < expected - 1e-6:
        car = placed(BOX, *advance(0.0, 0.0, 0.0, curvature, gear * free))
        assert car.distance(LineString([ends[:2], ends[2:]])) < 1e-6


@given(segment)
def test_touches_agrees_with_shapely(ends: tuple[float, float, float, float]) -> None:
    assume(math.hypot(ends[2] - ends[0], ends[3] - ends[1]) > 0.05)
    overlap = BOX.intersection(LineString([ends[:2], ends[2:]])).length
    assume(overlap == 0.0 or overlap > 1e-6)
    assert touches(*ends, BODY) == (overlap > 0.0)


@given(st.integers(0, 10_000), curvature, gear, st.floats(0.5, 14.0))
@settings(max_examples=60)
def test_bins_lose_no_segment(seed: int, curvature: float, gear: int, limit: float) -> None:
    rng = np.random.default_rng(seed)
    start = (*rng.uniform(-3.0, 3.0, 2), rng.uniform(-3.0, 3.0))
    middle, way = rng.uniform(-15.0, 15.0, (40, 2)), rng.uniform(-4.0, 4.0, (40, 2))
    segments = np.hstack((middle - way / 2.0, middle + way / 2.0))
    binned = bin_segments(segments, -25.0, -25.0, 25.0, 25.0)
    alone = [bin_segments(segments[i : i + 1], -25.0, -25.0, 25.0, 25.0) for i in range(len(segments))]
    free = free_length(binned, BODY, *start, curvature, gear, limit)
    assert free == pytest.approx(min(free_length(w, BODY, *start, curvature, gear, limit) for w in alone), abs=1e-9)
    assert occupied(binned, BODY, *start) == any(occupied(w, BODY, *start) for w in alone)


@given(st.integers(0, 10_000), curvature, gear)
@settings(max_examples=40)
@pytest.mark.medium
def test_the_whole_free_length_is_clear_and_its_end_touches(seed: int, curvature: float, gear: int) -> None:
    rng = np.random.default_rng(seed)
    middle, way = rng.uniform(-15.0, 15.0, (12, 2)), rng.uniform(-4.0, 4.0, (12, 2))
    segments = np.hstack((middle - way / 2.0, middle + way / 2.0))
    walls = bin_segments(segments, -25.0, -25.0, 25.0, 25.0)
    free = free_length(walls, BODY, 0.0, 0.0, 0.0, curvature=curvature, gear=gear, limit=10.0)
    lines = [LineString([s[:2], s[2:]]) for s in segments]
    for s in np.linspace(0.0, max(0.0, free - 1e-6), 150 if free > 0.0 else 0):
        car = placed(BOX, *advance(0.0, 0.0, 0.0, curvature, gear * s))
        assert not any(car.intersects(line) for line in lines)
    if free < 10.0:
        car = placed(BOX, *advance(0.0, 0.0, 0.0, curvature, gear * free))
        assert min(car.distance(line) for line in lines) < 1e-6


def test_a_mirrored_sweep_is_equally_long() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        x0, y0, x1, y1 = rng.uniform(-6.0, 6.0, 4)
        left, right = make_sweep(K, 1, BODY, 3.0), make_sweep(-K, 1, BODY, 3.0)
        assert contact(x0, y0, x1, y1, left, left.limit) == contact(x0, -y0, x1, -y1, right, right.limit)


def test_reversing_is_driving_forward_with_front_and_rear_exchanged() -> None:
    rng = np.random.default_rng(2)
    turned = InflatedFootprint(BODY.front, BODY.rear, BODY.half)
    for _ in range(200):
        x0, y0, x1, y1 = rng.uniform(-6.0, 6.0, 4)
        back, ahead = make_sweep(K, -1, BODY, 3.0), make_sweep(K, 1, turned, 3.0)
        assert contact(x0, y0, x1, y1, back, back.limit) == contact(-x0, y0, -x1, y1, ahead, ahead.limit)
