"""Lane sections cut into pieces where the limit of a lane changes on the way or who may use it, so that each lane of
the map has one limit and one type.
"""

from __future__ import annotations

from itertools import pairwise

from tuling_fsm.core.records import replace
from tuling_fsm.map.lanes import DRIVING, canonical
from tuling_fsm.map.opendrive.access import OPEN, strictest
from tuling_fsm.map.opendrive.road import LaneSection, Road, RoadLane
from tuling_fsm.map.opendrive.speed import SLIVER_M, lowest_in_lane

MIN_PIECE_M = 30.0
"""No piece is shorter, m, so that a lane change has its full length in each; the stricter holds in all of a piece."""


def in_pieces(road: Road) -> Road:
    """A road with its lane sections cut where a driving lane changes (one in a junction stays whole), and its driving
    lanes that are closed to cars of the type that they are to these.
    """
    return replace(road, sections=tuple(piece for section in road.sections for piece in _cut(road, section)))


def _cut(road: Road, section: LaneSection) -> list[LaneSection]:
    if road.junction is not None:
        return [_piece(section, section.start, section.end)]
    lanes = section.lanes.values()
    records = [road.speeds, *(records for lane in lanes for records in (lane.speeds, lane.access))]
    inside = {s for each in records for s, _ in each if section.start + SLIVER_M < s < section.end}
    stations = [s for s, following in pairwise([*sorted(inside), section.end]) if following - s > SLIVER_M]
    changes = _changes(road, section, stations)
    cuts = _changes(road, section, _apart(changes, section.start, section.end))
    ends = [section.start, *cuts, section.end]
    return [_piece(section, start, end) for start, end in pairwise(ends)]


def _changes(road: Road, section: LaneSection, stations: list[float]) -> list[float]:
    """Those of some stations (m, ascending) at which a driving lane is not what it is up to there."""
    ends = [section.start, *stations, section.end]
    told = [_told(road, section, start, end) for start, end in pairwise(ends)]
    return [s for s, (before, after) in zip(stations, pairwise(told), strict=True) if before != after]


def _told(road: Road, section: LaneSection, start: float, end: float) -> list[tuple[float, str]]:
    """Limit (m/s) and type of each driving lane of a section between two road stations (m)."""
    driving = (lane for lane in section.lanes.values() if canonical(lane.type) == DRIVING)
    return [(lowest_in_lane(road.speeds, each.speeds, start, end), _type(each, start, end)) for each in driving]


def _type(lane: RoadLane, start: float, end: float) -> str:
    """The type of a lane between two road stations (m), who may use it considered."""
    closed = strictest(lane.access, start, end) if canonical(lane.type) == DRIVING else OPEN
    return closed or lane.type


def _apart(stations: list[float], start: float, end: float) -> list[float]:
    """Stations (m, ascending) moved so that none is nearer than `MIN_PIECE_M` to another one or to the ends of their
    section; those that have no room are left out.
    """
    kept = [start]
    for station in stations:
        at = min(max(station, kept[-1] + MIN_PIECE_M), end - MIN_PIECE_M)
        if at >= kept[-1] + MIN_PIECE_M:
            kept.append(at)
    return kept[1:]


def _piece(section: LaneSection, start: float, end: float) -> LaneSection:
    """A piece of a section: inside it each lane goes on in its own number."""
    lanes = {}
    for number, lane in section.lanes.items():
        before = lane.predecessors if start == section.start else (number,)
        after = lane.successors if end == section.end else (number,)
        lanes[number] = replace(lane, type=_type(lane, start, end), predecessors=before, successors=after)
    return replace(section, start=start, end=end, lanes=lanes)
