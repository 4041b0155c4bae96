"""The reference line of a road in the middle of its lanelets, and how far their bounds lie beside it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.bag.commonroad.lanelets import arc_lengths, at_shares
from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray

STATION_M = 0.75
"""No two stations lie farther apart, so that a bend between them is no deeper than a few centimetres."""
SMOOTHED_M = 4.0
"""Kinks of the middle are spread over about this length: nothing has to lie on the reference, and the squares across it
must not turn faster than the lanes do.
"""
SLANT = 0.2
"""An end of a bound that is turned from the road by more than this (sine of the rest of a right angle) is not drawn
on beyond it."""
_SAMPLES = 9


class CubicPiece(NamedTuple):
    """A piece of the reference: where it begins, its coefficients in that frame for a parameter from 0 to 1, its
    length, m.
    """

    x: float
    y: float
    heading: float
    u: tuple[float, float, float]
    v: tuple[float, float, float]
    length: float


class ReferenceCurve(NamedTuple):
    """Cubic pieces with a common tangent where they meet; (N,) stations, points and unit tangents at their ends."""

    pieces: tuple[CubicPiece, ...]
    stations: FloatArray
    points: FloatArray
    tangents: FloatArray


def reference_curve(left: FloatArray, right: FloatArray) -> ReferenceCurve:
    """A smooth line between two bounds (N, 2), m: Catmull-Rom tangents, Hermite pieces ([catmull1974][])."""
    points = _middle(left, right)
    s = arc_lengths(points)
    slopes = np.gradient(points, s, axis=0) if len(points) > 2 else np.repeat(np.diff(points, axis=0), 2, axis=0)
    tangents = slopes / np.maximum(elementwise.hypot(slopes[:, 0], slopes[:, 1]), 1e-9)[:, None]
    headings = elementwise.arctan2(tangents[:, 1], tangents[:, 0])
    pieces = tuple(_piece(points, tangents, headings, i) for i in range(len(points) - 1))
    stations = np.concatenate(([0.0], np.cumsum([piece.length for piece in pieces])))
    return ReferenceCurve(pieces, stations, points, tangents)


def _middle(left: FloatArray, right: FloatArray) -> FloatArray:
    """Even points between the bounds at the same share of both, smoothed but for the ends."""
    fine: FloatArray = np.linspace(0.0, 1.0, 4 * max(len(left), len(right)) + 1, dtype=np.float64)
    line = 0.5 * (at_shares(left, fine) + at_shares(right, fine))
    length = float(arc_lengths(line)[-1])
    count = max(math.ceil(length / STATION_M), 1)
    points = at_shares(line, np.linspace(0.0, 1.0, count + 1, dtype=np.float64))
    for _ in range(round(np.square(SMOOTHED_M / STATION_M) / 2.0)):
        points[1:-1] = 0.25 * points[:-2] + 0.5 * points[1:-1] + 0.25 * points[2:]
    return points


def _piece(points: FloatArray, tangents: FloatArray, headings: FloatArray, i: int) -> CubicPiece:
    """The Hermite cubic from one station to the next, in the frame of the first."""
    chord = points[i + 1] - points[i]
    size = float(elementwise.hypot(chord[:1], chord[1:])[0])
    end = _in_frame(chord, tangents[i])
    begin_slope = np.array((size, 0.0))
    end_slope = size * _in_frame(tangents[i + 1], tangents[i])
    second = 3.0 * end - 2.0 * begin_slope - end_slope
    third = begin_slope + end_slope - 2.0 * end
    p: FloatArray = np.linspace(0.0, 1.0, _SAMPLES, dtype=np.float64)[:, None]
    drawn = begin_slope * p + second * np.square(p) + third * p * np.square(p)
    coefficients = np.column_stack((begin_slope, second, third))
    u, v = ((float(row[0]), float(row[1]), float(row[2])) for row in coefficients)
    x, y = points[i].tolist()
    return CubicPiece(x, y, float(headings[i]), u, v, float(arc_lengths(drawn)[-1]))


def _in_frame(vectors: FloatArray, tangent: FloatArray) -> FloatArray:
    """Vectors (..., 2) as how far they lead along a unit tangent, and to its left."""
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack((x * tangent[0] + y * tangent[1], y * tangent[0] - x * tangent[1]), axis=-1)


def beside(curve: ReferenceCurve, line: FloatArray) -> FloatArray:
    """How far to the left of the reference a line (N, 2) lies, measured square to it, at each station, m.

    Where the line has ended, it is drawn on straight; where it bends back, the crossing nearest to the one before
    counts.
    """
    found: FloatArray = np.empty(len(curve.points))
    last: float | None = None
    for i, (point, tangent) in enumerate(zip(curve.points, curve.tangents, strict=True)):
        ahead, left = _in_frame(line - point, tangent).T
        crossings = _crossings(ahead, left)
        if not len(crossings):
            last = _drawn_on(ahead, left)
        else:
            wanted = float(left[int(np.argmin(np.abs(ahead)))]) if last is None else last
            last = float(crossings[int(np.argmin(np.abs(crossings - wanted)))])
        found[i] = last
    return found


def _crossings(ahead: FloatArray, left: FloatArray) -> FloatArray:
    """How far to the left a line crosses the square across the station."""
    crosses = (ahead[:-1] <= 0.0) & (ahead[1:] > 0.0) | (ahead[:-1] < 0.0) & (ahead[1:] >= 0.0)
    rows = np.flatnonzero(crosses)
    share = -ahead[rows] / (ahead[rows + 1] - ahead[rows])
    return np.asarray(left[rows] + share * (left[rows + 1] - left[rows]), dtype=np.float64)


def _drawn_on(ahead: FloatArray, left: FloatArray) -> float:
    """Where the nearer end of a line would cross if it went on."""
    end, inner = (0, 1) if abs(ahead[0]) <= abs(ahead[-1]) else (-1, -2)
    step, rise = float(ahead[end] - ahead[inner]), float(left[end] - left[inner])
    if abs(step) <= SLANT * float(elementwise.hypot(step, rise)):
        return float(left[end])
    return float(left[end] - ahead[end] * rise / step)
