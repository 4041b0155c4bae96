"""The map as the other packages see it: lanes, what stands on them, and fast answers about points."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tuling_fsm.core.arrays import BoolArray, FloatArray
from tuling_fsm.map.junctions import build_junctions, build_phases
from tuling_fsm.map.lane_graph import LaneGraph, build_graph
from tuling_fsm.map.lanes import (
    DRIVING,
    SURFACE,
    Crosswalk,
    Junction,
    Lane,
    LaneId,
    LanePosition,
    ParkingSlot,
    Signal,
    StaticObject,
    StopLine,
)
from tuling_fsm.map.segments import SegmentSet, boundary_set, line_set, oncoming_line, static_set
from tuling_fsm.map.surface import SurfaceIndex

ON_LANE_M = 0.05
"""A point this far outside a lane's surface still lies on it (maps have hairline gaps)."""

BESIDE_M = 2.0
"""The road is followed this far beyond the sides of a lane, more than a car's body swings out of it."""

SAME_LEVEL_M = 2.5
"""Surfaces nearer than this to the given height are preferred over those above or below."""

HEADING_WEIGHT = 4.0
"""Metres of offset that one radian between the given heading and a lane weighs."""

JUNCTION_WEIGHT = 1.0
"""Metres of offset that lying in a junction weighs where no heading tells lanes apart."""


