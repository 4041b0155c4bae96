"""Smooth reference lines: what the lateral offsets of all candidates are measured from.

A lane's centre may jump in curvature (an arc that meets a straight line) or bend harder than the car can. The
reference is the curve nearest to the centre whose third derivative is small (a penalised least-squares smoothing,
Whittaker 1923; Eilers, Analytical Chemistry 75, 2003); where it still bends too hard the second derivative is
penalised as well, which cuts the corner. In bends whose lane is too narrow for the body of a car that keeps its rear
axle on the centre, the target moves to the inside by just what is missing; where the body would still reach over the
edge of the road, the line is moved until none of its corners does, as far as that can be; and then off a line that must
not be crossed, where it can be.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import array_kernel, inlined_kernel, kernel

(
    X, Y, HEADING, COS, SIN, KAPPA, DKAPPA, S, LEFT, RIGHT, LEFT_NEAR, RIGHT_NEAR, LIMIT, NEED, CENTER,
    LEFT_ROAD, RIGHT_ROAD, LEFT_OFF, RIGHT_OFF,
) = range(19)  # fmt: skip
"""Columns of a reference line. `LEFT`/`RIGHT` are the offsets (m, + left) between which the body may be, `*_NEAR`
their tightest values around; `NEED` is how far the body of a car on the reference itself reaches beyond them near
here; `CENTER` is the offset of the lane's centre; `LEFT_ROAD` and `RIGHT_ROAD` are the offsets of the road's edges,
`LEFT_OFF` and `RIGHT_OFF` how far the body on the reference reaches beyond those."""
COLUMNS = 19
EXTENSION = 8.0
"""Lines go on straight by this much beyond both ends, so that the body has something below it there (m)."""
MAX_POINTS = 256
_ROAD = 5
"""Where the edges of the road stand in the rows beside a centre."""
_ROUNDS = 6
_STIFFEN = 8.0
_SWING_MARGIN = 0.2
_EDGE_MARGIN = 0.2
_EDGE_ENOUGH = 0.15
"""Room (m) from the body to the road's edge: what a line that is moved gets, and what it may do with."""
_BOUND_MARGIN, _BOUND_ENOUGH, _BOUND_NEARLY = 0.1, 0.05, 0.2
"""The same from the body to a line that must not be crossed, and what the body may lack at most of a line that is moved
for that: where it would have to cross all the same, it leads as if there were none.
"""
_AT_EDGE = 1e-3
"""Bounds no farther from the road's edge than this (m) end there."""
_EDGE_ROUNDS = 10
_EDGE_WEIGHT, _BOUND_WEIGHT = 200.0, 20.0
_EDGE_LENGTH = 2.5
"""How often a line is moved, the weights of a corner that lacks room against a metre of shift, and the length (m) over
which that fades."""


class LineSmoothing(NamedTuple):
    """Distance of the samples (m), the length over which a jump in curvature is spread (m), the sharpest curvature
    (1/m), how far the car's front and rear are from the rear axle, and its sides from the middle (m).
    """

    step: float
    smoothing: float
    max_curvature: float
    front: float
    rear: float
    half_width: float


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
    """Solve in place by the banded Cholesky factorisation; `band` is overwritten, `rhs` (n, m) becomes the solution."""
    n, columns = rhs.shape
    for i in range(n):
        for k in range(min(3, i), -1, -1):
            j = i - k
            total = band[i, k]
            for m in range(max(0, i - 3), j):
                if j - m <= 3:
                    total -= band[i, i - m] * band[j, j - m]
            band[i, k] = math.sqrt(total) if k == 0 else total / band[j, 0]
    for i in range(n):
        for c in range(columns):
            total = rhs[i, c]
            for k in range(1, min(3, i) + 1):
                total -= band[i, k] * rhs[i - k, c]
            rhs[i, c] = total / band[i, 0]
    for i in range(n - 1, -1, -1):
        for c in range(columns):
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
        line[i, SIN], line[i, COS] = elementary.sin_cos(heading)
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
        sine, cosine = elementary.sin_cos(heading)
        points[i, 0] += beyond * cosine
        points[i, 1] += beyond * sine


