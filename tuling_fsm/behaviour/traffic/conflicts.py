"""Where the route crosses or meets other ways through a junction, and the vehicles that come along them (INT-7)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.core.arrays import FloatArray, IntArray
from tuling_fsm.core.kernels import array_kernel
from tuling_fsm.map.ahead import JunctionAhead
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.right_of_way import entries, has_sign, turns_across, way_headings
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane
from tuling_fsm.world.lane_index import LIGHT, LaneIndex
from tuling_fsm.world.lane_kernels import DEPTH

_CLEARANCE_M = 2.3
"""Two vehicles whose paths are nearer than this may touch: half a width each, and some room."""
_SAMPLE = 2
_INSIDE_M = 1.0
_INSIDE_LINE_M = 3.0


class OpposingTurn(Enum):
    """Which of two vehicles that come from opposite sides turns across the other, and gives way."""

    NONE = 0
    OTHER = 1
    CAR = 2


class ConflictZone(NamedTuple):
    """A stretch of the route (arc lengths, m) that a stretch of another connecting lane comes near to."""

    lane: int
    own_from: float
    own_to: float
    other_from: float
    other_to: float
    across: OpposingTurn
    signed: bool
    """Whether all vehicles on the other lane have a sign that makes them give way."""


@dataclass(frozen=True, eq=False)
class JunctionPassage:
    """The route's way through one junction, or joined ones."""

    conflicts: tuple[ConflictZone, ...]
    by_lane: IntArray
    """Index into `conflicts` by lane number, -1 for none; one more entry at the end for lane -1."""

    @property
    def has_priority(self) -> bool:
        """Whether all other vehicles give way by sign or turn where the car has no sign itself."""
        return all(conflict.signed or conflict.across is OpposingTurn.OTHER for conflict in self.conflicts)


class ConflictVehicle(NamedTuple):
    """A vehicle that may come into a conflict. Distances are from its front bumper along its way, m."""

    row: int
    id: int
    conflict: ConflictZone
    to_conflict: float
    past_conflict: float
    """Until its rear has left it."""
    to_stop: float
    """To its stop line, or else to the junction; negative when it is beyond."""
    line: int
    """Number of that line, -1 for none."""
    speed: float
    standing_for: float
    inside: bool
    likeliest: bool
    """Whether this is the way that fits the vehicle best."""


_PASSAGES: WeakKeyDictionary[Route, dict[int, JunctionPassage]] = WeakKeyDictionary()


def passage_through(now: TrafficSituation, junction: JunctionAhead) -> JunctionPassage:
    """The route's way through a junction, worked out once."""
    known = _PASSAGES.setdefault(now.route, {})
    key = junction.first
    if key not in known:
        known[key] = _crossing(now.road_map, now.index, now.route, junction)
    return known[key]


def _crossing(road_map: RoadMap, index: LaneIndex, route: Route, junction: JunctionAhead) -> JunctionPassage:
    found: dict[int, ConflictZone] = {}
    at, parts = junction.first, route.lanes[junction.first : junction.last + 1]
    for _, group in itertools.groupby(parts, key=lambda part: road_map.lanes[part.lane].junction):
        way = tuple(group)
        before = route.lanes[at - 1].lane if at > 0 else None
        at += len(way)
        for number, conflict in _conflicts(road_map, index, route, way, before):
            found[number] = _joined(found.get(number), conflict)
    by_lane = np.full(len(index.ids) + 1, -1, dtype=np.int64)
    conflicts = tuple(found.values())
    for i, conflict in enumerate(conflicts):
        by_lane[conflict.lane] = i
    return JunctionPassage(conflicts, by_lane)


def _conflicts(
    road_map: RoadMap, index: LaneIndex, route: Route, way: tuple[RouteLane, ...], before: LaneId | None
) -> Iterator[tuple[int, ConflictZone]]:
    """Those of the route's way through one junction, with the numbers of the other lanes; `before` is the lane that
    leads into it, if any. A way outside junctions has none.
    """
    junction = road_map.lanes[way[0].lane].junction
    if junction is None:
        return
    approach = _approach(road_map, way[0].lane, before)
    for part in way:
        own = road_map.lanes[part.lane].center
        for other_id in road_map.junctions[junction].conflicts.get(part.lane, ()):
            number = index.number.get(other_id)
            if number is None or approach & entries(road_map, other_id):
                continue
            other = road_map.lanes[other_id]
            near = _near(own.xy, own.s, other.center.xy, other.center.s, _CLEARANCE_M, _SAMPLE)
            if near[0] > near[1]:
                continue
            own_from, own_to = (part.route_s(at) for at in near[:2])
            across = _across(road_map, route, way, other_id)
            yield number, ConflictZone(number, own_from, own_to, near[2], near[3], across, has_sign(road_map, other_id))


