"""Every lane of a map as columns, so that a page can say what lies at a point as the map itself does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import DRIVING, OFF_ROAD, Lane, LaneMark
from tuling_fsm.map.query import mark_name
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.viewer.columns import ColumnWriter, TextTable
from tuling_fsm.viewer.origin import PageOrigin

STEP_M, STEP_RAD, STEP_MPS = 1e-3, 1e-4, 0.01
"""What is rounded to what."""
TOLERANCES = np.array((5e-4, 5e-4, 2e-3, 2e-3, 2e-3, 2e-3, 2e-3))
"""How far the samples that are left out may lie from the line through those beside them: x, y (m), heading (rad), s,
station of the road, distance to the left and to the right boundary (m).
"""
MOST_APART = 32
"""Samples from one that is kept to the next at the most: a stretch is to touch few cells of a grid."""
_NAMES = ("x", "y", "heading", "s", "station", "left", "right")
_STEPS = (STEP_M, STEP_M, STEP_RAD, STEP_M, STEP_M, STEP_M, STEP_M)
_LEFT, _RIGHT = 0, 1


def add_lanes(columns: ColumnWriter, road_map: RoadMap, origin: PageOrigin) -> dict[str, object]:
    """Add the columns of the lanes.

    Args:
        columns: gets `lane.*`, a row a lane in the order of the map; `sample.*`, `lane.n` rows a lane; `mark.*`,
            `lane.marks` rows a lane.
        road_map: all of it.
        origin: of the page.

    Returns:
        What the header has to say: `texts`, by number, and the `types` of lanes, each with its rank: 0 is looked for
        first at a point, 1 where no driving lane is, 2 is off the road.
    """
    texts = TextTable()
    lanes = list(road_map.lanes.values())
    types = list(dict.fromkeys(lane.type for lane in lanes))
    columns.add("lane.road", [texts.number(lane.id.road) for lane in lanes])
    columns.add("lane.section", [lane.section for lane in lanes])
    columns.add("lane.lane", [lane.id.lane for lane in lanes])
    columns.add("lane.type", [types.index(lane.type) for lane in lanes])
    columns.add("lane.junction", [texts.number(lane.junction or "") for lane in lanes])
    columns.add("lane.limit", [lane.limit for lane in lanes], STEP_MPS)
    _add_samples(columns, lanes, origin)
    _add_marks(columns, lanes, texts)
    return {"texts": texts.texts, "types": [{"name": name, "rank": _rank(name)} for name in types]}


def _rank(lane_type: str) -> int:
    return 0 if lane_type == DRIVING else 2 if lane_type in OFF_ROAD else 1


def _add_samples(columns: ColumnWriter, lanes: Iterable[Lane], origin: PageOrigin) -> None:
    tables = [_thinned(_table(lane)) for lane in lanes]
    columns.add("lane.n", [len(table) for table in tables], order=0)
    whole = origin.local(np.vstack([np.zeros((0, len(_NAMES))), *tables]))
    for name, step, values in zip(_NAMES, _STEPS, whole.T, strict=True):
        columns.add(f"sample.{name}", values, step)


def _table(lane: Lane) -> FloatArray:
    heading = np.unwrap(lane.center.heading)
    return np.column_stack((lane.center.xy, heading, lane.center.s, lane.road_s, lane.left, lane.right))


def _thinned(table: FloatArray) -> FloatArray:
    """The samples (K, 7) of which straight lines between them are near to all: the farthest one is added until none is
    too far (Ramer, Douglas and Peucker, with s as the parameter).
    """
    size = len(table)
    kept = {0, size - 1, *range(0, size, MOST_APART)}
    ends = sorted(kept)
    spans = list(pairwise(ends))
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        middle = first + 1 + _farthest(table[first : last + 1])
        if middle > first:
            kept.add(middle)
            spans += [(first, middle), (middle, last)]
    return table[sorted(kept)]


def _farthest(table: FloatArray) -> int:
    """Of the inner samples, the one that is farthest off in terms of the tolerances; -1 where none is too far."""
    s = table[:, 3]
    share = ((s[1:-1] - s[0]) / max(float(s[-1] - s[0]), 1e-9))[:, None]
    off = np.abs(table[1:-1] - (table[0] + share * (table[-1] - table[0]))) / TOLERANCES
    worst = off.max(axis=1)
    index = int(np.argmax(worst))
    return index if float(worst[index]) > 1.0 else -1


def _add_marks(columns: ColumnWriter, lanes: list[Lane], texts: TextTable) -> None:
    """The stretches of the lines on both sides as `mark.*`, s along the lane (m)."""
    rows = [list(_marks(lane)) for lane in lanes]
    columns.add("lane.marks", [len(each) for each in rows], order=0)
    flat = [row for each in rows for row in each]
    columns.add("mark.side", [side for side, *_ in flat], order=0)
    columns.add("mark.name", [texts.number(_words(mark)) for _, mark in flat], order=0)
    columns.add("mark.from", [mark.s_from for _, mark in flat], STEP_M)
    columns.add("mark.to", [mark.s_to for _, mark in flat], STEP_M)


def _marks(lane: Lane) -> Iterator[tuple[int, LaneMark]]:
    for side, marks in ((_LEFT, lane.left_marks), (_RIGHT, lane.right_marks)):
        yield from ((side, mark) for mark in marks)


def _words(mark: LaneMark) -> str:
    return mark_name((mark,), mark.s_from)
