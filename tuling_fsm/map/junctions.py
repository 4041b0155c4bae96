"""Junctions: which connecting lanes are in conflict, and which lights are green together."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.connecting import MAX_SECTIONS, NEAR_JUNCTION_M, entries, exits, junctions_from, on_one_way
from tuling_fsm.map.lanes import DRIVING, Junction, Lane, LaneId, StopLine

SWEPT_HALF_M = 1.0
"""Half the width of the band that a car is taken to sweep along a connecting lane, m."""

STEP_M = 0.9
"""Spacing of the points that bands are compared at, m."""

JOINED_M = 4.5
"""Junctions are one crossing where a link leads from one to the other that is shorter than this, a car's length (m)."""


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


def joining_links(lanes: Mapping[LaneId, Lane]) -> frozenset[LaneId]:
    """Lanes of the links that join junctions to one crossing: no car has room there."""
    found: set[LaneId] = set()
    behind = [lane for lane in lanes.values() if any(lanes[n].junction is not None for n in lane.predecessors)]
    queue: list[tuple[tuple[LaneId, ...], float]]
    queue = [((lane.id,), lane.length) for lane in behind if lane.junction is None]
    while queue:
        link, length = queue.pop()
        for following in lanes[link[-1]].successors if length < JOINED_M else ():
            if lanes[following].junction is not None:
                found.update(link)
            elif len(link) < MAX_SECTIONS:
                queue.append(((*link, following), length + lanes[following].length))
    return frozenset(found)


Phases = dict[str, tuple[tuple[int, ...], ...]]


def build_phases(
    lanes: Mapping[LaneId, Lane],
    stop_lines: Sequence[StopLine],
    controllers: Mapping[str, tuple[int, ...]],
    junction_controllers: Mapping[str, tuple[str, ...]],
) -> Phases:
    """Groups of light signals by junction; those of joined junctions, which are one crossing, by the first of these.

    A junction's own controllers are its groups where it has at least two that hold lights of it (CARLA's towns), those
    of joined junctions where they are controllers of each. Otherwise (one program for everything, as netconvert writes
    it, or none) every approach road is a group, with the lights between joined junctions that its ways lead to.
    """
    lit: dict[str, list[StopLine]] = {}
    for line in stop_lines:
        if line.kind == "light" and line.signal >= 0:
            for junction in junctions_from(lanes, line.lane)[:1]:
                lit.setdefault(junction, []).append(line)
    phases: Phases = {}
    for crossing in _crossings(lanes, lit):
        by_road: dict[str, list[StopLine]] = {}
        for line in (line for junction in crossing for line in lit[junction]):
            by_road.setdefault(_place(line).road, []).append(line)
        lights = {line.signal for lines in by_road.values() for line in lines}
        named = [junction_controllers.get(junction, ()) for junction in crossing]
        own = [controllers.get(name, ()) for name in named[0] if all(name in names for names in named)]
        groups = [group for each in own if (group := tuple(n for n in each if n in lights))]
        said = {n for group in groups for n in group}
        phases[crossing[0]] = tuple(
            groups if len(groups) >= 2 and said == lights else _by_ways(lanes, crossing, by_road)
        )
    return phases


def _place(line: StopLine) -> LaneId:
    return line.approach or line.lane


def _crossings(lanes: Mapping[LaneId, Lane], lit: Collection[str]) -> list[tuple[str, ...]]:
    """Junctions with lights, those together between which a link leads in which no car has room."""
    crossing = {junction: {junction} for junction in lit}
    for lane in lanes.values():
        if lane.junction not in crossing:
            continue
        for reached in _reached(lanes, [lane.id], (lane.junction,), JOINED_M):
            for following in lanes[reached].successors:
                other = lanes[following].junction
                if other in crossing and other not in crossing[lane.junction]:
                    both = crossing[lane.junction] | crossing[other]
                    crossing.update(dict.fromkeys(both, both))
    return list(dict.fromkeys(tuple(j for j in lit if j in crossing[junction]) for junction in lit))


def _reached(
    lanes: Mapping[LaneId, Lane], starts: Sequence[LaneId], crossing: Collection[str], within: float = NEAR_JUNCTION_M
) -> dict[LaneId, float]:
    """Lanes on the ways from some lanes on to a crossing, `within` so many metres, and through it, with what is left of
    these, or of a link's (m).
    """
    left, queue = dict.fromkeys(starts, within), list(starts)
    while queue:
        current = queue.pop()
        for following in lanes[current].successors:
            lane = lanes[following]
            rest = JOINED_M if lane.junction in crossing else left[current] - lane.length
            if (lane.junction is None or lane.junction in crossing) and rest > left.get(following, 0.0):
                left[following] = rest
                queue.append(following)
    return left


def _by_ways(
    lanes: Mapping[LaneId, Lane], crossing: Collection[str], by_road: Mapping[str, Sequence[StopLine]]
) -> list[tuple[int, ...]]:
    """The lights of every approach road; of joined junctions those on its ways through them too, and none for a road
    that is on the ways of another.
    """
    own = {road: tuple(dict.fromkeys(line.signal for line in lines)) for road, lines in by_road.items()}
    if len(crossing) == 1:
        return list(own.values())
    on_ways: dict[str, list[str]] = {}
    for road, lines in by_road.items():
        reached = _reached(lanes, [_place(line) for line in lines], crossing)
        on_ways[road] = [each for each in by_road if each != road and any(_place(n) in reached for n in by_road[each])]
    inner = {each for roads in on_ways.values() for each in roads}
    groups = [[road, *roads] for road, roads in on_ways.items() if road not in inner]
    known = {road for group in groups for road in group}
    groups += [[road] for road in by_road if road not in known]
    return [tuple(dict.fromkeys(n for road in group for n in own[road])) for group in groups]
