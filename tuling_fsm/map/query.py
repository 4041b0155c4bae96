"""What the map reader sees, as plain data: counts and lengths, and what lies at a point."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from tuling_fsm.map.lanes import DRIVING, OFF_ROAD, LaneMark, LanePosition, MarkKind
from tuling_fsm.map.road_map import RoadMap

FIELDS = ("road", "section", "lane", "s", "offset", "width", "heading", "line_left", "line_right", "junction")
"""Keys of an answer about a point."""


def summary(road_map: RoadMap) -> dict[str, Any]:
    """Counts, and lengths in m: `length` of all roads' reference lines, `driving_length` of all driving lanes."""
    lanes = road_map.lanes.values()
    junctions = road_map.junctions.values()
    return {
        "name": road_map.name,
        "left_hand": road_map.left_hand,
        "bounds": list(road_map.bounds),
        "roads": len(road_map.road_lengths),
        "length": math.fsum(road_map.road_lengths.values()),
        "driving_length": math.fsum(lane.length for lane in lanes if lane.type == DRIVING),
        "lanes": dict(Counter(lane.type for lane in lanes)),
        "junctions": len(junctions),
        "junctions_with_lights": sum(junction.has_lights for junction in junctions),
        "signals": len(road_map.signals),
        "stop_lines": dict(Counter(line.kind for line in road_map.stop_lines)),
        "crosswalks": len(road_map.crosswalks),
        "parking_slots": len(road_map.slots),
        "objects": len(road_map.objects),
        "warnings": list(road_map.warnings),
    }


def at(road_map: RoadMap, x: float, y: float, z: float | None = None) -> dict[str, Any]:
    """The lane at a point (m, `map`): a driving lane if one is there, else another lane that belongs to the
    carriageway.

    `s` is the road's station, `offset` from the lane's centre, + left of travel (m), `heading` that of travel (rad);
    `line_left` and `line_right` name the marks (`none` without paint). Off the road every value is None.
    """
    beside = tuple(sorted({lane.type for lane in road_map.lanes.values()} - OFF_ROAD - {DRIVING}))
    found = road_map.project(x, y, z=z) or road_map.project(x, y, z=z, types=beside)
    if found is None:
        return dict.fromkeys(FIELDS)
    return _describe(road_map, found)


def _describe(road_map: RoadMap, found: LanePosition) -> dict[str, Any]:
    lane = road_map.lanes[found.lane]
    return {
        "road": found.lane.road,
        "section": lane.section,
        "lane": found.lane.lane,
        "s": float(np.interp(found.s, lane.center.s, lane.road_s)),
        "offset": found.offset,
        "width": found.width,
        "heading": found.heading,
        "line_left": mark_name(lane.left_marks, found.s),
        "line_right": mark_name(lane.right_marks, found.s),
        "junction": lane.junction,
    }


def mark_name(marks: tuple[LaneMark, ...], s: float) -> str:
    """The mark at `s` (m) of a lane, in words; pairs are named from the lane outwards."""
    for mark in marks:
        if mark.s_from - 1e-6 <= s <= mark.s_to + 1e-6:
            return "none" if mark.kind is MarkKind.VIRTUAL else mark.kind.name.lower().replace("_", " ")
    return "none"
