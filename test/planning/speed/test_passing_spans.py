"""The speed past several things, whose spans beside several lines are given by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.obstacles.beside import FROM, HIGH, LEAST, LOW, TO, ObstaclesBeside, passing_speed
from tuling_fsm.planning.obstacles.occupancy import SweptBand, SweptPath, swept_band
from tuling_fsm.planning.paths.footprint import Footprint
from tuling_fsm.planning.paths.frenet_path import PD, PS, PTURN, FrenetPath, new_path
from tuling_fsm.planning.paths.reference_line import COLUMNS, KAPPA, S
from tuling_fsm.planning.speed import passing
from tuling_fsm.planning.speed.passing import limit_passing, nearest_pass
from tuling_fsm.planning.speed.roll_out import AT_LIMIT, PASSING

pytestmark = pytest.mark.clause("USE-15")

VEHICLE = Vehicle()
BODY = Footprint.of(VEHICLE)
LINES, THINGS, SAMPLES, POINTS = 3, 4, 60, 40


class Beside:
    """Four things beside three lines, and a path on one of them whose second point is at some sample."""

    def __init__(self, seed: int, at: int, first: int) -> None:
        draw = np.random.default_rng(seed)
        line = np.zeros((SAMPLES, COLUMNS))
        line[:, S], line[:, KAPPA] = 0.8 * np.arange(SAMPLES), 0.0
        path = new_path(POINTS)
        path[:, PS] = 0.8 * np.arange(POINTS)
        path[:, PD] = draw.uniform(-0.6, 0.6) + np.cumsum(draw.uniform(-0.05, 0.05, POINTS))
        path[:, PTURN] = draw.uniform(-0.15, 0.15, POINTS)
        self.frenet = FrenetPath(path, POINTS, first, line, at)
        low = draw.choice((-1.0, 1.0), (LINES, THINGS, SAMPLES)) * draw.uniform(1.2, 4.0, (LINES, THINGS, SAMPLES))
        span = np.zeros((LINES, THINGS, SAMPLES, 5))
        span[..., LOW] = low
        span[..., HIGH] = low + draw.uniform(-0.2, 2.0, low.shape)
        span[..., FROM] = draw.uniform(-1.0, 2.0, low.shape)
        span[..., TO] = span[..., FROM] + draw.uniform(0.1, 2.5, low.shape)
        span[..., LEAST] = draw.choice((0.0, 3.5), low.shape)
        begin = draw.integers(-5, 40, (LINES, THINGS))
        self.reach: IntArray = np.stack((begin, begin + draw.integers(5, 30, begin.shape)), axis=-1)
        self.reach[..., 1] = np.minimum(self.reach[..., 1], SAMPLES - 1)
        curve = np.column_stack((draw.uniform(0.2, 0.6, THINGS), draw.uniform(1.0, 3.0, THINGS), np.full(THINGS, 6.0)))
        cover = np.stack((np.full((LINES, THINGS), -9.0), np.full((LINES, THINGS), 9.0)), axis=-1)
        rows: IntArray = np.arange(THINGS)
        self.beside = ObstaclesBeside(
            rows,
            rows % 3,
            curve,
            np.full(THINGS, 2.0),
            draw.uniform(0.0, 40.0, (LINES, THINGS)),
            cover,
            self.reach,
            span,
        )
        self.swept = SweptPath(self.frenet, BODY, SweptBand(*swept_band(self.frenet)), 0.8, 0.0)

    def limits(self, top: float = 8.0) -> tuple[FloatArray, FloatArray]:
        limit, cause = np.full(POINTS, top), np.full(POINTS, 77.0)
        limit_passing(self.swept, self.beside, limit, cause)
        return limit, cause

    def gap(self, i: int, m: int) -> float:
        """Between what thing `m` covers across the line and the body at point `i` (m, + left); inf for nothing there.

        Point 1 is at the sample that the path begins at, point 0 before it is at the sample before.
        """
        k = max(0, self.frenet.first + i - 1)
        low, high, behind, before, _ = self.beside.span[self.frenet.at, m, k][[LOW, HIGH, FROM, TO, LEAST]]
        first, last = self.beside.reach[self.frenet.at, m]
        if low > high or not first <= self.frenet.first + i - 1 <= last:
            return math.inf
        path = self.frenet.path[i]
        ends = [path[PD] + along * path[PTURN] for along in (behind, before)]
        left, right = max(ends) + BODY.half_width, min(ends) - BODY.half_width
        if low >= left:
            return float(low - left)
        return -float(right - high) if high <= right else 0.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("at", "first"), [(0, 1), (1, 7), (2, 12)])
def test_at_every_point_the_slowest_of_all_that_is_passed_there_counts_and_is_named(
    seed: int, at: int, first: int
) -> None:
    case = Beside(seed, at, first)
    limit, cause = case.limits()
    named = set()
    for i in range(POINTS):
        allowed = []
        for m in range(THINGS):
            gap = case.gap(i, m)
            if gap < math.inf:
                k = max(0, first + i - 1)
                near, speed, slope = case.beside.curve[m]
                least = case.beside.span[at, m, k, LEAST]
                allowed.append((max(float(least), passing_speed(near, speed, slope, abs(gap))), m))
        v, m = min(allowed, default=(math.inf, 0))
        assert limit[i] == pytest.approx(min(8.0, v))
        assert cause[i] == (PASSING + m if v < 8.0 else AT_LIMIT)
        named.add(int(cause[i]))
    assert len(named) > 2


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("at", "first"), [(0, 1), (1, 7), (2, 12)])
def test_the_nearest_that_a_path_comes_to_a_thing_is_told_with_its_side(seed: int, at: int, first: int) -> None:
    case = Beside(seed, at, first)
    for m in range(THINGS):
        gaps = [case.gap(i, m) for i in range(POINTS)]
        told = nearest_pass(case.frenet, case.beside, m, BODY)
        assert told.gap == pytest.approx(min(gaps, key=abs))
        bumper = 0.8 * (first - 1) + BODY.front
        assert told.distance == pytest.approx(max(0.0, float(case.beside.begin[at, m]) - bumper))


def test_what_is_beside_a_car_on_the_first_sample_of_a_line_counts_at_once() -> None:
    """Its path begins at the sample that its second point is at."""
    case = Beside(1, 0, 0)
    case.beside.reach[0, :, 0], case.beside.reach[0, :, 1] = 0, 3
    case.beside.span[0, :, :, LOW], case.beside.span[0, :, :, HIGH] = 1.5, 2.0
    limit, cause = case.limits()
    assert np.all(limit[1:5] < 8.0) and np.all(limit[5:] == 8.0)
    assert np.all(cause[5:] == AT_LIMIT)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_thing_that_reaches_so_far_toward_the_path_that_it_limits_something_is_never_left_out(side: float) -> None:
    """As far as a turned body reaches, and as its curve begins beyond."""
    case = Beside(2, 1, 5)
    case.frenet.path[:, PD], case.frenet.path[:, PTURN] = side * 0.4, side * 0.1
    case.swept = case.swept._replace(band=SweptBand(*swept_band(case.frenet)))
    edge = 0.4 + 0.1 * BODY.front + BODY.half_width
    for clear, gap, counts in ((2.0, 0.3, True), (2.0, 1.9, True), (0.5, 0.4, True), (0.5, 0.9, False)):
        near, far = edge + gap, edge + gap + 0.6
        low, high = (near, far) if side > 0.0 else (-far, -near)
        case.beside.span[1, :, :, LOW], case.beside.span[1, :, :, HIGH] = low, high
        case.beside.span[1, :, :, FROM], case.beside.span[1, :, :, TO] = 0.0, BODY.front
        case.beside.cover[1, :, 0], case.beside.cover[1, :, 1] = low, high
        case.beside.clear[:] = clear
        limit, _ = case.limits(30.0)
        assert bool(limit.min() < 30.0) is counts
        if counts:
            speeds = [passing_speed(*curve, gap) for curve in case.beside.curve]
            assert limit.min() >= min(speeds) - 1e-9


def test_of_a_thing_on_both_sides_the_nearer_one_counts_and_one_in_the_way_has_no_gap() -> None:
    frenet, span = Beside(3, 0, 1).frenet, np.zeros(5)
    frenet.path[4, PD], frenet.path[4, PTURN] = 0.2, 0.0
    for low, high, gap in ((-0.5, 0.5, 0.0), (0.2 + BODY.half_width + 0.3, 9.0, 0.3),
                           (-9.0, 0.2 - BODY.half_width - 0.4, -0.4), (0.9, 1.0, 0.0)):  # fmt: skip
        span[LOW], span[HIGH], span[TO] = low, high, BODY.front
        assert passing._gap(frenet, 4, span, 0.0, BODY) == pytest.approx(gap)