def _across(road_map: RoadMap, route: Route, way: tuple[RouteLane, ...], other: LaneId) -> OpposingTurn:
    begin, end = (route.reference.at(s).heading for s in (way[0].s_from, way[-1].s_to))
    own, theirs = (begin, end), way_headings(road_map, other)
    if turns_across(own, theirs, road_map.left_hand):
        return OpposingTurn.CAR
    return OpposingTurn.OTHER if turns_across(theirs, own, road_map.left_hand) else OpposingTurn.NONE


def _approach(road_map: RoadMap, first: LaneId, before: LaneId | None) -> frozenset[LaneId]:
    """All lanes of the carriageway by which the route comes to the junction."""
    ways = entries(road_map, first) | (frozenset([before]) if before is not None else frozenset())
    return frozenset(beside for way in ways for beside in road_map.same_direction(way))


def _joined(one: ConflictZone | None, other: ConflictZone) -> ConflictZone:
    if one is None:
        return other
    return one._replace(
        own_from=min(one.own_from, other.own_from), own_to=max(one.own_to, other.own_to),
        other_from=min(one.other_from, other.other_from), other_to=max(one.other_to, other.other_to),
    )  # fmt: skip


@array_kernel
def _near(
    own: FloatArray, own_s: FloatArray, other: FloatArray, other_s: FloatArray, clearance: float, sample: int
) -> tuple[float, float, float, float]:
    """First and last arc length at which each of two curves is nearer to the other than `clearance`."""
    a0, a1, b0, b1 = np.inf, -np.inf, np.inf, -np.inf
    for i in range(0, len(own), sample):
        for j in range(0, len(other), sample):
            dx, dy = own[i, 0] - other[j, 0], own[i, 1] - other[j, 1]
            if dx * dx + dy * dy < clearance * clearance:
                a0, a1 = min(a0, own_s[i]), max(a1, own_s[i])
                b0, b1 = min(b0, other_s[j]), max(b1, other_s[j])
    return a0, a1, b0, b1


def warm_up() -> None:
    """Compile and load the kernel of the conflicts, so that no tick has to."""
    line, along = np.zeros((2, 2)), np.zeros(2)
    _near(line, along, line, along, _CLEARANCE_M, _SAMPLE)


def conflict_vehicles(now: TrafficSituation, passage: JunctionPassage) -> list[ConflictVehicle]:
    """Vehicles that are in a conflict with the route or may come into it, by each way that they may take."""
    traffic = now.world.traffic
    if not passage.conflicts or len(traffic.chain) == 0:
        return []
    hits = passage.by_lane[traffic.chain]
    found = []
    for m, depth in zip(*(axis.tolist() for axis in np.nonzero(hits >= 0)), strict=True):
        conflict, row = passage.conflicts[hits[m, depth]], int(traffic.chain_row[m])
        half = 0.5 * float(traffic.length[row])
        begin = float(traffic.chain_begin[m, depth])
        past = begin + conflict.other_to + half
        if past < 0.0:
            continue
        to_entry, entry_depth = _entry(now.index, traffic.chain[m], traffic.chain_begin[m], depth)
        line, to_line = _line(now, traffic.chain[m], traffic.chain_begin[m], entry_depth, to_entry)
        to_stop = min(to_line, to_entry) - half
        found.append(
            ConflictVehicle(
                row=row, id=int(traffic.id[row]), conflict=conflict,
                to_conflict=begin + conflict.other_from - half, past_conflict=past, to_stop=to_stop, line=line,
                speed=float(traffic.speed[row]), standing_for=float(traffic.standing_for[row]),
                inside=entry_depth == 0 or to_entry - half < -_INSIDE_M,
                likeliest=m == 0 or int(traffic.chain_row[m - 1]) != row,
            )
        )  # fmt: skip
    return found


def _entry(index: LaneIndex, chain: IntArray, begin: FloatArray, depth: int) -> tuple[float, int]:
    """Where a chain enters the junction of its lane at `depth`, or the first of those joined to it: distance from the
    object's centre, and depth.
    """
    while depth > 0 and index.in_crossing[chain[depth - 1]]:
        depth -= 1
    return float(begin[depth]), depth


def _line(
    now: TrafficSituation, chain: IntArray, begin: FloatArray, entry_depth: int, to_entry: float
) -> tuple[int, float]:
    """The last stop line on a chain before its junction (or just inside), and the distance to it from the centre."""
    arrays, reach = now.index.arrays, now.parameters.junction.line_reach
    best, distance = -1, math.inf
    for depth in range(min(entry_depth + 1, DEPTH)):
        number = int(chain[depth])
        for k in range(int(arrays.line_start[number]), int(arrays.line_start[number + 1])):
            at = float(begin[depth] + arrays.line_s[k])
            if depth > 0 and int(arrays.line_approach[k]) not in (-1, int(chain[depth - 1])):
                continue
            if to_entry - reach <= at <= to_entry + _INSIDE_LINE_M:
                best, distance = k, at
    return best, distance


def is_light(now: TrafficSituation, line: int) -> bool:
    """Whether a numbered line is that of a light."""
    return line >= 0 and bool(now.index.arrays.line_kind[line] == LIGHT)
