"""What the car may not touch, as segments in `map`: obstacles and the lines of a request."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.geometry import FloatArray, Pose
from tuling_fsm.core.scene import Obstacles, Scene
from tuling_fsm.core.vehicle import Vehicle

STANDING = 0.3
"""Objects slower than this (m/s) stand."""
SAME_POINT = 0.05
"""Ends of lines nearer than this (m) are joined."""


def standing(obstacles: Obstacles) -> npt.NDArray[np.bool_]:
    """Which objects (N,) are part of the static world: static ones, and moving ones that stand."""
    return ~obstacles.moving | (np.abs(obstacles.speed) < STANDING)


def box_outlines(
    x: FloatArray, y: FloatArray, heading: FloatArray, length: FloatArray, width: FloatArray
) -> FloatArray:
    """Edges (4 N, 4) of boxes given by their centres."""
    c, s = np.cos(heading), np.sin(heading)
    ahead, left = np.array((1, -1, -1, 1)) * 0.5, np.array((1, 1, -1, -1)) * 0.5
    u, v = length[:, None] * ahead, width[:, None] * left
    px, py = x[:, None] + c[:, None] * u - s[:, None] * v, y[:, None] + s[:, None] * u + c[:, None] * v
    edges = np.stack((px, py, np.roll(px, -1, 1), np.roll(py, -1, 1)), axis=2)
    return np.ascontiguousarray(edges.reshape(-1, 4))


def solid_segments(scene: Scene) -> FloatArray:
    """Edges (M, 4) of everything solid that stands."""
    o = scene.obstacles
    keep = standing(o)
    if not keep.any():
        return scene.static_segments
    boxes = box_outlines(o.x[keep, 0], o.y[keep, 0], o.heading[keep, 0], o.length[keep], o.width[keep])
    return np.concatenate((scene.static_segments, boxes))


def covered(scene: Scene, x: float, y: float) -> bool:
    """Whether a point lies in an object that stands: a footprint well inside a larger box touches none of its edges."""
    o = scene.obstacles
    dx, dy = x - o.x[:, 0], y - o.y[:, 0]
    c, s = np.cos(o.heading[:, 0]), np.sin(o.heading[:, 0])
    within = (2.0 * np.abs(c * dx + s * dy) < o.length) & (2.0 * np.abs(c * dy - s * dx) < o.width)
    return bool((within & standing(o)).any())


def held_lines(lines: FloatArray, pose: Pose, vehicle: Vehicle, release: float) -> FloatArray:
    """The lines that hold for a plan from `pose`.

    A line that the car stands on would forbid every motion. It is dropped, together with the lines joined to it, within `release`
    (m) of the middle of the car; what lies farther away stays. The next plan, made where the car has left the line, holds it again.
    """
    if len(lines) == 0:
        return lines
    touched = _touch(lines, pose, vehicle)
    if not touched.any():
        return lines
    middle = 0.5 * (vehicle.front - vehicle.rear_overhang)
    center = np.array((pose.x + middle * np.cos(pose.heading), pose.y + middle * np.sin(pose.heading)))
    release = max(release, 0.5 * float(np.hypot(vehicle.length, vehicle.width)))
    chain = _joined(lines, touched, _distance(lines, center) < release)
    return np.concatenate((lines[~chain], _outside(lines[chain], center, release)))


def _touch(lines: FloatArray, pose: Pose, vehicle: Vehicle) -> npt.NDArray[np.bool_]:
    """Which segments touch the footprint (clipping after Liang and Barsky)."""
    c, s = np.cos(pose.heading), np.sin(pose.heading)
    dx, dy = lines[:, 0::2] - pose.x, lines[:, 1::2] - pose.y
    x, y = c * dx + s * dy, c * dy - s * dx
    half = vehicle.width / 2.0
    lo, hi = np.zeros(len(lines)), np.ones(len(lines))
    for start, end, least, most in (
        (x[:, 0], x[:, 1], -vehicle.rear_overhang, vehicle.front),
        (y[:, 0], y[:, 1], -half, half),
    ):
        run = np.where(np.abs(end - start) < 1e-12, 1e-12, end - start)
        a, b = (least - start) / run, (most - start) / run
        lo, hi = np.maximum(lo, np.minimum(a, b)), np.minimum(hi, np.maximum(a, b))
    return np.asarray(lo <= hi)


def _distance(lines: FloatArray, center: FloatArray) -> FloatArray:
    """Distance of each segment from a point."""
    a, run = lines[:, :2] - center, lines[:, 2:] - lines[:, :2]
    u = np.clip(-(a * run).sum(1) / np.maximum((run * run).sum(1), 1e-12), 0.0, 1.0)
    return np.asarray(np.hypot(*(a + u[:, None] * run).T))


def _joined(lines: FloatArray, touched: npt.NDArray[np.bool_], near: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The touched segments and the near ones that are joined to them end to end."""
    chain = touched.copy()
    ends = lines.reshape(-1, 2, 2)
    fresh = np.flatnonzero(touched)
    while len(fresh):
        points = ends[fresh].reshape(-1, 2)
        apart = np.abs(ends[:, :, None, :] - points).max(axis=3)
        found = (apart < SAME_POINT).any(axis=(1, 2)) & near & ~chain
        chain |= found
        fresh = np.flatnonzero(found)
    return chain


def _outside(lines: FloatArray, center: FloatArray, radius: float) -> FloatArray:
    """The parts of segments outside a circle."""
    kept = []
    for x0, y0, x1, y1 in lines:
        a, run = np.array((x0, y0)) - center, np.array((x1 - x0, y1 - y0))
        length2 = max(float(run @ run), 1e-12)
        foot = -float(a @ run) / length2
        chord2 = foot * foot - (float(a @ a) - radius * radius) / length2
        if chord2 <= 0.0:
            kept.append((x0, y0, x1, y1))
            continue
        enter, leave = foot - chord2**0.5, foot + chord2**0.5
        if enter > 0.0:
            kept.append((x0, y0, x0 + min(enter, 1.0) * run[0], y0 + min(enter, 1.0) * run[1]))
        if leave < 1.0:
            kept.append((x0 + max(leave, 0.0) * run[0], y0 + max(leave, 0.0) * run[1], x1, y1))
    return np.array(kept, dtype=np.float64).reshape(-1, 4)
