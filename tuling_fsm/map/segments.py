"""Lines and edges of the map as segments for collision checks: markings, road edges, outlines of what is solid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tuling_fsm.core import elementary, elementwise
from tuling_fsm.core.arrays import BoolArray, FloatArray, runs
from tuling_fsm.map.free_width import crossable_at
from tuling_fsm.map.lanes import SURFACE, Lane, LaneId, LaneMark, MarkKind, StaticObject
from tuling_fsm.map.polygon import edges
from tuling_fsm.map.surface import SurfaceIndex, covered

TOLERANCE_M = 0.03
"""How far a simplified line may lie from the samples it replaces, m."""

INSIDE_M = 0.2
"""A marking this deep inside the surface of another lane of a junction is not painted there, m."""

BEYOND_M = 0.4
"""An edge in a junction with some lane this far beyond it is none, m."""

ACROSS = 17
"""Points of an end of a lane that are looked at."""

OPEN_WIDTH_M = 0.02
"""A lane narrower than this is not there (lanes open and close), m."""


@dataclass(frozen=True, eq=False)
class SegmentSet:
    """Segments (M, 4): x0, y0, x1, y1 (m, `map`)."""

    segments: FloatArray

    def near(self, x: float, y: float, radius: float) -> FloatArray:
        """Those whose box comes within `radius` (m) of the point (K, 4)."""
        x0, y0, x1, y1 = self.segments.T
        keep = (np.minimum(x0, x1) <= x + radius) & (np.maximum(x0, x1) >= x - radius)
        keep &= (np.minimum(y0, y1) <= y + radius) & (np.maximum(y0, y1) >= y - radius)
        return np.asarray(self.segments[keep], dtype=np.float64)


def static_set(objects: Sequence[StaticObject]) -> SegmentSet:
    """The outlines of all solid objects."""
    return SegmentSet(_stack(edges(thing.outline) for thing in objects if thing.solid))


def line_set(lanes: Mapping[LaneId, Lane], index: SurfaceIndex, crossable: bool) -> SegmentSet:
    """Markings that may be crossed from both sides, or all others; between opposite directions a missing one
    counts as a line.

    Virtual boundaries in junctions are left out: those of other ways lie across one's own.
    """
    found = []
    for lane in lanes.values():
        for left in _own_sides(lane, lanes):
            marks = lane.left_marks if left else lane.right_marks
            beyond = _beyond(lane, lanes, left)
            may = crossable_at(marks, lane.center.s)
            if beyond is not None:
                may &= _from_beyond(lane, beyond)
            there = _painted(marks, lane.center.s)
            if beyond is not None and lane.junction is None and lane.type == beyond.type == "driving":
                there |= ~may
            keep, line = there & (may if crossable else _widened(~may)), edge_line(lane, left)
            if lane.junction is not None and keep.any():
                keep &= ~covered(index, line, lanes, SURFACE, INSIDE_M)
            found.append(_runs(line, keep))
    return SegmentSet(_stack(found))


def oncoming_line(lane: Lane, lanes: Mapping[LaneId, Lane]) -> FloatArray:
    """The line (K, 4) between a lane and one beside it that runs the other way, of whatever kind; none in junctions
    or where there is no such lane.
    """
    if lane.junction is not None:
        return np.zeros((0, 4))
    sides = [left for left in (True, False) if _runs_against(lane, _beyond(lane, lanes, left))]
    return _stack(_runs(edge_line(lane, left), np.ones(len(lane.center.s), dtype=np.bool_)) for left in sides)


def _runs_against(lane: Lane, beyond: Lane | None) -> bool:
    return beyond is not None and beyond.type == lane.type and _with_stations(beyond) != _with_stations(lane)


def _widened(closed: BoolArray) -> BoolArray:
    """With the points next to those that are closed: a solid line may begin anywhere between two points."""
    wider = closed.copy()
    wider[1:] |= closed[:-1]
    wider[:-1] |= closed[1:]
    return wider


def boundary_set(lanes: Mapping[LaneId, Lane], index: SurfaceIndex) -> SegmentSet:
    """The outer edges of everything that wheels may touch; edges that run inside another such lane are none."""
    found = []
    for lane in lanes.values():
        if lane.type in SURFACE:
            for left in (True, False):
                line, keep = edge_line(lane, left), _is_edge(lane, lanes, left)
                if lane.junction is not None and keep.any():
                    outside = line + (BEYOND_M if left else -BEYOND_M) * _to_left(lane)
                    keep &= ~covered(index, outside, lanes, SURFACE, 0.0)
                found.append(_runs(line, keep))
            if lane.type != "driving":
                found += [_end(lane, lanes, index, first) for first in (True, False)]
    return SegmentSet(_stack(found))


def _end(lane: Lane, lanes: Mapping[LaneId, Lane], index: SurfaceIndex, first: bool) -> FloatArray:
    """Of the line across at the start or end of a lane, what has nothing beyond that wheels may touch (as at bays)."""
    i = 0 if first else -1
    left, right, heading = float(lane.left[i]), float(lane.right[i]), float(lane.center.heading[i])
    if left + right <= OPEN_WIDTH_M:
        return np.zeros((0, 4))
    sine, cosine = elementary.sin_cos(heading)
    ahead = np.array((cosine, sine))
    aside = np.linspace(-right, left, ACROSS)[:, None] * np.array((-ahead[1], ahead[0]))
    line = lane.center.xy[i] + aside
    beyond = line + (-BEYOND_M if first else BEYOND_M) * ahead
    return _runs(line, ~covered(index, beyond, lanes, SURFACE, 0.0))


def _stack(parts: Iterable[FloatArray]) -> FloatArray:
    return np.ascontiguousarray(np.vstack([np.zeros((0, 4)), *parts]))


def edge_line(lane: Lane, left: bool) -> FloatArray:
    """Left or right boundary of a lane (N, 2)."""
    offset = lane.left if left else -lane.right
    return np.asarray(lane.center.xy + offset[:, None] * _to_left(lane), dtype=np.float64)


def _to_left(lane: Lane) -> FloatArray:
    """Unit vectors across a lane (N, 2)."""
    sine, cosine = elementwise.sin_cos(lane.center.heading)
    return np.column_stack((-sine, cosine))


def _with_stations(lane: Lane) -> bool:
    """Whether the lane's traffic runs the way in which the stations of its road grow."""
    return bool(lane.road_s[-1] > lane.road_s[0])


