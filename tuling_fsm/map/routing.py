"""Routes over lanes: Dijkstra with lane changes, via points and blocked lanes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tuling_fsm.core.geometry import Pose, distance, wrap_angle
from tuling_fsm.map.lane_graph import beside
from tuling_fsm.map.lanes import Lane, LaneId, LanePosition
from tuling_fsm.map.matching import match_route
from tuling_fsm.map.reference import (
    CHANGE_M,
    ROUNDING_M,
    LaneStretch,
    abeam,
    build_route,
    chain_stretches,
    route_through,
)
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route

__all__ = ["RouteResult", "match_route", "plan_route", "route_through"]

NEAR_M = 10.0
"""A start or goal farther than this from every driving lane is off the road, m."""

OWN_SIDE_M = 4.0
"""So near to the start may be the edge of the lane that runs its way, m."""

MAX_TURNED = 2.0
"""Lanes whose direction differs from a pose by more than this (rad) are no start or goal for it, if there are
others.
"""

MIN_CHANGE_M = (12.0, 6.0)
"""Shortest stretch of crossable mark on which a lane change is planned, m; the second where there is no way otherwise
but past the goal and round to it again. It is longer where the lanes are wide, so that no change is steeper than
`STEEPEST`.
"""

STEEPEST = 0.825
"""Largest slope of a lane change against its lanes: with a little less than `matching.MAX_TURNED`, a route that is
planned is one that can be matched. A car that turns within 5 m gets over a lane of 3.5 m in 8 m, slowly.
"""

QUINTIC_SLOPE = 1.875
"""Largest slope of the quintic step that a lane change is drawn as, for a height and a length of 1."""

IN_JUNCTION_COST_M = 40.0
"""Metres of detour that it is worth to change lanes outside a junction, where there is a line inside to cross."""

TIGHT_COST_M = 500.0
"""Metres of detour that a bend is worth that needs reversing."""

CHANGE_COST_M = 25.0
"""Metres of detour that one lane change is worth."""

SHORT_CHANGE_COST = 2.0
"""Metres of detour for each metre that a lane change lacks of its full length."""

TURNED_COST_M = 15.0
"""Metres of detour per radian between a pose and the lane it is put on."""

OFFSET_COST = 5.0
"""Metres of detour per metre between a pose and the centre of the lane it is put on."""


@dataclass(frozen=True, eq=False)
class RouteResult:
    """`status`: `ok`, `no_path`, `start_off_road` or `goal_off_road`, `start_blocked` or `goal_blocked` (a via point
    counts as a goal); the route if `ok`.
    """

    status: str
    route: Route | None = None


class _Place(NamedTuple):
    """A place to start or end at, and what it costs to be put there, m."""

    lane: LaneId
    s: float
    cost: float


class _Node(NamedTuple):
    """A lane in the search; `fresh` where it was entered at its beginning and not at the start of the route.

    `changes` counts the lane changes made in its section so far: they share the room that there is. `since` is where
    the last of them can be over at the earliest, m along the lane.
    """

    lane: LaneId
    fresh: bool
    changes: int
    since: float = 0.0


def plan_route(
    road_map: RoadMap, start: Pose, goal: Pose, blocked: Sequence[LaneId] = (), via: Sequence[Pose] = ()
) -> RouteResult:
    """The cheapest route from pose to pose through the via poses, never over a blocked lane. It begins on the lane that
    runs its way beside a start on an oncoming one, where there is a way from there.

    A heading of NaN means that the direction does not matter. Costs are metres, lane changes count as detours.
    """
    own = _own_side(road_map, start)
    if own is not None:
        result = _plan(road_map, (own, *via, goal), blocked)
        if result.route is not None:
            return result
    return _plan(road_map, (start, *via, goal), blocked)


def _own_side(road_map: RoadMap, start: Pose) -> Pose | None:
    """Where a car that is over the middle of the road belongs: on the nearest lane beside it that runs its way.

    None where a lane under it runs its way already, or none beside it does.
    """

    def runs_its_way(position: LanePosition) -> bool:
        return bool(abs(wrap_angle(position.heading - start.heading)) < 0.5 * math.pi)

    under = road_map.positions(start.x, start.y)
    if not under or any(runs_its_way(position) for position in under):
        return None
    beside = road_map.positions(start.x, start.y, radius=OWN_SIDE_M)
    places = [road_map.lanes[each.lane].center.at(each.s) for each in beside if runs_its_way(each)]
    return min(places, key=lambda place: distance(place[:2], start[:2]), default=None)


def _plan(road_map: RoadMap, stops: Sequence[Pose], blocked: Sequence[LaneId]) -> RouteResult:
    places = [_places(road_map, pose, frozenset(blocked)) for pose in stops]
    for i, found in enumerate(places):
        if all(place.lane in blocked for place in found):
            on_road = _places(road_map, stops[i], frozenset())
            return RouteResult(f"{'goal' if i else 'start'}_{'blocked' if on_road else 'off_road'}")
    stretches: list[LaneStretch] = []
    origin = places[0]
    for targets in places[1:]:
        open_targets = [place for place in targets if place.lane not in blocked]
        chain = _chain(road_map, origin, open_targets, frozenset(blocked))
        if chain is None:
            return RouteResult("no_path")
        leg = chain_stretches(road_map, *chain)
        stretches = _append(stretches, leg)
        origin = [_Place(leg[-1].lane, leg[-1].end, 0.0)]
    return RouteResult("ok", build_route(road_map, stretches))


def _places(road_map: RoadMap, pose: Pose, blocked: frozenset[LaneId]) -> list[_Place]:
    """Lanes on which a pose can lie; a blocked one is exchanged for its neighbours."""
    found = _on_graph(road_map, pose, 0.0) or _on_graph(road_map, pose, NEAR_M)
    turned = {position: _turned(pose, position) for position in found}
    found = [position for position in found if turned[position] <= MAX_TURNED] or found
    places: dict[LaneId, _Place] = {}
    for position in found:
        cost = OFFSET_COST * abs(position.offset) + TURNED_COST_M * turned[position]
        lane = road_map.lanes[position.lane]
        numbers = [lane.id] if lane.id not in blocked else [n for n in beside(lane) if n in road_map.graph]
        options = [road_map.lanes[number] for number in numbers]
        for option in options:
            place = _Place(option.id, abeam(lane, position.s, option), cost)
            if option.id not in places or places[option.id].cost > cost:
                places[option.id] = place
    return list(places.values())


def _on_graph(road_map: RoadMap, pose: Pose, radius: float) -> list[LanePosition]:
    found = road_map.positions(pose.x, pose.y, radius=radius)
    return [position for position in found if position.lane in road_map.graph]


def _turned(pose: Pose, position: LanePosition) -> float:
    return abs(wrap_angle(position.heading - pose.heading)) if math.isfinite(pose.heading) else 0.0


Chain = tuple[list[LaneId], float, float]


def _chain(
    road_map: RoadMap, origins: Sequence[_Place], targets: Sequence[_Place], blocked: frozenset[LaneId]
) -> Chain | None:
    """The chain of lanes to a target, as `_search` gives it, with short changes among others where there is need."""
    usual, short = MIN_CHANGE_M
    chain = _search(road_map, origins, targets, blocked, usual)
    needed = chain is None or _comes_round(chain)
    return _search(road_map, origins, targets, blocked, short) if needed else chain


def _comes_round(chain: Chain) -> bool:
    """Whether it changes into the lane of the goal beyond this, and comes to it on a later visit alone."""
    lanes, _, _ = chain
    return lanes[-1] in lanes[1:-1]


def _search(
    road_map: RoadMap, origins: Sequence[_Place], targets: Sequence[_Place], blocked: frozenset[LaneId], room: float
) -> Chain | None:
    """The cheapest chain of lanes with its first and last arc length; None without a way. Lane changes have at least
    `room` (m).
    """
    entry = {place.lane: place.s for place in origins if place.lane not in blocked}
    goals = {place.lane: place for place in targets}
    queue: list[tuple[float, int, _Node | None, _Node | None]] = []
    pushed = 0
    for place in origins:
        if place.lane in entry:
            heapq.heappush(queue, (place.cost, pushed, _Node(place.lane, False, 0), None))
            pushed += 1
    came: dict[_Node, _Node | None] = {}
    reached: dict[tuple[LaneId, bool], list[_Node]] = {}
    while queue:
        cost, _, node, parent = heapq.heappop(queue)
        if node is None:
            assert parent is not None
            return _unwind(came, parent, goals[parent.lane].s, entry, road_map)
        known = reached.setdefault((node.lane, node.fresh), [])
        if any(each.changes <= node.changes and each.since <= node.since for each in known):
            continue
        known.append(node)
        came[node] = parent
        for step_cost, following in _steps(road_map, node, entry, goals, room):
            if following is None or (following.lane not in blocked and following not in came):
                heapq.heappush(queue, (cost + step_cost, pushed, following, node))
                pushed += 1
    return None


def _steps(
    road_map: RoadMap, node: _Node, entry: dict[LaneId, float], goals: dict[LaneId, _Place], least: float
) -> Iterator[tuple[float, _Node | None]]:
    """What can be done from a node, with its cost; None is the goal. Lengths are paid when a lane is left
    lengthwise.
    """
    lane, graph = road_map.lanes[node.lane], road_map.graph
    begin = 0.0 if node.fresh else _entry_on(road_map, lane, entry)
    goal = goals.get(lane.id)
    if goal is not None and goal.s >= max(begin, node.since - ROUNDING_M):
        yield goal.s - begin + goal.cost, None
    for successor in graph.successors[lane.id]:
        yield lane.length - begin + (TIGHT_COST_M if graph.tight(successor) else 0.0), _Node(successor, True, 0)
    for change in graph.changes[lane.id]:
        other = road_map.lanes[change.lane]
        goal = goals.get(change.lane)
        goal_s = math.inf if goal is None else abeam(other, goal.s, lane)
        low = max(change.start, begin)
        first = max(low, node.since)
        shortest = max(least, QUINTIC_SLOPE * change.aside / STEEPEST)
        high = min(change.end, goal_s) if goal_s - first >= shortest else change.end  # Else it is over beyond the goal.
        room = high - first
        if room >= shortest:
            share = min((high - low) / (node.changes + 1), room)
            cost = CHANGE_COST_M + SHORT_CHANGE_COST * max(0.0, CHANGE_M - share)
            cost += 0.0 if lane.junction is None else IN_JUNCTION_COST_M
            over = abeam(lane, first + shortest, other)
            yield cost, _Node(change.lane, node.fresh, node.changes + 1, over)


def _entry_on(road_map: RoadMap, lane: Lane, entry: dict[LaneId, float]) -> float:
    """Where the route begins, seen from a lane beside the one it starts on."""
    if lane.id in entry:
        return entry[lane.id]
    for number, s in entry.items():
        if number.road == lane.id.road and number.section == lane.id.section:
            return abeam(road_map.lanes[number], s, lane)
    return 0.0


def _unwind(
    came: dict[_Node, _Node | None], last: _Node, s_end: float, entry: dict[LaneId, float], road_map: RoadMap
) -> Chain:
    nodes = [last]
    while (parent := came[nodes[-1]]) is not None:
        nodes.append(parent)
    nodes.reverse()
    return [node.lane for node in nodes], _entry_on(road_map, road_map.lanes[nodes[0].lane], entry), s_end


def _append(stretches: list[LaneStretch], leg: list[LaneStretch]) -> list[LaneStretch]:
    """A leg after another: it goes on in the lane in which the one before ended."""
    if not stretches:
        return leg
    joined = leg[0]._replace(start=stretches[-1].start)
    return [*stretches[:-1], joined, *leg[1:]]
