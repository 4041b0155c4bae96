"""How far a rectangular car can go on an arc or a line among segments: exact, for the whole motion, no samples.

In the frame of the car an obstacle point turns about the centre of the arc, so the first touch of a rectangle and a
segment is either an end of the segment meeting an edge of the car or a corner of the car meeting the segment: circles
cut with lines.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.cells import by_cell
from tuling_fsm.core.kernels import array_kernel, kernel

STRAIGHT = 1e-5
"""Curvatures (1/m) below this are swept as lines."""
ROUNDING = 1e-9
"""Sine of what may have been passed by rounding."""
SWEEP_COLUMNS = 14


class InflatedFootprint(NamedTuple):
    """The car's rectangle about its rear axle, grown by the margin: to the rear, to the front, to each side (m)."""

    rear: float
    front: float
    half: float


class SweptMotion(NamedTuple):
    """One motion, flipped and mirrored so that it goes toward +x and turns about (0, radius); a line has radius 0.

    `limit` is the sine of the angle, on a line the length (m). What it sweeps lies in the wedge between the rays
    `trail` and `lead` from the centre, if that is less than a half turn, and between the squared radii `inner2` and
    `outer2`.
    """

    radius: float
    flip: float
    mirror: float
    body: InflatedFootprint
    limit: float
    convex: bool
    lead: tuple[float, float]
    trail: tuple[float, float]
    inner2: float
    outer2: float


@kernel
def make_sweep(curvature: float, gear: int, body: InflatedFootprint, length: float) -> SweptMotion:
    """The motion of a length (m), less than a quarter turn; the turning radius must be larger than `body.half`."""
    flipped = body if gear > 0 else InflatedFootprint(body.front, body.rear, body.half)
    none = (0.0, 0.0)
    if abs(curvature) < STRAIGHT:
        return SweptMotion(0.0, float(gear), 1.0, flipped, length, False, none, none, 0.0, 0.0)
    radius, mirror = 1.0 / abs(curvature), math.copysign(1.0, curvature)
    left, right = flipped.half - radius, -flipped.half - radius
    s, c = elementary.sin_cos(length / radius)
    lead = (c * flipped.front - s * left, s * flipped.front + c * left)
    trail = (-flipped.rear, left)
    longest = max(flipped.front, flipped.rear)
    return SweptMotion(
        radius,
        float(gear),
        mirror,
        flipped,
        s,
        trail[0] * lead[1] - trail[1] * lead[0] > 0.0,
        lead,
        trail,
        left * left,
        longest * longest + right * right,
    )


@kernel
def store_sweep(sweep: SweptMotion, row: FloatArray) -> None:
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
    row[10], row[11] = sweep.lead
    row[12], row[13] = sweep.trail


@kernel
def load_sweep(row: FloatArray) -> SweptMotion:
    """The motion that `store_sweep` wrote."""
    return SweptMotion(
        row[0],
        row[1],
        row[2],
        InflatedFootprint(row[3], row[4], row[5]),
        row[6],
        row[7] > 0.0,
        (row[10], row[11]),
        (row[12], row[13]),
        row[8],
        row[9],
    )


@kernel
def touches(x0: float, y0: float, x1: float, y1: float, body: InflatedFootprint) -> bool:
    """Whether a segment in the frame of the car touches the rectangle (separating axes)."""
    if max(x0, x1) < -body.rear or min(x0, x1) > body.front or max(y0, y1) < -body.half or min(y0, y1) > body.half:
        return False
    dx, dy = x1 - x0, y1 - y0
    middle, long = 0.5 * (body.front - body.rear), 0.5 * (body.front + body.rear)
    return abs(dx * -y0 - dy * (middle - x0)) <= abs(dy) * long + abs(dx) * body.half


@kernel
def _line_contact(x0: float, y0: float, x1: float, y1: float, body: InflatedFootprint, limit: float) -> float:
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


@kernel
def _turned(ax: float, ay: float, bx: float, by: float, limit: float) -> float:
    """Sine of the turn from point a to point b, both equally far from the centre, if it is less than `limit`, or that.

    What has just been passed by rounding counts as reached; what lies more than a quarter turn ahead is not.
    """
    cross, radius2 = ax * by - ay * bx, bx * bx + by * by
    if cross < -ROUNDING * radius2 or cross >= limit * radius2 or ax * bx + ay * by <= 0.0:
        return limit
    return max(0.0, cross / radius2)


