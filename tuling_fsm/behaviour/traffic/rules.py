"""The rules of the road as walls: where the car may not go yet, and why.

Lights and stop lines (INT-2, USE-3, USE-4), right of way and exits of junctions (INT-7), pedestrians (INT-3, USE-5),
safe starts (USE-6), queues that could be passed (NOR-11). Where slowness is wanted and no wall can say it, speed limits
come with them (USE-5, USE-13).
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tuling_fsm.behaviour.traffic.conflicts import warm_up as warm_up_conflicts
from tuling_fsm.behaviour.traffic.junctions import junction_rules
from tuling_fsm.behaviour.traffic.lines import line_rules, walls_beside
from tuling_fsm.behaviour.traffic.memory import TrafficRuleMemory
from tuling_fsm.behaviour.traffic.parameters import TrafficRuleParameters
from tuling_fsm.behaviour.traffic.pedestrians import hidden_crosswalks, pedestrian_rules, pedestrians_beside
from tuling_fsm.behaviour.traffic.queues import queue_walls
from tuling_fsm.behaviour.traffic.situation import TrafficSituation
from tuling_fsm.behaviour.traffic.start import start_rule
from tuling_fsm.behaviour.traffic.zones import SlowZone, slowed
from tuling_fsm.behaviour.traffic.zones import warm_up as warm_up_zones
from tuling_fsm.core.request import Hold, Reason, StopWall
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.lane_index import lane_index
from tuling_fsm.world.world import World

__all__ = ["SlowZone", "TrafficRuleMemory", "TrafficRules", "slowed", "traffic_rules", "warm_up"]


class TrafficRules(NamedTuple):
    """What the rules say now: walls in the order of the route, and the memory for the next tick.

    `speed_limit` (m/s, inf for none) holds at once; `zones` hold where they lie: see `slowed`. `stop` takes the
    place of what leads along the lanes.
    """

    walls: tuple[StopWall, ...]
    memory: TrafficRuleMemory
    speed_limit: float = math.inf
    zones: tuple[SlowZone, ...] = ()
    stop: Hold | None = None
    creeps_up: bool = False
    """A person who stands on the lane ahead is crept up to (USE-5)."""


def warm_up() -> None:
    """Compile and load every kernel of this room, so that no tick has to."""
    warm_up_conflicts()
    warm_up_zones()


def traffic_rules(
    world: World,
    road_map: RoadMap,
    vehicle: Vehicle,
    memory: TrafficRuleMemory,
    parameters: TrafficRuleParameters,
    by_hand: bool = False,
    stands_for: int = -1,
) -> TrafficRules:
    """Apply all rules. Pure: the same arguments give the same answer.

    Without a route there are no walls, and nothing is remembered. `by_hand` tells that the junction is directed by hand
    (INT-5): then only a light that is known to be red closes a line. `stands_for` is the id of the pedestrian that the
    last plan stops for, -1 for none.
    """
    route, way = world.route, world.way
    if route is None or way is None:
        return TrafficRules((), TrafficRuleMemory())
    if memory.route is not route:
        memory = TrafficRuleMemory(route)
    now = TrafficSituation(world, way, road_map, lane_index(road_map), vehicle, parameters, by_hand)
    lines, line_memory, stop = line_rules(now, memory.lines)
    people = pedestrian_rules(now, memory.released, memory.pedestrian_waits)
    yielded_to = {*people.released, *(wall.blocker for _, wall in people.walls)}
    beside = pedestrians_beside(now, yielded_to, stands_for, memory.beside)
    released, given_up = (*people.released, *beside.given_up), (*people.given_up, *beside.given_up)
    stops = (*lines, *people.walls)
    closed = [s for s, wall in lines if wall.reason is Reason.RED_LIGHT]
    junctions, junction_memory, zones = junction_rules(now, memory.junctions, stops, closed)
    start, blocked, clear_since = start_rule(now, memory.start_blocked, memory.start_clear_since, released)
    found = (*lines, *walls_beside(now), *people.walls, *junctions, *start, *queue_walls(now))
    walls = sorted(found, key=lambda item: item[0])
    kept = TrafficRuleMemory(
        route, line_memory, junction_memory, released, given_up, beside.given_up, people.waits, blocked, clear_since
    )
    slow, limit = (*zones, *hidden_crosswalks(now)), min(people.speed_limit, beside.speed_limit)
    return TrafficRules(tuple(wall for _, wall in walls), kept, limit, slow, stop, people.creeps_up)