@array_kernel
def _swing_in(line: FloatArray, wide: FloatArray, front: float, half_width: float, max_curvature: float) -> FloatArray:
    """Offset (n,) to the inside of bends by what the outer front corner lacks in the lane.

    At most to where front and rear reach equally far, and no more than the bend can be tightened.
    """
    n = len(line)
    shift = np.zeros(n)
    for i in range(n):
        kappa = abs(line[i, KAPPA])
        if kappa < 1e-3:
            continue
        radius = 1.0 / kappa
        outer = elementary.hypot(radius + half_width, front) - radius
        missing = max(0.0, outer + _SWING_MARGIN - wide[i, 1 if line[i, KAPPA] > 0.0 else 0])
        most = max(0.0, min(0.5 * (outer - half_width), radius - 1.0 / max_curvature))
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
    """Fill what the line has from the centre's `points` (n, 2) and their `wide` (n, 7): its offset, the room on both
    sides, the limit, the road's edges; and count arc lengths from the centre's beginning.
    """
    for i in range(len(points)):
        dx, dy = points[i, 0] - line[i, X], points[i, 1] - line[i, Y]
        line[i, CENTER] = -dx * line[i, SIN] + dy * line[i, COS]
        line[i, LEFT] = line[i, CENTER] + wide[i, 2]
        line[i, RIGHT] = line[i, CENTER] - wide[i, 3]
        line[i, LIMIT] = wide[i, 4]
        line[i, LEFT_ROAD] = line[i, CENTER] + max(wide[i, 2], wide[i, _ROAD])
        line[i, RIGHT_ROAD] = line[i, CENTER] - max(wide[i, 3], wide[i, _ROAD + 1])
        line[i, S] += first


@inlined_kernel
def walk(line: FloatArray, n: int, k: int, x: float, y: float) -> int:
    """The sample whose normal a point is nearest to, looked for from sample `k` on."""
    k = min(max(k, 0), n - 1)
    step = 0
    for _ in range(n):
        along = (x - line[k, X]) * line[k, COS] + (y - line[k, Y]) * line[k, SIN]
        if along > 0.0 and k < n - 1 and step >= 0 and along > 0.5 * (line[k + 1, S] - line[k, S]):
            step = 1
        elif along < 0.0 and k > 0 and step <= 0 and -along > 0.5 * (line[k, S] - line[k - 1, S]):
            step = -1
        else:
            return k
        k += step
    return k


@inlined_kernel
def offset_at(line: FloatArray, k: int, x: float, y: float) -> float:
    """Offset (m, + left) of a point whose nearest sample is `k`."""
    dx, dy = x - line[k, X], y - line[k, Y]
    along = dx * line[k, COS] + dy * line[k, SIN]
    return float(dy * line[k, COS] - dx * line[k, SIN] - 0.5 * line[k, KAPPA] * along * along)


@inlined_kernel
def _over_line(over_bound: float, over_edge: float) -> float:
    """How far (m) a point is beyond the bounds, where these end at a line and not at the road's edge."""
    return float(over_bound if over_bound > over_edge + _AT_EDGE else -np.inf)


@inlined_kernel
def _beyond(line: FloatArray, k: int, along: float, across: float) -> tuple[float, float]:
    """How far (m) a point of the body reaches over the road's edge, and over a line that must not be crossed before
    that, its rear axle on sample `k`; negative inside.
    """
    x = line[k, X] + along * line[k, COS] - across * line[k, SIN]
    y = line[k, Y] + along * line[k, SIN] + across * line[k, COS]
    at = walk(line, len(line), k + int(along / (line[1, S] - line[0, S])), x, y)
    offset = offset_at(line, at, x, y)
    if across > 0.0:
        return float(offset - line[at, LEFT_ROAD]), _over_line(offset - line[at, LEFT], offset - line[at, LEFT_ROAD])
    return float(line[at, RIGHT_ROAD] - offset), _over_line(line[at, RIGHT] - offset, line[at, RIGHT_ROAD] - offset)


@kernel
def _push(shift: FloatArray, k: int, lever: float, by: float, weight: float, band: FloatArray, rhs: FloatArray) -> None:
    """Add to the normal equations of the shift (n,) that a corner of the body on sample k moves `by` (m, + left); it
    does with the shift and, by the `lever`, with its slope.
    """
    row, target = (-lever, 1.0, lever), shift[k] + lever * (shift[k + 1] - shift[k - 1]) + by
    for i in range(3):
        rhs[k - 1 + i, 0] += weight * row[i] * target
        for m in range(i + 1):
            band[k - 1 + i, i - m] += weight * row[i] * row[m]