@kernel
def _point_contact(x: float, y: float, sweep: SweptMotion, limit: float) -> float:
    """Sine of the turn of the car until a point enters it through its front, inner or outer side, at most `limit`."""
    radius, body = sweep.radius, sweep.body
    inner2 = x * x + (y - body.half) * (y + body.half - 2.0 * radius)
    if inner2 < 0.0:
        return limit
    outer2 = x * x + (y + body.half) * (y - body.half - 2.0 * radius)
    y -= radius
    front2 = y * y + x * x - body.front * body.front
    if inner2 <= body.front * body.front:
        limit = _turned(math.sqrt(inner2), body.half - radius, x, y, limit)
    elif front2 <= (radius + body.half) * (radius + body.half):
        limit = _turned(body.front, -math.sqrt(front2), x, y, limit)
    if 0.0 <= outer2 <= body.rear * body.rear:
        limit = _turned(-math.sqrt(outer2), -body.half - radius, x, y, limit)
    return limit


@kernel
def _outside(x0: float, y0: float, x1: float, y1: float, sweep: SweptMotion) -> bool:
    """Whether both ends (from the centre) lie on the far side of one bound of what is swept."""
    if max(x0 * x0 + y0 * y0, x1 * x1 + y1 * y1) < sweep.inner2:
        return True
    if not sweep.convex:
        return False
    lead, trail = sweep.lead, sweep.trail
    if lead[0] * y0 - lead[1] * x0 > 0.0 and lead[0] * y1 - lead[1] * x1 > 0.0:
        return True
    return trail[0] * y0 - trail[1] * x0 < 0.0 and trail[0] * y1 - trail[1] * x1 < 0.0


@kernel
def _corner_contact(
    cx: float, cy: float, x: float, y: float, dx: float, dy: float, foot: float, distance2: float, limit: float
) -> float:
    """Sine of the turn of a corner (cx, cy) until it meets the segment from (x, y) along (dx, dy), at most `limit`.

    `foot` is where along the segment its line is nearest to the centre, at the squared distance `distance2`.
    """
    over = cx * cx + cy * cy - distance2
    if over < 0.0:
        return limit
    chord = math.sqrt(over / (dx * dx + dy * dy))
    for u in (foot - chord, foot + chord):
        if 0.0 <= u <= 1.0:
            limit = _turned(cx, cy, x + u * dx, y + u * dy, limit)
    return limit


@kernel
def _arc_contact(x0: float, y0: float, x1: float, y1: float, sweep: SweptMotion, limit: float) -> float:
    """Sine of the angle that the car can turn before it touches the segment, at most `limit`."""
    ay, by, body = y0 - sweep.radius, y1 - sweep.radius, sweep.body
    if _outside(x0, ay, x1, by, sweep):
        return limit
    dx, dy = x1 - x0, y1 - y0
    length2 = dx * dx + dy * dy
    cross, dot = x0 * dy - ay * dx, -(x0 * dx + ay * dy)
    if cross * cross > sweep.outer2 * length2:
        return limit
    if (dot < 0.0 and x0 * x0 + ay * ay > sweep.outer2) or (dot > length2 and x1 * x1 + by * by > sweep.outer2):
        return limit
    if touches(x0, y0, x1, y1, body):
        return 0.0
    limit = _point_contact(x1, y1, sweep, _point_contact(x0, y0, sweep, limit))
    if length2 == 0.0:
        return limit
    foot, distance2 = dot / length2, cross * cross / length2
    left, right = body.half - sweep.radius, -body.half - sweep.radius
    limit = _corner_contact(
        cx=body.front, cy=left, x=x0, y=ay, dx=dx, dy=dy, foot=foot, distance2=distance2, limit=limit
    )
    limit = _corner_contact(
        cx=body.front, cy=right, x=x0, y=ay, dx=dx, dy=dy, foot=foot, distance2=distance2, limit=limit
    )
    return _corner_contact(
        cx=-body.rear, cy=right, x=x0, y=ay, dx=dx, dy=dy, foot=foot, distance2=distance2, limit=limit
    )


@kernel
def contact(x0: float, y0: float, x1: float, y1: float, sweep: SweptMotion, limit: float) -> float:
    """Sine of the angle, on a line length (m), that stays clear of a segment in the frame of the car; at most
    `limit`.
    """
    x0, x1 = sweep.flip * x0, sweep.flip * x1
    free: float
    if sweep.radius == 0.0:
        free = _line_contact(x0, y0, x1, y1, sweep.body, limit)
    else:
        free = _arc_contact(x0, sweep.mirror * y0, x1, sweep.mirror * y1, sweep, limit)
    return free


