"""The driving lanes of a map as flat arrays, for kernels: evenly sampled centres, successors, conflicts, stop lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from tuling_fsm.core.geometry import FloatArray, wrap_angle
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap

IntArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]

SAMPLE_M = 0.5
MAX_GAP_M = 2.0
"""A successor that starts farther than this from where its predecessor ends is a fault of the map and not driven."""
MAX_BEND = math.radians(60.0)
LOOK_M = 5.0
"""How far apart a lane is searched for oncoming lanes on its surface."""
ONCOMING = math.radians(100.0)
SAME_LEVEL_M = 3.0
SMOOTHING_M = 2.0
"""Curvature is the heading's change over this length, so that kinks between pieces of road count little."""
STOP_KINDS = {"light": 0, "stop": 1, "yield": 2}


class LaneGraph(NamedTuple):
    """L driving lanes. Ragged rows are in compressed form: row `i` of `next` is `next[next_at[i] : next_at[i + 1]]`."""

    length: FloatArray
    limit: FloatArray
    width: FloatArray
    """Least width, m."""
    junction: IntArray
    """Index of the junction, -1 outside."""
    at: IntArray
    """First sample (L + 1)."""
    step: FloatArray
    """Distance between samples, m."""
    x: FloatArray
    y: FloatArray
    heading: FloatArray
    z: FloatArray
    bend_speed: FloatArray
    """Per sample: curvature to the power of -1/2, sqrt(m); times sqrt of the lateral acceleration it is a speed."""
    next_at: IntArray
    next: IntArray
    endless: BoolArray
    """Whether one can drive on from this lane for ever without meeting a lane that is unfit."""
    conflict_at: IntArray
    conflict: IntArray
    left: IntArray
    right: IntArray
    stop_at: IntArray
    stop_s: FloatArray
    stop_kind: IntArray
    stop_signal: IntArray
    """Index into the lights' states, -1 for none."""


