"""What all traffic rules look at: the car on its route, and walls across the carriageway."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tuling_fsm.behaviour.traffic.parameters import TrafficRuleParameters
from tuling_fsm.core.request import Reason, StopWall
from tuling_fsm.core.standing import AGENT_STANDS
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.cross_section import across_road, station_at
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route, RouteLane
from tuling_fsm.world.lane_index import LaneIndex
from tuling_fsm.world.world import World

_AT_BUMPER_M = 0.05
_ROLLS = 0.3
"""A car that is slower than this (m/s) stops at a wall that its bumper has only just passed; a faster one may not."""
_OVER_EDGE_M = 1.0
"""Walls reach this far over the edges of the road, so that nothing slips by: not on the oncoming lanes either, where a
car may be that goes round something.
"""


class WallReason(NamedTuple):
    """Why the car may not go on; the last three arguments of `TrafficSituation.wall`."""

    reason: Reason
    detail: str
    blocker: int


@dataclass(frozen=True, eq=False)
class TrafficSituation:
    """One tick, with a route."""

    world: World
    route: Route
    """With the lanes that the car drives: `World.way`."""
    road_map: RoadMap
    index: LaneIndex
    vehicle: Vehicle
    parameters: TrafficRuleParameters
    by_hand: bool
    """The junction is directed by hand: only a light that is known to be red stops the car (INT-5)."""

    @property
    def now(self) -> float:
        """Stamp of the tick, s."""
        return self.world.stamp

    @property
    def front(self) -> float:
        """Arc length of the front bumper on the route, m."""
        return self.world.route_s + self.vehicle.front

    @property
    def rear(self) -> float:
        """Arc length of the rear bumper on the route, m."""
        return self.world.route_s - self.vehicle.rear_overhang

    @property
    def v(self) -> float:
        """Forward speed, m/s."""
        return max(self.world.ego.v, 0.0)

    @property
    def stands(self) -> bool:
        """Whether the car stands."""
        return abs(self.world.ego.v) < AGENT_STANDS

    def decel_for(self, gap: float) -> float:
        """Constant braking (m/s^2) that stops the front bumper after `gap` (m)."""
        return self.v * self.v / (2.0 * max(gap, 0.05))

    def wall(self, s: float, reason: Reason, detail: str, blocker: int = -1) -> StopWall:
        """A wall across the road at `s`, or at the front bumper where that has passed it (USE-3).

        Just behind the bumper of a car that hardly rolls: its plan lags, and would follow a wall that goes on ahead.
        """
        at = max(s, self.front + (_AT_BUMPER_M if self.v >= _ROLLS else -_AT_BUMPER_M))
        return StopWall(*_across(self.road_map, self.route, at), reason, detail, blocker)

    def time_to(self, distance: float, start_s: float = 0.5) -> float:
        """How long the front bumper takes for `distance` (m) when the car gets going now, s."""
        if distance <= 0.0:
            return 0.0
        accel, top = self.parameters.junction.accel, max(self.parameters.junction.crossing_speed, self.v)
        reaction = start_s if self.stands else 0.0
        gaining = (top * top - self.v * self.v) / (2.0 * accel)
        if distance <= gaining:
            return reaction + (math.sqrt(self.v * self.v + 2.0 * accel * distance) - self.v) / accel
        return reaction + (top - self.v) / accel + (distance - gaining) / top


_WALLS: WeakKeyDictionary[Route, dict[int, tuple[float, float, float, float]]] = WeakKeyDictionary()
_MAX_WALLS = 4096


def _across(road_map: RoadMap, route: Route, s: float) -> tuple[float, float, float, float]:
    """The ends of a wall across the road at a place of the route, to the centimetre."""
    known = _WALLS.setdefault(route, {})
    key = round(s * 100.0)
    if key not in known:
        if len(known) >= _MAX_WALLS:
            known.clear()
        part = route.lanes[route.index_at(key / 100.0)]
        known[key] = across_road(road_map, part.lane, _station(road_map, part, key / 100.0), _OVER_EDGE_M)
    return known[key]


def _station(road_map: RoadMap, part: RouteLane, s: float) -> float:
    share = (s - part.s_from) / max(part.s_to - part.s_from, 1e-6)
    return station_at(road_map, part.lane, part.lane_from + share * (part.lane_to - part.lane_from))
