"""What a route meets ahead: stop lines, crosswalks and junctions, with their arc lengths on the route's reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tuling_fsm.map.lanes import Crosswalk, Junction, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane


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
    """A junction that the route is in from `s_from` to `s_to` (m), over the lanes `route.lanes[first : last + 1]`."""

    s_from: float
    s_to: float
    junction: Junction
    first: int
    last: int


def stop_lines_ahead(road_map: RoadMap, route: Route, s: float, ahead: float = 80.0) -> tuple[StopLineAhead, ...]:
    """Stop lines between `s` and `s + ahead`, nearest first: those on stretches that the route drives to the end
    or beyond.

    A line at the very place where a lane is left sideways belongs to the lane that the route changes to.
    """
    found = []
    for stretch in _within(route, s, ahead):
        for line in road_map.stop_lines_of(stretch.lane):
            at = _on_route(stretch, line.s)
            if at is not None and s <= at <= s + ahead:
                found.append(StopLineAhead(at, line))
    return tuple(sorted(found, key=lambda each: each.s))


def crosswalks_ahead(road_map: RoadMap, route: Route, s: float, ahead: float = 80.0) -> tuple[CrosswalkAhead, ...]:
    """Crosswalks that the route is on somewhere between `s` and `s + ahead`, nearest first."""
    spans: dict[tuple[int, int], tuple[float, float]] = {}
    for k, stretch in enumerate(_within(route, s, ahead)):
        for number, start, end in road_map.crosswalks_of(stretch.lane):
            low, high = max(start, stretch.lane_from), min(end, stretch.lane_to)
            if high <= low:
                continue
            scale = _scale(stretch)
            span = (
                stretch.s_from + scale * (low - stretch.lane_from),
                stretch.s_from + scale * (high - stretch.lane_from),
            )
            before = spans.pop((number, k - 1), None)
            spans[number, k] = span if before is None else (before[0], span[1])
    found = [
        CrosswalkAhead(*span, road_map.crosswalks[number])
        for (number, _), span in spans.items()
        if span[1] >= s and span[0] <= s + ahead
    ]
    return tuple(sorted(found, key=lambda each: each.s_from))


def junctions_ahead(road_map: RoadMap, route: Route, s: float, ahead: float = 80.0) -> tuple[JunctionAhead, ...]:
    """Junctions that the route is in somewhere between `s` and `s + ahead`, nearest first."""
    found: list[JunctionAhead] = []
    for i, stretch in enumerate(route.lanes):
        junction = road_map.lanes[stretch.lane].junction
        if junction is None:
            continue
        if found and found[-1].last == i - 1 and found[-1].junction.id == junction:
            found[-1] = found[-1]._replace(s_to=stretch.s_to, last=i)
        else:
            found.append(JunctionAhead(stretch.s_from, stretch.s_to, road_map.junctions[junction], i, i))
    return tuple(each for each in found if each.s_to >= s and each.s_from <= s + ahead)


def _within(route: Route, s: float, ahead: float) -> Iterator[RouteLane]:
    for stretch in route.lanes[route.index_at(s) :]:
        if stretch.s_from > s + ahead:
            return
        yield stretch


def _scale(stretch: RouteLane) -> float:
    """Metres of the reference for one metre of the lane's centre."""
    return (stretch.s_to - stretch.s_from) / max(stretch.lane_to - stretch.lane_from, 1e-6)


def _on_route(stretch: RouteLane, lane_s: float) -> float | None:
    """Arc length on the route of a place on the stretch; its end belongs to it unless it is left sideways there."""
    if not stretch.lane_from <= lane_s <= stretch.lane_to or (stretch.change and lane_s >= stretch.lane_to):
        return None
    return stretch.s_from + _scale(stretch) * (lane_s - stretch.lane_from)
