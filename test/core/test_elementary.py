"""Elementary functions: right to the last digits beside the platform's own, and the same for arrays."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuling_fsm.core import elementary, elementwise

from .elementary_bits import digest

UNITS = 3.0
"""Units in the last place: two of ours, one of the platform's."""
ANGLES = st.floats(-1e5, 1e5)
NUMBERS = st.floats(-1e150, 1e150)


def close(ours: float, theirs: float, least: float = 0.0) -> bool:
    """Whether two numbers differ by some units in the last place, or by less than `least`."""
    return abs(ours - theirs) <= max(UNITS * math.ulp(theirs), least)


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@given(angle=ANGLES)
@pytest.mark.medium
def test_angles_have_their_sines_cosines_and_tangents(name: str, angle: float) -> None:
    assert close(getattr(elementary, name)(angle), getattr(math, name)(angle))


@pytest.mark.parametrize("quarters", range(-9, 10))
def test_near_a_multiple_of_a_right_angle_no_digit_is_lost(quarters: int) -> None:
    angle = quarters * math.pi / 2.0
    assert close(elementary.sin(angle), math.sin(angle))
    assert close(elementary.cos(angle), math.cos(angle))


@given(angle=st.floats(allow_nan=False, allow_infinity=False))
def test_however_large_an_angle_its_sine_is_one(angle: float) -> None:
    sin, cos = elementary.sin_cos(angle)
    assert abs(sin) <= 1.0
    assert abs(cos) <= 1.0


@given(NUMBERS, NUMBERS)
def test_a_vector_has_its_angle_and_length(y: float, x: float) -> None:
    assert close(elementary.atan2(y, x), math.atan2(y, x))
    assert math.copysign(1.0, elementary.atan2(y, x)) == math.copysign(1.0, math.atan2(y, x))
    assert close(elementary.hypot(x, y), math.hypot(x, y))


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf])
@pytest.mark.parametrize("y", [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf])
def test_the_axes_and_infinity_are_where_they_belong(y: float, x: float) -> None:
    ours, theirs = elementary.atan2(y, x), math.atan2(y, x)
    assert (ours, math.copysign(1.0, ours)) == (theirs, math.copysign(1.0, theirs))
    assert elementary.hypot(x, y) == math.hypot(x, y)


@given(st.floats(-1.0, 1.0))
def test_sines_and_cosines_have_their_angles(share: float) -> None:
    assert close(elementary.asin(share), math.asin(share))
    assert close(elementary.acos(share), math.acos(share))
    assert close(elementary.atan(share), math.atan(share))


@given(st.floats(-740.0, 709.0))
def test_powers_of_e(x: float) -> None:
    assert close(elementary.exp(x), math.exp(x))


@given(st.floats(1e-300, 1e300))
def test_logarithms_and_cube_roots(x: float) -> None:
    assert close(elementary.log(x), math.log(x), least=1e-16)
    root = elementary.cbrt(x)
    assert root * root * root == pytest.approx(x, rel=1e-14)
    assert elementary.cbrt(-x) == -root


def test_simple_values_are_exact() -> None:
    assert elementary.sin_cos(0.0) == (0.0, 1.0)
    assert elementary.sin(math.pi / 2.0) == 1.0
    assert elementary.atan2(0.0, -1.0) == math.pi
    assert elementary.atan2(1.0, 1.0) == math.pi / 4.0
    assert elementary.hypot(3.0, 4.0) == 5.0
    assert elementary.cbrt(27.0) == 3.0
    assert (elementary.exp(0.0), elementary.log(1.0)) == (1.0, 0.0)


@pytest.mark.parametrize("function", [elementary.sin, elementary.cos, elementary.tan, elementary.asin, elementary.acos])
def test_where_there_is_no_answer_it_is_nan(function: Callable[[float], float]) -> None:
    assert math.isnan(function(math.inf))
    assert math.isnan(function(math.nan))


def test_ends_of_the_numbers() -> None:
    assert (elementary.exp(1e4), elementary.exp(-1e4), elementary.log(0.0)) == (math.inf, 0.0, -math.inf)
    assert math.isnan(elementary.log(-1.0))
    assert elementary.hypot(1e300, 1e300) == pytest.approx(math.sqrt(2.0) * 1e300)
    assert elementary.hypot(3e-300, 4e-300) == pytest.approx(5e-300)


@pytest.mark.parametrize("name", ["sin", "cos", "tan", "log"])
def test_over_arrays_it_is_the_same_to_the_last_bit(name: str) -> None:
    values = np.random.default_rng(1).uniform(0.1, 9.0, (7, 3))
    alone = [[getattr(elementary, name)(x) for x in row] for row in values.tolist()]
    assert getattr(elementwise, name)(values).tolist() == alone
    assert getattr(elementwise, name)(values.T).tolist() == np.transpose(alone).tolist()


@pytest.mark.clause("SIM-2")
def test_sines_and_cosines_of_arrays_are_those_of_each_by_itself() -> None:
    angles = np.linspace(-9.0, 9.0, 12).reshape(3, 4)
    for several in (angles, angles.T, angles[:, 1], np.zeros(0), 0.7):
        sine, cosine = elementwise.sin_cos(several)
        assert np.array_equal(sine, elementwise.sin(several))
        assert np.array_equal(cosine, elementwise.cos(several))


def test_arrays_of_two_are_broadcast() -> None:
    y, x = np.arange(3.0)[:, None], np.arange(-2.0, 2.0)
    assert elementwise.arctan2(y, x).tolist() == [[elementary.atan2(a, b) for b in x] for a in y[:, 0]]
    assert elementwise.hypot(y, 2.0).tolist() == [[elementary.hypot(a, 2.0)] for a in y[:, 0]]
    assert elementwise.arctan(x).tolist() == [elementary.atan(value) for value in x]
    assert isinstance(elementwise.hypot(3.0, 4.0), float)


def test_sinc_is_whole_at_zero() -> None:
    assert elementwise.sinc(np.array([0.0, 1.0, -1.0])).tolist() == [1.0, elementary.sin(1.0), elementary.sin(1.0)]


@pytest.mark.slow
@pytest.mark.clause("SIM-2")
def test_kernels_that_are_compiled_for_any_processor_give_the_same_bits(tmp_path: Path) -> None:
    """The few of these functions; `make proofs` compiles all so, which takes minutes, and drives with them."""
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(tmp_path)}
    command, tests = [sys.executable, "-m", "core.elementary_bits"], Path(__file__).parents[1]
    done = subprocess.run(command, cwd=tests, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == digest()
    assert any(tmp_path.rglob("*.nbc"))
