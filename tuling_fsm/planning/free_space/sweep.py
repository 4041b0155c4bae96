"""How far a rectangular car can go on an arc or a line before it touches a segment: exact, for the whole motion, no
samples.

In the frame of the car an obstacle point turns about the centre of the arc, so the first touch of a rectangle and a
segment is either an end of the segment meeting an edge of the car or a corner of the car meeting the segment: circles
cut with lines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from numba import njit

from tuling_fsm.core.geometry import FloatArray

STRAIGHT = 1e-5
"""Curvatures (1/m) below this are swept as lines."""


SWEEP_COLUMNS = 20


class Body(NamedTuple):
    """The car's rectangle about its rear axle, grown by the margin: to the rear, to the front, to each side (m)."""

    rear: float
    front: float
    half: float


class Sweep(NamedTuple):
    """One motion, flipped and mirrored so that it goes toward +x and turns about (0, radius); a line has radius 0.

    `limit` is the angle (rad), on a line the length (m). What it sweeps lies in the wedge between the rays `trail`
    and `lead` from the centre, if that is less than a half turn, and between the squared radii `inner2` and `outer2`.
    `front_left`, `front_right` and `rear_right` are squared radius and angle of the corners that can run into
    something.
    """

    radius: float
    flip: float
    mirror: float
    body: Body
    limit: float
    convex: bool
    lead: tuple[float, float]
    trail: tuple[float, float]
    inner2: float
    outer2: float
    front_left: tuple[float, float]
    front_right: tuple[float, float]
    rear_right: tuple[float, float]


@njit(cache=True, error_model="numpy")
def _corner(x: float, y: float) -> tuple[float, float]:
    """Squared radius and angle of a corner about the centre."""
    return x * x + y * y, math.atan2(y, x)


@njit(cache=True, error_model="numpy")
def make_sweep(curvature: float, gear: int, body: Body, length: float) -> Sweep:
    """The motion of a length (m), at most a quarter turn; the turning radius must be larger than `body.half`."""
    flipped = body if gear > 0 else Body(body.front, body.rear, body.half)
    none = (0.0, 0.0)
    if abs(curvature) < STRAIGHT:
        return Sweep(0.0, float(gear), 1.0, flipped, length, False, none, none, 0.0, 0.0, none, none, none)
    radius, mirror = 1.0 / abs(curvature), math.copysign(1.0, curvature)
    limit = length / radius
    left, right = flipped.half - radius, -flipped.half - radius
    front_left = _corner(flipped.front, left)
    lead, trail = front_left[1] + limit, math.atan2(left, -flipped.rear)
    longest = max(flipped.front, flipped.rear)
    return Sweep(
        radius,
        float(gear),
        mirror,
        flipped,
        limit,
        lead - trail < math.pi,
        (math.cos(lead), math.sin(lead)),
        (math.cos(trail), math.sin(trail)),
        left * left,
        longest * longest + right * right,
        front_left,
        _corner(flipped.front, right),
        _corner(-flipped.rear, right),
    )


@njit(cache=True, error_model="numpy")
def store_sweep(sweep: Sweep, row: FloatArray) -> None:
    """Writes a motion to a row of `SWEEP_COLUMNS` numbers."""
    body = sweep.body
    row[0], row[1], row[2], row[3], row[4], row[5] = (
        sweep.radius,
        sweep.flip,
        sweep.mirror,
        body.rear,
        body.front,
        body.half,
    )
    row[6], row[7], row[8], row[9] = sweep.limit, 1.0 if sweep.convex else 0.0, sweep.inner2, sweep.outer2
    for i, pair in enumerate((sweep.lead, sweep.trail, sweep.front_left, sweep.front_right, sweep.rear_right)):
        row[10 + 2 * i], row[11 + 2 * i] = pair


@njit(cache=True, error_model="numpy")
def load_sweep(row: FloatArray) -> Sweep:
    """The motion that `store_sweep` wrote."""
    return Sweep(
        row[0],
        row[1],
        row[2],
        Body(row[3], row[4], row[5]),
        row[6],
        row[7] > 0.0,
        (row[10], row[11]),
        (row[12], row[13]),
        row[8],
        row[9],
        (row[14], row[15]),
        (row[16], row[17]),
        (row[18], row[19]),
    )


@njit(cache=True, error_model="numpy")
def touches(x0: float, y0: float, x1: float, y1: float, body: Body) -> bool:
    """Whether a segment in the frame of the car touches the rectangle (separating axes)."""
    if max(x0, x1) < -body.rear or min(x0, x1) > body.front or max(y0, y1) < -body.half or min(y0, y1) > body.half:
        return False
    dx, dy = x1 - x0, y1 - y0
    middle, long = 0.5 * (body.front - body.rear), 0.5 * (body.front + body.rear)
    return abs(dx * -y0 - dy * (middle - x0)) <= abs(dy) * long + abs(dx) * body.half


