"""The plan view: line, arc, spiral, poly3 and paramPoly3 (ASAM OpenDRIVE 1.8, clause 9)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.opendrive.bounds import MAX_TURN
from tuling_fsm.map.opendrive.document import Element, number, where

ARC_TABLE_STEP_M = 0.25
"""Spacing of the table that turns arc length into the parameter of a polynomial."""

STRAIGHT = 1e-10
"""Change of curvature per metre (1/m^2) below which a spiral is an arc."""


SHORT_M = 1e-6
"""A spiral that is no longer than this is an arc."""


class SampledCurve(NamedTuple):
    """Points of a curve: x, y (m), heading (rad) and curvature (1/m, + left), each (N,)."""

    x: FloatArray
    y: FloatArray
    heading: FloatArray
    curvature: FloatArray


PANEL_TURN = 1.0
"""Heading change (rad) within which the eight nodes of `_GAUSS` integrate a spiral to the last digits."""
_GAUSS = np.array(
    [
        (-0.9602898564975363, 0.10122853629037626),
        (-0.7966664774136267, 0.22238103445337448),
        (-0.525532409916329, 0.31370664587788727),
        (-0.1834346424956498, 0.362683783378362),
        (0.1834346424956498, 0.362683783378362),
        (0.525532409916329, 0.31370664587788727),
        (0.7966664774136267, 0.22238103445337448),
        (0.9602898564975363, 0.10122853629037626),
    ]
)
"""Nodes and weights of Gauss-Legendre quadrature on [-1, 1] (Abramowitz and Stegun, table 25.4)."""

Shape = Callable[[FloatArray], SampledCurve]
"""Arc length from the start (N,) to the curve in the frame of its start."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """One record of the plan view: start (m along the road, pose), length (m), and the shape in the start's frame."""

    s: float
    x: float
    y: float
    heading: float
    length: float
    shape: Shape
    max_curvature: float

    def at(self, s: FloatArray) -> SampledCurve:
        """The curve in `map` at road stations `s`."""
        local = self.shape(s - self.s)
        sin, cos = elementary.sin_cos(self.heading)
        x = self.x + cos * local.x - sin * local.y
        y = self.y + sin * local.x + cos * local.y
        return SampledCurve(x, y, self.heading + local.heading, local.curvature)


@dataclass(frozen=True, eq=False)
class ReferenceLine:
    """The reference line of a road: its geometries in order of s."""

    geometries: tuple[Geometry, ...]
    starts: FloatArray

    def at(self, s: FloatArray) -> SampledCurve:
        """The reference line at road stations `s` (ascending), m."""
        index = np.maximum(np.searchsorted(self.starts, s, side="right") - 1, 0).tolist()
        if index[0] == index[-1]:
            only: SampledCurve = self.geometries[index[0]].at(s)
            return only
        cuts = [0, *(i for i in range(1, len(s)) if index[i] != index[i - 1]), len(s)]
        parts = [self.geometries[index[i]].at(s[i:j]) for i, j in itertools.pairwise(cuts)]
        return SampledCurve(*(np.concatenate(rows) for rows in zip(*parts, strict=True)))


def read_reference_line(road: Element, warnings: list[str]) -> ReferenceLine:
    """The plan view of a road.

    Raises:
        InputError: no geometry, an unknown or incomplete one.
    """
    elements = road.findall("planView/geometry")
    if not elements:
        raise InputError(where(road), "road without geometry", "<planView> with at least one <geometry>")
    geometries = [_read_geometry(element) for element in elements]
    starts = [geometry.s for geometry in geometries]
    if starts != sorted(starts):
        warnings.append(f"{where(elements[0])}: geometries are not in ascending s; they were sorted")
        geometries.sort(key=lambda geometry: geometry.s)
    kept = [g for g in geometries if g.length > 0.0] or geometries[:1]
    return ReferenceLine(tuple(kept), np.array([geometry.s for geometry in kept]))


def _read_geometry(element: Element) -> Geometry:
    s, length = number(element, "s", low=0.0), number(element, "length")
    x, y = (number(element, name) for name in "xy")
    heading = number(element, "hdg")
    kinds = [child for child in element if child.tag in _READERS]
    if not kinds:
        found = ", ".join(f"<{child.tag}>" for child in element) or "nothing"
        expected = "one of " + ", ".join(f"<{tag}>" for tag in _READERS)
        raise InputError(where(element), f"unknown geometry: {found}", expected)
    shape, max_curvature = _READERS[str(kinds[0].tag)](kinds[0], length)
    return Geometry(s, x, y, heading, length, shape, max_curvature)


def _read_line(element: Element, length: float) -> tuple[Shape, float]:
    return line, 0.0


def _read_arc(element: Element, length: float) -> tuple[Shape, float]:
    curvature = number(element, "curvature")
    _check_turn(element, abs(curvature), length)
    return (lambda s: arc(s, curvature)), abs(curvature)


def _read_spiral(element: Element, length: float) -> tuple[Shape, float]:
    first, last = number(element, "curvStart"), number(element, "curvEnd")
    sharpest = max(abs(first), abs(last))
    _check_turn(element, sharpest, length)
    rate = (last - first) / length if length > SHORT_M else 0.0
    return (lambda s: spiral(s, first, rate)), sharpest


