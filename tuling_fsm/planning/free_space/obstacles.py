"""What the car may not touch, as segments in `map`: obstacles and the lines of a request."""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.rectangles import FLAT, clip, outside
from tuling_fsm.core.scene import Obstacles, Scene
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.world.objects import is_vehicle, is_vulnerable

HAIR = 0.002
"""What is nearer than this (m) to the footprint at the start counts as touched."""
BERTH = 0.06
"""Vehicles and people are taken for so much larger (m) on every side: a path is driven no nearer than this."""
NEAR = 0.02
"""Lines nearer than this (m) to the footprint at the start count as touched."""
SAME_POINT = 0.05
"""Ends of lines nearer than this (m) are joined."""


def standing(obstacles: Obstacles) -> BoolArray:
    """Which objects (N,) are part of the static world: static ones, and moving ones that stand."""
    return ~obstacles.moving | (np.abs(obstacles.speed) < AGENT_STANDS)


def box_outlines(
    x: FloatArray, y: FloatArray, heading: FloatArray, length: FloatArray, width: FloatArray
) -> FloatArray:
    """Edges (4 N, 4) of boxes given by their centres."""
    s, c = elementwise.sin_cos(heading)
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
    more = 2.0 * BERTH * (is_vehicle(o.kind[keep]) | is_vulnerable(o.kind[keep]))
    boxes = box_outlines(o.x[keep, 0], o.y[keep, 0], o.heading[keep, 0], o.length[keep] + more, o.width[keep] + more)
    return np.concatenate((scene.static_segments, boxes))


def covered(scene: Scene, x: float, y: float) -> bool:
    """Whether a point lies in an object that stands: a footprint well inside a larger box touches none of its edges."""
    o = scene.obstacles
    dx, dy = x - o.x[:, 0], y - o.y[:, 0]
    s, c = elementwise.sin_cos(o.heading[:, 0])
    within = (2.0 * np.abs(c * dx + s * dy) < o.length) & (2.0 * np.abs(c * dy - s * dx) < o.width)
    return bool((within & standing(o)).any())


def held_lines(lines: FloatArray, pose: Pose, vehicle: Vehicle, release: float) -> FloatArray:
    """The lines that hold for a plan from `pose`.

    A line that the car stands on would forbid every motion. It is dropped, together with the lines joined to it, within
    `release` (m) of the middle of the car; what lies farther away stays. The next plan, made where the car has left the
    line, holds it again.
    """
    lo, hi = _within(lines, pose, vehicle, NEAR)
    touched = lo <= hi
    if not touched.any():
        return lines
    middle = 0.5 * (vehicle.front - vehicle.rear_overhang)
    sine, cosine = elementwise.sin_cos(pose.heading)
    center = np.array((pose.x + middle * cosine, pose.y + middle * sine))
    release = max(release, 0.5 * float(elementwise.hypot(vehicle.length, vehicle.width)))
    chain = _joined(lines, touched, _distance(lines, center) < release)
    enter, leave = _within_circle(lines[chain], center, release)
    return np.concatenate((lines[~chain], outside(lines[chain], enter, leave)))


def held_static(segments: FloatArray, pose: Pose, vehicle: Vehicle, overlap: float) -> FloatArray | None:
    """The solid edges that hold for a plan from `pose`, or none at all where the car is really in something.

    What reaches no deeper than `overlap` (m) into the footprint is taken for a false measurement, so that the car can
    leave (USE-6): its outline is moved out of the footprint, or what pokes in is left out.
    """
    lo, hi = _within(segments, pose, vehicle, -overlap)
    if (lo <= hi).any():
        return None
    lo, hi = _within(segments, pose, vehicle, HAIR)
    touched = lo <= hi
    while touched.any():
        first = np.arange(len(segments)) == np.argmax(touched)
        outline = _joined(segments, first, np.ones(len(segments), np.bool_))
        eased = _eased(segments[outline], pose, vehicle, 2.0 * overlap)
        segments = np.concatenate((segments[~outline], eased))
        lo, hi = _within(segments, pose, vehicle, HAIR)
        touched = lo <= hi
    return segments


def _eased(outline: FloatArray, pose: Pose, vehicle: Vehicle, most: float) -> FloatArray:
    """An outline moved at right angles to an edge, by at most `most` (m), or else cut, to clear the footprint."""
    lo, hi = _within(outline, pose, vehicle, HAIR)
    inside = outline[lo <= hi]
    run = inside[:, 2:] - inside[:, :2]
    out = np.column_stack((run[:, 1], -run[:, 0])) / np.maximum(elementwise.hypot(*run.T), 1e-9)[:, None]
    corners = vehicle.footprint(pose)
    out *= np.where(((inside[:, :2] - corners.mean(axis=0)) * out).sum(1) < 0.0, -1.0, 1.0)[:, None]
    depth = ((corners[None] - inside[:, None, :2]) * out[:, None]).sum(2).max(axis=1) + 2.0 * HAIR
    for i in np.argsort(depth):
        moved: FloatArray = outline + np.tile(depth[i] * out[i], 2)
        enter, leave = _within(moved, pose, vehicle, HAIR)
        if depth[i] <= most and not (enter <= leave).any():
            return moved
    return np.concatenate((outline[lo > hi], outside(inside, lo[lo <= hi] - 1e-6, hi[lo <= hi] + 1e-6)))


def _within(segments: FloatArray, pose: Pose, vehicle: Vehicle, margin: float) -> tuple[FloatArray, FloatArray]:
    """Shares at which segments enter and leave the footprint grown by a margin; first larger: they miss it."""
    return clip(segments, pose, vehicle.box(margin), FLAT)


def _within_circle(lines: FloatArray, center: FloatArray, radius: float) -> tuple[FloatArray, FloatArray]:
    """Where each segment enters and leaves a circle, as shares."""
    a, run = lines[:, :2] - center, lines[:, 2:] - lines[:, :2]
    length2 = np.maximum((run * run).sum(1), 1e-12)
    foot = -(a * run).sum(1) / length2
    chord = np.sqrt(np.maximum(0.0, foot * foot - ((a * a).sum(1) - radius * radius) / length2))
    return foot - chord, foot + chord


def _distance(lines: FloatArray, center: FloatArray) -> FloatArray:
    """Distance of each segment from a point."""
    a, run = lines[:, :2] - center, lines[:, 2:] - lines[:, :2]
    u = np.clip(-(a * run).sum(1) / np.maximum((run * run).sum(1), 1e-12), 0.0, 1.0)
    return np.asarray(elementwise.hypot(*(a + u[:, None] * run).T))


def _joined(lines: FloatArray, touched: BoolArray, near: BoolArray) -> BoolArray:
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
