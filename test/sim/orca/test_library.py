"""Equal to the RVO2 library.

The library reckons in single precision and this in double: velocities of up to 2 m/s agree to 1e-6 as a rule, and to
some 1e-3 in the squeeze, where lines are nearly parallel. A crowd makes a difference larger again and again, so whole
runs are compared until the crowd meets, and every single step of a run is compared from the same state, to its end.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.sim.orca.crowd import new_crowd
from tuling_fsm.sim.orca.step import Avoidance

from .arenas import DT, Library, Polygons, blocks, circle, head_for, places_of, velocities

CLOSE, NEAR = 2e-3, 2e-2
"""Velocities differ by less than the first (m/s) but for one in a thousand, and by less than the second always."""


def step_by_step(avoidance: Avoidance, polygons: Polygons, goals: FloatArray, frames: int) -> FloatArray:
    """Differences of all velocities (frames, N), each step from the same state."""
    crowd, library = avoidance.crowd, Library(avoidance.crowd, polygons)
    random = np.random.default_rng(0)
    apart = []
    for _ in range(frames):
        head_for(crowd, goals, random.normal(0.0, 1e-2, goals.shape))
        library.copy_state()
        _, wanted = library.step()
        avoidance.step(DT)
        apart.append(np.hypot(*(velocities(crowd) - wanted).T))
    return np.array(apart)


def same(apart: FloatArray) -> bool:
    """Whether that is nothing but the precision of the library."""
    return bool(apart.max() < NEAR and np.mean(apart > CLOSE) < 1e-3 and np.median(apart) < 1e-6)


@pytest.mark.clause("ORCA-1")
@pytest.mark.medium
def test_every_step_across_a_circle_is_the_library_s() -> None:
    places, goals = circle(50, 50.0)
    crowd = new_crowd(places, radius=1.5, horizon=10.0, horizon_obst=10.0)
    assert same(step_by_step(Avoidance(crowd), (), goals, 800))
    assert np.median(np.hypot(*(goals - places_of(crowd)).T)) < 5.0


@pytest.mark.clause("ORCA-1")
@pytest.mark.medium
def test_every_step_between_blocks_is_the_library_s() -> None:
    places, goals, polygons = blocks(4)
    crowd = new_crowd(places)
    assert same(step_by_step(Avoidance(crowd, polygons), polygons, goals, 600))
    assert np.median(np.abs(places_of(crowd)).max(axis=1)) < 45.0
    for polygon in polygons:
        low, high = polygon.min(axis=0), polygon.max(axis=0)
        outside = np.maximum(np.maximum(low - places_of(crowd), places_of(crowd) - high), 0.0)
        assert np.hypot(*outside.T).min() > 2.0 - 1e-3


@pytest.mark.clause("ORCA-1")
@pytest.mark.parametrize(("walled", "frames"), [(False, 100), (True, 120)])
def test_whole_runs_stay_together_until_the_crowd_meets(walled: bool, frames: int) -> None:
    places, goals = circle(50, 50.0)
    polygons: Polygons = ()
    if walled:
        places, goals, polygons = blocks(4)
    crowd = new_crowd(places, radius=1.5)
    avoidance, library = Avoidance(crowd, polygons), Library(crowd, polygons)
    for _ in range(frames):
        head_for(crowd, goals)
        wanted, _ = library.step()
        avoidance.step(DT)
    assert np.hypot(*(places_of(crowd) - wanted).T).max() < 5e-3
    assert np.hypot(*(places_of(crowd) - places).T).min() > 0.2 * frames * DT


SHAPES = (
    np.array([(0.0, 0.0), (9.0, 0.0), (9.0, 2.0), (2.0, 2.0), (2.0, 8.0), (0.0, 8.0)]),
    np.array([(12.0, 4.0), (15.0, 9.0)]),
    np.array([(-14.0, -14.0), (-14.0, 20.0), (24.0, 20.0), (24.0, -14.0)]),
    np.array([(-9.0, -7.0), (-6.0, -9.0), (-3.0, -7.0), (-4.0, -3.0), (-8.0, -3.0)]),
)
"""A corner with an inside, a wall with two sides, a fence around everything, a pentagon."""


@pytest.mark.clause("ORCA-1")
@pytest.mark.parametrize("seed", range(8))
def test_agents_of_many_kinds_among_odd_shapes_choose_as_in_the_library(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 40
    crowd = new_crowd(random.uniform((-13.0, -13.0), (23.0, 19.0), (n, 2)))
    crowd.radius[:] = random.uniform(0.2, 1.5, n)
    crowd.max_speed[:] = random.uniform(0.5, 3.0, n)
    crowd.neighbour_dist[:] = random.uniform(2.0, 20.0, n)
    crowd.max_neighbours[:] = random.integers(0, 12, n)
    crowd.horizon[:], crowd.horizon_obst[:] = random.uniform(0.5, 8.0, (2, n))
    crowd.vx[:], crowd.vy[:] = random.uniform(-1.0, 1.0, (2, n))
    avoidance, library = Avoidance(crowd, SHAPES), Library(crowd, SHAPES)
    for _ in range(10):
        crowd.preferred_vx[:], crowd.preferred_vy[:] = random.uniform(-1.5, 1.5, (2, n)).astype(np.float32)
        library.copy_state()
        _, wanted = library.step()
        avoidance.step(DT)
        apart = np.hypot(*(velocities(crowd) - wanted).T)
        assert np.mean(apart > CLOSE) <= 0.05
        assert np.median(apart) < 1e-5
        assert math.isfinite(apart.max())
