"""The driving lanes of a map as flat arrays, for kernels: evenly sampled centres, successors, conflicts, stop lines."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.arrays import BoolArray, Int32Array
from tuling_fsm.core.geometry import distance, wrap_angle
from tuling_fsm.core.kernels import inlined_kernel
from tuling_fsm.map.lanes import Lane, LaneId, LaneMark
from tuling_fsm.map.road_map import RoadMap

Records = np.recarray[Any, Any]

SAMPLE_STEPS_M = (4.0, 2.0, 1.0, 0.5)
"""Centres are sampled at the first of these that follows them this well, or the last:"""
CHORD_M = 0.003
SWEEP_M = 0.5
"""`stride` samples on, a centre has not left the rectangle around both by more than this."""
MAX_GAP_M = 2.0
"""A successor that starts farther than this from where its predecessor ends is a fault of the map and not driven."""
MAX_BEND = math.radians(60.0)
LOOK_M = 5.0
"""How far apart a lane is searched for oncoming lanes on its surface."""
ONCOMING = math.radians(100.0)
SAME_LEVEL_M = 3.0
TURN = math.radians(30.0)
"""A way through a junction that bends more than this is a turn."""
SMOOTHING_M = 2.0
"""Curvature is the heading's change over this length, so that kinks between pieces of road count little."""
STRAIGHT = 30.0
"""A lane whose samples all have this bend speed is straight, m^0.5."""
STOP_KINDS = {"light": 0, "stop": 1, "yield": 2}


LANE = np.dtype(
    [
        ("length", "f8"), ("limit", "f8"), ("width", "f8"), ("step", "f8"), ("junction", "i4"),
        ("at", "i4"), ("end", "i4"), ("next_at", "i4"), ("next_end", "i4"), ("conflict_at", "i4"),
        ("conflict_end", "i4"), ("stop_at", "i4"), ("stop_end", "i4"), ("left", "i4"), ("right", "i4"),
        ("endless", "?"), ("open_left", "?"), ("open_right", "?"), ("turn", "i4"), ("stride", "i4"),
        ("straight", "?"),
    ],
    align=True,
)  # fmt: skip
"""A lane: length, speed limit, least width, distance between its samples (m, m/s), index of its junction or -1; first
and last plus one of its rows in the samples, in `next`, `conflict` and `stop`; its neighbours or -1, and whether the
marking allows to go there; whether one can drive on from it for ever without meeting a lane that is unfit; where
it turns: 1 left, 0 nowhere, -1 right; how many samples are a `stride`, and whether no bend of it limits any speed.
"""
SAMPLE = np.dtype([("x", "f8"), ("y", "f8"), ("heading", "f8"), ("z", "f8"), ("bend_speed", "f8")])
"""A point of a centre; `bend_speed` is curvature to the power of -1/2: times sqrt of the lateral acceleration
a speed.
"""
STOP = np.dtype([("s", "f8"), ("kind", "i4"), ("signal", "i4"), ("approach", "i4")], align=True)
"""A stop line: place on its lane (m), kind, index into the lights' states or -1, and the lane that it holds for those
who come over it, -1 for any.
"""


class TrafficLaneGraph(NamedTuple):
    """L driving lanes in flat arrays."""

    lane: Records
    sample: Records
    next: Int32Array
    conflict: Int32Array
    stop: Records


@lru_cache(maxsize=4)
def build_lane_graph(road_map: RoadMap, signals: tuple[int, ...]) -> tuple[TrafficLaneGraph, Mapping[LaneId, int]]:
    """The graph and the index of each lane: one and the same for all runs on a map, which change neither.

    Args:
        road_map: the map.
        signals: numbers of the signals in the order of the lights' states.
    """
    ids = road_map.driving_lanes()
    index = {lane_id: i for i, lane_id in enumerate(ids)}
    lanes = [road_map.lanes[lane_id] for lane_id in ids]
    following = [
        [index[n] for n in lane.successors if n in index and _joins(lane, road_map.lanes[n])] for lane in lanes
    ]
    conflicts = [_conflicts(road_map, lane, index) for lane in lanes]
    samples = [_samples(lane) for lane in lanes]
    stops = [_stops(road_map, lane, {number: i for i, number in enumerate(signals)}, index) for lane in lanes]
    table = np.zeros(len(lanes), LANE).view(np.recarray)
    junctions = {name: i for i, name in enumerate(road_map.junctions)}
    for row, lane, points in zip(table, lanes, samples, strict=True):
        _describe(row, lane, points)
        row.junction = junctions.get(lane.junction or "", -1)
        row.left, row.right = _beside(index, lane.left_neighbour), _beside(index, lane.right_neighbour)
    for name, lists in (("", samples), ("next_", following), ("conflict_", conflicts), ("stop_", stops)):
        _note_places(table, name, lists)
    table["endless"] = _endless(following, [_unfit(road_map, lane) for lane in lanes])
    graph = TrafficLaneGraph(
        lane=table,
        sample=_records(samples, SAMPLE),
        next=np.array(list(itertools.chain.from_iterable(following)), dtype=np.int32),
        conflict=np.array(list(itertools.chain.from_iterable(conflicts)), dtype=np.int32),
        stop=_records(stops, STOP),
    )
    return graph, index


