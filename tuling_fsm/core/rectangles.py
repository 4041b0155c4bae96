"""Rectangles: how far they are apart, and which parts of segments lie in one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.geometry import Pose, to_local
from tuling_fsm.core.kernels import inlined_kernel, kernel

Box = tuple[float, float, float, float]
"""x0, x1, y0, y1 in the frame of a pose, m."""
FLAT = 1e-12
"""What reaches less far (m) along a side of a box is in it as a whole or not at all."""


class Rectangle(NamedTuple):
    """Centre (m), direction and half sizes (m)."""

    x: float
    y: float
    cos: float
    sin: float
    half_length: float
    half_width: float


@inlined_kernel
def rectangles_apart(a: Rectangle, b: Rectangle) -> float:
    """Largest gap (m) over the four axes that can separate two rectangles ([gottschalk1996][]).

    Positive: apart, and never more than their distance. Negative: they overlap, and this far one must move to part.
    """
    dx, dy = b.x - a.x, b.y - a.y
    c, s = abs(a.cos * b.cos + a.sin * b.sin), abs(a.cos * b.sin - a.sin * b.cos)
    a_along = abs(dx * a.cos + dy * a.sin) - a.half_length - b.half_length * c - b.half_width * s
    a_across = abs(dy * a.cos - dx * a.sin) - a.half_width - b.half_length * s - b.half_width * c
    b_along = abs(dx * b.cos + dy * b.sin) - b.half_length - a.half_length * c - a.half_width * s
    b_across = abs(dy * b.cos - dx * b.sin) - b.half_width - a.half_length * s - a.half_width * c
    return float(max(max(a_along, a_across), max(b_along, b_across)))


@inlined_kernel
def rectangle(row: FloatArray) -> Rectangle:
    """Of a row with the six numbers of one."""
    return Rectangle(row[0], row[1], row[2], row[3], row[4], row[5])


def clip(segments: FloatArray, pose: Pose, box: Box, least: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Which part of each segment (M, 4) lies in a box in the frame of the pose.

    Returns the shares of it, from 0 to 1, at which each enters and leaves; it misses the box where the first is the
    greater.

    Args:
        segments: x0, y0, x1, y1, m.
        pose: in the frame of the segments.
        box: in the frame of the pose.
        least: what reaches less far (m) along a side is taken to reach so far, so that it meets a side that it lies on
            whatever way it was rounded.
    """
    ends = to_local(segments.reshape(-1, 2, 2), pose)
    enter, leave = np.zeros(len(ends)), np.ones(len(ends))
    for value, low, high in ((ends[..., 0], box[0], box[1]), (ends[..., 1], box[2], box[3])):
        start, step = value[:, 0], value[:, 1] - value[:, 0]
        step = np.where(np.abs(step) < least, least, step)
        flat = np.abs(step) < FLAT
        safe = np.where(flat, 1.0, step)
        near, far = (low - start) / safe, (high - start) / safe
        inside = (start >= low) & (start <= high)
        enter = np.maximum(enter, np.where(flat, np.where(inside, 0.0, 2.0), np.minimum(near, far)))
        leave = np.minimum(leave, np.where(flat, 1.0, np.maximum(near, far)))
    return enter, leave


def outside(segments: FloatArray, enter: FloatArray, leave: FloatArray) -> FloatArray:
    """The parts of segments before the share at which they enter something and after the one at which they leave it."""
    first, run = segments[:, :2], segments[:, 2:] - segments[:, :2]
    before = np.hstack((first, first + np.minimum(enter, 1.0)[:, None] * run))[enter > 0.0]
    after = np.hstack((first + np.maximum(leave, 0.0)[:, None] * run, segments[:, 2:]))[leave < 1.0]
    return np.concatenate((before, after))


@kernel
def meets_box(a: tuple[float, float], b: tuple[float, float], pose: tuple[float, float, float], box: Box) -> bool:
    """Whether a part of the segment from a to b is in the box in the frame of the pose, as `clip` tells it."""
    x, y, heading = pose
    x0, x1, y0, y1 = box
    s, c = elementary.sin_cos(heading)
    along, across = (a[0] - x) * c + (a[1] - y) * s, (a[1] - y) * c - (a[0] - x) * s
    far_along, far_across = (b[0] - x) * c + (b[1] - y) * s, (b[1] - y) * c - (b[0] - x) * s
    enter, leave = _between(along, far_along - along, x0, x1, 0.0, 1.0)
    enter, leave = _between(across, far_across - across, y0, y1, enter, leave)
    return enter <= leave


@kernel
def _between(start: float, step: float, low: float, high: float, enter: float, leave: float) -> tuple[float, float]:
    if abs(step) < FLAT:
        return (enter if low <= start <= high else 2.0), leave
    near, far = (low - start) / step, (high - start) / step
    return max(enter, min(near, far)), min(leave, max(near, far))