@kernel
def _push_inside(
    line: FloatArray, shift: FloatArray, shape: LineSmoothing, weight: float, band: FloatArray, rhs: FloatArray
) -> tuple[float, float]:
    """Add to the normal equations of the shift (n,) one for each corner of the body that lacks room to the road's edge
    and, with a `weight`, to a line that must not be crossed. Returns what the worst one of each lacks (m).
    """
    step, edge, bound = line[1, S] - line[0, S], 0.0, 0.0
    for k in range(1, len(line) - 1):
        for along in (shape.front, 0.5 * shape.front, 0.0, -shape.rear):
            lever = 0.5 * along / step
            for side in (1.0, -1.0):
                over_edge, over_line = _beyond(line, k, along, side * shape.half_width)
                off_edge, off_line = over_edge + _EDGE_MARGIN, over_line + _BOUND_MARGIN
                if off_edge > 0.0:
                    edge = max(edge, off_edge)
                    _push(shift, k, lever, -side * off_edge, _EDGE_WEIGHT, band, rhs)
                if off_line > 0.0:
                    bound = max(bound, off_line)
                    _push(shift, k, lever, -side * off_line, weight, band, rhs)
    return edge, bound


@array_kernel
def _keep_on_road(
    points: FloatArray,
    wide: FloatArray,
    base: FloatArray,
    swing: FloatArray,
    first: float,
    shape: LineSmoothing,
    line: FloatArray,
) -> None:
    """Move a line until the body is on the road all along it, and then until it crosses no line that it must not, or
    keep the best of what was tried (Gauss-Newton).

    `base` is the line that the shift is across, `swing` (n,) the shift that is stayed near to.
    """
    n, ds = len(line), base[1, S] - base[0, S]
    shift, best, off_road, off_bounds = swing, line.copy(), math.inf, math.inf
    weight, rounds = 0.0, _EDGE_ROUNDS
    while True:
        band = _stiffness(n, ds, np.zeros(n), _EDGE_LENGTH**6)
        rhs = np.empty((n, 1))
        rhs[:, 0] = swing
        edge, bound = _push_inside(line, shift, shape, weight, band, rhs)
        edge = max(0.0, edge - (_EDGE_MARGIN - _EDGE_ENOUGH))
        bound = max(0.0, bound - (_BOUND_MARGIN - _BOUND_ENOUGH))
        if edge < off_road or (edge == off_road and bound < min(off_bounds, _BOUND_NEARLY)):
            off_road, off_bounds = edge, bound
            best[:] = line
        if (edge == 0.0 and bound == 0.0) or (rounds == 0 and weight > 0.0):
            break
        if weight == 0.0 and (edge == 0.0 or rounds == 0):
            weight, rounds = _BOUND_WEIGHT, _EDGE_ROUNDS
        rounds -= 1
        _solve(band, rhs)
        shift = rhs[:, 0].copy()
        _bend_until_drivable(_moved_aside(points, base, shift), ds, shape.smoothing**6, shape.max_curvature, line)
        _add_sides(points, wide, first, line)
    line[:] = best


@kernel
def _at_index(line: FloatArray, index: float) -> float:
    """Arc length at a fractional index, `inf` beyond the last point."""
    if index > len(line) - 1:
        return math.inf
    i = min(max(int(index), 0), len(line) - 2)
    return float(line[i, S] + (index - i) * (line[i + 1, S] - line[i, S]))


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

    `center` (m, 4) is x, y, s, heading of the lane's centre; `rows` (7, m) is left, right, left_free, right_free,
    limit, left_road, right_road. `phase` (m) is the route's arc length at the first point: samples lie at whole
    multiples of the step along the route, so that the line does not change as the car moves on. `goal` is an arc
    length of the centre (m), `inf` for none.
    """
    max_curvature = shape.max_curvature
    length = center[len(center) - 1, 2]
    ds = max(shape.step, (length + 2.0 * EXTENSION) / (MAX_POINTS - 2))
    first = math.ceil((phase - EXTENSION) / ds) * ds - phase
    n = min(MAX_POINTS, int((length + EXTENSION - first) / ds) + 1)
    points, wide = np.empty((n, 2)), np.empty((n, len(rows)))
    _resample(center, rows, first, ds, n, points, wide)
    jerk = shape.smoothing**6
    sharpest = _shape(_smooth(points, ds, np.zeros(n), jerk), line[:n])
    shift = _swing_in(line[:n], wide, shape.front, shape.half_width, max_curvature)
    base = line[:n].copy()
    if sharpest > max_curvature or np.any(shift != 0.0):
        _bend_until_drivable(_moved_aside(points, base, shift), ds, jerk, max_curvature, line[:n])
    _add_sides(points, wide, first, line)
    _keep_on_road(points, wide, base, shift, first, shape, line[:n])
    return n, _at_index(line[:n], (length - first) / ds), _at_index(line[:n], (goal - first) / ds)
