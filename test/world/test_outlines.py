from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tuling_fsm.core.geometry import Pose
from tuling_fsm.world import outlines
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.outlines import GridWindow, grid_segments

ORIGIN = Pose(0.0, 0.0, 0.0)


def grid(cells: np.ndarray, origin: Pose = ORIGIN, resolution: float = 0.5) -> Occupancy:
    return Occupancy(0.0, resolution, origin, cells)


def test_a_block_of_cells_becomes_its_four_edges() -> None:
    cells = np.zeros((10, 20), np.int8)
    cells[2:5, 4:10] = 100
    cells[0, 0] = 64
    cells[9, :] = -1
    found = grid_segments(grid(cells), 3.0, 2.0, 30.0, 65, 100)
    assert sorted(map(tuple, found.tolist())) == [
        (2.0, 1.0, 2.0, 2.5), (2.0, 1.0, 5.0, 1.0), (2.0, 2.5, 5.0, 2.5), (5.0, 1.0, 5.0, 2.5),
    ]  # fmt: skip


def test_cells_at_the_grids_rim_have_an_edge_there() -> None:
    found = grid_segments(grid(np.full((2, 2), 100, np.int8)), 0.5, 0.5, 10.0, 65, 100)
    assert len(found) == 4 and np.abs(found).max() == 1.0


def test_the_origin_turns_and_moves_the_grid() -> None:
    cells = np.zeros((4, 4), np.int8)
    cells[0, 0] = 100
    found = grid_segments(grid(cells, Pose(10.0, 5.0, math.pi / 2)), 10.0, 5.0, 10.0, 65, 100)
    corners = {(round(float(x), 6), round(float(y), 6)) for x, y in found.reshape(-1, 2)}
    assert corners == {(10.0, 5.0), (9.5, 5.0), (10.0, 5.5), (9.5, 5.5)}


def is_inside(found: np.ndarray, x: float, y: float) -> bool:
    """Whether an odd number of edges lies to the left of a point."""
    upright = found[found[:, 0] == found[:, 2]]
    low, high = upright[:, [1, 3]].min(axis=1), upright[:, [1, 3]].max(axis=1)
    return int(((low < y) & (y < high) & (upright[:, 0] < x)).sum()) % 2 == 1


@pytest.mark.clause("SAF-3")
@given(
    cells=arrays(np.int8, st.tuples(st.integers(1, 40), st.integers(1, 40)), elements=st.sampled_from((-1, 0, 100))),
    limit=st.sampled_from((10, 60, 3000)),
    place=st.tuples(st.floats(-10.0, 30.0), st.floats(-10.0, 30.0)),
)
@settings(max_examples=150, deadline=None)
@pytest.mark.medium
def test_however_few_edges_there_may_be_all_that_is_occupied_is_inside(
    cells: np.ndarray, limit: int, place: tuple[float, float]
) -> None:
    with mock.patch.object(outlines, "HATCH_M", 1e6):
        found = grid_segments(grid(cells), *place, 50.0, 65, limit)
    assert len(found) <= limit + 6
    exact = grid_segments(grid(cells), *place, 50.0, 65, 10_000)
    for row, column in np.argwhere(cells == 100):
        assert is_inside(found, 0.5 * column + 0.25, 0.5 * row + 0.253)
    if len(exact) <= limit:
        for row, column in np.argwhere(cells != 100):
            assert not is_inside(found, 0.5 * column + 0.25, 0.5 * row + 0.253)


@pytest.mark.clause("SAF-3")
def test_what_is_far_is_taken_together_before_what_is_near() -> None:
    cells = np.zeros((400, 400), np.int8)
    cells[::2, ::2] = 100
    cells[100:300, 100:300] = 0
    cells[200, 200] = 100
    found = grid_segments(grid(cells, resolution=0.25), 50.0, 50.0, 60.0, 65, 500)
    assert len(found) <= 500
    near = found[np.abs(found[:, 0] - 50.0) < 20.0]
    near = near[np.abs(near[:, 1] - 50.0) < 20.0]
    assert sorted(map(tuple, near.tolist())) == [
        (50.0, 50.0, 50.0, 50.25), (50.0, 50.0, 50.25, 50.0), (50.0, 50.25, 50.25, 50.25), (50.25, 50.0, 50.25, 50.25),
    ]  # fmt: skip
    for x, y in ((10.0, 10.0), (90.0, 50.0), (50.0, 95.0)):
        along = found[(found[:, 0] < x) & (found[:, 2] > x)]
        assert np.abs(along[:, 1] - y).min() < 1.5


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(("resolution", "side"), [(0.1, 600), (0.5, 120), (2.0, 30)])
def test_a_car_inside_what_is_thick_has_edges_within_its_length(resolution: float, side: int) -> None:
    full = grid(np.full((side, side), 100, np.int8), resolution=resolution)
    found = grid_segments(full, 30.0, 30.0, 65.0, 65, 3000)
    for x, y in ((30.0, 30.0), (17.3, 41.9), (5.2, 55.0)):
        across = found[(found[:, 1] < y) & (found[:, 3] > y)]
        along = found[(found[:, 0] < x) & (found[:, 2] > x)]
        reach = max(1.0, resolution)
        assert np.abs(across[:, 0] - x).min() <= reach and np.abs(along[:, 1] - y).min() <= reach


def test_what_is_two_metres_thick_is_an_outline_alone() -> None:
    cells = np.zeros((200, 200), np.int8)
    cells[20:40, 10:190] = 100
    assert len(grid_segments(grid(cells, resolution=0.1), 10.0, 10.0, 65.0, 65, 3000)) == 4


def test_beside_the_grid_there_is_nothing() -> None:
    full = grid(np.full((4, 4), 100, np.int8))
    assert len(grid_segments(full, 90.0, 1.0, 65.0, 65, 3000)) == 0
    assert len(grid_segments(grid(np.zeros((0, 0), np.int8)), 0.0, 0.0, 65.0, 65, 3000)) == 0


@given(data=st.data(), size=st.sampled_from([1, 2, 4, 8]))
def test_blocks_around_a_window_are_no_more_than_they_have_to_be(data: st.DataObject, size: int) -> None:
    """Counted from the corner of what they are in, which they may be cut off by."""
    ends = []
    for _ in range(2):
        first = data.draw(st.integers(0, 20))
        last = data.draw(st.integers(first + 1, first + 25))
        begin = data.draw(st.integers(first, last - 1))
        ends.append((first, last, begin, data.draw(st.integers(begin + 1, last))))
    (top, bottom, row, last_row), (left, right, column, last_column) = ends
    around = GridWindow(top, left, bottom, right)
    found = GridWindow(row, column, last_row, last_column).in_blocks(size, around)
    for got, (first, last, begin, end) in zip(((found[0], found[2]), (found[1], found[3])), ends, strict=True):
        borders = {*range(first, last, size), last}
        assert got == (max(b for b in borders if b <= begin), min(b for b in borders if b >= end))
