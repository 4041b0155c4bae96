"""A car on rails for tests of the traffic rules: it is put on its route, the rules are asked, and it may obey."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scenes import table

from tuling_fsm.behaviour.traffic.memory import TrafficRuleMemory
from tuling_fsm.behaviour.traffic.parameters import TrafficRuleParameters
from tuling_fsm.behaviour.traffic.rules import TrafficRules, traffic_rules
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.request import Reason, StopWall
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import plan_route
from tuling_fsm.world.builder import WorldBuilder
from tuling_fsm.world.inputs import TRAFFIC_LIGHTS, Inputs, Light, Odometry, StampedRows
from tuling_fsm.world.parameters import WorldParameters
from tuling_fsm.world.world import World

TICK_S = 0.05


def route_between(road_map: RoadMap, start: Pose, goal: Pose) -> Route:
    """The route, or a failed test."""
    route = plan_route(road_map, start, goal).route
    assert route is not None
    return route


@dataclass
class Drive:
    """The car at rear-axle arc length `s` of its route, `aside` (m) to the left of it, with speed `v`; `lights` and
    `objects` are what it is told.
    """

    road_map: RoadMap
    route: Route
    s: float = 0.0
    v: float = 0.0
    stamp: float = 100.0
    lights: dict[int, Light] = field(default_factory=dict)
    objects: list[tuple[float, ...]] = field(default_factory=list)
    by_hand: bool = False
    aside: float = 0.0
    vehicle: Vehicle = field(default_factory=Vehicle)
    parameters: TrafficRuleParameters = field(default_factory=TrafficRuleParameters)

    def __post_init__(self) -> None:
        self.builder = WorldBuilder(self.road_map, self.vehicle, WorldParameters())
        self.world: World | None = None
        self.memory = TrafficRuleMemory()
        self.rules = TrafficRules((), self.memory)

    @property
    def front(self) -> float:
        """Arc length of the front bumper, m."""
        return self.s + self.vehicle.front

    def put_front(self, s: float) -> None:
        """Put the front bumper at an arc length."""
        self.s = s - self.vehicle.front

    def tick(self, seconds: float = 0.0) -> TrafficRules:
        """Look once, or for a while with everything as it is."""
        for _ in range(max(1, round(seconds / TICK_S))):
            self.stamp += TICK_S
            x, y, heading = self.route.reference.at(self.s)
            pose = Pose(x - self.aside * math.sin(heading), y + self.aside * math.cos(heading), heading)
            lights = np.array([(k, int(v), 1.0) for k, v in self.lights.items()], dtype=TRAFFIC_LIGHTS)
            inputs = Inputs(
                self.stamp,
                Odometry(self.stamp, pose, self.v, 0.0),
                objects=StampedRows(self.stamp, table(*self.objects)),
                traffic_lights=StampedRows(self.stamp, lights),
            )
            self.world = self.builder.build(inputs, self.world, self.route)
            self.rules = traffic_rules(
                self.world, self.road_map, self.vehicle, self.memory, self.parameters, self.by_hand
            )
            self.memory = self.rules.memory
        return self.rules

    def drive(self, seconds: float, top: float = 8.0) -> None:
        """Obey the walls for a while: brake for the nearest one, else speed up to `top` and the limit."""
        for _ in range(round(seconds / TICK_S)):
            self.tick()
            gap = min((self.wall_s(wall) - self.front for wall in self.rules.walls), default=math.inf) - 0.2
            safe = math.sqrt(2.0 * 1.5 * max(gap, 0.0))
            wanted = min(top, self.rules.speed_limit, safe, self.slow())
            self.v = max(min(self.v + 1.2 * TICK_S, wanted), self.v - 4.0 * TICK_S, 0.0)
            if gap <= 0.05 and self.v < 0.5:
                self.v = 0.0
            self.s += self.v * TICK_S

    def slow(self) -> float:
        """The speed from which the car can still ease into the slow zones ahead."""
        zones = [zone for zone in self.rules.zones if zone.s_to >= self.s]
        return min(
            (math.sqrt(zone.speed**2 + 2.4 * max(zone.s_from - self.s, 0.0)) for zone in zones), default=math.inf
        )

    def wall_s(self, wall: StopWall) -> float:
        """Where a wall crosses the route."""
        middle_x, middle_y = 0.5 * (wall.x0 + wall.x1), 0.5 * (wall.y0 + wall.y1)
        return self.route.reference.project(middle_x, middle_y, self.s - 20.0, self.s + 100.0).s

    def walls(self, *reasons: Reason) -> list[StopWall]:
        """The present walls of some reasons, or all."""
        return [wall for wall in self.rules.walls if not reasons or wall.reason in reasons]
