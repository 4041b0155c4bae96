"""Candidate paths: lateral offset over arc length of a reference line ([werling2010][]).

From the car's offset, slope and curvature a quintic leads to an end offset, which is kept to the end of the line, or
until a second quintic leads back to the line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt
from tuling_fsm.planning.paths.reference_line import COS, DKAPPA, HEADING, KAPPA, SIN, S, X, Y, offset_at, walk

LANE, OFFSET, REACHED, LEFT_AGAIN, BACK, SECOND_PASS = range(6)
"""Columns of a candidate: index of its lane line, end offset (m), arc lengths of the line where it is reached, left
again (`inf` for never) and where the line itself is reached; `SECOND_PASS` is 1 for one that exists only because
of moving objects."""
SPEC = 6

PX, PY, PCOS, PSIN, PHEADING, PKAPPA, PS, PD, PTURN, PROOM = range(10)
"""Columns of a path: pose of the rear axle, curvature, arc length, offset from the reference, sine of the angle to
it, and the gap to the nearest static thing."""
PATH = 10

NODE, START_S, START_D, START_SLOPE, START_BEND, REACHABLE = range(6)
"""Columns of a start: nearest sample, arc length, offset and its first two derivatives; 1 where the line can be
joined."""
START = 6


@kernel
def frenet_start(
    line: FloatArray,
    n: int,
    k: int,
    pose: tuple[float, float, float, float],
    max_turn: float,
    start: FloatArray,
) -> None:
    """The lateral state of a pose (x, y, heading, curvature); `k` is a sample near it."""
    x, y, heading, kappa = pose
    k = walk(line, n, k, x, y)
    d = offset_at(line, k, x, y)
    along = (x - line[k, X]) * line[k, COS] + (y - line[k, Y]) * line[k, SIN]
    along /= max(0.3, 1.0 - line[k, KAPPA] * d)
    bend = line[k, KAPPA] + along * line[k, DKAPPA]
    turn = wrap_angle(heading - line[k, HEADING] - along * line[k, KAPPA])
    scale = 1.0 - bend * d
    start[NODE], start[START_S], start[START_D] = k, line[k, S] + along, d
    start[REACHABLE] = 1.0 if abs(turn) < max_turn and scale > 0.3 else 0.0
    if start[REACHABLE] == 0.0:
        return
    slope, cos = elementary.tan(turn), elementary.cos(turn)
    start[START_SLOPE] = scale * slope
    change = line[k, DKAPPA] * d + bend * start[START_SLOPE]
    start[START_BEND] = -change * slope + scale / (cos * cos) * (kappa * scale / cos - bend)


@inlined_kernel
def quintic(
    d0: float, slope: float, bend: float, d1: float, length: float
) -> tuple[float, float, float, float, float, float]:
    """Coefficients, lowest power first, of an offset from `d0` with two derivatives to `d1` with none."""
    c0, c1, c2 = d0, slope, 0.5 * bend
    h = length
    gap = d1 - c0 - c1 * h - c2 * h * h
    dgap = -c1 - 2.0 * c2 * h
    ddgap = -2.0 * c2
    c3 = (10.0 * gap - 4.0 * dgap * h + 0.5 * ddgap * h * h) / h**3
    c4 = (-15.0 * gap + 7.0 * dgap * h - ddgap * h * h) / h**4
    c5 = (6.0 * gap - 3.0 * dgap * h + 0.5 * ddgap * h * h) / h**5
    return c0, c1, c2, c3, c4, c5


CX, CY, CCOS, CSIN = range(4)
"""Rows of `FrenetPath.places`: the body's centre and direction at every point, side by side for the processor."""
PLACES = 4
AT_ONCE = 8
"""So many points are looked at in one go; `FrenetPath.places` has at least as many more columns than the path has
points.
"""
_NOWHERE = np.zeros((PLACES, 0))


class FrenetPath(NamedTuple):
    """A path on a line: its points (the first `points` rows), the sample of the line below its second point, the line
    and its index. `places` (PLACES, n) is where the body is, needed among obstacles only.
    """

    path: FloatArray
    points: int
    first: int
    line: FloatArray
    at: int
    places: FloatArray = _NOWHERE


