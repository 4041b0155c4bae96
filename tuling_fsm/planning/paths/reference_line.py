"""Smooth reference lines: what the lateral offsets of all candidates are measured from.

A lane's centre may jump in curvature (an arc that meets a straight line) or bend harder than the car can. The
reference is the curve nearest to the centre whose third derivative is small (a penalised least-squares smoothing,
Whittaker 1923; Eilers, Analytical Chemistry 75, 2003); where it still bends too hard the second derivative is
penalised as well, which cuts the corner. In bends whose lane is too narrow for the body of a car that keeps its rear
axle on the centre, the target moves to the inside by just what is missing.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, wrap_angle
from tuling_fsm.core.kernels import array_kernel, kernel

X, Y, HEADING, COS, SIN, KAPPA, DKAPPA, S, LEFT, RIGHT, LEFT_NEAR, RIGHT_NEAR, LIMIT, NEED, CENTER, NEED_RIGHT = range(
    16
)
"""Columns of a reference line. `LEFT`/`RIGHT` are the offsets (m, + left) between which the body may be, `*_NEAR`
their tightest values around; `NEED` and `NEED_RIGHT` are how far the body of a car on the reference itself reaches
beyond the left and the right of them near here; `CENTER` is the offset of the lane's centre."""
COLUMNS = 16
EXTENSION = 8.0
"""Lines go on straight by this much beyond both ends, so that the body has something below it there (m)."""
MAX_POINTS = 256
_ROUNDS = 6
_STIFFEN = 8.0
_SWING_MARGIN = 0.2
_KERB_MARGIN = 0.3
"""Room (m) to the kerb in a bend that the lane is too narrow for: smoothing cuts the corner a little more."""


@array_kernel
def _stiffness(n: int, ds: float, bend: FloatArray, jerk: float) -> FloatArray:
    """Lower band (n, 4) of I + D2' diag(bend) D2 + jerk D3' D3 with difference operators of step `ds`."""
    band = np.zeros((n, 4))
    band[:, 0] = 1.0
    second = (1.0, -2.0, 1.0)
    third = (-1.0, 3.0, -3.0, 1.0)
    for i in range(1, n - 1):
        w = bend[i] / ds**4
        if w > 0.0:
            for a in range(3):
                for b in range(a + 1):
                    band[i - 1 + a, a - b] += w * second[a] * second[b]
    w = jerk / ds**6
    for i in range(n - 3):
        for a in range(4):
            for b in range(a + 1):
                band[i + a, a - b] += w * third[a] * third[b]
    return band


@kernel
def _solve(band: FloatArray, rhs: FloatArray) -> None:
    """Solve in place by the banded Cholesky factorisation; `band` is overwritten, `rhs` (n, 2) becomes the solution."""
    n = band.shape[0]
    for i in range(n):
        for k in range(min(3, i), -1, -1):
            j = i - k
            total = band[i, k]
            for m in range(max(0, i - 3), j):
                if j - m <= 3:
                    total -= band[i, i - m] * band[j, j - m]
            band[i, k] = math.sqrt(total) if k == 0 else total / band[j, 0]
    for i in range(n):
        for c in range(2):
            total = rhs[i, c]
            for k in range(1, min(3, i) + 1):
                total -= band[i, k] * rhs[i - k, c]
            rhs[i, c] = total / band[i, 0]
    for i in range(n - 1, -1, -1):
        for c in range(2):
            total = rhs[i, c]
            for k in range(1, min(3, n - 1 - i) + 1):
                total -= band[i + k, k] * rhs[i + k, c]
            rhs[i, c] = total / band[i, 0]


@array_kernel
def _smooth(points: FloatArray, ds: float, bend: FloatArray, jerk: float) -> FloatArray:
    """The smoothed points; solved for the displacement, which keeps large coordinates out of the arithmetic."""
    n = len(points)
    rhs = np.zeros((n, 2))
    for c in range(2):
        for i in range(1, n - 1):
            d2 = points[i - 1, c] - 2.0 * points[i, c] + points[i + 1, c]
            w = bend[i] / ds**4 * d2
            rhs[i - 1, c] -= w
            rhs[i, c] += 2.0 * w
            rhs[i + 1, c] -= w
        for i in range(n - 3):
            d3 = -points[i, c] + 3.0 * points[i + 1, c] - 3.0 * points[i + 2, c] + points[i + 3, c]
            w = jerk / ds**6 * d3
            rhs[i, c] += w
            rhs[i + 1, c] -= 3.0 * w
            rhs[i + 2, c] += 3.0 * w
            rhs[i + 3, c] -= w
    _solve(_stiffness(n, ds, bend, jerk), rhs)
    return points + rhs


