"""Lanes as polylines in direction of travel: every section of a road is sampled at stations that all its lanes
share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.opendrive.reference_line import SampledCurve
from tuling_fsm.map.opendrive.road import LaneSection, Road

MAX_STEP_M = 0.47
"""Largest spacing of samples along any lane."""

MAX_CHORD_ERROR_M = 0.004
"""Largest distance between a lane in a bend and the chord of two samples."""

MIN_STEP_M = 0.05
"""Spacing at which refinement in bends ends."""

EDGE_M = 1e-6
"""How far inside a section its profiles are read."""

MIN_LENGTH_M = 1e-3
"""Shorter lane sections are drawn this long, so that every lane has a direction."""


@dataclass(frozen=True, eq=False)
class LaneShape:
    """A lane's centre in direction of travel: xy (N, 2), heading (N,), half width (N,), height and road coordinates
    s and t (N,).
    """

    xy: FloatArray
    heading: FloatArray
    half: FloatArray
    z: FloatArray
    road_s: FloatArray
    road_t: FloatArray


def sample_section(road: Road, section: LaneSection, s: FloatArray) -> dict[int, LaneShape]:
    """The shapes of all lanes of a section but the centre lane, by lane number, at its `stations`."""
    curve = road.curve(s)
    z, _ = road.elevation(s)
    shapes: dict[int, LaneShape] = {}
    for number, (inner, outer) in _boundaries(road, section, s).items():
        (t0, dt0), (t1, dt1) = inner, outer
        shapes[number] = _shape(curve, s, z, 0.5 * (t0 + t1), 0.5 * (dt0 + dt1), 0.5 * np.abs(t1 - t0))
        if not road.forward(section.lanes[number]):
            shapes[number] = _reverse(shapes[number])
    return shapes


def section_edges(road: Road, section: LaneSection, s: FloatArray) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Inner and outer t (m) of every lane but the centre lane at the given stations."""
    return {n: (inner[0], outer[0]) for n, (inner, outer) in _boundaries(road, section, s).items()}


Profile = tuple[FloatArray, FloatArray]


def _boundaries(road: Road, section: LaneSection, s: FloatArray) -> dict[int, tuple[Profile, Profile]]:
    """Inner and outer boundary (t and dt/ds) of every lane, from the centre outwards on both sides."""
    inside = np.clip(s, section.start + EDGE_M, section.end - EDGE_M)  # at an end a jump belongs to the next section
    centre = road.lane_offset(inside)
    found: dict[int, tuple[Profile, Profile]] = {}
    for side in (1, -1):
        inner = centre
        for number in sorted((n for n in section.lanes if n * side > 0), key=abs):
            lane = section.lanes[number]
            if lane.border is not None:
                t, dt = lane.border(s)
                outer = (centre[0] + t, centre[1] + dt)
            elif lane.width is not None:
                width, dwidth = lane.width(s)
                positive = width > 0.0
                outer = (inner[0] + side * np.maximum(width, 0.0), inner[1] + side * np.where(positive, dwidth, 0.0))
            else:
                outer = inner
            found[number] = (inner, outer)
            inner = outer
    return found


def _shape(
    curve: SampledCurve, s: FloatArray, z: FloatArray, t: FloatArray, dt: FloatArray, half: FloatArray
) -> LaneShape:
    sin, cos = elementwise.sin_cos(curve.heading)
    xy = np.column_stack((curve.x - t * sin, curve.y + t * cos))
    along = np.maximum(1.0 - curve.curvature * t, 1e-3)
    heading = np.unwrap(curve.heading + elementwise.arctan2(dt, along))
    return LaneShape(xy, np.asarray(heading, dtype=np.float64), half, z, s, t)


def _reverse(shape: LaneShape) -> LaneShape:
    return LaneShape(
        np.ascontiguousarray(shape.xy[::-1]),
        np.ascontiguousarray(shape.heading[::-1]) + np.pi,
        np.ascontiguousarray(shape.half[::-1]),
        np.ascontiguousarray(shape.z[::-1]),
        np.ascontiguousarray(shape.road_s[::-1]),
        np.ascontiguousarray(shape.road_t[::-1]),
    )


def stations(road: Road, section: LaneSection) -> FloatArray:
    """Road stations of the samples: uniform within each geometry, denser in bends, with every restart of a profile."""
    start, end = section.start, max(section.end, section.start + MIN_LENGTH_M)
    reach = _reach(road, section, start, end)
    pieces: list[FloatArray] = []
    geometries = road.line.geometries
    for i, geometry in enumerate(geometries):
        lo = max(start, geometry.s) if i else start
        hi = min(end, geometries[i + 1].s) if i + 1 < len(geometries) else end
        if hi > lo:
            count = int(np.ceil((hi - lo) / _step(geometry.max_curvature, reach))) + 1
            pieces.append(np.linspace(lo, hi, count, dtype=np.float64))
    return _merge(start, end, pieces, _restarts(road, section))


def _step(curvature: float, reach: float) -> float:
    """Spacing on the reference line that keeps every lane within the limits: outermost lanes run 1 + k t times as
    far.
    """
    stretch = 1.0 + curvature * reach
    step = MAX_STEP_M / stretch
    if curvature > 0.0:
        step = min(step, math.sqrt(8.0 * MAX_CHORD_ERROR_M / (curvature * stretch)))
    return max(step, MIN_STEP_M)


def _reach(road: Road, section: LaneSection, start: float, end: float) -> float:
    """The farthest that a driven lane lies from the reference line, m."""
    few: FloatArray = np.linspace(start, end, 5, dtype=np.float64)
    edges = section_edges(road, section, few)
    farthest = 0.0
    for number, (_, outer) in edges.items():
        if section.lanes[number].type not in ("sidewalk", "none"):
            farthest = max(farthest, float(np.max(np.abs(outer))))
    return farthest


def _restarts(road: Road, section: LaneSection) -> FloatArray:
    """Stations at which a width, border or lane offset record starts."""
    profiles = [road.lane_offset]
    for lane in section.lanes.values():
        profiles.extend(p for p in (lane.width, lane.border) if p is not None)
    return np.concatenate([profile.restarts() for profile in profiles])


def _merge(start: float, end: float, pieces: list[FloatArray], extra: FloatArray) -> FloatArray:
    """All stations in order; those nearer than 1 cm to the one before are left out, the ends are kept."""
    inside = extra[(extra > start) & (extra < end)]
    s = np.unique(np.concatenate([*pieces, inside, [start, end]]))
    gap = min(0.01, 0.25 * (end - start))
    keep = np.concatenate(([True], np.diff(s) > gap))
    s = s[keep]
    s = s[s < end - gap]
    return np.append(s if len(s) else np.array([start]), end)