@inlined_kernel
def _put_point(line: FloatArray, k: int, d: float, d1: float, d2: float, path: FloatArray, i: int) -> None:
    """Fill point `i` at sample `k` of the line, at an offset with two derivatives over the line's arc length."""
    bend, line_cos, line_sin = line[k, KAPPA], line[k, COS], line[k, SIN]
    scale = max(0.05, 1.0 - bend * d)
    slope = d1 / scale
    cos = 1.0 / sqrt(1.0 + slope * slope)
    sin = slope * cos
    change = line[k, DKAPPA] * d + bend * d1
    path[i, PKAPPA] = ((d2 + change * slope) * cos * cos / scale + bend) * cos / scale
    path[i, PX], path[i, PY] = line[k, X] - d * line_sin, line[k, Y] + d * line_cos
    path[i, PCOS], path[i, PSIN] = line_cos * cos - line_sin * sin, line_sin * cos + line_cos * sin
    path[i, PD], path[i, PTURN] = d, sin


@inlined_kernel
def _lead_over(spec: FloatArray, line: FloatArray, start: FloatArray, first: int, end: int, path: FloatArray) -> None:
    """Put points at the samples from `first` on: from the car's offset to the end offset."""
    s0 = start[START_S]
    c0, c1, c2, c3, c4, c5 = quintic(
        start[START_D], start[START_SLOPE], start[START_BEND], spec[OFFSET], spec[REACHED] - s0
    )
    for k in range(first, end):
        u = line[k, S] - s0
        d = c0 + u * (c1 + u * (c2 + u * (c3 + u * (c4 + u * c5))))
        d1 = c1 + u * (2.0 * c2 + u * (3.0 * c3 + u * (4.0 * c4 + u * 5.0 * c5)))
        d2 = 2.0 * c2 + u * (6.0 * c3 + u * (12.0 * c4 + u * 20.0 * c5))
        _put_point(line, k, d, d1, d2, path, k - first + 1)


@inlined_kernel
def _lead_beside(d: float, line: FloatArray, begin: int, end: int, shift: int, path: FloatArray) -> None:
    """Put points at the samples from `begin` on, at one offset; point i is at sample i + `shift`."""
    for k in range(begin, end):
        i, bend, cos, sin = k - shift, line[k, KAPPA], line[k, COS], line[k, SIN]
        path[i, PKAPPA], path[i, PD], path[i, PTURN] = bend / max(0.05, 1.0 - bend * d), d, 0.0
        path[i, PX], path[i, PY] = line[k, X] - d * sin, line[k, Y] + d * cos
        path[i, PCOS], path[i, PSIN] = cos, sin


@inlined_kernel
def _lead_back(spec: FloatArray, line: FloatArray, begin: int, end: int, shift: int, path: FloatArray) -> None:
    """Put points at the samples from `begin` on: from the end offset back to the line."""
    h = spec[BACK] - spec[LEFT_AGAIN]
    for k in range(begin, end):
        u = (line[k, S] - spec[LEFT_AGAIN]) / h
        d = spec[OFFSET] * (1.0 - u**3 * (10.0 + u * (-15.0 + 6.0 * u)))
        d1 = -spec[OFFSET] * u * u * (30.0 + u * (-60.0 + 30.0 * u)) / h
        d2 = -spec[OFFSET] * u * (60.0 + u * (-180.0 + 120.0 * u)) / (h * h)
        _put_point(line, k, d, d1, d2, path, k - shift)


@inlined_kernel
def _sample_at(line: FloatArray, k: int, n: int, s: float) -> int:
    """The first sample from `k` on that is not before arc length `s`, `n` for none."""
    while k < n and line[k, S] < s:
        k += 1
    return k


@inlined_kernel
def _measure(path: FloatArray, n: int) -> None:
    """Fill `PS`."""
    path[0, PS] = 0.0
    for i in range(1, n):
        dx, dy = path[i, PX] - path[i - 1, PX], path[i, PY] - path[i - 1, PY]
        path[i, PS] = sqrt(dx * dx + dy * dy)
    for i in range(1, n):
        path[i, PS] += path[i - 1, PS]


@inlined_kernel
def sample_path(
    spec: FloatArray,
    line: FloatArray,
    n: int,
    start: FloatArray,
    pose: tuple[float, float, float, float],
    reach: float,
    path: FloatArray,
) -> tuple[int, int]:
    """Fill `path` from the start pose (x, y, heading, curvature) on, with points on the samples of a line, up to
    `reach` m ahead; returns how many, and the sample below the second.

    `PHEADING` is left to `add_headings`, `PROOM` to `blocked_by_static`.
    """
    s0, node = start[START_S], int(start[NODE])
    first = _sample_at(line, node, n - 1, s0 + 0.1)
    path[0, PX], path[0, PY], path[0, PHEADING], path[0, PKAPPA] = pose
    path[0, PSIN], path[0, PCOS] = elementary.sin_cos(pose[2])
    path[0, PD] = start[START_D]
    path[0, PTURN] = path[0, PSIN] * line[node, COS] - path[0, PCOS] * line[node, SIN]
    end = _sample_at(line, first, n, s0 + reach)
    over = min(end, _sample_at(line, first, end, spec[REACHED]))
    left = _sample_at(line, over, end, spec[LEFT_AGAIN])
    back = _sample_at(line, left, end, spec[BACK])
    _lead_over(spec, line, start, first, over, path)
    _lead_beside(spec[OFFSET], line, over, left, first - 1, path)
    _lead_back(spec, line, left, back, first - 1, path)
    _lead_beside(0.0, line, back, end, first - 1, path)
    _measure(path, end - first + 1)
    return end - first + 1, first