def _describe(row: Any, lane: Lane, samples: Sequence[Sequence[float]]) -> None:
    """Fill in what a lane says of itself."""
    row.length, row.limit = lane.length, lane.limit
    row.width = float(np.min(lane.left + lane.right))
    row.step = lane.length / (len(samples) - 1)
    row.open_left, row.open_right = _open(lane.left_marks), _open(lane.right_marks)
    row.turn = _turn(lane)
    row.stride = max(int(math.sqrt(8.0 * SWEEP_M / _sharpest(lane)) / max(row.step, SAMPLE_STEPS_M[-1])), 1)
    row.straight = min(sample[-1] for sample in samples) >= STRAIGHT


def _note_places(table: Records, name: str, lists: Sequence[Sequence[object]]) -> None:
    """Note first and last plus one of each lane's rows when the lists of all lanes follow one another."""
    counts = np.array([len(rows) for rows in lists])
    table[f"{name}end"] = np.cumsum(counts)
    table[f"{name}at"] = np.cumsum(counts) - counts


def _open(marks: tuple[LaneMark, ...]) -> bool:
    """Whether a marking may be crossed all along."""
    return len(marks) > 0 and all(mark.crossable for mark in marks)


def _turn(lane: Lane) -> int:
    """Whether a lane turns left (1), right (-1) or neither (0)."""
    turned = float(lane.center.heading[-1] - lane.center.heading[0])
    return 0 if abs(turned) < TURN else int(math.copysign(1.0, turned))


def _beside(index: dict[LaneId, int], lane: LaneId | None) -> int:
    return -1 if lane is None else index.get(lane, -1)


def _records(rows: Iterable[Iterable[tuple[float, ...]]], kind: np.dtype[np.void]) -> Records:
    """All rows of all lanes, one after the other."""
    flat = [tuple(row) for part in rows for row in part]
    return np.array(flat, dtype=kind).view(np.recarray)


def _joins(lane: Lane, following: Lane) -> bool:
    """Whether a car can roll from the end of one lane onto the start of the other."""
    gap = distance(lane.center.xy[-1], following.center.xy[0])
    bend = abs(wrap_angle(following.center.heading[0] - lane.center.heading[-1]))
    return gap <= MAX_GAP_M and bend <= MAX_BEND


def _conflicts(road_map: RoadMap, lane: Lane, index: dict[LaneId, int]) -> list[int]:
    """Lanes of the same junction whose surface this one shares; those that start from the same lane follow
    each other.
    """
    if lane.junction is None or lane.junction not in road_map.junctions:
        return []
    others = road_map.junctions[lane.junction].conflicts.get(lane.id, ())
    origin = set(lane.predecessors)
    return [index[o] for o in others if o in index and not origin.intersection(road_map.lanes[o].predecessors)]


def _sharpest(lane: Lane) -> float:
    """Greatest curvature of the centre over the shortest distance between samples, at least 1e-6, 1/m."""
    count = max(2, math.ceil(lane.length / SAMPLE_STEPS_M[-1]) + 1)
    s = np.linspace(0.0, lane.length, count)
    turned = np.abs(np.diff(np.interp(s, lane.center.s, lane.center.heading)))
    return max(float(turned.max()) / max(float(s[1]), 1e-3), 1e-6)