@kernel
def _shape(points: FloatArray, line: FloatArray) -> float:
    """Fill position, arc length, heading, curvature and its slope; returns the largest curvature (1/m, absolute)."""
    n = len(points)
    line[0, S] = 0.0
    for i in range(n):
        line[i, X], line[i, Y] = points[i, 0], points[i, 1]
        if i > 0:
            line[i, S] = line[i - 1, S] + elementary.hypot(
                points[i, 0] - points[i - 1, 0], points[i, 1] - points[i - 1, 1]
            )
    for i in range(n):
        a, b = max(i - 1, 0), min(i + 1, n - 1)
        heading = elementary.atan2(points[b, 1] - points[a, 1], points[b, 0] - points[a, 0])
        line[i, HEADING] = heading if i == 0 else line[i - 1, HEADING] + wrap_angle(heading - line[i - 1, HEADING])
        line[i, COS], line[i, SIN] = elementary.cos(heading), elementary.sin(heading)
    largest = 0.0
    for column, slope in ((HEADING, KAPPA), (KAPPA, DKAPPA)):
        for i in range(n):
            a, b = max(i - 1, 0), min(i + 1, n - 1)
            line[i, slope] = (line[b, column] - line[a, column]) / (line[b, S] - line[a, S])
    for i in range(n):
        largest = max(largest, abs(line[i, KAPPA]))
    return largest


@array_kernel
def _bend_until_drivable(points: FloatArray, ds: float, jerk: float, max_curvature: float, line: FloatArray) -> None:
    """Smooth, and cut the corner a little more in each round until the curvature is within the limit or the rounds
    are over.
    """
    n = len(points)
    bend = np.zeros(n)
    spread = max(1, round(2.0 / ds))
    for _ in range(_ROUNDS):
        if _shape(_smooth(points, ds, bend, jerk), line) <= max_curvature:
            return
        for i in range(n):
            over = max(0.0, abs(line[i, KAPPA]) / max_curvature - 0.93)
            if over > 0.0:
                for k in range(max(0, i - spread), min(n, i + spread + 1)):
                    bend[k] += _STIFFEN * over * ds * 0.5


@kernel
def _resample(
    center: FloatArray, rows: FloatArray, first: float, ds: float, n: int, points: FloatArray, wide: FloatArray
) -> None:
    """The centre and its `rows` at arc lengths `first + i * ds`; straight on beyond the ends, where the rows keep
    their last value.
    """
    m = len(center)
    j = 0
    for i in range(n):
        s = first + i * ds
        while j < m - 2 and center[j + 1, 2] <= s:
            j += 1
        u = (s - center[j, 2]) / (center[j + 1, 2] - center[j, 2])
        inside = min(1.0, max(0.0, u))
        for c in range(rows.shape[0]):
            wide[i, c] = rows[c, j] + inside * (rows[c, j + 1] - rows[c, j])
        beyond = s - min(max(s, 0.0), center[m - 1, 2])
        heading = center[j, 3] + inside * (center[j + 1, 3] - center[j, 3])
        for c in range(2):
            points[i, c] = center[j, c] + inside * (center[j + 1, c] - center[j, c])
        points[i, 0] += beyond * elementary.cos(heading)
        points[i, 1] += beyond * elementary.sin(heading)