def ragged(rows: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Starts (N + 1) and values of rows of unequal length."""
    starts = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int32)
    return starts, np.array([value for row in rows for value in row], dtype=np.int32)


def build_lane_graph(road_map: RoadMap, signals: Sequence[int]) -> tuple[LaneGraph, dict[LaneId, int]]:
    """The graph and the index of each lane.

    Args:
        road_map: the map.
        signals: numbers of the signals in the order of the lights' states.
    """
    ids = road_map.driving_lanes()
    index = {lane_id: i for i, lane_id in enumerate(ids)}
    lanes = [road_map.lanes[lane_id] for lane_id in ids]
    junctions = {name: i for i, name in enumerate(road_map.junctions)}
    following = [
        [index[n] for n in lane.successors if n in index and _joins(lane, road_map.lanes[n])] for lane in lanes
    ]
    conflicts = [_conflicts(road_map, lane, index) for lane in lanes]
    samples = [_samples(lane) for lane in lanes]
    stops = [_stops(road_map, lane, {number: i for i, number in enumerate(signals)}) for lane in lanes]
    at = np.concatenate(([0], np.cumsum([len(s) for s in samples]))).astype(np.int32)
    table = np.concatenate(samples) if samples else np.zeros((0, 5))
    next_at, successors = ragged(following)
    conflict_at, conflict = ragged(conflicts)
    stop_at = np.concatenate(([0], np.cumsum([len(row) for row in stops]))).astype(np.int32)
    stop_rows = np.array([stop for row in stops for stop in row], dtype=np.float64).reshape(-1, 3)
    length = np.array([lane.length for lane in lanes])
    graph = LaneGraph(
        length=length,
        limit=np.array([lane.limit for lane in lanes]),
        width=np.array([float(np.min(lane.left + lane.right)) for lane in lanes]),
        junction=np.array([junctions.get(lane.junction or "", -1) for lane in lanes], dtype=np.int32),
        at=at,
        step=length / np.maximum(np.diff(at) - 1, 1),
        x=np.ascontiguousarray(table[:, 0]),
        y=np.ascontiguousarray(table[:, 1]),
        heading=np.ascontiguousarray(table[:, 2]),
        z=np.ascontiguousarray(table[:, 3]),
        bend_speed=np.ascontiguousarray(table[:, 4]),
        next_at=next_at,
        next=successors,
        endless=_endless(following, [_unfit(road_map, lane) for lane in lanes]),
        conflict_at=conflict_at,
        conflict=conflict,
        left=np.array([index.get(lane.left_neighbour, -1) for lane in lanes], dtype=np.int32),  # type: ignore[arg-type]
        right=np.array([index.get(lane.right_neighbour, -1) for lane in lanes], dtype=np.int32),  # type: ignore[arg-type]
        stop_at=stop_at,
        stop_s=np.ascontiguousarray(stop_rows[:, 0]),
        stop_kind=stop_rows[:, 1].astype(np.int32),
        stop_signal=stop_rows[:, 2].astype(np.int32),
    )
    return graph, index


def _joins(lane: Lane, following: Lane) -> bool:
    """Whether a car can roll from the end of one lane onto the start of the other."""
    gap = math.dist(lane.center.xy[-1], following.center.xy[0])
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


def _samples(lane: Lane) -> FloatArray:
    """Even samples (n, 5): x, y, heading, z, bend speed factor."""
    count = max(2, math.ceil(lane.length / SAMPLE_M) + 1)
    s = np.linspace(0.0, lane.length, count)
    rows = (lane.center.xy[:, 0], lane.center.xy[:, 1], lane.center.heading, lane.z)
    x, y, heading, z = (np.interp(s, lane.center.s, row) for row in rows)
    low, high = np.maximum(s - 0.5 * SMOOTHING_M, 0.0), np.minimum(s + 0.5 * SMOOTHING_M, lane.length)
    turn = np.abs(np.interp(high, s, heading) - np.interp(low, s, heading))
    curvature = np.maximum(turn / np.maximum(high - low, 0.5 * SMOOTHING_M), 1e-6)
    return np.column_stack((x, y, heading, z, 1.0 / np.sqrt(curvature)))


def _stops(road_map: RoadMap, lane: Lane, signal_index: dict[int, int]) -> list[tuple[float, float, float]]:
    """Stop lines of a lane as (s, kind, index of the signal), in order of s."""
    lines = sorted(road_map.stop_lines_of(lane.id), key=lambda line: (line.s, line.signal))
    return [(line.s, float(STOP_KINDS[line.kind]), float(signal_index.get(line.signal, -1))) for line in lines]


def _unfit(road_map: RoadMap, lane: Lane) -> bool:
    """Whether traffic had better stay away from a lane: too narrow, too tight, or with oncoming traffic on its own surface."""
    if lane.id not in road_map.graph or road_map.graph.tight(lane.id):
        return True
    if lane.junction is not None:
        return False
    for s in np.arange(LOOK_M, lane.length - LOOK_M, LOOK_M).tolist():
        x, y, heading = lane.center.at(s)
        z = float(np.interp(s, lane.center.s, lane.z))
        for other in road_map.positions(x, y):
            turned = abs(wrap_angle(other.heading - heading))
            there = road_map.lanes[other.lane]
            level = abs(float(np.interp(other.s, there.center.s, there.z)) - z) < SAME_LEVEL_M
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


@njit(cache=True)
def lane_point(graph: LaneGraph, lane: int, s: float) -> tuple[float, float, float]:
    """x, y, heading at `s` along a lane's centre, straight on beyond its ends."""
    first, last = graph.lane.at[lane], graph.lane.end[lane] - 1
    step = graph.lane.step[lane]
    position = s / step if step > 0.0 else 0.0
    i = min(max(int(position), 0), last - first - 1)
    u = min(max(position - i, 0.0), 1.0)
    k = first + i
    heading = graph.sample.heading[k] + u * (graph.sample.heading[k + 1] - graph.sample.heading[k])
    beyond = (position - i - u) * step
    x = graph.sample.x[k] + u * (graph.sample.x[k + 1] - graph.sample.x[k]) + beyond * math.cos(heading)
    y = graph.sample.y[k] + u * (graph.sample.y[k + 1] - graph.sample.y[k]) + beyond * math.sin(heading)
    return x, y, heading
