"""Sorting into cells, against looking at every cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.cells import boxes_by_cell, by_cell

COLUMNS, ROWS = 5, 4
corners = st.tuples(st.integers(-2, COLUMNS + 1), st.integers(-2, ROWS + 1))
boxes = st.lists(st.tuples(corners, corners), max_size=12)


@given(st.lists(st.integers(0, 6)))
def test_things_stay_in_their_order_within_a_cell(cells: list[int]) -> None:
    start, order = by_cell(np.array(cells, dtype=np.int32), 7)
    for c in range(7):
        assert order[start[c] : start[c + 1]].tolist() == [k for k, cell in enumerate(cells) if cell == c]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@given(found=boxes)
@pytest.mark.medium
def test_a_box_is_in_every_cell_of_the_grid_that_it_touches(dtype: type, found: list) -> None:
    ends = np.array(found, dtype=dtype).reshape(-1, 2, 2)
    low, high = np.ascontiguousarray(ends.min(axis=1)), np.ascontiguousarray(ends.max(axis=1))
    start, item = boxes_by_cell(low, high, COLUMNS, ROWS)
    assert start.dtype == item.dtype == dtype
    for row in range(ROWS):
        for column in range(COLUMNS):
            c, place = row * COLUMNS + column, (column, row)
            inside = [k for k in range(len(ends)) if (low[k] <= place).all() and (place <= high[k]).all()]
            assert item[start[c] : start[c + 1]].tolist() == inside