@kernel
def length_of(sweep: SweptMotion, free: float) -> float:
    """Length (m) of what `contact` leaves of a motion."""
    return free if sweep.radius == 0.0 else sweep.radius * elementary.asin(free)


@kernel
def advance(x: float, y: float, heading: float, curvature: float, signed: float) -> tuple[float, float, float]:
    """The pose after a signed length (m, negative in reverse) on an arc or a line."""
    turned = curvature * signed
    half = 0.5 * turned
    chord = signed if abs(half) < 1e-9 else signed * elementary.sin(half) / half
    sine, cosine = elementary.sin_cos(heading + half)
    return x + chord * cosine, y + chord * sine, heading + turned


CHUNK = 4.0
"""Length (m) of a sweep that is looked up in the bins at once."""
CELL = 2.0
"""Edge of a cell, m."""


class SegmentGrid(NamedTuple):
    """Segments (M, 4) = x0, y0, x1, y1 (m); `member[first[k]:first[k + 1]]` are those that cross cell k = row * nx +
    column.

    `mark` (M,) and `tick` (1,) tell which segments were met in the present query; `near` (M, 4) holds what a query
    found.
    """

    segments: FloatArray
    first: IntArray
    member: IntArray
    mark: IntArray
    tick: IntArray
    near: FloatArray
    x0: float
    y0: float
    nx: int
    ny: int


@kernel
def _columns(segment: FloatArray, row: int, x0: float, y0: float, nx: int) -> tuple[int, int]:
    """First and last column of the cells of a row that a segment crosses."""
    ax, ay = (segment[0] - x0) / CELL, (segment[1] - y0) / CELL
    bx, by = (segment[2] - x0) / CELL, (segment[3] - y0) / CELL
    xa, xb = ax, bx
    if ay != by:
        u, v = (row - ay) / (by - ay), (row + 1 - ay) / (by - ay)
        xa = ax + (bx - ax) * min(1.0, max(0.0, u))
        xb = ax + (bx - ax) * min(1.0, max(0.0, v))
    return max(0, math.floor(min(xa, xb) - 1e-9)), min(nx - 1, math.floor(max(xa, xb) + 1e-9))


@kernel
def _rows(segment: FloatArray, y0: float, ny: int) -> tuple[int, int]:
    """First and last row of the cells that a segment crosses."""
    lo, hi = min(segment[1], segment[3]), max(segment[1], segment[3])
    return max(0, math.floor((lo - y0) / CELL - 1e-9)), min(ny - 1, math.floor((hi - y0) / CELL + 1e-9))


@array_kernel
def bin_segments(segments: FloatArray, x0: float, y0: float, x1: float, y1: float) -> SegmentGrid:
    """Bins what lies in the box (x0, y0) to (x1, y1); what lies outside it is met by no query."""
    nx, ny = max(1, math.ceil((x1 - x0) / CELL)), max(1, math.ceil((y1 - y0) / CELL))
    count = 0
    for m in range(len(segments)):
        j0, j1 = _rows(segments[m], y0, ny)
        for j in range(j0, j1 + 1):
            i0, i1 = _columns(segments[m], j, x0, y0, nx)
            count += max(0, i1 - i0 + 1)
    cell, crossing = np.empty(count, np.int64), np.empty(count, np.int64)
    count = 0
    for m in range(len(segments)):
        j0, j1 = _rows(segments[m], y0, ny)
        for j in range(j0, j1 + 1):
            i0, i1 = _columns(segments[m], j, x0, y0, nx)
            for i in range(i0, i1 + 1):
                cell[count], crossing[count] = j * nx + i, m
                count += 1
    first, order = by_cell(cell, nx * ny)
    member = crossing[order]
    mark, tick = np.zeros(len(segments), np.int64), np.zeros(1, np.int64)
    return SegmentGrid(segments, first, member, mark, tick, np.empty((len(segments), 4)), x0, y0, nx, ny)


