"""The map around a run as columns: surfaces by lane type, markings by kind, and what stands on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import shapely

from tuling_fsm.core.arrays import BoolArray, FloatArray, runs
from tuling_fsm.map.lanes import DRIVING, SURFACE, Lane, MarkKind, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.segments import INSIDE_M, edge_line
from tuling_fsm.map.surface import covered
from tuling_fsm.viewer.columns import ColumnWriter
from tuling_fsm.viewer.origin import PageOrigin

STEP_M = 0.02
"""What coordinates are rounded to."""
TOLERANCE_M = 0.05
"""How far a simplified line may lie from the one that it replaces."""
AROUND_M = 180.0
"""Of the map, what comes so near to where the car was is kept."""

JUNCTION = "junction"
BOUNDARY, SOLID_THING, CROSSWALK, SPACE = "boundary", "thing", "crosswalk", "slot"
_WIDE_M = 0.02
"""A narrower lane is not there."""


class RoadShape(NamedTuple):
    """Points (N, 2) in `map`, and what they are: a lane type, a kind of marking, ..."""

    kind: str
    points: FloatArray


def add_roads(
    columns: ColumnWriter, road_map: RoadMap, origin: PageOrigin, driven: FloatArray | None = None
) -> dict[str, object]:
    """Add the columns of the map.

    Args:
        columns: gets `road.kind`, `road.n`, `road.x`, `road.y`.
        road_map: what was driven on.
        origin: of the page.
        driven: where the car was (N, 2), m; none for the whole map.

    Returns:
        What the header has to say of it: names of the kinds, signals and stop lines.
    """
    near = _Near(driven)
    shapes = [shape for shape in _shapes(road_map, near) if len(shape.points) > 1]
    kinds = list(dict.fromkeys(shape.kind for shape in shapes))
    points = origin.local(np.vstack([np.zeros((0, 2)), *(shape.points for shape in shapes)]))
    columns.add("road.kind", [kinds.index(shape.kind) for shape in shapes], order=0)
    columns.add("road.n", [len(shape.points) for shape in shapes], order=0)
    columns.add("road.x", points[:, 0], STEP_M)
    columns.add("road.y", points[:, 1], STEP_M)
    signals = [
        {"number": signal.number, "x": round(signal.pose.x - origin.x, 2), "y": round(signal.pose.y - origin.y, 2)}
        for signal in road_map.signals.values()
        if signal.dynamic and near.point(signal.pose.x, signal.pose.y)
    ]
    return {"kinds": kinds, "signals": signals, "stop_lines": list(_stop_lines(road_map, origin, near))}


class _Near:
    """What is near to a path, or everything without one."""

    def __init__(self, driven: FloatArray | None) -> None:
        self._everywhere = driven is None
        driven = np.zeros((1, 2)) if driven is None else driven
        line = shapely.linestrings(driven) if len(driven) > 1 else shapely.points(driven.reshape(-1, 2)[:1])
        self._area = shapely.buffer(shapely.simplify(line, AROUND_M / 20.0), AROUND_M, quad_segs=4)
        shapely.prepare(self._area)

    def line(self, points: FloatArray) -> bool:
        """Whether some of a line is."""
        if self._everywhere or len(points) < 2:
            return len(points) > 1
        return bool(shapely.intersects(self._area, shapely.linestrings(points)).any())

    def point(self, x: float, y: float) -> bool:
        """Whether a point is."""
        return self._everywhere or bool(shapely.intersects(self._area, shapely.points(x, y)).any())


def _shapes(road_map: RoadMap, near: _Near) -> Iterator[RoadShape]:
    """Surfaces first, what is painted on them after."""
    lanes = [lane for lane in road_map.lanes.values() if near.line(lane.center.xy)]
    wide = [lane for lane in lanes if float((lane.left + lane.right).max()) > _WIDE_M]
    for lane in sorted(wide, key=_order):
        yield RoadShape(_surface_kind(lane), _surface(lane))
    for walk in road_map.crosswalks:
        if near.line(walk.outline):
            yield RoadShape(CROSSWALK, walk.outline)
    for slot in road_map.slots:
        if near.line(slot.outline):
            yield RoadShape(SPACE, slot.outline)
    for lane in lanes:
        yield from _markings(lane, road_map)
    yield from _edges(road_map, near)
    for thing in road_map.objects:
        if thing.solid and near.line(thing.outline):
            yield RoadShape(SOLID_THING, thing.outline)


def _order(lane: Lane) -> tuple[bool, bool]:
    """Driving lanes over others, junctions over roads."""
    return lane.type == DRIVING, lane.junction is not None


def _surface_kind(lane: Lane) -> str:
    return JUNCTION if lane.type == DRIVING and lane.junction is not None else lane.type


def _surface(lane: Lane) -> FloatArray:
    left, right = (simplified(edge_line(lane, left=side), TOLERANCE_M) for side in (True, False))
    return np.vstack((left, right[::-1]))


def simplified(line: FloatArray, tolerance_m: float) -> FloatArray:
    """A line (N, 2) with fewer points, none of it farther from those that are left out."""
    if len(line) < 2:
        return line
    return np.asarray(shapely.get_coordinates(shapely.simplify(shapely.linestrings(line), tolerance_m)))


def _markings(lane: Lane, road_map: RoadMap) -> Iterator[RoadShape]:
    """The markings of the boundaries that this lane speaks for, each of one kind; none inside another lane."""
    for left in _own_sides(lane, road_map):
        line = edge_line(lane, left)
        for mark in lane.left_marks if left else lane.right_marks:
            if mark.kind in (MarkKind.VIRTUAL, MarkKind.UNKNOWN):
                continue
            keep = mark.is_at(lane.center.s)
            if lane.junction is not None and keep.any():
                keep &= ~covered(road_map.index, line, road_map.lanes, SURFACE, INSIDE_M)
            for part in _runs(line, keep):
                yield RoadShape(mark.kind.name.lower(), part)


def _own_sides(lane: Lane, road_map: RoadMap) -> tuple[bool, ...]:
    """Left (True) or right: the outer boundary, and the road's centre line once for both directions."""
    inner = bool(lane.road_s[-1] > lane.road_s[0]) == (lane.id.lane < 0)
    first = lane.id.lane == -1 or (lane.id.lane == 1 and lane.id._replace(lane=-1) not in road_map.lanes)
    return (not inner, inner) if first else (not inner,)