def _samples(lane: Lane) -> list[tuple[float, ...]]:
    """Even samples: x, y, heading, z, bend speed."""
    sharpest = _sharpest(lane)
    step = next((m for m in SAMPLE_STEPS_M if sharpest * m * m / 8.0 <= CHORD_M), SAMPLE_STEPS_M[-1])
    count = max(2, math.ceil(lane.length / step) + 1)
    s = np.linspace(0.0, lane.length, count)
    rows = (lane.center.xy[:, 0], lane.center.xy[:, 1], lane.center.heading, lane.z)
    x, y, heading, z = (np.interp(s, lane.center.s, row) for row in rows)
    low, high = np.maximum(s - 0.5 * SMOOTHING_M, 0.0), np.minimum(s + 0.5 * SMOOTHING_M, lane.length)
    turn = np.abs(np.interp(high, s, heading) - np.interp(low, s, heading))
    curvature = np.maximum(turn / np.maximum(high - low, 0.5 * SMOOTHING_M), 1e-6)
    return list(zip(*(row.tolist() for row in (x, y, heading, z, 1.0 / np.sqrt(curvature))), strict=True))


def _stops(
    road_map: RoadMap, lane: Lane, signal_index: dict[int, int], index: dict[LaneId, int]
) -> list[tuple[float, int, int, int]]:
    """Stop lines of a lane as (s, kind, index of the signal, index of the lane before), in order of s."""
    lines = sorted(road_map.stop_lines_of(lane.id), key=lambda line: (line.s, line.signal))
    return [
        (line.s, STOP_KINDS[line.kind], signal_index.get(line.signal, -1), _beside(index, line.approach))
        for line in lines
    ]


def _unfit(road_map: RoadMap, lane: Lane) -> bool:
    """Whether traffic had better stay away from a lane: too narrow, too tight, or with oncoming traffic on its
    own surface.
    """
    if lane.id not in road_map.graph or road_map.graph.tight(lane.id):
        return True
    if lane.junction is not None:
        return False
    for s in np.arange(LOOK_M, lane.length - LOOK_M, LOOK_M).tolist():
        x, y, heading = lane.center.at(s)
        z = lane.height(s)
        for other in road_map.positions(x, y):
            turned = abs(wrap_angle(other.heading - heading))
            there = road_map.lanes[other.lane]
            level = abs(there.height(other.s) - z) < SAME_LEVEL_M
            if there.junction is None and level and turned > ONCOMING:
                return True
    return False


def _endless(following: list[list[int]], unfit: list[bool]) -> BoolArray:
    """Lanes that are left when those without a way on are taken out again and again."""
    alive = np.ones(len(following), dtype=np.bool_)
    preceding: list[list[int]] = [[] for _ in following]
    for lane, others in enumerate(following):
        for other in others:
            preceding[other].append(lane)
    ways = [len(others) for others in following]
    dead = [lane for lane, count in enumerate(ways) if count == 0 or unfit[lane]]
    while dead:
        lane = dead.pop()
        if not alive[lane]:
            continue
        alive[lane] = False
        for other in preceding[lane]:
            ways[other] -= 1
            if ways[other] == 0:
                dead.append(other)
    return alive


def endless_without(graph: TrafficLaneGraph, endless: BoolArray, closed: Iterable[int]) -> BoolArray:
    """Which lanes are left of the `endless` ones (L,) when some, by index, are closed."""
    dead = ~endless
    dead[list(closed)] = True
    spans = zip(graph.lane["next_at"].tolist(), graph.lane["next_end"].tolist(), strict=True)
    return _endless([graph.next[first:last].tolist() for first, last in spans], dead.tolist())


@inlined_kernel
def lane_point(graph: TrafficLaneGraph, lane: int, s: float) -> tuple[float, float, float]:
    """x, y, heading at `s` along a lane's centre, straight on beyond its ends."""
    first, last = graph.lane.at[lane], graph.lane.end[lane] - 1
    step = graph.lane.step[lane]
    position = s / step if step > 0.0 else 0.0
    i = min(max(int(position), 0), last - first - 1)
    u = min(max(position - i, 0.0), 1.0)
    k = first + i
    heading = graph.sample.heading[k] + u * (graph.sample.heading[k + 1] - graph.sample.heading[k])
    x = graph.sample.x[k] + u * (graph.sample.x[k + 1] - graph.sample.x[k])
    y = graph.sample.y[k] + u * (graph.sample.y[k + 1] - graph.sample.y[k])
    beyond = (position - i - u) * step
    if beyond != 0.0:
        sine, cosine = elementary.sin_cos(heading)
        x, y = x + beyond * cosine, y + beyond * sine
    return x, y, heading
