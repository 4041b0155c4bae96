"""The reference line of a route from the stretches of lanes that it runs on."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Polyline
from tuling_fsm.map.bends import relax
from tuling_fsm.map.lanes import Lane, LaneId
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane
from tuling_fsm.map.stitch import MEND_M, arc_length, cut, join, resample

CHANGE_M = 30.0
"""Length over which a lane change is drawn where there is room, m."""

PITCH_SHRINK, MOST_PITCHES = 0.8, 12
"""Changes that do not fit are drawn nearer together by this factor, so many times at most."""

ROUNDING_M = 1e-6
"""Places are compared as exactly as this, m."""

MIN_STRETCH_M = 1e-3
"""Shorter ends of a route are left out, m."""


Window = tuple[float, float]
"""A stretch of a lane, m."""


class LaneStretch(NamedTuple):
    """A lane driven from one arc length to another (m), left sideways where `change` is not 0."""

    lane: LaneId
    start: float
    end: float
    change: int = 0


def route_through(road_map: RoadMap, lane_ids: Sequence[LaneId], s_start: float, s_end: float) -> Route:
    """The route along a chain of lanes, from `s_start` on the first to `s_end` on the last (m along their centres).

    A lane followed by its neighbour is a lane change, drawn where both are side by side.

    Raises:
        InputError: the chain is empty, a lane is unknown, or a lane neither follows nor lies beside the one before.
    """
    return build_route(road_map, chain_stretches(road_map, lane_ids, s_start, s_end))


def build_route(road_map: RoadMap, stretches: Sequence[LaneStretch]) -> Route:
    """The route along given stretches; lane changes and small gaps of the map are blended, so that nothing jumps."""
    kept = [s for i, s in enumerate(stretches) if s.end - s.start > MIN_STRETCH_M or 0 < i < len(stretches) - 1]
    pieces = [lane_piece(road_map.lanes[s.lane], s.start, s.end) for s in kept or stretches]
    stretches = kept or stretches
    rows, s, at = _drawn(pieces, stretches)
    marks = [0.0, *at.tolist(), float(s[-1])]
    lanes = tuple(
        RouteLane(each.lane, each.start, each.end, marks[i], marks[i + 1], each.change)
        for i, each in enumerate(stretches)
    )
    return Route(lanes, Polyline(np.ascontiguousarray(rows[:, :2]), s, np.ascontiguousarray(rows[:, 2])))


def _drawn(pieces: list[FloatArray], stretches: Sequence[LaneStretch]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows, arc length and joints. Pieces between two lane changes are joined first, so that a change may span
    several.
    """
    groups: list[list[int]] = [[0]]
    for i in range(1, len(pieces)):
        if stretches[i - 1].change:
            groups.append([])
        groups[-1].append(i)
    tables, joints = [], []
    for group in groups:
        table, inner = join([pieces[i] for i in group], [MEND_M] * (len(group) - 1))
        tables.append(table)
        joints.append(inner)
    whole, outer = join(tables, [0.5 * CHANGE_M] * (len(tables) - 1))
    starts = np.concatenate(([0.0], outer))
    merged = [inner + start for inner, start in zip(joints, starts, strict=True)]
    rows, before, at = resample(whole, np.sort(np.concatenate([*merged, outer])))
    rows = relax(rows)
    s = arc_length(rows)
    return rows, s, np.interp(at, before, s)


def lane_piece(lane: Lane, start: float, end: float) -> FloatArray:
    """x, y, heading along a lane's centre between two arc lengths."""
    return cut(np.column_stack((lane.center.xy, lane.center.heading)), lane.center.s, start, end)


def chain_stretches(road_map: RoadMap, lane_ids: Sequence[LaneId], s_start: float, s_end: float) -> list[LaneStretch]:
    """The stretches of a chain of lanes from `s_start` of the first to `s_end` (m) of the last; each run of lane
    changes shares the road that its lanes have side by side.
    """
    _check_chain(road_map, lane_ids)
    stretches: list[LaneStretch] = []
    i = 0
    while i < len(lane_ids):
        j = i
        while j + 1 < len(lane_ids) and _change(road_map.lanes[lane_ids[j]], lane_ids[j + 1]):
            j += 1
        start = s_start if i == 0 else 0.0
        end = s_end if j == len(lane_ids) - 1 else road_map.lanes[lane_ids[j]].length
        stretches.extend(_abreast(road_map, lane_ids[i : j + 1], start, end))
        i = j + 1
    return stretches


