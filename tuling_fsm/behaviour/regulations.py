"""What holds for every plan of a tick, from the world and the state alone (SAF-2).

The walls of a request come from rules with a memory; here is none, so that a fault in those does not hide itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from tuling_fsm.core.geometry import distance
from tuling_fsm.core.regulations import ClosedLine, Regulations
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.cross_section import across_road, station_at
from tuling_fsm.map.lanes import StopLine
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.world.inputs import Light
from tuling_fsm.world.world import World

RED = (Light.RED, Light.RED_YELLOW)
UNKNOWN = (Light.UNKNOWN, Light.DARK)
SETTLED_S = 2.0
"""A light that has been red for longer than this (s) was red before any car that may still pass it came near."""
_SAME_PLACE_M = 15.0


def regulations(
    world: World, road_map: RoadMap, vehicle: Vehicle, by_hand: bool, late_decel: float, speed_limit: float
) -> Regulations:
    """The regulations of a tick.

    Args:
        world: this tick's.
        road_map: for the stop lines of the lanes beside the route's.
        vehicle: the car.
        by_hand: the junction is directed by hand: only a light that is known to be red closes a line (INT-5).
        late_decel: a light that has just changed stops the car with up to this braking, m/s^2.
        speed_limit: what weather and state allow, m/s.
    """
    lines = tuple(_closed_lines(world, road_map, vehicle, by_hand, late_decel))
    odometry = world.received.odometry
    age = max(world.stamp - odometry.stamp, 0.0) if odometry is not None and world.odometry_fresh else 0.0
    moved = (abs(world.ego.v) + 0.5 * vehicle.max_accel * age) * age
    return Regulations(world.lanes, lines, speed_limit, moved)


def _closed_lines(
    world: World, road_map: RoadMap, vehicle: Vehicle, by_hand: bool, late_decel: float
) -> Iterator[ClosedLine]:
    for ahead in world.stop_lines:
        if ahead.line.kind != "light":
            continue
        for line in _abreast(road_map, ahead.line):
            state = world.lights.get(line.signal, Light.UNKNOWN)
            unseen = line is ahead.line and not by_hand and state in UNKNOWN
            if state in RED or unseen:
                settled = world.stamp - world.light_since.get(line.signal, world.stamp) >= SETTLED_S
                decel = vehicle.emergency_decel if settled else min(late_decel, vehicle.emergency_decel)
                ends = _over_road(road_map, line) if line is ahead.line else (line.x0, line.y0, line.x1, line.y1)
                lane, s = road_map.place_of(line)
                heading = road_map.lanes[lane].center.at(s).heading
                yield ClosedLine(*ends, heading, decel, f"signal {line.signal} {state.name.lower()}")


def _abreast(road_map: RoadMap, line: StopLine) -> Iterator[StopLine]:
    """The line itself, and those of lights at the same place of the other lanes of its direction."""
    yield line
    own = road_map.place_of(line)[0]
    for lane in road_map.same_direction(own):
        for other in road_map.stop_lines_across(lane) if lane != own else ():
            if other.kind == "light" and distance(_middle(line), _middle(other)) < _SAME_PLACE_M:
                yield other


def _middle(line: StopLine) -> tuple[float, float]:
    return 0.5 * (line.x0 + line.x1), 0.5 * (line.y0 + line.y1)


_LINES: WeakKeyDictionary[RoadMap, dict[StopLine, tuple[float, float, float, float]]] = WeakKeyDictionary()


def _over_road(road_map: RoadMap, line: StopLine) -> tuple[float, float, float, float]:
    """The car's own line on all of the road: it is as closed to a car on the oncoming lane."""
    known = _LINES.setdefault(road_map, {})
    if line not in known:
        lane, s = road_map.place_of(line)
        known[line] = across_road(road_map, lane, station_at(road_map, lane, s))
    return known[line]
