from __future__ import annotations

import math

import numpy as np
import pytest

from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.solids import grid_segments

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


@pytest.mark.clause("SAF-3")
def test_noise_all_over_is_bounded_to_the_nearest_edges() -> None:
    cells = np.zeros((400, 400), np.int8)
    cells[::2, ::2] = 100
    found = grid_segments(grid(cells, resolution=0.25), 50.0, 50.0, 60.0, 65, 500)
    assert len(found) == 500
    assert np.hypot(found[:, 0] - 50.0, found[:, 1] - 50.0).max() < 5.0
