"""What lies before, in and behind a junction, whose roads may have several lane sections."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.map.lanes import Lane, LaneId

MAX_SECTIONS = 8
"""A way through a junction is followed over so many lanes."""

NEAR_JUNCTION_M = 50.0
"""A lane before a junction is followed if the one before it ends this near to the junction, m."""


def entries(lanes: Mapping[LaneId, Lane], lane_id: LaneId) -> tuple[LaneId, ...]:
    """Lanes outside the junction from which a connecting lane is reached."""
    return _outside(lanes, lane_id, ahead=False)


def exits(lanes: Mapping[LaneId, Lane], lane_id: LaneId) -> tuple[LaneId, ...]:
    """Lanes outside the junction to which a connecting lane leads."""
    return _outside(lanes, lane_id, ahead=True)


def _outside(lanes: Mapping[LaneId, Lane], lane_id: LaneId, ahead: bool) -> tuple[LaneId, ...]:
    junction, outside, level = lanes[lane_id].junction, dict[LaneId, None](), [lane_id]
    for _ in range(MAX_SECTIONS):
        links = (lanes[n].successors if ahead else lanes[n].predecessors for n in level)
        following = dict.fromkeys(n for each in links for n in each if n in lanes)
        outside.update((n, None) for n in following if lanes[n].junction != junction)
        level = [n for n in following if lanes[n].junction == junction]
    return tuple(outside)


def on_one_way(lanes: Mapping[LaneId, Lane], first: LaneId, second: LaneId) -> bool:
    """Whether one of two connecting lanes leads into the other inside their junction."""
    return leads_into(lanes, first, second) or leads_into(lanes, second, first)


def leads_into(lanes: Mapping[LaneId, Lane], lane_id: LaneId, later: LaneId) -> bool:
    """Whether a connecting lane leads into another one inside their junction."""
    junction, level = lanes[lane_id].junction, [lane_id]
    for _ in range(MAX_SECTIONS):
        level = [n for each in level for n in lanes[each].successors if n in lanes and lanes[n].junction == junction]
        if later in level:
            return True
    return False


def junctions_from(lanes: Mapping[LaneId, Lane], lane_id: LaneId) -> tuple[str, ...]:
    """The junction that a lane lies in, or those that it leads into, right away or over others as long as
    `NEAR_JUNCTION_M` together.
    """
    own = lanes[lane_id].junction
    if own is not None:
        return (own,)
    found, seen, queue = dict[str, None](), {lane_id}, [(lane_id, 0.0)]
    while queue:
        current, driven = queue.pop(0)
        if driven > NEAR_JUNCTION_M:
            continue
        for following in lanes[current].successors:
            lane = lanes[following]
            if lane.junction is not None:
                found[lane.junction] = None
            elif following not in seen:
                seen.add(following)
                queue.append((following, driven + lane.length))
    return tuple(found)
