"""Numbers through the format of the page and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.viewer.columns import FARTHEST, ColumnWriter, TextTable, unpacked

LISTS = st.lists(st.floats(-1e5, 1e5), max_size=40)


@given(LISTS, st.sampled_from([1.0, 0.1, 1e-3]), st.integers(0, 2))
def test_values_come_back_as_near_as_their_step(values: list[float], step: float, order: int) -> None:
    columns = ColumnWriter()
    columns.add("first", values, step, order)
    columns.add("second", [float(len(values))])
    header, found = unpacked(columns.packed({"name": "x"}))
    assert header == {"name": "x"}
    assert np.allclose(found["first"], values, rtol=0.0, atol=0.5 * step + 1e-9)
    assert found["second"].tolist() == [len(values)]


def test_stamps_of_a_clock_and_coordinates_far_away_lose_nothing() -> None:
    columns = ColumnWriter()
    stamps = 1.7e9 + 0.05 * np.arange(1000)
    columns.add("t", stamps, 1e-3, order=2)
    columns.add("northing", 4.4e6 + 0.25 * np.arange(1000), 1e-3, order=2)
    _, found = unpacked(columns.packed({}))
    assert np.abs(found["t"] - stamps).max() < 1e-6
    assert np.abs(found["northing"] - 4.4e6 - 0.25 * np.arange(1000)).max() < 1e-6


def test_what_moves_evenly_takes_next_to_nothing() -> None:
    columns = ColumnWriter()
    columns.add("x", 0.417 * np.arange(100_000), 1e-3, order=2)
    assert len(columns.packed({})) < 1000


@pytest.mark.parametrize("order", [0, 1, 2])
def test_numbers_of_objects_may_be_any_that_a_message_can_hold(order: int) -> None:
    numbers = [-1, 2**32 - 1, 0, 2**31 + 5, 2**32 - 1, 1]
    columns = ColumnWriter()
    columns.add("id", numbers, order=order)
    _, found = unpacked(columns.packed({}))
    assert found["id"].tolist() == numbers


@pytest.mark.parametrize("values", [[0.0, np.nan], [np.inf]])
def test_what_is_not_finite_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match="x: "):
        ColumnWriter().add("x", values, 1e-3)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.filterwarnings("error")
def test_what_is_farther_off_than_can_be_told_is_told_as_far_off(order: int) -> None:
    values = [1e306, -1e306, 1e306, 0.0, -1e306, 1e12]
    columns = ColumnWriter()
    columns.add("x", values, 1e-3, order)
    _, found = unpacked(columns.packed({}))
    far = FARTHEST * 1e-3
    assert found["x"] == pytest.approx([far, -far, far, 0.0, -far, far])


def test_a_column_has_one_name() -> None:
    columns = ColumnWriter()
    columns.add("x", [1.0])
    with pytest.raises(ValueError, match="there already"):
        columns.add("x", [2.0])


def test_a_text_is_kept_once() -> None:
    texts = TextTable()
    assert [texts.number(text) for text in ("a", "b", "a")] == [0, 1, 0]
    assert texts.texts == ["a", "b"]
