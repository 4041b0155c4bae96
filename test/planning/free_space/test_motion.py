"""Ramps, speed profile and path arithmetic on paths made at random."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.free_space.collision import SegmentGrid, advance, bin_segments
from tuling_fsm.planning.free_space.path import cost_of_path
from tuling_fsm.planning.free_space.problem import FreeSpaceProblem, body_of, build_problem
from tuling_fsm.planning.free_space.smoothing import GEAR, LENGTH, STEER0, STEER1, STOP, SteeringLimits, smooth
from tuling_fsm.planning.free_space.solver import ArcPath, first_path, improve, new_tree, soften
from tuling_fsm.planning.free_space.speed_profile import STEER, A, H, T, V, X, Y, limits_of, time_motion
from tuling_fsm.planning.parameters import FreeSpaceParameters

from .judge import problems
from .places import slot_across, slot_along

CAR = Vehicle()
PARAMETERS = FreeSpaceParameters()
STEERING = SteeringLimits(CAR.wheelbase, CAR.max_steer, 2.0)
TREE = new_tree()
LIMITS = limits_of(CAR, PARAMETERS, 2.5)
piece = st.tuples(st.sampled_from((0.75, 0.0, -0.75, 0.3)), st.floats(0.3, 6.0), st.sampled_from((1.0, -1.0)))
arcs = st.lists(piece, min_size=1, max_size=6)


def nothing() -> SegmentGrid:
    walls: SegmentGrid = bin_segments(np.zeros((0, 4)), -50.0, -50.0, 50.0, 50.0)
    return walls


def path_of(pieces: list[tuple[float, float, float]]) -> tuple[FloatArray, FloatArray]:
    """Steering and signed lengths, without neighbours that are one piece."""
    steers, lengths = [pieces[0][0]], [pieces[0][1] * pieces[0][2]]
    for steer, length, gear in pieces[1:]:
        if steer == steers[-1] and gear * lengths[-1] > 0.0:
            lengths[-1] += length * gear
        else:
            steers.append(steer)
            lengths.append(length * gear)
    return np.array(steers), np.array(lengths)


def end_of(steers: FloatArray, lengths: FloatArray) -> tuple[float, float, float]:
    pose = (1.0, -2.0, 0.4)
    for steer, length in zip(steers, lengths, strict=True):
        pose = advance(*pose, math.tan(steer) / CAR.wheelbase, length)
    return pose


def smoothed(steers: FloatArray, lengths: FloatArray, walls: SegmentGrid | None = None) -> FloatArray:
    start = np.array((1.0, -2.0, 0.4))
    motion: FloatArray = smooth(walls or nothing(), body_of(CAR, 0.0), start, steers, lengths, STEERING, False)
    return motion


@given(arcs)
@settings(max_examples=80)
@pytest.mark.medium
def test_a_smoothed_path_steers_without_a_jump_and_ends_where_it_should(
    pieces: list[tuple[float, float, float]],
) -> None:
    steers, lengths = path_of(pieces)
    motion = smoothed(steers, lengths)
    goes_on = motion[1:, STOP] == 0.0
    assert motion[0, STOP] == 1.0
    assert np.abs(motion[1:, STEER0] - motion[:-1, STEER1])[goes_on].max(initial=0.0) < 1e-9
    assert np.all(motion[1:, GEAR][goes_on] == motion[:-1, GEAR][goes_on])
    assert np.abs(motion[:, [STEER0, STEER1]]).max() <= CAR.max_steer + 1e-9
    rows = time_motion(motion, LIMITS, 0.0, 0.0, 0.2)
    x, y, h = end_of(steers, lengths)
    assert rows[-1, [X, Y, H]] == pytest.approx((x, y, h), abs=1e-5)
    assert motion[:, LENGTH].sum() == pytest.approx(np.abs(lengths).sum(), rel=0.15)


@given(arcs, st.floats(-0.7, 0.7))
@settings(max_examples=80)
@pytest.mark.medium
def test_timed_rows_keep_every_limit(pieces: list[tuple[float, float, float]], steer: float) -> None:
    steers, lengths = path_of(pieces)
    rows = time_motion(smoothed(steers, lengths), LIMITS, 0.0, steer, 0.2)
    assert problems(rows[:, [T, X, Y, H, V, STEER]], CAR, top=2.5) == []
    assert rows[0, STEER] == steer
    assert np.abs(rows[:, A]).max() <= LIMITS.accel + 1e-9
    assert np.abs(np.diff(rows[:, A]) / np.diff(rows[:, T])).max() <= 1.02 * CAR.max_jerk
    bend = np.abs(np.tan(rows[:, STEER])) / CAR.wheelbase
    assert (rows[:, V] ** 2 * bend).max() <= 1.02 * CAR.max_lateral_accel


@given(st.floats(0.3, 2.0), st.sampled_from((0.6, 0.0, -0.3)))
@settings(max_examples=30)
def test_a_rolling_start_keeps_its_speed_and_stops_in_time(v: float, steer: float) -> None:
    length = v * (LIMITS.accel + LIMITS.decel) / LIMITS.jerk / 2.0 + v * v / (2.0 * LIMITS.decel) + 0.05
    motion = smoothed(np.array((steer,)), np.array((length,)))
    rows = time_motion(motion, LIMITS, v, steer, 0.2)
    assert rows[0, V] == pytest.approx(v)
    assert np.all(rows[:, V] >= -1e-9)
    assert rows[-1, V] == 0.0
    travelled = np.hypot(np.diff(rows[:, X]), np.diff(rows[:, Y])).sum()
    assert travelled == pytest.approx(length, rel=0.01)
    assert np.abs(rows[:, A]).max() <= LIMITS.decel + 1e-6


@pytest.mark.parametrize(("gap", "stops"), [(0.001, 1), (-0.0001, 2)])
def test_ramps_give_way_to_walls_and_in_the_end_to_a_stop(gap: float, stops: int) -> None:
    """A wall that the arcs pass by a hair leaves little room for a ramp, which cuts the corner; a scraped one, none."""
    steers, lengths = np.array((0.0, 0.75)), np.array((4.0, 4.0))
    free = smoothed(steers, lengths)
    assert np.count_nonzero(free[:, STOP]) == 1
    inner = []
    for s in np.linspace(0.0, 8.0, 800):
        x, y, h = advance(1.0, -2.0, 0.4, 0.0, min(s, 4.0))
        x, y, h = advance(x, y, h, CAR.max_curvature, max(0.0, s - 4.0))
        aside = CAR.width / 2.0 + gap
        inner.append((x - aside * math.sin(h), y + aside * math.cos(h)))
    wall = np.hstack((inner[:-1], inner[1:]))
    tight = smoothed(steers, lengths, bin_segments(wall, -50.0, -50.0, 50.0, 50.0))
    turning = np.abs(tight[:, STEER1] - tight[:, STEER0]) > 0.0
    assert tight[turning, LENGTH].sum() < free[np.abs(free[:, STEER1] - free[:, STEER0]) > 0.0, LENGTH].sum()
    assert np.count_nonzero(tight[:, STOP]) == stops


def problem_in(segments: FloatArray, start: Pose) -> FreeSpaceProblem:
    return build_problem(start, [Pose(0.0, 0.0, 0.0)], segments, CAR, PARAMETERS)


@pytest.mark.parametrize(
    ("segments", "start"),
    [
        (slot_across(), Pose(9.0, -8.0, 1.5)),
        (slot_along(0.8), Pose(8.0, 3.2, 0.0)),
        (slot_along(0.6), Pose(7.0, 5.0, 2.0)),
    ],
)
@pytest.mark.medium
def test_improving_never_costs_more_and_softening_bends_less(segments: FloatArray, start: Pose) -> None:
    problem = problem_in(segments, start)
    found = first_path(problem, (body_of(CAR, 0.01),), 20_000, TREE)
    assert isinstance(found, tuple)
    first = found[0]
    before = cost_of_path(first.turns, first.lengths, 0, PARAMETERS.gear_cost, 0.0)
    assert first.cost == pytest.approx(before, abs=1e-6)
    better = improve(problem, *found, 500, TREE)
    assert better.cost <= first.cost + 1e-9
    soft = soften(problem, better, 1.0)
    bend = [cost_of_path(p.turns, p.lengths, 0, PARAMETERS.gear_cost, 1.0) for p in (better, soft)]
    assert bend[1] <= bend[0] + 1e-9
    for path in (first, better, soft):
        assert_leads_to_the_goal(problem, path)


def assert_leads_to_the_goal(problem: FreeSpaceProblem, path: ArcPath) -> None:
    pose = tuple(problem.start)
    for turn, length in zip(path.turns, path.lengths, strict=True):
        pose = advance(*pose, turn * problem.rules.curvature, length)
    assert pose[:2] == pytest.approx((0.0, 0.0), abs=1e-5)
    assert math.remainder(pose[2], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-5)


def test_a_path_of_more_pieces_than_knots_is_shortened_too() -> None:
    problem = problem_in(np.zeros((0, 4)), Pose(-12.5, 0.0, 0.0))
    turns, lengths = np.tile((0.2, -0.2), 60), np.full(120, 0.1)
    path = ArcPath(turns, lengths, float("inf"), body_of(CAR, 0.01), 0)
    x, y, h = tuple(problem.start)
    for turn, length in zip(turns, lengths, strict=True):
        x, y, h = advance(x, y, h, turn * problem.rules.curvature, length)
    short = soften(problem, path, 1.0)
    assert len(short.lengths) < 10
    end = tuple(problem.start)
    for turn, length in zip(short.turns, short.lengths, strict=True):
        end = advance(*end, turn * problem.rules.curvature, length)
    assert end == pytest.approx((x, y, h), abs=1e-6)
