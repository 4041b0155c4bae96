"""What a route meets ahead: stop lines, crosswalks and junctions, with their arc lengths on the route's reference.

The solid-line zone in which a junction is come to counts as junction (NOR-2): see `JunctionAhead.approach_from`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.map.free_width import crossable_at
from tuling_fsm.map.junctions import JOINED_M
from tuling_fsm.map.lanes import DRIVING, Crosswalk, Junction, LaneId, LaneMark, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane

_STEP_M = 0.5
_LINE_REACH_M = 25.0
"""A stop line this far before a junction belongs to it, and may lie before the lane of the way that it holds for."""


class StopLineAhead(NamedTuple):
    """A stop line at arc length `s` of the route's reference, m."""

    s: float
    line: StopLine


class CrosswalkAhead(NamedTuple):
    """A crosswalk that the route crosses from `s_from` to `s_to`, m."""

    s_from: float
    s_to: float
    crosswalk: Crosswalk


class JunctionAhead(NamedTuple):
    """A junction that the route is in from `s_from` to `s_to` (m), over the lanes `route.lanes[first : last + 1]`; or
    several joined ones with the links between them, which are one to the car: it cannot wait there (INT-7).

    From `approach_from` on (m) the lane that leads into it is not to be left any more.
    """

    s_from: float
    s_to: float
    junction: Junction
    """The first of joined ones."""
    first: int
    last: int
    approach_from: float


class JunctionApproach(NamedTuple):
    """Bounds of the zone before a junction's stop line in which lanes are not changed (NOR-2), and of a junction, m.

    The zone is `least` long whatever the marks say, and as long as the marks between the lanes of the direction are
    solid, but no more than `most`. Junctions with less than `room` between them are joined.
    """

    least: float = 10.0
    most: float = 60.0
    room: float = JOINED_M


DEFAULT_APPROACH = JunctionApproach()
_JUNCTIONS: WeakKeyDictionary[Route, dict[JunctionApproach, tuple[JunctionAhead, ...]]] = WeakKeyDictionary()


def stop_lines_ahead(road_map: RoadMap, route: Route, s: float, ahead: float = 80.0) -> tuple[StopLineAhead, ...]:
    """Stop lines between `s` and `s + ahead`, nearest first: those on stretches that the route drives to the end
    or beyond.

    A line at the very place where a lane is left sideways belongs to the lane that the route changes to. Where the
    route ends before the way that a line holds for, the lines of all ways count.
    """
    found = []
    for i, stretch in enumerate(_within(route, s, ahead + _LINE_REACH_M), start=route.index_at(s)):
        for line, lane_s in _lines_on(road_map, route, i):
            at = _on_route(stretch, lane_s)
            if at is not None and s <= at <= s + ahead:
                found.append(StopLineAhead(at, line))
    return tuple(sorted(found, key=lambda each: each.s))


def _lines_on(road_map: RoadMap, route: Route, i: int) -> Iterator[tuple[StopLine, float]]:
    """Stop lines on stretch `i` of a route, and how far along its lane (m)."""
    lane = route.lanes[i].lane
    for line in road_map.stop_lines_of(lane, route.lane_before(i)):
        yield line, line.s
    for line in road_map.stop_lines_across(lane) if i == len(route.lanes) - 1 else ():
        if line.approach is not None:
            yield line, road_map.place_of(line)[1]


def crosswalks_ahead(road_map: RoadMap, route: Route, s: float, ahead: float = 80.0) -> tuple[CrosswalkAhead, ...]:
    """Crosswalks that the route is on somewhere between `s` and `s + ahead`, nearest first."""
    spans: dict[tuple[int, int], tuple[float, float]] = {}
    for k, stretch in enumerate(_within(route, s, ahead)):
        for number, start, end in road_map.crosswalks_of(stretch.lane):
            low, high = max(start, stretch.lane_from), min(end, stretch.lane_to)
            if high <= low:
                continue
            span = (stretch.route_s(low), stretch.route_s(high))
            before = spans.pop((number, k - 1), None)
            spans[number, k] = span if before is None else (before[0], span[1])
    found = [
        CrosswalkAhead(*span, road_map.crosswalks[number])
        for (number, _), span in spans.items()
        if span[1] >= s and span[0] <= s + ahead
    ]
    return tuple(sorted(found, key=lambda each: each.s_from))


