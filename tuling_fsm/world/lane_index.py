"""The driving lanes as flat arrays: what the kernels of this room search and follow.

Lanes are numbered in the order of the map; centres are thinned to what a prediction needs (chords at most 4 m long
that bend by at most 0.05 rad, so within 3 cm of the curve).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, FloatArray, IntArray
from tuling_fsm.core.cells import boxes_by_cell
from tuling_fsm.map.junctions import joining_links
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.right_of_way import gives_way
from tuling_fsm.map.road_map import RoadMap

LIGHT, STOP, YIELD = 0, 1, 2
LINE_KINDS = {"light": LIGHT, "stop": STOP, "yield": YIELD}

_CELL_M = 8.0
_CHORD_M = 4.0
_BEND_RAD = 0.05
_BEND_SPAN_M = 5.0
_CORNER_CUT_M = 1.0
"""A driver who is in a hurry is this far beside the centre of a lane in its bends."""


class LaneArrays(NamedTuple):
    """L lanes with P points in all; lane `i` owns points `start[i]` to `start[i + 1]`, segment `p` runs from point p
    to p + 1.
    """

    start: IntArray
    x: FloatArray
    y: FloatArray
    s: FloatArray
    heading: FloatArray
    left: FloatArray
    right: FloatArray
    point_lane: IntArray
    length: FloatArray
    """Of the lane (L,), m."""
    turn: FloatArray
    """Change of heading from a lane's start to its end, + left, rad (L,)."""
    bend: FloatArray
    """Of the widest arc that a car can drive through a lane, 1/m (L,)."""
    widened: FloatArray
    """How many times wider that arc is than the lane's centre (L,)."""
    limit: FloatArray
    """Speed limit (L,), m/s."""
    bend_at: FloatArray
    """Where half of a lane's turning is done: arc length, m (L,)."""
    in_junction: BoolArray
    successor_start: IntArray
    successor: IntArray
    conflict_start: IntArray
    conflict: IntArray
    """Connecting lanes that share their surface with another one's, without those that part from the same lane."""
    gives_way: BoolArray
    """Of each of them, whether the one gives way to it by sign or turn."""
    beside: IntArray
    """Left and right neighbour in the same direction, -1 for none (L, 2)."""
    line_start: IntArray
    line_s: FloatArray
    line_kind: IntArray
    line_signal: IntArray
    line_approach: IntArray
    """The lane that each line holds for those who come over it, -1 for any."""
    grid: FloatArray
    """x, y of the grid's corner, cell size (m), columns, rows."""
    cell_start: IntArray
    cell_segment: IntArray


@dataclass(frozen=True, eq=False)
class LaneIndex:
    """Lane numbers to ids and back, and the arrays."""

    ids: tuple[LaneId, ...]
    number: dict[LaneId, int]
    arrays: LaneArrays
    in_crossing: BoolArray
    """In a junction, or on a link that joins two (L,)."""
    left_hand: bool
    """Traffic keeps to the left."""


_INDEXES: WeakKeyDictionary[RoadMap, LaneIndex] = WeakKeyDictionary()


def lane_index(road_map: RoadMap) -> LaneIndex:
    """The index of a map, built once."""
    index = _INDEXES.get(road_map)
    if index is None:
        index = _INDEXES[road_map] = _build(road_map)
    return index


def _build(road_map: RoadMap) -> LaneIndex:
    lanes = [road_map.lanes[lane] for lane in road_map.driving_lanes()]
    number = {lane.id: i for i, lane in enumerate(lanes)}
    kept = [_thin(lane) for lane in lanes]
    start = _starts([len(rows) for rows in kept])
    columns = (
        [lane.center.xy[:, 0], lane.center.xy[:, 1], lane.center.s, lane.center.heading, lane.left, lane.right]
        for lane in lanes
    )
    thinned = [[column[rows] for column in group] for group, rows in zip(columns, kept, strict=True)]
    x, y, s, heading, left, right = (_joined([group[i] for group in thinned]) for i in range(6))
    successor_start, successor = _ragged([[number[n] for n in lane.successors if n in number] for lane in lanes])
    conflicts = [[other for other in _conflicts(road_map, lane) if other in number] for lane in lanes]
    conflict_start, conflict = _ragged([[number[other] for other in others] for others in conflicts])
    give = [
        gives_way(road_map, lane.id, other) for lane, others in zip(lanes, conflicts, strict=True) for other in others
    ]
    lines = [sorted(road_map.stop_lines_of(lane.id), key=lambda line: line.s) for lane in lanes]
    flat = [line for group in lines for line in group]
    half = np.array([max(float(lane.left.max()), float(lane.right.max())) for lane in lanes])
    sharpest = np.array([_sharpest(lane) for lane in lanes])
    widened = np.array([_widened(lane, bend) for lane, bend in zip(lanes, sharpest, strict=True)])
    grid, cell_start, cell_segment = _grid(x, y, start, half)
    arrays = LaneArrays(
        start=start, x=x, y=y, s=s, heading=heading, left=left, right=right,
        point_lane=np.repeat(np.arange(len(lanes), dtype=np.int64), np.diff(start)),
        length=np.array([lane.length for lane in lanes]),
        turn=np.array([lane.center.heading[-1] - lane.center.heading[0] for lane in lanes]),
        bend=sharpest / widened, widened=widened, limit=np.array([lane.limit for lane in lanes]),
        bend_at=np.array([_bend_at(lane) for lane in lanes]),
        in_junction=np.array([lane.junction is not None for lane in lanes], dtype=np.bool_),
        successor_start=successor_start, successor=successor,
        conflict_start=conflict_start, conflict=conflict, gives_way=np.array(give, dtype=np.bool_),
        beside=np.array(
            [[_number(number, beside) for beside in (lane.left_neighbour, lane.right_neighbour)] for lane in lanes],
            dtype=np.int64,
        ).reshape(-1, 2),
        line_start=_starts([len(group) for group in lines]),
        line_s=np.array([line.s for line in flat], dtype=np.float64),
        line_kind=np.array([LINE_KINDS.get(line.kind, YIELD) for line in flat], dtype=np.int64),
        line_signal=np.array([line.signal for line in flat], dtype=np.int64),
        line_approach=np.array([_number(number, line.approach) for line in flat], dtype=np.int64),
        grid=grid, cell_start=cell_start, cell_segment=cell_segment,
    )  # fmt: skip
    links = joining_links(road_map.lanes)
    crossing = arrays.in_junction | np.array([lane.id in links for lane in lanes], dtype=np.bool_)
    return LaneIndex(tuple(lane.id for lane in lanes), number, arrays, crossing, road_map.left_hand)


