"""The lanes beside and along a route as lines for the planner, cut from chains that are built once a section."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core.arrays import FloatArray, runs
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.core.request import LaneEnd, LaneLine
from tuling_fsm.map.bends import relax
from tuling_fsm.map.free_width import free_widths
from tuling_fsm.map.lane_graph import MIN_WIDTH_M
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane
from tuling_fsm.map.side_by_side import arc_abreast, lanes_abreast
from tuling_fsm.map.stitch import MEND_M, arc_length, cut, join, resample

REACH_M = 50.0
"""Chains are built in multiples of this beyond the section that they start from, m."""

MIN_LINE_M = 1.0
"""What is left of a lane ahead is no line any more below this, m."""

LEFT, RIGHT, LEFT_FREE, RIGHT_FREE, LIMIT, ROUTE_S, LEFT_ROAD, RIGHT_ROAD = range(3, 11)
"""Columns of a chain after x, y, heading."""

PREPARE_M = 10.0
"""This far before a section ends, the chains of the next one are built, one a call, so that no single call takes
long.
"""

_Key = tuple[int, LaneId, float, float]


class _Visit(NamedTuple):
    """A section that the route runs through, with the lanes it uses there: `route.lanes[first : last + 1]`."""

    first: int
    last: int
    carriageway: tuple[LaneId, ...]


@dataclass(frozen=True, eq=False)
class _Chain:
    rows: FloatArray
    s: FloatArray
    end: LaneEnd
    """What ends the chain, `HORIZON` if it merely was not built farther."""
    wide: tuple[tuple[int, int], ...]
    """First row, and the one after the last, of every stretch that is wide enough to be driven."""


@dataclass(frozen=True, eq=False)
class _Corridor:
    """What is kept for a route: its visits, the visit of each of its lanes, chains and ways by visit, lane, reach back
    and on.
    """

    visits: tuple[_Visit, ...]
    visit_of: tuple[int, ...]
    chains: dict[_Key, _Chain] = field(default_factory=dict)
    ways: dict[_Key, Route | None] = field(default_factory=dict)


_corridors: WeakKeyDictionary[Route, _Corridor] = WeakKeyDictionary()


def lane_lines(
    road_map: RoadMap, route: Route, s: float, behind: float = 10.0, ahead: float = 80.0
) -> tuple[LaneLine, ...]:
    """Every driving lane of the route's carriageway at arc length `s` of its reference, left to right; in a junction
    also the connecting lanes of other roads that are side by side with the route's.

    A line runs from `behind` m before to `ahead` m after `s`, measured along the route, through successors that are
    lanes of the route or lie side by side with one. It may begin later where its lane does, and before the route's own
    first pose (`route_s0` < 0) as far as the first lane reaches. Points are at most 0.5 m apart. The route's own lane
    has `shift` 0.
    """
    corridor = _corridor(road_map, route)
    index = corridor.visit_of[route.index_at(s)]
    own = route.lanes[route.index_at(s)].lane
    carriageway = corridor.visits[index].carriageway
    back, on = _reach(behind), _reach(ahead)
    lines = []
    for place, lane_id in enumerate(carriageway):
        chain = _chain(road_map, route, corridor, (index, lane_id, back, on))
        line = _window(chain, s, behind, ahead, carriageway.index(own) - place)
        if line is not None:
            lines.append(line)
    if index + 1 < len(corridor.visits) and s > _span(route, corridor.visits[index]).s_to - PREPARE_M:
        keys = [(index + 1, lane_id, back, on) for lane_id in corridor.visits[index + 1].carriageway]
        missing = [key for key in keys if key not in corridor.chains]
        if missing:
            _chain(road_map, route, corridor, missing[0])
    return tuple(lines)


def way_beside(
    road_map: RoadMap, route: Route, s: float, shift: int, behind: float = 10.0, ahead: float = 80.0
) -> Route | None:
    """The way of a car that stays in the lane beside, where it leads through a junction side by side with the route's:
    with the same reference, and with the lanes that are driven from `behind` m before `s` to `ahead` m after it.

    None where it leads through no junction by another lane than the route's. `shift` is that of the lane's line.
    """
    corridor = _corridor(road_map, route)
    index = corridor.visit_of[route.index_at(s)]
    carriageway = corridor.visits[index].carriageway
    place = carriageway.index(route.lanes[route.index_at(s)].lane) - shift
    if shift == 0 or not 0 <= place < len(carriageway):
        return None
    key = (index, carriageway[place], _reach(behind), _reach(ahead))
    if key not in corridor.ways:
        first, lanes, _ = _lanes_along(road_map, route, corridor.visits, *key)
        corridor.ways[key] = _way_through(road_map, route, corridor.visits, first, lanes)
    return corridor.ways[key]


def _way_through(
    road_map: RoadMap, route: Route, visits: tuple[_Visit, ...], first: int, lanes: list[LaneId]
) -> Route | None:
    """The route with other lanes in some of its visits, from `first` on; None without a junction among these."""
    driven: list[RouteLane] = []
    through = False
    for i, visit in enumerate(visits):
        stretches = route.lanes[visit.first : visit.last + 1]
        lane = road_map.lanes[lanes[i - first]] if first <= i < first + len(lanes) else None
        if lane is None or lane.id == stretches[-1].lane:
            driven.extend(stretches)
            continue
        through = through or lane.junction is not None
        ends = ((stretches[0].lane, stretches[0].lane_from), (stretches[-1].lane, stretches[-1].lane_to))
        lane_from, lane_to = (arc_abreast(road_map.lanes[own], at, lane) for own, at in ends)
        driven.append(RouteLane(lane.id, lane_from, lane_to, stretches[0].s_from, stretches[-1].s_to, 0))
    return Route(tuple(driven), route.reference) if through else None


def _corridor(road_map: RoadMap, route: Route) -> _Corridor:
    if route not in _corridors:
        _corridors[route] = _survey(road_map, route)
    return _corridors[route]


def _reach(reach: float) -> float:
    return max(1, math.ceil(reach / REACH_M)) * REACH_M


def _chain(road_map: RoadMap, route: Route, corridor: _Corridor, key: _Key) -> _Chain:
    if key not in corridor.chains:
        corridor.chains[key] = _build_chain(road_map, route, corridor, *key)
    return corridor.chains[key]


def _survey(road_map: RoadMap, route: Route) -> _Corridor:
    visits: list[_Visit] = []
    visit_of = []
    for i, stretch in enumerate(route.lanes):
        if i and route.lanes[i - 1].change:
            visits[-1] = visits[-1]._replace(last=i)
        else:
            visits.append(_Visit(i, i, lanes_abreast(road_map, stretch.lane)))
        visit_of.append(len(visits) - 1)
    return _Corridor(tuple(visits), tuple(visit_of))


def _window(chain: _Chain, s: float, behind: float, ahead: float, shift: int) -> LaneLine | None:
    """The part of a chain between two arc lengths of the route; None where it ends before the car."""
    route_s = chain.rows[:, ROUTE_S]
    lo = max(int(np.searchsorted(route_s, s - behind, side="right")) - 1, 0)
    hi = int(np.searchsorted(route_s, s + ahead, side="left")) + 1
    hi = min(hi, len(route_s))
    if hi - lo < 2 or (route_s[hi - 1] < s + MIN_LINE_M and chain.end is LaneEnd.LANE_END):
        return None
    end = chain.end if hi == len(route_s) else LaneEnd.HORIZON
    if shift != 0:
        opens, closes = next((row for row in chain.wide if route_s[row[1] - 1] >= s + MIN_LINE_M), (hi, hi))
        lo, hi, end = max(lo, opens), min(hi, closes), LaneEnd.LANE_END if closes < hi else end
        if hi - lo < 2:
            return None
    rows = chain.rows[lo:hi]
    return LaneLine(
        center=Polyline(np.ascontiguousarray(rows[:, :2]), chain.s[lo:hi] - chain.s[lo], rows[:, 2]),
        left=rows[:, LEFT],
        right=rows[:, RIGHT],
        left_free=rows[:, LEFT_FREE],
        right_free=rows[:, RIGHT_FREE],
        limit=rows[:, LIMIT],
        left_road=rows[:, LEFT_ROAD],
        right_road=rows[:, RIGHT_ROAD],
        shift=shift,
        end=end,
        route_s0=float(route_s[lo]),
    )


def _build_chain(
    road_map: RoadMap, route: Route, corridor: _Corridor, index: int, lane_id: LaneId, back: float, on: float
) -> _Chain:
    """The lane's predecessors and successors along the route, joined and evenly spaced."""
    first, lanes, end = _lanes_along(road_map, route, corridor.visits, index, lane_id, back, on)
    pieces = [_piece(road_map, route, corridor.visits, i, lane) for i, lane in enumerate(lanes, first)]
    rows, _ = join(pieces, [MEND_M] * (len(pieces) - 1))
    rows, _, _ = resample(rows, np.zeros(0))
    rows = relax(rows, slice(LEFT, LIMIT))
    rows = np.column_stack((rows, road_map.road_beside(rows[:, :LEFT_FREE])))
    return _Chain(np.asfortranarray(rows), arc_length(rows), end, _wide(rows))