@inlined_kernel
def place_body(path: FloatArray, n: int, middle: float, places: FloatArray) -> None:
    """Fill `places` (PLACES, n) with the places of a body whose centre is `middle` (m) before the rear axle."""
    for i in range(n):
        cos, sin = path[i, PCOS], path[i, PSIN]
        places[CX, i], places[CY, i] = path[i, PX] + middle * cos, path[i, PY] + middle * sin
        places[CCOS, i], places[CSIN, i] = cos, sin


@kernel
def add_headings(path: FloatArray, n: int) -> None:
    """Fill `PHEADING`, continuous."""
    for i in range(1, n):
        heading = elementary.atan2(path[i, PSIN], path[i, PCOS])
        path[i, PHEADING] = path[i - 1, PHEADING] + wrap_angle(heading - path[i - 1, PHEADING])


@kernel
def index_at(path: FloatArray, n: int, s: float) -> tuple[int, float]:
    """Point before arc length `s` and the share of the step to the next, clamped to the ends."""
    lo, hi = 0, n - 1
    if n < 2 or s <= 0.0:
        return 0, 0.0
    if s >= path[n - 1, PS]:
        return n - 2, 1.0
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if path[mid, PS] <= s:
            lo = mid
        else:
            hi = mid
    return lo, (s - path[lo, PS]) / (path[hi, PS] - path[lo, PS])


@kernel
def on_path(path: FloatArray, n: int, s: float) -> tuple[float, float, float, float]:
    """x, y, heading, curvature at an arc length, by cubic Hermite interpolation; straight on beyond the last point."""
    if n < 2:
        beyond = max(0.0, s)
        return (
            path[0, PX] + beyond * path[0, PCOS],
            path[0, PY] + beyond * path[0, PSIN],
            path[0, PHEADING],
            path[0, PKAPPA],
        )
    i, u = index_at(path, n, s)
    h = path[i + 1, PS] - path[i, PS]
    a, b = (1.0 + 2.0 * u) * (1.0 - u) ** 2, u * u * (3.0 - 2.0 * u)
    p, q = u * (1.0 - u) ** 2 * h, u * u * (u - 1.0) * h
    x = a * path[i, PX] + b * path[i + 1, PX] + p * path[i, PCOS] + q * path[i + 1, PCOS]
    y = a * path[i, PY] + b * path[i + 1, PY] + p * path[i, PSIN] + q * path[i + 1, PSIN]
    heading = path[i, PHEADING] + u * (path[i + 1, PHEADING] - path[i, PHEADING])
    kappa = path[i, PKAPPA] + u * (path[i + 1, PKAPPA] - path[i, PKAPPA])
    beyond = max(0.0, s - path[n - 1, PS])
    return x + beyond * path[n - 1, PCOS], y + beyond * path[n - 1, PSIN], heading, kappa


@inlined_kernel
def steepest_steering(path: FloatArray, n: int, wheelbase: float, least: float, rate: FloatArray) -> None:
    """Change of the steering angle per metre (absolute) that each point takes part in; what is surely less than `least`
    is taken for none.
    """
    rate[:n] = 0.0
    for i in range(n - 1):
        step = max(0.05, path[i + 1, PS] - path[i, PS])
        if abs(path[i + 1, PKAPPA] - path[i, PKAPPA]) * wheelbase < least * step:
            continue
        kappa = 0.5 * (path[i, PKAPPA] + path[i + 1, PKAPPA]) * wheelbase
        change = abs(path[i + 1, PKAPPA] - path[i, PKAPPA]) * wheelbase / (1.0 + kappa * kappa) / step
        rate[i] = max(rate[i], change)
        rate[i + 1] = max(rate[i + 1], change)
    if n > 0:
        rate[n - 1] = rate[max(0, n - 2)] if n > 1 else 0.0


def new_path(points: int) -> FloatArray:
    """An empty path. Column by column in memory: kernels go along a path with a few of its columns."""
    return np.zeros((points, PATH), order="F")