@dataclass(frozen=True, eq=False)
class RoadMap:
    """A map, read once and never changed."""

    name: str
    left_hand: bool
    lanes: dict[LaneId, Lane]
    """All lanes of all types, in file order."""
    index: SurfaceIndex
    """Samples of all lanes, in the order of `lanes`."""
    road_lengths: dict[str, float]
    """Length of every road's reference line, m."""
    junction_ids: tuple[str, ...] = ()
    signals: dict[int, Signal] = field(default_factory=dict)
    stop_lines: tuple[StopLine, ...] = ()
    controllers: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Signal numbers by controller: they change together."""
    junction_controllers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Controllers by junction, in the order in which they get green."""
    crosswalks: tuple[Crosswalk, ...] = ()
    slots: tuple[ParkingSlot, ...] = ()
    objects: tuple[StaticObject, ...] = ()
    user_data: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    """`<userData>` of every road that has some, as plain data; key `""` for the map's own."""
    warnings: tuple[str, ...] = ()
    """What the file was sloppy about, one line each."""
    sha256: str = ""
    """Of what was read of the file, in hexadecimal digits."""

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """x0, y0, x1, y1 of all lanes' surfaces, m."""
        index = self.index
        half = np.maximum(index.samples[:, 4], index.samples[:, 5])[:, None]
        low = (index.samples[:, :2] - half).min(axis=0)
        high = (index.samples[:, :2] + half).max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    @cached_property
    def lane_types(self) -> tuple[str, ...]:
        """All types of lanes that there are."""
        return tuple(sorted({lane.type for lane in self.lanes.values()}))

    def driving_lanes(self) -> tuple[LaneId, ...]:
        """All driving lanes, in file order."""
        return self._driving

    def positions(
        self, x: float, y: float, radius: float = 0.0, types: Sequence[str] = (DRIVING,)
    ) -> list[LanePosition]:
        """All lanes of the given types whose surface holds the point or is within `radius` (m) of it, nearest
        centre first.
        """
        found = self._search(x, y, radius, types)
        found.sort(key=lambda item: (abs(item[0][1]), item[1]))
        return [self._position(row, lane) for row, lane in found]

    def road_beside(self, rows: FloatArray) -> FloatArray:
        """How far the road goes on to the left and right of the rows (N, 5) x, y, heading, left, right: distances
        (N, 2) from the point to the end of the surface that wheels may touch, `BESIDE_M` beyond the sides at the most.
        """
        return self.index.reach(np.ascontiguousarray(rows), self._mask(tuple(SURFACE)), BESIDE_M, ON_LANE_M)

    def is_on(self, lanes: Collection[LaneId], x: float, y: float, radius: float = 0.0) -> bool:
        """Whether the point lies on one of these driving lanes, or within `radius` (m) of it."""
        _, found = self.index.search(float(x), float(y), max(radius, ON_LANE_M), self._mask((DRIVING,)))
        return any(self._ids[lane] in lanes for lane in found.tolist())

    def project(
        self,
        x: float,
        y: float,
        heading: float | None = None,
        z: float | None = None,
        types: Sequence[str] = (DRIVING,),
        radius: float = 0.0,
    ) -> LanePosition | None:
        """The lane that the point lies on (or is within `radius` (m) of), or None.

        `heading` (rad) tells overlapping and opposite lanes apart, `z` (m) those of a bridge.
        """
        found = self._search(x, y, radius, types)
        if z is not None:
            found = [item for item in found if abs(item[0][5] - z) <= SAME_LEVEL_M] or found
        if not found:
            return None
        best = min(found, key=lambda item: (self._misfit(item[0], item[1], heading), item[1]))
        return self._position(*best)

    def _misfit(self, row: list[float], lane: int, heading: float | None) -> float:
        misfit = abs(row[1]) + 2.0 * row[2]
        if heading is not None:
            return misfit + HEADING_WEIGHT * abs((row[4] - heading + math.pi) % (2.0 * math.pi) - math.pi)
        return misfit + (JUNCTION_WEIGHT if self._in_junction[lane] else 0.0)

    def same_direction(self, lane_id: LaneId) -> tuple[LaneId, ...]:
        """The driving lanes side by side with this one in its direction of travel, left to right, itself among them."""
        if lane_id not in self._abreast:
            self._abreast[lane_id] = self._find_abreast(lane_id)
        return self._abreast[lane_id]

    def _find_abreast(self, lane_id: LaneId) -> tuple[LaneId, ...]:
        left: list[LaneId] = []
        beside = self.lanes[lane_id].left_neighbour
        while beside is not None and self.lanes[beside].type == DRIVING:
            left.append(beside)
            beside = self.lanes[beside].left_neighbour
        right: list[LaneId] = []
        beside = self.lanes[lane_id].right_neighbour
        while beside is not None and self.lanes[beside].type == DRIVING:
            right.append(beside)
            beside = self.lanes[beside].right_neighbour
        return (*left[::-1], lane_id, *right)

    def lanes_beside(self, lane_id: LaneId) -> tuple[Lane, ...]:
        """All lanes of a lane's section, of every type and in both directions, itself among them."""
        return tuple(self.lanes[other] for other in self._sections[lane_id[:2]])

    @cached_property
    def _sections(self) -> dict[tuple[str, int], list[LaneId]]:
        sections: dict[tuple[str, int], list[LaneId]] = {}
        for lane_id in self.lanes:
            sections.setdefault(lane_id[:2], []).append(lane_id)
        return sections

    def _search(self, x: float, y: float, radius: float, types: Sequence[str]) -> list[tuple[list[float], int]]:
        """Rows of `SurfaceIndex.search` with the index of their lane."""
        rows, lanes = self.index.search(float(x), float(y), max(radius, ON_LANE_M), self._mask(tuple(types)))
        return list(zip(rows.tolist(), lanes.tolist(), strict=True))

    def _position(self, row: list[float], lane: int) -> LanePosition:
        heading = (row[4] + math.pi) % (2.0 * math.pi) - math.pi
        return LanePosition(self._ids[lane], row[0], row[1], row[3], heading)

    def _mask(self, types: tuple[str, ...]) -> BoolArray:
        if types not in self._masks:
            self._masks[types] = np.array([lane.type in types for lane in self.lanes.values()], dtype=np.bool_)
        return self._masks[types]

    def stop_lines_of(self, lane_id: LaneId, before: LaneId | None = None) -> tuple[StopLine, ...]:
        """The stop lines on a lane, in order of s; of one who comes over a lane `before`, those that hold for him."""
        lines = self._stop_lines.get(lane_id, ())
        return lines if before is None else tuple(line for line in lines if line.approach in (None, before))

    def stop_lines_across(self, lane_id: LaneId) -> tuple[StopLine, ...]:
        """The stop lines that lie across a lane, those that hold for one way on from it among them."""
        return self._lines_across.get(lane_id, ())

    def place_of(self, line: StopLine) -> tuple[LaneId, float]:
        """The lane that a stop line lies across, and where along it (m)."""
        if line.approach is None:
            return line.lane, line.s
        return line.approach, self.lanes[line.approach].length + line.s

    def static_segments(self, x: float, y: float, radius: float) -> FloatArray:
        """Edges (M, 4) of solid objects within `radius` (m) of a point."""
        return self._static.near(x, y, radius)

    def line_segments(self, x: float, y: float, radius: float, crossable: bool | None = None) -> FloatArray:
        """Lane markings (M, 4) within `radius` (m) of a point: those that may be crossed from both sides, all others,
        or (None) all.

        Between opposite directions a missing marking counts as one that may not be crossed. Virtual boundaries inside
        junctions are left out, as every way through lies across other ones.
        """
        if crossable is None:
            return np.vstack([self._lines[kind].near(x, y, radius) for kind in (False, True)])
        return self._lines[crossable].near(x, y, radius)

    def oncoming_lines(self, lane_id: LaneId) -> FloatArray:
        """The line (K, 4) that parts the lanes of this one's direction from those of the other, crossable or not."""
        return np.vstack([oncoming_line(self.lanes[each], self.lanes) for each in self.same_direction(lane_id)])

    def boundary_segments(self, x: float, y: float, radius: float) -> FloatArray:
        """Outer edges (M, 4) of the surface that wheels may touch, within `radius` (m) of a point."""
        return self._boundary.near(x, y, radius)

    @cached_property
    def _static(self) -> SegmentSet:
        return static_set(self.objects)

    @cached_property
    def _lines(self) -> dict[bool, SegmentSet]:
        return {kind: line_set(self.lanes, self.index, kind) for kind in (False, True)}

    @cached_property
    def _boundary(self) -> SegmentSet:
        return boundary_set(self.lanes, self.index)

    def crosswalks_of(self, lane_id: LaneId) -> tuple[tuple[int, float, float], ...]:
        """The crosswalks on a lane: index in `crosswalks`, and the stretch of the lane that it covers (m)."""
        return self._crosswalks.get(lane_id, ())

    @cached_property
    def phases(self) -> dict[str, tuple[tuple[int, ...], ...]]:
        """By junction, groups of light signals that are green together, in turn."""
        return build_phases(self.lanes, self.stop_lines, self.controllers, self.junction_controllers)

    @cached_property
    def _crosswalks(self) -> dict[LaneId, tuple[tuple[int, float, float], ...]]:
        found: dict[LaneId, tuple[tuple[int, float, float], ...]] = {}
        for i, crosswalk in enumerate(self.crosswalks):
            for lane_id, start, end in crosswalk.lanes:
                found[lane_id] = (*found.get(lane_id, ()), (i, start, end))
        return found

    @cached_property
    def junctions(self) -> dict[str, Junction]:
        """All junctions by id."""
        return build_junctions(self.junction_ids, self.lanes, self.stop_lines)

    @cached_property
    def _stop_lines(self) -> dict[LaneId, tuple[StopLine, ...]]:
        found: dict[LaneId, tuple[StopLine, ...]] = {}
        for line in self.stop_lines:
            found[line.lane] = (*found.get(line.lane, ()), line)
        return found

    @cached_property
    def _lines_across(self) -> dict[LaneId, tuple[StopLine, ...]]:
        found: dict[LaneId, tuple[StopLine, ...]] = {}
        for line in self.stop_lines:
            lane_id, _ = self.place_of(line)
            found[lane_id] = (*found.get(lane_id, ()), line)
        return found

    @cached_property
    def graph(self) -> LaneGraph:
        """Where routes may run."""
        return build_graph(self.lanes)

    @cached_property
    def _abreast(self) -> dict[LaneId, tuple[LaneId, ...]]:
        return {}

    @cached_property
    def _masks(self) -> dict[tuple[str, ...], BoolArray]:
        return {}

    @cached_property
    def _ids(self) -> tuple[LaneId, ...]:
        return tuple(self.lanes)

    @cached_property
    def _in_junction(self) -> tuple[bool, ...]:
        return tuple(lane.junction is not None for lane in self.lanes.values())

    @cached_property
    def _driving(self) -> tuple[LaneId, ...]:
        return tuple(lane_id for lane_id, lane in self.lanes.items() if lane.type == DRIVING)