def _lanes_along(
    road_map: RoadMap, route: Route, visits: tuple[_Visit, ...], index: int, lane_id: LaneId, back: float, on: float
) -> tuple[int, list[LaneId], LaneEnd]:
    """The first visit that a lane comes through on its way along the route, its lane there and in the following ones,
    and what ends it.
    """
    lanes = [lane_id]
    first = index
    while first > 0 and _span(route, visits[first]).s_from > _span(route, visits[index]).s_from - back:
        onto = _linked(route, visits, first - 1, road_map.lanes[lanes[0]].predecessors, lanes[0])
        if onto is None:
            break
        lanes.insert(0, onto)
        first -= 1
    i, end = index, LaneEnd.HORIZON
    limit = _span(route, visits[index]).s_to + on
    while _span(route, visits[i]).s_to < limit:
        if i + 1 == len(visits):
            end = LaneEnd.ROUTE_END
            break
        onto = _linked(route, visits, i + 1, road_map.lanes[lanes[-1]].successors, lanes[-1])
        if onto is None:
            end = LaneEnd.LANE_END
            break
        lanes.append(onto)
        i += 1
    return first, lanes, end


def _wide(rows: FloatArray) -> tuple[tuple[int, int], ...]:
    """Where a chain is no narrower than what is driven: a lane may open, close, and open again."""
    enough = rows[:, LEFT] + rows[:, RIGHT] >= MIN_WIDTH_M
    return tuple((first, after) for first, after in runs(enough).tolist())


