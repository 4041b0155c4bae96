"""Which lane leads into which: lane links of sections, roads and junctions, turned into direction of travel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.map.lanes import DRIVING, LaneId, canonical
from tuling_fsm.map.opendrive.document import Element, Warnings, where
from tuling_fsm.map.opendrive.junction import RoadJunction
from tuling_fsm.map.opendrive.road import Road, RoadLink
from tuling_fsm.map.opendrive.sampling import LaneShape

MAX_GAP_M = 4.0
"""A link between lane ends farther apart than this (m) is not drivable and is dropped."""

MAX_TURN = 1.2
"""A link whose lanes differ in heading by more than this (rad) where they meet is not drivable and is dropped."""

TOUCHING_M = 0.5
MAX_TURN_TOUCHING = 2.0
"""Lane ends that touch may differ by more: where a lane opens steeply, its centre does not follow the road."""


class LaneEndpoint(NamedTuple):
    """A lane at one end of its section: `at_end` where the road station is the larger one."""

    lane: LaneId
    at_end: bool


class Topology(NamedTuple):
    """Successors and predecessors of every lane in direction of travel, in the order the file gives them."""

    successors: dict[LaneId, tuple[LaneId, ...]]
    predecessors: dict[LaneId, tuple[LaneId, ...]]


@dataclass(frozen=True, eq=False)
class _Network:
    roads: Mapping[str, Road]
    junctions: Mapping[str, RoadJunction]
    shapes: Mapping[LaneId, LaneShape]
    warnings: Warnings


def connect(
    roads: Mapping[str, Road],
    junctions: Mapping[str, RoadJunction],
    shapes: Mapping[LaneId, LaneShape],
    warnings: Warnings,
) -> Topology:
    """All drivable links. A link said from one side only counts; what leads nowhere or jumps is noted and dropped."""
    network = _Network(roads, junctions, shapes, warnings)
    successors: dict[LaneId, dict[LaneId, None]] = {lane: {} for lane in shapes}
    predecessors: dict[LaneId, dict[LaneId, None]] = {lane: {} for lane in shapes}
    for a, b in _joints(network):
        for tail, head in ((a, b), (b, a)):
            if _leaves(network, tail) and not _leaves(network, head) and _meets(network, tail.lane, head.lane):
                successors[tail.lane][head.lane] = None
                predecessors[head.lane][tail.lane] = None
    return Topology(
        {lane: tuple(found) for lane, found in successors.items()},
        {lane: tuple(found) for lane, found in predecessors.items()},
    )


def runs_by_rule(roads: Mapping[str, Road], junctions: Iterable[RoadJunction]) -> list[bool]:
    """Of each link of a junction onto a driving lane of a road that says no `rule`, whether it leads along the traffic
    that the road is taken to have.
    """
    found: list[bool] = []
    for connection in (each for junction in junctions for each in junction.connections):
        road, at_end = roads.get(connection.connecting), connection.contact == "end"
        if road is None or road.junction is None or connection.contact is None or "rule" in road.element.attrib:
            continue
        lanes = road.sections[-1 if at_end else 0].lanes
        onto = (lanes[number] for _, number in connection.lane_links if number in lanes and number != 0)
        found.extend(road.forward(lane) is not at_end for lane in onto if canonical(lane.type) == DRIVING)
    return found


def _leaves(network: _Network, point: LaneEndpoint) -> bool:
    """Whether traffic leaves the lane at this end."""
    road = network.roads[point.lane.road]
    lane = road.sections[point.lane.section].lanes[point.lane.lane]
    return road.forward(lane) == point.at_end


def _meets(network: _Network, tail: LaneId, head: LaneId) -> bool:
    """Whether one lane's last sample lies at the other's first."""
    a, b = network.shapes[tail], network.shapes[head]
    gap = float(elementwise.hypot(*(a.xy[-1] - b.xy[0])))
    turn = abs((float(b.heading[0] - a.heading[-1]) + np.pi) % (2.0 * np.pi) - np.pi)
    if gap <= MAX_GAP_M and turn <= (MAX_TURN_TOUCHING if gap <= TOUCHING_M else MAX_TURN):
        return True
    ends = f"lane {tail.lane} of road {tail.road} to lane {head.lane} of road {head.road}"
    name, element = f"{ends} {gap:.2f} m and {turn:.2f} rad away", network.roads[tail.road].element
    network.warnings.one_of("links of lanes that do not meet", element, name, "ignored")
    return False


Joint = tuple[LaneEndpoint, LaneEndpoint]


def _joints(network: _Network) -> Iterator[Joint]:
    """Every pair of lane ends that some link says are one, existing lanes only."""
    for road in network.roads.values():
        for index in range(len(road.sections)):
            yield from _section_joints(network, road, index)
        yield from _road_joints(network, road, road.predecessor, at_end=False)
        yield from _road_joints(network, road, road.successor, at_end=True)
    for junction in network.junctions.values():
        yield from _junction_joints(network, junction)


def _section_joints(network: _Network, road: Road, index: int) -> Iterator[Joint]:
    """Links between a section and its neighbours along the same road."""
    for step, at_end in ((-1, False), (1, True)):
        if not 0 <= index + step < len(road.sections):
            continue
        for lane in road.sections[index].lanes.values():
            for other in lane.successors if at_end else lane.predecessors:
                a = LaneEndpoint(LaneId(road.id, index, lane.number), at_end)
                b = LaneEndpoint(LaneId(road.id, index + step, other), not at_end)
                yield from _existing(network, a, b, road.element)


def _road_joints(network: _Network, road: Road, link: RoadLink | None, at_end: bool) -> Iterator[Joint]:
    """Links between a road and the road it ends at."""
    if link is None or link.kind == "junction":
        return
    other = network.roads.get(link.id)
    if other is None:
        network.warnings.append(
            f"{where(road.element)}: road {road.id} is linked to road {link.id}, which is not there"
        )
        return
    if link.contact is None:
        network.warnings.append(f"{where(road.element)}: link to road {link.id} has no contactPoint; ignored")
        return
    index = len(road.sections) - 1 if at_end else 0
    for lane in road.sections[index].lanes.values():
        for number in lane.successors if at_end else lane.predecessors:
            a = LaneEndpoint(LaneId(road.id, index, lane.number), at_end)
            yield from _existing(network, a, road_end(other, number, link.contact == "end"), road.element)


def _junction_joints(network: _Network, junction: RoadJunction) -> Iterator[Joint]:
    """Links from incoming roads into the roads that a junction connects them to."""
    for connection in junction.connections:
        incoming, other = network.roads.get(connection.incoming), network.roads.get(connection.connecting)
        if incoming is None or other is None or connection.contact is None:
            name = f"{connection.id} of junction {junction.id}"
            network.warnings.one_of("connections that are incomplete", connection.element, name, "ignored")
            continue
        touching_end = _touching_end(incoming, junction.id, other, connection.contact == "end")
        for number, onto in connection.lane_links:
            a = road_end(incoming, number, touching_end)
            yield from _existing(network, a, road_end(other, onto, connection.contact == "end"), connection.element)


def _touching_end(incoming: Road, junction: str, other: Road, other_at_end: bool) -> bool:
    """Whether it is the incoming road's end (not its start) that touches the junction."""
    ends = [
        at_end
        for at_end, link in ((False, incoming.predecessor), (True, incoming.successor))
        if link is not None and link.kind == "junction" and link.id == junction
    ]
    if len(ends) == 1:
        return ends[0]
    target = other.pose(other.length if other_at_end else 0.0)
    first, last = incoming.pose(0.0), incoming.pose(incoming.length)
    to_first = elementwise.hypot(first.x - target.x, first.y - target.y)
    return bool(elementwise.hypot(last.x - target.x, last.y - target.y) < to_first)


def road_end(road: Road, number: int, at_end: bool) -> LaneEndpoint:
    """A lane of a road at one of the road's ends."""
    return LaneEndpoint(LaneId(road.id, len(road.sections) - 1 if at_end else 0, number), at_end)


def _existing(network: _Network, a: LaneEndpoint, b: LaneEndpoint, element: Element) -> Iterator[Joint]:
    """The joint, if both lanes are there; links of centre lanes mean nothing."""
    if a.lane.lane == 0 or b.lane.lane == 0:
        return
    missing = [end.lane for end in (a, b) if end.lane not in network.shapes]
    if missing:
        lane = missing[0]
        name = f"lane {lane.lane} in section {lane.section} of road {lane.road}"
        network.warnings.one_of("links to lanes that are not there", element, name, "ignored")
        return
    yield a, b
