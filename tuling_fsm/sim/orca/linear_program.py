"""The three linear programs: a velocity inside half-planes and the disc of the greatest speed.

A half-plane lies to the left of its line through (px, py) along the unit vector (dx, dy), in velocity space (m/s).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import inlined_kernel, kernel, sqrt

EPSILON = 1e-5
"""Lines whose directions have a smaller determinant than this are parallel."""


class HalfPlanes(NamedTuple):
    """Room for half-planes, arrays (M,)."""

    px: FloatArray
    py: FloatArray
    dx: FloatArray
    dy: FloatArray


def new_lines(count: int) -> HalfPlanes:
    """Room for so many."""
    return HalfPlanes(np.empty(count), np.empty(count), np.empty(count), np.empty(count))


@inlined_kernel
def unit(x: float, y: float, other_x: float, other_y: float) -> tuple[float, float, float]:
    """A vector's direction and length; a direction without length is the other one."""
    length = sqrt(x * x + y * y)
    if length > 0.0:
        return x / length, y / length, length
    return other_x, other_y, length


@inlined_kernel
def _depth(lines: HalfPlanes, i: int, x: float, y: float) -> float:
    """How far a velocity is outside half-plane `i`, m/s; negative inside."""
    return float(lines.dx[i] * (lines.py[i] - y) - lines.dy[i] * (lines.px[i] - x))


@kernel
def on_line(
    lines: HalfPlanes, number: int, radius: float, preferred_vx: float, preferred_vy: float, by_direction: bool
) -> tuple[bool, float, float]:
    """Linear program 1: the best velocity on line `number` inside those before it and the disc; False if there
    is none.
    """
    px, py, dx, dy = lines.px[number], lines.py[number], lines.dx[number], lines.dy[number]
    middle = px * dx + py * dy
    inside = middle * middle + radius * radius - (px * px + py * py)
    if inside < 0.0:
        return False, 0.0, 0.0
    half = sqrt(inside)
    low, high = -middle - half, half - middle
    for i in range(number):
        across = dx * lines.dy[i] - dy * lines.dx[i]
        off = lines.dx[i] * (py - lines.py[i]) - lines.dy[i] * (px - lines.px[i])
        if abs(across) <= EPSILON:
            if off < 0.0:
                return False, 0.0, 0.0
            continue
        t = off / across
        if across >= 0.0:
            high = min(high, t)
        else:
            low = max(low, t)
        if low > high:
            return False, 0.0, 0.0
    if by_direction:
        t = high if preferred_vx * dx + preferred_vy * dy > 0.0 else low
    else:
        t = min(max(dx * (preferred_vx - px) + dy * (preferred_vy - py), low), high)
    return True, px + t * dx, py + t * dy


@kernel
def in_all(
    lines: HalfPlanes, count: int, radius: float, preferred_vx: float, preferred_vy: float, by_direction: bool
) -> tuple[int, float, float]:
    """Linear program 2: the velocity next to the wished one, or the farthest in the direction of a unit vector. Returns
    how many lines it satisfies before the first that it cannot, and the velocity.
    """
    if by_direction:
        x, y = preferred_vx * radius, preferred_vy * radius
    else:
        speed_sq = preferred_vx * preferred_vx + preferred_vy * preferred_vy
        scale = radius / sqrt(speed_sq) if speed_sq > radius * radius else 1.0
        x, y = preferred_vx * scale, preferred_vy * scale
    for i in range(count):
        if _depth(lines, i, x, y) > 0.0:
            found, new_x, new_y = on_line(lines, i, radius, preferred_vx, preferred_vy, by_direction)
            if not found:
                return i, x, y
            x, y = new_x, new_y
    return count, x, y


@inlined_kernel
def _add_no_deeper(lines: HalfPlanes, fixed: int, i: int, weight: float, room: HalfPlanes) -> int:
    """Put into `room`, behind its `fixed` lines, for each line from there to `i` the half-plane of the velocities that
    go into it no deeper than into `i`. Returns how many lines `room` holds then.
    """
    px, py, dx, dy = lines.px[i], lines.py[i], lines.dx[i], lines.dy[i]
    used = fixed
    for j in range(fixed, i):
        jx, jy = lines.dx[j], lines.dy[j]
        across = dx * jy - dy * jx
        if abs(across) <= EPSILON:
            if dx * jx + dy * jy > 0.0:
                continue
            room.px[used], room.py[used] = 0.5 * (px + lines.px[j]), 0.5 * (py + lines.py[j])
        else:
            t = (jx * (py - lines.py[j]) - jy * (px - lines.px[j])) / across
            room.px[used], room.py[used] = px + t * dx, py + t * dy
        turned_x, turned_y = weight * jx - dx, weight * jy - dy
        length = sqrt(turned_x * turned_x + turned_y * turned_y)
        room.dx[used], room.dy[used] = turned_x / length, turned_y / length
        used += 1
    return used


@kernel
def least_bad(
    lines: HalfPlanes,
    count: int,
    fixed: int,
    first: int,
    radius: float,
    weight: float,
    x: float,
    y: float,
    room: HalfPlanes,
) -> tuple[float, float]:
    """Linear program 3: where there is no such velocity, the one that goes least deep into the lines after the `fixed`
    ones of obstacles, which hold.

    Args:
        lines: the half-planes.
        count: how many there are.
        fixed: how many of them belong to obstacles; they come first.
        first: the line that could not be satisfied.
        radius: greatest speed, m/s.
        weight: how far a line is turned towards the one that is gone into deepest; 1 halves the angle.
        x: velocity so far, m/s.
        y: as `x`.
        room: space for as many lines.
    """
    deepest = 0.0
    for k in range(fixed):
        room.px[k], room.py[k], room.dx[k], room.dy[k] = lines.px[k], lines.py[k], lines.dx[k], lines.dy[k]
    for i in range(first, count):
        if _depth(lines, i, x, y) <= deepest:
            continue
        used = _add_no_deeper(lines, fixed, i, weight, room)
        satisfied, new_x, new_y = in_all(room, used, radius, -lines.dy[i], lines.dx[i], True)
        if satisfied == used:
            x, y = new_x, new_y
        deepest = _depth(lines, i, x, y)
    return x, y