def _check_chain(road_map: RoadMap, lane_ids: Sequence[LaneId]) -> None:
    if not lane_ids:
        raise InputError("route", "no lanes", "at least one lane")
    for lane_id in lane_ids:
        if lane_id not in road_map.lanes:
            raise InputError("route", f"no lane {tuple(lane_id)} in map {road_map.name}", "lanes of this map")
    for a, b in itertools.pairwise(lane_ids):
        lane = road_map.lanes[a]
        if b not in lane.successors and not _change(lane, b):
            raise InputError("route", f"lane {tuple(b)} does not follow {tuple(a)}", "a successor or a neighbour")


def _change(lane: Lane, other: LaneId) -> int:
    return int(other == lane.left_neighbour) - int(other == lane.right_neighbour)


def _abreast(road_map: RoadMap, lane_ids: Sequence[LaneId], start: float, end: float) -> list[LaneStretch]:
    """Stretches of lanes side by side, entered at `start` on the first and left at `end` on the last."""
    lanes = [road_map.lanes[lane_id] for lane_id in lane_ids]
    stretches = []
    entry = start
    middles = _change_places(road_map, lanes, start, end)
    for lane, beyond, middle in zip(lanes, lanes[1:], middles, strict=False):
        leave = max(abeam(lanes[0], middle, lane), entry)
        stretches.append(LaneStretch(lane.id, entry, leave, _change(lane, beyond.id)))
        entry = abeam(lane, leave, beyond)
    return [*stretches, LaneStretch(lane_ids[-1], entry, max(end, entry))]


def _change_places(road_map: RoadMap, lanes: Sequence[Lane], start: float, end: float) -> list[float]:
    """Where each change crosses the mark, along the first lane, m.

    As early as half a change's length after the entry and a whole one after the change before; nearer together where
    the marks that may be crossed, or the end, leave less room.
    """
    first, last, changes = lanes[0], abeam(lanes[-1], end, lanes[0]), len(lanes) - 1
    if not changes:
        return []
    options = [_windows(road_map, first, pair, start, last) for pair in itertools.pairwise(lanes)]
    room = max(high for _, high in options[-1]) - min(low for low, _ in options[0])
    widest = min(CHANGE_M, max(room, 0.0) / changes)
    pitches = itertools.accumulate([PITCH_SHRINK] * MOST_PITCHES, operator.mul, initial=widest)
    fitting = ((windows, pitch) for pitch in pitches if (windows := _fitting(options, pitch)) is not None)
    windows, pitch = next(fitting, ([each[0] for each in options], widest))
    latest = [0.0] * changes
    for i in reversed(range(changes)):
        high = windows[i][1] - _margin(windows[i], pitch)
        latest[i] = high if i == changes - 1 else min(high, latest[i + 1] - pitch)
    places: list[float] = []
    for window, bound in zip(windows, latest, strict=True):
        earliest = places[-1] + pitch if places else start + 0.5 * pitch
        places.append(max(min(max(earliest, window[0] + _margin(window, pitch)), bound), start))
    return places


def _windows(road_map: RoadMap, first: Lane, pair: tuple[Lane, Lane], start: float, last: float) -> list[Window]:
    """Where one lane of a pair may be left for the other between two places, all along the first lane, m; the longest
    stretch of the mark first.
    """
    lane, beyond = pair
    found = []
    for window in road_map.graph.windows(lane.id, beyond.id):
        low, high = max(start, abeam(lane, window.start, first)), min(last, abeam(lane, window.end, first))
        found.append((low, max(low, high)))
    return [window for window in found if window[1] > window[0]] or found[:1] or [(start, max(start, last))]


def _fitting(options: Sequence[Sequence[Window]], pitch: float) -> list[Window] | None:
    """A window for each change, so that the changes are at least `pitch` (m) apart; the earliest that there are. Where
    there is a choice, each has room for a whole change.
    """
    chosen: list[Window] = []
    beyond = -math.inf
    for windows in options:
        margins = [_margin(window, pitch) if len(windows) == 1 else 0.5 * pitch for window in windows]
        places = [
            (place, window)
            for window, margin in zip(windows, margins, strict=True)
            if (place := max(window[0] + margin, beyond)) <= window[1] - margin + ROUNDING_M
        ]
        if not places:
            return None
        place, window = min(places)
        chosen.append(window)
        beyond = place + pitch
    return chosen


def _margin(window: Window, pitch: float) -> float:
    """How far inside a window a change crosses the mark, m."""
    return min(0.5 * pitch, 0.5 * (window[1] - window[0]))


def abeam(lane: Lane, s: float, beside: Lane) -> float:
    """The arc length on a lane of the same section that lies beside `s` of this one (they share their stations)."""
    return float(np.interp(s, lane.center.s, beside.center.s))
