"""Which of two ways through a junction gives way to the other by sign or turn, where no light says it (INT-7)."""

from __future__ import annotations

from tuling_fsm.core import elementary
from tuling_fsm.core.geometry import wrap_angle
from tuling_fsm.map import connecting
from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap

STRAIGHT_RAD = 0.5
"""A way that turns by less leads straight on."""
OPPOSITE = -0.5
"""Cosine of the angle between the headings of two that come from opposite sides, at most."""
Headings = tuple[float, float]
"""Where a way through a junction points at where it begins and where it ends, rad."""


def entries(road_map: RoadMap, lane_id: LaneId) -> frozenset[LaneId]:
    """Lanes outside the junction from which a connecting lane is reached."""
    return frozenset(connecting.entries(road_map.lanes, lane_id))


def has_sign(road_map: RoadMap, lane_id: LaneId) -> bool:
    """Whether a stop or yield line is on a connecting lane or on the lanes that lead to it, and no light, which would
    prevail (Vienna Convention on Road Traffic, article 5).
    """
    lanes = [lane_id, *sorted(entries(road_map, lane_id))]
    kinds = {line.kind for lane in lanes for line in road_map.stop_lines_of(lane)}
    return "light" not in kinds and not kinds.isdisjoint(("stop", "yield"))


def turns_across(way: Headings, other: Headings, left_hand: bool) -> bool:
    """Whether one that takes a way turns across that of one from the opposite side that does not, and so gives way
    (Vienna Convention on Road Traffic, article 16).
    """
    (begin, end), (other_begin, other_end) = way, other
    if elementary.cos(wrap_angle(begin - other_begin)) > OPPOSITE:
        return False
    side = -1.0 if left_hand else 1.0
    turns, other_turns = side * wrap_angle(end - begin), side * wrap_angle(other_end - other_begin)
    return turns > STRAIGHT_RAD >= other_turns


def gives_way(road_map: RoadMap, lane_id: LaneId, other_id: LaneId) -> bool:
    """Whether a vehicle on a connecting lane gives way to one that comes to, or is on, another that it meets: it has a
    sign and the other has none, or neither has more right and it turns across the other's way.
    """
    signed, other_signed = (has_sign(road_map, each) for each in (lane_id, other_id))
    if signed is not other_signed:
        return signed
    way, other = (way_headings(road_map, each) for each in (lane_id, other_id))
    return turns_across(way, other, road_map.left_hand)


def way_headings(road_map: RoadMap, lane_id: LaneId) -> Headings:
    """Those of the way that a connecting lane is a section of."""
    first = last = road_map.lanes[lane_id]
    for _ in range(connecting.MAX_SECTIONS):
        before, after = (
            [road_map.lanes[n] for n in others if n in road_map.lanes and road_map.lanes[n].junction == first.junction]
            for others in (first.predecessors, last.successors)
        )
        first, last = before[0] if len(before) == 1 else first, after[0] if len(after) == 1 else last
    return float(first.center.heading[0]), float(last.center.heading[-1])
