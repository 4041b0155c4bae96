from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tuling_fsm.planning.free_space.collision import advance
from tuling_fsm.planning.free_space.reeds_shepp import PIECES, WORDS, cost_of, words

Pose = tuple[float, float, float]
coordinate = st.floats(-8.0, 8.0)
heading = st.floats(-3.1, 3.1)
pose = st.tuples(coordinate, coordinate, heading)
pieces = st.lists(st.tuples(st.sampled_from((1.0, 0.0, -1.0)), st.floats(-3.0, 3.0)), min_size=1, max_size=5)


def all_words(to: Pose, longest: float = math.inf) -> list[tuple[np.ndarray, np.ndarray]]:
    lengths, steers = np.empty((WORDS, PIECES)), np.empty((WORDS, PIECES))
    found = words(*to, lengths, steers, longest)
    return [(lengths[w].copy(), steers[w].copy()) for w in range(found)]


def shortest(to: Pose) -> float:
    return min(float(np.abs(lengths).sum()) for lengths, _ in all_words(to))


def drive(path: list[tuple[float, float]], start: Pose = (0.0, 0.0, 0.0)) -> Pose:
    for steer, length in path:
        start = advance(*start, steer, length)
    return start


def inverse(p: Pose) -> Pose:
    c, s = math.cos(p[2]), math.sin(p[2])
    return (-c * p[0] - s * p[1], s * p[0] - c * p[1], -p[2])


def compose(p: Pose, q: Pose) -> Pose:
    c, s = math.cos(p[2]), math.sin(p[2])
    return (p[0] + c * q[0] - s * q[1], p[1] + s * q[0] + c * q[1], p[2] + q[2])


@given(pose)
def test_every_word_ends_at_the_pose(to: Pose) -> None:
    found = all_words(to)
    assert found
    for lengths, steers in found:
        x, y, h = drive([(float(s), float(v)) for s, v in zip(steers, lengths, strict=True)])
        assert math.hypot(x - to[0], y - to[1]) < 1e-6
        assert abs(math.remainder(h - to[2], 2.0 * math.pi)) < 1e-6


@given(pose, st.floats(0.0, 20.0))
@settings(max_examples=500)
@pytest.mark.medium
def test_with_a_longest_length_the_same_words_are_listed_up_to_it(to: Pose, longest: float) -> None:
    found = [(*lengths, *steers) for lengths, steers in all_words(to, longest)]
    every = [(*lengths, *steers) for lengths, steers in all_words(to)]
    assert [word for word in every if word in found] == found, "the same, in the same order"
    assert all(np.abs(word[:PIECES]).sum() < longest + 1e-6 for word in found)
    assert all(word in found for word in every if np.abs(word[:PIECES]).sum() <= longest)


@given(pieces)
@settings(max_examples=500)
@pytest.mark.medium
def test_no_path_of_arcs_and_lines_is_shorter(path: list[tuple[float, float]]) -> None:
    assert shortest(drive(path)) <= sum(abs(length) for _, length in path) + 1e-6


@given(pose)
def test_length_is_the_same_back_mirrored_and_time_reversed(to: Pose) -> None:
    x, y, h = to
    for other in (inverse(to), (x, -y, -h), (-x, y, -h)):
        assert shortest(other) == pytest.approx(shortest(to), abs=1e-6)


@given(pose, pose)
def test_triangle_inequality(p: Pose, q: Pose) -> None:
    assert shortest(compose(p, q)) <= shortest(p) + shortest(q) + 1e-6


@given(pose)
def test_no_shorter_than_the_straight_line_or_the_turn(to: Pose) -> None:
    assert shortest(to) >= max(math.hypot(to[0], to[1]), abs(to[2])) - 1e-9


def test_lengths_are_those_of_ompl_and_of_rsplan() -> None:
    table = np.loadtxt(Path(__file__).with_name("reeds_shepp_lengths.csv"), delimiter=",")
    assert len(table) == 300
    for *to, ompl, rsplan in table:
        assert shortest((to[0], to[1], to[2])) == pytest.approx(ompl, abs=1e-6)
        assert ompl == pytest.approx(rsplan, abs=1e-6)


def test_gear_changes_are_counted_against_the_gears_around_the_word() -> None:
    word = np.array((1.0, 0.0, -2.0, 0.0, 0.0))
    assert cost_of(word, 3.0, 0, 0, 2.0) == pytest.approx(9.0 + 2.0)
    assert cost_of(word, 3.0, -1, 1, 2.0) == pytest.approx(9.0 + 6.0)
    assert cost_of(word, 3.0, 1, -1, 2.0) == pytest.approx(9.0 + 2.0)
