"""What planners of this kind stumble over."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import FreeSpace
from tuling_fsm.planning.free_space.analytic_expansion import bounds
from tuling_fsm.planning.free_space.collision import advance, bin_segments, free_length, occupied
from tuling_fsm.planning.free_space.heuristic import build_obstacle_heuristic, obstacle_heuristic
from tuling_fsm.planning.free_space.path import cost_of_path
from tuling_fsm.planning.free_space.problem import body_of, build_problem
from tuling_fsm.planning.free_space.search_tree import allocate, pop, push
from tuling_fsm.planning.free_space.solver import PathSearch, first_path, search_on

from .judge import lines_of, problems, rows_of
from .places import CAR, GOAL, plan, scene, slot_across, slot_along
from .test_motion import PARAMETERS, TREE

STEP = 0.8


@pytest.mark.parametrize("gear", [1, -1])
@pytest.mark.parametrize("curvature", [CAR.max_curvature, -CAR.max_curvature, 0.1])
def test_a_post_that_only_a_corner_passes_between_two_steps_is_met(curvature: float, gear: int) -> None:
    """The corner far from the centre of the turn swings out between two poses that are both free."""
    body = body_of(CAR, 0.0)
    ahead = body.front if gear > 0 else -body.rear
    x, y, h = advance(0.0, 0.0, 0.0, curvature, gear * STEP / 2.0)
    aside = -math.copysign(body.half, curvature)
    corner = (x + ahead * math.cos(h) - aside * math.sin(h), y + ahead * math.sin(h) + aside * math.cos(h))
    radius = math.hypot(corner[0], corner[1] - 1.0 / curvature)
    inward = 1.0 - 1e-4 / radius
    post = np.array((corner[0] * inward, 1.0 / curvature + (corner[1] - 1.0 / curvature) * inward))
    way = np.array((corner[0], corner[1] - 1.0 / curvature)) / radius
    walls = bin_segments(np.array(((*post, *(post + 0.3 * way)),)), -20.0, -20.0, 20.0, 20.0)
    end = advance(0.0, 0.0, 0.0, curvature, gear * STEP)
    assert not occupied(walls, body, 0.0, 0.0, 0.0)
    met = free_length(walls, body, 0.0, 0.0, 0.0, curvature=curvature, gear=gear, limit=STEP)
    assert met < STEP / 2.0 + 0.05
    assert occupied(walls, body, *advance(0.0, 0.0, 0.0, curvature, gear * (met + 1e-4)))
    assert not occupied(walls, body, *end) or abs(curvature) < CAR.max_curvature


def test_open_lists_tell_apart_what_single_precision_does_not() -> None:
    tree = allocate(100, 100)
    keys = 1000.0 + 1e-7 * np.random.default_rng(1).permutation(60)
    tree.key[:60] = keys
    for node in range(60):
        push(tree, 0, node)
    assert [int(pop(tree, 0)) for _ in range(60)] == [int(node) for node in np.argsort(keys)]


@pytest.mark.parametrize(
    ("segments", "start"),
    [
        (slot_across(), Pose(9.0, -8.0, 1.5)),
        (slot_along(0.6), Pose(8.0, 3.2, 0.0)),
        (np.array(((-8.0, -0.99, 6.0, -0.99), (-8.0, 0.99, 6.0, 0.99))), Pose(14.0, 1.0, 0.2)),
    ],
)
def test_the_way_round_obstacles_is_never_longer_than_a_path(segments: FloatArray, start: Pose) -> None:
    """The disc that it is found for lies within the car: as near to the rear axle as the nearest side."""
    problem = build_problem(start, [GOAL], segments, CAR, PARAMETERS)
    body = body_of(CAR, 0.005)
    found = first_path(problem, (body,), 20_000, TREE)
    assert isinstance(found, tuple)
    inner = min(body.rear, body.front, body.half)
    box = bounds(problem.area)
    guide = build_obstacle_heuristic(problem.walls.segments, box, inner, problem.goals, problem.start[None, :])
    pose, left = tuple(problem.start), float(np.abs(found[0].lengths).sum())
    assert obstacle_heuristic(guide, pose[0], pose[1]) > 0.0
    for turn, length in zip(found[0].turns, found[0].lengths, strict=True):
        assert obstacle_heuristic(guide, pose[0], pose[1]) <= left + 1e-6
        pose = advance(*pose, turn * problem.rules.curvature, length)
        left -= abs(length)


@given(st.floats(6.0, 11.0), st.floats(2.9, 4.5), st.floats(-0.3, 0.3), st.floats(0.6, 1.6))
@settings(max_examples=12)
@pytest.mark.medium
def test_any_start_beside_a_slot_gives_a_drivable_plan_and_its_mirror_image(
    x: float, y: float, heading: float, gap: float
) -> None:
    segments = slot_along(gap)
    one = plan(scene(Pose(x, y, heading), segments))
    other = plan(scene(Pose(x, -y, -heading), segments * np.array((1.0, -1.0, 1.0, -1.0))))
    assert one.feasible and other.feasible
    rows, mirrored = rows_of(one, CAR), rows_of(other, CAR)
    assert problems(rows, CAR, lines_of(segments), 2.5) == []
    assert np.array_equal(rows * np.array((1.0, 1.0, -1.0, -1.0, 1.0, -1.0)), mirrored)
    assert np.array_equal(rows, rows_of(plan(scene(Pose(x, y, heading), segments)), CAR))


@pytest.mark.parametrize("budget", [300, 3000])
def test_a_narrower_body_is_looked_at_within_the_same_budget(budget: int) -> None:
    problem = build_problem(Pose(8.0, 3.2, 0.0), [GOAL], slot_along(0.8), CAR, PARAMETERS)
    bodies = tuple(body_of(CAR, margin) for margin in (0.15, 0.04, 0.01))
    search = PathSearch(bodies, budget, 400)
    while search.outcome is None:
        search = search_on(problem, search, TREE)
    path = search.outcome
    if not isinstance(path, str):
        assert path.used <= budget
        cost = cost_of_path(path.turns, path.lengths, 0, PARAMETERS.gear_cost, 0.0)
        assert path.cost == pytest.approx(cost, abs=1e-6)


def test_lines_and_obstacles_are_walls_alike() -> None:
    """What may not be crossed may not be touched either, whether it is solid or painted."""
    segments = slot_along(0.9)
    solid = plan(scene(Pose(8.0, 3.2, 0.0), segments))
    painted = plan(scene(Pose(8.0, 3.2, 0.0)), FreeSpace(GOAL, lines=segments))
    assert np.array_equal(rows_of(solid, CAR), rows_of(painted, CAR))