def _check_turn(element: Element, sharpest: float, length: float) -> None:
    if not sharpest * length <= MAX_TURN:
        turned = f"{element.tag} with a curvature up to {sharpest:g} 1/m over {length:g} m"
        raise InputError(where(element), turned, f"one that turns {MAX_TURN:g} rad at most")


def _read_poly3(element: Element, length: float) -> tuple[Shape, float]:
    v = np.array([number(element, key) for key in "abcd"])
    u = np.array([0.0, 1.0, 0.0, 0.0])
    return _parametric(u, v, _poly3_end(v, length), length)


def _read_param_poly3(element: Element, length: float) -> tuple[Shape, float]:
    u = np.array([number(element, key) for key in ("aU", "bU", "cU", "dU")])
    v = np.array([number(element, key) for key in ("aV", "bV", "cV", "dV")])
    p_range = element.get("pRange", "normalized")
    if p_range not in ("arcLength", "normalized"):
        raise InputError(where(element), f"pRange={p_range!r} is unknown", "arcLength or normalized")
    return _parametric(u, v, length if p_range == "arcLength" else 1.0, length)


_READERS: dict[str, Callable[[Element, float], tuple[Shape, float]]] = {
    "line": _read_line,
    "arc": _read_arc,
    "spiral": _read_spiral,
    "poly3": _read_poly3,
    "paramPoly3": _read_param_poly3,
}


def line(s: FloatArray) -> SampledCurve:
    """A straight line along x."""
    zero = np.zeros_like(s)
    return SampledCurve(s, zero, zero, zero)


def arc(s: FloatArray, curvature: float) -> SampledCurve:
    """A circular arc of a curvature (1/m, + left) at arc lengths (m); exact down to curvature 0."""
    half = 0.5 * curvature * s
    chord = s * elementwise.sinc(half)
    sine, cosine = elementwise.sin_cos(half)
    return SampledCurve(chord * cosine, chord * sine, 2.0 * half, np.full_like(s, curvature))


def spiral(s: FloatArray, curvature: float, rate: float) -> SampledCurve:
    """A clothoid: curvature + rate * s, its heading integrated by quadrature in panels of little turn."""
    if abs(rate) < STRAIGHT:
        return arc(s, curvature)
    bend = curvature + rate * s
    turn = float(np.max(np.maximum(abs(curvature), np.abs(bend)) * np.abs(s), initial=0.0))
    panels = max(1, math.ceil(turn / PANEL_TURN))
    middles = (np.arange(panels) + 0.5) / panels
    share = (middles[:, None] + 0.5 / panels * _GAUSS[:, 0]).ravel()
    weight = np.tile(0.5 / panels * _GAUSS[:, 1], panels)
    at = s[:, None] * share
    heading = at * (curvature + 0.5 * rate * at)
    x, y = ((weight * of(heading)).sum(axis=1) * s for of in (elementwise.cos, elementwise.sin))
    return SampledCurve(x, y, s * (curvature + 0.5 * rate * s), bend)


def _poly3_end(v: FloatArray, length: float) -> float:
    """The u at which a poly3 curve has reached its length; u itself never exceeds it."""
    u = np.linspace(0.0, length, max(2, int(length / ARC_TABLE_STEP_M) + 2))
    slope = v[1] + u * (2.0 * v[2] + 3.0 * v[3] * u)
    speed = elementwise.hypot(1.0, slope)
    run = np.concatenate(([0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(u))))
    return float(np.interp(length, run, u))


def _parametric(u: FloatArray, v: FloatArray, end: float, length: float) -> tuple[Shape, float]:
    """A cubic in a parameter that runs from 0 to `end`, made a function of arc length; and its largest curvature."""
    p: FloatArray = np.linspace(0.0, end, max(5, int(length / ARC_TABLE_STEP_M) + 2), dtype=np.float64)
    speed = elementwise.hypot(_slope(u, p), _slope(v, p))
    run = np.concatenate(([0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(p))))
    if run[-1] > 0.0:
        run *= length / run[-1]

    def shape(s: FloatArray) -> SampledCurve:
        at = np.interp(s, run, p)
        du, dv = _slope(u, at), _slope(v, at)
        return SampledCurve(_cubic(u, at), _cubic(v, at), elementwise.arctan2(dv, du), _curvature(u, v, at))

    return shape, float(np.max(np.abs(_curvature(u, v, p))))


def _cubic(k: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(k[0] + p * (k[1] + p * (k[2] + p * k[3])), dtype=np.float64)


def _slope(k: FloatArray, p: FloatArray) -> FloatArray:
    return np.asarray(k[1] + p * (2.0 * k[2] + 3.0 * k[3] * p), dtype=np.float64)


def _curvature(u: FloatArray, v: FloatArray, p: FloatArray) -> FloatArray:
    du, dv = _slope(u, p), _slope(v, p)
    ddu, ddv = 2.0 * u[2] + 6.0 * u[3] * p, 2.0 * v[2] + 6.0 * v[3] * p
    speed = np.sqrt(du * du + dv * dv)
    return np.asarray((du * ddv - dv * ddu) / np.maximum(speed * speed * speed, 1e-12), dtype=np.float64)
