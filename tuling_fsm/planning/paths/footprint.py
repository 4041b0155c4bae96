"""The car's body as a rectangle: against other rectangles, and between the bounds of a lane.

Boxes are rows x, y, cos, sin, half length, half width of the centre (m, `map`); a segment is a box of half width 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel
from tuling_fsm.core.rectangles import Rectangle, rectangle, rectangles_apart
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.planning.paths.reference_line import (
    COS,
    KAPPA,
    LEFT,
    LEFT_NEAR,
    LEFT_OFF,
    LEFT_ROAD,
    NEED,
    RIGHT,
    RIGHT_NEAR,
    RIGHT_OFF,
    RIGHT_ROAD,
    SIN,
    S,
    X,
    Y,
    offset_at,
    walk,
)

_BESIDE_REFERENCE = 0.1
"""Where a car on the reference line has to leave the road, one that follows it may be this far beside it (m)."""


class Footprint(NamedTuple):
    """Distances (m) from the rear axle (`front`, `rear`, `middle` = to the body's centre) and half sizes."""

    front: float
    rear: float
    middle: float
    half_length: float
    half_width: float

    @classmethod
    def of(cls, vehicle: Vehicle) -> Footprint:
        """The body of a vehicle."""
        middle = 0.5 * (vehicle.front - vehicle.rear_overhang)
        return cls(vehicle.front, vehicle.rear_overhang, middle, 0.5 * vehicle.length, 0.5 * vehicle.width)


@kernel
def body_separation(x: float, y: float, cos: float, sin: float, body: Footprint, box: FloatArray) -> float:
    """`rectangles_apart` of the car with its rear axle at x, y and a box."""
    cx, cy = x + body.middle * cos, y + body.middle * sin
    return float(rectangles_apart(Rectangle(cx, cy, cos, sin, body.half_length, body.half_width), rectangle(box)))


@kernel
def over_bounds(
    line: FloatArray,
    n: int,
    k: int,
    x: float,
    y: float,
    cos: float,
    sin: float,
    body: Footprint,
    left_bound: int = LEFT,
    right_bound: int = RIGHT,
) -> tuple[float, float]:
    """How far (m) the body reaches over the left and the right bound, two columns of the line; negative when it is
    inside. `k` is a sample near the axle.
    """
    step = max(1e-3, line[min(k + 1, n - 1), S] - line[max(k - 1, 0), S]) * 0.5
    left, right = -np.inf, -np.inf
    for along in (body.front, 0.5 * body.front, 0.0, -body.rear):
        hint = k + int(along / step)
        for side in (1.0, -1.0):
            across = side * body.half_width
            px, py = x + along * cos - across * sin, y + along * sin + across * cos
            at = walk(line, n, hint, px, py)
            d = offset_at(line, at, px, py)
            if side > 0.0:
                left = max(left, d - line[at, left_bound])
            else:
                right = max(right, line[at, right_bound] - d)
    return left, right


@kernel
def prepare_bounds(line: FloatArray, n: int, body: Footprint) -> None:
    """Fill `LEFT_NEAR`/`RIGHT_NEAR` (a body axis-parallel at this sample and inside these is inside the bounds) and
    `NEED`, `LEFT_OFF` and `RIGHT_OFF`.
    """
    step = line[1, S] - line[0, S]
    line[:n, NEED], line[:n, LEFT_OFF], line[:n, RIGHT_OFF] = 0.0, 0.0, 0.0
    back, ahead = int(body.rear / step) + 2, int(body.front / step) + 3
    for k in range(n):
        left, right, kappa = np.inf, -np.inf, 0.0
        for i in range(max(0, k - back), min(n, k + ahead + 1)):
            left, right = min(left, line[i, LEFT]), max(right, line[i, RIGHT])
            kappa = max(kappa, abs(line[i, KAPPA]))
        swing = 0.6 * kappa * body.front * body.front
        line[k, LEFT_NEAR], line[k, RIGHT_NEAR] = left - swing, right + swing
        if line[k, LEFT_NEAR] < body.half_width or line[k, RIGHT_NEAR] > -body.half_width:
            x, y, cos, sin = line[k, X], line[k, Y], line[k, COS], line[k, SIN]
            over = over_bounds(line, n, k, x, y, cos, sin, body)
            off = over_bounds(line, n, k, x, y, cos, sin, body, left_bound=LEFT_ROAD, right_bound=RIGHT_ROAD)
            for i in range(max(0, k - back), min(n, k + back + 1)):
                line[i, NEED] = max(line[i, NEED], over[0], over[1])
                for side, column in enumerate((LEFT_OFF, RIGHT_OFF)):
                    if off[side] > 0.0:
                        line[i, column] = max(line[i, column], off[side] + _BESIDE_REFERENCE)


@inlined_kernel
def within_bounds(
    line: FloatArray,
    n: int,
    k: int,
    offset: float,
    turn: float,
    x: float,
    y: float,
    cos: float,
    sin: float,
    body: Footprint,
) -> tuple[float, float]:
    """`over_bounds`, or (-1, -1) where a glance shows that the body is inside; `turn` is the sine of its angle to the
    line.
    """
    to_left = offset + body.half_width + max(turn * body.front, -turn * body.rear)
    to_right = offset - body.half_width + min(turn * body.front, -turn * body.rear)
    if to_left < line[k, LEFT_NEAR] and to_right > line[k, RIGHT_NEAR]:
        return -1.0, -1.0
    left, right = over_bounds(line, n, k, x, y, cos, sin, body)
    return float(left), float(right)


@kernel
def nearest(line: FloatArray, lo: int, hi: int, x: float, y: float) -> int:
    """The sample from `lo` to `hi - 1` nearest to a point."""
    best, found = math.inf, lo
    for k in range(lo, hi):
        d2 = (x - line[k, X]) ** 2 + (y - line[k, Y]) ** 2
        if d2 < best:
            best, found = d2, k
    return found