@njit(cache=True, error_model="numpy")
def _line_contact(x0: float, y0: float, x1: float, y1: float, body: Body, limit: float) -> float:
    """Length that the car can go along +x before it touches the segment, at most `limit` (m)."""
    if max(x0, x1) < -body.rear or min(x0, x1) > body.front + limit:
        return limit
    if max(y0, y1) < -body.half or min(y0, y1) > body.half:
        return limit
    if y0 > y1:
        x0, y0, x1, y1 = x1, y1, x0, y0
    xa, xb = x0, x1
    if y0 < -body.half:
        xa = x0 + (x1 - x0) * (-body.half - y0) / (y1 - y0)
    if y1 > body.half:
        xb = x0 + (x1 - x0) * (body.half - y0) / (y1 - y0)
    if max(xa, xb) < -body.rear:
        return limit
    return min(limit, max(0.0, min(xa, xb) - body.front))


@njit(cache=True, error_model="numpy")
def _turn(angle: float) -> float:
    """The angle in [0, 2 pi), where what has just been passed by rounding counts as reached."""
    if angle < -1e-9:
        angle += 2.0 * math.pi
    return max(angle, 0.0)


@njit(cache=True, error_model="numpy")
def _point_contact(x: float, y: float, sweep: Sweep, limit: float) -> float:
    """Angle that the car can turn before a point enters it through its front, inner or outer side."""
    radius, body = sweep.radius, sweep.body
    inner2 = x * x + (y - body.half) * (y + body.half - 2.0 * radius)
    if inner2 < 0.0:
        return limit
    outer2 = x * x + (y + body.half) * (y - body.half - 2.0 * radius)
    front2 = (radius - y) * (radius - y) + x * x - body.front * body.front
    by_side = inner2 <= body.front * body.front
    by_front = not by_side and front2 <= (radius + body.half) * (radius + body.half)
    by_tail = 0.0 <= outer2 <= body.rear * body.rear
    if not (by_side or by_front or by_tail):
        return limit
    alpha = math.atan2(y - radius, x)
    if by_side:
        limit = min(limit, _turn(alpha - math.atan2(body.half - radius, math.sqrt(inner2))))
    if by_front:
        limit = min(limit, _turn(alpha - math.atan2(-math.sqrt(front2), body.front)))
    if by_tail:
        limit = min(limit, _turn(alpha - math.atan2(-radius - body.half, -math.sqrt(outer2))))
    return limit


@njit(cache=True, error_model="numpy")
def _outside(x0: float, y0: float, x1: float, y1: float, sweep: Sweep) -> bool:
    """Whether both ends (from the centre) lie on the far side of one bound of what is swept."""
    if max(x0 * x0 + y0 * y0, x1 * x1 + y1 * y1) < sweep.inner2:
        return True
    if not sweep.convex:
        return False
    lead, trail = sweep.lead, sweep.trail
    if lead[0] * y0 - lead[1] * x0 > 0.0 and lead[0] * y1 - lead[1] * x1 > 0.0:
        return True
    return trail[0] * y0 - trail[1] * x0 < 0.0 and trail[0] * y1 - trail[1] * x1 < 0.0


@njit(cache=True, error_model="numpy")
def _arc_contact(x0: float, y0: float, x1: float, y1: float, sweep: Sweep, limit: float) -> float:
    """Angle that the car can turn before it touches the segment, at most `limit` (rad)."""
    ay, by = y0 - sweep.radius, y1 - sweep.radius
    if _outside(x0, ay, x1, by, sweep):
        return limit
    dx, dy = x1 - x0, y1 - y0
    length2 = dx * dx + dy * dy
    cross, dot = x0 * dy - ay * dx, -(x0 * dx + ay * dy)
    if cross * cross > sweep.outer2 * length2:
        return limit
    if (dot < 0.0 and x0 * x0 + ay * ay > sweep.outer2) or (dot > length2 and x1 * x1 + by * by > sweep.outer2):
        return limit
    if touches(x0, y0, x1, y1, sweep.body):
        return 0.0
    limit = min(_point_contact(x0, y0, sweep, limit), _point_contact(x1, y1, sweep, limit))
    if length2 == 0.0:
        return limit
    foot, distance2 = dot / length2, cross * cross / length2
    for corner in (sweep.front_left, sweep.front_right, sweep.rear_right):
        if corner[0] < distance2:
            continue
        chord = math.sqrt((corner[0] - distance2) / length2)
        for u in (foot - chord, foot + chord):
            if 0.0 <= u <= 1.0:
                limit = min(limit, _turn(math.atan2(ay + u * dy, x0 + u * dx) - corner[1]))
    return limit


@njit(cache=True, error_model="numpy")
def contact(x0: float, y0: float, x1: float, y1: float, sweep: Sweep, limit: float) -> float:
    """Angle (rad), on a line length (m), that stays clear of a segment in the frame of the car; at most `limit`."""
    x0, x1 = sweep.flip * x0, sweep.flip * x1
    free: float
    if sweep.radius == 0.0:
        free = _line_contact(x0, y0, x1, y1, sweep.body, limit)
    else:
        free = _arc_contact(x0, sweep.mirror * y0, x1, sweep.mirror * y1, sweep, limit)
    return free


@njit(cache=True, error_model="numpy")
def advance(x: float, y: float, heading: float, curvature: float, signed: float) -> tuple[float, float, float]:
    """The pose after a signed length (m, negative in reverse) on an arc or a line."""
    turned = curvature * signed
    half = 0.5 * turned
    chord = signed if abs(half) < 1e-9 else signed * math.sin(half) / half
    return x + chord * math.cos(heading + half), y + chord * math.sin(heading + half), heading + turned
