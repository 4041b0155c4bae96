"""What OpenDRIVE 1.8 writes in a junction beside roads: its own reference line, and paths of pedestrians across."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.opendrive.cubic import ZERO
from tuling_fsm.map.opendrive.document import Element, text
from tuling_fsm.map.opendrive.reference_line import read_reference_line
from tuling_fsm.map.opendrive.road import Road

EDGE_STEP_M = 2.0
"""Spacing of the corners along the edges of a path, m."""


def junction_frame(element: Element, lanes: Mapping[LaneId, Lane], warnings: list[str]) -> tuple[Road, float] | None:
    """The reference line that objects of a junction are placed along, as that of a road without lanes, and the height
    of the junction's lanes there (m); None where it has no such line. What stands there is on one of these lanes' road.

    Raises:
        InputError: the line lacks something, or the junction an id.
    """
    if element.find("planView/geometry") is None:
        return None
    junction = text(element, "id")
    members = [lane for lane in lanes.values() if lane.junction == junction]
    line = read_reference_line(element, warnings)
    last = line.geometries[-1]
    frame = Road(
        id=members[0].id.road if members else "",
        element=element,
        length=last.s + last.length,
        junction=junction,
        left_hand=False,
        line=line,
        elevation=ZERO,
        lane_offset=ZERO,
        sections=(),
        predecessor=None,
        successor=None,
        speeds=(),
    )
    return frame, float(np.mean([lane.z.mean() for lane in members])) if members else 0.0


def path_outline(road: Road, lanes: Mapping[LaneId, Lane]) -> FloatArray | None:
    """From edge to edge of all lanes (K, 2) of a road across other ones; None where it has none."""
    own = [lane for lane in lanes.values() if lane.id.road == road.id]
    if not own:
        return None
    stations = np.linspace(0.0, road.length, int(road.length / EDGE_STEP_M) + 2, dtype=np.float64)
    curve = road.curve(stations)
    middle, normal = np.column_stack((curve.x, curve.y)), _normals(curve.heading)
    sides = np.vstack([_sides(lane, stations, middle, normal) for lane in own])
    there = np.isfinite(sides).any(axis=0)
    sides, middle, normal = sides[:, there], middle[there], normal[there]
    left, right = (middle + t[:, None] * normal for t in (np.nanmax(sides, axis=0), np.nanmin(sides, axis=0)))
    return np.vstack((left, right[::-1])) if there.sum() > 1 else None


def _normals(heading: FloatArray) -> FloatArray:
    """Unit vectors (N, 2) to the left of headings."""
    sine, cosine = elementwise.sin_cos(heading)
    return np.column_stack((-sine, cosine))


def _sides(lane: Lane, s: FloatArray, middle: FloatArray, normal: FloatArray) -> FloatArray:
    """Offsets (2, N) of the lane's edges from points (N, 2) of its road's reference line at stations s, along normals,
    m; NaN where it is not beside them.
    """
    order = np.argsort(lane.road_s)
    road_s = lane.road_s[order]
    outward = _normals(lane.center.heading)
    beside = (s >= road_s[0] - 1e-6) & (s <= road_s[-1] + 1e-6)
    found = []
    for width in (lane.left, -lane.right):
        edge = (lane.center.xy + width[:, None] * outward)[order]
        at = np.column_stack([np.interp(s, road_s, edge[:, k]) for k in (0, 1)])
        found.append(np.where(beside, ((at - middle) * normal).sum(axis=1), np.nan))
    return np.array(found)
