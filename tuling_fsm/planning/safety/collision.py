"""Whether a car's outline meets segments: the geometry of the independent check, shared with no planner.

Segments are clipped against the outline in the car's own frame ([liang1984][]).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import kernel

_LEAST_SHRINK_M = 0.05


class FootprintOutline(NamedTuple):
    """Where the car's rear and front are, from the rear axle (m; `rear` is negative), half its width, and by how much
    at a time it is made smaller all round for what it touches from the beginning.
    """

    rear: float
    front: float
    half: float
    shrink: float


class BoxTracks(NamedTuple):
    """N boxes: centres and headings (N, T) at T times, lengths and widths (N,)."""

    x: FloatArray
    y: FloatArray
    heading: FloatArray
    length: FloatArray
    width: FloatArray


@kernel
def shrunk(car: FootprintOutline, by: float) -> FootprintOutline:
    """The outline, smaller all round (m)."""
    return FootprintOutline(car.rear + by, car.front - by, car.half - by, car.shrink)


@kernel
def _shrunk_once(car: FootprintOutline) -> FootprintOutline:
    return shrunk(car, max(car.shrink, _LEAST_SHRINK_M))


@kernel
def _clip(ax: float, ay: float, bx: float, by: float, car: FootprintOutline) -> bool:
    """Whether the segment a to b has a point in the outline."""
    rear, front, half, enter, leave = car.rear, car.front, car.half, 0.0, 1.0
    dx, dy = bx - ax, by - ay
    for step, room in ((-dx, ax - rear), (dx, front - ax), (-dy, ay + half), (dy, half - ay)):
        if step == 0.0:
            if room < 0.0:
                return False
        elif step < 0.0:
            enter = max(enter, room / step)
        else:
            leave = min(leave, room / step)
    return enter <= leave


@kernel
def _meets(pose: FloatArray, ax: float, ay: float, bx: float, by: float, car: FootprintOutline) -> bool:
    s, c = elementary.sin_cos(pose[2])
    ax, ay, bx, by = ax - pose[0], ay - pose[1], bx - pose[0], by - pose[1]
    return bool(_clip(c * ax + s * ay, c * ay - s * ax, c * bx + s * by, c * by - s * bx, car))


@kernel
def meets_segment(pose: FloatArray, segment: FloatArray, car: FootprintOutline) -> bool:
    """Whether the outline of a car at `pose` = x, y, heading meets a segment x0, y0, x1, y1."""
    return bool(_meets(pose, segment[0], segment[1], segment[2], segment[3], car))


@kernel
def _meets_box(
    pose: FloatArray, x: float, y: float, heading: float, length: float, width: float, car: FootprintOutline
) -> bool:
    (s, c), a, b = elementary.sin_cos(heading), 0.5 * length, 0.5 * width
    for along, across in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        # From this corner to the next one, a quarter of a turn on.
        x0, y0 = x + along * a * c - across * b * s, y + along * a * s + across * b * c
        x1, y1 = x - across * a * c - along * b * s, y - across * a * s + along * b * c
        if _meets(pose, x0, y0, x1, y1, car):
            return True
    middle = 0.5 * (car.front + car.rear)
    sine, cosine = elementary.sin_cos(pose[2])
    dx, dy = pose[0] + middle * cosine - x, pose[1] + middle * sine - y
    return bool(abs(c * dx + s * dy) <= a and abs(c * dy - s * dx) <= b)


@kernel
def meets_box(pose: FloatArray, box: FloatArray, car: FootprintOutline) -> bool:
    """The same for a box x, y, heading, length, width: one of its edges, or the whole of either in the other."""
    return bool(_meets_box(pose, box[0], box[1], box[2], box[3], box[4], car))


@kernel
def first_segment_met(poses: FloatArray, segments: FloatArray, car: FootprintOutline) -> tuple[int, int]:
    """First pose (row of N, 3) at which the outline meets a segment (row of M, 4), and which; -1, -1 for none.

    What it meets at the first pose already is judged with an outline so small that it does not, so that it may be left
    but not driven into.
    """
    reach = elementary.hypot(max(car.front, -car.rear), car.half)
    first, which = len(poses), -1
    for m in range(len(segments)):
        segment = segments[m]
        mx, my = 0.5 * (segment[0] + segment[2]), 0.5 * (segment[1] + segment[3])
        far = reach + 0.5 * elementary.hypot(segment[2] - segment[0], segment[3] - segment[1])
        outline = car
        for i in range(min(first, len(poses))):
            dx, dy = poses[i, 0] - mx, poses[i, 1] - my
            if dx * dx + dy * dy > far * far:
                continue
            while i == 0 and outline.half > 0.0 and meets_segment(poses[0], segment, outline):
                outline = _shrunk_once(outline)
            if meets_segment(poses[i], segment, outline):
                if i == 0:
                    break
                first, which = i, m
                break
    return (first, which) if which >= 0 else (-1, -1)


@kernel
def bounds_of(poses: FloatArray) -> tuple[float, float, float, float]:
    """Least and largest x, least and largest y of poses (T, 3)."""
    x0, x1, y0, y1 = np.inf, -np.inf, np.inf, -np.inf
    for i in range(len(poses)):
        x0, x1 = min(x0, poses[i, 0]), max(x1, poses[i, 0])
        y0, y1 = min(y0, poses[i, 1]), max(y1, poses[i, 1])
    return x0, x1, y0, y1


@kernel
def _met_at(
    poses: FloatArray, t: FloatArray, tracks: BoxTracks, n: int, step: float, until: float, car: FootprintOutline
) -> int:
    """Row of the motion at which box `n` is met first, -1 for never."""
    x, y, heading, length, width = tracks.x[n], tracks.y[n], tracks.heading[n], tracks.length[n], tracks.width[n]
    far = elementary.hypot(max(car.front, -car.rear), car.half) + 0.5 * elementary.hypot(length, width)
    outline, last = car, len(x) - 1
    while outline.half > 0.0 and _meets_box(poses[0], x[0], y[0], heading[0], length, width, outline):
        outline = _shrunk_once(outline)
    for i in range(len(poses)):
        if t[i] > until:
            break
        j = min(int(t[i] / step + 1e-9), last)
        u, after = t[i] / step - j, min(j + 1, last)
        bx, by = x[j] + u * (x[after] - x[j]), y[j] + u * (y[after] - y[j])
        dx, dy = bx - poses[i, 0], by - poses[i, 1]
        if dx * dx + dy * dy > far * far:
            continue
        if _meets_box(poses[i], bx, by, heading[j], length, width, outline):
            return i if i > 0 else -1
    return -1


@kernel
def meetings(
    poses: FloatArray,
    t: FloatArray,
    tracks: BoxTracks,
    reach: FloatArray,
    step: float,
    until: float,
    car: FootprintOutline,
    met: IntArray,
) -> int:
    """Fill `met` (N,) with the row of the motion at which each of N boxes is met first, -1 for never; returns how many
    are met.

    The tracks are `step` seconds apart and straight in between; a box farther than `reach` (N,) from all of the motion
    now is not looked at.
    """
    x0, x1, y0, y1 = bounds_of(poses)
    count = 0
    for n in range(len(tracks.x)):
        met[n], far = -1, reach[n]
        if x0 - far <= tracks.x[n, 0] <= x1 + far and y0 - far <= tracks.y[n, 0] <= y1 + far:
            met[n] = _met_at(poses, t, tracks, n, step, until, car)
            count += met[n] >= 0
    return count
