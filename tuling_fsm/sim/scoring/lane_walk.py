"""Which lanes lead on from a place and which lead to one, by distance, in however many sections a road is written."""

from __future__ import annotations

from tuling_fsm.map.lanes import LaneId
from tuling_fsm.map.road_map import RoadMap


def lanes_onward(road_map: RoadMap, lane: LaneId, s: float, reach: float) -> dict[LaneId, float]:
    """Lanes that begin less than `reach` ahead of a place on a lane, and how far ahead (m), up to the next junction:
    its connecting lanes are the last. From a connecting lane only those right after it.
    """
    lanes, found = road_map.lanes, dict[LaneId, float]()
    ends = [(lane, lanes[lane].length - s)]
    while ends:
        name, way = ends.pop(0)
        for after in lanes[name].successors:
            if way < found.get(after, reach):
                found[after] = way
                if lanes[after].junction is None and lanes[lane].junction is None:
                    ends.append((after, way + lanes[after].length))
    return found


def lanes_before(road_map: RoadMap, lane: LaneId, reach: float) -> dict[LaneId, float]:
    """Lanes that end less than `reach` before a lane begins, and how far before it (m), back to the junction before."""
    lanes, found = road_map.lanes, dict[LaneId, float]()
    begins = [(lane, 0.0)]
    while begins:
        name, way = begins.pop(0)
        for before in lanes[name].predecessors:
            if way < found.get(before, reach):
                found[before] = way
                if lanes[before].junction is None:
                    begins.append((before, way + lanes[before].length))
    return found
