"""Which lane of SUMO's network is which lane of the map: by where they are, as names differ."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.lanes import LaneId, LanePosition, StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.sumo.network import SumoLane, SumoNetwork

SPACING_M, MARGIN_M = 2.0, 1.0
"""Lanes are compared at places so far from one another and from their ends."""
REACH_M = 3.0
SAME_LANE_M = 0.5
"""A lane whose middle lies this near to that of a driving lane is that lane; netconvert keeps them within 0.1 m."""
WITHIN_M = 5.0
"""A stop line this near to the beginning of a way over a junction holds vehicles that come to the junction."""
LEAST_SHARE = 0.5
"""Where fewer lanes than this find theirs, the two do not speak of the same coordinates."""

_FIT_FOR_NETCONVERT = {
    False: "an OpenDRIVE file that netconvert leaves in its own coordinates",
    True: "a left-hand map of roads whose two sides are alike: netconvert takes one for the other",
}
"""By whether traffic keeps left."""


@dataclass(frozen=True, eq=False)
class LaneMatch:
    """SUMO's lanes that are driving lanes of the map, those for cars that are none (parking lanes), and the edge that
    each lane of the map belongs to. An edge may be several lanes one after the other: it has no sections.
    """

    open: frozenset[str]
    closed: tuple[str, ...]
    edge_of: Mapping[LaneId, str]
    lanes_of: Mapping[str, tuple[LaneId, ...]]
    """By SUMO's lane, in the direction of travel."""


def match_lanes(network: SumoNetwork, road_map: RoadMap) -> LaneMatch:
    """Match all lanes.

    Raises:
        InputError: most lanes have no partner.
    """
    lanes = [lane for edge in network.edges.values() for lane in edge.lanes if lane.passenger]
    closed, lanes_of = [], dict[str, tuple[LaneId, ...]]()
    votes: dict[LaneId, Counter[str]] = {}
    for lane in lanes:
        found = [position for position in positions(lane, road_map) if position is not None]
        near = [position.lane for position in found if abs(position.offset) <= SAME_LANE_M]
        if not found or statistics.median(abs(position.offset) for position in found) > SAME_LANE_M:
            closed.append(lane.id)
            continue
        lanes_of[lane.id] = _chain(Counter(near), road_map)
        for number in near:
            votes.setdefault(number, Counter())[lane.edge] += 1
    if len(lanes_of) < LEAST_SHARE * max(len(lanes), 1):
        raise InputError(
            road_map.name, f"SUMO has {len(lanes_of)} of its {len(lanes)} lanes where the map has them",
            _FIT_FOR_NETCONVERT[road_map.left_hand],
        )  # fmt: skip
    edge_of = {number: count.most_common(1)[0][0] for number, count in votes.items()}
    return LaneMatch(frozenset(lanes_of), tuple(closed), edge_of, lanes_of)


def _chain(found: Counter[LaneId], road_map: RoadMap) -> tuple[LaneId, ...]:
    """The lanes that follow one another around the one that was found most often: where lanes overlap at the end of a
    road, some of another road are found, too.
    """
    chain = [found.most_common(1)[0][0]]
    while onward := [each for each in road_map.lanes[chain[-1]].successors if each in found and each not in chain]:
        chain.append(onward[0])
    while back := [each for each in road_map.lanes[chain[0]].predecessors if each in found and each not in chain]:
        chain.insert(0, back[0])
    return tuple(chain)


def positions(lane: SumoLane, road_map: RoadMap) -> Iterator[LanePosition | None]:
    """Where the middle of a lane of SUMO's lies on driving lanes of the map."""
    for pose in lane.samples(SPACING_M, MARGIN_M):
        yield road_map.project(pose.x, pose.y, pose.heading, radius=REACH_M)


def lines_at_end(match: LaneMatch, road_map: RoadMap, lane: str, target: str | None = None) -> list[StopLine]:
    """Stop lines where a lane of SUMO's ends: on its last lane of the map, or where a way over the junction begins.

    Args:
        match: of the lanes.
        road_map: the map.
        lane: SUMO's.
        target: only ways to this edge; None: all.
    """
    lines: list[StopLine] = []
    for number in match.lanes_of.get(lane, ())[-1:]:
        lines += road_map.stop_lines_of(number)
        for after in road_map.lanes[number].successors:
            way = road_map.lanes[after]
            led_to = {match.edge_of.get(each) for each in way.successors}
            if way.junction is not None and (target is None or target in led_to):
                lines += [line for line in road_map.stop_lines_of(after, number) if line.s < WITHIN_M]
    return lines