def _span(route: Route, visit: _Visit) -> RouteLane:
    """A whole visit as one stretch: where it begins and ends on the route."""
    return route.lanes[visit.first]._replace(s_to=route.lanes[visit.last].s_to)


def _linked(
    route: Route, visits: tuple[_Visit, ...], index: int, linked: tuple[LaneId, ...], lane_id: LaneId
) -> LaneId | None:
    """Which of the linked lanes goes on beside the route: the route's own if it is among them, else the first in
    the carriageway.
    """
    visit = visits[index]
    used = [stretch.lane for stretch in route.lanes[visit.first : visit.last + 1]]
    own = used[0] if lane_id.road == used[0].road or index else used[-1]
    options = [lane for lane in visit.carriageway if lane in linked]
    for preferred in (own, *used):
        if preferred in options:
            return preferred
    return options[0] if options else None


def _piece(road_map: RoadMap, route: Route, visits: tuple[_Visit, ...], index: int, lane_id: LaneId) -> FloatArray:
    """The columns of one lane in one visit; at the ends of the route cut where the route starts (with what lies
    behind) and ends.
    """
    visit, lane = visits[index], road_map.lanes[lane_id]
    stretches = route.lanes[visit.first : visit.last + 1]
    route_s = _route_s(road_map, stretches, lane)
    left_free, right_free = free_widths(road_map.lanes, lane_id)
    limit = np.full(len(route_s), lane.limit)
    columns = (lane.center.xy, lane.center.heading, lane.left, lane.right, left_free, right_free, limit, route_s)
    rows = np.column_stack(columns)
    if index + 1 < len(visits):
        return rows
    end = float(np.interp(stretches[-1].s_to, route_s, lane.center.s))
    return cut(rows, lane.center.s, 0.0, max(end, 0.1))


def _route_s(road_map: RoadMap, stretches: tuple[RouteLane, ...], lane: Lane) -> FloatArray:
    """Arc length on the route for every sample of a lane beside it."""
    sample = np.arange(len(lane.center.s), dtype=np.float64)
    first, last = (_abreast(road_map.lanes[stretches[end].lane], lane) for end in (0, -1))
    on_route = stretches[0].s_from + first - stretches[0].lane_from
    for stretch in stretches:
        along = _abreast(road_map.lanes[stretch.lane], lane)
        begin = float(np.interp(stretch.lane_from, along, sample))
        driven = stretch.s_from + stretch.scale * (along - stretch.lane_from)
        on_route = np.where(sample >= begin, driven, on_route)
    beyond = last > stretches[-1].lane_to
    on_route[beyond] = stretches[-1].s_to + last[beyond] - stretches[-1].lane_to
    return np.maximum.accumulate(on_route)


def _abreast(own: Lane, lane: Lane) -> FloatArray:
    """Arc length on a lane of the route beside every sample of another one; samples lie abreast within a section."""
    if lane.id[:2] == own.id[:2]:
        return own.center.s
    return lane.center.s * (own.length / lane.length)
