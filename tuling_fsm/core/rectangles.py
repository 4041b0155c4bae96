"""Rectangles: how far they are apart, and which parts of segments lie in one."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import FloatArray, Pose, to_local
from tuling_fsm.core.kernels import inlined_kernel, kernel

Box = tuple[float, float, float, float]
"""x0, x1, y0, y1 in the frame of a pose, m."""
FLAT = 1e-12
"""What reaches less far (m) along a side of a box is in it as a whole or not at all."""


@inlined_kernel
def rectangles_apart(
    x: float, y: float, cos: float, sin: float, half_length: float, half_width: float,
    box_x: float, box_y: float, box_cos: float, box_sin: float, box_length: float, box_width: float,
) -> float:  # fmt: skip
    """Largest gap (m) over the four axes that can separate two rectangles ([gottschalk1996][]), given by
    centre, direction and half sizes.

    Positive: apart, and never more than their distance. Negative: they overlap, and this far one must move to part.
    """
    dx, dy = box_x - x, box_y - y
    c, s = abs(cos * box_cos + sin * box_sin), abs(cos * box_sin - sin * box_cos)
    along = abs(dx * cos + dy * sin) - half_length - box_length * c - box_width * s
    across = abs(dy * cos - dx * sin) - half_width - box_length * s - box_width * c
    box_along = abs(dx * box_cos + dy * box_sin) - box_length - half_length * c - half_width * s
    box_across = abs(dy * box_cos - dx * box_sin) - box_width - half_length * s - half_width * c
    return float(max(max(along, across), max(box_along, box_across)))


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
def meets_box(
    ax: float, ay: float, bx: float, by: float, x: float, y: float, heading: float,
    x0: float, x1: float, y0: float, y1: float,
) -> bool:  # fmt: skip
    """Whether a part of the segment from a to b is in the box, as `clip` tells it."""
    c, s = elementary.cos(heading), elementary.sin(heading)
    along, across = (ax - x) * c + (ay - y) * s, (ay - y) * c - (ax - x) * s
    far_along, far_across = (bx - x) * c + (by - y) * s, (by - y) * c - (bx - x) * s
    enter, leave = _between(along, far_along - along, x0, x1, 0.0, 1.0)
    enter, leave = _between(across, far_across - across, y0, y1, enter, leave)
    return enter <= leave


@kernel
def _between(start: float, step: float, low: float, high: float, enter: float, leave: float) -> tuple[float, float]:
    if abs(step) < FLAT:
        return (enter if low <= start <= high else 2.0), leave
    near, far = (low - start) / step, (high - start) / step
    return max(enter, min(near, far)), min(leave, max(near, far))
