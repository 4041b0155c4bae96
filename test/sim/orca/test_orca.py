"""What the avoidance does beyond the library: perturbation, weight, agents in one place."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.orca.crowd import new_crowd
from tuling_fsm.sim.orca.linear_program import EPSILON, in_all, least_bad, new_lines
from tuling_fsm.sim.orca.neighbours import near_agents, new_grid, sort_agents
from tuling_fsm.sim.orca.step import Avoidance, nudge
from tuling_fsm.sim.orca.walls import build_walls

from .arenas import DT, head_for, places_of, ring


def face_to_face(perturbation: float, seed: int = 1, frames: int = 240) -> tuple[FloatArray, float]:
    """Two that want through each other: where they are in the end, and how near they came to one another."""
    goals = np.array([(8.0, 0.0), (-8.0, 0.0)])
    avoidance = Avoidance(new_crowd(-goals, radius=0.5, max_speed=1.5), (), 1.0, perturbation, seed)
    nearest = np.inf
    for _ in range(frames):
        head_for(avoidance.crowd, goals)
        avoidance.step(DT)
        nearest = min(nearest, float(np.hypot(*np.diff(places_of(avoidance.crowd), axis=0)[0])))
    return places_of(avoidance.crowd), nearest


@pytest.mark.clause("ORCA-1")
def test_a_tiny_perturbation_breaks_the_symmetric_deadlock() -> None:
    stuck, _ = face_to_face(0.0)
    assert np.abs(stuck[:, 0]).max() < 1.0
    passed, nearest = face_to_face(1e-3)
    assert passed[0, 0] > 7.0
    assert passed[1, 0] < -7.0
    assert nearest > 1.0 - 1e-3


@pytest.mark.clause("ORCA-1")
def test_the_perturbation_comes_from_the_seed_alone() -> None:
    one, again, other = (face_to_face(1e-3, seed)[0] for seed in (3, 3, 4))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    vectors = np.array([nudge(5, frame, i, 0.01) for frame in range(40) for i in range(40)])
    assert np.hypot(*vectors.T).max() <= 0.01
    assert np.abs(vectors.mean(axis=0)).max() < 1e-3
    assert len(np.unique(vectors[:, 0])) == len(vectors)


def squeeze(weight: float) -> tuple[float, FloatArray]:
    """Three half-planes that leave nothing: how deep the chosen velocity is inside the worst, and the velocity."""
    angles = np.array((0.3, 2.2, 4.4))
    lines, room = new_lines(3), new_lines(3)
    lines.px[:], lines.py[:] = 0.4 * np.cos(angles), 0.7 * np.sin(angles)
    lines.dx[:], lines.dy[:] = np.sin(angles), -np.cos(angles)
    satisfied, x, y = in_all(lines, 3, 2.0, 0.5, 0.1, False)
    assert satisfied == 2
    x, y = least_bad(lines, count=3, fixed=0, first=satisfied, radius=2.0, weight=weight, x=x, y=y, room=room)
    depth = lines.dx * (lines.py - y) - lines.dy * (lines.px - x)
    return float(depth.max()), np.array((x, y))


@pytest.mark.clause("ORCA-1")
def test_the_weight_turns_the_half_planes_of_the_third_program() -> None:
    halfway, velocity = squeeze(1.0)
    for weight in (0.2, 0.5, 2.0, 5.0):
        depth, other = squeeze(weight)
        assert depth > halfway + 1e-3
        assert np.hypot(*(other - velocity)) > 1e-2


def test_obstacles_hold_where_neighbours_cannot_be_satisfied() -> None:
    places = np.array([(0.0, 1.05), (0.0, 2.9), (-1.9, 1.4), (1.9, 1.4)])
    avoidance = Avoidance(
        new_crowd(places, radius=1.0), [np.array([(-9.0, -1.0), (9.0, -1.0), (9.0, 0.0), (-9.0, 0.0)])]
    )
    avoidance.crowd.preferred_vy[1:] = -1.0
    for _ in range(40):
        avoidance.step(DT)
    assert avoidance.crowd.y.min() > 1.0 - EPSILON


@given(
    st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=2, max_size=12),
    st.integers(1, 4),
)
@pytest.mark.medium
def test_agents_in_one_place_part_and_nothing_is_lost(cells: list[tuple[int, int]], most: int) -> None:
    avoidance = Avoidance(new_crowd(np.array(cells, dtype=np.float64), radius=0.4, max_neighbours=most), [])
    for _ in range(30):
        avoidance.step(DT)
        assert np.isfinite(places_of(avoidance.crowd)).all()
        speed = np.hypot(avoidance.crowd.vx, avoidance.crowd.vy)
        assert speed.max() <= 2.0 + 1e-9
    assert len(np.unique(places_of(avoidance.crowd), axis=0)) == len(cells)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("most", [1, 4, 10, 40])
def test_neighbours_are_the_nearest_of_all_wherever_they_are(seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    spread = random.choice([0.5, 8.0, 60.0, 900.0], 80)[:, None]
    places = np.round(random.normal(0.0, 1.0, (80, 2)) * spread) + random.integers(0, 2, (80, 1)) * (4000.0, -70.0)
    places[0] = random.choice([0.0, 1e5, 1e15])
    crowd, grid = new_crowd(places), new_grid(80)
    found, apart = np.zeros(most, np.int32), np.zeros(most)
    for _ in range(2):
        sort_agents(grid, crowd)
        for place in range(80):
            reach = float(random.choice([0.0, 2.0, 15.0, 300.0, 1e4]))
            me = grid.order[place]
            away = (crowd.x - crowd.x[me]) ** 2 + (crowd.y - crowd.y[me]) ** 2
            wanted = [i for i in np.lexsort((np.arange(80), away)) if i != me and away[i] < reach * reach][:most]
            count = near_agents(grid, place, reach, most, found, apart)
            assert grid.order[found[:count]].tolist() == wanted
            assert apart[:count].tolist() == away[wanted].tolist()
        crowd.x[:] = np.round(crowd.x * 0.1)


def test_the_history_of_the_grid_changes_nothing() -> None:
    avoidance, goals = ring(perturbation=1e-3)
    for _ in range(60):
        head_for(avoidance.crowd, goals)
        avoidance.step(DT)
    crowd = avoidance.crowd
    fresh = Avoidance(type(crowd)(*(array.copy() for array in crowd)), (), 1.0, 1e-3)
    fresh.frame = avoidance.frame
    avoidance.step(DT)
    fresh.step(DT)
    assert np.array_equal(places_of(avoidance.crowd), places_of(fresh.crowd))


def test_walls_that_are_put_up_later_hold_as_those_from_the_start() -> None:
    block = np.array([(-9.0, -2.0), (9.0, -2.0), (9.0, 0.0), (-9.0, 0.0)])
    assert numba.typeof(build_walls([])) == numba.typeof(build_walls([block]))
    places = np.array([(0.0, 1.0), (1.3, 4.0)])
    later, early = Avoidance(new_crowd(places, radius=0.5), []), Avoidance(new_crowd(places, radius=0.5), [block])
    later.wall_in([block])
    for avoidance in (later, early):
        avoidance.crowd.preferred_vy[:] = -1.0
        for _ in range(30):
            avoidance.step(DT)
    assert np.array_equal(places_of(later.crowd), places_of(early.crowd))
    assert early.crowd.y.min() > 0.5 - EPSILON


def test_an_empty_crowd_is_no_fault() -> None:
    avoidance = Avoidance(new_crowd(np.zeros((0, 2))), [])
    avoidance.step(DT)
    assert avoidance.frame == 1


@pytest.mark.parametrize("name", ["radius", "max_speed", "neighbour_dist", "horizon", "horizon_obst", "max_neighbours"])
def test_values_without_sense_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=name):
        new_crowd([(0.0, 0.0)], **{name: -1})


@pytest.mark.parametrize(("weight", "perturbation", "seed"), [(0.0, 0.0, 0), (1.0, -1.0, 0), (1.0, 0.0, -1)])
def test_settings_without_sense_are_refused(weight: float, perturbation: float, seed: int) -> None:
    with pytest.raises(InputError):
        Avoidance(new_crowd([(0.0, 0.0)]), (), weight, perturbation, seed)


@pytest.mark.parametrize("polygon", [[(0.0, 0.0)], [(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)], [(0.0, np.nan), (1.0, 0.0)]])
def test_polygons_without_sense_are_refused(polygon: list[tuple[float, float]]) -> None:
    with pytest.raises(InputError, match=r"orca\.walls"):
        build_walls([polygon])
