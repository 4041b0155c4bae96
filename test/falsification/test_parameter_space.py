"""Ranges of variables, and points of the unit cube as their values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.falsification.parameter_space import ParameterRange, overrides_at, parameter_range


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gap=4..20m", ParameterRange("gap", 4.0, 20.0, "m", True)),
        ("rude=0.0..1.0", ParameterRange("rude", 0.0, 1.0, "", False)),
        (" v = -1.5 .. 2e1 mps ", ParameterRange("v", -1.5, 20.0, "mps", False)),
        ("n=3..9", ParameterRange("n", 3.0, 9.0, "", True)),
    ],
)
def test_a_range_is_read_as_it_is_written(text: str, expected: ParameterRange) -> None:
    assert parameter_range(text) == expected


@pytest.mark.parametrize(
    "text", ["gap", "gap=4", "gap=4..", "gap=20..4", "gap=4..4", "=1..2", "gap=1..1e999", "gap=a..b"]
)
def test_what_is_no_range_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="--vary"):
        parameter_range(text)


@given(st.floats(0.0, 1.0), st.integers(-50, 50), st.integers(1, 50))
def test_values_lie_in_their_range_and_whole_ones_are_whole(share: float, low: int, more: int) -> None:
    whole = parameter_range(f"n={low}..{low + more}")
    assert low <= int(whole.value(share)) <= low + more
    real = parameter_range(f"x={low}.0..{low + more}.0m")
    assert low - 0.01 <= float(real.value(share).removesuffix("m")) <= low + more + 0.01


@given(st.floats(0.0, 1.0))
def test_a_value_is_not_rounded_out_of_its_range(share: float) -> None:
    for low, high in ((0.004, 15.0), (-15.0, -0.004), (0.0004, 0.9996), (1e-7, 2000.3)):
        value = parameter_range(f"x={low}..{high}m").value(share)
        assert low <= float(value.removesuffix("m")) <= high
        assert "e" not in value


def test_every_whole_number_has_its_share() -> None:
    one = parameter_range("n=0..3")
    assert [one.value((k + 0.5) / 8.0) for k in range(8)] == ["0", "0", "1", "1", "2", "2", "3", "3"]


def test_a_point_outside_of_the_cube_counts_as_on_its_face() -> None:
    space = [parameter_range("a=0.0..2.0"), parameter_range("b=1.0..3.0s")]
    assert overrides_at(space, (-0.5, 1.5)) == (("a", "0.000"), ("b", "3.000s"))


def test_a_value_of_a_wide_range_is_written_out() -> None:
    assert parameter_range("length_m=400.0..20000.0").value(0.5) == "10200"
    assert parameter_range("x=1.23456..1.23466").value(0.5) == "1.2346100"