def junctions_ahead(
    road_map: RoadMap, route: Route, s: float, ahead: float = 80.0, approach: JunctionApproach = DEFAULT_APPROACH
) -> tuple[JunctionAhead, ...]:
    """Junctions that the route is in somewhere between `s` and `s + ahead`, nearest first."""
    known = _JUNCTIONS.setdefault(route, {})
    if approach not in known:
        known[approach] = _junctions(road_map, route, approach)
    return tuple(each for each in known[approach] if each.s_to >= s and each.s_from <= s + ahead)


def _junctions(road_map: RoadMap, route: Route, approach: JunctionApproach) -> tuple[JunctionAhead, ...]:
    found: list[JunctionAhead] = []
    for i, stretch in enumerate(route.lanes):
        junction = road_map.lanes[stretch.lane].junction
        if junction is None:
            continue
        if found and (found[-1].last == i - 1 or stretch.s_from - found[-1].s_to < approach.room):
            found[-1] = found[-1]._replace(s_to=stretch.s_to, last=i)
            continue
        begin = _approach_from(road_map, route, i, found[-1].s_to if found else 0.0, approach)
        found.append(JunctionAhead(stretch.s_from, stretch.s_to, road_map.junctions[junction], i, i, begin))
    return tuple(found)


def _approach_from(road_map: RoadMap, route: Route, first: int, after: float, approach: JunctionApproach) -> float:
    """Where the zone before the stretch `first` begins, not before `after`, the end of the junction before (m)."""
    entry = route.lanes[first].s_from
    low = max(after, entry - approach.most)
    near = max(low, entry - _LINE_REACH_M)
    lines = stop_lines_ahead(road_map, route, near, entry - near)
    begin = solid = min((each.s for each in lines), default=entry)
    for stretch in reversed(route.lanes[:first]):
        if stretch.s_to <= low or solid > stretch.s_to + _STEP_M:
            break
        solid = min(solid, _solid_from(road_map, stretch, max(low, stretch.s_from), min(begin, stretch.s_to)))
    return max(low, min(solid, begin - approach.least))


def _solid_from(road_map: RoadMap, stretch: RouteLane, low: float, high: float) -> float:
    """From where on up to `high` there are lanes beside a stretch to which no mark may be crossed; `high`: nowhere."""
    lane = road_map.lanes[stretch.lane]
    sides = ((lane.left_neighbour, lane.left_marks), (lane.right_neighbour, lane.right_marks))
    marks = [side for beside, side in sides if _is_driven(road_map, beside)]
    if not marks or high <= low:
        return high
    step = (high - low) / np.ceil((high - low) / _STEP_M)
    at = np.arange(low + 0.5 * step, high, step)
    along = stretch.lane_from + (at - stretch.s_from) / stretch.scale
    crossable = np.flatnonzero(_any_crossable(marks, along))
    if len(crossable) == 0:
        return low
    return float(at[crossable[-1]] + 0.5 * step)


def _is_driven(road_map: RoadMap, lane_id: LaneId | None) -> bool:
    return lane_id is not None and road_map.lanes[lane_id].type == DRIVING


def _any_crossable(marks: list[tuple[LaneMark, ...]], along: FloatArray) -> BoolArray:
    return np.asarray(np.any([crossable_at(side, along) for side in marks], axis=0), dtype=np.bool_)


def _within(route: Route, s: float, ahead: float) -> Iterator[RouteLane]:
    for stretch in route.lanes[route.index_at(s) :]:
        if stretch.s_from > s + ahead:
            return
        yield stretch


def _on_route(stretch: RouteLane, lane_s: float) -> float | None:
    """Arc length on the route of a place on the stretch, or before it where that begins with its lane; its end belongs
    to it unless it is left sideways there.
    """
    if not stretch.lane_from <= max(lane_s, 0.0) <= stretch.lane_to or (stretch.change and lane_s >= stretch.lane_to):
        return None
    return stretch.route_s(lane_s)
