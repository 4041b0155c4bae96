"""The marks on both sides of a lane, and whether a car in the lane may cross them."""

from __future__ import annotations

from enum import Enum

import numpy as np

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.map.lanes import DRIVING, SURFACE, LaneMark, MarkKind, canonical
from tuling_fsm.map.opendrive.road import LaneSection, Road, RoadLane
from tuling_fsm.map.opendrive.road_mark import RoadMark, seen_from_outside


class BoundaryRelation(Enum):
    """What lies beyond a boundary."""

    SAME = "a driving lane of the same direction"
    OPPOSITE = "a driving lane of the other direction"
    BESIDE = "another surface that a wheel may touch"
    EDGE = "the edge of the road"


_UNMARKED_CROSSABLE = {
    BoundaryRelation.SAME: True,
    BoundaryRelation.OPPOSITE: False,
    BoundaryRelation.BESIDE: True,
    BoundaryRelation.EDGE: False,
}
"""Without paint, outside junctions. Inside, a boundary without paint is virtual and holds."""

_ONE_WAY = {"increase": True, "decrease": False}
"""The only sense of lane numbers (True: ascending) in which `laneChange` allows to cross a broken line.

`none` is not believed there: whole published motorways have it on every broken line. On a solid line it adds nothing.
"""


def beyond(section: LaneSection, number: int, step: int) -> int | None:
    """The next lane in the sense of `step` (+1: to the left of the reference line), over the centre lane; None at
    the edge.
    """
    numbers = [n for n in section.lanes if n != 0 and (n - number) * step > 0]
    return min(numbers, key=lambda n: abs(n - number)) if numbers else None


def side_marks(
    road: Road, section: LaneSection, number: int, step: int, s: FloatArray, along: FloatArray
) -> tuple[LaneMark, ...]:
    """The marks of lane `number` on the side of `step`, along its centre.

    `s` are the road stations of its samples (either way round) and `along` their arc lengths on the centre.
    """
    lane = section.lanes[number]
    other_number = beyond(section, number, step)
    other = None if other_number is None else section.lanes[other_number]
    relation = _relation(road, lane, other)
    order = np.argsort(s)
    found = []
    for record, start, end in _stretches(_records(section, number, step), section.start, section.end):
        ends = np.interp((start, end), s[order], along[order])
        kind, crossable = _meaning(record, relation, road.junction is not None, rising=step > 0)
        found.append(LaneMark(float(ends.min()), float(ends.max()), kind, crossable))
    return _merged(sorted(found))


def _merged(marks: list[LaneMark]) -> tuple[LaneMark, ...]:
    """Stretches that follow each other and say the same made one."""
    merged: list[LaneMark] = []
    for mark in marks:
        if merged and merged[-1][2:] == mark[2:] and mark.s_from - merged[-1].s_to < 1e-6:
            merged[-1] = merged[-1]._replace(s_to=mark.s_to)
        else:
            merged.append(mark)
    return tuple(merged)


def _relation(road: Road, lane: RoadLane, other: RoadLane | None) -> BoundaryRelation:
    if other is None:
        return BoundaryRelation.EDGE
    types = (canonical(lane.type), canonical(other.type))
    if types == (DRIVING, DRIVING):
        return BoundaryRelation.SAME if road.forward(lane) == road.forward(other) else BoundaryRelation.OPPOSITE
    return BoundaryRelation.BESIDE if all(t in SURFACE for t in types) else BoundaryRelation.EDGE


def _records(section: LaneSection, number: int, step: int) -> tuple[RoadMark, ...]:
    """The mark records of the boundary, seen from lane `number`."""
    if number * step > 0:
        return section.lanes[number].marks
    inner = number + step
    if inner == 0:
        marks = section.lanes[0].marks if 0 in section.lanes else ()
        return marks if number > 0 else tuple(seen_from_outside(mark) for mark in marks)
    marks = section.lanes[inner].marks if inner in section.lanes else ()
    return tuple(seen_from_outside(mark) for mark in marks)


def _stretches(records: tuple[RoadMark, ...], start: float, end: float) -> list[tuple[RoadMark | None, float, float]]:
    """Records with the road stations that they hold between; None where there is none yet."""
    found: list[tuple[RoadMark | None, float, float]] = []
    if not records or records[0].s > start + 1e-3:
        found.append((None, start, min(records[0].s, end) if records else end))
    for i, record in enumerate(records):
        until = records[i + 1].s if i + 1 < len(records) else end
        if until > max(record.s, start) and record.s < end:
            found.append((record, max(record.s, start), min(until, end)))
    return found


def _meaning(
    record: RoadMark | None, relation: BoundaryRelation, in_junction: bool, rising: bool
) -> tuple[MarkKind, bool]:
    """Kind and whether a car in the lane may cross. `rising`: crossing leads to larger lane numbers.

    In a junction the edge of a connecting road borders on other connecting roads, so that its paint says what holds.
    """
    if record is None or record.kind is None:
        return MarkKind.VIRTUAL, _UNMARKED_CROSSABLE[relation] and not in_junction
    may = (relation is not BoundaryRelation.EDGE or in_junction) and not record.lines[0]
    if may and relation is BoundaryRelation.SAME:
        may = _ONE_WAY.get(record.lane_change or "", rising) == rising
    return record.kind, may
