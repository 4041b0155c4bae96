"""The search tree, the guide round obstacles, and what is done to a path that has been found."""

from __future__ import annotations

import importlib
import math
import pkgutil

import numpy as np
import pytest
from numba import types
from numba.core.registry import CPUDispatcher

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.planning import free_space
from tuling_fsm.planning.free_space.collision import InflatedFootprint, advance, free_length
from tuling_fsm.planning.free_space.heuristic import build_obstacle_heuristic, obstacle_heuristic
from tuling_fsm.planning.free_space.path import cost_of_path, pull
from tuling_fsm.planning.free_space.problem import FreeSpaceProblem, body_of, build_problem
from tuling_fsm.planning.free_space.search_tree import (
    CELL,
    CELL_HEADING,
    SPAN,
    SearchTree,
    allocate,
    close_cells,
    empty,
    open_level,
)
from tuling_fsm.planning.free_space.solver import begin, first_path, improve

from .places import CAR, GOAL, plan, scene, slot_across, slot_along
from .test_motion import PARAMETERS, TREE

BODY = body_of(CAR, 0.005)
PLACES = [
    (slot_across(), Pose(9.0, -8.0, 1.5)),
    (slot_along(0.6), Pose(8.0, 3.2, 0.0)),
    (slot_along(2.0), Pose(-9.0, 4.0, 2.5)),
]


def assert_driven(problem: FreeSpaceProblem, body: InflatedFootprint, turns: FloatArray, lengths: FloatArray) -> None:
    """The path leads from the start to the goal and touches nothing."""
    x, y, h = problem.start
    for turn, length in zip(turns, lengths, strict=True):
        bend, gear = turn * problem.rules.curvature, 1 if length > 0.0 else -1
        free = free_length(problem.walls, body, x, y, h, curvature=bend, gear=gear, limit=abs(length))
        assert free > abs(length) - 1e-6
        x, y, h = advance(x, y, h, bend, length)
    assert (x, y) == pytest.approx(problem.goals[0, :2], abs=1e-6)
    assert math.remainder(h - problem.goals[0, 2], 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("segments", "start"), PLACES[:2])
def test_a_path_pulled_taut_is_cheaper_and_still_driven(segments: FloatArray, start: Pose) -> None:
    problem = build_problem(start, [GOAL], segments, CAR, PARAMETERS)
    found = first_path(problem, (BODY,), 20_000, TREE)
    assert isinstance(found, tuple)
    first = found[0]
    task = begin(problem, BODY, False).task
    turns, lengths = pull(task, problem.start, first.turns, first.lengths, 0, 1000)
    cost = cost_of_path(turns, lengths, 0, PARAMETERS.gear_cost, 0.0)
    assert cost < first.cost - 0.1
    assert_driven(problem, BODY, turns, lengths)
    same = pull(task, problem.start, first.turns, first.lengths, 0, 0)
    assert np.array_equal(same[1], first.lengths)


@pytest.mark.parametrize(("segments", "start"), PLACES)
@pytest.mark.parametrize("budget", [0, 200])
def test_an_improved_path_is_no_dearer_and_keeps_to_its_budget(segments: FloatArray, start: Pose, budget: int) -> None:
    problem = build_problem(start, [GOAL], segments, CAR, PARAMETERS)
    found = first_path(problem, (BODY,), 20_000, TREE)
    assert isinstance(found, tuple)
    path, run, guide = found
    better = improve(problem, path, run, guide, budget, TREE)
    assert better.cost <= path.cost
    assert path.used <= better.used <= path.used + budget
    assert_driven(problem, BODY, better.turns, better.lengths)


def test_closed_cells_stay_closed_when_their_table_grows() -> None:
    tree: SearchTree = allocate(10, 20_000)
    empty(tree)
    rng = np.random.default_rng(1)
    poses = np.column_stack((rng.uniform(-20.0, 20.0, (2 * SPAN, 2)), rng.uniform(-3.0, 3.0, 2 * SPAN)))
    for x, y, h in poses:
        close_cells(tree, x, y, h, 1)
    assert tree.span[0] > SPAN
    assert all(open_level(tree, x, y, h, 1, 0) == 4 for x, y, h in poses)
    assert open_level(tree, 60.0, 0.0, 0.0, 1, 0) == 0
    assert open_level(tree, *poses[0], -1, 0) == 0
    beside = poses[0] + np.array((0.03 * CELL, 0.0, 0.03 * CELL_HEADING))
    assert open_level(tree, *beside, 1, 0) > 0
    empty(tree)
    assert open_level(tree, *poses[0], 1, 0) == 0


def test_what_is_not_settled_is_estimated_as_no_farther_than_it_is() -> None:
    """The spreading stops some way beyond the root; a longer way round is then known to be at least so long."""
    segments = np.array(((4.0, -30.0, 4.0, 25.0), (-30.0, 10.0, 4.0, 10.0)))
    box, target = (-40.0, -40.0, 40.0, 40.0), np.zeros((1, 3))
    near = build_obstacle_heuristic(segments, box, 0.9, target, np.array(((-6.0, 0.0, 0.0),)))
    whole = build_obstacle_heuristic(segments, box, 0.9, target, np.array(((1000.0, 1000.0, 0.0), (-6.0, 20.0, 0.0))))
    assert near.horizon < whole.horizon
    places = np.random.default_rng(2).uniform(-39.0, 39.0, (400, 2))
    known = [(obstacle_heuristic(near, x, y), obstacle_heuristic(whole, x, y)) for x, y in places]
    assert all(some <= real for some, real in known)
    assert any(some < real for some, real in known)
    assert obstacle_heuristic(near, -6.0, 0.0) == obstacle_heuristic(whole, -6.0, 0.0) > 4.0


def test_a_kernel_that_counts_no_references_returns_no_array() -> None:
    """Numba would give back an array that was never counted, and free it too early."""
    assert plan(scene(Pose(8.0, 3.2, 0.0), slot_along(1.0))).feasible
    uncounted = []
    for module in pkgutil.iter_modules(free_space.__path__):
        for each in vars(importlib.import_module(f"{free_space.__name__}.{module.name}")).values():
            if isinstance(each, CPUDispatcher) and each.targetoptions.get("_nrt") is False:
                uncounted += [(each.__name__, found.signature.return_type) for found in each.overloads.values()]
    assert len(uncounted) > 20
    assert [name for name, kind in uncounted if holds_array(kind)] == []


def test_what_crashes_python_is_private_to_its_module() -> None:
    """Functions without what Python needs to call them are known by their underscore."""
    for module in pkgutil.iter_modules(free_space.__path__):
        for name, each in vars(importlib.import_module(f"{free_space.__name__}.{module.name}")).items():
            if isinstance(each, CPUDispatcher) and each.targetoptions.get("no_cpython_wrapper"):
                assert name.startswith("_"), f"{module.name}.{name}"


def holds_array(kind: types.Type) -> bool:
    return isinstance(kind, types.Array) or any(map(holds_array, getattr(kind, "types", ())))
