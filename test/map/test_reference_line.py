"""Plan views against independent integration of curvature, and the limits in which shapes agree."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from map import xodr
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.opendrive.reference_line import ReferenceLine, arc, line, read_reference_line, spiral

curvatures = st.floats(-0.2, 0.2)
rates = st.floats(-0.01, 0.01)
lengths = st.floats(1.0, 80.0)


def plan_view(*geometries: str) -> ReferenceLine:
    road = etree.fromstring(f'<road id="1"><planView>{"".join(geometries)}</planView></road>')
    return read_reference_line(road, [])


def integrated(s: FloatArray, heading: FloatArray) -> FloatArray:
    """The end point reached by following a heading given at dense stations (Simpson)."""
    step = s[1] - s[0]
    weights = np.ones(len(s))
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    return step / 3.0 * np.array([np.sum(weights * np.cos(heading)), np.sum(weights * np.sin(heading))])


@given(curvatures, rates, lengths)
@pytest.mark.medium
def test_a_spiral_is_the_integral_of_its_heading(curvature: float, rate: float, length: float) -> None:
    s = np.linspace(0.0, length, 2001)
    curve = spiral(s, curvature, rate)
    expected = integrated(s, curvature * s + 0.5 * rate * s * s)
    assert np.allclose((curve.x[-1], curve.y[-1]), expected, atol=1e-6)
    assert np.allclose(curve.curvature, curvature + rate * s)


@given(curvatures, lengths)
def test_a_spiral_that_hardly_changes_is_an_arc(curvature: float, length: float) -> None:
    s = np.linspace(0.0, length, 50)
    bent, round_ = spiral(s, curvature, 2e-10), arc(s, curvature)
    assert np.allclose(bent.x, round_.x, atol=1e-4)
    assert np.allclose(bent.y, round_.y, atol=1e-4)


@given(lengths)
def test_an_arc_that_hardly_bends_is_a_line(length: float) -> None:
    s = np.linspace(0.0, length, 50)
    bent, straight = arc(s, 1e-12), line(s)
    assert np.allclose(bent.x, straight.x, atol=1e-9)
    assert np.allclose(bent.y, straight.y, atol=1e-8)


def test_a_spiral_without_change_of_curvature_is_no_division_by_zero() -> None:
    reference = plan_view(xodr.geometry(0.0, 1.0, 2.0, 0.5, 20.0, '<spiral curvStart="0.05" curvEnd="0.05"/>'))
    curve = reference.at(np.linspace(0.0, 20.0, 5))
    assert np.all(np.isfinite(curve.x))
    assert curve.heading[-1] == pytest.approx(0.5 + 0.05 * 20.0)


@pytest.mark.parametrize("p_range", ["arcLength", "normalized"])
def test_a_parametric_cubic_that_is_a_parabola(p_range: str) -> None:
    """v = 0.01 u^2 over its true arc length: stations are metres along the curve for both parameter ranges."""
    u_end = 28.0
    u = np.linspace(0.0, u_end, 20001)
    run = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(u), np.diff(0.01 * u * u)))))
    b_u, c_v = (1.0, 0.01) if p_range == "arcLength" else (u_end, 0.01 * u_end**2)
    length = u_end if p_range == "arcLength" else float(run[-1])
    shape = f'<paramPoly3 aU="0" bU="{b_u}" cU="0" dU="0" aV="0" bV="0" cV="{c_v}" dV="0" pRange="{p_range}"/>'
    reference = plan_view(xodr.geometry(0.0, 0.0, 0.0, 0.0, length, shape))
    s = np.linspace(0.0, length, 9)
    curve = reference.at(s)
    expected_u = np.interp(s * run[-1] / length, run, u)
    assert np.allclose(curve.x, expected_u, atol=2e-3)
    assert np.allclose(curve.y, 0.01 * expected_u**2, atol=2e-3)
    assert np.allclose(curve.heading, np.arctan(0.02 * expected_u), atol=1e-3)


def test_poly3_runs_by_arc_length() -> None:
    reference = plan_view(xodr.geometry(0.0, 0.0, 0.0, math.pi / 2, 40.0, '<poly3 a="0" b="0" c="0.01" d="0"/>'))
    s = np.linspace(0.0, 40.0, 4001)
    curve = reference.at(s)
    steps = np.hypot(np.diff(curve.x), np.diff(curve.y))
    assert np.allclose(steps, 0.01, atol=2e-4)
    assert curve.x[-1] == pytest.approx(-0.01 * curve.y[-1] ** 2, abs=1e-6)


def test_geometries_follow_each_other() -> None:
    reference = plan_view(
        xodr.geometry(0.0, 0.0, 0.0, 0.0, 10.0),
        xodr.geometry(10.0, 10.0, 0.0, 0.0, 20.0, '<arc curvature="0.05"/>'),
    )
    curve = reference.at(np.array([0.0, 5.0, 10.0, 20.0, 30.0]))
    assert np.allclose(curve.x[:3], (0.0, 5.0, 10.0))
    assert np.allclose((curve.x[4], curve.y[4]), (10.0 + 20.0 * math.sin(1.0), 20.0 * (1.0 - math.cos(1.0))))
    assert curve.heading[3] == pytest.approx(0.5)


def test_a_spiral_of_micrometres_joins_two_lines() -> None:
    reference = plan_view(
        xodr.geometry(0.0, 0.0, 0.0, 0.0, 10.0),
        xodr.geometry(10.0, 10.0, 0.0, 0.0, 6.5e-5, '<spiral curvStart="126.0" curvEnd="-247.0"/>'),
        xodr.geometry(10.0 + 6.5e-5, 10.0 + 6.5e-5, 0.0, 0.0, 10.0),
    )
    curve = reference.at(np.linspace(0.0, 20.0, 201))
    assert np.allclose(curve.x, np.linspace(0.0, 20.0, 201), atol=1e-3)
    assert np.allclose(curve.y, 0.0, atol=1e-3)


def test_unsorted_geometries_are_sorted_and_reported(tmp_path: Path) -> None:
    plan = xodr.geometry(50.0, 50.0, 0.0, 0.0, 50.0) + xodr.geometry(0.0, 0.0, 0.0, 0.0, 50.0)
    road_map = xodr.read(tmp_path, xodr.road([xodr.section([xodr.lane(-1)])], geometries=plan))
    assert any("ascending s" in warning for warning in road_map.warnings)
    (only,) = road_map.lanes.values()
    assert np.allclose(only.center.xy[[0, -1]], [(0.0, -1.75), (100.0, -1.75)])