@array_kernel
def _swing_in(
    line: FloatArray, wide: FloatArray, front: float, half_width: float, max_curvature: float, kerb: float
) -> FloatArray:
    """Offset (n,) to the inside of bends by what the outer front corner lacks in the lane.

    At most to where front and rear reach equally far, or with a `kerb` on one side so far that the body stays off that,
    and no more than the bend can be tightened.
    """
    n = len(line)
    shift = np.zeros(n)
    for i in range(n):
        kappa = abs(line[i, KAPPA])
        if kappa < 1e-3:
            continue
        radius = 1.0 / kappa
        outer = elementary.hypot(radius + half_width, front) - radius
        left_bend = line[i, KAPPA] > 0.0
        room, inner = (wide[i, 1], wide[i, 0]) if left_bend else (wide[i, 0], wide[i, 1])
        missing = max(0.0, outer + _SWING_MARGIN - room)
        most = 0.5 * (outer - half_width)
        if kerb != 0.0 and left_bend == (kerb > 0.0):
            most = min(most, inner - half_width - _KERB_MARGIN)
        elif kerb != 0.0:
            most = outer - half_width
        most = max(0.0, min(most, radius - 1.0 / max_curvature))
        shift[i] = math.copysign(min(missing, most), line[i, KAPPA])
    return shift


@array_kernel
def _moved_aside(points: FloatArray, line: FloatArray, shift: FloatArray) -> FloatArray:
    """The points (n, 2), each moved across the line by its `shift` (n,) (m, + left)."""
    target = points.copy()
    for i in range(len(points)):
        target[i, 0] -= shift[i] * line[i, SIN]
        target[i, 1] += shift[i] * line[i, COS]
    return target


@kernel
def _add_sides(points: FloatArray, wide: FloatArray, first: float, line: FloatArray) -> None:
    """Fill what the line has from the centre's `points` (n, 2) and their `wide` (n, 5): its offset, the room on both
    sides, the limit; and count arc lengths from the centre's beginning.
    """
    for i in range(len(points)):
        dx, dy = points[i, 0] - line[i, X], points[i, 1] - line[i, Y]
        line[i, CENTER] = -dx * line[i, SIN] + dy * line[i, COS]
        line[i, LEFT] = line[i, CENTER] + wide[i, 2]
        line[i, RIGHT] = line[i, CENTER] - wide[i, 3]
        line[i, LIMIT] = wide[i, 4]
        line[i, S] += first


@kernel
def _at_index(line: FloatArray, index: float) -> float:
    """Arc length at a fractional index, `inf` beyond the last point."""
    if index > len(line) - 1:
        return math.inf
    i = min(max(int(index), 0), len(line) - 2)
    return float(line[i, S] + (index - i) * (line[i + 1, S] - line[i, S]))


class LineSmoothing(NamedTuple):
    """Distance of the samples (m), the length over which a jump in curvature is spread (m), the sharpest curvature
    (1/m), how far the car's front is from the rear axle, and its sides from the middle (m), and `kerb` as in
    `LateralParameters`.
    """

    step: float
    smoothing: float
    max_curvature: float
    front: float
    half_width: float
    kerb: float = 0.0


@array_kernel
def reference_line(
    center: FloatArray,
    rows: FloatArray,
    phase: float,
    goal: float,
    shape: LineSmoothing,
    line: FloatArray,
) -> tuple[int, float, float]:
    """Fill `line` (MAX_POINTS, COLUMNS); return its number of points and, on it, arc lengths of the line's end and of
    `goal`.

    `center` (m, 4) is x, y, s, heading of the lane's centre; `rows` (5, m) is left, right, left_free, right_free,
    limit. `phase` (m) is the route's arc length at the first point: samples lie at whole multiples of the step along
    the route, so that the line does not change as the car moves on. `goal` is an arc length of the centre (m), `inf`
    for none.
    """
    max_curvature = shape.max_curvature
    length = center[len(center) - 1, 2]
    ds = max(shape.step, (length + 2.0 * EXTENSION) / (MAX_POINTS - 2))
    first = math.ceil((phase - EXTENSION) / ds) * ds - phase
    n = min(MAX_POINTS, int((length + EXTENSION - first) / ds) + 1)
    points, wide = np.empty((n, 2)), np.empty((n, 5))
    _resample(center, rows, first, ds, n, points, wide)
    jerk = shape.smoothing**6
    sharpest = _shape(_smooth(points, ds, np.zeros(n), jerk), line[:n])
    shift = _swing_in(line[:n], wide, shape.front, shape.half_width, max_curvature, shape.kerb)
    if sharpest > max_curvature or np.any(shift != 0.0):
        _bend_until_drivable(_moved_aside(points, line, shift), ds, jerk, max_curvature, line[:n])
    _add_sides(points, wide, first, line)
    return n, _at_index(line[:n], (length - first) / ds), _at_index(line[:n], (goal - first) / ds)
