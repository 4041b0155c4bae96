"""Which ways through a junction get in each other's way."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from tuling_fsm.core.geometry import FloatArray
from tuling_fsm.map.lane_types import DRIVING
from tuling_fsm.map.lanes import Junction, Lane, LaneId, StopLine

SWEPT_HALF_M = 1.0
"""Half the width of the band that a car is taken to sweep along a connecting lane, m."""

STEP_M = 0.9
"""Spacing of the points that bands are compared at, m."""


def build_junctions(
    ids: Sequence[str], lanes: Mapping[LaneId, Lane], stop_lines: Sequence[StopLine]
) -> dict[str, Junction]:
    """Every junction with its connecting driving lanes, their conflicts, and whether a light stands before it."""
    members: dict[str, list[Lane]] = {junction: [] for junction in ids}
    for lane in lanes.values():
        if lane.junction is not None and lane.type == DRIVING:
            members.setdefault(lane.junction, []).append(lane)
    lit = {n for line in stop_lines if line.kind == "light" for n in (line.lane, *lanes[line.lane].successors)}
    return {
        junction: Junction(
            junction, tuple(lane.id for lane in found), _conflicts(found), any(each.id in lit for each in found)
        )
        for junction, found in members.items()
    }


def _conflicts(lanes: Sequence[Lane]) -> dict[LaneId, tuple[LaneId, ...]]:
    found: dict[LaneId, list[LaneId]] = {lane.id: [] for lane in lanes}
    points = [_thinned(lane) for lane in lanes]
    for (i, a), (j, b) in itertools.combinations(enumerate(lanes), 2):
        if a.id[:2] == b.id[:2] and not set(a.successors) & set(b.successors):
            continue
        if _meet(a, b) and _touch(points[i], points[j]):
            found[a.id].append(b.id)
            found[b.id].append(a.id)
    return {lane_id: tuple(others) for lane_id, others in found.items()}


def _meet(a: Lane, b: Lane) -> bool:
    """Not merely two ways out of one lane: those part and never meet, unless they merge again."""
    return not set(a.predecessors) & set(b.predecessors) or bool(set(a.successors) & set(b.successors))


def _thinned(lane: Lane) -> FloatArray:
    s = np.linspace(0.0, lane.length, max(2, int(lane.length / STEP_M) + 2))
    x, y = (np.interp(s, lane.center.s, lane.center.xy[:, k]) for k in (0, 1))
    return np.column_stack((x, y))


def _touch(a: FloatArray, b: FloatArray) -> bool:
    """Whether bands of `SWEPT_HALF_M` around both polylines overlap: the distance of points to segments, both ways."""
    reach = 2.0 * SWEPT_HALF_M
    if np.any(a.min(axis=0) > b.max(axis=0) + reach) or np.any(b.min(axis=0) > a.max(axis=0) + reach):
        return False
    return _nearest(a, b) < reach or _nearest(b, a) < reach


def _nearest(points: FloatArray, line: FloatArray) -> float:
    start, step = line[:-1], np.diff(line, axis=0)
    offset = points[:, None] - start[None]
    length2 = np.maximum(np.sum(step * step, axis=1), 1e-12)
    u = np.clip(np.sum(offset * step[None], axis=2) / length2, 0.0, 1.0)
    gap = offset - u[..., None] * step[None]
    return float(np.sqrt(np.min(np.sum(gap * gap, axis=2))))
