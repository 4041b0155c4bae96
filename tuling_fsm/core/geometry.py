"""Poses, angles and polylines in the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.kernels import kernel


class Pose(NamedTuple):
    """Position (m) and heading (rad, counter-clockwise from +x) in one frame."""

    x: float
    y: float
    heading: float


class Projection(NamedTuple):
    """Nearest point of a polyline: arc length (m), signed offset (m, + left), heading of the polyline there (rad)."""

    s: float
    offset: float
    heading: float


def distance(a: Sequence[float] | FloatArray, b: Sequence[float] | FloatArray) -> float:
    """How far two points (or poses) are apart, m."""
    return elementary.hypot(float(a[0] - b[0]), float(a[1] - b[1]))


def rotated(points: FloatArray, angle: float) -> FloatArray:
    """Points (..., 2) turned about the origin by an angle (rad)."""
    sin, cos = elementary.sin_cos(angle)
    x, y, turned = points[..., 0], points[..., 1], np.empty(points.shape)
    turned[..., 0], turned[..., 1] = cos * x - sin * y, sin * x + cos * y
    return turned


def to_local(points: FloatArray, pose: Pose) -> FloatArray:
    """Points (..., 2) as seen from a pose: ahead and to the left of it, m."""
    return rotated(points - np.array((pose.x, pose.y)), -pose.heading)


def to_global(points: FloatArray, pose: Pose) -> FloatArray:
    """Points (..., 2) that a pose sees ahead and to the left (m), in the frame of the pose."""
    return np.asarray(rotated(points, pose.heading) + np.array((pose.x, pose.y)), dtype=np.float64)


@kernel
def wrap_angle(angle: float) -> float:
    """The same angle in [-pi, pi)."""
    return (angle + math.pi) % (2.0 * math.pi) - math.pi


@kernel
def _segment_at(s: FloatArray, value: float) -> int:
    """Index of the segment that an arc length lies on, that of the first or last one beyond the ends."""
    return min(max(int(np.searchsorted(s, value, side="right")) - 1, 0), len(s) - 2)


@kernel
def _share(s: FloatArray, i: int, at: float) -> float:
    """How far along segment `i` an arc length lies, 0 to 1; 0 on a segment of no length."""
    span = s[i + 1] - s[i]
    return (at - s[i]) / span if span > 0.0 else 0.0


@kernel
def _project(
    xy: FloatArray, s: FloatArray, heading: FloatArray, x: float, y: float, s_from: float, s_to: float
) -> tuple[float, float, float]:
    """Nearest point of the segments from `s_from` to `s_to`, as a `Projection`."""
    lo = _segment_at(s, s_from)
    hi = min(max(int(np.searchsorted(s, s_to)), lo + 1), len(s) - 1)
    best, best_s, best_offset, best_i = np.inf, 0.0, 0.0, lo
    for i in range(lo, hi):
        dx, dy = xy[i + 1, 0] - xy[i, 0], xy[i + 1, 1] - xy[i, 1]
        px, py = x - xy[i, 0], y - xy[i, 1]
        length2 = dx * dx + dy * dy
        if length2 <= 0.0:
            continue
        u = min(1.0, max(0.0, (px * dx + py * dy) / length2))
        ex, ey = px - u * dx, py - u * dy
        d2 = ex * ex + ey * ey
        if d2 < best:
            best, best_i = d2, i
            best_s = s[i] + u * (s[i + 1] - s[i])
            best_offset = math.copysign(math.sqrt(d2), dx * py - dy * px)
    turned = heading[best_i] + _share(s, best_i, best_s) * (heading[best_i + 1] - heading[best_i])
    return best_s, best_offset, turned


@kernel
def _at(xy: FloatArray, s: FloatArray, heading: FloatArray, at: float) -> tuple[float, float, float]:
    """The pose at an arc length, clamped to the ends."""
    at = min(max(at, 0.0), s[-1])
    i = _segment_at(s, at)
    u = _share(s, i, at)
    x, y = xy[i, 0] + u * (xy[i + 1, 0] - xy[i, 0]), xy[i, 1] + u * (xy[i + 1, 1] - xy[i, 1])
    return x, y, heading[i] + u * (heading[i + 1] - heading[i])


@dataclass(frozen=True, eq=False)
class Polyline:
    """A sampled curve: `xy` (N, 2) m, arc length `s` (N,) m, `heading` (N,) rad, continuous (not wrapped)."""

    xy: FloatArray
    s: FloatArray
    heading: FloatArray

    @classmethod
    def of(cls, xy: npt.ArrayLike, heading: npt.ArrayLike | None = None) -> Polyline:
        """Build from points; repeated points are dropped. Without `heading` it is taken from central differences.

        Raises:
            ValueError: fewer than two distinct points.
        """
        points = np.ascontiguousarray(xy, dtype=np.float64).reshape(-1, 2)
        step = elementwise.hypot(*np.diff(points, axis=0).T)
        keep = np.concatenate(([True], step > 1e-9))
        points = points[keep]
        if len(points) < 2:
            raise ValueError("a polyline needs two distinct points")
        s = np.concatenate(([0.0], np.cumsum(elementwise.hypot(*np.diff(points, axis=0).T))))
        if heading is None:
            tangent = np.gradient(points, s, axis=0)
            angles = elementwise.arctan2(tangent[:, 1], tangent[:, 0])
        else:
            angles = np.asarray(heading, dtype=np.float64)[keep]
        return cls(points, s, np.asarray(np.unwrap(angles), dtype=np.float64))

    @property
    def length(self) -> float:
        """Arc length from the first point to the last, m."""
        return float(self.s[-1])

    def at(self, s: float) -> Pose:
        """The pose on the curve at arc length `s`, clamped to its ends."""
        return Pose(*_at(self.xy, self.s, self.heading, float(s)))

    def project(self, x: float, y: float, s_from: float = -math.inf, s_to: float = math.inf) -> Projection:
        """The nearest point of the stretch `s_from` to `s_to`."""
        where = float(x), float(y), float(s_from), float(s_to)
        return Projection(*_project(self.xy, self.s, self.heading, *where))

    def curvature(self) -> FloatArray:
        """Curvature (1/m, + left) at every point, from the headings."""
        return np.asarray(np.gradient(self.heading, self.s), dtype=np.float64)

    def heading_between(self, stretch: tuple[float, float], heading: tuple[float, float]) -> tuple[float, float] | None:
        """The first part of a stretch (arc lengths, m) that heads from one angle to another, counter-clockwise (rad);
        None where nothing of it does.
        """
        begin, end = stretch
        s = np.array([begin, *self.s[(self.s > begin) & (self.s < end)], end])
        turned, width = np.interp(s, self.s, self.heading) - heading[0], heading[1] - heading[0]
        there = np.mod(turned, 2.0 * math.pi) <= width
        if not there.any():
            return None
        first = int(np.argmax(there))
        last = first + int(np.argmin(np.append(there[first:], False))) - 1
        return float(s[first]), float(s[last])


def shifted(pose: Pose, ahead: float) -> Pose:
    """A pose moved along its heading (m)."""
    sine, cosine = elementary.sin_cos(pose.heading)
    return Pose(pose.x + ahead * cosine, pose.y + ahead * sine, pose.heading)
