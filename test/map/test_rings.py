"""Routes on rings of several lanes, where a goal that is passed is come to again: none is missed, none far too long."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from map import xodr
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.reference import abeam
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import MIN_CHANGE_M, QUINTIC_SLOPE, STEEPEST, plan_route

RADIUS_M = 60.0
HALF_M = math.pi * RADIUS_M
LANES = (-1, -2, -3)
BETWEEN_LAPS_M = 2.0 * math.pi * 7.0
"""By so much a lap on the outermost lane is longer than one on the innermost."""
MOST_FOR_A_CHANGE_M = 85.0
"""No change costs more metres of detour outside junctions."""

Marks = tuple[tuple[int, int], ...]
"""Where a mark is broken, m along its section: from, to. Elsewhere it is solid."""


class Place(NamedTuple):
    lane: LaneId
    s: float


class Way(NamedTuple):
    length: float
    changes: int


def ring(folder: Path, *sections: tuple[Marks, Marks]) -> RoadMap:
    """A ring of two halves, each with the marks between its three lanes."""
    roads = []
    ends = (("1", "2", 0.0, 0.0), ("2", "1", 2.0 * RADIUS_M, math.pi))
    for (number, other, y, heading), between in zip(ends, sections, strict=True):
        marks = [_records(each) for each in between] + ["solid"]
        lanes = [xodr.lane(n, mark=mark, links=((n,), (n,))) for n, mark in zip(LANES, marks, strict=True)]
        arc = xodr.geometry(0.0, 0.0, y, heading, HALF_M, f'<arc curvature="{1.0 / RADIUS_M}"/>')
        link = xodr.road_link("road", other, "end", "predecessor") + xodr.road_link("road", other, "start")
        roads.append(xodr.road([xodr.section(lanes)], number=number, geometries=arc, length=HALF_M, link=link))
    return xodr.read(folder, *roads)


def _records(broken: Marks) -> str:
    changes = [(0, "solid"), *(record for low, high in broken for record in ((low, "broken"), (high, "solid")))]
    return "".join(f'<roadMark sOffset="{s}" type="{kind}"/>' for s, kind in changes)


def shortest(road_map: RoadMap, start: Place, goal: Place, room: float) -> Way | None:
    """By plain Dijkstra over lane, where the section was entered, and where the last change can be over."""
    queue: list[tuple[float, int, Place | None, float]] = [(0.0, 0, start, start.s)]
    seen: dict[tuple[LaneId, float], list[float]] = {}
    while queue:
        length, changes, place, since = heapq.heappop(queue)
        if place is None:
            return Way(length, changes)
        known = seen.setdefault((place.lane, round(place.s, 3)), [])
        if any(each <= since for each in known):
            continue
        known.append(since)
        if place.lane == goal.lane and goal.s >= since - 1e-6:
            heapq.heappush(queue, (length + goal.s - place.s, changes, None, 0.0))
        for beside, over in _changes(road_map, place, since, room):
            heapq.heappush(queue, (length, changes + 1, beside, over))
        lane = road_map.lanes[place.lane]
        for following in lane.successors:
            heapq.heappush(queue, (length + lane.length - place.s, changes, Place(following, 0.0), 0.0))
    return None


def _changes(road_map: RoadMap, place: Place, since: float, room: float) -> Iterator[tuple[Place, float]]:
    lane = road_map.lanes[place.lane]
    for change in road_map.graph.changes[place.lane]:
        other = road_map.lanes[change.lane]
        over = max(change.start, since) + max(room, QUINTIC_SLOPE * change.aside / STEEPEST)
        if over <= change.end:
            yield Place(other.id, abeam(lane, place.s, other)), abeam(lane, over, other)


def route_between(road_map: RoadMap, start: Place, goal: Place) -> Route | None:
    poses = [road_map.lanes[each.lane].center.at(each.s) for each in (start, goal)]
    return plan_route(road_map, *poses).route


def keeps_to_broken_marks(road_map: RoadMap, route: Route) -> bool:
    return all(
        any(each.start <= a.lane_to <= each.end for each in road_map.graph.windows(a.lane, b.lane))
        for a, b in pairwise(route.lanes)
        if a.change
    )


ALL_BROKEN: Marks = ((0, int(HALF_M)),)
ANY_MARKS = st.lists(st.integers(0, int(HALF_M)), min_size=2, max_size=4, unique=True).map(
    lambda places: tuple(zip(sorted(places)[::2], sorted(places)[1::2], strict=False))
)
"""One broken stretch or two, of any length."""
BROKEN = st.one_of(st.just(ALL_BROKEN), st.just(()), ANY_MARKS)
SECTION = st.tuples(BROKEN, BROKEN)
SHARE = st.sampled_from([0.01, 0.03, 0.6])
AHEAD_M = st.sampled_from([-20.0, 0.0, 3.0, 6.0, 10.0, 60.0, 250.0])
LANE = st.builds(LaneId, st.sampled_from(["1", "2"]), st.just(0), st.sampled_from(LANES))


@pytest.mark.medium
@given(SECTION, SECTION, LANE, SHARE, st.sampled_from(LANES), AHEAD_M)
@settings(max_examples=200)
def test_a_route_is_found_where_there_is_a_way_and_is_hardly_longer(
    tmp_path_factory: pytest.TempPathFactory,
    first: tuple[Marks, Marks],
    second: tuple[Marks, Marks],
    here: LaneId,
    share: float,
    lane: int,
    ahead: float,
) -> None:
    road_map = ring(tmp_path_factory.mktemp("ring"), first, second)
    start = Place(here, share * road_map.lanes[here].length)
    laps, along = divmod(share * HALF_M + ahead, HALF_M)
    there = here._replace(road=here.road if laps % 2 == 0 else "12".replace(here.road, ""), lane=lane)
    goal = Place(there, along / HALF_M * road_map.lanes[there].length)
    usual, short = (shortest(road_map, start, goal, room) for room in MIN_CHANGE_M)
    route = route_between(road_map, start, goal)
    assert (route is None) == (short is None)
    if route is None or short is None:
        return
    assert keeps_to_broken_marks(road_map, route)
    assert route.length >= short.length - BETWEEN_LAPS_M
    way = usual or short
    assert route.length <= way.length + MOST_FOR_A_CHANGE_M * way.changes + BETWEEN_LAPS_M


@pytest.mark.parametrize("ahead", [-6.0, 0.0, 5.0, 7.5])
def test_a_goal_too_near_beside_the_start_is_passed_and_come_to_again(tmp_path: Path, ahead: float) -> None:
    later = ((10, int(HALF_M)),)
    road_map = ring(tmp_path, ((), ()), (later, later))
    for lane, beside in ((-1, -2), (-2, -1), (-2, -3)):
        start, other = Place(LaneId("2", 0, lane), 12.0), road_map.lanes[LaneId("2", 0, beside)]
        goal = Place(other.id, abeam(road_map.lanes[start.lane], start.s, other) + ahead)
        route = route_between(road_map, start, goal)
        assert route is not None
        assert [(each.lane.road, each.lane.lane) for each in route.lanes] == [
            ("2", lane), ("2", beside), ("1", beside), ("2", beside)
        ]  # fmt: skip
        assert route.lanes[0].lane_to < 50.0


def test_a_short_change_is_better_than_another_lap(tmp_path: Path) -> None:
    road_map = ring(tmp_path, (ALL_BROKEN, ALL_BROKEN), (ALL_BROKEN, ALL_BROKEN))
    route = route_between(road_map, Place(LaneId("1", 0, -2), 20.0), Place(LaneId("1", 0, -1), 29.0))
    assert route is not None
    assert route.length < 15.0
