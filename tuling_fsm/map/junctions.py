"""Junctions: which connecting lanes are in conflict, and which lights are green together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.connecting import entries, exits, junctions_from, on_one_way
from tuling_fsm.map.lanes import DRIVING, Junction, Lane, LaneId, StopLine

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
    lit = {junction for line in stop_lines if line.kind == "light" for junction in junctions_from(lanes, line.lane)}
    return {
        junction: Junction(junction, tuple(lane.id for lane in found), _conflicts(found, lanes), junction in lit)
        for junction, found in members.items()
    }


def _conflicts(members: Sequence[Lane], lanes: Mapping[LaneId, Lane]) -> dict[LaneId, tuple[LaneId, ...]]:
    found: dict[LaneId, list[LaneId]] = {lane.id: [] for lane in members}
    points = [_thinned(lane) for lane in members]
    ends = [(frozenset(entries(lanes, lane.id)), frozenset(exits(lanes, lane.id))) for lane in members]
    for (i, a), (j, b) in itertools.combinations(enumerate(members), 2):
        if not _meet(ends[i], ends[j], a.id.road == b.id.road) or on_one_way(lanes, a.id, b.id):
            continue
        if _touch(points[i], points[j]):
            found[a.id].append(b.id)
            found[b.id].append(a.id)
    return {lane_id: tuple(others) for lane_id, others in found.items()}


Ends = tuple[frozenset[LaneId], frozenset[LaneId]]
"""The lanes outside a junction that a way through it comes from and leads to."""


def _meet(a: Ends, b: Ends, on_one_road: bool) -> bool:
    """Not merely two ways out of one lane, or side by side on one road: those never meet, unless they merge."""
    return bool(a[1] & b[1]) or not (on_one_road or a[0] & b[0])


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


Phases = dict[str, tuple[tuple[int, ...], ...]]


def build_phases(
    lanes: Mapping[LaneId, Lane],
    stop_lines: Sequence[StopLine],
    controllers: Mapping[str, tuple[int, ...]],
    junction_controllers: Mapping[str, tuple[str, ...]],
) -> Phases:
    """Groups of light signals by junction.

    A junction's own controllers are its groups where it has at least two that hold lights of it (CARLA's towns).
    Otherwise (one program for everything, as netconvert writes it, or none) every approach road is a group.
    """
    approaches: dict[str, dict[str, list[int]]] = {}
    for line in stop_lines:
        if line.kind != "light":
            continue
        for junction in junctions_from(lanes, line.lane)[:1]:
            group = approaches.setdefault(junction, {}).setdefault((line.approach or line.lane).road, [])
            if line.signal not in group and line.signal >= 0:
                group.append(line.signal)
    phases: Phases = {}
    for junction, by_road in approaches.items():
        lights = {n for group in by_road.values() for n in group}
        own = [controllers.get(name, ()) for name in junction_controllers.get(junction, ())]
        groups = [tuple(n for n in group if n in lights) for group in own]
        groups = [group for group in groups if group]
        said = {n for group in groups for n in group}
        if len(groups) < 2 or said != lights:
            groups = [tuple(group) for group in by_road.values() if group]
        phases[junction] = tuple(groups)
    return phases