def _runs(line: FloatArray, keep: BoolArray) -> Iterator[FloatArray]:
    """The kept stretches of two points and more."""
    return (simplified(line[start:end], TOLERANCE_M) for start, end in runs(keep) if end - start > 1)


def _edges(road_map: RoadMap, near: _Near) -> Iterator[RoadShape]:
    """Where the surface that wheels may touch ends: segments one after the other as lines."""
    x0, y0, x1, y1 = road_map.bounds
    found = road_map.boundary_segments(0.5 * (x0 + x1), 0.5 * (y0 + y1), (x1 - x0) + (y1 - y0))
    return (RoadShape(BOUNDARY, line) for line in _chained(found) if near.line(line))


def _chained(segments: FloatArray) -> Iterable[FloatArray]:
    """Segments (M, 4) as lines, each as long as one begins where the last one ends."""
    if not len(segments):
        return []
    breaks = np.flatnonzero((segments[1:, :2] != segments[:-1, 2:]).any(axis=1)) + 1
    return (np.vstack((part[:1, :2], part[:, 2:])) for part in np.split(segments, breaks))


def _stop_lines(road_map: RoadMap, origin: PageOrigin, near: _Near) -> Iterator[dict[str, object]]:
    for line in road_map.stop_lines:
        if near.point(line.x0, line.y0):
            yield {"kind": line.kind, "signal": line.signal, "ends": stop_line_ends(line, origin)}


def stop_line_ends(line: StopLine, origin: PageOrigin) -> list[float]:
    """For a header: x and y of both ends."""
    return origin.flat(np.array((line.x0, line.y0, line.x1, line.y1)))