def _conflicts(road_map: RoadMap, lane: Lane) -> list[LaneId]:
    if lane.junction is None or lane.junction not in road_map.junctions:
        return []
    others = road_map.junctions[lane.junction].conflicts.get(lane.id, ())
    return [other for other in others if not set(road_map.lanes[other].predecessors) & set(lane.predecessors)]


def _number(number: dict[LaneId, int], lane: LaneId | None) -> int:
    return -1 if lane is None else number.get(lane, -1)


def _thin(lane: Lane) -> IntArray:
    """Rows of a lane's centre to keep."""
    s, heading = lane.center.s, lane.center.heading
    rows, last = [0], 0
    for i in range(1, len(s) - 1):
        if s[i + 1] - s[last] > _CHORD_M or abs(heading[i + 1] - heading[last]) > _BEND_RAD:
            rows.append(i)
            last = i
    return np.array([*rows, len(s) - 1], dtype=np.int64)


def _sharpest(lane: Lane) -> float:
    """Largest mean curvature over a stretch of `_BEND_SPAN_M`: a kink between two pieces of a road is no bend."""
    s, heading = lane.center.s, lane.center.heading
    span = min(_BEND_SPAN_M, lane.length)
    later = np.interp(np.minimum(s + span, s[-1]), s, heading)
    return float(np.max(np.abs(later - heading))) / max(span, 1.0)


def _widened(lane: Lane, bend: float) -> float:
    """How many times wider a turn with this bend (1/m) can be driven: outside of the lane's centre before and after it
    and inside at its apex, by `_CORNER_CUT_M`. A right angle at least, as the lane may hold only a part of the turn.
    """
    half = min(max(0.5 * float(np.ptp(lane.center.heading)), 0.25 * math.pi), 0.5 * math.pi)
    apex = elementary.cos(half)
    return 1.0 + bend * _CORNER_CUT_M * (1.0 + apex) / (1.0 - apex)


def _bend_at(lane: Lane) -> float:
    """Arc length at which half of the turning is done, m."""
    turned = np.concatenate((np.zeros(1), np.cumsum(np.abs(np.diff(lane.center.heading)))))
    return float(np.interp(0.5 * turned[-1], turned, lane.center.s))


def _starts(counts: list[int]) -> IntArray:
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(np.array(counts, dtype=np.int64)))).astype(np.int64)


def _ragged(groups: list[list[int]]) -> tuple[IntArray, IntArray]:
    return _starts([len(group) for group in groups]), np.array([i for group in groups for i in group], dtype=np.int64)


def _joined(parts: list[FloatArray]) -> FloatArray:
    return np.ascontiguousarray(np.concatenate(parts), dtype=np.float64) if parts else np.zeros(0)


def _grid(x: FloatArray, y: FloatArray, start: IntArray, half: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Segments by square cell; a segment is in every cell that its lane's surface may reach."""
    if len(x) == 0:
        return np.array([0.0, 0.0, _CELL_M, 1.0, 1.0]), np.zeros(2, np.int64), np.zeros(0, np.int64)
    x0, y0 = float(x.min()) - 2 * _CELL_M, float(y.min()) - 2 * _CELL_M
    columns, rows = int((x.max() - x0) / _CELL_M) + 3, int((y.max() - y0) / _CELL_M) + 3
    reach = np.repeat(half + 0.5, np.diff(start))
    p = np.setdiff1d(np.arange(len(x) - 1), start[1:] - 1)
    ends, corner = np.column_stack((x, y)), np.array((x0, y0))
    low, high = np.minimum(ends[p], ends[p + 1]) - reach[p, None], np.maximum(ends[p], ends[p + 1]) + reach[p, None]
    low_cell, high_cell = (((end - corner) / _CELL_M).astype(np.int64) for end in (low, high))
    cell_start, segment = boxes_by_cell(low_cell, high_cell, columns, rows)
    return np.array([x0, y0, _CELL_M, float(columns), float(rows)]), cell_start, p[segment]