def _inner_left(lane: Lane) -> bool:
    """Whether the road's centre line lies to the left of the lane's traffic."""
    return _with_stations(lane) == (lane.id.lane < 0)


def _beyond(lane: Lane, lanes: Mapping[LaneId, Lane], left: bool) -> Lane | None:
    """The lane on the other side of a boundary, whatever its direction."""
    outwards = 1 if lane.id.lane > 0 else -1
    number = lane.id.lane + (-outwards if left == _inner_left(lane) else outwards)
    return lanes.get(lane.id._replace(lane=number or -outwards))


def _own_sides(lane: Lane, lanes: Mapping[LaneId, Lane]) -> list[bool]:
    """The boundaries that this lane speaks for (True: left): the outer one, and the centre line once for both
    directions.
    """
    inner = _inner_left(lane)
    sides = [not inner]
    if lane.id.lane == -1 or (lane.id.lane == 1 and lane.id._replace(lane=-1) not in lanes):
        sides.append(inner)
    return sides


def _from_beyond(lane: Lane, beyond: Lane) -> BoolArray:
    """Whether the boundary may be crossed coming from the other lane, at this lane's samples."""
    facing = beyond.id.lane * lane.id.lane < 0 or abs(beyond.id.lane) > abs(lane.id.lane)
    inner = _inner_left(beyond)
    left = inner if facing else not inner
    may = crossable_at(beyond.left_marks if left else beyond.right_marks, beyond.center.s)
    return may if _with_stations(lane) == _with_stations(beyond) else may[::-1]


def _painted(marks: tuple[LaneMark, ...], s: FloatArray) -> BoolArray:
    there = np.zeros(len(s), dtype=np.bool_)
    for mark in marks:
        if mark.kind is not MarkKind.VIRTUAL:
            there |= (s >= mark.s_from - 1e-6) & (s <= mark.s_to + 1e-6)
    return there


def _is_edge(lane: Lane, lanes: Mapping[LaneId, Lane], left: bool) -> BoolArray:
    """Where nothing that wheels may touch lies beyond a side; lanes without width are looked through."""
    edge = lane.left + lane.right > OPEN_WIDTH_M
    open_question = edge.copy()
    current, side = lane, left
    while open_question.any():
        beyond = _beyond(current, lanes, side)
        if beyond is None:
            break
        width = beyond.left + beyond.right
        wide = (width if _with_stations(lane) == _with_stations(beyond) else width[::-1]) > OPEN_WIDTH_M
        if beyond.type in SURFACE:
            edge &= ~(open_question & wide)
        open_question &= ~wide
        side = side if _with_stations(current) == _with_stations(beyond) else not side
        current = beyond
    return edge


def _runs(line: FloatArray, keep: BoolArray) -> FloatArray:
    """The kept stretches of a boundary, simplified to few segments."""
    return _stack(_simplified(line[start : end + 1]) for start, end in runs(keep[:-1] & keep[1:]))


def _simplified(line: FloatArray) -> FloatArray:
    """Ramer, Douglas and Peucker: as few segments as stay within `TOLERANCE_M` of the points."""
    kept, spans = {0, len(line) - 1}, [(0, len(line) - 1)]
    while spans:
        start, end = spans.pop()
        if end - start < 2:
            continue
        chord = line[end] - line[start]
        length = max(float(elementwise.hypot(*chord)), 1e-9)
        offset = line[start + 1 : end] - line[start]
        distance = np.abs(chord[0] * offset[:, 1] - chord[1] * offset[:, 0]) / length
        far = int(np.argmax(distance))
        if distance[far] > TOLERANCE_M:
            middle = start + 1 + far
            kept.add(middle)
            spans += [(start, middle), (middle, end)]
    points = line[sorted(kept)]
    return np.hstack((points[:-1], points[1:]))
