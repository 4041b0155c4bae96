"""Outlines and hatching of cells, drawn once more border by border."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.world.inputs import Occupancy
from tuling_fsm.world.outlines import GridWindow, _drawn, _in_blocks, grid_segments

Segment = tuple[float, float, float, float]


def runs(there: Iterable[bool]) -> list[tuple[int, int]]:
    """Where those that follow one another begin and end."""
    found: list[tuple[int, int]] = []
    for k, each in enumerate(there):
        if each and found and found[-1][1] == k:
            found[-1] = (found[-1][0], k + 1)
        elif each:
            found.append((k, k + 1))
    return found


def lines_of(solid: BoolArray, pitch: int) -> set[Segment]:
    """Along the rows of the blocks in a margin of one: borders, and lines through what is thick."""
    height, width = solid.shape
    found: set[Segment] = set()
    for row in range(height - 1):
        borders = runs(solid[row, column] != solid[row + 1, column] for column in range(1, width - 1))
        found |= {(float(begin), float(row), float(end), float(row)) for begin, end in borders}

    def is_thick(row: int, column: int) -> bool:
        places = [(row + up, column + along) for up in (-pitch, 0, pitch) for along in (-pitch, 0, pitch)]
        inside = all(0 <= r < height and 0 <= c < width for r, c in places)
        return inside and all(solid[r, c] for r, c in places)

    for row in range(pitch, height, pitch):
        for begin, end in runs(is_thick(row, column) for column in range(width)):
            found.add((begin - 1.0, row - 0.5, end - 1.0, row - 0.5))
    return found


def drawn(solid: BoolArray, window: GridWindow, size: int, pitch: int) -> list[Segment]:
    """Both ways, in cells of the grid, cut off where the window ends."""
    reach = max(pitch // size, 1)
    upright = {(y0, x0, y1, x1) for x0, y0, x1, y1 in lines_of(solid.T, reach)}
    placed = [
        (
            min(x0 * size + window.column, window.last_column), min(y0 * size + window.row, window.last_row),
            min(x1 * size + window.column, window.last_column), min(y1 * size + window.row, window.last_row),
        ) for x0, y0, x1, y1 in [*lines_of(solid, reach), *upright]
    ]  # fmt: skip
    return sorted((float(a), float(b), float(c), float(d)) for a, b, c, d in placed)


def as_list(found: FloatArray) -> list[Segment]:
    return sorted((float(a), float(b), float(c), float(d)) for a, b, c, d in found.tolist())


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("seed", range(4))
def test_outline_and_hatching_are_those_of_borders_and_thick_places_and_no_more_than_allowed(seed: int) -> None:
    draw, hatched, refused = np.random.default_rng(seed), 0, 0
    for _ in range(80):
        rows, columns = draw.integers(1, 18, 2).tolist()
        size, pitch = int(draw.choice([1, 2, 4])), int(draw.integers(1, 5))
        solid = draw.random((rows + 2, columns + 2)) < draw.choice([0.2, 0.5, 0.95, 1.0])
        if draw.random() < 0.5:
            solid = np.pad(solid[1:-1, 1:-1], 1)
        row, column = draw.integers(0, 30, 2).tolist()
        cut = draw.integers(0, size, 2).tolist()
        window = GridWindow(row, column, row + size * rows - cut[0], column + size * columns - cut[1])
        expected = drawn(solid, window, size, pitch)
        n = len(expected)
        for limit in (n, n + 5):
            found = _drawn(solid, window, size, pitch, limit)
            assert found is not None
            assert as_list(found) == expected
        for limit in (n - 1, n // 2):
            if 0 <= limit < n:
                assert _drawn(solid, window, size, pitch, limit) is None
                refused += 1
        hatched += any(segment[1] % 1.0 for segment in expected)
    assert hatched > 1 and refused > 50


def in_grid(grid: Occupancy, x: float, y: float) -> tuple[float, float]:
    """Row and column of a point."""
    place = complex(x - grid.origin.x, y - grid.origin.y) * complex(
        math.cos(grid.origin.heading), -math.sin(grid.origin.heading)
    )
    return place.imag / grid.resolution, place.real / grid.resolution


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("resolution", [0.2, 0.5, 2.0])
def test_the_cells_in_the_square_around_a_point_are_drawn_and_those_beyond_are_not(resolution: float) -> None:
    """Wherever the grid lies and however it is turned; what goes on beyond the square has no border there."""
    draw = np.random.default_rng(int(10.0 * resolution))
    pitch, threshold = max(round(1.0 / resolution), 1), 65
    for _ in range(60):
        cells = np.where(
            draw.random((20, 31)) < draw.choice([0.1, 0.6, 1.0]), draw.integers(65, 101), draw.integers(-1, 65)
        )
        origin = Pose(*draw.uniform(-50.0, 50.0, 2), draw.uniform(-3.1, 3.1))
        grid = Occupancy(0.0, resolution, origin, cells.astype(np.int8))
        place = complex(*(resolution * draw.uniform([-3.0, -3.0], [34.0, 23.0])))
        at = complex(origin.x, origin.y) + place * complex(math.cos(origin.heading), math.sin(origin.heading))
        radius = resolution * float(draw.uniform(2.0, 14.0))
        row, column = place.imag / resolution, place.real / resolution
        reach = radius / resolution
        low_row, high_row = (math.floor(min(max(v, 0.0), 20.0)) for v in (row - reach, row + reach))
        low_column, high_column = (math.floor(min(max(v, 0.0), 31.0)) for v in (column - reach, column + reach))
        found = grid_segments(grid, at.real, at.imag, radius, threshold, 10_000)
        window = GridWindow(low_row, low_column, high_row, high_column)
        solid = np.pad(cells >= threshold, 1)[low_row : high_row + 2, low_column : high_column + 2]
        there = low_row < high_row and low_column < high_column
        expected = drawn(solid, window, 1, pitch) if there else []
        told = [(*in_grid(grid, x0, y0)[::-1], *in_grid(grid, x1, y1)[::-1]) for x0, y0, x1, y1 in found.tolist()]
        assert len(told) == len(expected)
        rounded = sorted(tuple(round(2.0 * v) / 2.0 for v in segment) for segment in told)
        np.testing.assert_allclose(rounded, expected, atol=0.0)
        np.testing.assert_allclose(2.0 * np.array(told), np.round(2.0 * np.array(told)), atol=1e-6)


@pytest.mark.clause("SAF-3")
def test_within_twenty_metres_cells_are_only_taken_together_where_the_rest_has_not_helped() -> None:
    draw = np.random.default_rng(8)
    for resolution, radius, reach in ((1.0, 45.0, 20), (2.0, 40.0, 10), (1.0, 13.0, 13)):
        cells = np.where(draw.random((90, 100)) < 0.3, 100, 0).astype(np.int8)
        grid = Occupancy(0.0, resolution, Pose(0.0, 0.0, 0.0), cells)
        around = int(radius / resolution)
        window, near = (GridWindow(45 - k, 50 - k, 45 + k, 50 + k) for k in (around, reach))
        for limit in (90, 300):
            found = grid_segments(grid, 50.0 * resolution, 45.0 * resolution, radius, 65, limit)
            expected = _in_blocks(cells, 65, window, near, max(round(1.0 / resolution), 1), limit)
            np.testing.assert_allclose(found, resolution * expected, atol=1e-9)


def in_blocks(solid: BoolArray, size: int) -> BoolArray:
    """Occupied where one of the cells is; the last ones may be cut off."""
    rows, columns = (math.ceil(n / size) for n in solid.shape)
    blocks = [
        [solid[r * size : (r + 1) * size, c * size : (c + 1) * size].any() for c in range(columns)] for r in range(rows)
    ]
    return np.array(blocks, dtype=np.bool_).reshape(rows, columns)


def part(cells: BoolArray, window: GridWindow) -> BoolArray:
    return cells[window.row : window.last_row, window.column : window.last_column]


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("seed", range(3))
def test_where_there_is_too_much_blocks_are_as_small_as_the_limit_allows(seed: int) -> None:
    """A third of it is for what is farther away, in blocks of two cells and more; what is near has all the rest."""
    draw, sizes = np.random.default_rng(seed), set[tuple[int, int]]()
    for _ in range(40):
        cells = np.where(draw.random((30, 37)) < draw.choice([0.1, 0.4, 0.8]), 90, 0).astype(np.int8)
        window = GridWindow(*draw.integers(0, 6, 2).tolist(), *draw.integers([20, 26], [31, 38]).tolist())
        near = GridWindow(*draw.integers(6, 12, 2).tolist(), *draw.integers([13, 13], [21, 27]).tolist())
        limit, pitch = int(draw.choice([10, 24, 60, 150, 400])), int(draw.integers(1, 4))
        solid, size, far, core = part(cells >= 65, window), 1, [()] * 10_000, window
        while len(far) > max(limit // 3, 8):
            size *= 2
            core = near.in_blocks(size, window)
            rest = solid.copy()
            part(rest, GridWindow(*(core[k] - window[k % 2] for k in range(4))))[:] = False
            far = drawn(np.pad(in_blocks(rest, size), 1), window, size, pitch)
        inner, close = 1, drawn(np.pad(part(cells >= 65, core), 1), core, 1, pitch)
        while len(close) > max(limit - len(far), 8):
            inner *= 2
            close = drawn(np.pad(in_blocks(part(cells >= 65, core), inner), 1), core, inner, pitch)
        found = _in_blocks(cells, 65, window, near, pitch, limit)
        assert as_list(found) == sorted(far + close)
        sizes.add((size, inner))
    assert len(sizes) > 6