@kernel
def gather(walls: SegmentGrid, x: float, y: float, heading: float, xa: float, ya: float, xb: float, yb: float) -> int:
    """Writes segments near the box (xa, ya) to (xb, yb) to `near`, in the frame of the pose; their number."""
    walls.tick[0] += 1
    tick, n = walls.tick[0], 0
    s, c = elementary.sin_cos(heading)
    i0 = max(0, math.floor((xa - walls.x0) / CELL))
    i1 = min(walls.nx - 1, math.floor((xb - walls.x0) / CELL))
    j0 = max(0, math.floor((ya - walls.y0) / CELL))
    j1 = min(walls.ny - 1, math.floor((yb - walls.y0) / CELL))
    if i1 < i0:
        return 0
    for j in range(j0, j1 + 1):
        for k in range(walls.first[j * walls.nx + i0], walls.first[j * walls.nx + i1 + 1]):
            m = walls.member[k]
            if walls.mark[m] == tick:
                continue
            walls.mark[m] = tick
            x0, y0, x1, y1 = walls.segments[m, 0], walls.segments[m, 1], walls.segments[m, 2], walls.segments[m, 3]
            if max(x0, x1) < xa or min(x0, x1) > xb or max(y0, y1) < ya or min(y0, y1) > yb:
                continue
            walls.near[n, 0] = c * (x0 - x) + s * (y0 - y)
            walls.near[n, 1] = c * (y0 - y) - s * (x0 - x)
            walls.near[n, 2] = c * (x1 - x) + s * (y1 - y)
            walls.near[n, 3] = c * (y1 - y) - s * (x1 - x)
            n += 1
    return n


@kernel
def gather_round(walls: SegmentGrid, body: InflatedFootprint, x: float, y: float, heading: float, reach: float) -> int:
    """`gather` of all that the car can touch within `reach` (m) of travel."""
    middle = 0.5 * (body.front - body.rear)
    r = elementary.hypot(0.5 * (body.front + body.rear), body.half) + reach
    sine, cosine = elementary.sin_cos(heading)
    cx, cy = x + middle * cosine, y + middle * sine
    count: int = gather(walls, x, y, heading, xa=cx - r, ya=cy - r, xb=cx + r, yb=cy + r)
    return count


@kernel
def occupied(walls: SegmentGrid, body: InflatedFootprint, x: float, y: float, heading: float) -> bool:
    """Whether the rectangle at the pose touches a segment."""
    hit = False
    for i in range(gather_round(walls, body, x, y, heading, 0.0)):
        hit = hit or touches(walls.near[i, 0], walls.near[i, 1], walls.near[i, 2], walls.near[i, 3], body)
    return hit


@kernel
def free_of_near(walls: SegmentGrid, n: int, sweep: SweptMotion) -> float:
    """Length (m) of a motion that the first `n` of `near` leave free."""
    free = sweep.limit
    for i in range(n):
        free = contact(walls.near[i, 0], walls.near[i, 1], walls.near[i, 2], walls.near[i, 3], sweep, free)
        if free <= 0.0:
            return 0.0
    return length_of(sweep, free)


@kernel
def free_length(
    walls: SegmentGrid,
    body: InflatedFootprint,
    x: float,
    y: float,
    heading: float,
    curvature: float,
    gear: int,
    limit: float,
) -> float:
    """Length (m) that the car can go with one steering and gear before it touches anything; at most `limit`."""
    chunk = CHUNK if abs(curvature) < STRAIGHT else min(CHUNK, 1.4 / abs(curvature))
    middle = 0.5 * (body.front - body.rear)
    r = elementary.hypot(0.5 * (body.front + body.rear), body.half)
    chunks = max(1, math.ceil(limit / chunk))
    step = limit / chunks
    sweep = make_sweep(curvature, gear, body, step)
    grown = r + 0.125 * abs(curvature) * step * step * (1.0 + abs(curvature * middle))
    for i in range(chunks):
        xe, ye, he = advance(x, y, heading, curvature, gear * step)
        sine, cosine = elementary.sin_cos(heading)
        cx, cy = x + middle * cosine, y + middle * sine
        s, c = elementary.sin_cos(he)
        ex, ey = xe + middle * c, ye + middle * s
        xa, ya, xb, yb = min(cx, ex) - grown, min(cy, ey) - grown, max(cx, ex) + grown, max(cy, ey) + grown
        n = gather(walls, x, y, heading, xa=xa, ya=ya, xb=xb, yb=yb)
        free: float = free_of_near(walls, n, sweep)
        if free < step * (1.0 - 1e-12):
            return i * step + free
        x, y, heading = xe, ye, he
    return limit
